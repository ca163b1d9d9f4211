// what: collects the matches of every character of a long text
// expect: exceeded heap_bytes
return [..."abcdefgh".repeat(1 << 17).matchAll(/./g)].length;
