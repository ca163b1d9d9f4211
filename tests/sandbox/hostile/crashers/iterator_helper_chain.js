// what: pulls one value through a hundred thousand stacked iterator helpers, which recurse in native code
// expect: failed RangeError | failed WorkerLost
let chain = [1].values();
for (let i = 0; i < 1e5; i++) chain = chain.map(x => x);
return chain.next();
