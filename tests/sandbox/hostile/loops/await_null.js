// what: awaits nothing for ever, so that no single job is long
// expect: exceeded engine_seconds | exceeded jobs
for (;;) await null;
