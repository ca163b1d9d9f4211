// what: recurses through Symbol.iterator while spreading
// expect: failed RangeError
const node = { [Symbol.iterator]: () => [...node] };
return [...node];
