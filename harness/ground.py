"""What a session stands on while it is open: its packs, its record, and what goes on from turn to turn, relived when it is
resumed. Opened in this order; closed in the reverse one.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from catalog import BadPack, Host, Offer, Toolbox, open_toolbox
from harness.asked import CallOf
from harness.cache import DiskCache
from harness.callers import Caller, offer_to
from harness.continuing import check_root
from harness.offers import with_pack
from harness.ongoing import Ongoing, ongoing
from harness.pack_digest import pack_digests, tool_digests
from harness.reading_plan import plan_pack
from harness.record import Clean, Record
from harness.relive import Reliving, live_through
from harness.session_facts import Told, facts_of
from harness.session_results import SessionResults
from harness.setup import Setup
from harness.store import SessionBusy, Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A session as it is asked for. `toolbox`: one that is open already; `closed_packs`: no tool runs, so nothing is opened."""

    id: str
    setup: Setup
    offer: Offer
    root: Path
    store: Store
    toolbox: Toolbox | None
    resume: bool
    closed_packs: bool
    told: Told
    clean: Clean
    restore: Clean  # undoes what `clean` did, where that can be undone
    clock: Callable[[], float]
    now: Callable[[], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """`calls`: by who makes them. `lived`: what a session that is resumed went through."""

    on: Ongoing
    disk: DiskCache | None
    call_of: CallOf
    calls: Mapping[Caller, CallOf]
    record: Record
    limits: Mapping[str, float]
    lived: Reliving | None


@asynccontextmanager
async def laid(wanted: Wanted, progress: Callable[[str, str], None] | None) -> AsyncIterator[Ground]:
    setup, toolbox = wanted.setup, wanted.toolbox
    results = SessionResults(
        most_bytes=setup.turn.kept_bytes, beside=None if toolbox is None else toolbox.host.results
    )  # fmt: skip
    folder = setup.cache_folder
    disk = None if folder is None else DiskCache(folder / "results", most_bytes=setup.turn.cache_disk_bytes)
    on = ongoing(setup, wanted.root, results, disk=disk, clock=wanted.clock, now=wanted.now)
    offer, plans = wanted.offer, setup.plan_reads and setup.flags.two_pass
    if plans and toolbox is not None:
        raise BadPack("with plan_reads a session opens its packs itself, with the one to plan; give packs, not a toolbox")
    async with AsyncExitStack() as stack:
        if toolbox is None:
            if plans:
                own = plan_pack(on.plans)
                clash = f"with plan_reads the pack {own.name} is the session's own; rename the other one, such as my_{own.name}"
                offer = with_pack(offer, own, clash=clash)
            host = Host(root=wanted.root, results=results, environment=setup.environment, cache=folder, clock=wanted.now)
            if progress is not None:
                host = replace(host, progress=progress)
            if wanted.closed_packs:
                toolbox = Toolbox(offer, {}, host)
            else:
                toolbox = await stack.enter_async_context(open_toolbox(offer, host=host, settings=setup.packs))
        yield await _on_record(replace(wanted, offer=offer), toolbox, on, disk, stack)


async def _on_record(wanted: Wanted, toolbox: Toolbox, on: Ongoing, disk: DiskCache | None, stack: AsyncExitStack) -> Ground:
    setup, store = wanted.setup, wanted.store
    packs = pack_digests(toolbox.offer, setup.packs, wanted.root)
    call_of = CallOf(toolbox, on.freshness, tool_digests(toolbox.offer, packs), setup.packs)
    if wanted.resume:
        await store.load(wanted.id, most=1)  # NoSession before anything is written
    writer = await store.write(wanted.id, at=wanted.now())
    stack.push_async_callback(writer.close)
    if writer.last is not None and not wanted.resume:
        raise SessionBusy(f"session {wanted.id} is kept already; resume it, or take another id")
    record = Record(wanted.id, writer, now=wanted.now, clean=wanted.clean)
    facts = await facts_of(setup, wanted.offer, wanted.root, packs=packs, told=wanted.told)
    lived = None
    if wanted.resume:
        lived = Reliving(on, call_of)
        await live_through(store, wanted.id, lived, wanted.restore)
        check_root(wanted.id, lived.facts, wanted.root)
        await record.reopened(facts, interrupted=None if lived.interrupted is None else lived.interrupted.turn)
    else:
        await record.opened(facts)
    calls: dict[Caller, CallOf] = {
        caller: replace(call_of, toolbox=toolbox.offering(offer_to(toolbox.offer, setup.callers, caller)))
        for caller in ("script", "direct")
    }
    return Ground(on=on, disk=disk, call_of=call_of, calls=calls, record=record, limits=dict(facts.limits), lived=lived)
