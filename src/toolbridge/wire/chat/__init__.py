"""Chat Completions, as OpenAI has it and as everyone else speaks it.

`replies` reads what models answer, `messages` writes and reads transcripts, `parts` is what stands in a content list,
`reasoning` what models thought and where each vendor keeps it, and `vendors` the table of who differs in what.
"""
