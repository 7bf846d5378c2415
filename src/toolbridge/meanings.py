"""Notes in words: what a note's code and effect mean to the person who reads them.

Codes are `thing.effect`. Those that need a sentence of their own have one; the others are told by their second half.
The command line and the linter tell notes with these words.
"""

from __future__ import annotations

from toolbridge.notes import Effect

EFFECTS: dict[Effect, str] = {
    "widened": "the definition allows more than the server does; calls are checked before they are sent",
    "narrowed": "the definition allows less than the server does; some calls can no longer be made",
    "changed": "written in another form; calls are put back into the server's own form",
}

_CODES = {
    "$ref.loosened": "recursive, without the rules beside the reference",
    "$ref.unresolved": "the reference leads nowhere: any value is allowed",
    "additionalProperties.closed": "properties that the schema does not name cannot be sent",
    "additionalProperties.dropped": "undeclared properties are not refused by this provider",
    "additionalProperties.gathered": "undeclared properties are sent in one extra property",
    "additionalProperties.loosened": "undeclared properties may have any value",
    "allOf.cyclic": "a part that contains itself is left out",
    "depth.cut": "nested too deeply: below this, any value is allowed",
    "description.shortened": "cut to the length that is allowed",
    "enum.words": "listed as text and turned back into what it was",
    "fileParams.said": "a file: the description says what it has to hold",
    "key.renamed": "not a legal property name here, so spelt another way",
    "map.pairs": "a map is sent as a list of keys and values",
    "name.spelt": "not a legal tool name here, so spelt another way",
    "nothing.said": "no value is accepted; the description says so",
    "object.lifted": "nested properties are lifted to the top level",
    "object.text": "an object of any properties is sent as JSON text",
    "optional.nullable": "optional: always sent, and null means left out",
    "optional.empty": "optional and may be null: always sent, and {} means left out",
    "prefixItems.loosened": "items may stand in any order",
    "property.forbidden": "a forbidden property is not in the definition",
    "recursion.cut": "contains itself: not followed past this depth",
    "required.hoisted": "moved from the property to the object that requires it",
    "schema.missing": "no input schema: written as a tool without arguments",
    "strict.over_budget": "not strict: the request's strict budget went to others",
    "strict.unavailable": "not strict: the provider has no strict form of it",
    "tool.duplicate": "listed more than once: the first is used",
    "type.inferred": "no type is named: it is taken from the other keywords",
    "union.text": "a choice that cannot be expressed is sent as JSON text",
    "value.text": "a value of any shape is sent as JSON text",
}

_TALK = {
    "annotations.dropped": "citations and the like beside the text are not kept",
    "arguments.restarted": "an empty object stood before the arguments: left out",
    "arguments.unquoted": "the arguments were a text that holds JSON: taken out of it",
    "arguments.unread": "the arguments came in pieces that do not fit together",
    "arguments.wrapped": "no JSON object: sent as the text that it was, under one key",
    "audio.after": "a sound that the result cannot hold follows it as a message",
    "audio.described": "a sound that cannot be sent here is described in words",
    "audio.dropped": "the sound of a reply is not kept; its transcript is",
    "audio.unreadable": "a sound whose data is no base64 is described in words",
    "budget.exceeded": "what must stay is more than the budget",
    "bytes.replaced": "bytes that are no UTF-8 text are replaced",
    "call.id_made": "a call without an id was given one",
    "text.after_call": "what the model wrote behind its call",
    "call.in_text": "a call that the model wrote into its text",
    "call.left_out": "a call of a tool that is left out here",
    "call.misplaced": "a call outside of the assistant's messages is said in words",
    "call.moved": "spelt and shaped as the other provider has the tool",
    "call.nameless": "a call without a name",
    "call.split": "two whole objects in one call are two calls",
    "call.unknown": "a call that was not understood",
    "call.unreadable": "marked as a call in the text, and not readable as one",
    "character.replaced": "half of a character is replaced: no request can hold it",
    "choice.ignored": "only the first of several answers is read",
    "content.said": "a result that is no text is sent as JSON text",
    "error.said": "no place for failure here: the text says that it is one",
    "event.unknown": "an event that was not understood",
    "field.unknown": "a field that was not understood",
    "finish.unknown": "a reason for the end that is not known",
    "finish.without_calls": "said to end in calls, and has none",
    "foreign.dropped": "only the provider that made it understands it, so left out",
    "id.reused": "an id that another call has already: told apart",
    "id.spelt": "not a legal id here, so spelt another way",
    "image.after": "an image that the result cannot hold follows it as a message",
    "image.described": "an image that cannot be sent here is described in words",
    "image.unreadable": "an image whose data is no base64 is described in words",
    "link.said": "a link that cannot be sent as one is said in words",
    "message.empty": "nothing of it is left, so left out",
    "message.inserted": "put in, since the order of roles asks for it",
    "message.split": "more calls than one message may have: several messages",
    "message.unknown": "a message that was not understood",
    "messages.merged": "messages of one role in a row are one message",
    "mime.corrected": "the data is of another type than it says",
    "name.dropped": "the name of a speaker has no place here",
    "null.dropped": "a null stood for an argument that may be left out",
    "opaque.dropped": "signatures and ids of another provider, or without a place here, are left out",
    "part.misplaced": "a part that cannot stand there stands elsewhere",
    "part.unknown": "a part that was not understood",
    "prompt.blocked": "the provider did not let the prompt pass",
    "reasoning.dropped": "only the provider of the model that thought it takes it back, so left out",
    "reply.filtered": "the provider did not let the reply pass",
    "resource.after": "a file that the result cannot hold follows it as a message",
    "resource.described": "a file that cannot be sent here is described in words",
    "resource.unreadable": "a file whose data is no base64 is described in words",
    "result.cut": "too long: only a part of it is sent, which says so",
    "result.duplicate": "a second result of one call is left out",
    "result.empty": "nothing came back, and the result says so",
    "result.matched": "a result without an id: matched by the name of its tool",
    "result.missing": "no result: one is put in that says that nothing is known",
    "result.moved": "moved to the call that it answers",
    "result.orphaned": "a result of no call in this history is said in words",
    "result.unmatched": "a result that belongs to no call",
    "role.unknown": "a role that was not understood",
    "search_result.said": "a search result is said in words",
    "steps.trimmed": "the oldest steps of the newest turn are left out",
    "stream.broken_off": "the stream ended before its end",
    "stream.not_events": "no events, but something else",
    "stream.unreadable": "an event whose data is no JSON",
    "system.moved": "system text stands first here",
    "text.parsed": "a text held the value that was due",
    "turns.trimmed": "the oldest turns are left out",
    "uri.dropped": "the address of a file has no place here",
    "value.listed": "one value stood where a list was due",
    "value.written": "a number or a boolean stood where a text was due",
}
"""Of replies, calls and histories."""

_ENDINGS = {
    "said": "not enforced here; the description says it",
    "merged": "the branches are merged into one object",
    "loosened": "replaced by something that allows more",
    "dropped": "not valid as written, so left out",
    "repaired": "not valid as written, so set right",
}


def family(code: str) -> str:
    """The code, or `*.said` for the many codes that mean the same of different keywords."""
    ending = code.rpartition(".")[2]
    return code if code in _CODES or code in _TALK or ending not in _ENDINGS else f"*.{ending}"


def meaning(code: str) -> str:
    """What a note's code says, in a few words; the code itself where there are none for it."""
    return _CODES.get(code) or _TALK.get(code) or _ENDINGS.get(code.rpartition(".")[2]) or code.replace(".", " is ")
