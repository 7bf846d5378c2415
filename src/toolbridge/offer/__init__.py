"""Offer: which tools of a catalogue a model is shown, what they cost, and how it gets at the others."""

from __future__ import annotations

from toolbridge.offer.cost import Cost, ToolCost
from toolbridge.offer.offer import Offer

__all__ = ["Cost", "Offer", "ToolCost"]
