"""When two calls of one script are the same call: tool, place, number from that place, and arguments. Never the order of arrival,
so that `Promise.all` replays under any order of settlement, and never the code of the tool, which does not run.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

from harness.cache import cache_key
from sandbox import Site

# By name, with defaults; as given, in order, where they did not fit the tool, and for the host's own answers (sleep, help, …).
Arguments: TypeAlias = Mapping[str, Any] | tuple[Any, ...]
Identity: TypeAlias = tuple[int, int, int, str]  # line, column, ordinal, digest of tool and arguments


def identity_of(tool: str, site: Site, arguments: Arguments) -> Identity:
    named = arguments if isinstance(arguments, Mapping) else {"": list(arguments)}
    return (site.line, site.column, site.ordinal, cache_key(tool, "", named))
