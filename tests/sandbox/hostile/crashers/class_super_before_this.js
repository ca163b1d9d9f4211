// what: uses this before super, calls super twice and from arrows that outlive the constructor
// expect: finished ["ReferenceError","ReferenceError","ReferenceError"]
const names = [];
let later;
class Early extends Object {
  constructor(kind) {
    if (kind === 0) this.x = 1;
    if (kind === 1) {
      super();
      super();
    }
    later = () => this;
    if (kind === 2) later();
    super();
  }
}
for (const kind of [0, 1, 2]) {
  try {
    new Early(kind);
  } catch (error) {
    names.push(error.name);
  }
}
return names;
