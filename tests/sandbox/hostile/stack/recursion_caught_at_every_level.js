// what: recurses again in the handler of every overflow, which doubles the work at each level
// expect: exceeded engine_seconds
const dive = () => {
  try {
    dive();
  } catch {
    dive();
  }
};
dive();
