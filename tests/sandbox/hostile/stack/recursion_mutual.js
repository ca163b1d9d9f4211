// what: lets two functions call each other without end
// expect: failed RangeError
const even = n => !odd(n);
const odd = n => !even(n);
return even(1);
