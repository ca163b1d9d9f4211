// what: loops over a hand-made iterator that never says done
// expect: exceeded engine_seconds
const endless = { [Symbol.iterator]: () => ({ next: () => ({}) }) };
for (const nothing of endless);
