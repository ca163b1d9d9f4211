// what: matches with hundreds of groups, duplicate names and groups named like properties
// expect: finished "survived"
const names = ["__proto__", "constructor", "toString", "then"];
const match = new RegExp(names.map(name => `(?<${name}>a)`).join("")).exec("aaaa");
if (match.groups.constructor !== "a") throw new Error("group lost");
new RegExp("(?:(?<x>a)|(?<x>b))+").exec("ab".repeat(100));
new RegExp("()".repeat(254)).exec("");
return "survived";
