// what: grows a resizable buffer towards a maximum far above the heap
// expect: exceeded heap_bytes
const buffer = new ArrayBuffer(0, { maxByteLength: 2 ** 30 });
for (let size = 1 << 20; ; size += 1 << 20) buffer.resize(size);
