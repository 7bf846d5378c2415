"""Makes the recordings of this folder again: `python -m tests.streams.record`, from the root of the checkout.

What is served is written by us (tests/support/wire), after the providers' documents and reports of their imitators. The
plain cases go over HTTP to the vendors' own SDKs first, and are only kept where these read them to the end, or raise
just the error that was served. The dialects are kept as they stand: the SDKs break on most of them.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.support.wire.clients import CLIENTS, HELLO
from tests.support.wire.converse import lines
from tests.support.wire.recording import STREAMS, Recording
from tests.support.wire.recordings import ALL, PLAIN
from tests.support.wire.scenario import SCENARIOS
from tests.support.wire_servers import WireServer

BY_NAME = {scenario.name: scenario for scenario in SCENARIOS}


def heard(server: WireServer, recording: Recording) -> bytes:
    """The bytes that an SDK was sent, after it read them. Of Bedrock: the events that it made of them, one a line."""
    scenario = BY_NAME[recording.case]
    server.says(scenario, every=11)
    events: list[object] = []
    try:
        events.extend(CLIENTS[recording.provider].stream(server.url, HELLO[recording.provider]))
    except Exception as failure:
        if not scenario.error or (scenario.error not in str(failure) and recording.provider != "mistral"):
            raise
    if recording.provider != "bedrock":
        return server.sent[-1]
    failed = [{"modelStreamErrorException": {"message": scenario.error}}] if scenario.error else []
    return lines([*events, *failed])


def main() -> int:
    before = {path for path in STREAMS.glob("*/*") if path.is_file() and path.parent.name != "__pycache__"}
    with WireServer() as server:
        for recording in PLAIN:
            if heard(server, recording) != recording.body:
                print(f"{recording.name}: the SDK was sent something else", file=sys.stderr)
                return 1
    written: set[Path] = set()
    for recording in ALL:
        for path, content in recording.files().items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            written.add(path)
    for path in before - written:
        path.unlink()
    print(f"{len(ALL)} recordings, {len(before - written)} files removed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
