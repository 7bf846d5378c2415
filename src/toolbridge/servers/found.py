"""Where other clients keep their servers, so that nobody has to write an `mcp.json` twice.

A table of places, checked in the month that it names, and two questions over it: where are the servers of this client,
and which file is meant when none is named. Files are looked at, never changed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from toolbridge.errors import ConfigError, nearest

CHECKED = "November 2026"
"""When the places below were last compared with the clients' own documentation."""

VARIABLE = "TOOLBRIDGE_CONFIG"
"""The environment variable that names the file to use when none is given."""

DEFAULTS = ("mcp.json", ".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json")
"""Where a project keeps its servers, in the order in which they are looked for in the working directory. Not further
up: a file in `/tmp` is anybody's, and a configuration starts programs."""

_CODE = "{config}/Code/User"
_STORAGE = f"{_CODE}/globalStorage"


@dataclass(frozen=True, slots=True)
class Client:
    """A program that has servers, and its files: in a project, and of the user."""

    title: str
    project: tuple[str, ...] = ()
    user: tuple[str, ...] = ()
    """`~` is the home directory, `{config}` where the system keeps the settings of programs, `{NAME}` a variable of the
    environment, without which the place is skipped."""
    word: str = ""
    """What a file without `mcp` in its name must hold to count: the servers are only a part of such settings."""


CLIENTS: dict[str, Client] = {
    "claude": Client(
        "Claude Desktop",
        user=(
            "{config}/Claude/claude_desktop_config.json",
            "{LOCALAPPDATA}/Packages/Claude_pzs8sxrjxfjjc/LocalCache/Roaming/Claude/claude_desktop_config.json",
        ),
    ),
    "claude-code": Client(
        "Claude Code",
        project=(".mcp.json",),
        user=("{CLAUDE_CONFIG_DIR}/.claude.json", "~/.claude.json"),
        word="mcpServers",
    ),
    "cursor": Client("Cursor", project=(".cursor/mcp.json",), user=("~/.cursor/mcp.json",)),
    "vscode": Client(
        "VS Code",
        project=(".vscode/mcp.json", ".vscode/settings.json"),
        user=(f"{_CODE}/mcp.json", "{config}/Code - Insiders/User/mcp.json", f"{_CODE}/settings.json"),
        word='"mcp"',
    ),
    "windsurf": Client("Windsurf", user=("~/.codeium/windsurf/mcp_config.json", "~/.codeium/mcp_config.json")),
    "codex": Client(
        "Codex",
        project=(".codex/config.toml",),
        user=("{CODEX_HOME}/config.toml", "~/.codex/config.toml"),
        word="mcp_servers",
    ),
    "gemini": Client(
        "Gemini CLI", project=(".gemini/settings.json",), user=("~/.gemini/settings.json",), word="mcpServers"
    ),
    "cline": Client(
        "Cline",
        user=(
            "~/.cline/data/settings/cline_mcp_settings.json",
            f"{_STORAGE}/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        ),
    ),
    "roo": Client(
        "Roo Code",
        project=(".roo/mcp.json",),
        user=(f"{_STORAGE}/rooveterinaryinc.roo-cline/settings/mcp_settings.json",),
    ),
    "kiro": Client("Kiro", project=(".kiro/settings/mcp.json",), user=("~/.kiro/settings/mcp.json",)),
    "copilot": Client(
        "Copilot CLI", project=(".mcp.json",), user=("{COPILOT_HOME}/mcp-config.json", "~/.copilot/mcp-config.json")
    ),
    "lmstudio": Client("LM Studio", user=("~/.lmstudio/mcp.json",)),
    "zed": Client(
        "Zed",
        project=(".zed/settings.json",),
        user=("~/.config/zed/settings.json", "{APPDATA}/Zed/settings.json"),
        word="context_servers",
    ),
}

ALIASES = {"claude-desktop": "claude", "claudecode": "claude-code", "code": "vscode", "vs-code": "vscode",
           "gemini-cli": "gemini", "codex-cli": "codex", "roo-code": "roo", "copilot-cli": "copilot"}  # fmt: skip


def find_config(
    client: str,
    *,
    directory: Path | None = None,
    environment: Mapping[str, str] | None = None,
    platform: str = sys.platform,
) -> list[Path]:
    """The files in which a client keeps its servers: the nearest project's first, then the user's. At least one.

    Projects are looked for from the working directory up to the root of its repository.
    """
    name = client.strip().lower().replace("_", "-").replace(" ", "-")
    name = ALIASES.get(name, name)
    if name not in CLIENTS:
        meant = nearest(name, CLIENTS)
        hint = f"did you mean {meant}? " if meant else ""
        raise ConfigError([f"there is no client {client!r}; {hint}(known: {', '.join(CLIENTS)})"])
    known = CLIENTS[name]
    environment = os.environ if environment is None else environment
    places = [*_project_places(known, directory or Path.cwd()), *_user_places(known, environment, platform)]
    places = list(dict.fromkeys(places))
    found = [each for each in places if _holds(each, known.word)]
    if not found:
        looked = ", ".join(f"{each}{' (names no servers)' if os.path.isfile(each) else ''}" for each in places)
        raise ConfigError([f"{known.title} has no servers here; looked in {looked}"])
    return found


def default_config(*, directory: Path | None = None, environment: Mapping[str, str] | None = None) -> Path:
    """The file that is meant when none is named: what `TOOLBRIDGE_CONFIG` says, or the project's."""
    environment = os.environ if environment is None else environment
    directory = directory or Path.cwd()
    if named := environment.get(VARIABLE):
        path = directory / Path(named).expanduser()
        if os.path.isfile(path):
            return path
        raise ConfigError([f"{path}: no such file; {VARIABLE} names it"])
    for each in DEFAULTS:
        if os.path.isfile(directory / each):
            return directory / each
    raise ConfigError(
        [
            f"there is no configuration in {directory}; looked for {', '.join(DEFAULTS)}. Name a file with --config, "
            f"set {VARIABLE}, or take another client's servers with --from {'|'.join(list(CLIENTS)[:4])}"
        ]
    )


def project_root(path: Path) -> Path:
    """The directory that a file's relative paths are meant for: its own, or the project's where it is in `.vscode`."""
    directory = path.absolute().parent
    for client in CLIENTS.values():
        for each in client.project:
            inner = Path(each).parent
            if inner.parts and directory.parts[-len(inner.parts) :] == inner.parts:
                return directory.parents[len(inner.parts) - 1]
    return directory


def workspace(path: Path, environment: Mapping[str, str]) -> Path:
    """What `${workspaceFolder}` means in a file: its project; for a file of the user, the working directory."""
    path = path.absolute()
    for client in CLIENTS.values():
        if path in _user_places(client, environment, sys.platform):
            return Path.cwd()
    return project_root(path)


def _project_places(client: Client, directory: Path) -> Iterator[Path]:
    """The client's files in the directory; if there are none, in those above it, as far as the repository goes."""
    directory = directory.absolute()
    above = [directory, *directory.parents]
    root = next((index for index, each in enumerate(above) if (each / ".git").exists()), 0)
    for each in above[: root + 1]:
        files = [each / name for name in client.project]
        if any(_holds(file, client.word) for file in files):
            yield from files
            return
    yield from (directory / name for name in client.project)


def _user_places(client: Client, environment: Mapping[str, str], platform: str) -> list[Path]:
    windows = platform.startswith("win")
    home = environment.get("USERPROFILE" if windows else "HOME") or os.path.expanduser("~")
    if windows:
        config = environment.get("APPDATA") or f"{home}/AppData/Roaming"
    elif platform == "darwin":
        config = f"{home}/Library/Application Support"
    else:
        config = environment.get("XDG_CONFIG_HOME") or f"{home}/.config"
    values = {**environment, "config": config}
    found: list[Path] = []
    for each in client.user:
        text = home + each[1:] if each.startswith("~") else each
        if text.startswith("{"):
            name, _, rest = text[1:].partition("}")
            if not values.get(name):
                continue
            text = values[name] + rest
        found.append(Path(text))
    return found


def _holds(path: Path, word: str) -> bool:
    """Whether the file is there and speaks of servers at all."""
    if not os.path.isfile(path):
        return False
    if not word or "mcp" in path.name:
        return True
    try:
        data = path.read_bytes()
    except OSError:
        return True  # reading it will say why it cannot be read
    return word.encode() in data or word.encode("utf-16-le") in data or word.encode("utf-16-be") in data
