"""Tables of words, and the questions that rules ask of texts: is this a verb, is this English, what does it say at all.

Not a language model: a table errs on the side of saying nothing. Rules that look for English phrases ask `is_english`
first, so that a description in another language is not blamed for lacking them.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from typing import Final

from toolbridge.lint.subject import MOST_READ


def table(words: str) -> frozenset[str]:
    """A table written as plain text, which reads better than hundreds of quotation marks."""
    return frozenset(words.split())


VERBS: Final = table(
    """
    abort accept access acknowledge acquire act activate adapt add adjust administer aggregate align allocate
    allow analyse analyze animate annotate answer append apply approve archive arrange ask assemble assert assess
    assign associate attach audit authenticate authorise authorize autocomplete autoscale backtest backup balance
    ban base batch begin benchmark bind blame block blur book bookmark boot borrow branch bring broadcast browse
    buffer build bulk bundle burn buy cache calc calculate calibrate call cancel canonicalize capture cast change
    charge chat check checkout chmod choose chown claim classify clean cleanup clear click clip clone close
    cluster coerce collapse collect combine comment commit compare compile complete compose compress compute
    concat concatenate conclude condense conduct configure confirm connect construct consult contact containerise
    containerize continue control convert cook cool copy cordon correct correlate count craft crawl create crop
    cross curate customise customize cut debug decline decode decompile decompose decrement decrypt deduplicate
    deepdive deepen define delay delegate delete deny depart deploy deprecate derive describe deselect design
    destroy detach detect determine develop diagnose diff differentiate digest dim disable disassemble discard
    disconnect discover dismiss dispatch display dissolve divide do dock doubleclick download draft drag drain
    draw drop dump duplicate echo edit eject elicit email embed emit emulate enable encode encrypt end enhance
    enqueue enrich enroll ensure enter enumerate erase escalate escape estimate eval evaluate evolve examine
    exchange exclude exec execute exit expand expect explain explode explore export expose extend extract
    extrapolate factor factorize feed fetch fill filter finalise finalize find finish fit fix flag flash flatten
    flip flush focus follow force forecast forget fork format forward free freeze fund fuse gather gauge generate
    geocode geolocate get give go grab grant graph greet grep ground group grow guard guess guide halt handle
    harvest has hash heat help hide highlight hold hover hydrate identify ignore impersonate implement import
    improve include increase increment index infer ingest init initialise initialize initiate inject insert
    inspect install instantiate instruct integrate interact interpolate interpret interrupt intersect introspect
    invalidate invert investigate invite invoke is isolate issue join jump keep kick kill label launch lay learn
    leave lift like link lint liquidate list listen load locate lock log login logout look lookup maintain make
    manage manipulate map mark markdownify mask match materialize measure memorize mention merge message migrate
    minify mint mirror mock model moderate modify monitor mount move multiply mutate mute name navigate negate
    negotiate normalise normalize note notify observe obtain offset open optimise optimize orchestrate order
    organise organize outline overlay override overwrite pack package paginate paint paraphrase parse partition
    paste patch pause pay peek perform persist pick pin ping pipe place plan plant play plot point poll pop
    populate position post predict prefetch prepare present press preview price print prioritize probe process
    produce profile program promote prompt propose protect prove provide provision proxy prune publish pull
    purchase purge push put query queue quit quote raise rank rate react reactivate read reason reboot rebuild
    recalculate recall receive recognise recognize recommend reconcile reconnect record recover rectify redact
    redeem redeliver redeploy redirect redo reduce refactor refine reflect reformat refresh refund regenerate
    register reindex reinstall reject release reload remember remind remove rename render renew reopen reorder
    reorganize repair repeat rephrase replace replay reply report repost reproject request require reschedule
    research reserve reset resize resolve respond restart restore restrict resume retain retire retrieve retry
    return reuse reveal revert review revise revoke rewrite ring roll rollback rollout rotate round route run
    sample sanitise sanitize save say scaffold scale scan schedule score scrape screen screenshot scroll seal
    search secure see seed seek segment select sell send separate serialize serve set setup shape share ship
    shorten show shut shutdown sign simplify simulate sketch skip sleep slice smooth snap snapshot snooze solve
    sort spawn speak specify spin split stack stage stake standardize star start stash stat step stop store
    stratify stream strip structure style submit subscribe substitute subtract suggest sum summarise summarize
    support suspend swap sweep swipe switch sync synchronise synchronize synthesise synthesize tag tail taint take
    talk tap teach tell terminate test think throttle tile tip toggle tokenize trace track trade train transact
    transcode transcribe transfer transform transition translate transpose trash traverse triage triangulate
    trigger trim troubleshoot truncate try tune turn type unarchive unassign unban unblock uncomment uncordon
    undelete undeploy undo unfollow unfreeze uninstall unlink unlock unmount unpack unpause unpin unpublish
    unregister unset unshare unstage unstake unsubscribe unwrap unzip update upgrade upload upscale upsert use
    validate vectorize verify view visit visualise visualize vote wait wake walk warm watch water whoami wipe wire
    withdraw wrap write yank zip zoom
    """
)
"""First words of names that say an action. Many are nouns as well; a table that knows too many accuses nobody."""

JOINED: Final = (
    "get",
    "list",
    "create",
    "delete",
    "update",
    "search",
    "find",
    "fetch",
    "add",
    "remove",
    "send",
    "read",
    "write",
    "set",
    "make",
    "check",
)
"""Verbs that names begin with even where no mark divides the words: `listprompts`."""

EMPTY_VERBS: Final = table(
    """
    call do execute exec fetch find get handle help invoke list load make manage perform process query read
    request run search send set show start stop submit test update use write create delete add remove check view
    """
)
"""Verbs that say nothing of a tool until a noun follows."""

EMPTY_NOUNS: Final = table(
    """
    data default details everything handler helper helpers info information input it main method misc
    operation operations output result results something status stuff test thing things util utils utility value values
    """
)
"""Nouns that any server could mean."""

EMPTY_ALONE: Final = (
    EMPTY_VERBS | EMPTY_NOUNS | {"action", "api", "function", "functions", "tool", "tools", "item", "object"}
)
"""What says nothing as a whole name."""

STOP: Final = table(
    """
    a an and any are as at be by can for from has have if in into is it its more most no not of on one only or
    over that the their them there these this to under up use used using was which will with within without you
    your
    """
)
"""Words that make a text English, and that say nothing by themselves."""

FOREIGN: Final = table(
    """
    al aus avec che con cu da das de dei del della den der des di die dos du een ein eine einen el em en es est et
    eu het il ist la las le les lo los mit na nach nel nie non nos nur oder ou para per por pour que se sie
    som sur un una und une uno van voor vom von w z za zu zum zur được và của cho não o os ao dans sobre ve bir bu
    için och att
    """
)
"""Common words of other languages in Latin script, none of them English but a few that English rarely uses."""

_LETTER: Final = re.compile(r"[^\W\d_]")
_OTHER_LETTER: Final = re.compile(r"[^\W\d_\x00-\x7f]")
_DENSE: Final = re.compile("[\u0e00-\u0eff\u2e80-\ud7ff]")
_WORD: Final = re.compile(r"[^\W\d_]+")
_CAMEL: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_a-zA-Z]+")


@lru_cache(maxsize=4_096)
def words_of(name: str) -> tuple[str, ...]:
    """The words of a name, in lower case, divided by marks and by case."""
    return tuple(each.lower() for each in _CAMEL.findall(name[:MOST_READ]))


def words_in(text: str) -> list[str]:
    """The words of a text, in lower case."""
    return _WORD.findall(text[:MOST_READ].lower())


@lru_cache(maxsize=8_192)
def stem(word: str) -> str:
    """A word without the endings that make no other word of it: `searches`, `searching` and `search` are one."""
    for ending in ("ing", "ies", "es", "s", "ed", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def is_verb(word: str) -> bool:
    """Whether a word of a name says an action: a verb, `rerank` for its `rank`, or `scanner` for its `scan`."""
    if word in VERBS:
        return True
    for ending in ("s", "er", "or", "ers"):
        base = word.removesuffix(ending)
        if base != word and (base in VERBS or (len(ending) > 1 and (base + "e" in VERBS or base[:-1] in VERBS))):
            return base not in EMPTY_NOUNS
    return word[:2] in ("re", "un") and word[2:] in VERBS


def is_english(text: str, words: Collection[str] | None = None) -> bool:
    """Whether a text may be held against English phrases: Latin letters, and no other language's small words.

    `words` are the text's, where they are known already.
    """
    if not text.isascii():
        start = text[:2_000]
        if 10 * len(_OTHER_LETTER.findall(start)) > len(_LETTER.findall(start)):
            return False
    own = frozenset(words_in(text) if words is None else words)
    return len(own & FOREIGN) <= len(own & STOP)


def is_dense(text: str) -> bool:
    """Whether a text is in a script that does not divide words, where one character says what a word says."""
    return not text.isascii() and _DENSE.search(text, 0, 200) is not None
