// what: spins in toString called by a template literal
// expect: exceeded engine_seconds
return `${{
  toString() {
    for (;;);
  },
}}`;
