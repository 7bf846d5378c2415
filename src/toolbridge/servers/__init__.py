"""Servers: the left bank. An `mcp.json` becomes one live catalogue of tools, and calls reach the server they are for.

Here I/O begins. `config` reads what people have, `hub` holds the connections, `connection` is one of them, `read` makes
our values of the SDK's models. Nothing here knows a provider.
"""
