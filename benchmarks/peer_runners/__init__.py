"""One file a peer, run by the Python of that peer's own environment: JSON lines in, JSON lines out.

A request says what to `do`: `run` a script against the shop, `prompt` (what a model would be sent for a catalogue) or `discover`
(what one search and one declaration cost). No model is called: a scripted one stands in.
"""
