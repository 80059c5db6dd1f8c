"""Writes the page that says which functions of the array API standard and of NumPy traced programs may have.

python docs/array_api_page.py            say whether docs/array-api.md is as it should be
python docs/array_api_page.py --write    write it
"""

import sys
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
from numpy.testing import overrides

from ipu_mlir.tracing.functions.numpy_functions import FUNCTIONS
from ipu_mlir.tracing.functions.ufuncs import OF_MORE_THAN_ONE_ELEMENT
from ipu_mlir.tracing.functions.unsupported import numpy_name, way_out
from ipu_mlir.tracing.scalar_ops import BODIES
from ipu_mlir.tracing.surface import namespace

PAGE = Path(__file__).parent / "array-api.md"

_NOT_ON_TENSORS = {"isdtype"}
"""Functions of types alone, which are NumPy's own."""

_NOT_OF_TENSORS = (
    "lib.recfunctions.",
    "lib.scimath.",
    "char.",
    "strings.",
    "busday",
    "is_busday",
    "datetime",
    "from",
    "gen",
    "load",
    "polynomial.",
)
"""Beginnings of the names of NumPy's functions on dates, records, texts, files and what loads its classes of
polynomials: tensors are none of these."""


_HEAD = """# The array API standard, and NumPy

Written by `python docs/array_api_page.py --write` from what the package has; a test holds it to that.

`x.__array_namespace__()` gives the functions of the
[Python array API standard](https://data-apis.org/array-api/2024.12/), version 2024.12, for the tensors of a traced
function. `np.` functions take the same tensors, and so do the methods that arrays have.

## The standard

| name | state |
|---|---|
"""

_BEYOND = """
A mask of traced values is no index: the shape would depend on values. `bool(x)`, `float(x)`, `int(x)`, `complex(x)`,
`operator.index(x)` and `x.__dlpack__()` need values, and `x[key] = value` would change what cannot change; each error
says what to write instead. Element types beyond the standard are float16 and those of ml_dtypes (bfloat16, float8).
Complex numbers are pairs of reals: flat arguments and results (`exe.run`) have one dimension more, of the two parts.

## NumPy beyond the standard

Of ufuncs there are `reduce` (for sums, products, extremes, logic, bits, `logaddexp`, `hypot`), `accumulate` (for `add`,
`multiply`, `maximum`, `minimum`, `logaddexp`) and `outer`. Supported are, besides the functions of the standard:

"""

_REFUSED = """
| not supported | way out |
|---|---|
"""


def page() -> str:
    """The text of the page."""
    beyond = ", ".join(f"`{name}`" for name in sorted(_supported_of_numpy() - _names_of_the_standard()))
    wrapped = textwrap.wrap(beyond, 120, break_long_words=False, break_on_hyphens=False)
    standard, refused = ("\n".join(lines) + "\n" for lines in (_standard(), _refused()))
    return _HEAD + standard + _BEYOND + "\n".join(wrapped) + "\n" + _REFUSED + refused


def _standard() -> Iterator[str]:
    for name in sorted(_names_of_the_standard(), key=lambda name: (name.count("."), name)):
        yield f"| `{name}` | {_state(name)} |"


def _names_of_the_standard() -> set[str]:
    own = {name for name, value in vars(namespace).items() if _is_public(name, value)}
    extensions = (("linalg", namespace.linalg), ("fft", namespace.fft))
    return own | {f"{extension}.{name}" for extension, functions in extensions for name in vars(functions)}


def _is_public(name: str, value: Any) -> bool:
    if name.startswith("_") or isinstance(value, ModuleType | SimpleNamespace):
        return False
    module = getattr(value, "__module__", None) or ""
    return not module.startswith(("ipu_mlir", "typing", "collections", "types")) or module == namespace.__name__


def _state(name: str) -> str:
    owner, _, last = name.rpartition(".")
    value = getattr(getattr(namespace, owner) if owner else namespace, last)
    if not callable(value) or isinstance(value, type) or name in _NOT_ON_TENSORS or _is_supported(value):
        return "yes"
    return "yes" if getattr(value, "__module__", "") == namespace.__name__ else f"refused: {way_out(name, ())}"


def _is_supported(function: Any) -> bool:
    if isinstance(function, np.ufunc):
        return function.__name__ in BODIES or function in OF_MORE_THAN_ONE_ELEMENT
    return function in FUNCTIONS


def _supported_of_numpy() -> set[str]:
    return {numpy_name(each) for each in _of_numpy() if _is_supported(each)}


def _of_numpy() -> Iterable[Any]:
    functions = [*overrides.get_overridable_numpy_array_functions(), *overrides.get_overridable_numpy_ufuncs()]
    return [each for each in functions if not isinstance(each, np.ufunc) or getattr(np, each.__name__, None) is each]


def _refused() -> Iterator[str]:
    """One row per way out: functions that take arrays, and have no other reason to be left out."""
    by_way: dict[str, list[str]] = {}
    for each in _of_numpy():
        name = numpy_name(each)
        if _is_supported(each) or name.startswith(_NOT_OF_TENSORS) or name in _CREATE:
            continue
        by_way.setdefault(way_out(name, ()), []).append(name)
    for way, names in sorted(by_way.items(), key=lambda pair: sorted(pair[1])):
        yield f"| {', '.join(f'`{name}`' for name in sorted(set(names)))} | {way} |"


_CREATE = {
    *("arange", "array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray", "empty", "eye", "full"),
    *("identity", "ones", "require", "tri", "zeros", "isnat"),
}
"""What makes arrays of known numbers is NumPy's own; the tensors of these are constants of the program."""


if __name__ == "__main__":
    if "--write" in sys.argv[1:]:
        PAGE.write_text(page())
    elif PAGE.read_text() != page():
        sys.exit(f"{PAGE} is not what the package has; run python docs/array_api_page.py --write")
