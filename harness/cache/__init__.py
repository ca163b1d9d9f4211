"""Results that need not be computed again: when they still hold, and where they are kept. The guard `cache` decides."""

from harness.cache.disk import DiskCache
from harness.cache.freshness import Freshness
from harness.cache.keys import cache_key, canonical
from harness.cache.memory import MemoryCache
from harness.cache.records import Kept, State

__all__ = ["DiskCache", "Freshness", "Kept", "MemoryCache", "State", "cache_key", "canonical"]
