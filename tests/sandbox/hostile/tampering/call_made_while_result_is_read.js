// what: makes a call from the toJSON of the result, after the script has ended
// expect: finished "value"
// calls: bench.echo
return {
  toJSON() {
    tools.bench.echo("late");
    show("late");
    console.log("late");
    return "value";
  },
};
