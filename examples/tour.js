// A tour: what a script sees whole, and what the model sees of it.

// 1. Search, then read what was found, all at once.
const found = await tools.search.grep({ pattern: "TODO", path: "examples/tour" });
const paths = found.files.map(file => file.path);
const pages = await Promise.all([...paths, "examples/tour/test_orders.py"].map(path => tools.files.read({ path })));
show(found);
show(pages[0]);

// 2. The second read comes from the cache; its lines are in view, so they are not shown again.
const again = await tools.files.read({ path: paths[0] });
show(again.text.split("\n").slice(16, 40).join("\n"));

// 3. A test run: the failures and the end. The whole output stays behind a handle.
const test = "cd examples/tour && python3 -m unittest -v";
const run = await tools.shell.run(test);
show(run);

// 4. The same command once more is fine; the third time with the same result is refused, with the next step.
try {
  for (let i = 0; i < 3; i++) await tools.shell.run(["ls", "examples/tour"]);
} catch (e) {
  show({ refused: e.message, next: e.hint });
}
return { files: pages.length, lines: pages.reduce((sum, page) => sum + page.total_lines, 0), exit: run.exit_code, left: budget.calls };
