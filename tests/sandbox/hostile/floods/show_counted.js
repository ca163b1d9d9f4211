// what: shows values until it is refused
// expect: finished [1000,"too_many_shown"]
let shown = 0;
try {
  for (;;) {
    show(shown);
    shown++;
  }
} catch (error) {
  return [shown, error.name];
}
