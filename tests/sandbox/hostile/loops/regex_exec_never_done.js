// what: gives replace an exec method that reports a match for ever
// expect: exceeded heap_bytes
const pattern = /x/g;
pattern.exec = () => ({ 0: "", index: 0, length: 1 });
return "x".replace(pattern, "");
