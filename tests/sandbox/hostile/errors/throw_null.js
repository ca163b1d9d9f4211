// what: throws null, which the engine also uses when memory ran out
// expect: failed Thrown
throw null;
