// what: ends in an HTML-like comment, which parsers do not agree on
// expect: failed SyntaxError
return 1;
<!-- no newline after this