"""Single numbers as Python expressions, with the bits that the same call of NumPy gives.

Integers are Python's and lie in the range of their type; truth values are Python's or NumPy's; floats are scalars of
NumPy. A call that is none of these returns a scalar when it is given no array to write.
"""

import re
from collections.abc import Callable, Sequence

import numpy as np

from ipu_mlir.runtime import numeric
from ipu_mlir.runtime.translator.array_ir.expression import Const
from ipu_mlir.runtime.translator.array_ir.types import is_integer
from ipu_mlir.runtime.translator.codegen.schedule import COPY, Call, Operand, View

_FUNCTION = re.compile(r"(\w+)\(((?:\{\d\}, )+)(?:out=)?\{out\}\)")
_REDUCTION = re.compile(r"(\w+\.reduce|dot|vecdot)\(.*, \{out\}\)")
_TAKE = re.compile(r"\{0\}\.take\(\{1\}, 0, \{out\}, 'clip'\)")
_INDEXED = re.compile(r"copyto\(\{out\}, \{0\}\[([^:]*)\], 'unsafe'\)")
_STORED = re.compile(r"(if .*: )?\{out\}\[([^:]*)\] = \{0\}")
_MAY_TAKE = re.compile(r"\{0\}\.take\(.*\)|copyto\(.*\)|remote\..*|(if .*: )?\{out\}\[.*\] = \{0\}")


def called_function(call: Call) -> str:
    """The name of the function that ``call`` calls, or "" if it is of another form."""
    if call.template == COPY:
        return "copyto"
    found = re.match(r"\w+(?=\()", call.template)
    return found[0] if found else ""


def is_number_call(call: Call) -> bool:
    """True if ``call`` gives one number, and ``number_text`` has an expression for it."""
    return not call.out.shape and number_text(call, ["x"] * len(call.operands)) is not None


def takes_numbers(call: Call, position: int) -> bool:
    """True if operand ``position`` of a call that writes an array may be a number that is no array."""
    if _MAY_TAKE.fullmatch(call.template):
        return True
    found = _FUNCTION.fullmatch(call.template)
    if found is None:
        return False
    if found[1] in ("select", "select_bool"):
        return position > 0 or found[1] == "select"
    return found[1] in ("larger", "smaller", "clip") or not numeric.is_own(found[1])


def stores_element(call: Call) -> bool:
    """True if ``call`` writes one integer into an array, which a ``memoryview`` of it does in half the time."""
    found = _STORED.fullmatch(call.template)
    if found is None or not is_integer(call.out.dtype) or len(call.out.shape) != found[2].count(",") + 1:
        return False
    return not call.operands[0].shape if isinstance(call.operands[0], View) else True


def number_text(
    call: Call,
    texts: Sequence[str],
    number: Callable[[Const], str] = lambda _: "x",
    elements: Callable[[View], str] = lambda _: "x",
) -> str | None:
    """The value of ``call`` as an expression of ``texts``, its operands; None if it has to write an array.

    ``number`` gives the text of another constant, ``elements`` that of a ``memoryview`` of an array.
    """
    kind = call.out.dtype
    if call.template == COPY:
        source = call.operands[0]
        if not _is_number(source):
            return None
        return texts[0] if call.fits and is_integer(source.dtype) else _converted(source.dtype, kind, texts[0], number)
    if _TAKE.fullmatch(call.template):
        return _element(call, texts, elements)
    indexed = _INDEXED.fullmatch(call.template)
    if indexed is not None:
        return _known_element(call, indexed[1], texts, elements)
    if _REDUCTION.fullmatch(call.template):
        if call.out.shape or kind.kind != "f" or any(not isinstance(o, View) or not o.shape for o in call.operands):
            return None
        return call.template.replace(", {out})", ")").format(*texts)
    found = _FUNCTION.fullmatch(call.template)
    if found is None or not all(_is_number(operand) for operand in call.operands):
        return None
    return _function_text(found[1], call, texts)


def _is_number(operand: Operand) -> bool:
    return not isinstance(operand, View) or not operand.shape


def _element(call: Call, texts: Sequence[str], elements: Callable[[View], str]) -> str | None:
    """One element of an array with one axis; an index outside is taken for the nearest inside."""
    source, index = call.operands
    if not isinstance(source, View) or len(source.shape) != 1 or not _is_number(index):
        return None
    at, last = texts[1], source.shape[0] - 1
    if isinstance(index, Const):
        at = str(min(max(int(index.value), 0), last))
    elif isinstance(index, View):
        at = f"{at} if 0 <= {at} <= {last} else 0 if {at} < 0 else {last}"
    return _of_array(call, source, texts[0], at, elements)


def _known_element(call: Call, places: str, texts: Sequence[str], elements: Callable[[View], str]) -> str | None:
    """The element of an array at ``places``, which are known to be inside."""
    source, *indexes = call.operands
    if not isinstance(source, View) or len(source.shape) != places.count(",") + 1 or not all(map(_is_number, indexes)):
        return None
    return _of_array(call, source, texts[0], places.format(*texts), elements)


def _of_array(call: Call, source: View, name: str, at: str, elements: Callable[[View], str]) -> str | None:
    """An integer comes out of a ``memoryview`` as Python's, in a fifth of the time of ``item``."""
    if source.dtype != call.out.dtype:
        return None
    return f"{elements(source) if is_integer(source.dtype) else name}[{at}]"


def wrapped(text: str, dtype: np.dtype) -> str:
    """The integer ``text`` in the range of ``dtype``, as its bits are read."""
    bits = 8 * dtype.itemsize
    if dtype.kind == "u":
        return f"{text} & {2**bits - 1}"
    half = 2 ** (bits - 1)
    return f"n if {-half} <= (n := {text}) < {half} else (n + {half} & {2**bits - 1}) - {half}"


def seen_as(written: np.dtype, read: np.dtype, text: str) -> str:
    """The integer ``text`` of one type as an integer of another of the same size."""
    if written == read:
        return text
    bits = 8 * read.itemsize
    if read.kind == "u":
        return f"({text} & {2**bits - 1})"
    return f"({text} if {text} < {2 ** (bits - 1)} else {text} - {2**bits})"


def _converted(source: np.dtype, dest: np.dtype, x: str, number: Callable[[Const], str]) -> str | None:
    """As C converts."""
    if source == dest:
        return x
    if dest.kind == "b":
        return f"{x} != 0"
    if source.kind == "b":
        return f"1 if {x} else 0" if is_integer(dest) else None
    if is_integer(source) and is_integer(dest):
        fits = np.can_cast(source, dest)
        return x if fits else wrapped(x, dest)
    if is_integer(source):  # exact in f64, from which it is rounded once; a fourth of the time of ``float32(x)``
        return f"{x} * {number(Const.of(1, dest))}" if source.itemsize < 8 else None
    if is_integer(dest):  # outside of the range, as the processor does
        low, high = np.iinfo(dest).min, np.iinfo(dest).max
        return f"int({x}) if {float(low)} <= {x} < {float(high // 2 + 1) * 2} else {x}.astype('{dest.str[1:]}').item()"
    return f"{dest.name}({x})"


_COMPARISONS = {
    "equal": "==",
    "not_equal": "!=",
    "less": "<",
    "less_equal": "<=",
    "greater": ">",
    "greater_equal": ">=",
}
_ARITHMETIC = {"add": "+", "subtract": "-", "multiply": "*"}
_BITWISE = {"bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^"}
_LOGICAL = {
    "logical_and": "{0} and {1}",
    "logical_or": "{0} or {1}",
    "logical_xor": "{0} != {1}",
    "logical_not": "not {0}",
    "invert": "not {0}",
    "bitwise_and": "{0} and {1}",
    "bitwise_or": "{0} or {1}",
    "bitwise_xor": "{0} != {1}",
    "positive_bool": "{0}",
}
_FLOATS = {  # as NumPy: of two zeros, ``maximum`` and ``minimum`` give the second
    "negative": "-{0}",
    "absolute": "abs({0})",
    "divide": "{0} / {1}",
    "maximum": "{0} if {0} > {1} or {0} != {0} else {1}",
    "minimum": "{0} if {0} < {1} or {0} != {0} else {1}",
    "larger": "{0} if {0} > {1} or {0} != {0} else {1} if {0} != {1} else {0} if {0} else {0} + {1}",
    "smaller": "{0} if {0} < {1} or {0} != {0} else {1} if {0} != {1} else {0} if {0} else -(-{0} - {1})",
}


def _function_text(name: str, call: Call, texts: Sequence[str]) -> str | None:
    operands, kind, fits = call.operands, call.out.dtype, call.fits
    dtypes = [operand.dtype for operand in operands]
    if name in ("select", "select_bool"):
        return "{1} if {0} else {2}".format(*texts)
    if name in _COMPARISONS:
        return f"{texts[0]} {_COMPARISONS[name]} {texts[1]}"
    if name == "clip":
        low, high = operands[1:]
        known = isinstance(low, Const) and isinstance(high, Const) and low.value <= high.value
        return "{1} if {0} < {1} else {2} if {0} > {2} else {0}".format(*texts) if known else None
    if dtypes[0].kind == "b":
        return _LOGICAL[name].format(*texts) if name in _LOGICAL else None
    if dtypes[0].kind == "f":
        return _float_text(name, dtypes, kind, texts)
    if name in _ARITHMETIC:
        text = f"{texts[0]} {_ARITHMETIC[name]} {texts[1]}"
        return text if fits else wrapped(text, kind)
    if name in _BITWISE:
        return f"{texts[0]} {_BITWISE[name]} {texts[1]}"
    if name in ("negative", "absolute"):
        text = wrapped(f"-{texts[0]}", kind)
        return text if name == "negative" else f"{texts[0]} if {texts[0]} >= 0 else ({text})"
    divisor = operands[-1]
    constant = int(divisor.value) if isinstance(divisor, Const) else 0
    match name:
        case "maximum" | "larger":
            return "{0} if {0} >= {1} else {1}".format(*texts)
        case "minimum" | "smaller":
            return "{0} if {0} <= {1} else {1}".format(*texts)
        case "remainder":
            return "{0} % {1} if {1} else 0".format(*texts)
        case "floor_divide":
            text = f"{texts[0]} // {texts[1]}"
            return text if constant > 0 else f"({wrapped(text, kind)}) if {texts[1]} else 0"
        case "fmod" | "divide_to_zero" if constant > 0:
            sign = "%" if name == "fmod" else "//"
            return "{0} {s} {1} if {0} >= 0 else -(-{0} {s} {1})".format(*texts, s=sign)
        case "fmod":
            whole = "{0} % {1} if {0} >= 0 else -(-{0} % {1})"
            return f"0 if not {texts[1]} else " + whole.format(texts[0], f"abs({texts[1]})")
        case "divide_to_zero":
            whole = wrapped("abs({0}) // abs({1}) * (1 if ({0} < 0) == ({1} < 0) else -1)".format(*texts), kind)
            return f"0 if not {texts[1]} else ({whole})"
        case "left_shift" if 0 < constant < 8 * kind.itemsize:
            return wrapped(f"({texts[0]} << {texts[1]})", kind)
        case "left_shift":
            shifted = wrapped("({} << {})".format(*texts), kind)
            return f"({shifted}) if 0 <= {texts[1]} < {8 * kind.itemsize} else 0"
        case "right_shift" if kind.kind == "u" or 0 < constant < 8 * kind.itemsize:
            return f"{texts[0]} >> {texts[1]}"
        case "right_shift":
            return "{0} >> {1} if {1} >= 0 else -({0} < 0)".format(*texts)
    return None


def _float_text(name: str, dtypes: Sequence[np.dtype], kind: np.dtype, texts: Sequence[str]) -> str | None:
    if name in _ARITHMETIC:
        return f"{texts[0]} {_ARITHMETIC[name]} {texts[1]}"
    if name in _FLOATS:
        return _FLOATS[name].format(*texts)
    if numeric.is_own(name) or kind not in (dtypes[0], np.dtype(np.bool_)) or len(set(dtypes)) > 1:
        return None
    return f"{name}({', '.join(texts)})"
