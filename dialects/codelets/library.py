"""The library codelets, by name."""

from difflib import get_close_matches

from ipu_mlir.dialects.codelets.codelet import LibraryCodelet, Shapes
from ipu_mlir.dialects.codelets.ctc import CTC_LOSSES
from ipu_mlir.dialects.codelets.ctc_search import CTC_SEARCH
from ipu_mlir.dialects.codelets.first_extreme import FIRST_EXTREMES
from ipu_mlir.dialects.codelets.fourier import TRANSFORMS
from ipu_mlir.dialects.codelets.orthogonal import FACTORS
from ipu_mlir.dialects.codelets.random_numbers import RANDOM_NUMBERS
from ipu_mlir.dialects.codelets.rank import RANK
from ipu_mlir.dialects.codelets.scan import SCANS
from ipu_mlir.dialects.codelets.scatter import SCATTERS
from ipu_mlir.dialects.codelets.solve import SOLVERS
from ipu_mlir.dialects.codelets.sort import SORT
from ipu_mlir.dialects.codelets.sort_tuples import SORT_TUPLES
from ipu_mlir.dialects.codelets.top_k import TOP_K
from ipu_mlir.dialects.codelets.update_slice import UPDATE_SLICE
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.errors import CompileError


def by_name(codelets: tuple[LibraryCodelet, ...]) -> dict[str, LibraryCodelet]:
    """``codelets`` in a dictionary; two of one name are an error."""
    table: dict[str, LibraryCodelet] = {}
    for codelet in codelets:
        if codelet.name in table:
            raise ValueError(f"two codelets are called '{codelet.name}'")
        table[codelet.name] = codelet
    return table


LIBRARY = by_name(
    (
        SORT,
        SORT_TUPLES,
        RANK,
        TOP_K,
        UPDATE_SLICE,
        CTC_SEARCH,
        *CTC_LOSSES,
        *FIRST_EXTREMES,
        *RANDOM_NUMBERS,
        *SCANS,
        *SCATTERS,
        *SOLVERS,
        *FACTORS,
        *TRANSFORMS,
    )
)

OWN = frozenset(LIBRARY)
"""The names of those that are not of a plugin."""


def register(codelet: LibraryCodelet) -> None:
    """Make a codelet of one's own known to the compiler and to both executors, for as long as the process lives.

    Raises:
        ValueError: another codelet has that name.
    """
    if LIBRARY.setdefault(codelet.name, codelet) is not codelet:
        raise ValueError(f"there is a codelet called '{codelet.name}' already")


def codelet_named(name: str) -> LibraryCodelet:
    """The library codelet of that name.

    Raises:
        CompileError: there is none; the message lists those that exist.
    """
    if name not in LIBRARY:
        raise CompileError(f"no library codelet is called '{name}'; {_there_are(name)}")
    return LIBRARY[name]


def _there_are(name: str) -> str:
    similar = get_close_matches(name, LIBRARY, 1)
    meant = f"is '{similar[0]}' meant? " if similar else ""
    return f"{meant}there are: {', '.join(sorted(LIBRARY, key=lambda each: (each not in OWN, each)))}"


def shapes_of(op: ir.Operation) -> Shapes:
    """The shapes of the operands of ``op``; scalars have none."""
    return tuple(tuple(value.type.shape) if isinstance(value.type, ir.ShapedType) else () for value in op.operands)


def broken_call(op: ir.Operation, num_inputs: int) -> str | None:
    """Why ``op``, which names a library codelet, cannot be a call of it, as the end of a sentence; None if it can."""
    name = ir.StringAttr(op.attributes["library_call"]).value
    if name not in LIBRARY:
        return f"calls '{name}', but no library codelet is called so; {_there_are(name)}"
    shapes = shapes_of(op)
    types = tuple(str(getattr(value.type, "element_type", value.type)) for value in op.operands)
    if LIBRARY[name].takes(shapes[:num_inputs], shapes[num_inputs:]) and LIBRARY[name].takes_types(
        types[:num_inputs], types[num_inputs:]
    ):
        return None
    kinds = ", ".join(str(value.type) for value in op.operands)
    return f"calls the library codelet '{name}' with {kinds}; it needs {LIBRARY[name].needs}"
