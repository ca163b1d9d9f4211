"""Times are shown in local time; here that is UTC."""

import time
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def in_utc() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as changed:
        changed.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()
