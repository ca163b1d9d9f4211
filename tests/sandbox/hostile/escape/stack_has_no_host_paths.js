// what: looks for paths and files of the host in the stack of an error
// expect: finished false
// calls: bench.echo
const stacks = [new Error("here").stack];
await tools.bench.echo({
  toJSON() {
    stacks.push(new Error("inside the recording of a call").stack);
    return 1;
  },
});
stacks.push(new Error("after an answer").stack);
try {
  JSON.parse("{");
} catch (error) {
  stacks.push(error.stack);
}
return stacks.some(stack => /\/(usr|home|tmp|root|opt|var|lib|etc)\/|\.py\b|site-packages|prelude|machine\.js/.test(stack));
