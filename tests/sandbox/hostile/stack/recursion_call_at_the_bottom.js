// what: makes a tool call with almost no stack left
// expect: finished "RangeError"
// calls: bench.echo
let deepest;
const dive = () => {
  try {
    dive();
  } catch (error) {
    if (deepest) return;
    try {
      deepest = tools.bench.echo("bottom");
    } catch (inner) {
      if (!(inner instanceof RangeError)) throw inner;
    }
  }
};
dive();
return deepest ? await deepest : "RangeError";
