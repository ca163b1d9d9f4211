// what: handles HTML with comments in strings, templates, regular expressions and comments
// expect: finished ["<p>","a\n--> b",2,true]
// a comment that mentions <!-- and -->
const page = "<!-- head --><p><!-- tail -->";
const lines = `a
--> b`;
/* <!--
--> */
let n = 3;
const down = n-->0;
return [page.replace(/<!--.*?-->/g, ""), lines, n, down];
