// what: sleeps between slices so short that the time runs out between them, when nothing is being watched
// expect: exceeded engine_seconds
for (;;) {
  for (let i = 0; i < 3000; i++);
  await sleep(0);
}
