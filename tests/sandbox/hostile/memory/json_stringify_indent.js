// what: stringifies a nested array with an indent, which grows with the square of the depth
// expect: exceeded heap_bytes
let nested = [];
for (let i = 0; i < 500; i++) nested = [nested];
const many = new Array(2000).fill(nested);
return JSON.stringify(many, null, 10).length > 0;
