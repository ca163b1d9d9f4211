// what: lets a rejected call end the script
// expect: failed not_found
// calls: bench.fail
await tools.bench.fail(1);
