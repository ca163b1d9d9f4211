"""`turnscript chat [QUESTION]`: a small agent in the terminal, with a model of your choice and the tools on offer."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from harness.chat.loop import STEPS_MAX
from harness.chat.scripted import BadReplies
from harness.cli.chat_opening import Wanted
from harness.cli.chat_talk import Typed, ask_in_json, ask_once, talk
from harness.cli.fault import Fault, faults_as_one_line
from harness.cli.options import Packs, Profile, Root
from harness.config import read_settings


@faults_as_one_line
def chat(
    question: Annotated[str | None, typer.Argument(metavar="[QUESTION]", help="Ask this first; piped, ask only this.")] = None,
    model: Annotated[str | None, typer.Option(help="The model's name at the endpoint.")] = None,
    url: Annotated[str | None, typer.Option(help="Where the API begins, such as http://localhost:11434/v1.")] = None,
    kind: Annotated[str | None, typer.Option(help="openai (Chat Completions) or anthropic (Messages).")] = None,
    profile: Profile = None,
    pack: Packs = None,
    root: Root = None,
    allow: Annotated[
        list[str] | None, typer.Option(help="Tools that may run without asking, such as 'patch.*'; you are asked for others.")
    ] = None,
    store: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Where the session is kept: a folder, sqlite:FILE, postgresql://…")
    ] = None,
    resume: Annotated[str | None, typer.Option(metavar="ID|last", help="Go on with this session.")] = None,
    no_record: Annotated[bool, typer.Option("--no-record", help="Keep nothing of this session.")] = False,
    preset: Annotated[
        str | None, typer.Option(help="How the tool looks to the model: run_script, codex, eval, code_mode.")
    ] = None,
    yield_seconds: Annotated[
        float | None, typer.Option(min=0.1, help="A script that takes longer goes on, and the model is told what there is.")
    ] = None,
    max_steps: Annotated[int, typer.Option(min=1, help="Replies of the model to one question.")] = STEPS_MAX,
    text_calls: Annotated[
        bool, typer.Option("--text-calls", help="The model calls no tools: it writes scripts between <tool-calls> tags.")
    ] = False,
    scripted: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Replies from a JSON list instead of a model, for demos and tests.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One question; every event is a JSON line.")] = False,
) -> None:
    """Talk to a model that works with the tools on offer.

    Examples:

      turnscript chat --url http://localhost:11434/v1 --model qwen3 --root ~/project

      TURNSCRIPT_MODEL_KEY=… turnscript chat --kind anthropic --model claude-sonnet-4-5 --profile core-codex

      echo 'What is left to do here?' | turnscript chat > answer.txt

      turnscript chat --resume last
    """
    if no_record and (store or resume):
        raise Fault("--no-record keeps nothing, so --store and --resume have no place beside it; leave it out")
    settings = read_settings(
        profile=profile, root=root, allow=allow or (), store=store,
        given={
            "model": {"name": model, "url": url, "kind": kind},
            "surface": {"preset": preset, "yield_seconds": yield_seconds},
        },
    )  # fmt: skip
    yields = settings.surface.yield_seconds is not None or settings.surface.preset == "codex"
    if text_calls and yields:
        raise Fault("--text-calls leaves the model no tool to wait with; use it with --preset run_script and no --yield-seconds")
    wanted = Wanted(
        settings=settings, packs=tuple(pack or ()), recorded=not no_record, store_given=bool(store), resume=resume,
        root_given=root is not None, scripted=scripted, text_calls=text_calls, steps_max=max_steps,
    )  # fmt: skip
    options = {"--model": model, "--url": url, "--kind": kind, "--profile": profile, "--store": store, "--preset": preset}
    again = tuple(word for name, value in options.items() if value for word in (name, value))
    try:
        if sys.stdin.isatty() and sys.stdout.isatty() and not as_json:
            talk(wanted, Typed(question=question or "", options=again))
            return
        typed = Typed(question=question or _piped(), options=again)
        code = ask_in_json(wanted, typed) if as_json else ask_once(wanted, typed)
    except BadReplies as error:
        raise Fault(f"--scripted: {error}") from None
    if code:
        raise typer.Exit(code)


def _piped() -> str:
    """All of standard input is the question."""
    text = "" if sys.stdin.isatty() else sys.stdin.buffer.read().decode("utf-8", errors="replace")
    if not text.strip():
        raise Fault('there is no question; give one: turnscript chat "What is left to do here?"')
    return text.strip()
