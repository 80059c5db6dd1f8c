"""The module that all kernels of a program are in, and the function that says where they are."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from ipu_mlir.runtime.translator.kernels.code import begin_function
from ipu_mlir.runtime.translator.kernels.declared import Declared
from ipu_mlir.runtime.translator.kernels.wide_functions import with_table

TABLE = "table"
"""``table(addresses, functions)`` writes where the kernels are, in their order; it reads where ``INTERPRETER`` is."""

INTERPRETER = ("PyEval_SaveThread", "PyEval_RestoreThread", "PyErr_CheckSignals")
"""What loops call now and then: other threads have their turn, then handlers of signals run."""

_CALL = re.compile(r"llvm\.call @(\w+)")

_INTERRUPTED = """\
  llvm.mlir.global internal @interpreter() : !llvm.array<3 x ptr> {
    %none = llvm.mlir.zero : !llvm.array<3 x ptr>
    llvm.return %none : !llvm.array<3 x ptr>
  }
  llvm.func internal @interrupted() -> i64 attributes {no_inline} {
    %functions = llvm.mlir.addressof @interpreter : !llvm.ptr
    %all = llvm.load %functions : !llvm.ptr -> !llvm.array<3 x ptr>
    %save = llvm.extractvalue %all[0] : !llvm.array<3 x ptr>
    %restore = llvm.extractvalue %all[1] : !llvm.array<3 x ptr>
    %check = llvm.extractvalue %all[2] : !llvm.array<3 x ptr>
    %state = llvm.call %save() : !llvm.ptr, () -> !llvm.ptr
    llvm.call %restore(%state) : !llvm.ptr, (!llvm.ptr) -> ()
    %found = llvm.call %check() : !llvm.ptr, () -> i32
    %wide = arith.extsi %found : i32 to i64
    llvm.return %wide : i64
  }
"""


@dataclass(frozen=True)
class KernelText:
    """A function: ``integers`` of i64 come first, then the addresses of array objects."""

    name: str
    integers: int
    arrays: int
    text: str
    parts: Mapping[str, str] = field(default_factory=dict)
    """Functions that it calls, and those that these call, by name; other kernels may call the same."""
    declared: Declared | None = None
    """The uses of its arrays, if they are checked; None for a product of matrices, which takes views of all sizes."""


KernelTexts = dict[tuple[str, str], KernelText]
"""The kernels of a module, by kind and by what they do."""


def module_text(kernels: Collection[KernelText]) -> str:
    """A module with ``kernels``; "" if there are none."""
    if not kernels:
        return ""
    functions = with_table("\n".join([*_parts(kernels), *(kernel.text for kernel in kernels)]))
    asks = "@interrupted" in functions
    lines = []
    for number, kernel in enumerate(kernels):
        lines += [
            f"    %a{number} = llvm.mlir.addressof @{kernel.name} : !llvm.ptr",
            f"    %p{number} = llvm.getelementptr %addresses[{number}] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr",
            f"    llvm.store %a{number}, %p{number} : !llvm.ptr, !llvm.ptr",
        ]
    if asks:
        lines += [
            "    %all = llvm.load %functions : !llvm.ptr -> !llvm.array<3 x ptr>",
            "    %interpreter = llvm.mlir.addressof @interpreter : !llvm.ptr",
            "    llvm.store %all, %interpreter : !llvm.array<3 x ptr>, !llvm.ptr",
        ]
    begin = begin_function(TABLE, "%addresses: !llvm.ptr, %functions: !llvm.ptr")
    table = "\n".join([begin, *lines, "    llvm.return"])
    return f"module {{\n{_INTERRUPTED if asks else ''}{functions}\n{table}\n  }}\n}}\n"


def _parts(kernels: Collection[KernelText]) -> Iterator[str]:
    """The functions that ``kernels`` call. One that is called once is put there: a call of its own costs LLVM more."""
    texts = {name: text for kernel in kernels for name, text in kernel.parts.items()}
    calls = Counter(call for kernel in kernels for call in _CALL.findall(kernel.text))
    for name, text in texts.items():
        yield text.replace("{no_inline}", "{always_inline}", 1) if calls[name] == 1 else text
