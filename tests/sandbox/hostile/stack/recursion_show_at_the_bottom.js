// what: shows, prints and stores values with almost no stack left
// expect: finished "back on top"
const dive = () => {
  try {
    dive();
  } catch {
    for (const act of [() => show([[[1]]]), () => console.log({ a: { b: 1 } }), () => store("k", [[1]])]) {
      try {
        act();
      } catch {}
    }
    throw new Error("out");
  }
};
try {
  dive();
} catch {}
return "back on top";
