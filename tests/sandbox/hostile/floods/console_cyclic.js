// what: prints structures that contain themselves
// expect: finished "printed"
const ring = { list: [] };
ring.list.push(ring, ring.list);
console.log(ring, new Map([[ring, ring]]), new Set([ring.list]));
return "printed";
