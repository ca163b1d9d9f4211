"""What the tools of the shell pack give back."""

from pydantic import BaseModel, ConfigDict, Field

from tool_packs.background import Background
from tool_packs.commands import Kind
from tool_packs.reads import FileRead


class Output(BaseModel):
    model_config = ConfigDict(frozen=True)

    exit_code: int = Field(description="0 is success; 124 when it took too long; 128 + n when signal n ended it")
    output: str = Field(description="stdout and stderr as they came; stdout alone with stderr: 'apart'")
    stderr: str = Field(description="empty unless asked for with stderr: 'apart'")
    duration_seconds: float
    timed_out: bool
    signal: str | None
    kind: Kind
    output_bytes: int
    handle: str | None = Field(description="where the whole output is kept, when it was cut here")
    lossy: bool = Field(description="bytes that are no UTF-8 were replaced")
    notice: str | None
    reads: list[FileRead] = Field(description="which lines of the output are lines of a file, when the command only prints files")


class Process(BaseModel):
    model_config = ConfigDict(frozen=True)

    id: str
    pid: int
    command: str
    cwd: str
    running: bool
    exit_code: int | None
    signal: str | None
    seconds: float
    unread_bytes: int

    @classmethod
    def of(cls, background: Background) -> "Process":
        return cls(
            id=background.id, pid=background.pid, command=background.command, cwd=background.cwd,
            running=background.ended is None, exit_code=background.exit_code, signal=background.signal,
            seconds=round(background.seconds, 3), unread_bytes=background.ring.held,
        )  # fmt: skip


class News(BaseModel):
    model_config = ConfigDict(frozen=True)

    id: str
    running: bool
    output: str = Field(description="what it printed since the last poll")
    dropped_bytes: int = Field(description="printed before this output and lost, because nobody polled")
    exit_code: int | None
    signal: str | None
    seconds: float
    handle: str | None = Field(description="all it printed, once it has ended")
    lossy: bool

    @classmethod
    def of(cls, background: Background) -> "News":
        """Takes what is unread."""
        text, dropped = background.read()
        return cls(
            id=background.id, running=background.ended is None, output=text, dropped_bytes=dropped,
            exit_code=background.exit_code, signal=background.signal, seconds=round(background.seconds, 3),
            handle=background.handle, lossy=background.lossy,
        )  # fmt: skip
