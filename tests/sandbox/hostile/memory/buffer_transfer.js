// what: doubles a buffer through transfer, which reallocates it
// expect: exceeded heap_bytes
let buffer = new ArrayBuffer(1 << 16);
for (;;) buffer = buffer.transfer(buffer.byteLength * 2);
