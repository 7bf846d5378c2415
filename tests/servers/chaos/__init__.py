"""Servers that misbehave, as programs of their own: each is started as a process, and its arguments say how it lies."""
