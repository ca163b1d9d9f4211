// what: redefines show, console, store, context and budget
// expect: finished "done"
for (const name of ["show", "console", "store", "load", "context", "budget", "recall", "relax", "help", "sleep"]) {
  try {
    Object.defineProperty(globalThis, name, { value: () => "mine", configurable: true, writable: true });
  } catch {}
}
return "done";
