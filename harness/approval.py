"""Who may say yes to a call: rules by tool and arguments, and an approver for what they leave to a person.

A missing answer denies. A request is bound to session, call, arguments and policy, and an answer serves that one request.
"""

import hashlib
import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Any, Literal, Protocol, TypeAlias

import orjson

Verdict: TypeAlias = Literal["allow", "ask", "deny"]
Places: TypeAlias = Mapping[str, tuple[str, ...]]
By: TypeAlias = Literal["person", "remembered", "rule", "nobody", "timeout"]
_ONE_COMMAND = r"[^;&|<>$`()\n\r]"  # what * stands for in a rule that allows: a text stays one command


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """`tool` and each of `arguments` are patterns with * and ?. In a rule that allows, * stops at ; & | < > $ ` ( ) and line
    ends, by which one command becomes two; ** stands for anything. A rule that allows by arguments is not for calls that set
    other optional ones: variables can change what `git status` does.
    """

    tool: str
    then: Verdict
    arguments: Mapping[str, str] = field(default_factory=dict)

    def fits(
        self, tool: str, named: Mapping[str, Any], *, optional: Collection[str] = (), places: Places = MappingProxyType({})
    ) -> bool:
        """`named`: all arguments, defaults too. `optional`: those among them that are set and need not be. `places`: of arguments
        that name files, the paths from the root, by links too: a rule that allows must fit all of them, another one any.
        """
        if not fnmatchcase(tool, self.tool):
            return False
        if self.then == "allow" and self.arguments and any(name not in self.arguments for name in optional):
            return False
        return all(
            name in named and self._fits_one(pattern, named[name], places.get(name, ()))
            for name, pattern in self.arguments.items()
        )

    def _fits_one(self, pattern: str, value: Any, places: tuple[str, ...]) -> bool:
        if self.then == "allow":
            # ["make x/y"] is one program of that name, and not `make`: it fits no rule that allows.
            odd = isinstance(value, list) and any(not isinstance(one, str) or not one or re.search(r"\s", one) for one in value)
            return not odd and all(self._matches(pattern, text) for text in places or (text_of(value),))
        return any(self._matches(pattern, text) for text in (text_of(value), *places))

    def _matches(self, pattern: str, text: str) -> bool:
        """In linear time: behind a star the first place that fits is taken and not given up again, as it leaves the most."""
        one = _ONE_COMMAND if self.then == "allow" else "."
        first, *rest = re.split(r"(\*\*|\*)", pattern)
        made = _literal(first, one)
        for at in range(0, len(rest), 2):
            star, part = "." if rest[at] == "**" else one, _literal(rest[at + 1], one)
            is_last = at == len(rest) - 2
            made += f"{star}*{part}" if is_last else f"(?>{star}*?{part})" if part else f"{star}*"
        return re.fullmatch(made, text, flags=re.DOTALL) is not None

    def __str__(self) -> str:
        told = ", ".join(f"{name}: {pattern}" for name, pattern in self.arguments.items())
        return f"{self.then} {self.tool}" + (f" with {told}" if told else "")


def _literal(part: str, one: str) -> str:
    return "".join(one if letter == "?" else re.escape(letter) for letter in part)


def text_of(value: Any) -> str:
    """An argument as patterns see it: a list of words as a command line, anything else but text as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return " ".join(value)
    return orjson.dumps(value).decode()


@dataclass(frozen=True, slots=True)
class Policy:
    """The first rule that fits decides; without one, what the tool itself says."""

    rules: tuple[Rule, ...] = ()

    def verdict(
        self,
        tool: str,
        named: Mapping[str, Any],
        *,
        asks: bool,
        optional: Collection[str] = (),
        places: Places = MappingProxyType({}),
    ) -> tuple[Verdict, Rule | None]:
        for rule in self.rules:
            if rule.fits(tool, named, optional=optional, places=places):
                return rule.then, rule
        return ("ask" if asks else "allow"), None

    @property
    def digest(self) -> str:
        rows = [[rule.tool, rule.then, dict(rule.arguments)] for rule in self.rules]
        return hashlib.sha256(orjson.dumps(rows, option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]


def allowing(patterns: Iterable[str]) -> tuple[Rule, ...]:
    """Rules that let tools run by name or pattern (`patch.*`) without asking."""
    return tuple(Rule(tool=pattern, then="allow") for pattern in patterns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One call that waits for a person. `shown` is for their eyes: cut and without secrets; `arguments` are the real ones."""

    id: str
    session: str
    call: str
    tool: str
    line: int
    shown: Any
    writes: tuple[str, ...]
    why: str
    arguments: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """`remember`: for this session, calls with the same arguments, or every call of the tool, get the same answer unasked."""

    request: str
    verdict: Literal["allow", "deny"]
    remember: Literal["", "arguments", "tool"] = ""
    reason: str = ""


class Approver(Protocol):
    async def decide(self, requests: Sequence[Request]) -> Iterable[Answer]:
        """Answer the calls that wait; all of them are given together. A request without an answer is denied."""


class Nobody:
    """No approver: a missing answer denies."""

    async def decide(self, requests: Sequence[Request]) -> Iterable[Answer]:
        return ()


Approve: TypeAlias = Callable[[str, Mapping[str, Any]], Awaitable[bool]]


class Asking:
    """An approver made of one function of tool and arguments, asked once for each call."""

    def __init__(self, approve: Approve) -> None:
        self._approve = approve

    async def decide(self, requests: Sequence[Request]) -> Iterable[Answer]:
        return [
            Answer(request=one.id, verdict="allow" if await self._approve(one.tool, one.arguments) else "deny")
            for one in requests
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What went on record: never the arguments themselves."""

    request: str
    call: str
    tool: str
    verdict: Literal["allow", "deny"]
    by: By
    reason: str = ""
    seconds: float = 0.0
    remembered: str = ""  # holds for the session: under the key of tool and arguments, or the tool's name
