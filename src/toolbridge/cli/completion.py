"""`toolbridge completion`: what makes a shell complete our commands, and the answers when it asks.

The scripts are short: they hand over the line up to the cursor, and put what comes back where their shell wants it. One
answer is a row: its kind (`plain`, `file`, `dir`), the word, and a few words about it. Beside click's own scripts, ours
quote what they insert (a server's name is somebody else's text), complete behind `=`, and put no blank after it. zsh
and fish quote by themselves, as the quote that is open wants it; bash inserts what it is given, so that is quoted here.
What there is to choose from is `candidates`.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from typing import Final

import click

from toolbridge.cli.group import VARIABLE

LINE: Final = "_TOOLBRIDGE_LINE"
"""The command line up to the cursor."""

BREAKS: Final = "_TOOLBRIDGE_BREAKS"
"""Bash only: characters at which it ends a word, so that what stands before them is not ours to repeat."""

LONGEST_ABOUT: Final = 72
"""Characters of the words beside a candidate."""

_BASH = f"""\
# toolbridge in bash. For this shell, or in ~/.bashrc:
#   eval "$(toolbridge completion bash)"
# or, with the package bash-completion, once:
#   toolbridge completion bash > ~/.local/share/bash-completion/completions/toolbridge
_toolbridge_completion() {{
    local kind word about
    COMPREPLY=()
    while IFS=$'\\t' read -r kind word about; do
        [[ $kind == plain ]] && COMPREPLY+=("$word")
    done < <({VARIABLE}=bash_complete {LINE}="${{COMP_LINE:0:COMP_POINT}}" \\
        {BREAKS}="$COMP_WORDBREAKS" "${{1/#\\~/$HOME}}" 2> /dev/null < /dev/null)
    [[ ${{COMPREPLY[0]-}} == *= ]] && compopt -o nospace 2> /dev/null
    return 0
}}
complete -o default -o nosort -F _toolbridge_completion toolbridge 2> /dev/null ||
    complete -o default -F _toolbridge_completion toolbridge
"""

_ZSH = f"""\
#compdef toolbridge
# toolbridge in zsh. For this shell, or in ~/.zshrc behind compinit:
#   eval "$(toolbridge completion zsh)"
# or once, into a directory of $fpath:
#   toolbridge completion zsh > ~/.zfunc/_toolbridge
_toolbridge_completion() {{
    local kind word about
    local -a spaced spaced_shown joined joined_shown
    while IFS=$'\\t' read -r kind word about; do
        case $kind in
            (file) compset -P '--*='; _files ;;
            (dir) compset -P '--*='; _files -/ ;;
            (plain)
                if [[ $word == *= ]]; then
                    joined+=("$word"); joined_shown+=("$word${{about:+  -- $about}}")
                else
                    spaced+=("$word"); spaced_shown+=("$word${{about:+  -- $about}}")
                fi ;;
        esac
    done < <({VARIABLE}=zsh_complete {LINE}="${{(j: :)words[1,CURRENT-1]}} $QIPREFIX$PREFIX" \\
        ${{(Q)~words[1]}} 2> /dev/null < /dev/null)
    (( $#joined )) && compadd -l -V toolbridge-keys -S '' -d joined_shown -a joined
    (( $#spaced )) && compadd -l -V toolbridge-words -d spaced_shown -a spaced
    return 0
}}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _toolbridge_completion "$@"
else
    (( $+functions[compdef] )) || {{ autoload -Uz compinit && compinit -i; }}
    compdef _toolbridge_completion toolbridge
fi
"""

_FISH = f"""\
# toolbridge in fish. For this shell:
#   toolbridge completion fish | source
# or once:
#   toolbridge completion fish > ~/.config/fish/completions/toolbridge.fish
function __toolbridge_completion
    set -l line (commandline -cp | string collect)
    set -l program (string replace -r '^~' $HOME -- (commandline -op)[1])
    for row in (env {VARIABLE}=fish_complete {LINE}="$line" $program 2> /dev/null < /dev/null)
        set -l part (string split -m 2 \\t -- $row)
        switch $part[1]
            case file
                __fish_complete_path (commandline -ct | string replace -r '^--[^=]*=' '')
            case dir
                __fish_complete_directories (commandline -ct | string replace -r '^--[^=]*=' '')
            case plain
                printf '%s\\t%s\\n' $part[2] $part[3]
        end
    end
end
complete --command toolbridge --no-files --arguments '(__toolbridge_completion)'
"""

SCRIPTS: Final = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


@click.command("completion", short_help="Print what makes your shell complete all this.")
@click.argument("shell", metavar="[bash|zsh|fish]", type=click.Choice(list(SCRIPTS)), required=False)
def command(shell: str | None) -> int:
    """Print a script that makes the shell complete commands, options, providers, rules, models, the servers of
    your mcp.json, and the tools and arguments that these servers listed last.

    Without an argument it is for the shell that SHELL names. The first lines of the script say where to put
    it. Completing starts no server: tools are known once 'toolbridge tools' has listed them.

    \b
    Examples:
      toolbridge completion fish | source
      eval "$(toolbridge completion bash)"
      toolbridge completion zsh > ~/.zfunc/_toolbridge

    \b
    Exit codes:
      0  printed
      2  misuse: no such shell
    """
    name = shell or os.path.basename(os.environ.get("SHELL", ""))
    if name not in SCRIPTS:
        raise click.UsageError(f"completion: {name or 'no shell'!r} is not known; name one of {', '.join(SCRIPTS)}")
    print(SCRIPTS[name], end="")
    return 0


def complete(group: click.Group, request: str) -> int:
    """Answer a shell. Whatever goes wrong, nothing is offered: a line that is being typed is no place for errors."""
    shell, _, wish = request.partition("_")
    if shell not in SCRIPTS or wish not in ("source", "complete"):
        return 1
    if wish == "source":
        print(SCRIPTS[shell], end="")
        return 0
    try:
        rows = [*_rows(group, shell, os.environ.get(LINE, ""))]
    except Exception:  # of a half-typed line, a broken configuration, a schema of somebody else
        return 1
    sys.stdout.write("".join(rows))
    return 0


def _rows(group: click.Group, shell: str, line: str) -> Iterator[str]:
    from click.shell_completion import ShellComplete

    words, typed, quote, outside = split(line)
    before = ""
    if typed.startswith("--") and "=" in typed:
        option, _, value = typed.partition("=")
        before, words, typed = f"{option}=", [*words, option], value
    kept = len(outside) if quote else _kept(f"{before}{typed}", os.environ.get(BREAKS, ""))
    for item in ShellComplete(group, {}, "toolbridge", VARIABLE).get_completions(words[1:], typed):
        word = f"{before}{item.value}"
        if not word.isprintable():
            continue  # a name that could break the row, or steer the terminal
        if shell == "bash":
            quoted = _quoted(word[kept:], "$'" if quote == "'" and outside.endswith("$") else quote)
            if quoted is None:
                continue
            word = quoted
        about = " ".join((item.help or "").split())
        about = f"{about[: LONGEST_ABOUT - 1]}…" if len(about) > LONGEST_ABOUT else about
        yield f"{item.type}\t{word}\t{''.join(each for each in about if each.isprintable())}\n"


def split(line: str) -> tuple[list[str], str, str, str]:
    """The whole words of a line that is still being typed, the one at its end, the quote that is open in it, and what
    of it stands before that quote."""
    words: list[str] = []
    word, quote, outside, begun, escaped = "", "", "", False, False
    for char in line:
        if escaped:
            word, escaped = word + char, False
        elif char == "\\" and quote != "'":
            begun = escaped = True
        elif char == quote:
            quote = ""
        elif not quote and char in "'\"":
            quote, outside, begun = char, word, True
        elif not quote and char.isspace():
            if begun:
                words.append(word)
            word, begun = "", False
        else:
            word, begun = word + char, True
    return words, word, quote, outside if quote else ""


def _kept(typed: str, breaks: str) -> int:
    """How much of a word bash takes for words of their own: up to the last character at which it breaks."""
    return max((typed.rfind(each) + 1 for each in breaks if not each.isspace()), default=0)


def _quoted(word: str, quote: str) -> str | None:
    """What bash takes for this word behind the quote that is open, whatever the word holds; None where there is no
    such text, or bash would not close the quote behind it: it does not where the last character looks like one."""
    if not quote:
        return re.sub(r"^~|([^\w@%+=:,./~-])", r"\\\g<0>", word)  # a `~` means something only where it is the first
    if word.endswith(quote):
        return None
    if quote == "'":
        return word.replace("'", r"'\''")
    if quote == '"' and "!" not in word:  # which is history, or with a backslash stays a backslash
        return re.sub(r'[$`"\\]', r"\\\g<0>", word)
    return None
