// A tour: what a script has whole, and what the model sees of it.

// 1. Search, then read what was found, all at once. Values are whole; show what matters.
const found = await tools.search.grep({ pattern: "TODO", path: "examples/tour" });
const paths = [...found.files.map(file => file.path), "examples/tour/test_orders.py"];
const pages = await Promise.all(paths.map(path => tools.files.read({ path })));
const lines = (page, first, last) => page.text.split("\n").slice(first - 1, last).join("\n");
show(found);
show(lines(pages[0], 16, 33));

// 2. The second read comes from the cache, and lines that are in view are not shown again.
const again = await tools.files.read({ path: paths[0] });
show(lines(again, 20, 37));

// 3. A test run: the failures and the end. The whole output stays behind its handle.
const run = await tools.shell.run("cd examples/tour && python3 -B -m unittest -v");
show(run);

// 4. The third identical command with the identical result is refused, with the next step.
try {
  for (let i = 0; i < 3; i++) await tools.shell.run(["ls", "examples/tour"]);
} catch (e) {
  console.log(`${e.name}: ${e.message}\n  ${e.hint}`);
}
return { files: pages.length, lines: pages.reduce((sum, page) => sum + page.total_lines, 0), exit_code: run.exit_code };
