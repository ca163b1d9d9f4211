// what: asks for one string far above the heap in a single native call
// expect: exceeded heap_bytes
return "x".repeat(2 ** 29).length;
