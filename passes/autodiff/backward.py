"""The backward code of a block.

From the last op to the first, the rule of each turns the cotangents of its results into those of its operands.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ipu_mlir.dialects.analysis.shards import SHARD
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.autodiff.activity import active_values, is_differentiable, made_in
from ipu_mlir.passes.support.linalg_builders import fill_with, generic, identity_map, zero

arith, tensor = upstream("arith"), upstream("tensor")

Rule = Callable[[ir.Operation, "Backward"], None]
"""Adds to the cotangents of the operands of an op, at the current insertion point."""


class NotDifferentiable(Exception):
    """An op has no derivative that is known.

    Attributes:
        op: the one, of the forward code.
        reason: the end of a sentence that begins with the op.
    """

    def __init__(self, op: ir.Operation, reason: str) -> None:
        super().__init__(reason)
        self.op = op
        self.reason = reason


class Backward:
    """Cotangents of the values of a block while its backward code is appended at the current insertion point.

    Args:
        rules: by the name of the op.
        active: the values that depend on what is differentiated by; others get no cotangents.
        cotangents: those that are known from the start.
        copies: for values of the original code, those of the copy of it that is differentiated.
    """

    def __init__(
        self,
        rules: Mapping[str, Rule],
        active: set[ir.Value],
        cotangents: Mapping[ir.Value, ir.Value] | None = None,
        copies: dict[ir.Value, ir.Value] | None = None,
    ) -> None:
        self.rules = rules
        self.active = active
        self._cotangents: dict[ir.Value, ir.Value] = dict(cotangents or {})
        self._copies = {} if copies is None else copies

    def run(self, ops: Sequence[ir.Operation]) -> None:
        """Append the backward code of ``ops``, the last one first.

        Raises:
            NotDifferentiable: an op through which a cotangent has to go has no rule, or its rule refuses it.
        """
        for op in reversed(ops):
            if not any(result in self._cotangents for result in op.results):
                continue
            rule = self.rules.get(op.name)
            if rule is None:
                raise NotDifferentiable(op, "has no rule for its derivative")
            with op.location, _on_shard_of(op):
                rule(op, self)

    def enter(self, ops: Sequence[ir.Operation]) -> None:
        """Let ``ops``, which are new, be part of the code that is differentiated, without cotangents."""
        for value in made_in(ops):
            self._cotangents.pop(value, None)
        self.active = active_values(ops, self.active)

    def of(self, value: ir.Value) -> ir.Value | None:
        """The cotangent of ``value`` so far; None if it is zero."""
        return self._cotangents.get(value)

    def of_or_zeros(self, value: ir.Value) -> ir.Value:
        """The cotangent of ``value`` so far, as a value even where it is zero."""
        found = self._cotangents.get(value)
        return zeros(value.type) if found is None else found

    def wants(self, value: ir.Value) -> bool:
        """True if a cotangent of ``value`` is asked for."""
        return value in self.active and is_differentiable(value.type)

    def add(self, value: ir.Value, cotangent: ir.Value | None) -> None:
        """Add ``cotangent``, of the type of ``value``, to what ``value`` has; None adds nothing."""
        if cotangent is None or not self.wants(value):
            return
        known = self._cotangents.get(value)
        self._cotangents[value] = cotangent if known is None else total(known, cotangent)

    def replace(self, value: ir.Value, cotangent: ir.Value) -> None:
        """Let ``cotangent`` be that of ``value``: what it had is part of it."""
        if self.wants(value):
            self._cotangents[value] = cotangent

    def update(
        self, value: ir.Value, cotangent: ir.Value, read: Callable[[ir.Value], ir.Value], write: "Write"
    ) -> None:
        """Add ``cotangent`` to the part of what ``value`` has that ``read`` gives and ``write`` puts back.

        Nothing but that part is touched, so that a loop that goes over a tensor part by part takes linear time.
        """
        if not self.wants(value):
            return
        known = self._cotangents.get(value)
        if known is None:
            self._cotangents[value] = write(cotangent, zeros(value.type))
        else:
            self._cotangents[value] = write(total(read(known), cotangent), known)

    def note_replaced(self, new: Mapping[ir.Value, ir.Value]) -> None:
        """Values of the code that is differentiated have others in their place, which are used instead."""
        for original, copy in self._copies.items():
            if copy in new:
                self._copies[original] = new[copy]


@contextmanager
def _on_shard_of(op: ir.Operation) -> Iterator[None]:
    """The ops that are appended in the block run where ``op`` runs, if that says so."""
    shard = op.attributes.get(SHARD, None)
    place = ir.InsertionPoint.current
    before = len(list(place.block.operations)) if shard is not None else 0
    yield
    if shard is not None:
        following = list(place.block.operations)
        end = len(following) if place.ref_operation is None else following.index(place.ref_operation)
        for made in following[end - (len(following) - before) : end]:
            made.operation.attributes[SHARD] = shard


Write = Callable[[ir.Value, ir.Value], ir.Value]
"""A part, and the whole that it is written into, to the new whole."""


def zeros(kind: ir.Type) -> ir.Value:
    """The zero of the type of a float or of a tensor of floats of static shape."""
    if not isinstance(kind, ir.RankedTensorType):
        return zero(kind)
    return fill_with(zero(kind.element_type), tensor.EmptyOp(list(kind.shape), kind.element_type).result).results[0]


def total(a: ir.Value, b: ir.Value) -> ir.Value:
    """The sum of two floats, or element by element of two tensors."""
    if not isinstance(a.type, ir.RankedTensorType):
        return arith.addf(a, b)
    return elementwise([a, b], a.type, lambda values: arith.addf(*values))


def elementwise(
    inputs: Sequence[ir.Value], kind: ir.RankedTensorType, function: Callable[[list[ir.Value]], ir.Value]
) -> ir.Value:
    """``function`` of the elements of tensors of one shape, as a tensor of the type ``kind``."""
    shape = list(kind.shape)
    empty = tensor.EmptyOp(shape, kind.element_type).result
    maps = [identity_map(len(shape))] * (len(inputs) + 1)

    def body(arguments: list[ir.Value]) -> list[Any]:
        return [function(arguments[:-1])]

    return generic(list(inputs), [empty], maps, [True] * len(shape), body).results[0]
