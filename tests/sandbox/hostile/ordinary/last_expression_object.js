// what: ends in a parenthesised object literal followed by a comment
// expect: finished {"ok":true}
({ ok: true }); // the value
