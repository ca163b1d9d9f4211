"""Classes of commands, what is refused with a better tool named, and real commands as a check for false alarms."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from catalog import pack
from tool_packs import files, patch
from tool_packs.commands import classify
from tool_packs.refusals import Refusal, refusal
from tool_packs.steps import read_command, steps_of

SESSIONS = Path(__file__).parents[3] / "shared" / "data" / "sessions"

KINDS: list[tuple[str, str | list[str]]] = [
    *(("search", text) for text in (
        "rg foo", "rg -n 'a|b' src | head -50", "grep -rn x . | sort | uniq -c", "git grep x", "git ls-files | wc -l", "find . -name '*.py'",
        "find . -name x | xargs grep y", "fd x", "ls", "ls -la && rg --files", "cd src && rg x", "bash -lc 'rg x'", "tree -L 2", "ag x", "ack x",
        "find . -type f -exec grep -l x {} +", "rg x || true", "echo hits; rg x", "timeout 5 rg x", "FOO=1 rg x", "egrep x f | cut -d: -f1",
    )),
    *(("build", text) for text in (
        "pytest", "pytest -q | tail -5", "python -m pytest tests", "python3.11 -X dev -m pytest", "uv run pytest", "uv run --with x -m pytest",
        "poetry run python -m unittest", "PYTHONPATH=. pytest -q", "cd x && make", "make -j4 all 2>&1 | tail -20", "env A=1 B=2 cargo test",
        "timeout 60 cargo check", "timeout -k 5 60 go vet ./...", "time ninja", "bash -lc 'cd a && npm test'", "npm run build", "npm run test:unit",
        "npm --prefix web run build", "npm t", "pnpm test", "pnpm -r build", "pnpm --filter web typecheck", "yarn lint", "yarn workspace a test",
        "bun test", "bun run typecheck", "npx tsc --noEmit", "npx -y jest", "pnpm exec vitest run", "./node_modules/.bin/eslint .", "tsc.cmd -p .",
        "cargo +nightly clippy --all", "cargo build", "cargo --manifest-path a/Cargo.toml test", "go test ./...", "go -C a build", "./gradlew build",
        "mvnw verify", "dotnet test", "gcc -o a a.c", "x86_64-linux-gnu-g++-12 a.cc", "clang++ a.cc", "cmake --build build", "ctest", "bazel test //...",
        "ruff check .", "mypy src", "tox -e py311", "nox", "coverage run -m pytest", "python manage.py test", "python setup.py build_ext",
        "python tests/runtests.py admin", "python -m compileall .", "python test_x.py", "./scripts/test.sh", "bash scripts/run_tests.sh", "just test",
        "mise run lint", "task build", "deno test", "node --test", "swift build", "mix test", "bundle exec rspec", "docker build .", "git pull && make",
        "for d in a b; do (cd $d && cargo test); done", "x=1; pytest", "sudo make install", "conda run -n x pytest", "bash -c \"pytest -q\" | tail",
    )),
    *(("other", text) for text in (
        "cat a", "git status", "git log --oneline", "npm install", "npm ci", "npm start", "yarn add test-utils", "pip install pytest", "python a.py",
        "python -c 'import pytest'", "node a.js", "echo pytest", "git commit -m 'make tests pass'", "sed -n 1,5p a", "rg x && cat a", "cat a | grep x",
        "find . -delete", "find . | xargs rm", "rm -rf build", "cd tests", "", "'unclosed", "docker run x", "cargo --version", "command -v make",
        "which pytest", "mkdir build", "npm run dev", "npm run latest", "curl x | jq .", "just --list", "bun install", "uv run python a.py",
    )),
    ("build", ["pytest", "-q"]), ("search", ["rg", "make"]), ("build", ["bash", "-lc", "cd a && pytest"]), ("other", ["echo", "a && pytest"]),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "command"), KINDS, ids=[str(row[1])[:50] for row in KINDS])
def test_commands_have_a_class(kind: str, command: str | list[str]) -> None:
    assert classify(command) == kind


def sizes(path: str) -> int | None:
    return {"big.py": 50_000, "src/big.py": 50_000, "small.txt": 100, "exact.txt": 4_096}.get(path)


def judged(command: str | list[str], cwd: str = ".") -> Refusal | None:
    return refusal(command, sizes, root="/work/project", cwd=cwd)


EDITS: list[tuple[str | list[str], str]] = [
    ("sed -i 's/a/b/' src/a.py", "src/a.py"),
    ("sed -i.bak -e 's/a/b/' src/a.py", "src/a.py"),
    ("sed -i '' 's/a/b/' src/a.py", "src/a.py"),
    ("sed -Ei 's/a/b/' a.py b.py", "a.py"),
    ("sed --in-place=.x 's/a/b/' a.py", "a.py"),
    ("gsed -i 's/a/b/' *.py", "*.py"),
    ("cd src && sed -i 's/a/b/' a.py", "src/a.py"),
    ("sed -i 's/a/b/' /work/project/a.py", "a.py"),
    ("perl -pi -e 's/a/b/' a.py", "a.py"),
    ("perl -0pi -e 's/a/b/' a.py", "a.py"),
    ("perl -i -pe 's/a/b/' a.py", "a.py"),
    ("ruby -pi -e 'x' a.rb", "a.rb"),
    ("cat > a.py", "a.py"),
    ("cat > a.py <<'EOF'\nx\nEOF", "a.py"),
    ("cat <<EOF > docs/new.md\nx\nEOF", "docs/new.md"),
    ("cat <<EOF >> Makefile\nx\nEOF", "Makefile"),
    ("cat > a.py << 'EOF' && pytest\nx\nEOF", "a.py"),
    ("mkdir -p x && cat > x/a.py <<EOF\nx\nEOF\npytest x", "x/a.py"),
    ("cat <<< text > a.txt", "a.txt"),
    ("tee a.py <<EOF\nx\nEOF", "a.py"),
    ("cat <<EOF | tee a.py\nx\nEOF", "a.py"),
    ("cat <<EOF | sudo tee -a conf/a.ini >/dev/null\nx\nEOF", "conf/a.ini"),
    ("echo 'x = 1' > a.py", "a.py"),
    ("echo x | tee a.py", "a.py"),
    ("printf 'a\\n' >> notes.md", "notes.md"),
    ("echo -e 'a\\nb' > config.yaml", "config.yaml"),
    ("if true; then cat > a.py <<EOF\nx\nEOF\nfi", "a.py"),
    ("bash -lc \"cat > a.py <<'EOF'\nx\nEOF\"", "a.py"),
    (["bash", "-lc", "sed -i s/a/b/ a.py"], "a.py"),
    ("timeout 5 sed -i s/a/b/ a.py", "a.py"),
    ("apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: src/a.py\n@@\n-a\n+b\n*** End Patch\nEOF", "src/a.py"),
    (["apply_patch", "*** Begin Patch\n*** Add File: b.py\n+x\n*** End Patch"], "b.py"),
    ("python - <<'PY'\nfrom pathlib import Path\np = Path('a.py')\np.write_text(p.read_text().replace('a', 'b'))\nPY", "a.py"),
    ("python3 <<PY\nfrom pathlib import Path\nPath('docs/a.md').write_text('# A')\nPY", "docs/a.md"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "path"), EDITS, ids=[str(row[0])[:50] for row in EDITS])
def test_edits_by_shell_are_sent_to_the_patch_pack(command: str | list[str], path: str) -> None:
    found = judged(command)
    assert found is not None
    assert (found.code, found.path) == ("use_patch", path)


READS = [
    ("cat big.py", "big.py"), ("cat -n big.py", "big.py"), ("nl -ba big.py", "big.py"), ("nl -b a big.py", "big.py"), ("cat small.txt big.py", "big.py"),
    ("cd src && cat big.py", "src/big.py"), ("cat /work/project/src/../big.py", "big.py"), ("sed -n '1,$p' big.py", "big.py"),
    ("sed -n p big.py", "big.py"), ("sed -n 1,2000p big.py", "big.py"), ("ls; cat big.py", "big.py"), ("less big.py", "big.py"),
    ("cat big.py 2>/dev/null", "big.py"), ("cat big.py || true", "big.py"), ("bash -lc 'cat big.py'", "big.py"), ("cat ./big.py", "big.py"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "path"), READS, ids=[row[0] for row in READS])
def test_large_files_printed_whole_are_sent_to_files_read(command: str, path: str) -> None:
    found = judged(command)
    assert found is not None
    assert (found.code, found.path) == ("use_files_read", path)


FINE: list[str | list[str]] = [
    "grep '>' big.py", "sed -n '1,5p' big.py", "sed -n '1,999p' big.py", "sed -n '5,$p' big.py", "pytest > /dev/null 2>&1", "pytest 2>&1", "ls > /tmp/x.py",
    "cat small.txt", "cat exact.txt", "cat missing.py", "cat big.py | wc -l", "cat big.py | head", "nl -ba big.py | sed -n 1,9p", "cat big.py > copy.py",
    "cat big.py > /dev/null", "cat a.py b.py > c.py", 'echo "a > b"', "echo 'cat > a.py <<EOF'", "psql <<EOF\nselect 1 > 0;\nEOF", "git apply <<EOF\nx\nEOF",
    "git apply a.diff", "patch -p1 < a.diff", "echo x | tee /dev/null", "make | tee build.log", "make 2>&1 | tee out.txt", "echo done > build.log", "echo 1 > VERSION",
    "echo x > /tmp/a.py", "echo x > ../a.py", "echo $HOME > a.txt", "echo \"$(date)\" > a.txt", "echo x > dist/a.js", "echo 'dist/' >> .gitignore",
    "cat > /tmp/a.py <<EOF\nx\nEOF", "cat <<EOF > $TMP/a.py\nx\nEOF", "cat <<EOF\nx\nEOF", "cat <<EOF | grep x\nx\nEOF", "curl x | cat > a.json",
    "curl x > a.json", "sort < a.txt > b.txt", "jq . a.json > b.json", "sed 's/a/b/' a.py", "sed 's/a/b/' a.py > b.py", "sed -n 's/-i/x/p' a.py",
    "sed -i 's/a/b/' /etc/hosts", 'for f in *.py; do sed -i s/a/b/ "$f"; done', "rg -l x | xargs sed -i s/x/y/", "find . -name '*.py' -exec sed -i s/x/y/ {} +",
    "perl -ne 'print if /i/' a.py", "perl -Ilib -Mstrict a.pl", "perl -e 'print 1'", "python - <<PY\nprint(open('a.py').read())\nPY",
    "python - <<PY\nimport json\njson.dump({}, open('out.json', 'w'))\nPY", "python a.py > out.json", "cd /tmp && cat > a.py <<EOF\nx\nEOF",
    "cd $X && sed -i s/a/b/ a.py", "cd .. && cat big.py", "git commit -m \"$(cat <<'EOF'\nsed -i x\nEOF\n)\"", "gh pr create --body-file - <<EOF\nx > y\nEOF",
    "x=$(cat big.py)", "diff <(cat big.py) b.py", "(cat big.py; cat big.py) | wc", "for f in big.py; do cat big.py; done | wc", "{ cat big.py; } > /tmp/x",
    "bash -c 'cat big.py; ls' | wc -l", "cat", "tee", "sed", "nl", "cat -", "cat *.py", "cat $F", "touch a.py", "cp a.py b.py", "mv a b", "> a.py", ": > a.py",
    "printf '%s\\n' \"$x\" > a.txt", "node - <<EOF\nconsole.log(1 > 0)\nEOF", "mysql < a.sql", "ssh host 'cat > a.py'", "docker exec x cat big.py", "'broken > a.py",
    "head -5 big.py", "tail -f big.py", "wc -c big.py", "rg -n 'sed -i' .", "man sed", "apply_patch_test", "echo a >&2", "cat big.py >&2 | wc",
    ["echo", "x", ">", "a.py"], ["grep", "sed -i", "a.py"], ["sed", "-n", "1,5p", "big.py"], "echo x >| /tmp/a.py", "echo x &> /dev/null",
]  # fmt: skip


@pytest.mark.parametrize("command", FINE, ids=[str(row)[:50] for row in FINE])
def test_what_is_no_edit_and_no_large_read_is_left_alone(command: str | list[str]) -> None:
    assert judged(command) is None


def test_the_folder_of_the_call_counts() -> None:
    found = judged("cat big.py", cwd="src")
    assert found is not None and found.path == "src/big.py"
    assert judged("cat ../small.txt", cwd="src") is None
    inside = judged("cat ../big.py", cwd="src")
    assert inside is not None and inside.path == "big.py"


def test_a_root_of_slash_does_not_take_the_system_for_the_project() -> None:
    for command in ("echo x > /tmp/a.py", "cat > /dev/null", "sed -i s/a/b/ /proc/x"):
        assert refusal(command, sizes, root="/") is None
    assert refusal("sed -i s/a/b/ /srv/a.py", sizes, root="/") is not None


def test_refusals_say_what_was_seen_and_what_to_write_instead() -> None:
    assert judged("sed -i 's/a/b/' src/a.py") == Refusal(
        "use_patch",
        "src/a.py",
        "`sed -i` edits src/a.py by shell, which is refused here; the patch pack edits files and checks the old lines first",
        "if tools.patch is on offer: "
        'await tools.patch.apply({patch: "*** Begin Patch\\n*** Update File: src/a.py\\n@@\\n-old line\\n+new line\\n*** End Patch"})'
        "; if not, say which lines should change",
    )
    assert judged("cat > a.py <<EOF\nx\nEOF") == Refusal(
        "use_patch",
        "a.py",
        "`cat > a.py` writes a file by shell, which is refused here; the patch pack writes files and records what changed",
        "if tools.patch is on offer: "
        'await tools.patch.apply({patch: "*** Begin Patch\\n*** Add File: a.py\\n+first line\\n*** End Patch"})'
        "; if not, say which lines should change",
    )
    overwritten = judged("cat > big.py <<EOF\nx\nEOF")
    assert overwritten is not None and overwritten.hint == (
        "if tools.patch is on offer: "
        'await tools.patch.apply({patch: "*** Begin Patch\\n*** Add File: big.py\\n+first line\\n*** End Patch", overwrite: true})'
        "; if not, say which lines should change"
    )
    appended = judged("echo x >> big.py")
    assert appended is not None and "*** Update File: big.py" in appended.hint
    assert judged("cat src/big.py") == Refusal(
        "use_files_read",
        "src/big.py",
        "`cat` prints src/big.py whole: 50,000 bytes; files over 4,096 bytes are read by tools.files.read, which gives the part you need",
        'await tools.files.read({path: "src/big.py"})',
    )
    patched = judged("apply_patch <<EOF\n*** Begin Patch\n*** End Patch\nEOF")
    assert patched == Refusal(
        "use_patch",
        "",
        "apply_patch is no program here; the tool patch.apply takes such a patch as it stands",
        "if tools.patch is on offer: await tools.patch.apply({patch: `*** Begin Patch\n…\n*** End Patch`}); if not, say which lines should change",
    )


def test_the_tools_that_refusals_name_exist_with_those_arguments() -> None:
    offered = {tool.full_name: set(tool.order) for module in (files, patch) for tool in pack(module).tools}
    assert offered["patch.apply"] >= {"patch", "overwrite"}
    assert offered["files.read"] >= {"path"}


def test_steps_are_what_runs_without_what_wraps_it() -> None:
    steps, simple = steps_of(read_command("cd x && env -u B A=1 timeout -s INT 60 uv run --with y python -m pytest -q | tail -5"))
    assert [[word.text for word in step.words] for step in steps] == [["cd", "x"], ["pytest", "-q"], ["tail", "-5"]]
    assert simple


def test_endless_wrapping_does_not_take_long() -> None:
    assert classify("env " * 100_000 + "pytest") == "other"


# ── real commands ────────────────────────────────────────────────────────────────────────────────────────────────────────


def told(value: Any) -> Iterator[str | list[str]]:
    """Commands in a record of a session, whatever its shape."""
    if isinstance(value, dict):
        if value.get("type") == "function_call" and isinstance(value.get("arguments"), str):
            try:
                arguments = json.loads(value["arguments"])
            except ValueError:
                return
            command = arguments.get("command", arguments.get("cmd")) if isinstance(arguments, dict) else None
        elif value.get("type") == "tool_use" and value.get("name") == "Bash":
            command = value["input"].get("command")
        else:
            for inner in value.values():
                yield from told(inner)
            return
        if command:
            yield command
    elif isinstance(value, list):
        for inner in value:
            yield from told(inner)


@pytest.mark.skipif(not SESSIONS.is_dir(), reason="no recorded sessions here")
def test_real_commands_are_read_classed_and_hardly_refused() -> None:
    found: list[str | list[str]] = []
    for path in sorted([*SESSIONS.glob("codex/*.jsonl"), *SESSIONS.glob("claude_code/*.jsonl")]):
        for line in path.read_text(errors="replace").splitlines():
            try:
                found.extend(told(json.loads(line)))
            except ValueError:
                continue
    assert len(found) > 1_000
    kinds = Counter(classify(command) for command in found)
    assert kinds["build"] > 200 and kinds["search"] > 200
    refused = [(command, each) for command in found if (each := refusal(command, lambda path: 1_000_000)) is not None]
    edits = [command for command, each in refused if each.code == "use_patch"]
    # Every edit that is refused names a way of editing; nothing else of these sessions is called one.
    ways = ("apply_patch", "perl -0pi", "write_text", "sed -i", "cat >", "cat <<", "tee ")
    assert [command for command in edits if not any(way in str(command) for way in ways)] == []
    reads = [command for command, each in refused if each.code == "use_files_read"]
    assert len(reads) < len(found) / 50  # with every file taken to be large
