// what: reads a private name that no class declares
// expect: failed SyntaxError
return globalThis.#outbox;
