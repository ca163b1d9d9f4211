"""The packs we ship. A pack is a module; a tool is a typed `async def` in it."""
