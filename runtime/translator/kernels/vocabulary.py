"""What kernels are made of: LLVM is given nothing else, and tests give it each of these at every level."""

import re

from ipu_mlir.runtime.translator.kernels.code import LANES

OPERATIONS = frozenset(
    ["scf.condition", "scf.for", "scf.if", "scf.while", "scf.yield", "arith.addf", "arith.addi", "arith.andi", "arith.bitcast", "arith.cmpf", "arith.cmpi", "arith.constant", "arith.divf", "arith.divsi", "arith.divui", "arith.extf", "arith.extsi", "arith.extui", "arith.fptosi", "arith.fptoui", "arith.maxsi", "arith.maxui", "arith.minsi", "arith.minui", "arith.mulf", "arith.muli", "arith.negf", "arith.ori", "arith.select", "arith.shli", "arith.shrsi", "arith.shrui", "arith.sitofp", "arith.subf", "arith.subi", "arith.truncf", "arith.trunci", "arith.uitofp", "arith.xori", "math.absf", "math.ceil", "math.copysign", "math.floor", "math.fma", "math.roundeven", "math.sqrt", "math.trunc", "vector.broadcast", "vector.extract", "vector.extract_strided_slice", "llvm.alloca", "llvm.call", "llvm.extractvalue", "llvm.func", "llvm.getelementptr", "llvm.intr.masked.gather", "llvm.intr.masked.load", "llvm.intr.masked.store", "llvm.intr.memset", "llvm.load", "llvm.mlir.addressof", "llvm.mlir.global", "llvm.mlir.zero", "llvm.return", "llvm.store"]
)
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
    names = set(re.findall(r"[a-z]\w*(?:\.[a-z]\w*)+", text)) - OPERATIONS - _KINDS_AND_ATTRIBUTES
    vectors = {kind for kind in re.findall(r"vector<[^>]*>", text) if not _VECTOR.fullmatch(kind)}
    return min(names | vectors, default="")
