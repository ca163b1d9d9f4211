// what: builds code for another language in nested template literals
// expect: finished "function f() { return `x${1 + 1}`; } })();"
const inner = "x";
const tail = "})();";
return `function f() { return \`${inner}\${1 + 1}\`; } ${tail}`;
