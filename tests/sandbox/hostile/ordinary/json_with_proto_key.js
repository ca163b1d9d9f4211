// what: parses JSON with a __proto__ key, which must stay an ordinary own key
// expect: finished [["__proto__","a"],true]
const parsed = JSON.parse('{"__proto__": {"polluted": true}, "a": 1}');
return [Object.keys(parsed), {}.polluted === undefined];
