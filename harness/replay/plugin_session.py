"""The session of a test: recorded while its tools run, or played from the recording. For tests that are async and those that are
not.

In a replay the test still drives: it runs its scripts turn by turn, and each turn gets the recorded outcomes of that turn. What
the model would be shown is compared too; where paths of this machine stand in the recording, by playing it once more as it is.
"""

import shlex
from collections import deque
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from difflib import unified_diff
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

from catalog import Offer
from harness.approval import Approver, Nobody
from harness.blocking import BlockingSession
from harness.callers import Caller
from harness.entries import Ended, Entry
from harness.going import Going
from harness.identity import identity_of
from harness.outcome import TurnOutcome
from harness.recording import Missing, Play, Recording, identity
from harness.replay.declared import remarks
from harness.replay.differences import LENGTHS, Difference, Unverified, differences, not_verified
from harness.replay.keeping import Mode, cleaning, recording_of
from harness.replay.playing import Stage, play, setup_of
from harness.replay.plugin_stage import SharedStage
from harness.replay.plugin_told import FAILED_TURNS, REMARK, UNVERIFIED, Differs, below, command, failed, text_of
from harness.replay.recorded import (
    SUFFIX,
    TEST_LABEL,
    RecordedSession,
    RecordedTurn,
    read_entries,
    read_recording,
    recorded_session,
    same_texts,
)  # fmt: skip
from harness.replay.worse import WentWorse, check_not_worse
from harness.scrub_places import places_of
from harness.scrubbing import expanded
from harness.session import Session
from harness.session_facts import Told
from harness.setup import Mode as ScriptMode
from harness.setup import Setup
from harness.store import StoreError
from harness.store.lines import BadLine, Kept
from harness.store.memory import MemoryStore
from harness.visible import visible
from sandbox import Pool, Start


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a test asks for. `setup` None: the usual one, or that of the recording."""

    offer: Offer
    root: Path
    setup: Setup | None
    approver: Approver | None
    item: pytest.Item
    path: Path  # of the recording

    @property
    def nodeid(self) -> str:
        return self.item.nodeid


class SessionOfTest:
    """A context manager, async and not. `kept`: the lines to write, when the test has passed."""

    def __init__(self, wanted: Wanted, shared: SharedStage) -> None:
        self._wanted = wanted
        self._shared = shared
        self._stack = AsyncExitStack()
        self._entered: AbstractContextManager[Session]
        self._folder = shared.options.folder
        self.kept: list[Kept] | None = None

    # ------------------------------------------------------------ async

    async def __aenter__(self) -> Session:
        try:
            pool = await self._stack.enter_async_context(self._shared.pool(workers=1))
            self._opened = self._open(pool)
            return await self._opened.__aenter__()
        except BaseException as error:
            await self._stack.aclose()
            raise failed(error, self._folder) from None

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            await self._opened.__aexit__(kind, error, trace)
        except BaseException as ended:
            if ended is not error:
                raise failed(ended, self._folder) from None
        finally:
            await self._stack.aclose()

    # ------------------------------------------------------------ not async

    def __enter__(self) -> BlockingSession:
        try:
            self._entered = self._shared.entered(self._open)
            return BlockingSession(self._entered.__enter__(), self._shared.portal)
        except BaseException as error:
            raise failed(error, self._folder) from None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            self._entered.__exit__(kind, error, trace)
        except BaseException as ended:
            if ended is not error:
                raise failed(ended, self._folder) from None

    # ------------------------------------------------------------ both

    @asynccontextmanager
    async def _open(self, pool: Pool) -> AsyncIterator[Session]:
        mode, path = self._shared.options.mode, self._wanted.path
        if mode == "all" or not path.exists():
            if mode == "none":
                raise Differs(
                    f"there is no recording {below(str(path), self._folder)}\nrecord it: {command(self._wanted.nodeid, 'once')}"
                )
            async with self._recording(pool) as session:
                yield session
        else:
            async with self._playing(pool, read_entries(path), mode) as session:
                yield session

    @asynccontextmanager
    async def _recording(self, pool: Pool) -> AsyncIterator[Session]:
        wanted, store = self._wanted, MemoryStore()
        labels = {TEST_LABEL: wanted.nodeid.partition("::")[2]}
        session = Session(
            wanted.path.name.removesuffix(SUFFIX), wanted.setup or Setup(), offer=wanted.offer, root=wanted.root, pool=pool,
            approver=wanted.approver or Nobody(), store=store, told_of_it=Told(labels=labels),
        )  # fmt: skip
        try:
            async with session:
                yield session
        finally:
            self._note_failed(store.entries(session.id))
        await self._keep(store.entries(session.id), pool)

    @asynccontextmanager
    async def _playing(self, pool: Pool, entries: list[Entry], mode: Mode) -> AsyncIterator[Session]:
        wanted, store = self._wanted, MemoryStore()
        recorded = recorded_session(entries, name=wanted.path.name)
        here = recorded_session(expanded(entries, places_of(wanted.root, self._shared.ground.environment)), name=recorded.name)
        session = PlayedSession(
            here, wanted.setup or setup_of(here.facts), offer=wanted.offer, root=wanted.root, pool=pool,
            approver=wanted.approver or Nobody(), store=store, missing="run" if mode == "new" else "refuse",
            live=self._shared.options.verify,
        )  # fmt: skip
        try:
            async with session:
                yield session
        except BaseException as error:
            if mode != "new" and session.found:
                error.add_note(text_of(session.found, nodeid=wanted.nodeid))
            raise
        finally:
            self._note_failed(store.entries(session.id), told={one.turn for one in session.found})
            wanted.item.user_properties += [(REMARK, text) for text in remarks(here.turns, wanted.offer.tools)]
            wanted.item.user_properties += [
                (UNVERIFIED, f'{one.text}; allow it: turnscript_session(…, allow=["{one.tool}"])') for one in session.unverified
            ]
        if mode == "new":
            if session.has_changed:
                await self._keep(store.entries(session.id), pool)
            return
        exact = same_texts(here, recorded)
        found = [one for one in (*session.found, *session.unplayed()) if exact or one.kind not in LENGTHS]
        if not found and not exact:
            found = list((await play(recorded, Stage(pool=pool, offer=wanted.offer))).differences)
        if found:
            raise Differs(text_of(found, nodeid=wanted.nodeid))

    async def _keep(self, entries: tuple[Entry, ...], pool: Pool) -> None:
        wanted, ground = self._wanted, self._shared.ground
        own = wanted.setup or Setup()
        clean = cleaning(replace(ground, secrets={**ground.secrets, **own.secrets}), wanted.root.resolve())
        recorded, kept = await recording_of(entries, Stage(pool=pool, offer=wanted.offer), name=wanted.path.name, clean=clean)
        self._check_not_worse(recorded)
        self.kept = kept

    def _check_not_worse(self, now: RecordedSession) -> None:
        """Than the file that is there, as far as the test runs the scripts on record in it."""
        path, nodeid = self._wanted.path, self._wanted.nodeid
        try:
            before = read_recording(path)
        except (OSError, BadLine, StoreError):
            return  # there is none, or none that could be played
        same = {
            turn.number for turn, then in zip(now.turns, before.turns, strict=False) if turn.began.script == then.began.script
        }
        try:
            check_not_worse(before, replace(now, turns=tuple(turn for turn in now.turns if turn.number in same)))
        except WentWorse as error:
            file = shlex.quote(below(str(path), self._folder))
            raise Differs(f"{error}\nif that is meant, remove it first: rm {file} && {command(nodeid, 'once')}") from None

    def _note_failed(self, entries: tuple[Entry, ...], *, told: Collection[int] = ()) -> None:
        """Where the last turn failed, what the model was shown of it stands below a red test; not where a difference says it."""
        last = next((entry for entry in reversed(entries) if isinstance(entry, Ended)), None)
        if last is not None and last.ending.how != "finished" and last.turn not in told:
            self._wanted.item.stash.setdefault(FAILED_TURNS, []).append((last.turn, visible(last.text)))


class PlayedSession(Session):
    """Each turn that is run gets the outcomes of the recorded turn in its place."""

    def __init__(
        self,
        recorded: RecordedSession,
        setup: Setup,
        *,
        offer: Offer,
        root: Path,
        pool: Pool,
        approver: Approver,
        store: MemoryStore,
        missing: Missing,
        live: bool = False,
    ) -> None:
        super().__init__(
            recorded.session, setup, offer=offer, root=root, pool=pool, approver=approver, store=store,
            closed_packs=missing == "refuse" and not live,
            told_of_it=Told(model=recorded.facts.model, labels=recorded.facts.labels),
        )  # fmt: skip
        self._turns = deque(recorded.turns)
        self._missing: Missing = missing
        self._live = live
        self.found: list[Difference] = []
        self.unverified: list[Unverified] = []
        self._new_calls = False

    @property
    def has_changed(self) -> bool:
        """Something ran, or is gone, that was recorded otherwise."""
        return self._new_calls or bool(self._turns) or any(one.kind == "script" for one in self.found)

    def unplayed(self) -> list[Difference]:
        if not self._turns:
            return []
        first, last = self._turns[0].number, self._turns[-1].number
        which = f"turn {first} is" if first == last else f"turns {first} to {last} are"
        script = self._turns[0].began.script.strip().split("\n")[0]
        return [Difference("script", first, f"{which} on record, and the test does not run it now: {script[:100]}")]

    async def run(
        self,
        script: str,
        *,
        context: Mapping[str, Any] | None = None,
        mode: ScriptMode | None = None,
        limits: Mapping[str, float] | None = None,
        play: Play | None = None,
        start: Start | None = None,
        by: Caller = "script",
        going: Going | None = None,
    ) -> TurnOutcome:
        turn = self._turns.popleft() if self._turns else None
        if turn is None:
            return await self._one_more(script, context=context, mode=mode, limits=limits, start=start, by=by, going=going)
        if script != turn.began.script:
            self.found.append(Difference("script", turn.number, _other_script(turn, script)))
        given = start or Start(source="", limits=self._setup.limits)
        outcome = await super().run(
            script, context=context, mode=mode, limits=limits,
            play=Play(recording=turn.recording, missing=self._missing, live=self._live),
            start=replace(given, now=turn.began.now, seed=turn.began.seed), by=by, going=going,
        )  # fmt: skip
        if turn.playable:
            self.found += differences(turn, outcome)
            self.unverified += not_verified(outcome)
        self._note_calls(turn, outcome)
        return outcome

    async def _one_more(self, script: str, **rest: Any) -> TurnOutcome:
        if self._missing == "run":
            self._new_calls = True
            return await super().run(script, **rest)
        number = self._turn + 1
        self.found.append(Difference("script", number, f"turn {number}: the test runs a turn that is not on record"))
        return await super().run(script, play=Play(recording=Recording()), **rest)

    def _note_calls(self, turn: RecordedTurn, outcome: TurnOutcome) -> None:
        known = {identity(one) for one in (*turn.recording.told, *turn.recording.left)}
        made = {identity_of(one.tool, one.site, one.arguments) for one in outcome.calls}
        self._new_calls = self._new_calls or not made <= known


def _other_script(turn: RecordedTurn, script: str) -> str:
    rows = unified_diff(turn.began.script.split("\n"), script.split("\n"), "recorded", "now", n=1, lineterm="")
    return "\n".join([f"turn {turn.number}: the script is not the recorded one", *(f"    {row}" for row in rows)])
