"""Guards: one a file. Each wraps the next; the chain is the list in `chain.py`."""
