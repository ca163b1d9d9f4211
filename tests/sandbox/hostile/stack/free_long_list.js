// what: frees a linked list of a quarter of a million nodes at once
// expect: finished "freed"
let list = null;
for (let i = 0; i < 250000; i++) list = { list };
list = null;
return "freed";
