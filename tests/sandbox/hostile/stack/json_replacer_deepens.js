// what: returns a new object from the replacer each time, so that the value never ends
// expect: failed RangeError
return JSON.stringify({}, () => ({ deeper: 1 })).length;
