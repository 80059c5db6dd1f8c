"""What kernels are made of: LLVM is given nothing else, and tests give it each of these at every level."""

import re

from ipu_mlir.runtime.translator.kernels.code import LANES

_NAMES = {
    "scf": """
        condition for if while yield""",
    "arith": """
        addf addi andi bitcast cmpf cmpi constant divf divsi divui extf extsi extui fptosi fptoui
        maxsi maxui minsi minui mulf muli negf ori select shli shrsi shrui sitofp subf subi truncf
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
