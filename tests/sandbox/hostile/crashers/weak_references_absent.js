// what: uses weak references and finalisers, through which collection would be seen
// expect: failed ReferenceError
const registry = new FinalizationRegistry(() => show("collected"));
registry.register({}, 1);
return new WeakRef({}).deref();
