// what: drops infinitely many items from an endless native iterator chain
// expect: exceeded engine_seconds
const endless = Iterator.from({ next: () => ({ done: false, value: 0 }) });
return endless.drop(Infinity).next();
