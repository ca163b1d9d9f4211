// what: asks padStart for one string far above the heap
// expect: exceeded heap_bytes
return "x".padStart(2 ** 29, "ab").length;
