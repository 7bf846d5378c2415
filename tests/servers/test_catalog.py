"""The catalogue on disk gives back exactly what was stored, to whom it belongs, as long as it is fresh, and fails nobody."""

from __future__ import annotations

import json
import multiprocessing
import os
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from toolbridge.approval import Approval
from toolbridge.filters import MCPToolFilter
from toolbridge.servers import catalog as module
from toolbridge.servers.catalog import KEPT_SECONDS, MAX_AGE_SECONDS, Catalog, Listing, default_directory
from toolbridge.servers.spec import Limits, OAuth, ServerSpec
from toolbridge.types import Tool, ToolHints, ToolId

posix = pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX's")

SPEC = ServerSpec("files", command=sys.executable, args=("-m", "files"), env={"ROOT": "/srv", "LEVEL": "2"})
REMOTE = ServerSpec("remote", transport="http", url="https://mcp.example.com/mcp", headers={"X-Team": "blue"})
TOOLS = (
    Tool(ToolId("files", "plain"), "Reads.", {"type": "object"}),
    Tool(
        ToolId("files", "größe/読む"),
        "Naïve — \ud800 alone, \x00, \u2028, 😀",
        {"type": "object", "properties": {"a\ud800": {"enum": [1, 1.0, True, None, 10**30, -0.0]}}, "$defs": {}},
        output_schema={"type": "object"},
        title="Größe",
        hints=ToolHints(True, False, None, True),
        meta={"ui": {"visibility": ["model"]}},
        icons=({"src": "https://example.com/i.png", "sizes": ["any"]},),
    ),
    Tool(ToolId("files", "(entry 2)"), "", {}, problem="entry 2 has no name"),
    Tool(ToolId("files", "odd"), "", True),  # type: ignore[arg-type]  # a schema may be anything that JSON can say
)


def listing(**changes: Any) -> Listing:
    usual = Listing(TOOLS, "files-server", "1.2.3", "2026-07-28", "Read first.", listed_at=time.time())
    return replace(usual, **changes)


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    return Catalog(tmp_path / "cache" / "toolbridge")


@pytest.fixture
def umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def entry(catalog: Catalog) -> Path:
    assert catalog.directory is not None
    (only,) = catalog.directory.glob("*.json")
    return only


def test_a_listing_comes_back_as_it_was_stored(catalog: Catalog) -> None:
    stored = listing(ttl=60)
    catalog.store(SPEC, stored)
    loaded = Catalog(catalog.directory).load(SPEC)
    assert loaded == stored
    assert loaded is not None
    # equal is not enough for JSON: 1, 1.0 and true are three values
    assert repr(loaded.tools) == repr(stored.tools)


def test_tools_carry_the_name_that_the_server_has_now(catalog: Catalog) -> None:
    catalog.store(SPEC, listing())
    loaded = catalog.load(replace(SPEC, name="documents"))
    assert loaded is not None
    assert [tool.id for tool in loaded.tools] == [ToolId("documents", tool.id.name) for tool in TOOLS]


def test_a_thousand_tools_come_back(catalog: Catalog) -> None:
    tools = tuple(Tool(ToolId("files", f"t{i}"), "x" * 500, {"type": "object", "n": i}) for i in range(1000))
    catalog.store(SPEC, listing(tools=tools))
    loaded = catalog.load(SPEC)
    assert loaded is not None
    assert loaded.tools == tools


def deep(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(levels):
        schema = {"items": schema}
    return schema


@pytest.mark.parametrize(
    "schema",
    [
        {"enum": [float("nan")]},
        {"enum": (1, 2)},
        {"properties": {1: {}}},
        {"default": b"bytes"},
        {"default": "\ud83d" + "\ude00"},  # two halves that JSON would join
        deep(100_000),
    ],
    ids=["nan", "tuple", "number as key", "bytes", "split pair", "abyss"],
)
def test_a_tool_that_json_would_change_is_not_kept_and_neither_is_what_was_there(catalog: Catalog, schema: Any) -> None:
    catalog.store(SPEC, listing())
    catalog.store(SPEC, listing(tools=(Tool(ToolId("files", "t"), "", schema),)))
    assert catalog.load(SPEC) is None


@pytest.mark.parametrize(
    ("age", "ttl", "fresh"),
    [
        (0, None, True),
        (MAX_AGE_SECONDS - 60, None, True),
        (MAX_AGE_SECONDS + 60, None, False),
        (0, 0, False),
        (0, -5, False),
        (50, 60, True),
        (70, 60, False),
        (MAX_AGE_SECONDS + 60, MAX_AGE_SECONDS * 2, True),
        (KEPT_SECONDS + 60, KEPT_SECONDS * 100, False),
        (-3600, None, False),
    ],
)
def test_a_listing_is_believed_for_its_time(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch, age: float, ttl: float | None, fresh: bool
) -> None:
    now = time.time()
    monkeypatch.setattr(module.time, "time", lambda: now)
    stored = listing(listed_at=now - age, ttl=ttl)
    catalog.store(SPEC, stored)
    assert catalog.load(SPEC) == (stored if fresh else None)


@pytest.mark.parametrize(
    "change",
    [
        {"command": "/bin/sh"},
        {"args": ("-m", "other")},
        {"args": ("-m files",)},
        {"env": {"ROOT": "/home"}},
        {"env": {}},
        {"inherit": "all"},
        {"cwd": "/"},
        {"protocol": "legacy"},
    ],
)
def test_another_process_has_another_listing(catalog: Catalog, change: dict[str, Any]) -> None:
    catalog.store(SPEC, listing())
    assert catalog.load(replace(SPEC, **change)) is None
    assert catalog.load(SPEC) is not None


@pytest.mark.parametrize(
    "change",
    [
        {"transport": "sse"},
        {"url": "https://mcp.example.com/mcp?team=red"},
        {"headers": {"X-Team": "red"}},
        {"headers": {"X-Team": "blue", "X-More": "1"}},
        {"oauth": OAuth()},
    ],
)
def test_another_address_or_principal_has_another_listing(catalog: Catalog, change: dict[str, Any]) -> None:
    catalog.store(REMOTE, listing())
    assert catalog.load(replace(REMOTE, **change)) is None
    assert catalog.load(REMOTE) is not None


@pytest.mark.parametrize("change", [{"client_id": "a"}, {"scopes": ("write",)}, {"grant": "client_credentials"}])
def test_another_login_has_another_listing(catalog: Catalog, change: dict[str, Any]) -> None:
    spec = replace(REMOTE, oauth=OAuth(client_id="b", scopes=("read",)))
    catalog.store(spec, listing())
    assert catalog.load(replace(spec, oauth=replace(spec.oauth, **change))) is None  # type: ignore[type-var]


def test_what_the_operator_thinks_of_a_server_does_not_change_what_it_lists(catalog: Catalog) -> None:
    catalog.store(SPEC, listing())
    other = replace(
        SPEC,
        limits=Limits(call=1),
        filter=MCPToolFilter(include=["a"]),
        approval=Approval("always"),
        trust=True,
        required=True,
        source="elsewhere.json",
        env={"LEVEL": "2", "ROOT": "/srv"},
    )
    assert catalog.load(other) is not None


def test_an_edited_script_and_an_upgraded_program_are_listed_anew(catalog: Catalog, tmp_path: Path) -> None:
    program, script = tmp_path / "serve", tmp_path / "server.py"
    for path in (program, script):
        path.write_text("one")
        path.chmod(0o755)
    by_path = ServerSpec("s", command="serve", args=("server.py",), cwd=str(tmp_path), env={"PATH": str(tmp_path)})
    for edited in (program, script):
        catalog.store(by_path, listing())
        assert catalog.load(by_path) is not None
        edited.write_text("longer")
        assert catalog.load(by_path) is None
        catalog.store(by_path, listing())
        os.utime(edited, (1, 1))
        assert catalog.load(by_path) is None


def test_only_relative_paths_make_another_server_of_another_directory(
    catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = replace(SPEC, args=("server.py",))
    for directory in ("here", "there"):
        (tmp_path / directory).mkdir()
        (tmp_path / directory / "server.py").touch()
    monkeypatch.chdir(tmp_path / "here")
    catalog.store(SPEC, listing())
    catalog.store(script, listing())
    assert catalog.load(script) is not None
    monkeypatch.chdir(tmp_path / "there")
    assert catalog.load(SPEC) is not None
    assert catalog.load(script) is None


def test_servers_in_memory_and_with_headers_of_the_moment_are_never_kept(catalog: Catalog) -> None:
    memory = ServerSpec("m", transport="memory", server=object())
    moment = replace(REMOTE, headers_from=lambda server: {})
    for spec in (memory, moment):
        catalog.store(spec, listing())
        assert catalog.load(spec) is None
    assert catalog.directory is not None
    assert not catalog.directory.exists()


@pytest.mark.parametrize("secret", ["hunter2-hunter2", 'quo"te\\d', "schlüssel-ß", "tab\tbed"])
@pytest.mark.parametrize("place", ["description", "schema", "instructions", "nested"])
def test_a_listing_that_shows_a_secret_is_not_kept(catalog: Catalog, secret: str, place: str) -> None:
    spec = replace(SPEC, secrets=frozenset({"", "another", secret}))
    texts = {"description": "", "schema": "", "instructions": "fine", "nested": ""}
    texts[place] = f"use {json.dumps({'token': secret}) if place == 'nested' else secret} here"
    tool = Tool(ToolId("files", "t"), texts["description"] + texts["nested"], {"properties": {texts["schema"]: {}}})
    catalog.store(spec, listing())
    assert catalog.load(spec) is not None
    catalog.store(spec, listing(tools=(tool,), instructions=texts["instructions"]))
    assert catalog.load(spec) is None
    assert catalog.directory is not None
    assert list(catalog.directory.glob("*.json")) == []


def test_no_secret_of_a_specification_is_in_the_cache_and_its_digest_needs_the_key(tmp_path: Path) -> None:
    spec = replace(SPEC, env={"TOKEN": "s3cret-s3cret"}, args=("--key=arg-s3cret",))
    names: list[str] = []
    for directory in (tmp_path / "a", tmp_path / "b"):
        Catalog(directory).store(spec, listing())
        names.append(entry(Catalog(directory)).name)
        for path in directory.iterdir():
            assert b"s3cret" not in path.read_bytes() + path.name.encode()
    assert names[0] != names[1]


GOOD = {
    "version": 2, "listed_at": 0, "ttl": None, "server_name": None, "server_version": None, "protocol": None,
    "instructions": None, "tools": [{"name": "t", "description": "", "input": {}}],
}  # fmt: skip


def damaged() -> Iterator[tuple[str, bytes]]:
    yield from {"empty": b"", "half": b'{"version":2,"tools":[{"na', "binary": b"\xff\xfe\x00", "null": b"null",
                "list": b"[]", "text": b'"x"', "abyss": b"[" * 200_000}.items()  # fmt: skip
    for key in GOOD:
        yield f"no {key}", json.dumps({k: v for k, v in GOOD.items() if k != key}).encode()
        yield f"{key} is foreign", json.dumps({**GOOD, key: {"x": [1]}}).encode()
    for number in (1, 3, "2"):
        yield f"version {number!r}", json.dumps({**GOOD, "version": number}).encode()
    yield "time is true", json.dumps({**GOOD, "listed_at": True}).encode()
    tools: dict[str, Any] = {
        "null": None, "no name": {"description": "", "input": {}}, "name": {"name": 1, "description": "", "input": {}},
        "no schema": {"name": "t", "description": ""},
        **{key: {"name": "t", "description": "", "input": {}, key: 7} for key in ("output", "title", "hints", "meta", "icons", "problem", "unread")},
        "hints of three": {"name": "t", "description": "", "input": {}, "hints": [None] * 3},
        "hints of words": {"name": "t", "description": "", "input": {}, "hints": ["yes"] * 4},
    }  # fmt: skip
    for name, tool in tools.items():
        yield f"tool: {name}", json.dumps({**GOOD, "tools": [tool]}).encode()


@pytest.mark.parametrize("content", [pytest.param(content, id=name) for name, content in damaged()])
def test_a_damaged_or_foreign_file_is_as_if_absent_and_is_replaced(
    catalog: Catalog, content: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module.time, "time", lambda: 0.0)
    catalog.store(SPEC, listing(listed_at=0))
    path = entry(catalog)
    path.write_bytes(json.dumps(GOOD).encode())
    assert catalog.load(SPEC) is not None
    path.write_bytes(content)
    assert catalog.load(SPEC) is None
    catalog.store(SPEC, listing(listed_at=0))
    assert catalog.load(SPEC) == listing(listed_at=0)


def test_a_directory_in_the_place_of_a_file_is_as_if_absent(catalog: Catalog) -> None:
    catalog.store(SPEC, listing())
    path = entry(catalog)
    path.unlink()
    path.mkdir()
    assert catalog.load(SPEC) is None
    catalog.store(SPEC, listing())
    catalog.forget(SPEC)


@pytest.mark.parametrize("key", [b"", b"short", b"x" * 100])
def test_a_damaged_key_is_made_anew(catalog: Catalog, key: bytes) -> None:
    catalog.store(SPEC, listing())
    assert catalog.directory is not None
    (catalog.directory / "key").write_bytes(key)
    other = Catalog(catalog.directory)
    assert other.load(SPEC) is None
    stored = listing()
    other.store(SPEC, stored)
    assert Catalog(catalog.directory).load(SPEC) == stored


def test_a_place_where_nothing_can_be_written_is_an_empty_cache(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    for directory in (tmp_path / "file", tmp_path / "file" / "below", Path("/proc/none"), Path("a\0b")):
        unwritable = Catalog(directory)
        unwritable.store(SPEC, listing())
        assert unwritable.load(SPEC) is None
        unwritable.forget(SPEC)


@posix
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_directory_is_an_empty_cache(catalog: Catalog) -> None:
    catalog.store(REMOTE, listing())
    assert catalog.directory is not None
    catalog.directory.chmod(0o500)
    try:
        catalog.store(SPEC, listing())
        assert catalog.load(SPEC) is None
        assert catalog.load(REMOTE) is not None
    finally:
        catalog.directory.chmod(0o700)


def test_a_user_without_a_home_has_an_empty_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", no_home)
    monkeypatch.delenv("TOOLBRIDGE_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    homeless = Catalog()
    homeless.store(SPEC, listing())
    assert (homeless.directory, homeless.load(SPEC)) == (None, None)


@pytest.mark.parametrize(
    ("platform", "environment", "place"),
    [
        ("linux", {"TOOLBRIDGE_CACHE_DIR": "/c"}, "/c"),
        ("linux", {"TOOLBRIDGE_CACHE_DIR": "", "XDG_CACHE_HOME": "/x"}, "/x/toolbridge"),
        ("linux", {"XDG_CACHE_HOME": "relative"}, "/home/u/.cache/toolbridge"),
        ("linux", {}, "/home/u/.cache/toolbridge"),
        ("darwin", {"XDG_CACHE_HOME": "/x"}, "/home/u/Library/Caches/toolbridge"),
        ("win32", {"LOCALAPPDATA": "/l"}, "/l/toolbridge/Cache"),
        ("win32", {}, "/home/u/AppData/Local/toolbridge/Cache"),
    ],
)
def test_the_cache_is_where_the_system_keeps_caches(
    monkeypatch: pytest.MonkeyPatch, platform: str, environment: dict[str, str], place: str
) -> None:
    monkeypatch.setattr(module.sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: Path("/home/u"))
    assert default_directory(environment) == Path(place)


@posix
@pytest.mark.usefixtures("umask")
def test_only_the_owner_may_look_whatever_the_umask_is(catalog: Catalog, tmp_path: Path) -> None:
    catalog.store(SPEC, listing())
    assert catalog.directory is not None
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in catalog.directory.iterdir()}
    assert set(modes.values()) == {0o600}
    assert {"key", "pruned", entry(catalog).name} == set(modes)
    for directory in (catalog.directory, catalog.directory.parent):
        assert stat.S_IMODE(directory.stat().st_mode) == 0o700


@posix
def test_a_directory_that_others_may_write_to_is_not_believed(catalog: Catalog) -> None:
    catalog.store(SPEC, listing())
    assert catalog.directory is not None
    catalog.directory.chmod(0o777)
    planted = Catalog(catalog.directory)
    assert planted.load(SPEC) is None
    assert stat.S_IMODE(catalog.directory.stat().st_mode) == 0o777  # it may be anybody's: it is not ours to change


def test_forget_drops_one_server_only(catalog: Catalog) -> None:
    for spec in (SPEC, REMOTE):
        catalog.store(spec, listing())
    catalog.forget(SPEC)
    assert catalog.load(SPEC) is None
    assert catalog.load(REMOTE) is not None
    catalog.forget(SPEC)


def test_what_nobody_wrote_for_long_is_pruned_once_a_day(catalog: Catalog) -> None:
    catalog.store(SPEC, listing())
    assert catalog.directory is not None
    now = time.time()
    old, new, part, foreign = (catalog.directory / name for name in ("a.json", "b.json", "c.json.x.part", "notes.txt"))
    for path, age in ((old, KEPT_SECONDS + 60), (new, KEPT_SECONDS - 60), (part, 7200), (foreign, KEPT_SECONDS * 2)):
        path.write_text("")
        os.utime(path, (now - age, now - age))
    catalog.store(SPEC, listing())
    assert all(path.exists() for path in (old, new, part, foreign))  # it was done a moment ago
    os.utime(catalog.directory / "pruned", (now - 90_000, now - 90_000))
    catalog.store(SPEC, listing())
    assert [path.exists() for path in (old, new, part, foreign)] == [False, True, False, True]


def _write_often(directory: Path, letter: str) -> None:
    tools = tuple(Tool(ToolId("files", f"{letter}{i}"), letter * 2000, {}) for i in range(50))
    for _ in range(40):
        Catalog(directory).store(SPEC, listing(tools=tools))


def test_several_processes_write_and_nobody_sees_half_a_file(tmp_path: Path) -> None:
    directory = tmp_path / "shared"
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_write_often, args=(directory, letter)) for letter in "abc"]
    for writer in writers:
        writer.start()
    seen: set[str] = set()
    reader = Catalog(directory)
    deadline = time.monotonic() + 60
    while any(writer.is_alive() for writer in writers) and time.monotonic() < deadline:
        loaded = reader.load(SPEC)
        if loaded is None:
            assert not seen  # once there, always there
        else:
            assert len(loaded.tools) == 50
            (letter,) = {tool.id.name[0] for tool in loaded.tools}
            seen.add(letter)
    for writer in writers:
        writer.join(30)
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    assert seen
    assert len(list(directory.glob("*.json"))) == 1  # one key, so one name
    assert list(directory.glob("*.part")) == []


def test_two_that_come_first_take_one_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = tmp_path / "fresh"
    create = module.create_private

    def beaten(path: Path, content: bytes) -> None:
        create(path, b"o" * 32)  # another process was faster
        create(path, content)

    monkeypatch.setattr(module, "create_private", beaten)
    Catalog(directory).store(SPEC, listing())
    assert (directory / "key").read_bytes() == b"o" * 32
    assert Catalog(directory).load(SPEC) is not None


def test_a_file_system_without_links_still_keeps_a_cache(catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise PermissionError("no links here")

    monkeypatch.setattr(module.os, "link", refuse)
    catalog.store(SPEC, listing())
    assert Catalog(catalog.directory).load(SPEC) is not None


def test_thirty_listings_load_in_a_moment_and_import_no_sdk(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {f"p{i}": {"type": "string", "description": "d" * 60} for i in range(8)}}
    tools = tuple(Tool(ToolId("s", f"tool_{i}"), "Does a thing. " * 10, schema) for i in range(20))
    specs = [replace(SPEC, name=f"s{i}", args=(str(i),)) for i in range(30)]
    for spec in specs:
        Catalog(tmp_path / "c").store(spec, listing(tools=tools))
    catalog, best = Catalog(tmp_path / "c"), 1.0
    for _ in range(5):
        start = time.perf_counter()
        assert all(catalog.load(spec) for spec in specs)
        best = min(best, time.perf_counter() - start)
    assert best < 0.08  # a tenth of that on an idle machine
    code = "import sys, toolbridge.servers.catalog; print([m for m in sys.modules if m.split('.')[0] in ('mcp', 'httpx2', 'pydantic', 'asyncio')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"


def test_a_file_of_data_among_the_arguments_may_change(catalog: Catalog, tmp_path: Path) -> None:
    data, script = tmp_path / "notes.db", tmp_path / "server.py"
    spec = replace(SPEC, args=(str(script), "--db-path", str(data)))
    script.touch()
    catalog.store(spec, listing())
    data.write_bytes(b"a row")
    assert catalog.load(spec) is not None
    script.write_text("# another version", encoding="utf-8")
    assert catalog.load(spec) is None
