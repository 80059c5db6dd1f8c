"""Dictionaries of attributes as Python's."""

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.errors import CompileError


def entries_of(dictionary: ir.DictAttr) -> dict[str, ir.Attribute]:
    """The entries of ``dictionary``; asked by an entry itself, the bindings end the process over what they cannot give.

    Raises:
        CompileError: an entry is of a kind that the bindings have no class for, as tensors of complex numbers.
    """
    found = {}
    for name in [entry.name for entry in dictionary]:
        try:
            found[name] = dictionary[name]
        except TypeError as error:
            raise CompileError(f"has a dictionary whose entry '{name}' Python does not see: {dictionary}") from error
    return found
