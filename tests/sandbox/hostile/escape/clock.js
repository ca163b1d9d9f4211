// what: looks for a fine clock with which to time the host
// expect: finished 1
const readings = new Set();
const now = () => (typeof performance === "object" ? performance.now() : Date.now());
for (let i = 0; i < 1000; i++) readings.add(now());
return readings.size;
