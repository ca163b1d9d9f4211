// what: throws a revoked proxy
// expect: failed Thrown
const { proxy, revoke } = Proxy.revocable({}, {});
revoke();
throw proxy;
