// what: calls tools and packs that were not offered
// expect: finished [true,true,true]
// calls: bench.echo
const refused = [];
for (const attempt of [() => tools.bench.missing(1), () => tools.admin.grant(1), () => tools["__proto__"].grant(1)]) {
  try {
    await attempt();
    refused.push(false);
  } catch (error) {
    refused.push(error instanceof Error);
  }
}
return refused;
