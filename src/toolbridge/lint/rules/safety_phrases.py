"""Phrases by which a text gives orders to a model instead of describing a tool: tables, in English.

Rows under one meaning are said in one finding. What real tools say in good faith ("call `list_repos` first", "never
tell the user a schedule is missing") is tested to pass. `safety_search` says what a row is; `safety_tongues` has what
is said in other languages.
"""

from __future__ import annotations

from typing import Final

from toolbridge.lint.rules.safety_search import Phrase

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


_SET_ASIDE: Final = (
    r"(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?|abandon(?:ing)?|discard(?:ing)?|disobey(?:ing)?|neglect"
    rf"|overrid(?:e|ing)|set aside|stop (?:following|obeying)|{_NOT} (?:follow|obey|heed|comply with|listen to))"
)
_ALL: Final = r"(?:(?:all|any|every|each|of|the|these|those|whatever|and|or) ){0,4}"
_RULES: Final = (
    r"(?:instructions?|prompts?|directives?|guidelines?|commands?|guardrails?|policies|orders|constraints|rules"
    r"|restrictions|programming|safeguards|safety (?:rules|checks|training)|alignment)"
)
_STOP: Final = r"(?=\s*(?:[.;!,:)\n\"'<]|$)| (?:and|then|but|instead|now|you)\b)"
"""Where a clause ends: "ignore everything above" is an order, "everything above the threshold" is not."""
_THIS_DEED: Final = (
    r"(?:this|these|the)(?: (?:hidden|extra|additional|background|internal|following))? (?:tools?|steps?|calls?"
    r"|instructions?|actions?|requests?|transfers?|process|behaviou?r|side effect|side note|exchange)"
)

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
    ".cursor", ".git-cred", "gcloud", "wallet.dat", "login", "keychain", "keyring", "seed", "browser",
    "session", "environment",
    "private",
)  # fmt: skip
_SETS_ASIDE: Final = (
    "ignor", "disregard", "forget", "abandon", "discard", "disobey", "neglect", "overrid", "aside", "stop", "follow",
    "obey", "heed", "comply", "listen",
)  # fmt: skip
_RULED: Final = (
    "instruction", "prompt", "directive", "guideline", "command", "guardrail", "policies", "orders", "constraint",
    "rules", "restriction", "programming", "safeguard", "safety", "alignment",
)  # fmt: skip
_NOTS: Final = ("not", "n't", "n`t", "don", "never", "avoid", "refrain", "can't", "without")


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
        rf"|those|and|or|everything) ){{0,4}}{_EARLIER} (?:WORD ){{0,2}}{_ORDERS}\b"
        r"(?! (?:settings|templates?|fields?)\b)",
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
        (_SETS_ASIDE, ("your",), _RULED),
        rf"\b{_SET_ASIDE} {_ALL}your (?!own )(?:WORD ){{0,2}}?{_RULES}{_STOP}",
    ),
    Phrase(
        "tells the model to set its instructions aside",
        (_SETS_ASIDE, ("above", "earlier", "far", "before", "previously"), (*_RULED, "text", "message", "context")),
        rf"\b{_SET_ASIDE} {_ALL}(?:{_RULES}|text|messages?|context) (?:(?:that|which|you|were|was|are|have|has|been"
        r"|given|came|come|stated|received|written|provided|got) ){0,5}(?:above|earlier|so far|before(?: this"
        rf"(?: (?:point|message|text|line|one))?)?|previously){_STOP}",
    ),
    Phrase(
        "tells the model to set its instructions aside",
        (("ignor", "disregard", "forget"), ("previous", "prior", "earlier", "preceding", "above", "foregoing", "past")),
        r"\b(?:ignore|disregard|forget) (?:(?:all|any|every|the|of|your|these|those) ){0,4}(?:previous|prior|earlier"
        r"|preceding|above|foregoing) (?:rules|system messages?)\b"
        r"|\b(?:ignore|disregard|forget) (?:all|any|every|everything)(?: of)?(?: the| your)? (?:previous|prior|earlier"
        r"|preceding|above|foregoing|past) (?:messages?|context|text|turns?|content|conversations?|inputs?)\b"
        r"|\b(?:ignore|disregard) (?:previous|prior|preceding|the foregoing)(?: context)?(?=\s*(?:[.;!\n]|$))"
        r"|\b(?:ignore|disregard|forget) (?:all|everything|anything)(?: (?:that|which|you|said|written|stated|came|is"
        r"|was|read|saw|heard)){0,3} (?:(?:the )?above|previous|prior|so far|before(?: this"
        rf"(?: (?:point|message|text|line))?)?){_STOP}",
    ),
    Phrase(
        "tells the model that its instructions do not count",
        (_RULED, ("void", "obsolete", "cancel", "revoke", "supersede", "invalid", "longer", "overrid", "suspend",
                  "lifted", "apply", "disabled", "precedence", "priority")),
        r"\b(?:your|(?:all )?(?:previous|prior|earlier|above|preceding|existing|original|other)|the system) "
        rf"(?:WORD ){{0,1}}{_RULES} (?:(?:is|are|have|has|were|was|been|now|hereby|all) ){{0,4}}(?:void|obsolete"
        r"|cancell?ed|revoked|superseded|invalid|no longer (?:valid|apply|in (?:force|effect)|relevant|binding"
        r"|count)|overridden|suspended|lifted|disabled|(?:do not|don t|does not) apply)\b"
        r"|\b(?:these|this|the following)(?: (?:instructions?|rules?|text|message|description|note|orders?))? "
        r"(?:(?:must|always|will|shall) ){0,2}(?:takes?|ha(?:s|ve)) (?:precedence|priority) over (?:(?:all|any|your|the"
        rf"|every|whatever) ){{0,3}}(?:(?:previous|prior|system|other|earlier|user|users|s|user s"
        rf"|developer) ){{1,2}}{_RULES}\b",
    ),
    Phrase(
        "gives the model another role",
        (("pretend", "imagine", "act", "behave", "respond", "answer", "from", "henceforth"),
         ("restriction", "rules", "limit", "guideline", "filter", "unrestricted", "unfiltered", "jailbroken",
          "uncensored", "obey", "only")),
        r"\b(?:act|behave|respond|answer|pretend|imagine) (?:as if |as though |that |like )?(?:you (?:have|had|are"
        r"|were)|there (?:are|were)|with) (?:no|without|not bound by|free (?:of|from)) (?:any |all |your )?"
        r"(?:WORD )?(?:restrictions|rules|limits|limitations|guidelines|filters)\b"
        r"|\b(?:act|behave|respond|answer) as (?:a|an) (?:WORD )?(?:unrestricted|unfiltered|jailbroken"
        r"|uncensored) (?:ai|model|assistant|agent|llm)\b"
        r"|\b(?:from now on|henceforth) you (?:will|must|shall|are to|should) (?:(?:only|always|exclusively) )?"
        r"(?:obey|take orders from|answer to|serve|act on behalf of)\b",
    ),
    Phrase(
        "gives the model new orders",
        (("system",), ("must", "now", "shall"), ("you",)),
        r"(?:^|[\n.!>\]])\s{0,9}\[?system(?: message| prompt| notice| note)?\]?: you (?:must|are now|shall)\b",
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
        (("<|", "[inst]", "<<sys>>", "[/inst]", "human:", "##"),),
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
        r"|instructions?|above|reason|fact|existence|transfer|copy|extra|additional|arguments?|parameters?))\b"
        r"|\s*(?:[.;!,)\]<\n\"']|$))",
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
        (("hide", "conceal", "keep", "without", "not", "never", "silently", "secretly", "covertly", "quietly",
          "discreetly", "stealthily"),
         ("from", "knowledge", "noticing", "knowing", "aware", "realiz", "realis", "know", "notice", "see", "learn",
          "find", "told",
          "informed", "silently", "secretly", "covertly", "quietly", "discreetly", "stealthily"),
         (*_USERS, "from", "silently", "secretly", "covertly", "quietly", "discreetly", "stealthily")),
        rf"\b(?:hide|conceal|keep) (?:this|these|it|the (?:call|tool|step|fact|contents?|instructions?|transfer"
        rf"|file)|everything)"
        rf" (?:WORD ){{0,4}}from {_USER}\b|\bkeep (?:this|it|these) (?:WORD ){{0,2}}(?:secret|confidential"
        rf"|hidden) from\b"
        rf"|\bwithout (?:the |your )?(?:user|human)s? (?:s )?(?:knowledge|noticing|knowing|being aware|awareness"
        rf"|realizing|realising)\b"
        rf"|\b{_USER} (?:must|should|may|can|will) (?:not|never) (?:know|notice|see|learn|find out|be (?:told"
        rf"|informed|aware))"
        r"(?: (?:about|of|that))?(?: (?:this|it|these|anything))?\b(?![^\S\n]+\w)"
        r"|\b(?:silently|secretly|covertly|quietly|discreetly|stealthily) (?:send|forward|upload|includ|append|pass"
        r"|exfiltrat|transmit|copy"
        r"|post)\w{0,3} (?:WORD ){0,8}(?:to|in|as|via) ",
    ),
    Phrase(
        "tells the model to keep something from the user",
        (_USERS, _NOTS, ("show", "display", "print", "present", "visible", "report", "pass", "relay")),
        rf"\b{_NOT} (?:(?:ever|directly|explicitly|please|to) ){{0,2}}(?:show(?:ing)?|display(?:ing)?|print(?:ing)?"
        rf"|present(?:ing)?|report(?:ing)?|relay(?:ing)?|make) (?:any of |any part of )?(?:this|these|{_THIS_DEED}"
        rf"|this (?:text|note|message|part|section|description|file)) (?:visible )?to {_USER}{_STOP}",
    ),
    Phrase(
        "tells the model to keep something from the user",
        (_NOTS, ("mention", "reveal", "disclos", "expos", "acknowledg", "admit", "say", "state", "hint", "talk",
                 "refer", "reference", "confirm"),
         ("this", "these", "the", "you")),
        rf"\b{_NOT} (?:(?:ever|directly|explicitly|please|to|even) ){{0,2}}(?:mention(?:ing)?|reveal(?:ing)?"
        r"|disclos(?:e|ing)|expos(?:e|ing)|acknowledg(?:e|ing)|admit(?:ting)?|say(?:ing)?|stat(?:e|ing)|hint(?:ing)?"
        r"|talk(?:ing)? about|refer(?:ring)? to|confirm(?:ing)?) "
        r"(?:(?:that |how )?(?:you|the model|the assistant) (?:(?:have|had|just|also|first|ever|secretly) ){0,2}(?:used"
        r"|called|ran|invoked|read|sent|accessed|copied|forwarded|uploaded|did this|were told|were asked"
        r"|were instructed)\b"
        r"|(?:having |the fact that you )?(?:using|used|called|calling|read|sent) (?:this|these) (?:tools?|files?"
        r"|step)\b"
        rf"|(?:to {_USER} )?(?:the |any )?(?:existence|presence|use|usage|purpose) of {_THIS_DEED}"
        rf"|{_THIS_DEED} to {_USER}|(?:this|these) (?:instructions?|steps?|hidden WORD|side notes?){_STOP})",
    ),
    Phrase(
        "tells the model to keep something from the user",
        (_USERS, ("need", "has", "have", "must", "should", "keep", "without"),
         ("know", "told", "informed", "see", "aware", "learn", "shown", "revealed", "mentioned", "disclosed",
          "displayed", "hidden", "invisible", "secret", "concealed", "hear", "notified", "dark")),
        rf"\b{_USER} (?:do not|does not|don t|doesn t) (?:need|have) to (?:know|be (?:told|informed|aware)|see|hear"
        rf"|learn) (?:(?:about|of) )?(?:this|it|these|any of this|that you|{_THIS_DEED}){_STOP}"
        rf"|\b{_USER} (?:need not|needn t|must not|should not|must never|should never) (?:know|be (?:told|informed"
        rf"|aware|notified)|learn|find out|hear) (?:(?:about|of) )?(?:this|it|these|any of this|that you"
        rf"|{_THIS_DEED})\b"
        rf"|\b(?:this|these)(?: (?:tools?|steps?|calls?|instructions?|actions?|text|message|process|note))? (?:must"
        rf"|should"
        rf"|shall|may|can) (?:not|never) be (?:shown|revealed|mentioned|disclosed|displayed|told|visible) to {_USER}\b"
        rf"|\b(?:this|these) (?:tools?|steps?|calls?|instructions?|actions?|process) (?:is|are|must|should|has|have)"
        rf"(?: (?:to|be|remain|stay|kept|keep)){{0,3}} (?:hidden|invisible|secret|concealed|unknown) (?:from"
        rf"|to) {_USER}\b"
        rf"|\bkeep {_USER} (?:unaware|in the dark)\b|\bwithout {_USER} (?:ever )?(?:being|becoming|getting) (?:told"
        r"|informed|aware|notified|asked)\b",
    ),
    Phrase(
        "tells the model to keep something from the user",
        (("between", "yourself", "tracks", "mention", "traces", "evidence", "happened", "deny", "omit", "leave",
          "secret"),
         ("us", "yourself", "your", "no", "nothing", "having", "that", "any", "this", "all", "little")),
        r"\bkeep (?:this|it|these|that) (?:(?:just|strictly|only) )?(?:between (?:us|you and (?:me|i))|to yourself)\b"
        r"|\bour little secret\b|\bcover your tracks\b|\bmake no mention of (?:this|it|these)\b"
        r"|\b(?:act|behave|continue|respond|answer|carry on) as (?:if|though) (?:nothing (?:had |has )?happened"
        r"|(?:this|it) (?:never|had not|did not) happen(?:ed)?)\b"
        r"|\b(?:remove|erase|delete|leave out|omit|leave) (?:all |any |no )?(?:traces?|evidence|mention|signs?) of "
        rf"(?:{_THIS_DEED}|this|having)\b|\bdeny (?:having|that you|any knowledge|using|knowing)\b"
        r"|\b(?:omit|leave) (?:this|it|these)(?: WORD){0,2} (?:out of|from) (?:your |the )?(?:final )?(?:response"
        r"|answer"
        r"|reply|summary|output)\b",
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
    Phrase(
        "has the model read secrets and hand them over",
        (("keys", "tokens", "credentials", "secrets", "passwords", "cookies", "variables", "environ", "printenv"),
         _PASSES),
        r"\b(?:keys|tokens|credentials"
        r"|secrets|passwords|cookies)(?: (?:and|or|any|other|you|can|find|that|are|is|stored|found|saved|available|set"
        r"|secrets|tokens|passwords|credentials|keys)){0,5}"
        r" (?:from|in|on|of|within) (?:(?:the|your|user|users|s|this|their|any|all|local|current|host) ){0,3}"
        r"(?:environment|env|system|machine|computer|file ?system|disk|home (?:directory|folder)|keychain|browser"
        r"|shell|process|config(?:uration)? files?|conversation|other (?:tools|servers))\b"
        r"|\bos\.environ\b|\bprocess\.env\b(?!\.)|\bprintenv\b|/proc/self/environ",
        rf"\b(?:{_READ}|gather(?:ing)?|search(?:ing)? for|harvest(?:ing)?|copy(?:ing)?|tak(?:e|ing)|use|run|{_PASS})\b",
        rf"\b{_PASS} (?:(?:its|it|the|their|them|that|this|all|any|what|those|both|every|each|results?|contents?"
        rf"|values?"
        r"|output|text|data|full|whole|entire|of|you|found|back) ){1,6}(?:along )?(?:as|in|into|inside|to|via|through"
        r"|with|within|under) ",
    ),
    Phrase(
        "has the model read secrets and hand them over",
        (("file", "document"), ("password", "secret", "credential", "key", "token"), _PASSES),
        r"\b(?:files?|documents?) (?:that |which )?(?:contain(?:s|ing)?|hold(?:s|ing)?|with) (?:(?:any|all|the|user"
        r"|users"
        r"|s|private|api|saved) ){0,3}(?:passwords?|secrets?|credentials?|keys|tokens)\b",
        r"\b(?:find|search for|look for|read|open|locate|collect|list|gather)\b",
        rf"\b{_PASS} (?:(?:its|it|the|their|them|that|all|any|those|every|results?|contents?|values?|text|data|full|of"
        r"|you|found) ){1,6}(?:as|in|into|inside|to|via|through|with|within|under) ",
    ),
)  # fmt: skip

CONVERSATION: Final = (
    Phrase(
        "asks for the conversation",
        (("conversation", "chat", "message", "thought", "dialogue"),
         ("history", "log", "transcript", "full", "whole", "entire", "complete", "all", "far", "chain"), _PASSES),
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
        (("always", "must", "mandatory", "required", "should", "has", "needs"), ("this",),
         ("first", "before", "prior", "start", "beginning", "every", "all")),
        rf"\b(?:always|must(?: always)?|mandatory to|required to) (?:{_CALL}|be {_CALL}) this(?: (?:tool|function))?"
        r" (?:first|(?:before|prior to) (?:any|all|every|each|anything|everything|other|doing|responding"
        r"|answering|beginning|starting)"
        r"|at the (?:start|beginning)|every time|for every|for all|on every)\b"
        rf"|\bthis (?:tool|function) (?:must|should|has to|needs to)(?: always)? be {_CALL} (?:first"
        rf"|before (?:any|all|every|each|anything|everything))\b",
    ),
    Phrase(
        "claims to replace other tools",
        (("tool", "function"), ("other", "instead", "rather", "place", "preference", "over")),
        rf"\b(?:instead of|rather than|in place of|in preference to|over)(?: {_CALL})? (?:any|all"
        rf"|every) (?:other )?(?:WORD ){{0,2}}(?:tools?|functions?)\b"
        rf"|\b{_NOT} (?:use|call|invoke) (?:any|all) other (?:WORD )?(?:tools?|functions?)\b"
        rf"|\b(?:ignore|avoid|skip) (?:all |any )(?:the )?other (?:WORD )?(?:tools|functions)\b",
    ),
)  # fmt: skip

_UNFORBIDDEN: Final = "".join(
    rf"(?<!{each.replace(' ', '.')}[\W_])"
    for each in ("not", "ever", "n t", "avoid", "not try to", "ever try to", "n t try to", "not attempt to",
                 "ever attempt to", "n t attempt to")
)  # fmt: skip
"""Not right behind a word that forbids what follows: "never skip the confirmation" is what an honest tool says."""

CONSENT: Final = (
    Phrase(
        "tells the model to act without asking",
        (("confirm", "permission", "approval", "consent"), (*_NOTS, "need", "skip", "bypass")),
        rf"\b(?:{_NOT} (?:ask|wait|request|seek|prompt|require)|without (?:asking|waiting|requesting|seeking"
        rf"|prompting|requiring)"
        rf"|no need to (?:ask|wait|request|seek)|{_UNFORBIDDEN}(?:skip(?:ping)?|bypass(?:ing)?))"
        rf" (?:(?:for|the|any|from|to|your"
        rf"|explicit|further|a) ){{0,3}}"
        r"(?:(?:user|human)s? (?:s )?(?:for )?(?:WORD ){0,2})?(?:confirm(?:ation)?|permission|approval|consent)\b",
        may_be_a_name=True,
    ),
)  # fmt: skip
