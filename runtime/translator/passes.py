"""The passes on array programs, in the order in which they run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.runtime.translator.array_ir.options import TranslatorOptions
from ipu_mlir.runtime.translator.array_ir.statements import Program
from ipu_mlir.runtime.translator.optimize.argument_numbers import with_gathered_numbers, with_late_numbers
from ipu_mlir.runtime.translator.optimize.forward_copies import without_copies
from ipu_mlir.runtime.translator.optimize.lookup_tables import with_lookup_tables
from ipu_mlir.runtime.translator.optimize.propagate_layouts import with_layouts
from ipu_mlir.runtime.translator.optimize.reductions.decompose import decomposed
from ipu_mlir.runtime.translator.optimize.reductions.split_rows import with_split_rows
from ipu_mlir.runtime.translator.optimize.rename_buffers import with_versions
from ipu_mlir.runtime.translator.optimize.results import with_fresh_results


@dataclass(frozen=True)
class ArrayPass:
    """A named rewrite of array programs; the first line of its function's docstring says what it does."""

    name: str
    rewrite: Callable[..., Program]
    has_options: bool = False
    """True if the rewrite also takes the ``TranslatorOptions``."""

    def run(self, program: Program, options: TranslatorOptions) -> Program:
        """``program`` and its functions rewritten, each by itself; ``program`` itself does not change."""
        functions = tuple(self.run(function, options) for function in program.functions)
        found = self.rewrite(program, options) if self.has_options else self.rewrite(program)
        return replace(found, functions=functions) if functions else found

    def description(self) -> str:
        """The first line of the function's docstring."""
        return (self.rewrite.__doc__ or "").partition("\n")[0].replace("``", "")


ARRAY_PASSES: tuple[ArrayPass, ...] = (
    ArrayPass("rename-buffers", with_versions),
    ArrayPass("own-results", with_fresh_results),
    ArrayPass("forward-copies", without_copies),
    ArrayPass("gather-bits", with_gathered_numbers),
    ArrayPass("decompose-reductions", decomposed, has_options=True),
    ArrayPass("propagate-layouts", with_layouts),
    ArrayPass("look-up-tables", with_lookup_tables, has_options=True),
    ArrayPass("widen-arguments", with_late_numbers),
    ArrayPass("split-rows", with_split_rows, has_options=True),
)


def optimized(
    program: Program,
    options: TranslatorOptions,
    passes: Sequence[ArrayPass] = ARRAY_PASSES,
    after: Callable[[ArrayPass, Program], None] | None = None,
) -> Program:
    """``program`` after ``passes``; ``after`` sees each of them, and what it left."""
    for each in passes:
        program = each.run(program, options)
        if after is not None:
            after(each, program)
    return program


def passes_named(names: Sequence[str]) -> tuple[ArrayPass, ...]:
    """The passes of ``names``, in that order.

    Raises:
        CompileError: there is no such pass; with the nearest names.
    """
    known = {each.name: each for each in ARRAY_PASSES}
    for name in names:
        if name not in known:
            near = get_close_matches(name, known, 1)
            hint = f"; did you mean {near[0]!r}?" if near else f"; there are: {', '.join(known)}"
            raise CompileError(f"there is no pass on array programs {name!r}{hint}")
    return tuple(known[name] for name in names)
