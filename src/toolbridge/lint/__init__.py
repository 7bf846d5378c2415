"""Tool quality: design rules, portability, cost and safety of the tools that a server lists.

`lint_tools` holds tools against a table of rules and gives a `LintReport`. A rule is one function and one row
(`rules/`); a report is written for people and for programs by `report/`. Nothing here does I/O: what only a live server
shows (resources, results of calls) is found by `toolbridge.examine` and comes in as `ServerFacts`.
"""
