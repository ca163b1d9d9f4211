// what: recurses through the native callbacks of arrays, maps and sets
// expect: failed RangeError
const dive = () => [1].forEach(() => new Map([[1, 1]]).forEach(() => new Set([1]).forEach(dive)));
dive();
