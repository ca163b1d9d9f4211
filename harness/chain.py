"""The guards of one turn, in the order of this list. A guard's lifetime is its object's: the session's are handed in, the turn's
are made here.
"""

from dataclasses import dataclass

from harness.call import Guard
from harness.guards.approval import Approval
from harness.guards.budget import Budget
from harness.guards.cache import Cache
from harness.guards.conflict import Conflict
from harness.guards.dry_run import DryRun
from harness.guards.fault import Faults
from harness.guards.journal import Journal
from harness.guards.overlap import Overlap
from harness.guards.plan import Plan
from harness.guards.repeat import Repeat
from harness.guards.replay import Replay
from harness.guards.seconds import Seconds
from harness.guards.timeout import Timeout


@dataclass(frozen=True, slots=True, kw_only=True)
class Guards:
    """None: not in this turn."""

    dry_run: DryRun | None
    plan: Plan | None
    budget: Budget
    fault: Faults | None
    replay: Replay | None
    approval: Approval
    conflict: Conflict
    repeat: Repeat
    overlap: Overlap
    cache: Cache | None
    seconds: Seconds
    journal: Journal
    timeout: Timeout

    def in_order(self) -> list[Guard]:
        chain: list[Guard | None] = [
            self.dry_run,  # before anything is counted or asked
            self.plan,
            self.budget,  # a call that is over the budget is not put before a person
            self.fault,  # counted as any call; before the recording, which it overrides
            self.replay,  # outcomes of a recording: counted as any, but nobody is asked and nothing runs
            self.approval,  # before the cache: what a rule denies is not served from there
            self.conflict,  # from here on in the order of the script where calls touch the same
            self.repeat,  # inside, so that equal calls have each other's results to compare
            self.overlap,
            self.cache,  # inside, so that a read behind a write does not see what was kept before it
            self.seconds,  # those before it have run by now; what the cache serves costs none
            self.journal,  # the last before the tool: what acts is on record first
            self.timeout,  # the tool's own time; waiting does not count
        ]
        return [guard for guard in chain if guard is not None]
