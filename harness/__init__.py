"""Turns, and everything around them. `Harness` and `Session` for an agent, `run_script` for one script in one call."""

from harness.approval import Answer, Approver, Policy, Request, Rule, allowing
from harness.detect import Detected, detect
from harness.harness import Harness, run_script
from harness.ledger import Ledger
from harness.outcome import TurnOutcome
from harness.session import Forgotten, Session
from harness.setup import Flags, Setup
from harness.store.memory import MemoryStore

__all__ = [
    "Answer",
    "Approver",
    "Detected",
    "Flags",
    "Forgotten",
    "Harness",
    "Ledger",
    "MemoryStore",
    "Policy",
    "Request",
    "Rule",
    "Session",
    "Setup",
    "TurnOutcome",
    "allowing",
    "detect",
    "run_script",
]
