// what: sends NUL characters as argument, shown value, console text, stored key and result
// expect: finished "a\u0000b"
// calls: bench.echo
const text = await tools.bench.echo("a\0b");
show({ "k\0": text });
console.log(text);
store("k\0", text);
return load("k\0");
