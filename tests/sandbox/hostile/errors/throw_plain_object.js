// what: throws an object without a message
// expect: failed Thrown
throw { code: 7, nested: { list: [1, 2, 3] } };
