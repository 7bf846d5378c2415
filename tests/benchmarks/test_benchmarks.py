"""The frame of the benchmarks: a peer that fails is shown and the rest goes on; pages are made from the JSON alone."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.docs.pages import ROOT

BENCHMARKS = ROOT / "benchmarks"
RESULTS = ROOT / "docs" / "benchmarks"
pytestmark = pytest.mark.skipif(not BENCHMARKS.is_dir(), reason="the benchmarks are in the repository only")
AREAS = ("legality", "conversion", "imports", "streams", "servers", "tokens", "loop")


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Modules of the benchmarks, which are programs and no package."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    yield lambda name: __import__(name)
    for name in set(sys.modules) - before:
        if str(BENCHMARKS) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


@pytest.fixture
def environments(loaded: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = loaded("environments")
    monkeypatch.setattr(module, "CACHE", tmp_path)
    return module


def test_a_peer_that_cannot_be_installed_gives_its_error(environments: Any, tmp_path: Path) -> None:
    environments.REQUIREMENTS["broken"] = (str(tmp_path / "nowhere"),)
    errors = environments.install(["broken", environments.OURS])
    assert set(errors) == {"broken"}
    assert "nowhere" in errors["broken"]
    with pytest.raises(environments.Failed, match=r"not installed: .*nowhere"):
        environments.Worker("broken", "stream.py", error=errors["broken"])


def test_a_worker_that_dies_or_does_not_answer_says_why(environments: Any) -> None:
    worker = environments.Worker("", "stream.py", BENCHMARKS / "peers" / "stream" / "nobody.py")
    with pytest.raises(environments.Failed, match=r"FileNotFoundError.*nobody\.py"):
        worker.ask("versions")
    worker = environments.Worker("", "stream.py", BENCHMARKS / "peers" / "stream" / "concatenation.py")
    with pytest.raises(environments.Failed, match="more than 0 s"):
        worker.ask("versions", 0)


def test_a_peer_that_fails_is_shown_and_the_rest_is_measured(tmp_path: Path) -> None:
    """`concatenation` runs here; for `nobody` there is neither an environment nor an adapter."""
    program = (
        "import sys; import environments, streams; from pathlib import Path\n"
        "environments.CACHE = Path(sys.argv.pop())\n"
        "environments.REQUIREMENTS['nobody'] = (str(environments.CACHE / 'nowhere'),)\n"
        "streams.PEERS = ('nobody', streams.PLAIN)\n"
        "streams.large = lambda full: {'1 call, 100,000 characters': streams.one_long(1_000)}\n"
        "streams.main(streams.AREA)\n"
    )
    command = [sys.executable, "-c", program, "--to", str(tmp_path), str(tmp_path / "cache")]
    done = subprocess.run(command, cwd=BENCHMARKS, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "streams.json").read_text(encoding="utf-8"))
    assert [each["peer"] for each in result["rows"]] == ["toolbridge", "concatenation"]
    assert set(result["about"]["errors"]) == {"nobody"}
    page = (tmp_path / "streams.md").read_text(encoding="utf-8")
    assert "- nobody **failed**: not installed: " in page
    assert "| concatenation" in page


def test_every_stream_that_is_compared_is_assembled_rightly_by_us(loaded: Any) -> None:
    streams, ours = loaded("streams"), {}
    source = (BENCHMARKS / "peers" / "stream" / "toolbridge.py").read_text(encoding="utf-8")
    exec(source, ours)
    for name, case in streams.CASES.items():
        calls = [list(each) for each in ours["assemble"](case[0])]
        assert streams.verdict(case, {"calls": calls}) == "right", name


@pytest.mark.parametrize("area", AREAS)
def test_a_page_is_what_its_json_says(loaded: Any, area: str) -> None:
    module, report = loaded(area), loaded("report")
    result = json.loads((RESULTS / f"{area}.json").read_text(encoding="utf-8"))
    again = f"run `python benchmarks/{area}.py --from-json` and look at what changed"
    assert (RESULTS / f"{area}.md").read_text(encoding="utf-8") == report.page_of(module.AREA, result), again
    assert [vars(each) for each in module.AREA.summary(result)] == result["summary"], again


def test_the_summary_is_of_the_areas_as_they_are(loaded: Any) -> None:
    run = loaded("run")
    summary = json.loads((RESULTS / "summary.json").read_text(encoding="utf-8"))
    again = "run `python benchmarks/run.py --index` and look at what changed"
    lines = [{**line, "area": each["area"]} for each in run.read(RESULTS) for line in each["summary"]]
    assert summary["lines"] == lines, again
    assert (RESULTS / "index.md").read_text(encoding="utf-8") == run.page(summary), again


def proof() -> Any:
    spec = importlib.util.spec_from_file_location("make_proof", ROOT / "docs" / "make_proof.py")
    assert spec is not None
    assert spec.loader is not None
    make_proof = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make_proof)
    return make_proof


def test_the_proof_of_the_readme_is_what_was_measured() -> None:
    make_proof = proof()
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    if make_proof.BEGIN not in text:
        pytest.skip("README has no place for the proof")
    assert text == make_proof.readme(text), "run `python docs/make_proof.py` and look at what changed"


def test_the_proof_names_everyone_who_is_ahead_of_us() -> None:
    summary = json.loads((RESULTS / "summary.json").read_text(encoding="utf-8"))
    table = proof().table()
    lost = [each for each in summary["lines"] if proof().marked(each["ahead"]).startswith("**")]
    assert lost
    for each in lost:
        target = each["what"].partition(": ")[2]
        row = next(line for line in table.splitlines() if each["what"].removesuffix(f": {target}") in line)
        assert f"**{each['ahead']}**" in row, each["what"]
        assert target in row


@pytest.mark.parametrize("area", ["legality", "conversion", "tokens"])
def test_every_target_that_was_compared_is_in_the_summary(loaded: Any, area: str) -> None:
    result = json.loads((RESULTS / f"{area}.json").read_text(encoding="utf-8"))
    shown = {each["what"].partition(": ")[2] for each in result["summary"]}
    assert shown == set(loaded("converters").TITLES.values())


def test_who_has_as_much_as_we_is_even_and_not_behind(loaded: Any) -> None:
    ahead = loaded("report").ahead
    assert ahead(5, [("a", 6), ("b", 7)]) == "toolbridge"
    assert ahead(5, [("a", 5), ("b", 7), ("c", 5)]) == "even with a, c"
    assert ahead(5, [("a", 5), ("b", 4)]) == "b"
    assert ahead(5, [("a", 5), ("b", 4)], most=True) == "even with a"
    assert ahead(5, [("a", 6)], most=True) == "a"


def test_a_tool_that_was_not_judged_is_not_right(loaded: Any) -> None:
    fine = {"illegal": "", "narrowed": False, "wrong": False, "wider": False}
    verdicts = [fine, {"illegal": "", "unjudged": True}, {"illegal": "x", "unjudged": True}, {"raised": True}]
    answer = [[{"name": "f"}, ""]] * 3 + [[None, "ValueError: no"]]
    found = loaded("legality").counted(verdicts, answer)
    assert {key: found[key] for key in ("legal", "unjudged", "kept", "right", "illegal", "raised")} == {
        "legal": 2, "unjudged": 1, "kept": 1, "right": 1, "illegal": 1, "raised": 1,
    }  # fmt: skip


def test_what_is_not_mcp_is_set_aside_and_counted(loaded: Any, tmp_path: Path) -> None:
    good = {"name": "f", "inputSchema": {"type": "object"}}
    file = tmp_path / "tools.json"
    file.write_text(json.dumps({"tools": [good, {"name": "g", "parameters": {}}]}), encoding="utf-8")
    options = loaded("report").Options(False, True, (), file, None)
    tools, aside, source = loaded("converters").tool_list(options, 10)
    assert [each["name"] for each in tools] == ["f"]
    assert [each["name"] for each in aside] == ["g"]
    assert source.startswith("1 tools of")
    told = loaded("legality").aside({"not_mcp": {"count": 1, "raised": {"toolbridge": 0, "a": 1}}})
    assert "1 tool that was drawn" in told[0]
    assert "toolbridge converts it; a raise" in told[0]


def test_a_run_without_the_tools_and_the_judge_overwrites_nothing(
    loaded: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = loaded("report")
    there = tmp_path / "there"
    there.touch()
    monkeypatch.setattr(report, "CORPUS", there)
    monkeypatch.setattr(report, "JUDGE", there)
    assert report.destination() == RESULTS
    assert report.destination(narrowed=True) == report.OWN_RESULTS
    monkeypatch.setattr(report, "JUDGE", tmp_path / "nowhere")
    assert report.destination() == report.OWN_RESULTS


def test_rules_that_stand_in_for_the_judge_know_good_from_bad(loaded: Any) -> None:
    violations = loaded("plain_rules").violations
    good: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}}}
    closed = {**good, "required": ["a"], "additionalProperties": False}

    def chat(parameters: Any, **more: Any) -> dict[str, Any]:
        return {"type": "function", "function": {"name": "f", "parameters": parameters, **more}}

    assert violations("openai-chat", chat(good)) == []
    assert violations("openai-chat", chat(closed, strict=True)) == []
    assert violations("openai-chat", chat(good, strict=True)) != []
    assert violations("openai-chat", chat(good, name="a.b")) != []
    assert violations("openai-chat", chat({**good, "properties": {"a": {"$ref": "#/$defs/x"}}})) != []
    assert violations("anthropic", {"name": "f", "input_schema": {**good, "anyOf": [good]}}) != []
    assert (
        violations(
            "gemini", {"name": "f", "parametersJsonSchema": {"type": "object", "properties": {"a": {"type": "array"}}}}
        )
        != []
    )
