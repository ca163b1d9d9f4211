"""A person behind an MCP client as approver: each call that waits is put to them by elicitation, one after the other.

A client that cannot be asked leaves the answer to the approver of the harness. No answer denies, as ever.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, Literal, TypeAlias

from mcp import McpError, types
from mcp.server.session import ServerSession

from harness.approval import Answer, Approver, Request
from harness.visible import visible

Ask: TypeAlias = tuple[ServerSession, types.RequestId | None]  # whom, and the request of theirs that it belongs to
_ALLOW: Final = "allow"
_DENY: Final = "deny"
_CHOICES: Final[dict[str, Literal["", "arguments", "tool"]]] = {
    _ALLOW: "",
    _DENY: "",
    "allow always with these arguments": "arguments",
    "allow always for this tool": "tool",
}
FORM: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"choice": {"type": "string", "title": "This call", "enum": list(_CHOICES)}},
    "required": ["choice"],
}


class ElicitingApprover:
    """`whom`: the client to ask now; None when it cannot be asked. `otherwise` answers then."""

    def __init__(self, whom: Callable[[], Ask | None], otherwise: Approver) -> None:
        self._whom = whom
        self._otherwise = otherwise

    async def decide(self, requests: Sequence[Request]) -> Iterable[Answer]:
        answers: list[Answer] = []
        for request in requests:
            known = next((one for one in answers if _covers(one, request, requests)), None)
            if known is not None:
                answers.append(Answer(request=request.id, verdict=known.verdict))
                continue
            asked = self._whom()
            if asked is None:
                return [*answers, *await self._otherwise.decide(requests[len(answers) :])]
            answer = await _answer(request, *asked)
            if answer is None:  # nobody is there; who closed the form is not asked for the rest
                break
            answers.append(answer)
        return answers


def can_be_asked(client: types.InitializeRequestParams | None) -> bool:
    """By a form: a client that names no mode has that one."""
    if client is None or client.capabilities.elicitation is None:
        return False
    declared = client.capabilities.elicitation
    return declared.form is not None or declared.url is None


async def _answer(request: Request, session: ServerSession, related: types.RequestId | None) -> Answer | None:
    try:
        said = await session.elicit_form(question(request), FORM, related)
    except McpError:  # the client gave an error for an answer, or went away
        return None
    if said.action == "decline":
        return Answer(request=request.id, verdict="deny", reason="the person declined")
    choice = (said.content or {}).get("choice")
    if said.action == "cancel" or choice not in _CHOICES:
        return None
    chosen = str(choice)
    return Answer(request=request.id, verdict="deny" if chosen == _DENY else "allow", remember=_CHOICES[chosen])


def _covers(answer: Answer, request: Request, requests: Sequence[Request]) -> bool:
    """What was just said for the tool, or for these arguments, need not be asked again."""
    first = next(one for one in requests if one.id == answer.request)
    if not answer.remember or first.tool != request.tool:
        return False
    return answer.remember == "tool" or first.arguments == request.arguments


def question(request: Request) -> str:
    """What the person reads. As JSON text: a line end in a name would begin what looks like another line of ours."""
    writes = ", ".join(json.dumps(key, ensure_ascii=False)[1:-1] for key in request.writes)
    where = f"line {request.line}" + (f", writes {writes}" if writes else "")
    shown = json.dumps(request.shown, indent=2, ensure_ascii=False)
    return visible(f"A script wants to call {request.tool} ({where}; {request.why}):\n{shown}")
