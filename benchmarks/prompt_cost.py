"""What the tool layer puts in the prompt, in characters: the same catalogue in every system. Nothing is timed.

    python -m benchmarks.prompt_cost [--peers DIR] [--no-peers] [--data DIR] [--json PATH]

Counted is everything a model is sent because of the tool layer: tool definitions in OpenAI's function format as compact JSON,
descriptions, system prompt and instructions; and then what one discovery adds: a search answer and one full declaration.
With --data, the tools of real MCP servers too (DIR/mcp_catalogs).
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.catalogues import Declared, as_json, real, synthetic
from benchmarks.ours_prompt import our_discovery, our_prompt
from benchmarks.peer_runners.lines import function_json
from benchmarks.peers import DEFAULT_FOLDER, PEERS, ROOT, Missing, Runner, open_runner
from catalog.brief import ALLOWANCE_BYTES

SIZES = (1, 10, 100, 1_000)
SMALL_LIST_BYTES = 512
RESULTS = ROOT / "benchmarks" / "results"
Parts = dict[str, str]


@dataclass(frozen=True, slots=True)
class Catalogue:
    label: str
    tools: list[Declared]
    query: str  # one question that a model would ask
    answer: str  # the tool that it means

    @property
    def is_real(self) -> bool:
        return not self.label.isdigit()


@dataclass(frozen=True, slots=True)
class Cost:
    system: str
    catalogue: str
    prompt: dict[str, int]  # characters by part
    search: int | None = None  # None: it has no discovery
    declaration: int | None = None
    note: str = ""

    @property
    def total(self) -> int:
        return sum(self.prompt.values())


def catalogues(data: Path | None) -> Iterator[Catalogue]:
    for size in SIZES:
        yield Catalogue(str(size), synthetic(size), "search events in the team calendar", "calendar_search_events")
    if data is not None:
        tools = real(data)
        answer = next(tool.name for tool in tools if tool.name.endswith("search_nodes"))
        yield Catalogue(f"real, {len(tools)}", tools, "search for nodes in the repository", answer)


def plain(catalogue: Catalogue) -> Cost:
    wire = [function_json(tool.name, tool.description, tool.parameters) for tool in catalogue.tools]
    return Cost("plain JSON tools", catalogue.label, {"tools": len("".join(wire))})


def ours(catalogue: Catalogue, *, allowance_bytes: int = ALLOWANCE_BYTES, name: str = "ours") -> Cost:
    parts = our_prompt(catalogue.tools, allowance_bytes=allowance_bytes)
    search, declaration = our_discovery(catalogue.tools, catalogue.query, catalogue.answer)
    return Cost(name, catalogue.label, {part: len(text) for part, text in parts.items()}, len(search), len(declaration))


def ours_small(catalogue: Catalogue) -> Cost:
    return ours(catalogue, allowance_bytes=SMALL_LIST_BYTES, name=f"ours, list of {SMALL_LIST_BYTES} bytes")


def of_peer(runner: Runner, catalogue: Catalogue, *, deferred: bool = False) -> Cost:
    name = runner.peer.name + (", tool search" if deferred else "")
    tools = as_json(catalogue.tools)
    answer = runner.ask(do="prompt", tools=tools, typed=not catalogue.is_real, deferred=deferred)
    if "error" in answer:
        return Cost(name, catalogue.label, {}, note=answer["error"])
    prompt = {part: len(text) for part, text in answer["parts"].items()}
    if runner.peer.key != "fastmcp" and not deferred:
        return Cost(name, catalogue.label, prompt)
    found = runner.ask(do="discover", tools=tools, query=catalogue.query, name=catalogue.answer)
    if "error" in found:
        return Cost(name, catalogue.label, prompt, note=found["error"])
    return Cost(name, catalogue.label, prompt, len(found["search"]), len(found["declaration"]))


def measure(wanted: list[Catalogue], options: argparse.Namespace, log: Path) -> tuple[list[Cost], list[str]]:
    costs = [how(catalogue) for how in (plain, ours, ours_small) for catalogue in wanted]
    missing: list[str] = []
    for peer in () if options.no_peers else PEERS:
        with ExitStack() as stack:
            try:
                runner = stack.enter_context(open_runner(peer, options.peers, log))
            except Missing as error:
                missing.append(str(error))
                continue
            costs += [of_peer(runner, catalogue) for catalogue in wanted]
            if peer.key == "harness":  # its strongest way for many tools
                costs += [of_peer(runner, catalogue, deferred=True) for catalogue in wanted]
    return costs, missing


def table(costs: list[Cost], wanted: list[Catalogue], cell: Callable[[Cost], int | None]) -> str:
    labels = [catalogue.label for catalogue in wanted]
    rows = [f"| tools | {' | '.join(labels)} |", f"|---|{'---:|' * len(labels)}"]
    for system in dict.fromkeys(cost.system for cost in costs):
        found = {cost.catalogue: cell(cost) for cost in costs if cost.system == system}
        cells = ["–" if (value := found.get(label)) is None else f"{value:,}" for label in labels]
        rows.append(f"| {system} | {' | '.join(cells)} |")
    return "\n".join(rows)


def discovery(cost: Cost) -> int | None:
    return None if cost.search is None or cost.declaration is None else cost.search + cost.declaration


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.prompt_cost", description=str(__doc__).split("\n")[0])
    parser.add_argument(
        "--peers", type=Path, default=DEFAULT_FOLDER, metavar="DIR", help=f"their environments ({DEFAULT_FOLDER})"
    )
    parser.add_argument("--no-peers", action="store_true", help="ours and plain JSON tools alone")
    parser.add_argument("--data", type=Path, metavar="DIR", help="a folder with mcp_catalogs/, for real tools")
    parser.add_argument("--json", type=Path, default=RESULTS / "prompt_cost.json", metavar="PATH")
    return parser.parse_args(arguments)


def main() -> None:
    options = parse()
    options.json.parent.mkdir(parents=True, exist_ok=True)
    log = options.json.with_suffix(".log")
    log.write_text("")
    wanted = list(catalogues(options.data))
    costs, missing = measure(wanted, options, log)
    print("characters in the prompt because of the tool layer\n")
    print(table(costs, wanted, lambda cost: cost.total if cost.prompt else None))
    print("\nwhat one discovery adds: one search answer and one declaration\n")
    print(table([cost for cost in costs if cost.search is not None], wanted, discovery))
    print("\nboth together: the prompt, and one discovery where there is one\n")
    print(table(costs, wanted, lambda cost: cost.total + (discovery(cost) or 0) if cost.prompt else None))
    for line in [*missing, *(f"{cost.system}, {cost.catalogue}: {cost.note}" for cost in costs if cost.note)]:
        print(f"\nnot measured: {line}")
    about: dict[str, Any] = {
        "started": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "versions": {peer.name: list(peer.requirements) for peer in PEERS},
    }
    rows = [asdict(cost) | {"total": cost.total} for cost in costs]
    options.json.write_text(json.dumps({"about": about, "rows": rows}, indent=1) + "\n")
    print(f"\nSaved: {options.json}")


if __name__ == "__main__":
    main()
