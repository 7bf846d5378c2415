"""What all tests share: listings and tokens go to a place of their own, not into the caches of whoever runs them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="session")
def own_directories(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    place = tmp_path_factory.mktemp("user")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(place / "cache"))
        patch.setenv("XDG_DATA_HOME", str(place / "data"))
        yield
