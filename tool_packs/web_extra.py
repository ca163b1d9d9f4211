"""The packages of the extra `web`, imported in one place so that their absence is told in one way."""

from catalog import BadPack

try:
    import certifi
    import httpcore
    import httpx
    import idna
except ImportError as error:
    raise BadPack(
        f"the packs web and agents need {error.name}, which is not installed; run: pip install 'turnscript[web]'"
    ) from None

__all__ = ["certifi", "httpcore", "httpx", "idna"]
