// what: prints a text of a million line breaks
// expect: finished "printed"
console.error("\n".repeat(1e6));
return "printed";
