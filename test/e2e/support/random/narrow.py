"""Random expressions on floats of 16 and 8 bits, on few elements and on more than a type has values.

What NumPy does instead is computed in f64, or as a function of f32, and rounded to the type.
"""

from collections.abc import Callable

import numpy as np
from hypothesis import strategies as st
from support.random.casts import WideArgument, to_narrow
from support.random.steps import Sketch, SteppedProgram, Tensor, Values
from support.tensor_text import generic

Function = Callable[..., np.ndarray]
TYPES = {"f16": 16, "bf16": 16, "f8E4M3": 8, "f8E5M2": 8}
UNARY: dict[str, Function] = {
    "arith.negf": np.negative,
    "math.absf": np.abs,
    "math.floor": np.floor,
    "math.sqrt": np.sqrt,
    "math.exp": lambda x: np.exp(x.astype(np.float32)),
    "math.tanh": lambda x: np.tanh(x.astype(np.float32)),
}
BINARY: dict[str, Function] = {
    "arith.addf": np.add,
    "arith.subf": np.subtract,
    "arith.mulf": np.multiply,
    "arith.divf": np.divide,
    "arith.maximumf": lambda a, b: np.where((a == 0) & (b == 0), a + b, np.maximum(a, b)),
    "arith.minnumf": np.fmin,
}
OF_TWO = ("arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.maximumf")
"""Of two values. Which of two zeros ``minnumf`` gives is open."""
CONSTANTS = (0.5, -1.0, 1.5, 3.0, -0.125)


def rounded(element: str, x: np.ndarray) -> np.ndarray:
    """``x`` as numbers of the type, in f64."""
    narrow = x.astype(np.float16) if element == "f16" else to_narrow(element, np.asarray(x))
    return narrow.astype(np.float64)


@st.composite
def narrow_expressions(draw: st.DrawFn) -> SteppedProgram:
    """Two arguments of f32 become a narrow type, and what is made of them becomes f32 again."""
    sketch = Sketch(draw, is_exact=False)
    element = sketch.pick(list(TYPES))
    many = sketch.pick((False, False, True)) and TYPES[element] == 8
    size = sketch.integer(600, 900) if many else sketch.integer(1, 40)
    arguments = [Tensor(f"%a{number}", (size,), "f32") for number in range(2)]
    sketch.arguments += [WideArgument(tensor, 0, 0) for tensor in arguments]
    lines = [f"%v{number} = arith.truncf %x{number} : f32 to {element}" for number in range(2)]
    steps: list[Callable[[list[np.ndarray]], np.ndarray]] = []
    for number in range(2, 2 + sketch.integer(2, 12)):
        lines.append(_line(sketch, number, element, steps))
    last = 1 + len(steps)
    lines.append(f"%y = arith.extf %v{last} : {element} to f32")
    made = Tensor(sketch.fresh(), (size,), "f32")
    ins = [(tensor.name, f"{tensor.short}[i]") for tensor in arguments]
    text = generic(made.name, "i", ins, f"{made.short}[i]", "\n    ".join(lines))

    def evaluate(values: Values) -> list[np.ndarray]:
        known = [rounded(element, values[tensor.name]) for tensor in arguments]
        for step in steps:
            known.append(rounded(element, step(known)))
        return [known[-1].astype(np.float32)]

    sketch.add([made], text, evaluate)
    return sketch.program()


def _line(sketch: Sketch, number: int, element: str, steps: list[Callable[[list[np.ndarray]], np.ndarray]]) -> str:
    """One operation on values that there are: mostly the last one, so that chains become long."""
    first = number - 1 if sketch.integer(0, 3) else sketch.integer(0, number - 1)
    kind = sketch.pick(("unary", "binary", "constant", "constant"))
    if kind == "unary":
        name = sketch.pick(list(UNARY))
        steps.append(lambda known: UNARY[name](known[first]))
        return f"%v{number} = {name} %v{first} : {element}"
    if kind == "binary":
        name, second = sketch.pick(OF_TWO), sketch.integer(0, number - 1)
        steps.append(lambda known: BINARY[name](known[first], known[second]))
        return f"%v{number} = {name} %v{first}, %v{second} : {element}"
    name, constant = sketch.pick(list(BINARY)), sketch.pick(CONSTANTS)
    steps.append(lambda known: BINARY[name](known[first], np.float64(constant)))
    lines = f"%c{number} = arith.constant {constant} : {element}"
    return f"{lines}\n    %v{number} = {name} %v{first}, %c{number} : {element}"
