// what: parses objects nested a hundred thousand deep
// expect: failed RangeError
JSON.parse('{"a":'.repeat(1e5) + "1" + "}".repeat(1e5));
