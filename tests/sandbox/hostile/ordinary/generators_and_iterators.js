// what: uses generators, iterator helpers, spread and destructuring
// expect: finished [[0,1,1,2,3,5],[0,4,16],{"a":1,"rest":[2,3]}]
function* fibonacci() {
  for (let [a, b] = [0, 1]; ; [a, b] = [b, a + b]) yield a;
}
const first = fibonacci().take(6).toArray();
const squares = [0, 1, 2, 3, 4].filter(n => n % 2 === 0).map(n => n ** 2);
const [a, ...rest] = [1, 2, 3];
return [first, squares, { a, rest }];
