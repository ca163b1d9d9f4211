"""Tables and the picture of benchmarks/condense.py. Only text is made here."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.condense_score import Score

_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 720, 420, 60, 50


def table(scores: Sequence[Score]) -> str:
    rows = [
        "| policy | gross % | net % | edited lines hidden % | edits touched % | paths hidden % | calls cut % | extra calls % |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for score in scores:
        numbers = (
            f"{score.gross:.1f}", f"{score.net:.1f}", f"{score.lines_hidden:.2f}", f"{score.edits_touched:.1f}",
            f"{score.paths_hidden:.1f}", f"{score.calls_cut:.1f}", f"{score.extra_calls:.1f}",
        )  # fmt: skip
        rows.append(f"| {score.policy} | {' | '.join(numbers)} |")
    return "\n".join(rows)


def causes(score: Score) -> str:
    order = ("header", "condensed", "in_view", "cap")
    told = ", ".join(f"{name.replace('_', ' ')} {100 * score.causes.get(name, 0) / max(score.before, 1):.1f} %" for name in order)
    times = f"time an output {score.p50_ms:.2f} ms at p50, {score.p95_ms:.2f} ms at p95"
    return f"{score.policy}: {score.before:,} to {score.after:,} bytes; less by {told}; {times}"


def classes(score: Score) -> str:
    rows = [
        "| class | outputs | before | after | in view | cap | condensed | header | cut |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for kind, counts in sorted(score.by_class.items(), key=lambda pair: -pair[1]["before"]):
        names = ("outputs", "before", "after", "in_view", "cap", "condensed", "header", "cut")
        rows.append(f"| {kind} | {' | '.join(f'{counts.get(name, 0):,}' for name in names)} |")
    return "\n".join(rows)


def dominated(theirs: Sequence[Score], ours: Sequence[Score]) -> str:
    """For each of their points: our best net reduction that hides no more lines than it."""
    rows = [
        "| their point | lines hidden % | net % | ours, lines hidden % | ours, net % | ahead by |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for score in theirs:
        best = max((each for each in ours if each.lines_hidden <= score.lines_hidden), key=lambda each: each.net, default=None)
        if best is None:
            rows.append(f"| {score.policy} | {score.lines_hidden:.2f} | {score.net:.1f} | – | – | – |")
            continue
        rows.append(
            f"| {score.policy} | {score.lines_hidden:.2f} | {score.net:.1f} | {best.lines_hidden:.2f} | {best.net:.1f} "
            f"| {best.net - score.net:+.1f} |"
        )
    return "\n".join(rows)


def ahead(ours: Sequence[Score], grid: Sequence[Score]) -> int:
    """How many of their points have one of ours with more net reduction at no more hidden lines."""
    return sum(any(each.net > point.net and each.lines_hidden <= point.lines_hidden for each in ours) for point in grid)


def targets(default: Score, lossless: Score, bound: Score, curve: Sequence[Score], grid: Sequence[Score]) -> list[str]:
    low = max((each for each in curve if each.lines_hidden <= 1), key=lambda each: each.net, default=default)
    count = ahead(curve, grid)
    return [
        _told(
            low.net >= 60,
            f"60 % net with at most 1 % of edited lines hidden: {low.net:.1f} % at {low.lines_hidden:.2f} % ({low.policy})",
        ),
        _told(
            lossless.gross >= bound.gross,
            f"lossless alone at least at policy A: {lossless.gross:.1f} % against {bound.gross:.1f} %; of ours "
            f"{100 * lossless.causes.get('header', 0) / max(lossless.before, 1):.1f} are headers and line numbers of the agent",
        ),
        _told(
            default.duplicates == 0,
            f"duplicate lines shown: {default.duplicates}; {default.duplicates_short} more in runs shorter than a reference",
        ),
        _told(default.unresolved == 0, f"references to nothing in view: {default.unresolved}"),
        _told(count == len(grid), f"ahead of {count} of {len(grid)} points of the frontier"),
    ]


def _told(passed: bool, text: str) -> str:
    return f"{'passed' if passed else 'MISSED'}: {text}"


def picture(agent: str, theirs: Sequence[Score], ours: Sequence[Score]) -> str:
    """Net reduction over edited lines hidden, as SVG: up and to the left is better."""
    most = max([each.lines_hidden for each in (*theirs, *ours)] or [1]) * 1.05 or 1

    def dot(score: Score, colour: str) -> str:
        x = _LEFT + score.lines_hidden / most * (_WIDTH - _LEFT - 20)
        y = _HEIGHT - _BOTTOM - max(score.net, 0) / 100 * (_HEIGHT - _BOTTOM - 20)
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"><title>{score.policy}</title></circle>'

    axis = _HEIGHT - _BOTTOM
    grid = "".join(
        f'<line x1="{_LEFT}" x2="{_WIDTH - 20}" y1="{y:.0f}" y2="{y:.0f}" stroke="#ddd"/><text x="{_LEFT - 8}" y="{y + 4:.0f}" '
        f'text-anchor="end">{net}</text>'
        for net in range(0, 101, 20)
        for y in [axis - net / 100 * (axis - 20)]
    )
    ticks = "".join(
        f'<text x="{x:.0f}" y="{axis + 18}" text-anchor="middle">{most * step / 5:.1f}</text>'
        for step in range(6)
        for x in [_LEFT + step / 5 * (_WIDTH - _LEFT - 20)]
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}" font-family="sans-serif" font-size="12">'
        f'<rect width="100%" height="100%" fill="white"/>{grid}{ticks}'
        f'<text x="{_WIDTH / 2:.0f}" y="{_HEIGHT - 12}" text-anchor="middle">{agent}: later-edited lines hidden, %</text>'
        f'<text x="{_LEFT}" y="14">net reduction, %: ours blue, caps after deduplication grey</text>'
        f"{''.join(dot(each, '#999') for each in theirs)}{''.join(dot(each, '#1f5fbf') for each in ours)}</svg>\n"
    )
