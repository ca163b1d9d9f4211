"""What a tool and a pack are: authoring, checking arguments, declarations, search.

`from catalog import tool, ToolProblem` is all that most packs need.
"""

from catalog.effects import Effects, overlap
from catalog.host import Host, MemoryResults, Results
from catalog.pack import Pack, pack
from catalog.problem import BadPack, ToolProblem
from catalog.schema import tool_from_schema
from catalog.tool import Facts, Tool, facts_of, tool

__all__ = [
    "BadPack",
    "Effects",
    "Facts",
    "Host",
    "MemoryResults",
    "Pack",
    "Results",
    "Tool",
    "ToolProblem",
    "facts_of",
    "overlap",
    "pack",
    "tool",
    "tool_from_schema",
]
