"""Write ``passes/core/upstream_passes.py``: the names of upstream's passes, which the bindings run but do not list.

    python scripts/list_upstream_passes.py

Every string of the wheel's libraries that looks like the name of a pass is tried as one. Run it for a new wheel.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from ipu_mlir.dialects.support import stablehlo
from ipu_mlir.dialects.support.bindings import ir, passmanager

_TARGET = Path(__file__).resolve().parent.parent / "passes" / "core" / "upstream_passes.py"
_HEAD = '''"""The passes of upstream MLIR that the bindings carry; written by ``scripts/list_upstream_passes.py``."""

NAMES = (
'''
_STRING = re.compile(rb"([a-z][a-z0-9-]*)\0")
_NO_PASS = "does not refer to a registered pass"


def names() -> list[str]:
    """All names that a pass manager takes."""
    stablehlo.bindings()
    library = Path(ir.__file__).parent / "_mlir_libs"
    candidates = {name for path in library.glob("*.so*") for name in _candidates(path.read_bytes())}
    with ir.Context():
        return sorted(filter(_is_pass, candidates))


def _candidates(data: bytes) -> Iterator[str]:
    """Strings, and all their ends: linkers keep one string in the end of another."""
    for found in set(_STRING.findall(data)):
        text = found.decode()
        yield from (text[start:] for start in range(len(text)) if text[start].isalpha())


def _is_pass(name: str) -> bool:
    try:
        passmanager.PassManager("any").add(name)
    except ValueError as error:
        return _NO_PASS not in str(error)
    return True


if __name__ == "__main__":
    _TARGET.write_text(_HEAD + "".join(f'    "{name}",\n' for name in names()) + ")\n")
