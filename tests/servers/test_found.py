"""Finding configurations: where each client keeps its servers, and which file is meant when none is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from toolbridge.errors import ConfigError
from toolbridge.servers.config import read_config
from toolbridge.servers.found import ALIASES, CLIENTS, DEFAULTS, default_config, find_config

SERVERS = '{"mcpServers": {"a": {"command": "x"}}}'
SECTION = {
    "vscode": '{"mcp": {"servers": {"a": {"command": "x"}}}}',
    "codex": '[mcp_servers.a]\ncommand = "x"\n',
    "zed": '{"context_servers": {"a": {"command": "x"}}}',
}
USER_PLACES = {
    ("claude", "linux"): ".config/Claude/claude_desktop_config.json",
    ("claude", "darwin"): "Library/Application Support/Claude/claude_desktop_config.json",
    ("claude", "win32"): "AppData/Roaming/Claude/claude_desktop_config.json",
    ("claude-code", "linux"): ".claude.json",
    ("cursor", "darwin"): ".cursor/mcp.json",
    ("cursor", "win32"): ".cursor/mcp.json",
    ("vscode", "linux"): ".config/Code/User/mcp.json",
    ("vscode", "darwin"): "Library/Application Support/Code/User/mcp.json",
    ("vscode", "win32"): "AppData/Roaming/Code/User/mcp.json",
    ("windsurf", "linux"): ".codeium/windsurf/mcp_config.json",
    ("codex", "linux"): ".codex/config.toml",
    ("gemini", "linux"): ".gemini/settings.json",
    ("cline", "linux"): ".cline/data/settings/cline_mcp_settings.json",
    ("roo", "linux"): ".config/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
    ("kiro", "linux"): ".kiro/settings/mcp.json",
    ("copilot", "linux"): ".copilot/mcp-config.json",
    ("lmstudio", "linux"): ".lmstudio/mcp.json",
    ("zed", "darwin"): ".config/zed/settings.json",
}


def write(path: Path, text: str = SERVERS) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def find(client: str, home: Path, project: Path, platform: str = "linux", **environment: str) -> list[Path]:
    values = {"HOME": str(home), "USERPROFILE": str(home), **environment}
    return find_config(client, directory=project, environment=values, platform=platform)


@pytest.mark.parametrize(("client", "platform"), USER_PLACES)
def test_a_users_file_is_found_where_the_client_keeps_it(client: str, platform: str, home: Path, project: Path) -> None:
    file = write(home / USER_PLACES[client, platform], SECTION.get(client, SERVERS))
    assert find(client, home, project, platform) == [file]
    assert [each.name for each in read_config(file)] == ["a"]


def test_every_client_is_tested() -> None:
    assert {client for client, _ in USER_PLACES} == set(CLIENTS)
    assert set(ALIASES.values()) <= set(CLIENTS)


@pytest.mark.parametrize(
    ("client", "inner"), [(name, each) for name, client in CLIENTS.items() for each in client.project]
)
def test_a_projects_file_comes_before_the_users(client: str, inner: str, home: Path, project: Path) -> None:
    text = SECTION.get(client, SERVERS)
    file = write(project / inner, text)
    place = next(place for place in USER_PLACES if place[0] == client)
    users = write(home / USER_PLACES[place], text)
    assert find(client, home, project, place[1]) == [file, users]


def test_projects_are_looked_for_up_to_the_root_of_the_repository(home: Path, project: Path) -> None:
    deep = project / "a" / "b"
    deep.mkdir(parents=True)
    file = write(project / ".cursor" / "mcp.json")
    with pytest.raises(ConfigError):
        find("cursor", home, deep)
    (project / "a" / ".git").mkdir()
    with pytest.raises(ConfigError):
        find("cursor", home, deep)
    (project / "a" / ".git").rmdir()
    (project / ".git").mkdir()
    assert find("cursor", home, deep) == [file]
    nearer = write(deep / ".cursor" / "mcp.json")
    assert find("cursor", home, deep) == [nearer]


def test_places_named_by_the_environment_are_known(home: Path, project: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "elsewhere" / "config.toml", SECTION["codex"])
    assert find("codex", home, project, CODEX_HOME=str(file.parent)) == [file]
    file = write(tmp_path / "xdg" / "Claude" / "claude_desktop_config.json")
    assert find("claude", home, project, XDG_CONFIG_HOME=str(tmp_path / "xdg")) == [file]


def test_settings_without_servers_do_not_count_and_the_error_names_every_place(home: Path, project: Path) -> None:
    settings = write(home / ".gemini" / "settings.json", '{"theme": "dark"}')
    with pytest.raises(ConfigError) as caught:
        find("gemini", home, project)
    assert str(caught.value) == (
        f"Gemini CLI has no servers here; looked in {project}/.gemini/settings.json, {settings} (names no servers)"
    )


@pytest.mark.parametrize("alias", ["Claude Desktop", "claude_desktop", "CLAUDE", " claude "])
def test_a_client_is_known_by_its_usual_names(alias: str, home: Path, project: Path) -> None:
    file = write(home / ".config/Claude/claude_desktop_config.json")
    assert find(alias, home, project) == [file]


def test_an_unknown_client_is_told_with_the_nearest_name() -> None:
    with pytest.raises(ConfigError) as caught:
        find_config("windsrf")
    assert str(caught.value).startswith(
        "there is no client 'windsrf'; did you mean windsurf? (known: claude, claude-code,"
    )


def test_a_projects_file_is_the_default_in_a_known_order(project: Path) -> None:
    for name in reversed(DEFAULTS):
        file = write(project / name)
        assert default_config(directory=project, environment={}) == file


def test_the_variable_goes_before_the_project(project: Path, tmp_path: Path) -> None:
    write(project / "mcp.json")
    file = write(tmp_path / "mine.json")
    assert default_config(directory=project, environment={"TOOLBRIDGE_CONFIG": str(file)}) == file
    assert default_config(directory=tmp_path, environment={"TOOLBRIDGE_CONFIG": "mine.json"}) == file
    with pytest.raises(ConfigError) as caught:
        default_config(directory=project, environment={"TOOLBRIDGE_CONFIG": "/no/such.json"})
    assert str(caught.value) == "/no/such.json: no such file; TOOLBRIDGE_CONFIG names it"


def test_no_file_above_the_working_directory_is_taken(project: Path) -> None:
    write(project / "mcp.json")
    (project / "sub").mkdir()
    with pytest.raises(ConfigError) as caught:
        default_config(directory=project / "sub", environment={})
    assert str(caught.value) == (
        f"there is no configuration in {project}/sub; looked for mcp.json, .mcp.json, .cursor/mcp.json, .vscode/mcp.json. "
        "Name a file with --config, set TOOLBRIDGE_CONFIG, or take another client's servers with "
        "--from claude|claude-code|cursor|vscode"
    )


def test_the_working_directory_and_our_environment_are_the_defaults(
    project: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    monkeypatch.delenv("TOOLBRIDGE_CONFIG", raising=False)
    file = write(project / ".cursor" / "mcp.json")
    assert default_config() == file
    assert find_config("cursor")[0] == file


def test_reading_a_configuration_loads_nothing_heavy() -> None:
    import json
    import subprocess
    import sys

    program = (
        "import sys, json\n"
        "from toolbridge.servers import found, environment\n"
        "from toolbridge.servers.config import read_config\n"
        "read_config({'mcpServers': {'a': {'command': 'npx', 'args': ['x'], 'env': {'K': 'hush-hush'}}}})\n"
        "print(json.dumps(sorted(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    loaded: list[Any] = json.loads(done.stdout)
    heavy = {
        "mcp",
        "httpx2",
        "httpx",
        "anyio",
        "asyncio",
        "pydantic",
        "subprocess",
        "shutil",
        "difflib",
        "tomllib",
        "shlex",
    }
    assert heavy & set(loaded) == set()
