"""One script for each number the documents state. Run them as modules from the repository's root."""
