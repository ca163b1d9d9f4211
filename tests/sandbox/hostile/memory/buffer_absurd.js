// what: asks for an array buffer of the largest representable length
// expect: failed RangeError
return new ArrayBuffer(2 ** 53 - 1).byteLength;
