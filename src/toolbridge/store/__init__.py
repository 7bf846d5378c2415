"""Conversations kept: SQLite for one machine, Redis for many processes. `store` says what both promise."""

from toolbridge.store.store import Kept, KeptPause, Store, Summary, open_store

__all__ = ["Kept", "KeptPause", "Store", "Summary", "open_store"]
