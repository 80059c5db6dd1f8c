"""The module that all kernels of a program are in, the function that says where they are, and what they are made of."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from ipu_mlir.runtime.translator.kernels.declared import Declared
from ipu_mlir.runtime.translator.kernels.kernel_function import TABLE
from ipu_mlir.runtime.translator.kernels.scalar.code import LANES, begin_function
from ipu_mlir.runtime.translator.kernels.scalar.wide_functions import with_table
from ipu_mlir.runtime.translator.kernels.transforms import with_roots

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
    functions = with_roots(with_table("\n".join([*_parts(kernels), *(kernel.text for kernel in kernels)])))
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


# -- what LLVM is given, and nothing else: tests give it each of these at every level

_NAMES = {
    "scf": """
        condition for if while yield""",
    "arith": """
        addf addi andi bitcast cmpf cmpi constant divf divsi divui extf extsi extui fptosi fptoui
        maxsi maxui minsi minui mulf muli mului_extended negf ori select shli shrsi shrui sitofp subf subi truncf
        trunci uitofp xori""",
    "math": """
        absf ceil copysign floor fma roundeven sqrt trunc""",
    "vector": """
        broadcast extract extract_strided_slice reduction shuffle""",
    "llvm": """
        alloca call extractvalue fence func getelementptr intr.masked.gather intr.masked.load
        intr.masked.store intr.memset intr.prefetch load mlir.addressof mlir.global mlir.zero ptrtoint return store""",
}
OPERATIONS = frozenset(f"{dialect}.{name}" for dialect, names in _NAMES.items() for name in names.split())
"""The names of operations."""

_KINDS_AND_ATTRIBUTES = frozenset(["llvm.ptr", "llvm.array", "llvm.loop_annotation"])
_LANES = "|".join(str(1 << n) for n in range(LANES.bit_length()))
_VECTOR = re.compile(rf"vector<({_LANES})x(i1|i8|i16|i32|i64|f16|f32|f64|!llvm\.ptr)>")


def unknown_in(text: str) -> str:
    """What the module ``text`` has that kernels are not made of; "" if there is nothing of that kind.

    >>> unknown_in("%1 = arith.addf %0, %0 : vector<16xf32>")
    ''
    >>> unknown_in("%1 = math.tan %0 : f32"), unknown_in("%1 = arith.addf %0, %0 : vector<5xf32>")
    ('math.tan', 'vector<5xf32>')
    """
    text = " ".join({word for word in text.split() if word[0] != "%"})
    names = set(re.findall(r"[a-z]\w*(?:\.[a-z]\w*)+", text)) - OPERATIONS - _KINDS_AND_ATTRIBUTES
    vectors = {kind for kind in re.findall(r"vector<[^>]*>", text) if not _VECTOR.fullmatch(kind)}
    return min(names | vectors, default="")
