// what: pulls one value through fifty thousand stacked flatMap, filter and take helpers
// expect: failed RangeError | failed WorkerLost
let chain = [1].values();
for (let i = 0; i < 50000; i++) chain = [chain.filter(() => true), chain.take(5), chain.drop(0), chain.flatMap(x => [x])][i % 4];
return chain.next();
