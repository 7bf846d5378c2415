"""Servers: configuration, connections, the hub; real servers and servers that misbehave."""
