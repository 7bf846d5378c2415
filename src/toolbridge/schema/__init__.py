"""The schema kernel: any JSON Schema in, a provider's dialect out, and the way back for the arguments.

`keywords` says where subschemas are; `repair` makes a node sound; `refs` finds what a reference means; `merge`
intersects; `rules` and `dialects` say what a provider does with each keyword; `convert` is the walk; `restore` holds
the way back; `check` asks the server's own schema. Nothing here knows a provider's wire form or does any I/O.
"""
