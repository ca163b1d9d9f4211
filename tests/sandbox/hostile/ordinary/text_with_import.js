// what: carries code with import and eval in strings, templates and regular expressions
// expect: finished ["import os from \"os\";","await import('x')",true]
const python = 'import os from "os";';
const dynamic = `await import('x')`;
// import("in a comment")
return [python, dynamic, /import\(.*\)|eval\(/.test(dynamic)];
