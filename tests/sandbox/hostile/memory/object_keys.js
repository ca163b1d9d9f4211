// what: gives one object endlessly many properties, each with a new name
// expect: exceeded heap_bytes
const bag = {};
for (let i = 0; ; i++) bag["property_with_a_rather_long_name_" + i] = i;
