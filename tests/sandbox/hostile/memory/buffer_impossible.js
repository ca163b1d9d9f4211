// what: asks for one array buffer far above the heap
// expect: exceeded heap_bytes
return new ArrayBuffer(2 ** 30).byteLength;
