// what: throws a class
// expect: failed Thrown
throw class Thrown {};
