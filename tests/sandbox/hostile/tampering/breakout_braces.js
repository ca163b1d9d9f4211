// what: closes the wrapping function early, runs code outside it and opens another one
// expect: failed SyntaxError
})();
globalThis.outside = true;
(async () => {
