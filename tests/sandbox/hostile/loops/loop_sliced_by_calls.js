// what: hopes that each tool answer resets the clock by spinning in slices between calls
// expect: exceeded engine_seconds
// calls: bench.echo
for (let round = 0; round < 200; round++) {
  for (let i = 0; i < 1e6; i++);
  await tools.bench.echo(round);
}
