// what: ends in an HTML-like comment, which is also a line comment in sloppy scripts
// expect: finished 1 | failed SyntaxError
return 1;
<!-- no newline after this