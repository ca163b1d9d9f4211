// what: parses a million opening brackets
// expect: failed RangeError
JSON.parse("[".repeat(1e6));
