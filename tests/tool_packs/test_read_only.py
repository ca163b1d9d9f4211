"""Which commands need nobody's approval: the plain ones, and every trick that must ask."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tool_packs.bash_text import Unreadable, read_script
from tool_packs.read_only import is_safe

SAFE: list[str | list[str]] = [
    "ls", "ls -la src", "cat a.txt", "cat src/*.py", "cat 'a b'", "head -n 5 a", "tail -c 100 a", "wc -l a b", "nl -ba a", "pwd", "true", "false", "which git",
    "echo hello", 'echo "a > b; c"', "echo /etc", "grep -rn foo src", "grep '/api/v1' src", "grep -n '^/' a", "rg foo", "rg -n 'a|b' src -g '*.ts'", "rg --files",
    "find . -name '*.py'", "find src -type f -maxdepth 2 -print", "sed -n 1,5p a", "sed -n '1,20p;40,$p' a b", "sed -n '3p' a", "git status", "git status --short",
    "git log --oneline -5", "git log main..HEAD", "git diff", "git diff HEAD~1 -- src/a.py", "git diff origin/main...", "git show HEAD:a.py", "git show --stat",
    "cd src && ls", "ls && cat a || true; pwd", "rg x | head -5 | wc -l", "ls\npwd", "ls # what is here", "ls 2>/dev/null", "ls 2>&1 | head", "wc -l < a", "ls > /dev/null",
    "bash -lc 'ls | head'", "bash -c 'git status'", "find . \\( -name a -o -name b \\)", "cat -- -x", "tail -f log", "ls \\\n -l",
    ["ls", "-l"], ["cat", "a; rm x"], ["bash", "-lc", "rg foo | head"], ["echo", "$(rm x)"], ["grep", "`x`", "a"],
]  # fmt: skip

ASKS: list[str | list[str]] = [
    # not on the list
    "rm x", "python a.py", "make", "npm test", "touch a", "sudo ls", "env", "env ls", "xargs cat", "tee a", "awk 1 a", "sort a", "curl x", "git push", "git commit", "sh a.sh",
    "./ls", "/bin/ls", "command ls", "exec ls", "eval ls", "source a", ". a", "timeout 5 ls", "time ls", "nohup ls", "printf x", "xxd a", "less a", "vim a",
    # expansions
    "cat $(rm x)", "cat `rm x`", 'cat "$(rm x)"', "cat $x", "cat ${x:=y}", "cat $((x++))", "cat ~/.ssh/id_rsa", "cat ~root/x", "ls {a,-delete}", "cat <(rm x)", "cat >(rm x)",
    "echo $HOME", "cat $'a'", 'cat $"a"', "$x", "l$x", "cat $\\\n(rm x)", "cat `\nrm x\n`", "'ls'$x", "cat \"`rm x`\"",
    # assignments, groups, background, redirections
    "LS_COLORS=x ls", "A=1", "PATH=. ls", "(ls)", "{ ls; }", "! ls", "if ls; then ls; fi", "for f in a; do ls; done", "ls() { rm x; }; ls", "ls &", "ls & rm x", "ls |& cat",
    "ls > a", "ls >> a", "ls >| a", "ls &> a", "ls >& a", "ls 2> a", "ls <> a", "cat <<EOF\n$(rm x)\nEOF", "cat <<< $(rm x)", "ls > $x", "ls 3> a", "cat < /etc/passwd", "cat < ../x",
    "[[ -f a ]] && ls", "((1)) && ls", "ls; rm x", "ls && rm x", "ls || rm x", "ls | sh", "ls\nrm x", "ls;rm x", "ls # x\nrm x", "case a in a) ls;; esac", "coproc ls",
    # programs that do more with some options
    "find . -exec rm {} ;", "find . -execdir rm {} +", "find . -ok rm {} ;", "find . -okdir x ;", "find . -delete", "find . -fprint a", "find . -fprintf a x", "find . -fls a",
    "find . -fprint0 a", "find *", "find . -files0-from a", "rg --pre sh x", "rg --pre=sh x", "rg --hostname-bin=sh x", "rg --hostname-bin sh x", "rg -z x", "rg -nz x",
    "rg --search-zip x", "rg --pre-glob='*' x", "rg x *", "rg x ?", "sed -i s/a/b/ a", "sed s/a/b/ a", "sed -n s/a/b/w a", "sed -n '1e rm x' a", "sed -n 'w out' a", "sed -n 1,5p -i a",
    "sed -ni 1p a", "sed -n -f x a", "sed -n 1p *", "sed -n '1,5p;w x' a", "sed -n '/x/p' a", "git -c core.pager=x log", "git -C /tmp status", "git --git-dir=x log",
    "git --exec-path=. status", "git -p log", "git log --output=a", "git log --outp=a", "git diff --output a", "git diff --ext-diff", "git diff --ext", "git log --textconv",
    "git diff --no-index a b", "git show --show-signature", "git", "git branch", "git stash", "git checkout a", "git grep -O x", "git status *", "git config -l", "git log $(x)",
    "git fetch", "git diff --paginate",
    # outside the folder
    "cat /etc/passwd", "cat ../x", "ls a/../..", "cat ./../x", "cd ..", "cd", "cd -", "cd /", "cd ~", "cd && cat x", "cd a b", "head --lines=1 /etc/passwd", "grep -f /etc/passwd a",
    "grep -f/etc/passwd a", "grep -nf/etc/passwd a", "grep --file=/etc/passwd a", "grep x /etc/passwd", "grep -e x /etc/passwd", "grep -rn x ..", "rg x /", "rg -f ../x a", "find /", "find ..",
    "sed -n 1p /etc/passwd", "git diff /etc/passwd a", "git diff a/../../x", "wc --files0-from=/etc/passwd", "ls .*/", "cat .?/x", "echo /etc/*", "rg --ignore-file /x y", "tail -n +1 /x",
    # wrapped in too much, broken, odd
    "bash -lc 'rm x'", "bash -lc 'ls > a'", "bash -c \"ls $x\"", "bash -lic ls", "bash a.sh", "bash -c ls x", "bash -lc 'bash -lc ls'", "A=1 bash -c ls", "bash -c ls > a", "sh -x -c ls",
    "'unclosed", "", " ", "# nothing", "ls |", "ls &&", ";", "ls \x00", "ls\\", "*", "l*", "{ls,}", "ls\r", "ls\u00a0-l",
    ["rm", "x"], ["bash", "-lc", "rm x"], ["/bin/ls"], ["cat", "/etc/passwd"], ["find", ".", "-delete"], [], ["cat", "../x"], ["bash", "x"], ["ls -l"],
]  # fmt: skip


@pytest.mark.parametrize("command", SAFE, ids=[str(row)[:50] for row in SAFE])
def test_plain_reading_below_the_folder_is_safe(command: str | list[str]) -> None:
    assert is_safe(command)


@pytest.mark.parametrize("command", ASKS, ids=[repr(row)[:50] for row in ASKS])
def test_everything_else_asks(command: str | list[str]) -> None:
    assert not is_safe(command)


@given(st.text(max_size=40))
def test_what_cannot_be_read_is_never_safe(text: str) -> None:
    try:
        read_script(text)
    except Unreadable:
        assert not is_safe(text)


@given(
    st.sampled_from([row for row in SAFE if isinstance(row, str)]),
    st.sampled_from(["; rm x", " && rm x", "\nrm x", " > x", " `rm x`", " $(rm x)", " & rm x", " | sh"]),
)
def test_a_safe_command_with_something_more_behind_it_asks(command: str, more: str) -> None:
    if "#" not in command or more.startswith("\n"):
        assert not is_safe(command + more)
