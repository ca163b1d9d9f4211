"""What must not be on record: secrets, paths of this machine, what patterns of the caller find. `scrubbing.py` takes it out."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class ScrubRules:
    """`patterns`: regular expression to what stands in its place, as `re.sub` takes both. ValueError names a bad one."""

    secrets: bool = True  # those that the transcript does not show either
    places: bool = False  # root, home and temporary folder become {turnscript:root}, {turnscript:home}, {turnscript:tmp}
    patterns: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for pattern, instead in self.patterns.items():
            try:
                made = re.compile(pattern)
                made.sub(instead, "")  # reads the replacement too: \2 without a second group
            except re.error as error:
                raise ValueError(f"the pattern {pattern!r} = {instead!r}: {error}") from None
            except IndexError:
                raise ValueError(f"the pattern {pattern!r} = {instead!r}: there is no group of that name") from None
            if made.search("") is not None:
                raise ValueError(f"the pattern {pattern!r} fits the empty text, which is everywhere; let it need a character")
