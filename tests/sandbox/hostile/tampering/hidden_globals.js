// what: looks for names of the host's machinery on the global object
// expect: finished []
const suspicious = /box|settle|drain|take|queue(?!Micro)|host|wire|internal(?!Error)|^_|stub|prelude|pump/i;
return Object.getOwnPropertyNames(globalThis).filter(name => suspicious.test(name));
