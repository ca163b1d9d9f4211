"""What a tool and a pack are: authoring, checking arguments, declarations, search.

`from catalog import tool, ToolProblem` is all that most packs need.
"""

from catalog.effects import Effects, overlap
from catalog.host import Host, MemoryResults, Results
from catalog.load import known_packs, load_bridge, load_pack
from catalog.mended import Mended, mended
from catalog.pack import Pack, pack
from catalog.problem import BadPack, ToolProblem
from catalog.schema import tool_from_schema
from catalog.selection import Offer, Profile, choose
from catalog.tool import Facts, Tool, facts_of, tool
from catalog.toolbox import Toolbox, open_toolbox

__all__ = [
    "BadPack",
    "Effects",
    "Facts",
    "Host",
    "MemoryResults",
    "Mended",
    "Offer",
    "Pack",
    "Profile",
    "Results",
    "Tool",
    "ToolProblem",
    "Toolbox",
    "choose",
    "facts_of",
    "known_packs",
    "load_bridge",
    "load_pack",
    "mended",
    "open_toolbox",
    "overlap",
    "pack",
    "tool",
    "tool_from_schema",
]
