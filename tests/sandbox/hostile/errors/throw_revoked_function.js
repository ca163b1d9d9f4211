// what: throws a revoked proxy of a function
// expect: failed Thrown
const { proxy, revoke } = Proxy.revocable(() => {}, {});
revoke();
throw proxy;
