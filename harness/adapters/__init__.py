"""Agents' interfaces to a session, one a file. Each is an extra, and none is imported unless it is asked for.

`surface.py` is what they have in common: tool definitions, prose, and a function from the agent's call to the agent's result.
"""
