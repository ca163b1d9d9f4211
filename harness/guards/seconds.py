"""Seconds: an allowance of seconds is looked at again when a call's turn has come; those before it may have used them up since.

`budget` counts; this stands right before the tool, where waiting is over.
"""

from harness.call import Call, Outcome, Proceed
from harness.guards.budget import Budget


class Seconds:
    """For one turn."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget

    def admit(self, call: Call) -> Outcome | None:
        return None

    async def handle(self, call: Call, proceed: Proceed) -> Outcome:
        return self._budget.out_of_seconds(call) or await proceed(call)
