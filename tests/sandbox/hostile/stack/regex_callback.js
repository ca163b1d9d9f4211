// what: recurses through the callback of replace
// expect: failed RangeError
const dive = text => text.replace(/./, dive);
return dive("x");
