"""The one table of what can go wrong for a script: code, phase, whether trying again may help, and what the model is told.

Rows of the harness hold the very words (`told` fills them in). Rows of the sandbox and the catalogue name what those say
themselves. A tool's own problems have codes of their own. `docs/problems.md` is printed from here.
"""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from sandbox import Problem

Phase: TypeAlias = Literal["detect", "check", "guard", "tool", "script", "ending"]
Retry: TypeAlias = Literal["as it is", "changed", "later", "no"]


@dataclass(frozen=True, slots=True)
class Row:
    code: str
    phase: Phase
    retry: Retry
    message: str
    hint: str = ""


_ROWS = (
    # ------------------------------------------------------------ finding the script in a reply
    Row("no_script", "detect", "changed", "the reply has no <tool-calls> block{near}, so nothing ran",
        "put one script between <tool-calls> and </tool-calls>, outside of fenced code"),
    Row("empty_script", "detect", "changed", "the script is empty, so nothing ran", "write JavaScript that returns or shows something"),
    Row("nested_block", "detect", "changed", "<tool-calls> stands inside another <tool-calls> (line {line}), so nothing ran",
        'write one block; in a string of the script, write "<" + "tool-calls>"'),
    Row("unbalanced_block", "detect", "changed", "{what}, so nothing ran", "open the block with <tool-calls> and close it with </tool-calls>, once each"),
    Row("second_block", "detect", "changed", "the reply has {count} <tool-calls> blocks, so nothing ran",
        "one script a turn: put all of it into one block, or send the next one after you have seen this one's result"),
    Row("scripts_disabled", "detect", "no", "scripts are disabled in this session, so nothing ran", "go on without tools, or ask a person to enable them"),
    # ------------------------------------------------------------ what an agent's model calls (harness/adapters/)
    Row("unknown_call", "detect", "changed", "there is no tool {name!r}, so nothing ran", "call one of: {names}"),
    Row("bad_call", "detect", "changed", "{name} was not called: {why}", "give {wanted}"),
    Row("script_runs", "detect", "later", "script {turn} still runs, so nothing else was started",
        "call {wait} to see the rest of it, or {wait} with {stop}: true to end it"),
    Row("nothing_runs", "detect", "changed", "there is nothing to wait for: {runs}", "start a script with {tool}"),
    Row("cut_off", "detect", "changed", "the reply ended at its limit of tokens ({reason}) within this call, so {name} was not called",
        "write a shorter script, or several, one after the other"),
    Row("still_runs", "detect", "later", "script {turn} still runs", "call {wait} to see the rest of it, or {wait} with {stop}: true to end it"),
    # ------------------------------------------------------------ before the start (catalog/scan.py)
    Row("unknown_tool", "check", "changed", "there is no tool of that name; the nearest one is told"),
    Row("not_offered", "check", "no", "the tool exists, but the profile does not offer it"),
    Row("bad_arguments", "check", "changed", "an argument is missing, unknown or of the wrong kind; each is named, with the signature"),
    Row("not_called", "check", "changed", "a pack or a tool is used as a value and never called"),
    Row("not_awaited", "check", "changed", "the promise of a call is dropped or used as if it were the value"),
    # ------------------------------------------------------------ guards
    Row("dry_run", "guard", "no", "{tool} was not called: this is a dry run, and it would {effect}",
        "nothing was changed; catch it to go on: the report then lists the calls behind it too"),
    Row("not_recorded", "guard", "no", "{tool} (line {line}) is not in the recording: {why}", "record the session again, or replay with other settings"),
    Row("not_on_record", "guard", "no", "{tool} was not run, since it cannot be put on record: {why}", "stop here; a person must look after the disk"),
    Row("unsure", "guard", "changed", "{tool} (line {line}) was running when the process ended: it may have done its work, or part of it",
        "look at what it did before you do it again"),
    Row("plan_needed", "guard", "changed", "{tool} refused: reading needs a plan of an earlier script, and {why}",
        'in a script of its own: return await tools.reads.plan({{ files: [{{ path: "a.py", ranges: [[1, 80]] }}], bytes: 8000 }})'),
    Row("not_planned", "guard", "changed", "{tool} refused: {what}; the plan has {planned}", "read what the plan names, then make the next plan"),
    Row("bad_plan", "guard", "changed", "the plan was not taken: {why}", "{next}"),
    Row("budget_calls", "guard", "no", "{tool} refused: {scope} has made {used:,} of {allowed:,} calls{of}; ran so far: {ran}", "{next}"),
    Row("budget_bytes", "guard", "changed", "{tool} refused: {scope} has taken {used:,} of {allowed:,} bytes of results{of}; ran so far: {ran}", "{next}"),
    Row("result_kept", "guard", "changed",
        "{tool} ran and gave {size:,} bytes, but {scope} has only {left:,} of {allowed:,} bytes left for results{of}; ran so far: {ran}",
        "the result is kept: in a later turn, {part}; or ask for less"),
    Row("budget_seconds", "guard", "no", "{tool} refused: {scope} has used {used:,.1f} of {allowed:,.1f} seconds{of}; ran so far: {ran}", "{next}"),
    Row("repeated", "guard", "changed",
        "{tool} refused: it ran {times} times within {seconds:.0f} s with the same arguments and gave the same result each time, which begins: {sample}",
        "use that result, change the arguments, or change what it depends on; after {wait:.0f} s it may run again"),
    Row("denied", "guard", "no", "{tool} needs a person's approval, and it was not given{why}",
        "it had no effect; go on without it, or say what you wanted to do and why"),
    Row("forbidden", "guard", "no", "{tool} refused: a rule of this session denies this call ({rule})", "it had no effect; do it another way"),
    Row("fault_refused", "guard", "changed", "{tool} refused: a fault rule of this session says so ({rule})", "it had no effect; do it another way"),
    Row("tool_timeout", "guard", "changed", "{tool} took more than {seconds:g} seconds and was cancelled",
        "ask for less at once; part of its effect may have happened: look before you repeat it"),
    Row("cancelled", "guard", "later", "{tool} was still open when the script ended, and was cancelled", "await every call whose effect you want"),
    Row("relaxed_already", "guard", "no", "relax was used in this turn already: {cap:,} bytes may be shown", "show less, or go on in the next turn"),
    Row("no_reason", "guard", "changed", "relax needs a reason, which goes on record", 'write await relax("why this turn must show more")'),
    # ------------------------------------------------------------ tools
    Row("tool_failed", "tool", "changed", "{tool} failed: {error}", "catch it and go on, or try it another way"),
    Row("tool_error", "tool", "changed", "a tool of another framework says in its own words what is wrong"),
    Row("not_supported", "tool", "no", "a tool of another framework wants something that a script cannot wait for"),
    Row("unknown_handle", "tool", "changed", "nothing is kept under this handle; the nearest one is told"),
    # ------------------------------------------------------------ refusals of the sandbox itself, each catchable
    Row("too_many_calls", "script", "no", "the script has made as many calls as one script may"),
    Row("too_many_waits", "script", "no", "the script has waited as often as one script may"),
    Row("too_many_shown", "script", "no", "the script has shown as many values as one script may"),
    Row("too_many_stored", "script", "no", "the script has stored as often as one script may"),
    Row("too_large", "script", "changed", "a value out of the script is larger than one may be"),
    Row("too_deep", "script", "changed", "a value out of the script is nested deeper than one may be"),
    Row("store_full", "script", "changed", "the session keeps as much as it may"),
    Row("result_too_large", "script", "changed", "a result is larger than one script takes at once"),
    Row("bad_result", "script", "no", "a tool's result is not JSON"),
    # ------------------------------------------------------------ how a script ends that does not finish
    Row("SyntaxError", "ending", "changed", "the text is not JavaScript; the place is told"),
    Row("Deadlock", "ending", "changed", "the script waits for a promise that nothing will settle; the lines are told"),
    Row("LimitExceeded", "ending", "changed", "the script or the turn went over a limit, which is named"),
    Row("WorkerLost", "ending", "as it is", "the script's process died; nothing else is affected"),
    Row("Thrown", "ending", "changed", "the script threw a value that is no Error"),
)  # fmt: skip

PROBLEMS: dict[str, Row] = {row.code: row for row in _ROWS}


def told(code: str, *, data: Any = None, **fields: Any) -> Problem:
    """The problem in the words of the table."""
    row = PROBLEMS[code]
    return Problem(code, row.message.format(**fields), row.hint.format(**fields), data)


def may_retry(code: str) -> Retry:
    """A code that is a tool's own may be tried again after a change."""
    row = PROBLEMS.get(code)
    return "changed" if row is None else row.retry


def as_markdown() -> str:
    """The body of docs/problems.md."""
    rows = ["| code | phase | try again | what is told | next step |", "|---|---|---|---|---|"]
    for row in _ROWS:
        rows.append(f"| `{row.code}` | {row.phase} | {row.retry} | {_cell(row.message)} | {_cell(row.hint)} |")
    return "\n".join(rows) + "\n"


def _cell(text: str) -> str:
    return text.replace("{{", "{").replace("}}", "}").replace("|", "\\|").replace("<", "&lt;")
