// what: uses classes with constructors, which a filter on the word would refuse
// expect: finished {"x":3,"made":"Point"}
class Point {
  constructor(x) {
    this.x = x;
  }
}
const point = new Point(3);
return { x: point.x, made: point.constructor.name };
