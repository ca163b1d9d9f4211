// what: stacks iterator helpers on one another for ever
// expect: exceeded heap_bytes
let chain = [1].values();
for (;;) chain = chain.map(x => x);
