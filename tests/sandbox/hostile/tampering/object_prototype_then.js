// what: makes every object a thenable, so that the script misreads its own results
// expect: finished "forged"
// calls: bench.echo
Object.prototype.then = function (resolve) {
  delete Object.prototype.then;
  resolve("forged");
};
return await tools.bench.echo({ real: true });
