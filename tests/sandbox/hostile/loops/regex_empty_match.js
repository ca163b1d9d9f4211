// what: loops on a global regular expression that matches the empty string and never advances
// expect: exceeded engine_seconds
const empty = /(?:)/g;
while (empty.exec("text") !== null);
