// what: throws false
// expect: failed Thrown
throw false;
