"""Streams: what models send, in whatever pieces it comes, folded into messages and calls. Knows no provider."""
