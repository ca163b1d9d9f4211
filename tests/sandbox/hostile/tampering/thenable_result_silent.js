// what: returns a thenable that never settles
// expect: failed Deadlock
return { then() {} };
