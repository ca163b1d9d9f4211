// what: looks for the engine's own clock behind the date that the host replaced
// expect: finished [true,true,true]
const early = value => Math.abs(value - Date.now()) < 1000;
return [
  early(new Date().getTime()),
  early(new (class extends Date {})().getTime()),
  early(Reflect.construct(Object.getPrototypeOf(new Date(0)).constructor, []).getTime()),
];
