"""Source around the functions of a program: docstring, imports, ``build``, and comments."""

import re
from collections.abc import Sequence, Set

from ipu_mlir.dialects.support.text import printable
from ipu_mlir.runtime import numeric
from ipu_mlir.runtime.translator.statements.statements import Origin


def module_source(heading: str, called: Set[str], setup: Sequence[str], functions: Sequence[str]) -> str:
    """The whole source, whose docstring begins with ``heading``; ``functions`` are those that use what ``setup`` binds.

    ``called`` are names of NumPy's functions and ours.
    """
    build = [
        "def build(memory):",
        '    """The program with memory of its own: run it in one thread at a time."""',
        *setup,
        "",
        *functions,
        "",
        "    return main",
        "",
    ]
    text = "\n".join(build)
    own = sorted(name for name in called if numeric.is_own(name))
    of_numpy = sorted(called - set(own))
    lines = [
        f'"""{heading}',
        "",
        "The last array of a call is the one that it writes.",
        '"""',
        "",
        *([f"from numpy import {', '.join(of_numpy)}"] if of_numpy else []),
        *(["from numpy import inf, nan"] if re.search(r"\b(inf|nan)\b", text) else []),
        "",
        *([f"from ipu_mlir.runtime.numeric import {', '.join(own)}"] if own else []),
        *(["from ipu_mlir.runtime.engine.program_memory import strided"] if "strided(" in text else []),
        "",
        "",
        text,
    ]
    return re.sub(r"\n{4,}", "\n\n\n", "\n".join(lines))


def comment(origin: Origin) -> str:
    """The op and its place as a comment."""
    return printable(f"# {origin.op}{f' at {origin.location}' if origin.location else ''}", 200)
