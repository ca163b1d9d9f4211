// what: catches the overflow and goes on, which is allowed
// expect: finished "RangeError"
const dive = () => dive() + 1;
try {
  dive();
} catch (error) {
  return error.name;
}
