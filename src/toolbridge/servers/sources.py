"""Whatever `connect` takes, as specifications: a path, an address, a dict, specifications, objects of the SDK.

Between the callers of the hub and `config`, which reads what people write into files.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from toolbridge.errors import ConfigError
from toolbridge.servers.config import Inputs, read_config, read_servers
from toolbridge.servers.spec import ServerSpec


def read_source(source: Any, inputs: Inputs | None = None) -> list[ServerSpec]:
    """The servers of whatever `connect` takes."""
    if isinstance(source, ServerSpec):
        return [source]
    if isinstance(source, str) and source.lower().startswith(("http://", "https://")):
        return [_read_object(urlsplit(source).hostname or "server", source)]
    if isinstance(source, str | os.PathLike):
        return read_servers(Path(source), inputs=inputs)
    if isinstance(source, Mapping):
        if source and not all(
            isinstance(each, str | Mapping | list | bool) or each is None for each in source.values()
        ):
            return [_read_object(str(name), each) for name, each in source.items()]
        if source and all(isinstance(each, str) and "://" in each for each in source.values()):
            return [_read_object(str(name), each) for name, each in source.items()]
        return read_servers(source, inputs=inputs)
    if isinstance(source, Iterable):
        listed = list(source)
        if all(isinstance(each, ServerSpec) for each in listed):
            _refuse_doubles(listed)
            return listed
        return read_servers(listed, inputs=inputs)
    return [_read_object(str(getattr(source, "name", "") or "server"), source)]


def _read_object(name: str, value: Any) -> ServerSpec:
    """A server that is given as an object: an address, an SDK server, client, transport, or parameters to start one."""
    if isinstance(value, ServerSpec):
        return replace(value, name=name)
    if isinstance(value, str | Mapping):
        entry = {"url": value} if isinstance(value, str) else dict(value)
        return read_config({"mcpServers": {name: entry}})[0]
    if type(value).__name__ == "StdioServerParameters":
        cwd = str(value.cwd) if value.cwd is not None else None
        return ServerSpec(name, command=value.command, args=tuple(value.args), env=dict(value.env or {}), cwd=cwd)
    if value is None or isinstance(value, int | float | list | tuple):
        raise ConfigError(
            [f"server {name!r}: {type(value).__name__} is no server; give an address or an object of the SDK"]
        )
    return ServerSpec(name, "memory", server=value)


def _refuse_doubles(specs: list[ServerSpec]) -> None:
    names = [spec.name for spec in specs]
    doubles = sorted({name for name in names if names.count(name) > 1})
    if doubles:
        raise ConfigError([f"server {name!r}: the name is given twice; each server needs its own" for name in doubles])


def refuse_addresses(specs: Iterable[ServerSpec]) -> None:
    """Addresses without a scheme, which a file would not have got past the reader with."""
    wrong = [spec.name for spec in specs if spec.url and not spec.url.lower().startswith(("http://", "https://"))]
    if wrong:
        raise ConfigError([f"server {name!r}: url: expected an address such as https://host/mcp" for name in wrong])
