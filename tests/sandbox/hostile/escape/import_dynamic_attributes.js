// what: imports dynamically with attributes
// expect: failed SyntaxError
return typeof (await import("data.json", { with: { type: "json" } }));
