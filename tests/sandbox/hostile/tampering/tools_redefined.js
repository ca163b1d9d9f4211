// what: replaces a tool with a function of its own, which may fool nobody but the script
// expect: finished "mine"
// calls: bench.echo
try {
  tools.bench.echo = async () => "mine";
} catch {}
try {
  globalThis.tools = { bench: { echo: async () => "mine" } };
} catch {}
return await tools.bench.echo("real");
