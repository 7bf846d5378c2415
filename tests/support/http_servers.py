"""The misbehaving HTTP server as an object of the tests: start, tell, kill, start again on the same port."""

from __future__ import annotations

import json
import os
import socket
import ssl
import subprocess
import sys
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from tests.servers.chaos.tools import read_ledger
from tests.support.processes import OURS, TOKEN, wait_until

CHAOS = Path(__file__).parents[1] / "servers" / "chaos"


@dataclass
class HttpServer:
    """A process that serves. Use it with `with`; `kill` and `start` make it go and come back where it was."""

    ledger: Path
    behaviour: Mapping[str, Any] = field(default_factory=dict[str, Any])
    certificate: tuple[Path, Path] | None = None
    port: int = 0
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> HttpServer:
        certificate = [str(each) for each in self.certificate or ()]
        words = [str(self.port), str(self.ledger), *certificate, json.dumps(dict(self.behaviour))]
        self.process = subprocess.Popen(
            [sys.executable, "-S", "-E", str(CHAOS / "http_server.py"), *words],
            stdout=subprocess.PIPE,
            env={**os.environ, TOKEN: OURS},
        )
        assert self.process.stdout is not None
        with self.process.stdout as output:
            self.port = int(output.readline())
        return self

    def kill(self) -> None:
        """Ends it as `kill -9` does: open connections break."""
        if self.process is not None:
            self.process.kill()
            self.process.wait(10)
            self.process = None

    def wait_for_death(self, seconds: float = 5.0) -> None:
        assert self.process is not None
        self.process.wait(seconds)
        self.kill()

    def restart(self) -> None:
        self.kill()
        self.start()

    def __enter__(self) -> HttpServer:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.kill()

    @property
    def origin(self) -> str:
        return f"https://localhost:{self.port}" if self.certificate else f"http://127.0.0.1:{self.port}"

    def url(self, path: str = "/mcp") -> str:
        return self.origin + path

    def tell(self, **behaviour: Any) -> dict[str, Any]:
        """Changes what it does from now on; `forget=True` forgets every session."""
        request = urllib.request.Request(self.url("/control"), json.dumps(behaviour).encode(), method="POST")
        context = ssl._create_unverified_context() if self.certificate else None
        with urllib.request.urlopen(request, timeout=5, context=context) as answer:
            return json.load(answer)

    def events(self, kind: str) -> list[dict[str, Any]]:
        """What happened, by the ledger."""
        return [each for each in read_ledger(self.ledger) if each["event"] == kind]

    def requests(self, method: str) -> list[dict[str, Any]]:
        """The POST requests of a method."""
        return [each for each in self.events("request") if each["method"] == method and each["verb"] == "POST"]

    def counted(self, key: str) -> int:
        """How often a key was written: the judge of doubled writes."""
        return sum(each["key"] == key for each in self.events("count"))


def free_port() -> int:
    """A port that nobody listens on at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def answers(port: int) -> bool:
    """Whether somebody listens there."""
    with socket.socket() as probe:
        probe.settimeout(0.2)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def wait_for_port(port: int, seconds: float = 30.0) -> None:
    wait_until(lambda: answers(port), seconds, f"a server on port {port}")


@cache
def self_signed(directory: Path) -> tuple[Path, Path]:
    """A certificate for localhost that no authority signed, and its key."""
    from datetime import UTC, datetime, timedelta

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    paths = directory / "certificate.pem", directory / "key.pem"
    paths[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    form = serialization.PrivateFormat.PKCS8
    paths[1].write_bytes(key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()))
    return paths
