// what: throws an error whose message would reorder the text around it
// expect: failed Error
throw new Error("safe \u202e\u2066 gnp.exe \u2069\u2066 text \u200f");
