"""The library codelets, by name."""

from ipu_mlir.dialects.codelets.codelet import LibraryCodelet
from ipu_mlir.dialects.codelets.rank import RANK
from ipu_mlir.dialects.codelets.scan import SCANS
from ipu_mlir.dialects.codelets.scatter import SCATTERS
from ipu_mlir.dialects.codelets.sort import SORT
from ipu_mlir.dialects.errors import CompileError


def by_name(codelets: tuple[LibraryCodelet, ...]) -> dict[str, LibraryCodelet]:
    """``codelets`` in a dictionary; two of one name are an error."""
    table: dict[str, LibraryCodelet] = {}
    for codelet in codelets:
        if codelet.name in table:
            raise ValueError(f"two codelets are called '{codelet.name}'")
        table[codelet.name] = codelet
    return table


LIBRARY = by_name((SORT, RANK, *SCANS, *SCATTERS))


def codelet_named(name: str) -> LibraryCodelet:
    """The library codelet of that name.

    Raises:
        CompileError: there is none; the message lists those that exist.
    """
    if name not in LIBRARY:
        raise CompileError(f"no library codelet is called '{name}'; there are: {', '.join(sorted(LIBRARY))}")
    return LIBRARY[name]
