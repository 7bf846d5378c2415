"""The pictures of the terminal, docs/pictures/*.svg: real commands are run, and what they print is drawn.

    python docs/make_pictures.py                  all of them; chat needs `make demo` to have been run
    python docs/make_pictures.py lint matrix      some of them
    python docs/make_pictures.py --to DIRECTORY   elsewhere

Each command runs on a terminal of its own in a directory made for it, with nothing of the user's. The picture is text
in the reader's own monospaced font, each run stretched to its columns, so that any font fits; it loads nothing.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
PATIENCE_SECONDS = 120

# ── what is shown ────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Picture:
    """Commands one after the other, and what is typed where they ask."""

    title: str
    commands: Sequence[str]
    columns: int = 96
    answers: Mapping[str, str] = field(default_factory=dict[str, str])
    most_lines: int | None = None
    """Of each command's output; the rest is an ellipsis."""
    codes: Sequence[int] = (0,)


SERVERS = """\
{"mcpServers": {
  "garden": {"command": "python", "args": ["garden_server.py"]},
  "time":   {"command": "python", "args": ["-m", "mcp_server_time"]}
}}
"""
"""The `mcp.json` of the pictures: the garden, and a server that somebody else wrote."""

PICTURES = {
    "chat": Picture(
        "An mcp.json with two servers; their tools; a question, the call that the model asks for, and its answer",
        [
            "cat mcp.json",
            "toolbridge tools",
            'toolbridge chat "Water bed B2 with 5 litres." --model local/smollm2',
        ],
        answers={"Run it?": "y\n"},
    ),
    "lint": Picture(
        "The linter's findings on a small server", ["toolbridge lint tools.json"], most_lines=34, codes=(0, 1)
    ),
    "matrix": Picture("What eight providers make of eight tools", ["toolbridge matrix tools.json"], most_lines=30),
    "tokens": Picture("What eight tools cost in every request", ["toolbridge tokens tools.json"], most_lines=34),
}


def show(picture: Picture) -> list[list[Cell]]:
    """The lines that a person would see, the prompts included."""
    shown: list[list[Cell]] = []
    with tempfile.TemporaryDirectory() as place:
        directory = Path(place)
        (directory / "mcp.json").write_text(SERVERS, encoding="utf-8")
        for name in ("garden_server.py", "tools.json"):
            shutil.copy(EXAMPLES / name, directory)
        for command in picture.commands:
            screen, code = run(command, directory, picture)
            if code not in picture.codes or "Traceback (most recent call last)" in screen.text():
                raise SystemExit(f"{command} ended with {code}:\n{screen.text()}")
            lines = screen.lines
            while lines and not any(cell.char.strip() for cell in lines[-1]):
                lines.pop()
            if picture.most_lines is not None and len(lines) > picture.most_lines:
                lines = [*lines[: picture.most_lines], [Cell("…", DIM)]]
            prompt = [Cell("$", Style("green", bold=True)), Cell(" "), *(Cell(each, BOLD) for each in command)]
            shown += [*([[]] if shown else []), prompt, *lines]
    return shown


def run(command: str, directory: Path, picture: Picture) -> tuple[Screen, int]:
    """Run a command on a terminal; what is on it in the end."""
    cache = os.environ.get("TOOLBRIDGE_CACHE_DIR") or str(Path.home() / ".cache" / "toolbridge")
    (directory / "cache").mkdir(exist_ok=True)
    if (Path(cache) / "models").is_dir() and not (directory / "cache" / "models").exists():
        (directory / "cache" / "models").symlink_to(Path(cache) / "models")
    main, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 60, picture.columns, 0, 0))
    process = subprocess.Popen(
        ["sh", "-c", command],
        stdin=side,
        stdout=side,
        stderr=side,
        cwd=directory,
        env={
            "PATH": f"{Path(sys.executable).parent}:{os.environ.get('PATH', os.defpath)}",
            "HOME": str(directory),
            "TOOLBRIDGE_CACHE_DIR": str(directory / "cache"),
            "TERM": "xterm-256color",
            "LC_ALL": "C.UTF-8",
        },
        start_new_session=True,
    )
    os.close(side)
    seen, waiting = b"", dict(picture.answers)
    while select.select([main], [], [], PATIENCE_SECONDS)[0]:
        try:
            data = os.read(main, 65536)
        except OSError:  # the other side is closed
            break
        if not data:
            break
        seen += data
        for question in [each for each in waiting if each.encode() in seen]:
            os.write(main, waiting.pop(question).encode())
    os.close(main)
    screen = Screen()
    screen.write(seen.decode("utf-8"))
    return screen, process.wait(PATIENCE_SECONDS)


# ── a terminal ───────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Style:
    colour: str = "text"
    bold: bool = False
    dim: bool = False


PLAIN, BOLD, DIM = Style(), Style(bold=True), Style(dim=True)
COLOURS = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "text")


@dataclass(frozen=True, slots=True)
class Cell:
    char: str
    style: Style = PLAIN


class Screen:
    """What is on a terminal after all that was written to it: lines of cells. Knows what our commands write."""

    def __init__(self) -> None:
        self.lines: list[list[Cell]] = [[]]
        self.row = self.column = 0
        self.style = PLAIN

    def write(self, text: str) -> None:
        for part in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b.|[\s\S]", text):
            if part.startswith("\x1b"):
                self._steer(part)
            elif part == "\n":
                self.row += 1
                self.lines += [[] for _ in range(self.row + 1 - len(self.lines))]
            elif part == "\r":
                self.column = 0
            elif part == "\b":
                self.column = max(0, self.column - 1)
            elif part >= " ":
                line = self.lines[self.row]
                line += [Cell(" ")] * (self.column - len(line))
                wide = unicodedata.east_asian_width(part) in "WF"
                line[self.column : self.column + 1 + wide] = [Cell(part, self.style), *([Cell("", self.style)] * wide)]
                self.column += 1 + wide

    def _steer(self, sequence: str) -> None:
        numbers = [int(each or 0) for each in re.findall(r"\d+", sequence)] or [0]
        match sequence[-1]:
            case "m":
                self._paint(numbers)
            case "K":
                del self.lines[self.row][0 if numbers == [2] else self.column :]
            case "A":
                self.row = max(0, self.row - (numbers[0] or 1))
            case "C" | "D":
                self.column += (numbers[0] or 1) * (1 if sequence[-1] == "C" else -1)
            case "J":
                del self.lines[self.row][self.column :], self.lines[self.row + 1 :]
            case "h" | "l":
                pass  # modes of the keyboard and the cursor: nothing to be seen
            case _:
                raise SystemExit(f"a sequence that is not known here: {sequence!r}")

    def _paint(self, numbers: Sequence[int]) -> None:
        for number in numbers:
            if number == 0:
                self.style = PLAIN
            elif number == 1:
                self.style = replace(self.style, bold=True)
            elif number == 2:
                self.style = replace(self.style, dim=True)
            elif 30 <= number % 60 <= 37:  # and the bright ones, from 90 on
                self.style = replace(self.style, colour=COLOURS[number % 60 - 30])

    def text(self) -> str:
        return "\n".join("".join(cell.char for cell in line) for line in self.lines)


# ── drawing ──────────────────────────────────────────────────────────────────────────────────────────────────────

WIDTH, HEIGHT, SIZE = 8.4, 19, 14
"""Of a cell, and of the letters in it."""

EDGE, BAR = 18, 36
"""Around the text, and the bar of the window over it."""

FONTS = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace"
SHADES = {"█": 1.0, "▓": 0.75, "▒": 0.5, "░": 0.25}
"""Drawn as what they are: letters of most fonts leave gaps between them."""

PALETTE = {
    "text": "#d7dce2",
    "black": "#6e7681",
    "red": "#ff8b82",
    "green": "#6cd58a",
    "yellow": "#e8c268",
    "blue": "#79b8ff",
    "magenta": "#d2a8ff",
    "cyan": "#6fd3e0",
}
"""On the window's own dark ground, so that a light page and a dark one can be around it."""


def draw(lines: Sequence[Sequence[Cell]], title: str, columns: int) -> str:
    """The lines as a window."""
    width, height = round(2 * EDGE + columns * WIDTH), BAR + len(lines) * HEIGHT + EDGE
    style = "".join(f".{name}{{fill:{value}}}" for name, value in PALETTE.items())
    body = [piece for row, line in enumerate(lines) for piece in _line(line, BAR + row * HEIGHT)]
    lights = (("#ff5f57", 20), ("#febc2e", 40), ("#28c840", 60))
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            'role="img" aria-labelledby="title">',
            f'<title id="title">{escape(title)}</title>',
            f"<style>text{{font:{SIZE}px {FONTS}}}{style}.bold{{font-weight:700}}.dim{{opacity:.62}}</style>",
            f'<rect x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="9" fill="#161b22" stroke="#3d444d"/>',
            *(f'<circle cx="{x}" cy="18" r="5.5" fill="{colour}"/>' for colour, x in lights),
            *body,
            "</svg>\n",
        ]
    )


def _line(line: Sequence[Cell], top: int) -> list[str]:
    pieces: list[str] = []
    at = 0
    for (style, shade), group in groupby(line, key=lambda cell: (cell.style, SHADES.get(cell.char))):
        cells = list(group)
        classes = " ".join([style.colour, *(["bold"] if style.bold else []), *(["dim"] if style.dim else [])])
        x, long = EDGE + at * WIDTH, len(cells) * WIDTH
        text = "".join(cell.char for cell in cells)
        if shade is not None:
            pieces.append(
                f'<rect class="{classes}" x="{x:.1f}" y="{top + 2}" width="{long:.1f}" height="{HEIGHT - 4}" '
                f'fill-opacity="{shade}"/>'
            )
        else:
            pieces += [_words(word, x, top, classes, text) for word in re.finditer(r"\S+(?: \S+)*", text)]
        at += len(cells)
    return pieces


def _words(word: re.Match[str], x: float, top: int, classes: str, text: str) -> str:
    """Words with single blanks between them: what reads an SVG may make one blank of many."""
    x += _cells(text[: word.start()]) * WIDTH
    return (
        f'<text class="{classes}" x="{x:.1f}" y="{top + 14}" textLength="{_cells(word[0]) * WIDTH:.1f}" '
        f'lengthAdjust="spacingAndGlyphs">{escape(word[0], quote=False)}</text>'
    )


def _cells(text: str) -> int:
    return sum(1 + (unicodedata.east_asian_width(each) in "WF") for each in text)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Draw what commands print.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(PICTURES)}; all by default")
    parser.add_argument("--to", type=Path, default=ROOT / "docs" / "pictures", metavar="DIRECTORY")
    given = parser.parse_args(arguments)
    json.loads(SERVERS)
    given.to.mkdir(parents=True, exist_ok=True)
    for name in given.names or PICTURES:
        picture = PICTURES[name]
        (given.to / f"{name}.svg").write_text(draw(show(picture), picture.title, picture.columns), encoding="utf-8")
        print(f"{name}.svg")


if __name__ == "__main__":
    main()
