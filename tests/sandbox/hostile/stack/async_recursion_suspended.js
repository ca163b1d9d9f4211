// what: recurses through async functions that suspend first, so that only the heap grows
// expect: exceeded heap_bytes | exceeded engine_seconds
const dive = async () => {
  await null;
  return (await dive()) + 1;
};
return await dive();
