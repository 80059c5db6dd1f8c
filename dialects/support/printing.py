"""IR as text, with each of our attributes written once.

MLIR prints a mapping in full wherever it is used. ``to_text`` writes ``#m0 = #ipu.mapping<...>`` once at the top and
``#m0`` at each use, which every MLIR parser accepts.
"""

import re

from ipu_mlir.dialects.support.bindings import ir

_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_STRING_OR_ATTRIBUTE = re.compile(rf"{_STRING}|#ipu\.(\w+)<[^\"<>\n]*(?:{_STRING}[^\"<>\n]*)*>", re.DOTALL)
_STRING_OR_DEFAULT_TYPE = re.compile(rf"({_STRING})| : (?:i64|f64)\b", re.DOTALL)
_PREFIXES = {"mapping": "m", "parts": "p", "target": "t"}


def to_text(
    op: ir.Module | ir.Operation,
    *,
    locations: bool = False,
    generic: bool = False,
    large_elements_limit: int | None = None,
    large_resource_limit: int | None = None,
    local_scope: bool = False,
    names_of_locations: bool = False,
    verified: bool = False,
) -> str:
    """``op`` as text that parses back to the same IR, and prints the same again.

    Args:
        locations: also print where each op comes from.
        generic: print all ops in MLIR's generic form.
        large_elements_limit: leave out the values of constants with more elements; such text is for reading only.
        large_resource_limit: the same of resources, of which strings have more characters than this.
        local_scope: write everything where it is used: no aliases.
        names_of_locations: values begin with the names that their locations have.
        verified: ``op`` is known to be valid, so MLIR need not check it once more before it prints.
    """
    text = op.operation.get_asm(
        enable_debug_info=locations,
        print_generic_op_form=generic,
        large_elements_limit=large_elements_limit,
        large_resource_limit=large_resource_limit,
        use_local_scope=local_scope,
        use_name_loc_as_prefix=names_of_locations,
        assume_verified=verified,
    )
    text = text if text.endswith("\n") else text + "\n"
    return text if local_scope else with_aliases(text)


def with_aliases(text: str) -> str:
    """Printed IR ``text`` with an alias line for each of our attributes that it mentions.

    >>> print(with_aliases("%0 = memref.alloc() : memref<4xf32, #ipu.mapping<4, [[2 : i64, 4, 1, 1]], 0, 0>>"))
    #m0 = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
    %0 = memref.alloc() : memref<4xf32, #m0>
    """
    aliases: dict[str, str] = {}
    counts: dict[str, int] = {}

    def shorten(match: re.Match[str]) -> str:
        attribute, kind = match.group(), match.group(1)
        if kind is None:
            return attribute  # a string
        if attribute not in aliases:
            prefix = _PREFIXES.get(kind, kind)
            number = counts.get(prefix, 0)
            counts[prefix] = number + 1
            aliases[attribute] = f"#{prefix}{number}"
        return aliases[attribute]

    body = _STRING_OR_ATTRIBUTE.sub(shorten, text)
    lines = [f"{alias} = {_without_default_types(attribute)}\n" for attribute, alias in aliases.items()]
    return "".join(lines) + body


def _without_default_types(attribute: str) -> str:
    """``attribute`` without the types that MLIR gives to bare numbers anyway."""
    return _STRING_OR_DEFAULT_TYPE.sub(lambda match: match.group(1) or "", attribute)
