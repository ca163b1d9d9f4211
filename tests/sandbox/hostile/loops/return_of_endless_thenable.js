// what: returns a thenable whose resolution produces a new thenable each time
// expect: exceeded engine_seconds | exceeded jobs
const next = () => ({ then: resolve => resolve(next()) });
return next();
