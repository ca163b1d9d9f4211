// what: sends half of a surrogate pair as argument, shown value, console text, stored key and result
// expect: finished "�"
// calls: bench.echo
await tools.bench.echo({ "key \ud800": "value \udfff" });
show("\ud83d");
console.log("\udc00");
store("\ud800", "\udfff");
return "\ud800";
