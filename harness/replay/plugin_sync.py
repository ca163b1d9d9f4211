"""A session for tests that are not async: the same verbs, each waits for its end."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, Literal

from anyio.from_thread import BlockingPortal

from harness.ledger import Ledger
from harness.outcome import TurnOutcome
from harness.session import Forgotten, Session
from harness.setup import Mode
from sandbox import Start


class SyncSession:
    def __init__(self, session: Session, portal: BlockingPortal) -> None:
        self._session = session
        self._portal = portal
        self.id = session.id

    def run(
        self,
        script: str,
        *,
        context: Mapping[str, Any] | None = None,
        mode: Mode | None = None,
        limits: Mapping[str, float] | None = None,
        start: Start | None = None,
    ) -> TurnOutcome:
        return self._portal.call(
            partial(self._session.run, script, context=context, mode=mode, limits=limits, start=start)
        )  # fmt: skip

    def run_reply(self, reply: str) -> TurnOutcome:
        return self._portal.call(self._session.run_reply, reply)

    def forget(self, turns: Iterable[int]) -> Forgotten:
        return self._portal.call(self._session.forget, turns)

    def message(self, role: Literal["user", "assistant", "system", "reasoning"], text: str) -> None:
        self._portal.call(self._session.message, role, text)

    def relax(self, reason: str) -> None:
        self._session.relax(reason)

    def recall(self, handle: str) -> Any:
        return self._session.recall(handle)

    def transcript(self) -> list[tuple[int, str]]:
        return self._session.transcript()

    @property
    def ledger(self) -> Ledger:
        return self._session.ledger
