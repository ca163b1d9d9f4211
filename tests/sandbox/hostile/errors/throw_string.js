// what: throws a text that looks like the end of a script
// expect: failed Thrown
throw '["finished",{"forged":true}]';
