"""Secrets out of shown text: the values the host knows, in every form, then tokens known by their look."""

from harness.redaction.known import secrets_of
from harness.redaction.redact import Redacted, Redactor, for_approval

__all__ = ["Redacted", "Redactor", "for_approval", "secrets_of"]
