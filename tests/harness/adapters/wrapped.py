"""What the tests of wrapped tools share: a session with one pack, and scripts that call it."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from catalog import Pack
from harness import Harness, Policy, Rule, Session, Setup
from harness.approval import Asking
from harness.offers import PackToCome


async def yes(tool: str, arguments: Mapping[str, Any]) -> bool:
    return True


@asynccontextmanager
async def talking(pack: Pack | PackToCome, *, deny: str = "", approve: bool = False) -> AsyncIterator[Session]:
    rules = (Rule(tool=deny, then="deny"),) if deny else ()
    harness = Harness([pack], setup=Setup(policy=Policy(rules)), approver=Asking(yes) if approve else None)
    async with harness, harness.session() as session:
        yield session


async def value(session: Session, call: str) -> Any:
    outcome = await session.run(f"return await tools.x.{call}")
    assert outcome.ok, outcome.text
    return outcome.value
