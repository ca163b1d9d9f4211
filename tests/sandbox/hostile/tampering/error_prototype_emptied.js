// what: deletes name, message and toString from the error prototypes, then fails
// expect: failed Error
for (const type of [Error, TypeError]) {
  for (const key of Reflect.ownKeys(type.prototype)) delete type.prototype[key];
}
null.property;
