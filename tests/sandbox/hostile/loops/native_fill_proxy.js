// what: fills a proxy of the largest length that swallows every write
// expect: exceeded engine_seconds
const sink = new Proxy({ length: 2 ** 53 - 1 }, { set: () => true });
Array.prototype.fill.call(sink, 0);
