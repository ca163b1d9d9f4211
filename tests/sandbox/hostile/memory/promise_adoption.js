// what: lets every promise job resolve with a promise of the next one, so that none can be freed
// expect: exceeded heap_bytes | exceeded engine_seconds
const again = () => Promise.resolve().then(again);
await again();
