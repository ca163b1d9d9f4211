"""A harness whose session plays a recording: whoever drives it gets the recorded outcomes, turn by turn."""

from collections import deque
from collections.abc import Mapping
from typing import Any

from harness import Harness, MemoryStore, Session
from harness.approval import Nobody
from harness.callers import Caller
from harness.entries import Forgot
from harness.going import Going
from harness.outcome import TurnOutcome
from harness.recording import Play
from harness.replay.playing import Stage, offer_of_facts, setup_of
from harness.replay.recorded import RecordedSession
from harness.setup import Mode
from sandbox import Pool, Start


class PlayedHarness(Harness):
    def __init__(self, recorded: RecordedSession, pool: Pool | None) -> None:
        """`pool`: an open one; None: its own."""
        stage = Stage(pool=pool or Pool(workers=1))  # packs are found by it
        super().__init__(offer=offer_of_facts(recorded, stage), setup=setup_of(recorded.facts), pool=pool)
        self._recorded = recorded

    def session(self, id: str | None = None, **_: Any) -> Session:
        return PlayedSession(self._recorded, self)


class PlayedSession(Session):
    """Context, mode, limits and clock are those of the recorded turn: the agent knows nothing of them."""

    def __init__(self, recorded: RecordedSession, harness: PlayedHarness) -> None:
        super().__init__(
            recorded.session, harness.setup, offer=harness.offer, root=harness.root, pool=harness._pool, approver=Nobody(),
            store=MemoryStore(), closed_packs=True,
        )  # fmt: skip
        self._turns = deque(recorded.turns)

    async def run(
        self,
        script: str,
        *,
        context: Mapping[str, Any] | None = None,
        mode: Mode | None = None,
        limits: Mapping[str, float] | None = None,
        play: Play | None = None,
        start: Start | None = None,
        by: Caller = "script",
        going: Going | None = None,
    ) -> TurnOutcome:
        turn = self._turns.popleft()
        began = turn.began
        assert script.strip() == began.script.strip()  # a reply's script has lost the empty lines around it
        if reason := began.relaxed.removeprefix("by the host: "):
            self.relax(reason)
        setup = self._setup.with_limits(began.limits) if began.limits else self._setup
        outcome = await super().run(
            began.script, context=began.context, mode=began.mode, limits=began.limits or None, going=going,
            play=Play(recording=turn.recording),
            start=Start(source="", now=began.now, seed=began.seed, stored=began.stored, limits=setup.limits),
        )  # fmt: skip
        for entry in turn.after:
            if isinstance(entry, Forgot):
                await self.forget(entry.turns)
        return outcome
