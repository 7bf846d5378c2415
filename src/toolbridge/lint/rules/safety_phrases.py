"""Phrases by which a text gives orders to a model instead of describing a tool: tables, and the search in them.

Patterns are over lower case; a space stands for whatever is between two words, `WORD` for any word. A row is tried only
where one of its anchors occurs, which is a search for a substring: most tools cost no regular expression at all.
Rows under one meaning are said in one finding. What real tools say in good faith ("call `list_repos` first", "never
tell the user a schedule is missing") is tested to pass.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Final

from toolbridge.lint.confusables import folded

NEAR: Final = 200
"""Characters before and behind a phrase that belong to it."""

MOST_TRIED: Final = 2_000
"""Places in one text where a phrase is tried."""

_GAP: Final = r"[\W_]{1,8}"
_WORD: Final = r"[^\W_]{1,30}"

_USER: Final = r"(?:the |your |this |any )?(?:users?|humans?|people|persons?|anyone|anybody|operators?|customers?)"
_NOT: Final = (
    r"(?:do not|don t|dont|never|must not|mustn t|should not|shouldn t|may not|cannot|can t|avoid|refrain from)"
)
_CALL: Final = r"(?:us(?:e|ing)|call(?:ing|ed)?|invok(?:e|ing|ed)|run(?:ning)?|execut(?:e|ing|ed)|trigger(?:ing|ed)?)"
_PASS: Final = (
    r"(?:pass(?:ing)?|includ(?:e|ing)|put(?:ting)?|send(?:ing)?|append(?:ing)?|attach(?:ing)?|provid(?:e|ing)"
    r"|past(?:e|ing)"
    r"|supply(?:ing)?|plac(?:e|ing)|insert(?:ing)?|copy(?:ing)?|embed(?:ding)?|upload(?:ing)?|forward(?:ing)?"
    r"|writ(?:e|ing)"
    r"|encod(?:e|ing)|submit(?:ting)?|transmit(?:ting)?|leak(?:ing)?|exfiltrat(?:e|ing)|report(?:ing)?"
    r"|post(?:ing)?|add(?:ing)?)"
)
_READ: Final = (
    r"(?:read(?:ing)?|open(?:ing)?|cat|load(?:ing)?|fetch(?:ing)?|get(?:ting)?|access(?:ing)?|collect(?:ing)?"
    r"|retriev(?:e|ing)"
    r"|extract(?:ing)?|grab(?:bing)?|find(?:ing)?|locat(?:e|ing)|dump(?:ing)?|list(?:ing)?|contents? of|scan(?:ning)?)"
)
_PLACE: Final = (
    r"(?:\.ssh\b|id_rsa|id_ed25519|id_ecdsa|authorized_keys|/etc/passwd|/etc/shadow|\.aws/|\.netrc|\.npmrc"
    r"|\.pypirc|\.pgpass"
    r"|\.kube/config|\.docker/config|\.gnupg|\.env\b|\.bash_history|\.zsh_history|mcp\.json|mcp_config"
    r"|claude_desktop_config"
    r"|\.cursor/|\.git-credentials|\.config/gcloud|wallet\.dat|login data|key(?:chain|ring)s?\b|seed[\W_]phrase"
    r"|(?:browser|session)[\W_](?:cookies|history|passwords)|environment[\W_]variables|private[\W_](?:ssh[\W_])?key"
    r"|ssh[\W_](?:private[\W_])?keys?\b)"
)
_EARLIER: Final = (
    r"(?:previous|prior|earlier|preceding|above|existing|original|former|foregoing|system|developer"
    r"|safety|initial|other)"
)
_ORDERS: Final = (
    r"(?:instructions?|prompts?|directions?|directives?|guidelines?|commands?|guardrails?|policies|orders|constraints"
    r"|system messages?|restrictions)"
)


@dataclass(frozen=True)
class Phrase:
    """One row: what the words do, the substrings without which they cannot be there, and their pattern."""

    meaning: str
    anchors: tuple[tuple[str, ...], ...]
    """Of each of these, one must be there."""
    pattern: str
    before: str = ""
    """What must stand within a few words before it."""
    after: str = ""
    """What must stand within a few words after it."""

    @cached_property
    def compiled(self) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
        return _compiled(self.pattern), _compiled(self.before), _compiled(self.after)

    def search(self, text: str) -> tuple[int, int] | None:
        """Where it is in a text. Its surroundings are looked at apart, so that the cost stays linear."""
        pattern, before, after = self.compiled
        for match in islice(pattern.finditer(text), MOST_TRIED):
            first = before.search(text, max(0, match.start() - NEAR), match.start())
            last = after.search(text, match.end(), match.end() + NEAR)
            if first is not None and last is not None:
                return first.start() if self.before else match.start(), last.end()
        return None


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern.replace("WORD", _WORD).replace(" ", _GAP))


@dataclass(frozen=True, slots=True)
class Match:
    """What was found, and where."""

    meaning: str
    start: int
    end: int


_RUSSIAN: Final = folded("(?:игнорируй(?:те)?|забудь(?:те)?) (?:все )?(?:предыдущие|прежние) (?:инструкции|указания)")
"""Folded as texts are, which makes Latin letters of some."""

_PASSES: Final = (
    "pass", "includ", "put", "send", "append", "attach", "provid", "past", "supply", "plac", "insert", "copy",
    "embed", "upload",
    "forward", "writ", "encod", "submit", "transmit", "leak", "exfiltrat", "report", "post", "add",
)  # fmt: skip
_USERS: Final = ("user", "human", "anyone", "anybody", "people", "person", "operator", "customer")
_PLACES: Final = (
    "ssh", "id_rsa", "id_ed25519", "id_ecdsa", "authorized_keys", "/etc/passwd", "/etc/shadow", ".aws/", ".netrc",
    ".npmrc",
    ".pypirc", ".pgpass", ".kube/", ".docker/", ".gnupg", ".env", "_history", "mcp.json", "mcp_config",
    "claude_desktop",
    ".cursor", ".git-cred", "gcloud", "wallet.dat", "login data", "keychain", "keyring", "seed", "browser",
    "session", "environment",
    "private",
)  # fmt: skip
_NOTS: Final = ("not", "n't", "n’t", "don t", "dont", "never", "avoid", "refrain", "can't", "without")


OVERRIDES: Final = (
    Phrase(
        "tells the model to set its instructions aside",
        (("ignor", "disregard", "forget", "overrid", "bypass", "discard", "supersed", "neglect", "follow", "obey",
         "heed", "listen"),
         ("previous", "prior", "earlier", "preceding", "above", "existing", "original", "former", "foregoing", "system",
          "developer", "safety", "initial", "other"),
         ("instruction", "prompt", "direction", "directive", "guideline", "command", "guardrail", "policies", "orders",
          "constraint", "message", "restriction")),
        rf"\b(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?|overrid(?:e|ing)|bypass(?:ing)?|discard(?:ing)?"
        rf"|supersed(?:e|ing)|neglect|{_NOT} (?:follow|obey|heed|listen to)) (?:(?:all|any|every|each|of|the|your"
        rf"|my|its|these"
        rf"|those|and|or|everything) ){{0,4}}{_EARLIER} (?:WORD ){{0,2}}{_ORDERS}\b",
    ),
    Phrase(
        "tells the model to set its instructions aside",
        (("forget", "ignore", "disregard"), ("everything", "all", "what")),
        r"\b(?:forget|ignore|disregard) (?:everything|all|what) (?:that )?(?:you|above|before|previously|i|we|was"
        r"|were) "
        r"(?:have |were |been |ve )?(?:been |told|above|before|said|learned|know|instructed|given|taught)",
    ),
    Phrase(
        "tells the model to set its instructions aside",
        (("ignora", "ignoriere", "ignore", "vergiss", "oublie", "olvida", folded("игнорир"), folded("забудь"),
          "忽略", "无视", "無視",
         "忘记", "忘れ",
          "무시"),
         ("instruc", "anweisung", "instrukt", "consigne", "istruzion", folded("инструкц"), folded("указани"),
          "指令", "指示", "提示",
          "命令",
          "지시")),
        r"(?:ignora(?:r)?|olvida) (?:todas )?(?:las )?instrucciones (?:anteriores|previas)"
        r"|(?:ignoriere|vergiss) (?:alle )?(?:WORD )?(?:vorherigen|bisherigen|vorigen|früheren) (?:anweisungen"
        r"|instruktionen)"
        r"|(?:ignore[rz]?|oublie[rz]?) (?:toutes )?(?:les )?(?:instructions|consignes) (?:précédentes|antérieures)"
        r"|ignora (?:tutte )?(?:le )?istruzioni precedenti|ignore (?:todas )?as instruções anteriores"
        rf"|{_RUSSIAN}"
        r"|(?:忽略|无视|無視|忘记)(?:所有|全部|一切)?(?:之前|以前|先前|以上|上述|前面)(?:的)?(?:所有|全部)?(?:指令|指示"
        r"|提示"
        r"|命令)"
        r"|(?:以前|前|上記|これまで)の(?:すべての)?(?:指示|命令)を(?:無視|忘れ)"
        r"|이전(?:의)?[\W_]{0,3}(?:모든[\W_]{0,3})?지시(?:를"
        r"|사항을)?[\W_]{0,3}무시",
    ),
    Phrase(
        "gives the model another role",
        (("now", "longer", "jailbreak", "mode"), ("you", "anything", "jailbreak", "mode")),
        r"\byou are now (?:in )?(?:a |an |the |my )?(?:WORD ){0,2}(?:mode|assistant|agent|ai|dan|unrestricted"
        r"|free|admin|root)\b"
        r"|\byou are no longer (?:WORD ){0,3}(?:assistant|bound|restricted|limited|subject)\b|\bdo anything now\b"
        r"|\b(?:enter|enable|activate|switch to) (?:WORD ){0,2}(?:jailbreak|developer mode|unrestricted mode)\b",
    ),
    Phrase(
        "gives the model new orders",
        (("instruction", "prompt", "override"),
         ("new", "updated", "real", "true", "actual", "secret", "hidden", "system")),
        r"\b(?:your|here are|here is|obey (?:these|the)) (?:(?:are|is|your|the) ){0,2}(?:new|updated|real|true"
        r"|actual|secret|hidden) "
        r"(?:system )?(?:instructions?|system prompt)\b|\bsystem override\b",
    ),
    Phrase(
        "imitates the marks of a chat template",
        (("<|", "[inst]", "<<sys>>", "[/inst]", "\n\nhuman:", "## system"),),
        r"<\|(?:im_start|im_end|system|user|assistant|endoftext|end_of_text|eot_id|start_header_id|end_header_id"
        r"|begin_of_text"
        r"|channel|message|start|end)\|>|\[/?inst\]|<</?sys>>|\n\nhuman: .{1,400}?\n\nassistant:|(?:^"
        r"|\n)#{2,3} system(?: prompt| message)?:?\n",
    ),
)  # fmt: skip

CONCEALMENTS: Final = (
    Phrase(
        "tells the model to keep something from the user",
        (_USERS, _NOTS, ("tell", "inform", "notify", "alert", "warn", "let")),
        rf"\b(?:{_NOT}|without) (?:(?:ever|directly|explicitly|please|to) ){{0,2}}"
        rf"(?:tell(?:ing)?|inform(?:ing)?|notify(?:ing)?|alert(?:ing)?|warn(?:ing)?|let(?:ting)?) {_USER}"
        r"(?: (?:about|of|that|know|see|regarding|as|on))?"
        r"(?: (?:(?:any|all|part) (?:of )?)?(?:this|these|it|that you|you|what you|any|anything|the (?:call|tool"
        r"|step|file|contents?|real"
        r"|instructions?|above|reason|fact|existence|transfer|copy|extra|additional))\b|\s*(?:[.;!,)\]<\n\"']|$))",
    ),
    Phrase(
        "tells the model to keep something from the user",
        ((*_USERS, "response", "answer", "reply", "output"), _NOTS,
         ("mention", "reveal", "disclos", "expos", "explain", "discuss", "acknowledg", "admit")),
        rf"\b{_NOT} (?:(?:ever|directly|explicitly|please|to) ){{0,2}}(?:mention(?:ing)?|reveal(?:ing)?"
        rf"|disclos(?:e|ing)|expos(?:e|ing)"
        rf"|explain(?:ing)?|discuss(?:ing)?|acknowledg(?:e|ing)|admit(?:ting)?) (?:any of )?(?:this|these|it|that"
        rf"|the above|what)"
        rf"(?: (?:WORD ){{0,3}}(?:to|in|with) {_USER}| (?:WORD ){{0,2}}(?:in )?(?:your |the "
        rf"|any )?(?:final )?(?:response|answer|reply|output)s?\b)",
    ),
    Phrase(
        "tells the model to keep something from the user",
        (("hide", "conceal", "keep", "without", "not", "never", "silently", "secretly", "covertly"),
         ("from", "knowledge", "noticing", "knowing", "aware", "realiz", "realis", "know", "notice", "see", "learn",
          "find", "told",
          "informed", "silently", "secretly", "covertly"),
         (*_USERS, "from", "silently", "secretly", "covertly")),
        rf"\b(?:hide|conceal|keep) (?:this|these|it|the (?:call|tool|step|fact|contents?|instructions?|transfer"
        rf"|file)|everything)"
        rf" (?:WORD ){{0,4}}from {_USER}\b|\bkeep (?:this|it|these) (?:WORD ){{0,2}}(?:secret|confidential"
        rf"|hidden) from\b"
        rf"|\bwithout (?:the |your )?(?:user|human)s? (?:s )?(?:knowledge|noticing|knowing|being aware|awareness"
        rf"|realizing|realising)\b"
        rf"|\b{_USER} (?:must|should|may|can|will) (?:not|never) (?:know|notice|see|learn|find out|be (?:told"
        rf"|informed|aware))"
        r"(?: (?:about|of|that))?(?: (?:this|it|these|anything))?\b(?![^\S\n]+\w)"
        r"|\b(?:silently|secretly|covertly) (?:send|forward|upload|includ|append|pass|exfiltrat|transmit|copy"
        r"|post)\w{0,3} (?:WORD ){0,8}(?:to|in|as|via) ",
    ),
)  # fmt: skip

EXFILTRATIONS: Final = (
    Phrase(
        "has the model read secrets and hand them over",
        (_PLACES, _PASSES),
        _PLACE,
        rf"\b(?:{_READ}|{_PASS})\b",
        rf"\b{_PASS} (?:(?:its|it|the|their|them|that|this|all|any|what|those"
        r"|both|every|each|results?|contents?|values?|output|text|data|file|files|full|whole|entire|of|you|found"
        r"|read|found|back) ){1,6}"
        r"(?:along )?(?:as|in|into|inside|to|via|through|with|within|under|using|for) ",
    ),
    Phrase(
        "has the model read secrets and hand them over",
        (_PLACES, _PASSES, ("content", "value", "text", "copy", "dump", "data")),
        rf"\b{_PASS} (?:(?:the|your|full|whole|entire|all|any|raw|complete|of|user|users|s|their|encoded|base64"
        rf"|exact) ){{0,5}}"
        rf"(?:contents?|values?|text|copy|dump|data) (?:of|from|in) [^\0]{{0,40}}?{_PLACE}",
    ),
    Phrase(
        "asks for the contents of a file of secrets",
        (_PLACES, ("content", "text", "dump", "copy")),
        r"\b(?:contents?|text|dump|copy) (?:of|from) (?:(?:the|your|user|users|s|file|their|local|at"
        r"|in) ){0,4}[\W_]{0,6}"
        r"(?:\.ssh/|id_rsa|id_ed25519|etc/passwd|etc/shadow|aws/credentials|(?:cursor/)?mcp\.json|claude_desktop_config"
        r"|wallet\.dat|(?:bash|zsh)_history)",
    ),
    Phrase(
        "asks for the model's own instructions",
        (("prompt", "instructions", "message"), ("your", "system"), _PASSES),
        rf"\b{_PASS} (?:(?:the|your|full|whole|entire|all|of|complete|exact|current|verbatim|own|a|copy) ){{0,5}}"
        r"(?:your (?:WORD ){0,2}(?:system )?(?:prompt|instructions|system message)|the (?:full|entire|whole"
        r"|complete|exact|original|verbatim)"
        r" system (?:prompt|message)|system (?:prompt|message) (?:verbatim|you (?:were|have)))\b",
    ),
    Phrase(
        "has the model send what it handles somewhere else",
        (("@", "://"),
         ("bcc", "cc", "copy", "forward", "send", "redirect", "post", "upload", "exfiltrate", "transmit", "leak",
          "recipient")),
        r"\b(?:bcc|cc|copy|forward|send|redirect|post|upload|exfiltrate|transmit|leak"
        r"|change the recipient) (?:WORD ){0,2}"
        r"(?:all|every|each|any|the (?:conversation|chat|user|data|results?|contents?|recipient|e?mails?|file)"
        r"|everything|(?:a )?cop(?:y|ies) of|it|them)"
        r" [^\0]{0,80}?(?:to|at|with) (?:WORD ){0,3}[\W_]{0,4}(?:https?://\w"
        r"|\w[\w.+-]{0,40}@(?!example\.)\w[\w-]{0,40}\.\w{2,})",
    ),
)  # fmt: skip

CONVERSATION: Final = (
    Phrase(
        "asks for the conversation",
        (("conversation", "chat", "messages", "message history", "thought", "dialogue"),
         ("history", "log", "transcript", "full", "whole", "entire", "complete", "all", "so far", "chain"), _PASSES),
        rf"\b{_PASS} (?:(?:the|your|our|this|with|user|users|a|copy|record|of|log|raw|exact|verbatim) ){{0,4}}"
        r"(?:(?:full|whole|entire|complete|all|verbatim|current) (?:of )?(?:the )?(?:(?:chat|conversation"
        r"|dialogue) (?:history|log|transcript|so far|context)"
        r"|conversation|dialogue|(?:previous|prior|earlier) messages|message history)"
        r"|(?:chat|conversation) (?:history|log|transcript|so far)|chain of thought)\b",
    ),
)  # fmt: skip

STEERING: Final = (
    Phrase(
        "claims to come before other tools",
        (("before", "prior"), ("tool", "function"), ("any", "all", "every", "each")),
        rf"\b(?:before|prior to) (?:{_CALL} )?(?:any|all|every|each)(?: of)?(?: the)?(?:"
        rf" other)?(?: WORD)? (?:tools?|functions?)\b",
    ),
    Phrase(
        "claims to come before other tools",
        (("always", "must", "mandatory", "required", "should", "has to", "needs to"), ("this",),
         ("first", "before", "prior", "start", "beginning", "every", "for all")),
        rf"\b(?:always|must(?: always)?|mandatory to|required to) (?:{_CALL}|be {_CALL}) this(?: (?:tool|function))?"
        r" (?:first|(?:before|prior to) (?:any|all|every|each|anything|everything|other|doing|responding"
        r"|answering|beginning|starting)"
        r"|at the (?:start|beginning)|every time|for every|for all|on every)\b"
        rf"|\bthis (?:tool|function) (?:must|should|has to|needs to)(?: always)? be {_CALL} (?:first"
        rf"|before (?:any|all|every|each|anything|everything))\b",
    ),
    Phrase(
        "claims to replace other tools",
        (("tool", "function"), ("other", "instead", "rather", "place of", "preference", "over")),
        rf"\b(?:instead of|rather than|in place of|in preference to|over)(?: {_CALL})? (?:any|all"
        rf"|every) (?:other )?(?:WORD ){{0,2}}(?:tools?|functions?)\b"
        rf"|\b{_NOT} (?:use|call|invoke) (?:any|all) other (?:WORD )?(?:tools?|functions?)\b"
        rf"|\b(?:ignore|avoid|skip) (?:all |any )(?:the )?other (?:WORD )?(?:tools|functions)\b",
    ),
)  # fmt: skip

CONSENT: Final = (
    Phrase(
        "tells the model to act without asking",
        (("confirm", "permission", "approval", "consent"), (*_NOTS, "no need", "skip", "bypass")),
        rf"\b(?:{_NOT} (?:ask|wait|request|seek|prompt|require)|without (?:asking|waiting|requesting|seeking"
        rf"|prompting|requiring)"
        rf"|no need to (?:ask|wait|request|seek)|skip(?:ping)?|bypass(?:ing)?) (?:(?:for|the|any|from|to|your"
        rf"|explicit|further|a) ){{0,3}}"
        r"(?:(?:user|human)s? (?:s )?(?:for )?(?:WORD ){0,2})?(?:confirm(?:ation)?|permission|approval|consent)\b",
    ),
)  # fmt: skip


def find(phrases: tuple[Phrase, ...], text: str) -> Iterator[Match]:
    """What a text, folded, says of these: the first of each meaning."""
    said: set[str] = set()
    seen: dict[int, bool] = {}

    def has_one(words: tuple[str, ...]) -> bool:
        """Whether one of the words is in the text: a look at substrings, once for words that several rows share."""
        if id(words) not in seen:
            seen[id(words)] = any(word in text for word in words)
        return seen[id(words)]

    for phrase in phrases:
        if phrase.meaning not in said and all(map(has_one, phrase.anchors)):
            span = phrase.search(text)
            if span is not None:
                said.add(phrase.meaning)
                yield Match(phrase.meaning, *span)
