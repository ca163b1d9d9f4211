// what: returns and throws into an async generator while it is running
// expect: finished 2
let settled = 0;
const it = (async function* () {
  it.return(1).then(() => settled++);
  it.throw(new Error("x")).catch(() => settled++);
  yield 1;
})();
await it.next();
for (let i = 0; i < 20; i++) await null;
return settled;
