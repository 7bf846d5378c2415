"""Models: what is sent, what comes back, and what goes wrong on the way."""
