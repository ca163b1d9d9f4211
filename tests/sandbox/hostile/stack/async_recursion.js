// what: recurses through async functions before any of them suspends
// expect: failed RangeError
const dive = async () => (await dive()) + 1;
return await dive();
