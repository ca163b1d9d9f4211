// what: looks for the globals of other JavaScript hosts
// expect: finished []
const names = ["process", "require", "module", "exports", "__dirname", "__filename", "Buffer", "Deno", "Bun", "window", "self", "document"];
names.push("fetch", "XMLHttpRequest", "WebSocket", "Worker", "importScripts", "navigator", "location", "open", "read", "load_file");
names.push("std", "os", "bjson", "scriptArgs", "print", "loadFile", "loadScript", "gc", "quit", "argv0", "ShadowRealm", "$262", "python", "java");
return names.filter(name => name in globalThis);
