// what: stores a value under the name __proto__ and looks for it where it must not be
// expect: finished [{"admin":true},false]
store("__proto__", { admin: true });
return [load("__proto__"), {}.admin ?? false];
