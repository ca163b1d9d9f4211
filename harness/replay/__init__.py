"""Recorded sessions as tests: play them, say how they differ, record them again."""
