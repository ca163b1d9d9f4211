// what: hides a dynamic import inside syntax that a parser may not know yet
// expect: failed SyntaxError
{
  using resource = (import("std"), null);
  await using other = (import("os"), null);
}
return "reached";
