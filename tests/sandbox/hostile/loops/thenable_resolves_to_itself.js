// what: awaits a thenable that resolves to itself, which promise resolution follows for ever
// expect: exceeded engine_seconds | exceeded jobs
const ouroboros = {
  then(resolve) {
    resolve(ouroboros);
  },
};
return await ouroboros;
