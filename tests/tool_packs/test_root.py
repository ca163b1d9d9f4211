"""The root holds: against dots, absolute paths, links, and links swapped by another process while a call runs."""

import ctypes
import errno
import gc
import hashlib
import itertools
import os
import random
import resource
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from catalog import ToolProblem
from tool_packs.path_problems import problem_of
from tool_packs.root import Root

MARKER = b"SECRET-7f3a91c5-OUTSIDE"
ONLY_LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="openat2 is a call of Linux")


@pytest.fixture(params=[pytest.param(True, marks=ONLY_LINUX), False], ids=["openat2", "walk"])
def way(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return planted(tmp_path)


@pytest.fixture
def quick_tree(tmp_path: Path) -> Iterator[Path]:
    """In memory where the system has such a place: a thousand synced writes wait long for a busy disk."""
    if not os.access("/dev/shm", os.W_OK):
        yield planted(tmp_path)
        return
    with tempfile.TemporaryDirectory(dir="/dev/shm") as place:
        yield planted(Path(place))


def planted(tmp_path: Path) -> Path:
    """A root at `work` with files, links of every kind, and a secret beside it."""
    root = tmp_path / "work"
    outside = tmp_path / "outside"
    (root / "src" / "deep").mkdir(parents=True)
    (root / "docs").mkdir()
    (outside / "sub").mkdir(parents=True)
    for name in ("secret", "sub/secret", "passwd"):
        (outside / name).write_bytes(MARKER)
    (tmp_path / "secret").write_bytes(MARKER)
    (tmp_path / "work-not").mkdir()
    (tmp_path / "work-not" / "secret").write_bytes(MARKER)
    (root / "a.txt").write_bytes(b"a")
    (root / "src" / "main.py").write_bytes(b"main")
    (root / "src" / "deep" / "leaf").write_bytes(b"leaf")
    (root / "docs" / "naïve ☃.md").write_bytes(b"snow")
    links = {
        "in_file": "src/main.py", "in_folder": "src", "in_up": "src/deep/..", "in_absolute": str(root / "src"),
        "in_chain": "in_folder/deep", "src/to_top": "..", "src/deep/up_and_in": "../../docs", "nothing": "not/there",
        "self": "self", "ring_a": "ring_b", "ring_b": "ring_a",
        "out_file": "../secret", "out_folder": "../outside", "out_absolute": str(outside), "out_etc": "/etc",
        "out_sibling": str(tmp_path / "work-not"), "src/out_deep": "../../outside/sub", "out_chain": "src/to_top/out_folder",
        "out_and_in": "../work/a.txt", "out_new": "../created", "proc_root": "/proc/self/root", "proc_cwd": "/proc/self/cwd",
    }  # fmt: skip
    for name, target in links.items():
        os.symlink(target, root / name)
    os.mkfifo(root / "fifo")
    return root


def digest(*folders: Path) -> str:
    """Of names, kinds, modes, times of change and contents; links by what they say."""
    hashed = hashlib.sha256()
    for top in folders:
        for path in sorted([top, *top.rglob("*")]):
            facts = path.lstat()
            body = path.read_bytes() if stat.S_ISREG(facts.st_mode) else b""
            hashed.update(repr((str(path), facts.st_mode, facts.st_mtime_ns, facts.st_ctime_ns, body)).encode())
    return hashed.hexdigest()


def read(root: Root, path: str) -> bytes:
    return root.read_bytes(path, most_bytes=1000)[0]


def refused(call: Callable[[], object]) -> ToolProblem:
    with pytest.raises(ToolProblem) as caught:
        call()
    return caught.value


# What may be read


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("a.txt", b"a"),
        ("./src//deep/../main.py", b"main"),
        ("src/main.py/", b"main"),
        ("missing/../a.txt", b"a"),
        ("in_file", b"main"),
        ("in_folder/main.py", b"main"),
        ("in_up/main.py", b"main"),
        ("in_absolute/main.py", b"main"),
        ("in_chain/leaf", b"leaf"),
        ("src/to_top/a.txt", b"a"),
        ("src/deep/up_and_in/naïve ☃.md", b"snow"),
    ],
)
def test_paths_that_stay_beneath_the_root_are_followed(tree: Path, way: bool, path: str, content: bytes) -> None:
    root = Root(tree, openat2=way)
    assert root.by_kernel is way
    assert read(root, path) == content
    assert read(root, f"{tree}/{path}") == content


OUTSIDE = [
    "out_file", "out_folder/secret", "out_absolute/secret", "out_etc/passwd", "out_sibling/secret", "src/out_deep/secret",
    "out_chain/secret", "out_and_in", "proc_root/etc/passwd", "proc_cwd/pyproject.toml", "in_folder/out_deep/secret",
]  # fmt: skip


@pytest.mark.parametrize("path", OUTSIDE)
def test_links_that_leave_the_root_are_refused_by_every_operation(tree: Path, way: bool, path: str) -> None:
    root = Root(tree, openat2=way)
    before = digest(tree.parent / "outside", tree.parent / "work-not")
    calls: list[Callable[[], object]] = [
        lambda: read(root, path),
        lambda: root.open(path, os.O_RDWR | os.O_CREAT),
        lambda: root.stat(path),
        lambda: root.replace(path, b"overwritten"),
        lambda: root.folder(path, create=True),
    ]
    assert {refused(call).code for call in calls} == {"outside_root"}
    assert refused(lambda: read(root, path)).message == f"{path} leads outside the root through a link"
    assert digest(tree.parent / "outside", tree.parent / "work-not") == before


@pytest.mark.parametrize("path", ["..", "../secret", "src/../../secret", "/", "/etc/passwd", "//etc/passwd"])
def test_paths_that_say_outside_are_refused_by_their_text(tree: Path, way: bool, path: str) -> None:
    problem = refused(lambda: Root(tree, openat2=way).relative(path))
    assert (problem.code, problem.message) == ("outside_root", f"{path} is outside the root {tree}")
    assert problem.hint == "only paths below the root can be used; give one relative to it"


def test_a_folder_whose_name_begins_like_the_root_is_not_below_it(tree: Path) -> None:
    assert refused(lambda: Root(tree).relative(f"{tree}-not/secret")).code == "outside_root"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (".", "."),
        ("./", "."),
        ("a//b/./c/", "a/b/c"),
        ("{root}", "."),
        ("{root}/", "."),
        ("{root}/a/../b", "b"),
        ("//{root}/b", "b"),
    ],
)
def test_relative_normalises_by_text(tree: Path, path: str, expected: str) -> None:
    assert Root(tree).relative(path.replace("//{root}", f"/{tree}").replace("{root}", str(tree))) == expected


def test_a_root_named_through_a_link_accepts_absolute_paths_of_both_names(tree: Path) -> None:
    os.symlink(tree, tree.parent / "alias")
    root = Root(tree.parent / "alias")
    assert root.path == tree
    assert [root.relative(f"{tree}/a.txt"), root.relative(f"{tree.parent}/alias/a.txt")] == ["a.txt", "a.txt"]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("", "the path is empty"),
        ("a\0b", "'a\\x00b' has a NUL in it"),
        ("x" * 4096, "the path has 4,096 bytes; 4,095 is the most"),
        ("a\ud800", "'a\\ud800' is no text"),
    ],
)
def test_paths_that_can_be_no_path_are_refused(tree: Path, path: str, message: str) -> None:
    problem = refused(lambda: Root(tree).relative(path))
    assert (problem.code, problem.message) == ("bad_path", message)


# What the problems say


@pytest.mark.parametrize(
    ("path", "code", "message", "hint"),
    [
        ("src/mian.py", "not_found", "nothing is at src/mian.py", "did you mean src/main.py?"),
        ("main.py", "not_found", "nothing is at main.py", "did you mean src/main.py?"),
        ("in_folder/mian.py", "not_found", "nothing is at in_folder/mian.py", "did you mean in_folder/main.py or src/main.py?"),
        ("zzz/qqq/www", "not_found", "nothing is at zzz/qqq/www; the root has no zzz", "list the root to see what is there"),
        ("nothing", "not_found", "nothing is a link to nothing", "name the file itself"),
        ("src", "is_directory", "src is a folder, not a file", "list it, or name a file in it"),
        ("a.txt/x", "not_a_directory", "a.txt/x: a part of the path is a file, not a folder", "list the folder above it"),
        ("self", "loop", "self: its links lead in a circle, or through more than 40 links", "name the file itself"),
        ("ring_a/x", "loop", "ring_a/x: its links lead in a circle, or through more than 40 links", "name the file itself"),
        ("fifo", "not_a_file", "fifo is a FIFO, a device or a socket, not a file", "name a regular file"),
    ],
)
def test_every_failed_read_says_what_is_there_and_the_next_step(
    tree: Path, way: bool, path: str, code: str, message: str, hint: str
) -> None:
    problem = refused(lambda: read(Root(tree, openat2=way), path))
    assert (problem.code, problem.message, problem.hint) == (code, message, hint)


def test_a_name_too_long_for_the_system_is_said_so(tree: Path, way: bool) -> None:
    problem = refused(lambda: read(Root(tree, openat2=way), "n" * 256))
    assert (problem.code, problem.message) == ("name_too_long", f"{'n' * 100}…{'n' * 100}: a name in the path is too long")


def test_sockets_and_devices_are_no_files(tree: Path, way: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tree)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
        root = Root(tree, openat2=way)
        assert refused(lambda: read(root, "socket")).code == "not_a_file"
        assert refused(lambda: root.replace("socket", b"")).code == "not_a_file"
        assert refused(lambda: root.open("fifo", os.O_WRONLY)).code == "not_a_file"


def test_a_file_beyond_the_cap_is_refused_with_the_numbers(tree: Path, way: bool) -> None:
    (tree / "big").write_bytes(b"x" * 1001)
    problem = refused(lambda: read(Root(tree, openat2=way), "big"))
    assert (problem.code, problem.message) == ("too_large", "big has 1,001 bytes; 1,000 is the most that is read at once")


@pytest.mark.skipif(not Path("/proc/cpuinfo").exists(), reason="needs a file whose size is said to be 0")
def test_a_file_that_is_longer_than_it_says_is_capped_while_it_is_read() -> None:
    assert refused(lambda: Root("/proc").read_bytes("cpuinfo", most_bytes=10)).code == "too_large"


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (errno.ENOSPC, "disk_full"), (errno.EDQUOT, "disk_full"), (errno.EACCES, "permission_denied"), (errno.EPERM, "permission_denied"),
        (errno.EROFS, "permission_denied"), (errno.EEXIST, "already_exists"), (errno.EFBIG, "too_large"), (errno.EIO, "io_error"),
    ],
)  # fmt: skip
def test_other_errors_of_the_system_have_codes(number: int, code: str) -> None:
    assert problem_of(OSError(number, os.strerror(number)), "a").code == code


@pytest.mark.parametrize("name", ["missing", "file", "loop"])
def test_a_root_must_be_a_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("")
    os.symlink("loop", tmp_path / "loop")
    assert refused(lambda: Root(tmp_path / name)).code == "bad_root"


def test_a_root_that_was_deleted_says_so(tmp_path: Path, way: bool) -> None:
    (tmp_path / "gone").mkdir()
    root = Root(tmp_path / "gone", openat2=way)
    (tmp_path / "gone").rmdir()
    assert refused(lambda: read(root, "a")).code == "bad_root"


def test_a_root_that_was_renamed_stays_the_same_folder(tree: Path, way: bool) -> None:
    root = Root(tree, openat2=way)
    tree.rename(tree.parent / "moved")
    (tree.parent / "outside").rename(tree)
    assert read(root, "a.txt") == b"a"
    assert refused(lambda: read(root, "secret")).code == "not_found"


@pytest.mark.skipif(os.geteuid() != 0, reason="changes to another user")
def test_permission_denied_is_told_to_users_without_the_right(tree: Path, way: bool) -> None:
    root = Root(tree, openat2=way)
    (tree / "locked").write_bytes(b"x")
    (tree / "locked").chmod(0o000)
    (tree / "shut").mkdir(mode=0o700)
    (tree / "open").mkdir()
    (tree / "open").chmod(0o777)
    (tree / "open" / "protected").write_bytes(b"x")
    (tree / "open" / "protected").chmod(0o444)
    os.seteuid(65534)
    try:
        calls: list[Callable[[], object]] = [
            lambda: read(root, "locked"),
            lambda: root.replace("locked", b""),
            lambda: root.replace("new", b""),
            lambda: root.replace("open/protected", b""),
            lambda: root.stat("shut/x"),
            lambda: root.remove("a.txt"),
        ]
        problems = [refused(call) for call in calls]
        root.replace("open/mine", b"allowed")
    finally:
        os.seteuid(0)
    assert [problem.code for problem in problems] == ["permission_denied"] * 6
    assert problems[0].message == "locked: the system refuses access"


# Writing


def test_replace_writes_whole_files_and_makes_folders(tree: Path, way: bool) -> None:
    root = Root(tree, openat2=way)
    root.replace("new/folders/file", b"1")
    root.replace("new/folders/file", b"2")
    assert (tree / "new/folders/file").read_bytes() == b"2"
    assert os.listdir(tree / "new/folders") == ["file"]


def test_replace_keeps_the_mode_and_owner_of_a_file_and_leaves_its_other_hard_links(tree: Path, way: bool) -> None:
    path = tree / "a.txt"
    path.chmod(0o750)
    os.link(path, tree.parent / "second")
    owner = (1234, 2345) if os.geteuid() == 0 else (os.geteuid(), os.getegid())
    os.chown(path, *owner)
    Root(tree, openat2=way).replace("a.txt", b"new")
    facts = path.stat()
    assert (path.read_bytes(), stat.S_IMODE(facts.st_mode), (facts.st_uid, facts.st_gid)) == (b"new", 0o750, owner)
    assert (tree.parent / "second").read_bytes() == b"a"


def test_replace_gives_new_files_the_mode_asked_for_or_the_umasks(tree: Path, way: bool) -> None:
    root = Root(tree, openat2=way)
    old = os.umask(0o027)
    try:
        root.replace("plain", b"")
        root.replace("script", b"", mode=0o755)
    finally:
        os.umask(old)
    assert [stat.S_IMODE((tree / name).stat().st_mode) for name in ("plain", "script")] == [0o640, 0o755]


@pytest.mark.parametrize(
    ("link", "target"), [("in_file", "src/main.py"), ("in_absolute/main.py", "src/main.py"), ("dangling", "docs/new.md")]
)
def test_replace_of_a_link_replaces_what_it_leads_to(tree: Path, way: bool, link: str, target: str) -> None:
    os.symlink("docs/new.md", tree / "dangling")
    Root(tree, openat2=way).replace(link, b"through the link")
    assert (tree / target).read_bytes() == b"through the link"
    assert (tree / link.split("/")[0]).is_symlink()


def test_a_link_to_a_missing_place_outside_creates_nothing_there(tree: Path, way: bool) -> None:
    root = Root(tree, openat2=way)
    for call in (
        lambda: root.replace("out_new", b"x"),
        lambda: root.replace("out_new/deeper/file", b"x"),
        lambda: root.folder("out_new", create=True),
        lambda: root.open("out_new", os.O_WRONLY | os.O_CREAT),
    ):
        assert refused(call).code == "outside_root"
    assert not (tree.parent / "created").exists()


@pytest.mark.parametrize(
    ("path", "code"),
    [(".", "is_directory"), ("src", "is_directory"), ("fifo", "not_a_file"), ("a.txt/x", "not_a_directory"), ("self", "loop")],
)
def test_replace_refuses_what_is_no_file(tree: Path, way: bool, path: str, code: str) -> None:
    assert refused(lambda: Root(tree, openat2=way).replace(path, b"x")).code == code


def test_a_failed_replace_leaves_the_old_file_and_no_temporary_one(tree: Path, way: bool) -> None:
    before = sorted(os.listdir(tree))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, hard))
    try:
        problem = refused(lambda: Root(tree, openat2=way).replace("a.txt", b"x" * 2_000_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert problem.code == "too_large"
    assert (sorted(os.listdir(tree)), (tree / "a.txt").read_bytes()) == (before, b"a")


def test_remove_takes_a_link_and_not_what_it_leads_to(tree: Path, way: bool) -> None:
    root = Root(tree, openat2=way)
    for name in ("in_file", "out_file", "nothing", "fifo"):
        root.remove(name)
        assert not os.path.lexists(tree / name)
    assert (tree / "src/main.py").exists() and (tree.parent / "secret").exists()
    assert refused(lambda: root.remove("src")).code == "is_directory"
    assert refused(lambda: root.remove("out_folder/secret")).code == "outside_root"
    root.create_folders("empty/one")
    root.remove_folder("empty/one")
    assert [refused(lambda name=name: root.remove_folder(name)).code for name in ("src", "a.txt", "gone")] == [
        "not_empty",
        "not_a_directory",
        "not_found",
    ]  # type: ignore[misc]


def test_stat_and_link_tell_a_link_from_what_it_leads_to(tree: Path, way: bool) -> None:
    root = Root(tree, openat2=way)
    assert stat.S_ISREG(root.stat("in_file").st_mode) and stat.S_ISLNK(root.stat("in_file", follow=False).st_mode)
    assert stat.S_ISLNK(root.stat("out_file", follow=False).st_mode)
    assert (root.link("out_file"), root.link("a.txt")) == ("../secret", None)
    assert [root.exists(name) for name in ("a.txt", "src", "gone", "a.txt/x", "nothing")] == [True, True, False, False, False]
    assert root.stat("src/to_top").st_ino == tree.stat().st_ino


def test_descriptors_close_on_exec_and_none_is_left_behind(tree: Path, way: bool) -> None:
    root = Root(tree, openat2=way)
    fds = [root.open("a.txt"), root.folder("src")]
    assert [os.get_inheritable(fd) for fd in fds] == [False, False]
    for fd in fds:
        os.close(fd)
    gc.collect()  # what other tests have left lying about closes now, and not in between
    probe = os.dup(0)
    os.close(probe)
    for path in ("a.txt", "in_chain/leaf", "self", "fifo", "gone/x", "src", "out_chain/secret", "src/to_top/in_up/main.py"):
        for call in (lambda: read(root, path), lambda: root.stat(path), lambda: root.replace(path, b"")):  # noqa: B023
            try:
                call()
            except ToolProblem:
                pass
    again = os.dup(0)
    os.close(again)
    assert again <= probe
    held = root._beneath.fd
    root.close()
    with pytest.raises(OSError):
        os.fstat(held)


# Random paths, and races


PIECES = [
    "..", ".", "", "src", "deep", "docs", "a.txt", "main.py", "leaf", "naïve ☃.md", "secret", "passwd", "sub", "fifo", "in_file",
    "in_folder", "in_up", "in_absolute", "in_chain", "to_top", "up_and_in", "nothing", "self", "ring_a", "ring_b", "out_file", "out_folder",
    "out_absolute", "out_etc", "out_sibling", "out_deep", "out_chain", "out_and_in", "out_new", "proc_root", "proc_cwd", "new", "\0", "x" * 256,
    "é" * 200, "..." , " ", "~", "*", "\n", "\\..\\..", "%2e%2e", "\udcff", "../..", "outside", "work", "etc",
]  # fmt: skip


def random_path(chance: random.Random, tree: Path) -> str:
    path = "/".join(chance.choices(PIECES, k=chance.randint(1, 7)))
    start = chance.random()
    if start < 0.1:
        return f"{tree}/{path}"
    if start < 0.15:
        return f"{tree.parent}/{path}"
    if start < 0.2:
        return f"/{path}"
    if start < 0.22:
        return path + "/a" * 2100
    return path + "/" * chance.randint(0, 2)


def opened(root: Root, path: str, flags: int) -> bytes:
    fd = root.open(path, flags)
    try:
        return os.read(fd, 100) if not flags & (os.O_WRONLY | os.O_DIRECTORY) else b""
    finally:
        os.close(fd)


def names_in(root: Root, path: str) -> bytes:
    fd = root.folder(path)
    try:
        return b"\n".join(os.fsencode(name) for name in os.listdir(fd))
    finally:
        os.close(fd)


def operation(chance: random.Random, root: Root, path: str) -> bytes:
    match chance.randrange(20):
        case 0 | 1 | 2 | 3 | 4 | 5 | 6:
            return root.read_bytes(path, most_bytes=1_000_000)[0]
        case 7 | 8 | 9:
            return opened(root, path, os.O_RDWR | os.O_CREAT | chance.choice([0, os.O_TRUNC, os.O_EXCL, os.O_NOFOLLOW]))
        case 10 | 11:
            root.stat(path, follow=chance.random() < 0.5)
        case 12:  # seldom: it waits for the disk
            root.replace(path, b"written")
        case 13 | 14:
            return names_in(root, path)
        case 15 | 16:
            root.create_folders(path)
        case _:
            root.remove(path)
    return b""


def test_ten_thousand_random_paths_neither_read_nor_change_anything_outside(quick_tree: Path, way: bool) -> None:
    tree = quick_tree
    seed = random.SystemRandom().getrandbits(32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    beside = [tree.parent / name for name in ("outside", "work-not", "secret")]
    before, above = digest(*beside), sorted(os.listdir(tree.parent))
    codes: dict[str, int] = {}
    tree.rename(tree.parent / "pristine")
    for count in range(10_000):
        if count % 500 == 0:  # writes and removals wear the tree out
            shutil.rmtree(tree, ignore_errors=True)
            copy_tree(tree.parent / "pristine", tree)
            root = Root(tree, openat2=way)
        path = random_path(chance, tree)
        try:
            got = operation(chance, root, path)
        except ToolProblem as problem:
            codes[problem.code] = codes.get(problem.code, 0) + 1
            assert MARKER.decode() not in f"{problem.message}{problem.hint}{problem.data}", path
            continue
        codes["done"] = codes.get("done", 0) + 1
        assert MARKER not in got and b"root:" not in got, (seed, path)
    shutil.rmtree(tree.parent / "pristine")
    assert (digest(*beside), sorted(os.listdir(tree.parent))) == (before, above), seed
    met = {
        "done",
        "outside_root",
        "bad_path",
        "not_found",
        "loop",
        "is_directory",
        "not_a_directory",
        "not_a_file",
        "name_too_long",
    }
    assert met <= codes.keys() <= met | {"already_exists"}, (seed, codes)
    assert codes["done"] > 500, codes


def copy_tree(source: Path, target: Path) -> None:
    target.mkdir()
    for path in sorted(source.rglob("*")):
        there = target / path.relative_to(source)
        if path.is_symlink():
            os.symlink(os.readlink(path), there)
        elif path.is_dir():
            there.mkdir()
        elif path.is_fifo():
            os.mkfifo(there)
        else:
            there.write_bytes(path.read_bytes())


EXCHANGE = """
import ctypes, os, sys
one, other, stop = (os.fsencode(word) for word in sys.argv[1:])
libc = ctypes.CDLL(None)
sys.stdout.write("swapping\\n"); sys.stdout.flush()
while not os.path.exists(stop):
    for _ in range(7):  # odd: it rests in each of the two states in turn
        if sys.platform == "darwin":
            libc.renamex_np(one, other, 2)
        else:
            libc.renameat2(-100, one, -100, other, 2)
"""
needs_exchange = pytest.mark.skipif(
    not (hasattr(ctypes.CDLL(None), "renameat2") or hasattr(ctypes.CDLL(None), "renamex_np")),
    reason="this C library swaps no names",
)


@contextmanager
def swapping(tree: Path, name: str, link: str) -> Iterator[None]:
    """Another process swaps a folder and a link to the outside, back and forth, until the block ends."""
    stop = tree.parent / f"stop-{name}"
    command = [sys.executable, "-c", EXCHANGE, str(tree / name), str(tree / link), str(stop)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as swapper:
        assert swapper.stdout is not None and swapper.stdout.readline() == b"swapping\n"
        try:
            yield
        finally:
            stop.touch()
            swapper.wait(timeout=30)


RACED = ["racing/secret", "racing/sub/secret", "racing/new/file", "racing/sub/../secret", "via/secret", "racing/up/racing/secret"]


def racing_tree(tree: Path) -> None:
    (tree / "racing" / "sub").mkdir(parents=True)
    for name in ("secret", "sub/secret"):
        (tree / "racing" / name).write_bytes(b"inside")
    os.symlink("..", tree / "racing" / "up")
    os.symlink("../outside", tree / "swap")
    os.symlink("racing", tree / "via")


@needs_exchange
def test_a_folder_swapped_for_a_link_while_calls_run_lets_nothing_out_or_in(tree: Path, way: bool) -> None:
    racing_tree(tree)
    root = Root(tree, openat2=way)
    outside = tree.parent / "outside"
    before = digest(outside)
    inside = refusals = 0
    with swapping(tree, "racing", "swap"):
        for count in range(60_000):
            if count >= 6_000 and min(inside, refusals) > 100:
                break
            path = RACED[count % len(RACED)]
            try:
                if count % 3:
                    assert read(root, path) in (b"inside", b"written")
                elif count % 2:
                    root.replace(path, b"written")
                else:
                    assert MARKER not in names_in(root, path.rsplit("/", 1)[0])
                inside += 1
            except ToolProblem as problem:
                assert problem.code in ("outside_root", "not_found", "loop"), problem
                refusals += problem.code == "outside_root"
    assert digest(outside) == before
    assert inside > 100 and refusals > 100, (inside, refusals)
    assert list(tree.rglob("*.tmp")) == []


@needs_exchange
def test_a_file_swapped_for_a_link_while_calls_run_lets_nothing_out_or_in(tree: Path, way: bool) -> None:
    (tree / "flip").write_bytes(b"inside")
    os.symlink("../outside/secret", tree / "flop")
    root = Root(tree, openat2=way)
    before = digest(tree.parent / "outside")
    inside = refusals = 0
    with swapping(tree, "flip", "flop"):
        for count in range(100_000):
            if count >= 30_000 and min(inside, refusals) > 100:
                break
            try:
                if count % 4:
                    assert read(root, "flip") in (b"inside", b"")
                else:
                    opened(root, "flip", os.O_WRONLY | os.O_TRUNC)
                inside += 1
            except ToolProblem as problem:
                assert problem.code in ("outside_root", "loop"), problem
                refusals += 1
    assert digest(tree.parent / "outside") == before
    assert inside > 100 and refusals > 100, (inside, refusals)


def test_threads_that_share_a_root_while_one_swaps_stay_inside(tree: Path, way: bool) -> None:
    racing_tree(tree)
    root = Root(tree, openat2=way)
    before = digest(tree.parent / "outside")
    stop, wrong = threading.Event(), list[bytes]()

    def swap() -> None:
        for count in itertools.count():
            if stop.is_set():
                return
            try:
                os.rename(tree / "racing", tree / "away")
                os.rename(tree / "swap", tree / "racing")
                os.rename(tree / "racing", tree / "swap")
                os.rename(tree / "away", tree / "racing")
            except OSError:  # a write has made the folder anew while it was away: begin with fresh ones
                for name in ("racing", "away", "swap"):
                    if os.path.lexists(tree / name):
                        os.rename(tree / name, tree / f"{name}-{count}")
                (tree / "racing").mkdir(exist_ok=True)
                os.symlink("../outside", tree / "swap")

    def work(seed: int) -> None:
        chance = random.Random(seed)
        for _ in range(700):
            path = chance.choice(RACED)
            try:
                if chance.random() < 0.2:
                    root.replace(path, b"written")
                elif (got := read(root, path)) not in (b"inside", b"written"):
                    wrong.append(got)
            except ToolProblem:
                pass

    swapper = threading.Thread(target=swap)
    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(3)]
    for thread in (swapper, *workers):
        thread.start()
    for thread in workers:
        thread.join()
    stop.set()
    swapper.join()
    assert (wrong, digest(tree.parent / "outside")) == ([], before)


@needs_exchange
def test_the_same_race_beats_a_check_before_the_opening(tree: Path) -> None:
    """Or the proofs above would prove nothing."""
    racing_tree(tree)
    with swapping(tree, "racing", "swap"):
        for _ in range(200_000):
            try:
                path = (tree / "racing/secret").resolve(strict=True)
                if path.is_relative_to(tree) and (tree / "racing/secret").read_bytes() == MARKER:
                    return
            except OSError:
                pass
    pytest.skip("the processes never met: one core, or a very slow machine")
