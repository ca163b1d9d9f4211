// what: puts well-known symbols on Object.prototype and Array.prototype
// expect: finished {"a":[1,2]}
// calls: bench.echo
Object.prototype[Symbol.toPrimitive] = () => "forged";
Object.prototype[Symbol.toStringTag] = "Forged";
Object.prototype[Symbol.isConcatSpreadable] = true;
Array.prototype[Symbol.isConcatSpreadable] = false;
const answer = await tools.bench.echo({ a: [1, 2] });
show(answer);
console.log(answer, "text");
return answer;
