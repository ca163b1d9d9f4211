"""Turns, and everything around them. `Harness` and `Session` for an agent, `run_script` for one script in one call."""

from harness.approval import Answer, Approver, Policy, Request, Rule, allowing
from harness.detect import Detected, detect
from harness.forgetting import Forgotten
from harness.harness import Harness, run_script
from harness.ledger import Ledger
from harness.outcome import TurnOutcome
from harness.recording import Play, Recording
from harness.session import Session
from harness.setup import Flags, Setup
from harness.store.memory import MemoryStore
from harness.store.opening import open_store

__all__ = [
    "Answer",
    "Approver",
    "Detected",
    "Flags",
    "Forgotten",
    "Harness",
    "Ledger",
    "MemoryStore",
    "Play",
    "Policy",
    "Recording",
    "Request",
    "Rule",
    "Session",
    "Setup",
    "TurnOutcome",
    "allowing",
    "detect",
    "open_store",
    "run_script",
]
