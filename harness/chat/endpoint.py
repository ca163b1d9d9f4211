"""One streamed request to a model's endpoint, asked again where that may help; what goes wrong is one line with the next step.

A request is asked again only while nothing of its reply has come. The key stands in a header and in no message.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from math import isnan
from typing import Any, Final, Protocol

import anyio
import httpx

from harness.chat.messages import Waits
from harness.chat.model import Hear, ModelFailed
from harness.chat.sse import Event, Events, TooLong
from harness.interfaces import ModelSettings
from harness.visible import visible

TRIES: Final = 4  # of one request
WAIT_SECONDS_MAX: Final = 60.0  # an endpoint that wants more patience is not waited for
_FIRST_WAIT_SECONDS: Final = 1.0  # doubled from try to try, where the endpoint names no time
_END_SECONDS: Final = 0.5  # for the end of a stream whose reply is complete
_QUOTED_CHARS: Final = 300  # of what an endpoint says
_NO_JSON_CHARS: Final = 80  # of what should have been JSON
_BODY_BYTES: Final = 65_536  # of an error that are read
_REPLY_BYTES: Final = 64 * 1024 * 1024  # of one reply with all that is around it: 128,000 tokens, each an event of its own, fit
_MAY_PASS: Final = frozenset({408, 429, 500, 502, 503, 504, 529})
_KEY_STEP: Final = "set TURNSCRIPT_MODEL_KEY, or key_variable in [model] to the variable that holds the key"
_AGAIN: Final = "nothing of the session is lost; ask again"
_NO_JSON: Final = f"the endpoint sent what is no JSON object ({{said!r}}); {_AGAIN}, or check --url and --kind"
_FAILED: Final = f"the endpoint failed in the middle of its reply ({{said}}); {_AGAIN}"
_COUNT_MAX: Final = 10**12  # tokens; no endpoint has counted more

Sleep = Callable[[float], Awaitable[None]]


class Unfit(ValueError):
    """An event that is no part of a reply. `what`: with a place for `said`, which is as the endpoint said it."""

    def __init__(self, what: str, said: str, *, chars: int) -> None:
        super().__init__(what)
        self.what, self.said, self.chars = what, said, chars


class Gathering(Protocol):
    """A reply that is made of events."""

    def take(self, event: Event) -> bool:
        """True: the reply is complete, and nothing more is read. Unfit: it never will be."""

    def ended(self) -> bool:
        """The stream may end here: some servers leave the last word out."""


class Endpoint:
    """`path` and `headers` are the protocol's own."""

    def __init__(
        self,
        settings: ModelSettings,
        client: httpx.AsyncClient,
        *,
        path: str,
        headers: Mapping[str, str],
        sleep: Sleep = anyio.sleep,
    ) -> None:
        self._settings = settings
        self._client = client
        self._url = settings.url.rstrip("/") + path
        self._headers = {"content-type": "application/json", **headers}
        self._sleep = sleep

    async def stream(self, body: Mapping[str, Any], gathered: Gathering, hear: Hear) -> None:
        """`gathered` gets every event until it says that the reply is complete."""
        for number in range(1, TRIES + 1):
            waits = await self._attempt(body, gathered, number)
            if waits is None:
                return
            hear(waits)
            await self._sleep(waits.seconds)

    async def _attempt(self, body: Mapping[str, Any], gathered: Gathering, number: int) -> Waits | None:
        """None: the reply is complete."""
        try:
            async with self._client.stream("POST", self._url, content=_written(body), headers=self._headers) as response:
                if response.status_code == 200:
                    await self._taken(response, gathered)
                    return None
                said = _said(await _beginning(response))
                return self._again(response, self._clean(said), number)
        except httpx.InvalidURL as error:
            raise ModelFailed(f"the url {self._url!r} is none ({error}); give --url, such as http://localhost:11434/v1") from None
        except httpx.UnsupportedProtocol:
            raise ModelFailed(f"the url {self._url!r} must begin with http:// or https://; give --url") from None
        except httpx.ConnectError as error:
            raise ModelFailed(
                f"cannot connect to {self._url} ({self._clean(str(error))}); start the server there, or give another --url"
            ) from None
        except httpx.TimeoutException:
            raise ModelFailed(
                f"{self._url} sent nothing for {self._settings.timeout_seconds:g} seconds; {_AGAIN},"
                " or raise timeout_seconds in [model]"
            ) from None
        except httpx.RequestError as error:
            raise ModelFailed(f"the connection to {self._url} broke off ({self._clean(str(error))}); {_AGAIN}") from None

    async def _taken(self, response: httpx.Response, gathered: Gathering) -> None:
        kind = response.headers.get("content-type", "")
        if not kind.startswith("text/event-stream"):
            raise ModelFailed(f"{self._url} answered with {kind or 'no type'}, not a stream of events; check --url and --kind")
        events, complete, read = Events(), False, 0
        failed: ModelFailed | None = None
        # Read to its end, within a time: that leaves a connection to use again, and no generator half done.
        with anyio.CancelScope() as scope:
            async for chunk in response.aiter_bytes():
                if complete:
                    continue
                read += len(chunk)
                try:
                    complete = any(gathered.take(event) for event in self._fed(events, chunk, read))
                except Unfit as error:
                    said = self._clean(error.said, error.chars)
                    failed, complete = ModelFailed(error.what.format(said=said)), True
                except ModelFailed as error:
                    failed, complete = error, True
                if complete:
                    scope.deadline = anyio.current_time() + _END_SECONDS
        if failed is not None:
            raise failed
        if complete:
            return
        if not gathered.ended():
            raise ModelFailed(f"the reply of {self._url} was cut off; {_AGAIN}")

    def _fed(self, events: Events, chunk: bytes, read: int) -> list[Event]:
        if read > _REPLY_BYTES:
            raise ModelFailed(f"{self._url} sent more than {_REPLY_BYTES:,} bytes and did not end; {_AGAIN}, or check --url")
        try:
            return events.feed(chunk)
        except TooLong:
            raise ModelFailed(f"{self._url} sent an event that does not end; check --url and --kind") from None

    def _again(self, response: httpx.Response, said: str, number: int) -> Waits:
        """How long to wait before the next try; ModelFailed where there is none."""
        status, told = response.status_code, f": {said}" if said else ""
        model, url = self._settings.name, self._url
        if status in (401, 403):
            raise ModelFailed(f"{url} refused the key ({status}{told}); {_KEY_STEP}")
        if status == 404:
            raise ModelFailed(f"{url} knows no model {model!r}, or is not the place (404{told}); check --model and --url")
        if status not in _MAY_PASS:
            raise ModelFailed(f"{url} refused the request ({status}{told}); check --model, --kind and the length of the chat")
        seconds = _asked_for(response.headers.get("retry-after", ""), _FIRST_WAIT_SECONDS * 2 ** (number - 1))
        if seconds > WAIT_SECONDS_MAX:
            raise ModelFailed(f"{url} wants {seconds:,.0f} seconds of patience ({status}{told}); {_AGAIN} then")
        if number == TRIES:
            raise ModelFailed(f"{url} failed {TRIES} times ({status}{told}); {_AGAIN} later")
        return Waits(seconds=seconds, why=f"{status}{told}")

    def _clean(self, text: str, chars: int = _QUOTED_CHARS) -> str:
        """Endpoints quote what they were given."""
        line = " ".join(text.split())
        key = self._settings.key
        line = line.replace(key, "…") if key else line
        return visible(line if len(line) <= chars else f"{line[: chars - 1]}…")


def _written(body: Mapping[str, Any]) -> bytes:
    """Half a character, as a model or a terminal may have said it, has no bytes: one such must not end the chat."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


async def _beginning(response: httpx.Response) -> bytes:
    found = b""
    with anyio.CancelScope() as scope:
        async for chunk in response.aiter_bytes():
            found += chunk
            if len(found) >= _BODY_BYTES:
                scope.cancel()
    return found[:_BODY_BYTES]


def _said(body: bytes) -> str:
    """The message in an error's body; both protocols have it at error.message, some servers elsewhere."""
    try:
        read = json.loads(body)
    except (ValueError, RecursionError):
        return body.decode(errors="replace")
    return message_of(read)


def message_of(read: Any) -> str:
    error = read.get("error", read) if isinstance(read, dict) else read
    if isinstance(error, dict):
        return str(error.get("message") or error.get("detail") or json.dumps(error))
    return str(error)


def _asked_for(header: str, otherwise: float) -> float:
    try:
        seconds = float(header)
    except ValueError:  # none, or a date: our own patience serves
        return otherwise
    return otherwise if isnan(seconds) else max(seconds, 0.0)


def event_json(event: Event) -> dict[str, Any]:
    """Unfit for what is no JSON object."""
    try:
        read = json.loads(event.data)
    except (ValueError, RecursionError):  # the second: brackets in brackets, without end
        read = None
    if not isinstance(read, dict):
        raise Unfit(_NO_JSON, event.data, chars=_NO_JSON_CHARS)
    return read


def failed_in_stream(said: str) -> Unfit:
    return Unfit(_FAILED, said, chars=_QUOTED_CHARS)


def number_at(record: Mapping[str, Any], *names: str) -> int:
    """The sum of those that are there, and can be."""
    told = (record.get(name) for name in names)
    return sum(value for value in told if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _COUNT_MAX)
