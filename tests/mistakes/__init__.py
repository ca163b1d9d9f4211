"""Mistakes that scripts make: the corpus, the pack they are made with, and the one rubric that judges what a model is told."""
