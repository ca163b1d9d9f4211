"""From settings to packs that come with a connection: [mcp.NAME] and [openapi.NAME]. The bridges themselves are modules of
`tool_packs`, loaded when one is asked for.
"""

from catalog import load_bridge
from harness.config import Settings
from harness.offers import PackToCome


def bridges_from(settings: Settings) -> list[PackToCome]:
    """BadPack says what is wrong with a bridge's settings, or which extra is missing."""
    return [
        load_bridge(one.kind)(
            one.name, one.settings, root=settings.tools.root, folder=settings.tools.folder, environment=settings.environment
        )
        for one in settings.bridges
    ]
