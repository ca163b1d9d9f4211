// what: changes the home object and the parent of methods while super calls run
// expect: finished "survived"
class A {
  run() {
    Object.setPrototypeOf(B.prototype, null);
    return 1;
  }
}
class B extends A {
  run() {
    super.run();
    try {
      return super.run();
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
    }
  }
}
new B().run();
return "survived";
