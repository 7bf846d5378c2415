"""The limits of a run: how long, how much, how often. Every one of them has a reason, and a way to lift it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RunLimits:
    """What one question may cost. `None`, where a limit may be that, is no limit."""

    turns: int | None = 25
    """Replies of the model. Long errands take ten to fifteen; a model that has lost its way never stops."""
    seconds: float | None = None
    """The run in all. Waiting for a person's word does not count."""
    tokens: int | None = None
    """What goes in and comes out in all turns together, as the provider counts it; estimated where it does not say."""
    parallel: int = 8
    """Calls of one reply that run at the same time. Each server has a limit of its own besides."""
    repeats: int = 3
    """The same call with the same outcome: so often the model is left to it, then it is told; two more end the run.
    A call that is repeated and comes to something new each time (polling) is never counted."""
    result_tokens: int | None = 25_000
    """What one result may cost. The rest is kept, and the model gets a tool to read on."""

    def __post_init__(self) -> None:
        for name in ("turns", "seconds", "tokens", "parallel", "repeats", "result_tokens"):
            value = getattr(self, name)
            if value is not None and value <= 0:
                raise ValueError(f"the limit {name} is {value}; it must be above 0")
