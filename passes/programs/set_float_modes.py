"""``ipu-set-float-modes``: how operations on floats round, overflow and fail."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ipu_mlir.dialects.analysis.locations import name_scope, place_of
from ipu_mlir.dialects.analysis.loop_nest import is_structured, loop_nest, num_outputs
from ipu_mlir.dialects.analysis.matchers import symbol_of
from ipu_mlir.dialects.analysis.outlined_calls import callee_of, callees_first, calls_in
from ipu_mlir.dialects.analysis.replicas import Varying
from ipu_mlir.dialects.analysis.variables import variables_in
from ipu_mlir.dialects.attributes.attributes import module_target
from ipu_mlir.dialects.ipu import AssignOp, IsSoundOp, NoiseOp, ReadOp, ReplicaIndexOp, RoundOp, SaturateOp, VariableOp
from ipu_mlir.dialects.ops.rounding import EXCEPTIONS
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.programs.outline_functions import pass_variables
from ipu_mlir.passes.support.linalg_builders import constant_index, generic, identity_map, loop_index, scalar_map
from ipu_mlir.passes.support.rewriting import list_ops, replace_op

STATE = "ipu.rounding"
"""The variable that counts how often blocks were entered in which numbers are rounded at random."""

_EXACT = frozenset(
    (
        *(f"arith.{name}" for name in ("constant", "select", "maximumf", "minimumf", "maxnumf", "minnumf", "negf")),
        *(f"math.{name}" for name in ("absf", "copysign", "ceil", "floor", "trunc", "round", "roundeven", "clampf")),
        *("arith.bitcast", "arith.extf", "tensor.extract", "ipu.round", "ipu.saturate"),
    )
)
"""Operations whose result is one of their operands, or has no more digits than those."""

_POLES = frozenset(f"math.{name}" for name in ("rsqrt", "log", "log2", "log10", "log1p", "atanh", "powf", "fpowi"))
_WORDS = {
    "inv": "an operation on floats has no result (inv): NaN of operands without NaN",
    "div0": "division of floats by zero (div0)",
    "oflo": "the result is too large for its type (oflo)",
}
_SCOPES = re.compile(r"(?:^|/)ipu\.rounding\.(\w+?)(?=_|/|$)")
_APART = -0x61C88647
"""What keys of neighbouring replicas differ by: the golden ratio in 32 bits."""


@dataclass(frozen=True)
class SetFloatModes(Pass):
    """Round at random, saturate, and raise exceptions, as the machine's units do where their modes say so.

    Behind each operation on f16 and bf16 that rounds comes an ``ipu.round``, whose noise follows from a key, a number
    of its own and the indices of its loops: the same on any number of tiles. The key is a variable, ``@ipu.rounding``,
    that counts on each time that a block is entered, so that no two iterations and no two runs have the same noise.
    Or, where numbers are rounded to the nearest, an ``ipu.saturate``. An operation that may raise an exception is
    followed by an ``ipu.is_sound`` and an assertion.

    Sums are f32 until they are complete, and rounded then. Library codelets round to the nearest, as do sums that
    are f16 in each step.

    Options:
        rounding: ``nearest``, or ``stochastic``: values that are the same on all replicas are rounded with the same
            noise on all of them, others with noise of their own. ``identical``: those others are rounded to the
            nearest.
        overflow: what f16 becomes beyond 65504: ``infinity``, ``clip`` (65504), or ``nan``.
        exceptions: of ``inv``, ``div0``, ``oflo``, those that end the program.
        seed: what the variable begins with.
        scopes: whether operations follow the innermost scope of their name that is called
            ``ipu.rounding.stochastic`` or ``ipu.rounding.nearest``.

    Needs:  functions whose variables are arguments, element-wise ops fused, sums widened.
    Leaves: ``ipu.read`` and ``ipu.assign`` of ``@ipu.rounding`` (``ipu-promote-variables``); with the defaults, the
            program as it was.
    """

    name = "ipu-set-float-modes"

    rounding: Literal["nearest", "stochastic", "identical"] = "nearest"
    overflow: Literal["infinity", "clip", "nan"] = "infinity"
    exceptions: tuple[str, ...] = ()
    seed: int = 0
    scopes: bool = False

    def __post_init__(self) -> None:
        unknown = [each for each in self.exceptions if each not in EXCEPTIONS]
        if unknown:
            raise CompileError(f"there is no exception {unknown[0]!r} of floats; there are {', '.join(EXCEPTIONS)}")

    def run(self, module: ir.Operation) -> None:
        if self.rounding == "nearest" and self.overflow == "infinity" and not self.exceptions and not self.scopes:
            return
        with module.context, ir.Location.unknown():
            bodies = [op for op in list_ops(module) if is_structured(op) and _has_body(op)]
            for op in bodies if self.exceptions else ():
                self._check(op)
            rounding = [(op, found) for op in bodies if (found := _rounding(op))]
            replicas = module_target(module).replicas if rounding else 1
            varying = Varying(module, replicas) if replicas > 1 else ()
            keys = _Keys(module, self.seed)
            for number, (op, found) in enumerate(rounding):
                differs = any(value in varying for value in (*op.operands, *op.results))
                at_random = [inner for inner in found if self._is_random(inner, differs)]
                if self.overflow != "infinity":
                    self._saturate([inner for inner in found if inner not in at_random])
                if at_random:
                    self._round(op, at_random, keys.of(op, differs), number)
            keys.deliver()

    def _is_random(self, op: ir.Operation, differs: bool) -> bool:
        said = _SCOPES.findall(name_scope(op.location))[-1:] if self.scopes else []
        if said:
            return said == ["stochastic"]
        return self.rounding == "stochastic" or (self.rounding == "identical" and not differs)

    def _round(self, op: ir.Operation, found: list[ir.Operation], key: ir.Value, number: int) -> None:
        op = _with_input(op, key)
        block = op.regions[0].blocks[0]
        with ir.InsertionPoint.at_block_begin(block), op.location:
            noise = _stirred(block.arguments[_inputs(op) - 1], constant_index(number))
            for loop in range(len(op.attributes["iterator_types"])):
                noise = _stirred(noise, loop_index(loop))
            each = [noise, *(_stirred(noise, constant_index(place)) for place in range(1, len(found)))]
        for inner, bits in zip(found, each, strict=True):
            value = inner.results[0]
            overflow = self.overflow if str(value.type) == "f16" else "infinity"
            with ir.InsertionPoint.after(inner), inner.location:
                rounded = RoundOp(source=value, noise=bits, overflow=ir.StringAttr.get(overflow), rounded=value.type)
            _use_instead(value, rounded.operation)

    def _saturate(self, found: list[ir.Operation]) -> None:
        for inner in found:
            value = inner.results[0]
            if str(value.type) == "f16":
                with ir.InsertionPoint.after(inner), inner.location:
                    made = SaturateOp(source=value, overflow=ir.StringAttr.get(self.overflow), rounded=value.type)
                _use_instead(value, made.operation)

    def _check(self, op: ir.Operation) -> None:
        nest = loop_nest(op)
        if nest is not None and not all(nest.parallel):
            for result in op.results:
                if isinstance(result.type.element_type, ir.FloatType):
                    _check_elements(result, [each for each in self.exceptions if each != "div0"])
            return
        for inner in list(_operations(op.regions[0].blocks[0])):
            if _computes(inner) and isinstance(inner.results[0].type, ir.FloatType):
                with ir.InsertionPoint.after(inner), inner.location:
                    _assert_sound(inner.results[0], [each for each in self.exceptions if _may_raise(inner, each)])


def _may_raise(op: ir.Operation, exception: str) -> bool:
    return exception != "div0" or op.name == "arith.divf" or op.name in _POLES


def _assert_sound(value: ir.Value, exceptions: list[str]) -> None:
    for each in exceptions:
        exception, kind = ir.StringAttr.get(each), ir.IntegerType.get_signless(1)
        sound = IsSoundOp(source=value, exception=exception, sound=kind).operation.results[0]
        upstream("cf").AssertOp(sound, _WORDS[each] + _where(value))


def _where(value: ir.Value) -> str:
    """The operation that gives ``value``, and its place: that of the op around it may be another one's."""
    if isinstance(value.owner, ir.Block):
        return ""
    place = place_of(value.owner.location)
    return f", in {value.owner.operation.name}" + (f" at {place}" if place else "")


def _check_elements(value: ir.Value, exceptions: list[str]) -> None:
    """Check ``value``, which is a sum or the like, by an op behind the one that gives it."""

    def body(arguments: list[ir.Value]) -> list[ir.Value]:
        _assert_sound(arguments[0], exceptions)
        return []

    rank = len(value.type.shape)
    if exceptions:
        with ir.InsertionPoint.after(value.owner.operation), value.owner.operation.location:
            generic([value], [], [identity_map(rank)], [True] * rank, body)


def _has_body(op: ir.Operation) -> bool:
    return "library_call" not in op.attributes and len(op.regions) > 0 and len(op.regions[0].blocks) > 0


def _operations(block: ir.Block) -> Iterator[ir.Operation]:
    """Those of ``block`` and of the regions in it."""
    for view in block.operations:
        yield view.operation
        for region in view.operation.regions:
            for inner in region.blocks:
                yield from _operations(inner)


def _rounding(op: ir.Operation) -> list[ir.Operation]:
    """The operations in the body of ``op`` that round to f16 or bf16, but for sums that are not complete."""
    if op.name != "linalg.generic":
        return []
    nest = loop_nest(op)
    block = op.regions[0].blocks[0]
    running: set[ir.Value] = set()
    if nest is None or not all(nest.parallel):
        running = set(list(block.arguments)[_inputs(op) :])
    found = []
    for inner in _operations(block):
        if any(operand in running for operand in inner.operands):
            running.update(inner.results)
        elif _computes(inner) and str(inner.results[0].type) in ("f16", "bf16"):
            found.append(inner)
    return found


def _computes(op: ir.Operation) -> bool:
    return len(op.results) == 1 and not len(op.regions) and op.name not in _EXACT


def _inputs(op: ir.Operation) -> int:
    return len(op.operands) - num_outputs(op)


def _use_instead(value: ir.Value, made: ir.Operation) -> None:
    """Let what used ``value`` use the result of ``made``, but for what asks how ``value`` was made."""
    for use in list(value.uses):
        owner = use.owner.operation
        if owner != made and owner.name != IsSoundOp.OPERATION_NAME:
            owner.operands[use.operand_number] = made.results[0]


def _stirred(key: ir.Value, index: ir.Value) -> ir.Value:
    return NoiseOp(key=key, index=index, bits=key.type).operation.results[0]


def _with_input(op: ir.Operation, key: ir.Value) -> ir.Operation:
    """``op`` with ``key``, a tensor of one number, as its last input; its body stays the same ops."""
    inputs, outputs = _inputs(op), num_outputs(op)
    maps = [each.value for each in op.attributes["indexing_maps"]]
    maps.insert(inputs, scalar_map(len(op.attributes["iterator_types"])))
    attributes = {name: op.attributes[name] for name in op.attributes}
    attributes["indexing_maps"] = ir.ArrayAttr.get([ir.AffineMapAttr.get(each) for each in maps])
    attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([inputs + 1, outputs])
    operands, types = list(op.operands), [result.type for result in op.results]
    operands.insert(inputs, key)
    with ir.InsertionPoint(op), op.location:
        new = ir.Operation.create("linalg.generic", types, operands, attributes, regions=1)
    old = op.regions[0].blocks[0]
    arguments = list(old.arguments)
    kinds = [each.type for each in arguments]
    kinds.insert(inputs, key.type.element_type)
    block = ir.Block.create_at_start(new.regions[0], kinds, [op.location] * len(kinds))
    for inner in list(old.operations):
        block.append(inner.operation)
    for number, argument in enumerate(arguments):
        argument.replace_all_uses_with(block.arguments[number + (number >= inputs)])
    replace_op(op, list(new.results))
    return new


class _Keys:
    """The keys of blocks, each read where its block begins, and what is still to be handed to functions.

    Attributes:
        module: that has the blocks.
    """

    def __init__(self, module: ir.Operation, seed: int) -> None:
        self._module, self._seed = module, seed
        self._known: dict[tuple[ir.Block, bool], ir.Value] = {}
        self._kind = ir.RankedTensorType.get([], ir.IntegerType.get_signless(32))
        self._symbol = ir.FlatSymbolRefAttr.get(STATE)

    def of(self, op: ir.Operation, differs: bool) -> ir.Value:
        """The key of the block that ``op`` stands in, another one on each replica if that ``differs``."""
        if (op.block, False) not in self._known:
            with ir.InsertionPoint.at_block_begin(op.block), op.location:
                self._known[op.block, False] = self._next()
        key = self._known[op.block, False]
        if (op.block, differs) not in self._known:
            with ir.InsertionPoint.after(key.owner.operation), op.location:
                replica = ReplicaIndexOp(index=self._kind).operation.results[0]
                apart = upstream("arith").MulIOp(replica, self._number(_APART)).result
                self._known[op.block, True] = self._sum(key, apart)
        return self._known[op.block, differs]

    def _next(self) -> ir.Value:
        """A key that no other place and no other time has."""
        key = ReadOp(variable=self._symbol, value=self._kind).value
        AssignOp(variable=self._symbol, value=self._sum(key, self._number(1)))
        return key

    def deliver(self) -> None:
        """Declare the variable, and let functions that are called take its value from their callers."""
        if not self._known:
            return
        with ir.InsertionPoint.at_block_begin(self._module.regions[0].blocks[0]):
            if STATE not in variables_in(self._module):
                made = VariableOp(sym_name=ir.StringAttr.get(STATE), type=ir.TypeAttr.get(self._kind))
                made.operation.attributes["init"] = self._splat(self._seed)
        functions = list_ops(self._module, "func.func")
        for function in callees_first(functions):
            name = symbol_of(function)
            calls = [call for each in functions for call in calls_in(each) if callee_of(call) == name]
            if calls and list_ops(function, ReadOp.OPERATION_NAME):
                pass_variables(function, calls, {STATE: self._kind})

    def _number(self, number: int) -> ir.Value:
        return upstream("arith").ConstantOp(self._kind, self._splat(number)).result

    def _splat(self, number: int) -> ir.Attribute:
        return ir.DenseElementsAttr.get_splat(self._kind, ir.IntegerAttr.get(self._kind.element_type, number))

    def _sum(self, one: ir.Value, other: ir.Value) -> ir.Value:
        return upstream("arith").AddIOp(one, other).result
