// what: returns an object whose toJSON returns another such object inside
// expect: failed too_deep
const endless = () => ({ toJSON: () => ({ inner: endless() }) });
return endless();
