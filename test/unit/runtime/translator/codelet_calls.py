"""Programs of one call of a codelet, as kernels or calls of NumPy."""

import numpy as np

from ipu_mlir.runtime.engine.engine import Engine
from ipu_mlir.runtime.translator.statements.access import Access, Buffer, Role, row_major
from ipu_mlir.runtime.translator.statements.options import TranslatorOptions
from ipu_mlir.runtime.translator.statements.statements import LibraryCall, Origin, Program
from ipu_mlir.runtime.translator.translate import translate_statements

AT = Origin("codelet", "")


def computed(codelet: str, given: list[np.ndarray], outputs: list[tuple[str, tuple[int, ...]]], kernels="always"):
    """What the fast executor gives for one call of ``codelet``, and its source."""

    def array(name: str, dtype: str, shape: tuple[int, ...], role: Role) -> Access:
        return Access(Buffer(name, int(np.prod(shape)), np.dtype(dtype), role, shape), 0, row_major(shape))

    taken = [array(f"in{n}", each.dtype.str[1:], each.shape, Role.ARGUMENT) for n, each in enumerate(given)]
    filled = [array(f"out{n}", *form, Role.TEMPORARY) for n, form in enumerate(outputs)]
    shapes = (*(each.shape for each in given), *(shape for _, shape in outputs))
    call = LibraryCall((), AT, codelet, tuple(taken), tuple(filled), shapes, (False,) * len(filled))
    arguments = tuple(each.buffer for each in taken)
    made = Program("main", arguments, (call,), tuple(filled), tuple(shape for _, shape in outputs))
    translation = translate_statements(made, TranslatorOptions(kernels=kernels))
    return Engine.of(translation).run(given), translation.source
