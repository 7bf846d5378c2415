"""The converters that are compared: every peer that turns MCP tools into definitions, each in a process of its own.

Three areas ask them: conversion (how fast), legality (how right) and tokens (how long). A peer that cannot be
installed or does not start is kept with its error and costs the others nothing.
"""

from __future__ import annotations

import gzip
import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import generated
from environments import CORPUS, HERE, OURS, Failed, Worker, install
from report import Options

PEERS = ("langchain", "openai-agents", "pydantic-ai", "litellm", "mcp-use", "mcp-use agent", "google-adk",
         "google-genai", "anthropic")  # fmt: skip
"""Those that offer a way from MCP tools to definitions. The OpenAI SDK offers none."""

ENVIRONMENTS = {"mcp-use agent": "mcp-use"}
"""Peers that are not called as their environment is."""

TARGETS = ("openai", "openai strict", "openai auto", "anthropic", "gemini", "gemini openapi")

TITLES = {
    "openai": "OpenAI, not strict", "openai strict": "OpenAI, strict", "openai auto": "OpenAI, strict where it can be",
    "anthropic": "Anthropic", "gemini": "Gemini, JSON Schema", "gemini openapi": "Gemini, OpenAPI schema",
}  # fmt: skip


@dataclass
class Converters:
    """Those that run, and what became of the others."""

    file: Path
    """The tools, as the workers read them."""
    texts: list[str]
    source: str
    """Which tools they are, in words."""
    aside: list[str] = field(default_factory=list[str])
    """What was drawn and is not MCP by the letter: no part of what is compared."""
    workers: dict[str, Worker] = field(default_factory=dict[str, Worker])
    targets: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    defaults: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """What a peer does when nobody says anything."""
    passed_through: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    ways: dict[str, dict[str, bool]] = field(default_factory=dict[str, dict[str, bool]])
    """Who has a way there and back of its own."""
    versions: dict[str, str] = field(default_factory=dict[str, str])
    errors: dict[str, str] = field(default_factory=dict[str, str])

    def pairs(self) -> list[tuple[str, str]]:
        """Peers and targets, by target, ours first."""
        return [(peer, target) for target in TARGETS for peer in self.workers if target in self.targets[peer]]

    def ask(self, peer: str, do: str, seconds: float = 600, **request: Any) -> Any:
        return self.workers[peer].ask(do, seconds, **request)

    def start(self, peer: str, error: str) -> None:
        try:
            worker = Worker(ENVIRONMENTS.get(peer, peer), "convert.py", adapter(peer), self.file, error=error)
            known = worker.ask("versions", 120)
        except Failed as failure:
            self.errors[peer] = str(failure)
            return
        self.workers[peer] = worker
        self.targets[peer], self.defaults[peer] = known["targets"], known["defaults"]
        self.passed_through[peer], self.ways[peer] = known["passed_through"], known["ways"]
        self.versions[peer] = ", ".join(f"{package} {number}" for package, number in known["versions"].items())


def adapter(peer: str) -> Path:
    return HERE / "peers" / "convert" / f"{peer.replace('-', '_').replace(' ', '_')}.py"


@contextmanager
def converters(options: Options, sample: int, full_sample: int) -> Iterator[Converters]:
    """All of them, over the tools that were asked for."""
    peers = [peer for peer in PEERS if options.wants(peer)]
    errors = {} if options.skip_install else install(ENVIRONMENTS.get(peer, peer) for peer in peers)
    tools, aside, source = tool_list(options, full_sample if options.full else sample)
    texts = [json.dumps(each) for each in tools]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tools.json"
        file.write_text(json.dumps(texts), encoding="utf-8")
        made = Converters(file, texts, source, [json.dumps(each) for each in aside])
        try:
            for peer in (OURS, *peers):
                made.start(peer, errors.get(ENVIRONMENTS.get(peer, peer), ""))
            if OURS in made.errors:
                raise SystemExit(f"{OURS} does not run: {made.errors[OURS]}")
            yield made
        finally:
            for worker in made.workers.values():
                worker.kill()


def tool_list(options: Options, sample: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]], str]:
    """The tools, those set aside, and what they are: yours, real ones where they are at hand, else generated ones."""
    if options.tools:
        tools, source = read_list(options.tools), "a list of your own"
    elif CORPUS.is_file():
        tools, source = read_list(CORPUS), "real MCP servers"
    else:
        tools, source = generated.tools(), "the list that `generated.py` makes"
    tools = [each for each in tools if for_models(each)]
    whole, sample = len(tools), options.sample or sample
    if sample < whole:
        tools = Random(generated.SEED).sample(tools, sample)
        source += f" (drawn from {whole:,})"
    aside = [each for each in tools if not is_mcp(each)]
    tools = [each for each in tools if is_mcp(each)]
    return tools, aside, f"{len(tools):,} tools of {source}"


def is_mcp(tool: dict[str, Any]) -> bool:
    """Whether it has what MCP's own type asks for. Every peer reads tools with that type and raises before its
    converter is asked: what they do with the rest says nothing about converters."""
    return isinstance(tool.get("name"), str) and isinstance(tool.get("inputSchema"), dict)


def for_models(tool: dict[str, Any]) -> bool:
    """Whether its server offers it to models: some are for the server's own windows, and no peer should be asked."""
    meta = tool.get("_meta") or {}
    seen_by = (meta.get("ui") or {}).get("visibility")
    return not (isinstance(seen_by, list) and "model" not in seen_by) and meta.get("openai/visibility") != "private"


def read_list(file: Path) -> list[dict[str, Any]]:
    """Tools from JSON lines of tools or of `{"tool": …}`, or from a `tools/list` answer."""
    data = file.read_bytes()
    text = (gzip.decompress(data) if file.suffix == ".gz" else data).decode("utf-8")
    try:
        document = json.loads(text)
    except ValueError:
        document = [json.loads(line) for line in text.splitlines() if line.strip()]
    if isinstance(document, dict):
        document = document.get("result", document)["tools"]
    return [each.get("tool", each) for each in document]
