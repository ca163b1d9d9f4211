"""The class of a command: `search`, `build` (tests, linters and compilers too) or `other`.

It decides how output is condensed: rows of hits, the end with the failures, or head and tail. Pure, and only a reading of
names: it never decides whether something may run. A build anywhere makes the whole a build; a search must be all there is.
"""

import re
from collections.abc import Sequence
from typing import Literal, TypeAlias

from tool_packs.bash_text import Unreadable
from tool_packs.steps import Step, positionals, read_command, steps_of

Kind: TypeAlias = Literal["search", "build", "other"]

_SEARCH = frozenset({
    "rg", "grep", "egrep", "fgrep", "zgrep", "rgrep", "ugrep", "ag", "ack", "find", "fd", "fdfind", "ls", "tree", "eza", "exa",
    "locate", "fzf",
})  # fmt: skip
_FILTERS = _SEARCH | {
    "head", "tail", "sort", "uniq", "wc", "cut", "awk", "tr", "column", "tee", "cat", "nl", "less", "more", "fold", "paste",
    "rev", "sed", "comm", "tac",
}  # fmt: skip
_NEUTRAL = frozenset({
    "", "cd", "pushd", "popd", "echo", "printf", "true", "false", ":", "export", "set", "unset", "source", ".", "pwd", "sleep",
    "test", "[", "[[", "shopt", "ulimit", "trap", "mkdir", "exit",
})  # fmt: skip
_BUILD = frozenset({
    "pytest", "py.test", "tox", "nox", "unittest", "doctest", "coverage", "trial", "nosetests", "stestr", "compileall",
    "py_compile", "mypy", "pyright", "basedpyright", "pyre", "ruff", "flake8", "pylint", "black", "isort", "bandit", "pyflakes",
    "make", "gmake", "ninja", "cmake", "ctest", "meson", "scons", "waf", "ant", "mvn", "mvnw", "mvnd", "gradle", "gradlew", "sbt",
    "xcodebuild", "msbuild", "rustc", "javac", "kotlinc", "swiftc", "ghc", "nvcc", "tsc", "vue-tsc", "tsup", "swc", "jest",
    "vitest", "mocha", "ava", "tap", "jasmine", "karma", "playwright", "cypress", "c8", "nyc", "eslint", "oxlint", "biome",
    "prettier", "stylelint", "webpack", "rollup", "esbuild", "parcel", "tsdown", "rspec", "rubocop", "minitest", "phpunit",
    "phpstan", "psalm", "golangci-lint", "staticcheck", "gotestsum", "shellcheck", "hadolint", "pre-commit", "bats", "busted",
    "luacheck", "clang-tidy", "cppcheck", "markdownlint", "actionlint", "buf", "detekt", "ktlint", "swiftlint", "mkdocs",
})  # fmt: skip
_SUBCOMMANDS: dict[str, frozenset[str]] = {
    "cargo": frozenset({"build", "b", "check", "c", "test", "t", "clippy", "doc", "bench", "nextest", "fmt", "fix", "miri"}),
    "go": frozenset({"build", "test", "vet", "install", "generate", "fmt"}),
    "dotnet": frozenset({"build", "test", "publish", "msbuild", "format", "pack"}),
    "swift": frozenset({"build", "test"}),
    "zig": frozenset({"build", "test", "build-exe", "build-lib"}),
    "mix": frozenset({"test", "compile", "credo", "dialyzer", "format"}),
    "stack": frozenset({"build", "test"}),
    "cabal": frozenset({"build", "test", "v2-build", "v2-test"}),
    "dart": frozenset({"test", "analyze", "compile", "format"}),
    "flutter": frozenset({"test", "analyze", "build"}),
    "deno": frozenset({"test", "check", "lint", "fmt", "bench", "compile"}),
    "bazel": frozenset({"build", "test", "coverage"}),
    "bazelisk": frozenset({"build", "test", "coverage"}),
    "buck2": frozenset({"build", "test"}),
    "pants": frozenset({"test", "lint", "check", "package", "fmt"}),
    "docker": frozenset({"build", "buildx"}),
    "podman": frozenset({"build"}),
    "vite": frozenset({"build"}),
    "next": frozenset({"build", "lint"}),
    "nuxt": frozenset({"build"}),
    "astro": frozenset({"build", "check"}),
    "ng": frozenset({"build", "test", "lint", "e2e"}),
    "maturin": frozenset({"build", "develop"}),
    "wasm-pack": frozenset({"build", "test"}),
    "forge": frozenset({"build", "test"}),
    "uv": frozenset({"build"}),
    "poetry": frozenset({"build", "check"}),
    "hatch": frozenset({"build", "test", "fmt"}),
}
_SCRIPTS = frozenset({"npm", "pnpm", "yarn", "bun"})
_TASKS = frozenset({
    "just", "task", "mise", "rake", "invoke", "inv", "poe", "nx", "turbo", "lerna", "moon", "grunt", "gulp", "composer", "hatch",
    "pdm", "pixi", "deno", "earthly", "rush", "wireit",
})  # fmt: skip
_INTERPRETERS = re.compile(r"python(\d+(\.\d+)*)?|node|bash|sh|zsh|ruby|perl|php|bun|deno|tsx|ts-node")
_COMPILER = re.compile(r"(?:[\w.]+-)*(?:gcc|g\+\+|clang|clang\+\+|cc|c\+\+)(?:-[\d.]+)?")
_GOAL = re.compile(
    r"(?:^|[^a-z])(?:build|compile|test|lint|check|typecheck|tsc|e2e|spec|unit|coverage|verify|format|fmt)", re.IGNORECASE
)
_SCRIPT_FILE = re.compile(
    r"(?:^|[_\-.])(?:run-?_?)?(?:(?:tests?|build|lint|ci|compile|verify|spec|e2e)(?:[_\-.].*)?|checks?)$", re.IGNORECASE
)
_VALUED = frozenset({"-C", "--prefix", "--filter", "-F", "--manifest-path", "--cwd", "--dir", "-w", "--workspace", "--project"})


def classify(command: str | Sequence[str]) -> Kind:
    """What is not readable as bash is `other`."""
    try:
        steps, _ = steps_of(read_command(command))
    except Unreadable:
        return "other"
    if any(_is_build(step) for step in steps):
        return "build"
    working = [step for step in steps if step.program not in _NEUTRAL]
    heads = [step for step in working if not step.piped_in]
    fed = [step for step in working if step.piped_in]
    if heads and all(_is_search(step) for step in heads) and all(_is_filter(step) for step in fed):
        return "search"
    return "other"


def _is_search(step: Step) -> bool:
    if step.program == "git":
        goal = _goals(step)[:1]
        return goal in (["grep"], ["ls-files"])
    if step.program == "find":
        return not {"-exec", "-execdir", "-ok", "-okdir", "-delete"} & set(step.args) or "grep" in step.args
    return step.program in _SEARCH


def _is_filter(step: Step) -> bool:
    if step.program == "xargs":
        return any(arg in _SEARCH or arg == "wc" for arg in step.args)
    return step.program in _FILTERS


def _is_build(step: Step) -> bool:
    program = step.program
    if program in _BUILD or _COMPILER.fullmatch(program):
        return True
    if not step.words:
        return False
    goals = _goals(step)
    if goals[:1] and goals[0] in _SUBCOMMANDS.get(program, ()):
        return True
    if program in _SCRIPTS:
        return _runs_script(program, goals)
    if program in _TASKS:
        return any(_GOAL.search(goal) for goal in goals[:2])
    if program == "docker" and goals[:2] == ["compose", "build"]:
        return True
    return _is_script_file(step, goals)


def _goals(step: Step) -> list[str]:
    """What stands behind the program without options: its sub-command first; `cargo +nightly test` means test."""
    return [word.text for _, word in positionals(step.words, _VALUED) if not word.text.startswith("+")]


def _runs_script(program: str, goals: list[str]) -> bool:
    """npm run name, pnpm name, yarn workspace x name."""
    if goals[:1] in (["run"], ["run-script"]):
        return bool(goals[1:]) and _GOAL.search(goals[1]) is not None
    if goals[:1] == ["workspace"]:
        return bool(goals[2:]) and _runs_script(program, goals[2:])
    if program == "npm":
        return goals[:1] in (["test"], ["t"], ["tst"], ["it"])
    return bool(goals) and _GOAL.search(goals[0]) is not None


def _is_script_file(step: Step, goals: list[str]) -> bool:
    """./scripts/test.sh, python tests/runtests.py, python manage.py test, node --test."""
    if not _INTERPRETERS.fullmatch(step.program):
        return "/" in step.words[0].text and _SCRIPT_FILE.search(_stem(step.words[0].text)) is not None
    if step.program == "node" and "--test" in step.args:
        return True
    if not goals or "-c" in step.args or "-e" in step.args:
        return False
    name = goals[0].rsplit("/", 1)[-1]
    if name in ("manage.py", "setup.py"):
        return bool(goals[1:]) and _GOAL.search(goals[1]) is not None
    return name.startswith("runtests") or _SCRIPT_FILE.search(_stem(name)) is not None


def _stem(path: str) -> str:
    name = path.rsplit("/", 1)[-1]
    return re.sub(r"\.(sh|bash|zsh|py|js|mjs|cjs|ts|rb|pl|php)$", "", name)
