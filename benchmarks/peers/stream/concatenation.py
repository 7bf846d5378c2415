"""The loop that many write themselves: pieces by index, joined once, `json.loads` at the end."""

import json

PACKAGES = ()
WAY = "a dict of lists by index, joined once, `json.loads`: the least that anyone must do"


def received(chunks):
    return chunks


def assemble(chunks):
    calls = {}
    for each in chunks:
        for choice in each["choices"]:
            for delta in choice["delta"].get("tool_calls") or ():
                call = calls.setdefault(delta["index"], {"pieces": []})
                function = delta.get("function") or {}
                if function.get("name"):
                    call["name"] = function["name"]
                if function.get("arguments"):
                    call["pieces"].append(function["arguments"])
    return [(call["name"], json.loads("".join(call["pieces"]))) for call in calls.values()]
