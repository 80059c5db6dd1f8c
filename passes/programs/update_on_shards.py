"""``ipu-update-on-shards``: what is computed element by element from parts of rows is computed on these parts."""

from collections.abc import Callable, Iterable
from math import prod

from ipu_mlir.dialects.analysis.buffers import element_bytes
from ipu_mlir.dialects.analysis.collectives import collective_of
from ipu_mlir.dialects.analysis.loop_nest import indexing_maps, reads_operand
from ipu_mlir.dialects.analysis.matchers import constant_of, defining_op
from ipu_mlir.dialects.analysis.remote import remote_buffer_of, remote_buffers_in
from ipu_mlir.dialects.analysis.replicas import Varying
from ipu_mlir.dialects.attributes.attributes import module_target
from ipu_mlir.dialects.ipu import ReduceScatterOp, RemoteLoadOp, RemoteStoreOp
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.linalg_builders import bodiless_generic, fill_with, identity_map, reshaped, scalar_map
from ipu_mlir.passes.support.replica_blocks import (
    blocks_of_rows,
    gathered_blocks,
    own_block,
    rows_of_blocks,
    tensor_type,
)
from ipu_mlir.passes.support.rewriting import list_ops

_LOAD, _STORE = "ipu.remote_load", "ipu.remote_store"
_NOT_FOR_PADDING = ("arith.divsi", "arith.divui", "arith.remsi", "arith.remui", "arith.ceildivsi", "arith.floordivsi")
"""Ops that end the program for some operands: behind its elements, a part may have any."""
_OF_LOOPS = ("indexing_maps", "iterator_types", "operandSegmentSizes")

arith, tensor = upstream("arith"), upstream("tensor")


class UpdateOnShards(Pass):
    """Compute what goes element by element from and to rows that replicas share on the part that each of them has.

    That is the update of an optimizer whose state is partitioned. Of a value that the update takes each replica uses
    its part: of what ``ipu.all_reduce`` gives to nobody else, ``ipu.reduce_scatter`` gives no more than that. What
    others need of the update is gathered: a weight, but not the state.

    Ops join that take what is loaded, or that only such ops and stores take; those at the end leave again where less
    is gathered without them. All of them compute what is the same on all replicas.

    Needs:  generic ops (``ipu-generalize-ops``); the target says how many replicas there are.
    Leaves: loads and stores of parts of a row, of buffers that ``ipu-partition-remote-buffers`` cuts; on one replica,
            the module as it was.
    """

    name = "ipu-update-on-shards"

    def run(self, module: ir.Operation) -> None:
        replicas = module_target(module).replicas
        buffers = {name: each for name, each in remote_buffers_in(module).items() if each.partition == "encoding"}
        if replicas == 1 or not buffers:
            return
        with module.context, ir.Location.unknown():
            moves: dict[ir.Block, dict[tuple[int, ...], list[ir.Operation]]] = {}
            for op in list_ops(module, _LOAD, _STORE):
                buffer = buffers.get(remote_buffer_of(op))
                moved = (*op.results, *op.operands)[0].type.shape
                if buffer is not None and list(moved) == buffer.row_shape and prod(moved) > 1:
                    moves.setdefault(op.block, {}).setdefault(tuple(moved), []).append(op)
            varying = Varying(module, replicas) if moves else ()
            for of_block in moves.values():
                for shape, found in of_block.items():
                    _Update(shape, replicas, found, lambda value: value not in varying).rewrite()


class _Update:
    """The ops of one block, over one shape, that are computed on parts.

    Attributes:
        members: the element-wise ops among them, in their order.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        replicas: int,
        moves: list[ir.Operation],
        is_equal: Callable[[ir.Value], bool],
    ) -> None:
        self._shape, self._replicas, self._is_equal = shape, replicas, is_equal
        self._moves, self._block = set(moves), moves[0].block
        self._ops = [each.operation for each in self._block.operations]
        self._parts: dict[ir.Value, ir.Value] = {}
        self._scattered: list[ir.Operation] = []
        self._given = {result for op in moves for result in op.results}
        members: set[ir.Operation] = set()
        for op in self._ops:
            if any(each in self._given for each in op.operands) and self._is_elementwise(op):
                members.add(op)
                self._given.update(op.results)
        for op in reversed(self._ops):
            users = _users(op.results)
            if op not in members and users and users <= members | self._moves and self._is_elementwise(op):
                members.add(op)
                self._given.update(op.results)
        self.members = members
        for op in reversed(self._ops):
            if op in members and self._is_better_whole(op):
                members.remove(op)
                self._given.difference_update(op.results)

    def _is_elementwise(self, op: ir.Operation) -> bool:
        """True if each element of the results comes from the same elements of what it reads, or from single ones."""
        if op.name != "linalg.generic" or "library_call" in op.attributes or not all(map(self._has_shape, op.results)):
            return False
        maps, loops = _maps(op), len(self._shape)
        if any(each not in (identity_map(loops), scalar_map(loops)) for each in maps):
            return False
        body = [each.operation for each in op.regions[0].blocks[0].operations]
        plain = all(
            each.name.startswith(("arith.", "math.", "linalg.yield")) and each.name not in _NOT_FOR_PADDING
            for each in body
        )
        return plain and all(map(self._is_equal, op.results))

    def _has_shape(self, value: ir.Value) -> bool:
        return isinstance(value.type, ir.RankedTensorType) and tuple(value.type.shape) == self._shape

    def _needed_whole(self, value: ir.Value) -> bool:
        return not _users([value]) <= self.members | self._moves

    def _is_better_whole(self, op: ir.Operation) -> bool:
        """True if nothing else is computed from ``op`` on parts, and less is gathered if it is not either."""
        if _users(op.results) & (self.members | self._moves):
            return False
        taken = [each for each in set(op.operands) if each in self._given and not self._needed_whole(each)]
        return sum(map(_bytes, taken)) < sum(map(_bytes, op.results))

    def rewrite(self) -> None:
        """Put loads, stores and members on parts in the place of those of rows, and gather what others need."""
        gone = []
        for op in self._ops:
            if op not in self._moves and op not in self.members:
                continue
            if op.name == _LOAD and _users(op.results).isdisjoint(self.members | self._moves):
                continue  # nothing is computed on its part
            with ir.InsertionPoint(op), op.location:
                self._rewrite(op)
            gone.append(op)
        for op in (*reversed(gone), *self._scattered):
            op.erase()

    def _rewrite(self, op: ir.Operation) -> None:
        if op.name == _STORE:
            value, row = op.operands
            RemoteStoreOp(buffer=op.attributes["buffer"], value=self._part(value), row=row)
            return
        if op.name == _LOAD:
            kind = self._part_type(op.results[0])
            made = [RemoteLoadOp(buffer=op.attributes["buffer"], row=op.operands[0], value=kind).value]
        else:
            made = list(self._computed(op).results)
        for result, part in zip(op.results, made, strict=True):
            self._parts[result] = part
            if self._needed_whole(result):
                whole = rows_of_blocks(gathered_blocks(part, 1, self._replicas), self._shape)
                result.replace_all_uses_with(whole)
                self._parts[whole] = part

    def _computed(self, op: ir.Operation) -> ir.Operation:
        """The member ``op`` on parts; its body moves there."""
        inputs = len(op.operands) - len(op.results)
        maps = [identity_map(1) if len(each.results) else scalar_map(1) for each in _maps(op)]
        values = [
            each
            if affine_map == scalar_map(1)
            else self._part(each)
            if reads_operand(op, number)
            else tensor.EmptyOp([self._size], each.type.element_type).result
            for number, (each, affine_map) in enumerate(zip(op.operands, maps, strict=True))
        ]
        kept = {name: op.attributes[name] for name in op.attributes if name not in _OF_LOOPS}
        new = bodiless_generic(values[:inputs], values[inputs:], maps, [True], kept)
        op.regions[0].blocks[0].append_to(new.regions[0])
        return new

    def _part(self, value: ir.Value) -> ir.Value:
        """The part of ``value`` that this replica has, in one dimension; made at the current insertion point."""
        if value not in self._parts:
            self._parts[value] = self._part_made(value)
        return self._parts[value]

    def _part_made(self, value: ir.Value) -> ir.Value:
        kind = self._part_type(value)
        constant = constant_of(value)
        if isinstance(constant, ir.DenseElementsAttr) and constant.is_splat:
            splat = ir.DenseElementsAttr.get_splat(kind, constant.get_splat_value())
            return arith.ConstantOp(kind, splat).result
        op = defining_op(value, "linalg.fill", "ipu.all_reduce")
        if op is not None and op.name == "linalg.fill":
            return fill_with(op.operands[0], tensor.EmptyOp([self._size], kind.element_type).result).results[0]
        if op is not None and self._is_only_for_parts(op):
            self._scattered.append(op)
            flat = reshaped(op.operands[0], [prod(self._shape)])
            return ReduceScatterOp(source=flat, op=op.attributes["op"], value=kind).value
        return own_block(blocks_of_rows(value, 1, self._replicas), kind.shape)

    def _is_only_for_parts(self, all_reduce: ir.Operation) -> bool:
        collective = collective_of(all_reduce)
        assert collective is not None, "asked of collectives"
        of_all = collective.size(self._replicas) == self._replicas
        return of_all and all_reduce.block == self._block and not self._needed_whole(all_reduce.results[0])

    @property
    def _size(self) -> int:
        return -(-prod(self._shape) // self._replicas)

    def _part_type(self, value: ir.Value) -> ir.RankedTensorType:
        return tensor_type([self._size], value.type.element_type)


def _maps(generic: ir.Operation) -> list[ir.AffineMap]:
    maps = indexing_maps(generic)
    assert maps is not None, "a generic has them"
    return maps


def _users(values: Iterable[ir.Value]) -> set[ir.Operation]:
    return {use.owner.operation for value in values for use in value.uses}


def _bytes(value: ir.Value) -> int:
    return prod(value.type.shape) * element_bytes(value.type.element_type)
