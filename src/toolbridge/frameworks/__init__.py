"""Doors to agent frameworks: a hub's tools as LangChain, the OpenAI Agents SDK and Pydantic AI have theirs.

Each module needs its framework and says so; nothing of toolbridge imports them. The framework writes the request and
runs the loop; the schemas that it writes, the names, the way back, the check of the arguments and the servers are ours.
"""
