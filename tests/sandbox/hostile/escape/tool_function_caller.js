// what: reads caller and arguments of the functions that the host put in the world
// expect: finished []
// calls: bench.echo
const found = [];
for (const f of [tools.bench.echo, show, store, sleep, console.log]) {
  for (const key of ["caller", "arguments", "callee"]) {
    try {
      if (f[key] !== undefined && f[key] !== null) found.push(`${f.name}.${key}`);
    } catch (error) {
      if (!(error instanceof TypeError)) found.push(error.name);
    }
  }
}
return found;
