// what: throws an error whose message would drive a terminal
// expect: failed Error
throw new Error("\u001b[2J\u001b]0;title\u0007\u009b31m\u001bP\u0008\u0008 red");
