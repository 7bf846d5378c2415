"""Paging: every page of a listing, whatever a server does with its cursors."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

MOST_PAGES = 1_000
MOST_ENTRIES = 20_000
"""Where a listing is cut: no server has so many, and a cursor that never ends would list for ever."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Pages(Generic[T]):
    """All entries; `problem` says why the listing was cut, where it was."""

    entries: list[T]
    problem: str | None = None


async def all_pages(fetch: Callable[[str | None], Awaitable[tuple[Sequence[T], str | None]]]) -> Pages[T]:
    """The entries of every page. `fetch` takes a cursor and gives a page and the next cursor; an empty one is none."""
    entries: list[T] = []
    seen: set[str] = set()
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        page, cursor = await fetch(cursor)
        entries += page
        if not cursor:
            return Pages(entries)
        if cursor in seen:
            return Pages(entries, "its listing comes back to a page it already sent; what was listed until then counts")
        if len(entries) > MOST_ENTRIES:
            return Pages(entries[:MOST_ENTRIES], f"it lists more than {MOST_ENTRIES:,} entries; the rest is left out")
        seen.add(cursor)
    return Pages(entries, f"its listing has more than {MOST_PAGES:,} pages; the rest is left out")
