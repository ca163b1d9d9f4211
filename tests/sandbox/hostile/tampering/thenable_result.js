// what: returns a thenable, which an async function resolves like a promise
// expect: finished {"forged":1}
return { then: resolve => resolve({ forged: 1 }) };
