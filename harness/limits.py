"""The limits of a turn and of what it shows, each with its reason beside it; those of the script itself are in
`sandbox/limits.py`.

`docs/limits.md` is printed from here. Turn over session over file over default.
"""

from dataclasses import dataclass

from sandbox.limits import KIB, MIB, check_numbers, count, number


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnLimits:
    """Time, calls and bytes of one turn and of the session around it."""

    turn_seconds: float = number(
        300.0, "seconds", "wall time of a turn, tools included: long builds fit, an agent is never held for ever"
    )
    call_seconds: float = number(60.0, "seconds", "one tool call, unless the tool declares its own")
    calls_at_once: int = count(8, "calls", "the rest queue in order, so that Promise.all over 100 files just works")
    approval_seconds: float = number(
        300.0, "seconds", "how long a person is waited for; the script's clock stops, no answer denies"
    )
    grace_seconds: float = number(
        0.25, "seconds", "for calls that were cancelled; then the turn ends without them and names them"
    )
    turn_result_bytes: int = count(64 * MIB, "bytes", "all results into one script: four of the largest")
    session_calls: int = count(10_000, "calls", "a long session makes some hundreds; a runaway one is stopped")
    session_result_bytes: int = count(1024 * MIB, "bytes", "all results of a session into its scripts")
    session_seconds: float = number(86_400.0, "seconds", "the time of all turns of a session together")
    repeats: int = count(3, "times", "the identical external call with the identical result that is refused: breaks loops")
    repeat_seconds: float = number(120.0, "seconds", "within which the repeats must happen; later the world may have moved")
    repeat_sample_bytes: int = count(256, "bytes", "of the last result, in the refusal of a repeat")
    cache_bytes: int = count(64 * MIB, "bytes", "results kept in memory for a session; the least used go first")
    cache_disk_bytes: int = count(512 * MIB, "bytes", "results kept on disk across sessions, where a cache folder is set")
    cache_tree_entries: int = count(
        20_000, "entries", "of a folder whose state is watched for the cache; above, its results are not cached"
    )
    kept_bytes: int = count(256 * MIB, "bytes", "whole values behind handles, kept in memory; the oldest go first")

    def __post_init__(self) -> None:
        check_numbers(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownLimits:
    """What reaches the transcript."""

    shown_value_lines: int = count(160, "lines", "one shown value or file slice")
    shown_value_bytes: int = count(8 * KIB, "bytes", "the same, for long lines; whichever comes first")
    shown_turn_bytes: int = count(24 * KIB, "bytes", "all that one turn shows")
    relaxed_turn_bytes: int = count(32 * KIB, "bytes", "the same after relax(reason), once a turn, on record")
    notice_bytes: int = count(128, "bytes", "of the turn's bytes, kept free for each notice")
    small_file_lines: int = count(400, "lines", "one file a turn up to here is shown whole: reading it twice costs more")
    small_file_bytes: int = count(16 * KIB, "bytes", "the same, in bytes")
    output_bytes: int = count(6 * KIB, "bytes", "what a command printed: head and tail")
    hits_bytes: int = count(8 * KIB, "bytes", "rows of search hits, grouped by file")
    build_bytes: int = count(16 * KIB, "bytes", "output of builds and tests: the failures, then the end")
    build_lines: int = count(120, "lines", "of that end")
    digest_lines: int = count(10, "lines", "of the digest of failures before it")
    run_lines: int = count(5, "lines", "a run of lines already in view becomes a reference from this length on")

    def __post_init__(self) -> None:
        check_numbers(self)


DEFAULT_SHOWN_LIMITS = ShownLimits()

# Named sets of what is shown. On recorded sessions `tight` saves more and hides fewer lines that were edited later
# (benchmarks/condense.py): lines of files get more room, everything else less.
SHOWN = {
    "usual": DEFAULT_SHOWN_LIMITS,
    "tight": ShownLimits(
        shown_value_bytes=24 * KIB, shown_value_lines=700, output_bytes=2 * KIB, hits_bytes=3 * KIB, build_bytes=4 * KIB,
        build_lines=60,
    ),
}  # fmt: skip
