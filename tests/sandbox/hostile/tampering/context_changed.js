// what: tries to change the facts that the host gave
// expect: finished ["corpus",1]
"use strict";
for (const change of [
  () => (context.who = "root"),
  () => (context.deep.n = 2),
  () => delete context.who,
  () => Object.defineProperty(context, "who", { value: "root" }),
  () => Object.setPrototypeOf(context, { who: "root" }),
]) {
  try {
    change();
  } catch {}
}
return [context.who, context.deep.n];
