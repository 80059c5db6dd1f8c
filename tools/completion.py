"""``--completion``: a script that lets a shell complete the options of a tool."""

import argparse
import re
from collections.abc import Sequence

SHELLS = ("bash", "zsh", "fish")

_BASH = """\
_{function}() {{
  local word=${{COMP_WORDS[COMP_CWORD]}}
  if [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W '{words}' -- "$word"))
  else
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}}
complete -o filenames -F _{function} {tool}
"""
_ZSH = """\
#compdef {tool}
_{function}() {{
  if [[ $words[CURRENT] == -* ]]; then
    compadd -S '' -- {words}
  else
    _files
  fi
}}
compdef _{function} {tool}
"""


def completion_script(tool: str, parser: argparse.ArgumentParser, shell: str, passes: Sequence[str] = ()) -> str:
    """The script, to be sourced.

    Args:
        passes: names that are options, too.
    """
    actions = [action for action in parser._actions if action.option_strings and action.help != argparse.SUPPRESS]
    options = {option: action.help or "" for action in actions for option in action.option_strings}
    options |= {f"--{name}": "" for name in passes}
    if shell == "fish":
        return "".join(f"{_fish_line(tool, option, about)}\n" for option, about in options.items())
    template = _BASH if shell == "bash" else _ZSH
    return template.format(function=re.sub(r"\W", "_", tool), tool=tool, words=" ".join(sorted(options)))


def _fish_line(tool: str, option: str, about: str) -> str:
    kind = "-l" if option.startswith("--") else "-s"
    shown = (about % {"prog": tool}).replace("\\", "\\\\").replace("'", "\\'")
    return f"complete -c {tool} {kind} {option.lstrip('-')}" + (f" -d '{shown}'" if about else "")
