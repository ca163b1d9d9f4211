// what: grows, shrinks and freezes an array from its own comparator
// expect: finished "survived"
const list = Array.from({ length: 500 }, (_, i) => 500 - i);
try {
  list.sort((a, b) => {
    if (list.length < 5000) list.push(...list.slice(0, 100));
    if (a === 7) Object.freeze(list);
    return a - b;
  });
} catch (error) {
  if (!(error instanceof TypeError)) throw error;
}
return "survived";
