"""The stage before the start: a script's text is outlined in the worker, and judged here against the tools on offer.

A certain finding stops the script before its first effect; doubtful ones are notices. The same outline foretells its calls.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog import Offer
from catalog.forecast import Foreseen, report
from catalog.scan import Finding, scan
from sandbox import Failed, Positions, Sandbox, ScriptError, Start

if TYPE_CHECKING:
    from sandbox import LocalSandbox

_WORDS = ("tools", "help", "recall", "relax")  # without any of them there is nothing to judge


@dataclass(frozen=True, slots=True)
class Checked:
    certain: tuple[Finding, ...] = ()
    doubtful: tuple[Finding, ...] = ()
    foreseen: tuple[Foreseen, ...] = ()

    @property
    def refusal(self) -> Failed | None:
        """How the script ends that is not started: the first finding, and the others with it."""
        if not self.certain:
            return None
        first, *others = (_error(finding) for finding in self.certain)
        return Failed(
            ScriptError(
                first.name, first.message, first.line, first.column, first.excerpt, hint=first.hint, others=tuple(others),
                origin="sandbox",
            )
        )  # fmt: skip


async def check_script(box: "Sandbox | LocalSandbox", start: Start, offer: Offer) -> Checked:
    if not any(word in start.source for word in _WORDS):
        return Checked()
    uses = await box.outline(start.source, start.limits)
    place = Positions(start.source).mark
    found = scan(uses, offer.tools, place, refused=offer.refused)
    return Checked(
        certain=tuple(finding for finding in found if finding.severity == "certain"),
        doubtful=tuple(finding for finding in found if finding.severity == "doubtful"),
        foreseen=tuple(report(uses, offer.tools, place)),
    )


def _error(finding: Finding) -> ScriptError:
    return ScriptError(
        finding.code, finding.message, finding.line, finding.column, finding.excerpt, hint=finding.hint, origin="sandbox"
    )
