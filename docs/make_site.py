"""Gathers the pages of the site in build/pages, with the configuration that its generator takes; `make site` builds it.

    python docs/make_site.py

The pages stay where they are, so that they read well in the repository too: here they are copied, and their links are
turned to where the site has things. `ARCHITECTURE.md` and its neighbours join them, the reference is written from the
public names (`make_reference`), and a file that a page links to becomes a page that shows it. It builds no HTML.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from os.path import relpath
from pathlib import Path, PurePosixPath

from make_reference import reference

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
BUILD = ROOT / "build"

NAVIGATION: dict[str, tuple[str, ...]] = {
    "Start": ("index.md", "getting-started.md", "troubleshooting.md"),
    "Jobs": (
        "with-openai.md", "with-anthropic.md", "with-gemini.md", "with-a-local-model.md", "approve-dangerous-calls.md",
        "many-tools.md", "pydantic-*.md", "from-*.md",
    ),
    "Guides": (
        "chat.md", "conversations.md", "servers.md", "history.md", "strict-mode.md", "lint.md", "lock.md", "tokens.md",
    ),
    "Reference": (
        "reference/*.md", "cli.md", "providers.md", "notes.md", "rules.md", "errors.md",
    ),
    "Project": (
        "architecture.md", "benchmarks/*.md", "ecosystem.md", "changelog.md", "contributing.md",
    ),
}  # fmt: skip
"""Which pages stand where. A pattern may find none; a page that nothing finds, or a name without one, is a mistake."""

JOINING = {"ARCHITECTURE.md": "architecture.md", "CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
"""Pages of the repository's root, and what the site calls them."""

HOME = ("README.md", "index.md")
"""The README is for the repository's own front; links to it lead to the site's."""

_FENCED = re.compile(r"^(`{3,})[^\n]*\n.*?^\1$", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"(\]\()([^)\s]+)(\))")
_LANGUAGES = {".py": "python", ".json": "json", ".toml": "toml", ".yml": "yaml", ".yaml": "yaml"}


class SiteError(Exception):
    """A page, a link or a name in the navigation that leads nowhere."""


@dataclass(slots=True)
class Site:
    """The pages by the place that they have in the site, and files that are no text."""

    pages: dict[str, str] = field(default_factory=dict[str, str])
    files: dict[str, Path] = field(default_factory=dict[str, Path])


def gathered() -> Site:
    """Every page with its links turned, and what pages are shown with."""
    site = Site(pages=dict(reference()))
    places = {**dict([HOME]), **JOINING}
    for file in sorted(DOCS.rglob("*")):
        place = file.relative_to(DOCS).as_posix()
        if file.suffix == ".md":
            places[f"docs/{place}"] = place
        elif file.suffix in (".svg", ".png", ".css"):
            site.files[place] = file
            places[f"docs/{place}"] = place
    waiting = [each for each in places if each.endswith(".md") and each != HOME[0]]
    while waiting:
        source = waiting.pop()
        for found in _turned(source, places, site):
            if found not in places:
                places[found] = found if found.endswith(".md") else f"files/{found}.md"
                waiting.append(found)
    for page in [each for each in places if each.endswith(".md") and each != HOME[0]]:
        site.pages[places[page]] = _page(page, places)
    return site


def _turned(source: str, places: dict[str, str], site: Site) -> Iterator[str]:
    """The files that a page links to, by their place in the repository."""
    if not source.endswith(".md"):
        site.pages[places[source]] = _shown(ROOT / source)
        return
    text = (ROOT / source).read_text(encoding="utf-8")
    for match in _LINK.finditer(_FENCED.sub("", text)):
        target = _target(source, match[2])
        if target is not None:
            yield target[0]


def _page(source: str, places: dict[str, str]) -> str:
    """A page with its links turned; what stands in its blocks of code stays."""
    text = (ROOT / source).read_text(encoding="utf-8")
    here = PurePosixPath(places[source]).parent

    def turn(match: re.Match[str]) -> str:
        target = _target(source, match[2])
        if target is None:
            return match[0]
        place, anchor = target
        return f"{match[1]}{PurePosixPath(relpath(places[place], here)).as_posix()}{anchor}{match[3]}"

    parts: list[str] = []
    end = 0
    for block in _FENCED.finditer(text):
        parts += [_LINK.sub(turn, text[end : block.start()]), block[0]]
        end = block.end()
    return "".join([*parts, _LINK.sub(turn, text[end:])])


def _target(source: str, link: str) -> tuple[str, str] | None:
    """The file in the repository that a link leads to, and the anchor; `None` where it leads elsewhere."""
    if re.match(r"[a-z]+:|#", link):
        return None
    path, mark, anchor = link.partition("#")
    file = (ROOT / source).parent.joinpath(path).resolve()
    if not file.is_file() or not file.is_relative_to(ROOT):
        raise SiteError(f"{source} links to {link}, and there is no such file")
    return file.relative_to(ROOT).as_posix(), mark + anchor


def _shown(file: Path) -> str:
    """A page that shows a file."""
    language = _LANGUAGES.get(file.suffix, "text")
    text = file.read_text(encoding="utf-8").rstrip("\n")
    return f"# {file.relative_to(ROOT).as_posix()}\n\n````{language}\n{text}\n````\n"


def navigation(site: Site) -> list[dict[str, list[dict[str, str]]]]:
    """The pages under their headings, each by its own title."""
    left = [each for each in site.pages if not each.startswith(("files/", "benchmarks/results/"))]
    found: list[dict[str, list[dict[str, str]]]] = []
    for heading, names in NAVIGATION.items():
        entries: list[dict[str, str]] = []
        for name in names:
            pages = [each for each in left if PurePosixPath(each).match(name) and each.count("/") == name.count("/")]
            if not pages and "*" not in name:
                raise SiteError(f"{name} is in the navigation, and there is no such page")
            left = [each for each in left if each not in pages]
            entries += [{title(site.pages[page], page): page} for page in pages]
        found.append({heading: entries})
    if left:
        raise SiteError(f"no heading of the navigation in docs/make_site.py takes {', '.join(sorted(left))}")
    return found


def title(text: str, page: str) -> str:
    """What a page calls itself."""
    head = re.search(r"^# (.+)$", text, re.MULTILINE)
    if head is None:
        raise SiteError(f"{page} has no title")
    return head[1].replace("`", "")


def configuration(site: Site) -> str:
    """docs/zensical.toml, with the navigation in it."""
    written = (DOCS / "zensical.toml").read_text(encoding="utf-8")
    lines = ",\n  ".join(_inline(each) for each in navigation(site))
    return written.replace("nav = []", f"nav = [\n  {lines},\n]")


def _inline(value: object) -> str:
    """TOML in one line, of mappings, lists and texts. A text of JSON is one of TOML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_inline(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def write() -> int:
    """Write it all, over whatever was there; returns how many pages there are."""
    site = gathered()
    pages = BUILD / "pages"
    shutil.rmtree(pages, ignore_errors=True)
    for place, text in site.pages.items():
        (pages / place).parent.mkdir(parents=True, exist_ok=True)
        (pages / place).write_text(text, encoding="utf-8")
    for place, file in site.files.items():
        (pages / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, pages / place)
    (BUILD / "zensical.toml").write_text(configuration(site), encoding="utf-8")
    return len(site.pages)


if __name__ == "__main__":
    print(f"{write()} pages in build/pages")
