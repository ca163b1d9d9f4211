"""Turns, and everything around them. `run_script` is the whole of it in one call."""

from harness.turn import Outcome, run_script, run_turn

__all__ = ["Outcome", "run_script", "run_turn"]
