// what: catches the refusal of each call and tries again
// expect: exceeded engine_seconds
// calls: bench.echo
for (;;) {
  try {
    tools.bench.echo(1);
  } catch {}
}
