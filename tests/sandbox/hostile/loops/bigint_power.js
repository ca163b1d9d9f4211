// what: asks for a power whose result could not be stored
// expect: failed RangeError
return (2n ** 2n ** 40n).toString().length;
