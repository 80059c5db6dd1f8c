"""``ipu-expand-random``: random bits of the Philox generator, as XLA draws them, and numbers from a state of ours."""

from collections.abc import Sequence
from math import pi, prod
from typing import Any

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.clone import Known, clone_into
from ipu_mlir.passes.support.rewriting import list_ops, replace_op

_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
_ROUNDS = 10


class ExpandRandom(Pass):
    """Write stablehlo.rng_bit_generator of the Philox and the default algorithm as operations on integers.

    The default is Philox, as XLA has it on CPUs; Threefry is left to upstream. Philox 4x32 with 10 rounds (Salmon and
    others, "Parallel random numbers: as easy as 1, 2, 3", 2011) encrypts a counter of 128 bits. The state is key,
    lower and upper half of the counter; where it has only two numbers, XLA takes the key for the upper half, too.

    ``stablehlo.rng``, whose state StableHLO leaves to the machine, has the variable ``ipu.random`` of the module: key
    and counter, which every draw moves on. Floats are drawn in 23 bits (52 in f64), normal ones from two uniform ones
    each (Box and Muller, 1958).

    Needs:  StableHLO, before ``inline``.
    Leaves: ``rng_bit_generator`` of Threefry only, no ``rng``; calls of functions that draw bits.
    """

    name = "ipu-expand-random"

    def run(self, module: ir.Operation) -> None:
        with module.context, ir.Location.unknown():
            draws = list_ops(module, "stablehlo.rng")
            if draws:
                _append(module, _VARIABLE)
            for op in draws:
                _draw(op)
            for number, op in enumerate(list_ops(module, "stablehlo.rng_bit_generator")):
                if "THREE_FRY" not in str(op.attributes["rng_algorithm"]):
                    _expand(op, module, f"ipu_philox_{number}")


def _expand(op: ir.Operation, module: ir.Operation, name: str) -> None:
    (state,), (_, bits) = op.operands, [result.type for result in op.results]
    _append(module, _function(name, state.type.shape[0], list(bits.shape), bits.element_type.width))
    words = ir.RankedTensorType.get(bits.shape, ir.IntegerType.get_unsigned(bits.element_type.width))
    with ir.InsertionPoint(op), op.location:
        callee = {"callee": ir.FlatSymbolRefAttr.get(name)}
        call = ir.Operation.create("func.call", [state.type, words], [state], callee)
        drawn = call.results[1]
        if words != bits:
            drawn = ir.Operation.create("stablehlo.convert", [bits], [drawn]).results[0]
        replace_op(op, [call.results[0], drawn])


def _append(module: ir.Operation, text: str) -> None:
    """The op of ``text`` at the end of ``module``."""
    parsed = ir.Module.parse(text)
    module.regions[0].blocks[0].append(parsed.body.operations[0].operation.clone())


_STATE = "tensor<3xi64>"
_VARIABLE = f'"ipu.variable"() {{sym_name = "ipu.random", type = {_STATE}, init = dense<0> : {_STATE}}} : () -> ()'


def _draw(op: ir.Operation) -> None:
    """``op`` as the ops that read the state, draw, and assign the next one."""
    parsed = ir.Module.parse(_drawing(op.results[0].type, "NORMAL" in str(op.attributes["rng_distribution"])))
    (block,) = parsed.body.operations[0].regions[0].blocks
    known: Known = dict(zip(block.arguments, op.operands, strict=False))
    *body, end = (each.operation for each in block.operations)
    with ir.InsertionPoint(op), op.location:
        for each in body:
            clone_into(each, known)
    replace_op(op, [known[end.operands[0]]])


def _drawing(wanted: Any, normal: bool) -> str:
    """The text of a function from two scalars, bounds or mean and deviation, to numbers of the type ``wanted``."""
    element, sizes = wanted.element_type, "".join(f"{size}x" for size in wanted.shape)
    is_float = not isinstance(element, ir.IntegerType)
    width = 64 if str(element) == "f64" or (not is_float and element.width == 64) else 32
    count = prod(wanted.shape)
    emit = _Lines()

    def tensor(kind: str) -> str:
        return f"tensor<{sizes}{kind}>"

    def one(op: str, operand: str, source: str, dest: str) -> str:
        return emit(op, [operand], f"({source}) -> {dest}")

    def two(op: str, first: str, second: str, kind: str) -> str:
        return emit(op, [first, second], f"({kind}, {kind}) -> {kind}")

    def full(number: float, kind: str) -> str:
        return emit("constant", [], f"() -> {tensor(kind)}", f"{{value = dense<{number}> : {tensor(kind)}}}")

    def spread(scalar: str, kind: str) -> str:
        types = f"(tensor<{kind}>) -> {tensor(kind)}"
        return emit("broadcast_in_dim", [scalar], types, "{broadcast_dimensions = array<i64>}")

    bits_type = f"tensor<{count * (2 if normal else 1)}xui{width}>"
    state = "tensor<3xui64>"
    emit.lines.append(f'  %read = "ipu.read"() {{variable = @ipu.random}} : () -> {_STATE}')
    old = one("convert", "%read", _STATE, state)
    algorithm = "{rng_algorithm = #stablehlo<rng_algorithm PHILOX>}"
    drawn = emit("rng_bit_generator", [old], f"({state}) -> ({state}, {bits_type})", algorithm)
    emit.lines[-1] = emit.lines[-1].replace(f"{drawn} =", f"{drawn}:2 =")
    new = one("convert", f"{drawn}#0", state, _STATE)
    emit.lines.append(f'  "ipu.assign"({new}) {{variable = @ipu.random}} : ({_STATE}) -> ()')

    def part(which: int) -> str:
        """Random bits for each element."""
        flat = f"tensor<{count}xui{width}>"
        taken = emit("slice", [f"{drawn}#1"], f"({bits_type}) -> {flat}", _range(which * count, (which + 1) * count))
        return one("reshape", taken, flat, tensor(f"ui{width}"))

    real, unsigned = f"f{width}", f"ui{width}"

    def uniform(which: int) -> str:
        """From 0 to 1, without 1."""
        kept = 52 if width == 64 else 23
        shifted = two("shift_right_logical", part(which), full(width - kept, unsigned), tensor(unsigned))
        whole = one("convert", shifted, tensor(unsigned), tensor(real))
        return two("multiply", whole, full(2.0**-kept, real), tensor(real))

    def wide(scalar: str, kind: str) -> str:
        return spread(one("convert", scalar, f"tensor<{element}>", f"tensor<{kind}>"), kind)

    if normal:
        angle = one("cosine", two("multiply", uniform(1), full(2 * pi, real), tensor(real)), tensor(real), tensor(real))
        left = two("subtract", full(1.0, real), uniform(0), tensor(real))
        square = two("multiply", one("log", left, tensor(real), tensor(real)), full(-2.0, real), tensor(real))
        number = two("multiply", one("sqrt", square, tensor(real), tensor(real)), angle, tensor(real))
        found = two("add", wide("%a", real), two("multiply", wide("%b", real), number, tensor(real)), tensor(real))
    elif is_float:
        size = two("subtract", wide("%b", real), wide("%a", real), tensor(real))
        found = two("add", wide("%a", real), two("multiply", uniform(0), size, tensor(real)), tensor(real))
    else:
        size = two("subtract", wide("%b", unsigned), wide("%a", unsigned), tensor(unsigned))
        least = two("remainder", part(0), size, tensor(unsigned))
        found = two("add", wide("%a", unsigned), least, tensor(unsigned))
    source = real if is_float else unsigned
    result = one("convert", found, tensor(source), tensor(str(element)))
    body = "\n".join(emit.lines)
    scalar = f"tensor<{element}>"
    return (
        f"func.func @draw(%a: {scalar}, %b: {scalar}) -> {tensor(str(element))} {{\n{body}\n"
        f"  return {result} : {tensor(str(element))}\n}}\n"
    )


class _Lines:
    """The body of a function, as it is written."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def __call__(self, op: str, operands: Sequence[str], types: str, attributes: str = "") -> str:
        name = f"%v{len(self.lines)}"
        self.lines.append(f'  {name} = "stablehlo.{op}"({", ".join(operands)}) {attributes} : {types}')
        return name


def _function(name: str, words_of_state: int, shape: list[int], width: int) -> str:
    """The text of a function from a state to the next one and random integers without a sign."""
    count = prod(shape) * (2 if width == 64 else 1)
    rows = -(-count // 4)
    ui32, ui64 = f"tensor<{rows}xui32>", f"tensor<{rows}xui64>"
    state = f"tensor<{words_of_state}xui64>"
    emit = _Lines()

    def number(value: int, kind: str) -> str:
        return emit("constant", [], f"() -> {kind}", f"{{value = dense<{value}> : {kind}}}")

    def both(op: str, first: str, second: str, kind: str) -> str:
        return emit(op, [first, second], f"({kind}, {kind}) -> {kind}")

    def convert(value: str, source: str, dest: str) -> str:
        return emit("convert", [value], f"({source}) -> {dest}")

    def spread(place: int) -> str:
        """A number of the state, for every row."""
        one = emit("slice", ["%state"], f"({state}) -> tensor<1xui64>", _range(place, place + 1))
        return emit("broadcast_in_dim", [one], f"(tensor<1xui64>) -> {ui64}", "{broadcast_dimensions = array<i64: 0>}")

    shift = number(32, ui64)

    def halves(value: str) -> tuple[str, str]:
        """The lower and the upper 32 bits."""
        upper = both("shift_right_logical", value, shift, ui64)
        return convert(value, ui64, ui32), convert(upper, ui64, ui32)

    key = list(halves(spread(0)))
    low, row = spread(1), emit("iota", [], f"() -> {ui64}", "{iota_dimension = 0 : i64}")
    counter = both("add", low, row, ui64)
    less = "{comparison_direction = #stablehlo<comparison_direction LT>}"
    carries = emit("compare", [counter, low], f"({ui64}, {ui64}) -> tensor<{rows}xi1>", less)
    carry = convert(carries, f"tensor<{rows}xi1>", ui64)
    high = both("add", spread(2 if words_of_state > 2 else 0), carry, ui64)
    lanes = [*halves(counter), *halves(high)]
    factors = [number(each, ui64) for each in _MULTIPLIERS]
    steps = [number(each, ui32) for each in _KEY_STEPS]
    for _ in range(_ROUNDS):
        products = [both("multiply", convert(lanes[2 * n], ui32, ui64), factors[n], ui64) for n in range(2)]
        (low0, high0), (low1, high1) = map(halves, products)
        first = both("xor", both("xor", high1, lanes[1], ui32), key[0], ui32)
        third = both("xor", both("xor", high0, lanes[3], ui32), key[1], ui32)
        lanes = [first, low1, third, low0]
        key = [both("add", own, step, ui32) for own, step in zip(key, steps, strict=True)]
    column = f"tensor<{rows}x1xui32>"
    columns = [emit("reshape", [lane], f"({ui32}) -> {column}") for lane in lanes]
    table = emit(
        "concatenate",
        columns,
        f"({', '.join([column] * 4)}) -> tensor<{rows}x4xui32>",
        "{dimension = 1 : i64}",
    )
    flat = emit("reshape", [table], f"(tensor<{rows}x4xui32>) -> tensor<{4 * rows}xui32>")
    flat = emit("slice", [flat], f"(tensor<{4 * rows}xui32>) -> tensor<{count}xui32>", _range(0, count))
    sizes = "".join(f"{size}x" for size in shape)
    if width == 64:
        pairs = f"tensor<{sizes}2xui32>"
        flat = emit("reshape", [flat], f"(tensor<{count}xui32>) -> {pairs}")
        drawn = emit("bitcast_convert", [flat], f"({pairs}) -> tensor<{sizes}ui64>")
    else:
        drawn = emit("reshape", [flat], f"(tensor<{count}xui32>) -> tensor<{sizes}ui32>")
        if width < 32:
            drawn = convert(drawn, f"tensor<{sizes}ui32>", f"tensor<{sizes}ui{width}>")
    after = _next_state(emit, state, words_of_state, rows)
    result = f"tensor<{sizes}ui{width}>"
    body = "\n".join(emit.lines)
    return (
        f"func.func private @{name}(%state: {state}) -> ({state}, {result}) {{\n{body}\n"
        f"  return {after}, {drawn} : {state}, {result}\n}}\n"
    )


def _range(start: int, end: int) -> str:
    """The attributes of a slice of one dimension."""
    return f"{{start_indices = array<i64: {start}>, limit_indices = array<i64: {end}>, strides = array<i64: 1>}}"


def _next_state(emit: _Lines, state: str, words: int, rows: int) -> str:
    """The state with a counter that is ``rows`` further, in 128 bits if it has so many."""
    added = f"{{value = dense<[0, {rows}{', 0' * (words - 2)}]> : {state}}}"
    after = emit("add", ["%state", emit("constant", [], f"() -> {state}", added)], f"({state}, {state}) -> {state}")
    if words < 3:
        return after
    truths = f"tensor<{words}xi1>"
    less = "{comparison_direction = #stablehlo<comparison_direction LT>}"
    wrapped = emit("compare", [after, "%state"], f"({state}, {state}) -> {truths}", less)
    one = emit("convert", [wrapped], f"({truths}) -> {state}")
    carry = emit("slice", [one], f"({state}) -> tensor<1xui64>", _range(1, 2))
    zeros = emit("constant", [], "() -> tensor<2xui64>", "{value = dense<0> : tensor<2xui64>}")
    moved = emit("concatenate", [zeros, carry], f"(tensor<2xui64>, tensor<1xui64>) -> {state}", "{dimension = 0 : i64}")
    return emit("add", [after, moved], f"({state}, {state}) -> {state}")
