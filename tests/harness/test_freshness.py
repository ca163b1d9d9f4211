"""What a call read is still as it was: `still` is True only if that is certain, and often enough to be of use."""

import hashlib
import os
import random
import shutil
import stat
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from harness.cache import Freshness, State

SECOND = 10**9
HOUR = 3_600 * SECOND


def later() -> int:
    """As if all stamps were old."""
    return time.time_ns() + HOUR


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "root"
    (made / "src" / "deep").mkdir(parents=True)
    (made / "a.txt").write_text("aaaa")
    (made / "b.txt").write_text("bbbb")
    (made / "src" / "c.py").write_text("cccc")
    (made / "src" / "deep" / "d.py").write_text("dddd")
    (made / "link").symlink_to("a.txt")
    (made / "folder").symlink_to("src")
    return made


def known(freshness: Freshness, *keys: str) -> State:
    state = freshness.state(keys)
    assert state is not None
    return state


def restored(path: Path, change: Callable[[], object]) -> None:
    """Change a file and set its times back."""
    facts = path.stat()
    change()
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))


def test_a_file_that_nobody_touched_is_fresh_by_both_of_its_names(root: Path) -> None:
    freshness = Freshness(root)
    state = known(freshness, "file:a.txt")
    assert freshness.still(state)
    assert known(freshness, f"file:{root}/src/../a.txt") == state
    assert known(freshness, f"file:{root}/a.txt", "file:a.txt") == state


def test_nothing_read_never_changes(root: Path) -> None:
    freshness = Freshness(root)
    assert freshness.still(known(freshness))


FILE_CHANGES: dict[str, Callable[[Path], object]] = {
    "same size": lambda path: path.write_text("zzzz"),
    "same size, time set back": lambda path: restored(path, lambda: path.write_text("zzzz")),
    "longer": lambda path: path.write_text("aaaaa"),
    "cut": lambda path: os.truncate(path, 2),
    "mode": lambda path: path.chmod(0o600),
    "time": lambda path: os.utime(path, ns=(0, 0)),
    "gone": lambda path: path.unlink(),
    "a folder instead": lambda path: (path.unlink(), path.mkdir()),
    "a link instead": lambda path: (path.unlink(), path.symlink_to("b.txt")),
    "another file of the same content": lambda path: (path.with_name("t").write_text("aaaa"), path.with_name("t").replace(path)),
}


@pytest.mark.parametrize("clock_ns", [time.time_ns, later], ids=["racy", "trusted"])
@pytest.mark.parametrize("key", ["file:a.txt", "file:link", "tree:.", "tree:a.txt"])
@pytest.mark.parametrize("change", FILE_CHANGES)
def test_a_changed_file_is_noticed(root: Path, change: str, key: str, clock_ns: Callable[[], int]) -> None:
    freshness = Freshness(root, clock_ns=clock_ns)
    state, other = known(freshness, key), known(freshness, "file:b.txt")
    FILE_CHANGES[change](root / "a.txt")
    assert not freshness.still(state)
    assert freshness.still(other)


TREE_CHANGES: dict[str, Callable[[Path], object]] = {
    "a new file": lambda root: (root / "src/deep/new").write_text(""),
    "a new hidden file": lambda root: (root / "src/.new").write_text(""),
    "a new folder": lambda root: (root / "src/deep/new").mkdir(),
    "a file gone": lambda root: (root / "src/deep/d.py").unlink(),
    "a file renamed": lambda root: (root / "src/deep/d.py").rename(root / "src/deep/e.py"),
    "a folder renamed": lambda root: (root / "src/deep").rename(root / "src/flat"),
    "a new link": lambda root: (root / "src/new").symlink_to("nowhere"),
    "rules inside": lambda root: (root / "src/.gitignore").write_text("*"),
    "rules at the root": lambda root: (root / ".gitignore").write_text("*"),
    "other rules at the root": lambda root: (root / ".rgignore").write_text("*"),
    "rules above the root": lambda root: (root.parent / ".ignore").write_text("*"),
    "rules of the repository": lambda root: ((root / ".git/info").mkdir(parents=True), (root / ".git/info/exclude").write_text("*")),
    "a repository around it": lambda root: (root.parent / ".git").mkdir(),
}  # fmt: skip


@pytest.mark.parametrize("clock_ns", [time.time_ns, later], ids=["racy", "trusted"])
@pytest.mark.parametrize("key", ["tree:src", "tree:.", "tree:folder"])
@pytest.mark.parametrize("change", TREE_CHANGES)
def test_a_changed_tree_is_noticed(root: Path, change: str, key: str, clock_ns: Callable[[], int]) -> None:
    freshness = Freshness(root, clock_ns=clock_ns)
    state = known(freshness, key)
    assert freshness.still(state)
    TREE_CHANGES[change](root)
    assert not freshness.still(state)


def test_a_change_beside_a_tree_leaves_it_fresh(root: Path) -> None:
    freshness = Freshness(root)
    state = known(freshness, "tree:src")
    (root / "a.txt").write_text("changed")
    (root / "new").mkdir()
    assert freshness.still(state)


def test_links_are_followed_at_the_top_and_their_target_counts(root: Path) -> None:
    freshness = Freshness(root)
    states = {key: known(freshness, key) for key in ("file:link", "file:folder/c.py", "tree:folder", "tree:.")}
    (root / "folder").unlink()
    (root / "folder").symlink_to("src/deep")
    assert [key for key, state in states.items() if freshness.still(state)] == ["file:link"]


def test_a_link_turned_to_another_name_of_the_same_file_is_noticed(root: Path) -> None:
    (root / "other").mkdir()
    os.link(root / "src/c.py", root / "other/c.py")
    freshness = Freshness(root)
    state = known(freshness, "file:folder/c.py")
    (root / "folder").unlink()
    (root / "folder").symlink_to("other")
    assert not freshness.still(state)


def test_an_absent_file_has_a_state_until_it_appears(root: Path) -> None:
    freshness = Freshness(root)
    states = [known(freshness, key) for key in ("file:new", "file:none/new", "file:a.txt/new", "tree:new")]
    assert [freshness.still(state) for state in states] == [True] * 4
    (root / "new").write_text("")
    assert [freshness.still(state) for state in states] == [False, True, True, False]


def test_what_cannot_be_told_has_no_state(root: Path) -> None:
    (root / "out").symlink_to(root.parent)
    (root / "loop").symlink_to("loop")
    os.mkfifo(root / "fifo")
    freshness = Freshness(root)
    keys = [
        "*", "url:https://example.org", "plan:current", "result:r1", "file:../x", "file:/etc/hosts", "tree:..", "tree:/",
        "file:out/x", "tree:out", "file:fifo", "file:loop", "file:a\0b", "file:\ud800", "file",
    ]  # fmt: skip
    assert {key: freshness.state(["file:a.txt", key]) for key in keys} == dict.fromkeys(keys)


def test_a_tree_above_the_limit_of_entries_has_no_state(root: Path) -> None:
    count = len(list(root.rglob("*")))
    assert Freshness(root, tree_entries_max=count).state(["tree:."]) is not None
    assert Freshness(root, tree_entries_max=count - 1).state(["tree:."]) is None
    assert Freshness(root, tree_entries_max=count - 1).state(["tree:src"]) is not None


def test_too_many_bytes_in_young_files_have_no_state_until_they_are_old(root: Path) -> None:
    assert Freshness(root, racy_bytes_max=15).state(["tree:."]) is None
    assert Freshness(root, racy_bytes_max=15, clock_ns=later).state(["tree:."]) is not None


def test_a_root_that_was_replaced_has_no_state(root: Path) -> None:
    freshness = Freshness(root)
    state = known(freshness, "file:none")
    root.rename(root.with_name("moved"))
    assert freshness.state(["file:none"]) is None
    root.mkdir()
    assert freshness.state(["file:none"]) is None
    assert not freshness.still(state)


def test_two_roots_never_share_a_state(root: Path) -> None:
    twin = root.with_name("twin")
    twin.mkdir()
    assert known(Freshness(root), "file:none") != known(Freshness(twin), "file:none")


def test_a_young_file_is_told_by_its_content_and_later_by_its_stamp_alone(root: Path) -> None:
    now = [time.time_ns()]
    freshness = Freshness(root, clock_ns=lambda: now[0])
    state = known(freshness, "file:a.txt")
    oid = hashlib.sha1(b"blob 4\0aaaa").hexdigest()
    assert state.racy == ((str(root / "a.txt"), oid),)
    assert freshness.fresh(state) == state
    now[0] += 10 * SECOND
    old = freshness.fresh(state)
    assert old == State(state.keys, state.digest, ())
    assert freshness.fresh(old) == old
    now[0] -= 10 * SECOND
    assert freshness.fresh(old) == state, "the clock was set back: no harm"


def test_a_write_that_leaves_the_same_stamp_is_noticed_while_the_file_is_young(root: Path) -> None:
    """A file system that counts in hours: every stamp stays as it is, and only the content tells."""
    freshness = Freshness(root, tick_ns=24 * HOUR, slack_ns=24 * HOUR)
    states = {key: known(freshness, key) for key in ("file:a.txt", "file:link", "tree:.", "tree:src", "file:src")}
    restored(root / "a.txt", lambda: (root / "a.txt").write_text("zzzz"))
    assert [key for key, state in states.items() if freshness.still(state)] == ["tree:src", "file:src"]
    (root / "src/c.py").unlink()
    (root / "src/x.py").write_text("cccc")
    assert [key for key, state in states.items() if freshness.still(state)] == []


def test_without_trust_in_content_the_same_write_would_not_be_seen(root: Path) -> None:
    """That the test above tests something."""
    freshness = Freshness(root, tick_ns=24 * HOUR, slack_ns=24 * HOUR, clock_ns=lambda: time.time_ns() + 100 * HOUR)
    state = known(freshness, "file:a.txt")
    if time.time_ns() // (24 * HOUR) != (time.time_ns() + SECOND) // (24 * HOUR):
        pytest.skip("the day ends")
    restored(root / "a.txt", lambda: (root / "a.txt").write_text("zzzz"))
    assert freshness.still(state)


def test_a_state_goes_through_json_and_back(root: Path) -> None:
    (root / os.fsdecode(b"\xff\xc3\xa9")).write_text("")
    freshness = Freshness(root)
    state = known(freshness, "tree:.", "file:a.txt")
    assert len(state.racy) >= 5
    again = State.from_json(orjson.loads(orjson.dumps(state.to_json())))
    assert again == state
    assert freshness.still(again)


def test_files_beside_the_root_count_for_trees(root: Path) -> None:
    config = root.parent / "gitconfig"
    freshness = Freshness(root, beside=[config])
    tree, file = known(freshness, "tree:src"), known(freshness, "file:a.txt")
    config.write_text("[core]")
    assert (freshness.still(tree), freshness.still(file)) == (False, True)


def git(folder: Path, *arguments: str) -> None:
    settings = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "PATH": os.defpath, "HOME": str(folder)}
    named = ["-c", "user.name=me", "-c", "user.email=me@example.org"]
    subprocess.run(["git", *named, *arguments], cwd=folder, env=settings, check=True, capture_output=True)


needs_git = pytest.mark.skipif(shutil.which("git", path=os.defpath) is None, reason="git is not installed")


@needs_git
@pytest.mark.parametrize("place", ["top", "subfolder", "work tree"])
@pytest.mark.parametrize("clock_ns", [time.time_ns, later], ids=["racy", "trusted"])
def test_what_git_does_is_noticed_wherever_its_folder_is(root: Path, place: str, clock_ns: Callable[[], int]) -> None:
    git(root, "init")
    git(root, "add", "a.txt", "src")
    git(root, "commit", "-m", "first")
    git(root, "worktree", "add", "-b", "other", "../tree")
    folder = {"top": root, "subfolder": root / "src", "work tree": root.parent / "tree"}[place]
    freshness = Freshness(folder, clock_ns=clock_ns)
    for step in (
        ["branch", "new"],
        ["commit", "--allow-empty", "-m", "second"],
        ["config", "core.ignoreCase", "true"],
        ["hash-object", "-w", "b.txt"],
    ):
        state = known(freshness, "tree:.")
        assert freshness.still(state)
        git(root, *step)
        assert not freshness.still(state), step


# --- many random steps -------------------------------------------------------------------------------------------------

FILES = ["a.txt", "b.txt", "src/c.py", "src/deep/d.py", "src/.gitignore", ".gitignore", ".git/info/exclude"]
KEYS = [
    *(f"file:{name}" for name in (*FILES[:4], "link", "folder/c.py", "src/deep")),
    "tree:.",
    "tree:src",
    "tree:src/deep",
    "tree:folder",
]


def value_of(root: Path, key: str) -> object:
    """What a tool could tell of a key; computed anew."""
    kind, _, name = key.partition(":")
    path = root / name
    if kind == "file":
        return told(path), os.path.realpath(path)
    below = sorted(found for found in path.resolve().rglob("*"))
    above = [folder for folder in path.resolve().parents if folder.is_relative_to(root)]
    rules = [told(folder / file) for folder in above for file in (".gitignore", ".git/info/exclude")]
    return [(str(found), told(found)) for found in below], rules, os.path.realpath(path)


def told(path: Path) -> object:
    try:
        own, facts = path.lstat(), path.stat()
    except OSError as error:
        return error.errno
    target = os.readlink(path) if stat.S_ISLNK(own.st_mode) else None
    content = path.read_bytes() if stat.S_ISREG(facts.st_mode) else sorted(os.listdir(path))
    return own.st_mode, int(own.st_mtime), facts.st_mode, facts.st_size, int(facts.st_mtime), target, content


class World:
    """Somebody who changes files in every way, mostly so that it is hard to see."""

    def __init__(self, root: Path, chance: random.Random) -> None:
        self.root = root
        self.chance = chance
        self.done = Counter[str]()

    def change(self) -> None:
        path = self.root / self.chance.choice(FILES)
        step = self.chance.choice(STEPS)
        try:
            step(self, path)
            self.done[step.__name__] += 1
        except OSError:
            self.done["not possible"] += 1

    def text(self) -> str:
        return self.chance.choice(["aaaa", "bbbb", "cccc", "*.py", "long text"])

    def in_place(self, path: Path) -> None:
        with path.open("r+") as file:
            file.write(self.text()[:4])

    def in_place_and_time_back(self, path: Path) -> None:
        restored(path, lambda: self.in_place(path))

    def renamed_over_and_time_back(self, path: Path) -> None:
        facts, new = path.stat(), path.with_name("temporary")
        new.write_text(self.text())
        os.utime(new, ns=(facts.st_atime_ns, facts.st_mtime_ns))
        new.replace(path)

    def written(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.text())

    def cut(self, path: Path) -> None:
        os.truncate(path, self.chance.randrange(5))

    def added(self, path: Path) -> None:
        with path.open("a") as file:
            file.write("x")

    def gone(self, path: Path) -> None:
        path.unlink()

    def made_again(self, path: Path) -> None:
        content = path.read_bytes()
        path.unlink()
        path.write_bytes(content if self.chance.random() < 0.5 else b"zzzz")

    def mode(self, path: Path) -> None:
        path.chmod(self.chance.choice([0o600, 0o644, 0o755]))

    def link_turned(self, _: Path) -> None:
        (self.root / "link").unlink(missing_ok=True)
        (self.root / "link").symlink_to(self.chance.choice(["a.txt", "b.txt", "src/c.py", "none"]))

    def folder_link_turned(self, _: Path) -> None:
        (self.root / "folder").unlink(missing_ok=True)
        (self.root / "folder").symlink_to(self.chance.choice(["src", "src/deep", "none"]))

    def folder_renamed(self, _: Path) -> None:
        one, other = self.root / "src/deep", self.root / "src/flat"
        one.rename(other) if one.exists() else other.rename(one)

    def folders_swapped(self, _: Path) -> None:
        one, other, third = self.root / "src/deep", self.root / "twin", self.root / "third"
        other.mkdir(exist_ok=True)
        (other / "d.py").write_text(self.text())
        one.rename(third)
        other.rename(one)
        third.rename(other)

    def names_swapped(self, _: Path) -> None:
        one, other, third = self.root / "a.txt", self.root / "b.txt", self.root / "third"
        one.rename(third)
        other.rename(one)
        third.rename(other)


STEPS: list[Callable[[World, Path], None]] = [
    World.in_place, World.in_place, World.in_place_and_time_back, World.in_place_and_time_back, World.in_place_and_time_back,
    World.renamed_over_and_time_back, World.written, World.written, World.cut, World.added, World.gone, World.made_again,
    World.mode, World.link_turned, World.folder_link_turned, World.folder_renamed, World.folders_swapped, World.names_swapped,
]  # fmt: skip


@pytest.mark.parametrize(
    ("steps", "slack_ns", "tick_ns"),
    [(3_000, 2_500_000_000, 1), (10_000, 40_000_000, 25_000_000), (3_000, 15_000_000, 1)],
    ids=["as it is used", "a file system that counts in 25 ms", "stamps trusted after 15 ms"],
)
def test_in_thousands_of_random_steps_nothing_stale_is_served(
    root: Path, steps: int, slack_ns: int, tick_ns: int, capsys: pytest.CaptureFixture[str]
) -> None:
    seed = 4
    chance = random.Random(seed)
    world, freshness = World(root, chance), Freshness(root, slack_ns=slack_ns, tick_ns=tick_ns)
    kept = dict[str, tuple[State, object]]()
    seen = Counter[str]()
    for step in range(steps):
        if chance.random() < 0.25:
            world.change()
            continue
        key = chance.choice(KEYS)
        if key in kept:
            state, value = kept[key]
            fresh = freshness.fresh(state)
            if fresh is not None:
                assert value_of(root, key) == value, (seed, step, key)
                seen["trusted hit" if not fresh.racy else "racy hit"] += 1
                kept[key] = fresh, value
                continue
        seen["miss"] += 1
        before = freshness.state([key])
        value = value_of(root, key)
        after = None if before is None else freshness.fresh(before)
        assert after is not None, "nobody else changes anything"
        kept[key] = after, value
    hits = seen["trusted hit"] + seen["racy hit"]
    with capsys.disabled():
        print(f" [{hits:,} hits of {hits + seen['miss']:,}, {seen['racy hit']:,} of them racy]", end="")
    assert hits > 0.3 * (hits + seen["miss"])
    assert seen["racy hit"] > 0
    assert slack_ns > SECOND or seen["trusted hit"] > 0
    assert all(world.done[step.__name__] > 10 for step in STEPS), world.done
