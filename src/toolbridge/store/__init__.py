"""Conversations kept: SQLite for one machine, Redis for many processes."""
