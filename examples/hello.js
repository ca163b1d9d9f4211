// One script, end to end: no tools yet, just the world around it.
const words = "the quick brown fox jumps over the lazy dog and the cat".split(" ");
const counts = Object.groupBy(words, (word) => word);
const ranked = Object.entries(counts)
  .map(([word, found]) => ({ word, times: found.length }))
  .sort((a, b) => b.times - a.times || a.word.localeCompare(b.word));

console.log(`${words.length} words, ${ranked.length} different`);
show(ranked.slice(0, 2));
return { most: ranked[0].word, at: new Date(0) };
