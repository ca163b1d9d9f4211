// what: gives its value as the last expression, without return
// expect: finished [1,4,9]
const squares = [1, 2, 3].map(n => n * n);
squares
