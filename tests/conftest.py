"""Every async test runs under asyncio and under trio. Sessions that commands keep go to a folder of the tests, not to the home."""

import os
from collections.abc import Iterator

import pytest


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="session", autouse=True)
def sessions_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    before = os.environ.get("TURNSCRIPT_HOME")
    os.environ["TURNSCRIPT_HOME"] = str(tmp_path_factory.mktemp("turnscript"))
    yield
    if before is None:
        del os.environ["TURNSCRIPT_HOME"]
    else:
        os.environ["TURNSCRIPT_HOME"] = before
