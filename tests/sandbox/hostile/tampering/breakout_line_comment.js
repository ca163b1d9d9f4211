// what: ends in a line comment without a newline, which must not swallow what the wrapper adds
// expect: finished 1
return 1; // no newline after this