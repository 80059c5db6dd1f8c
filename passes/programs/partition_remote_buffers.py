"""``ipu-partition-remote-buffers``: remote buffers of which each replica keeps a part."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from ipu_mlir.dialects.analysis.remote import MOVES, RemoteBuffer, moved_and_rows, remote_buffer_of, remote_buffers_in
from ipu_mlir.dialects.attributes.attributes import module_target
from ipu_mlir.dialects.ipu import (
    AllGatherOp,
    AllToAllOp,
    HostGatherOp,
    HostUpdateAddOp,
    ReduceScatterOp,
    RemoteLoadOp,
    RemoteStoreOp,
)
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass, Refusals
from ipu_mlir.passes.support.linalg_builders import elementwise, generic, identity_map, reshaped, zero
from ipu_mlir.passes.support.replica_blocks import (
    blocks_of_rows,
    gathered_blocks,
    own_block,
    replica_number,
    rows_of_blocks,
    tensor_type,
)
from ipu_mlir.passes.support.rewriting import list_ops

arith, tensor = upstream("arith"), upstream("tensor")


def part_of(shape: Sequence[int], partition: str, replicas: int) -> tuple[int, ...]:
    """The shape of what each replica keeps of a buffer: ``encoding`` cuts each row, ``token`` deals out the rows.

    >>> part_of((10, 2, 3), "encoding", 4), part_of((10, 2, 3), "token", 4)
    ((10, 2), (3, 2, 3))
    """
    rows, *row = shape
    return (rows, -(-prod(row) // replicas)) if partition == "encoding" else (-(-rows // replicas), *row)


def _part_of_each(buffer: RemoteBuffer, replicas: int) -> tuple[int, ...]:
    assert buffer.partition is not None, "a buffer that is cut"
    return part_of(buffer.type.shape, buffer.partition, replicas)


def _is_part(op: ir.Operation, buffer: RemoteBuffer, replicas: int) -> bool:
    """True if ``op`` moves the part of one row that a replica has (``ipu-update-on-shards``)."""
    moved = tuple(moved_and_rows(op)[0].type.shape)
    return prod(buffer.row_shape) > 1 and moved == _part_of_each(buffer, replicas)[1:] != tuple(buffer.row_shape)


class PartitionRemoteBuffers(Pass):
    """Let each replica keep a part of the remote buffers that say ``partition``, and move rows together.

    With ``"encoding"``, the elements of a row in order, padded with zeros, are cut into as many blocks as there are
    replicas. What is loaded is gathered from all of them; each stores its own block of what is the same on all. With
    ``"token"`` row t is row t / R of replica t mod R. Numbers of rows to look up go to all replicas, and each gets what
    all have found.

    Needs:  rows of the right form (``ipu-check-remote-buffers``); the target says how many replicas there are.
    Leaves: buffers with the type of a part, and the type of all parts as ``whole``; on one replica, the module as it
            was.
    """

    name = "ipu-partition-remote-buffers"

    def run(self, module: ir.Operation) -> None:
        replicas = module_target(module).replicas
        buffers = {name: each for name, each in remote_buffers_in(module).items() if each.partition is not None}
        if replicas == 1 or not buffers:
            return
        with module.context, Refusals() as refuse:
            moves = [op for op in list_ops(module, *MOVES) if remote_buffer_of(op) in buffers]
            for op in moves:
                buffer = buffers[remote_buffer_of(op)]
                if buffer.partition == "token" and op.name in ("ipu.remote_load", "ipu.remote_store"):
                    refuse(
                        op, f"moves rows of @{buffer.name} in order, whose rows lie on one replica each: look them up"
                    )
            if refuse.diagnostics:
                return
            for op in moves:
                buffer = buffers[remote_buffer_of(op)]
                if buffer.partition == "encoding" and _is_part(op, buffer, replicas):
                    continue
                parts = _Parts(buffer, _part_of_each(buffer, replicas), replicas)
                with ir.InsertionPoint(op), op.location:
                    found = _REWRITES[op.name](parts, op)
                for result in op.results:
                    result.replace_all_uses_with(found)
                op.erase()
            for buffer in buffers.values():
                part = _part_of_each(buffer, replicas)
                buffer.op.attributes["whole"] = buffer.op.attributes["type"]
                buffer.op.attributes["type"] = ir.TypeAttr.get(tensor_type(part, buffer.type.element_type))


@dataclass(frozen=True)
class _Parts:
    """A buffer of whose type each of ``replicas`` keeps ``part``; tensors of it at the current insertion point."""

    buffer: RemoteBuffer
    part: tuple[int, ...]
    replicas: int

    @property
    def element(self) -> ir.Type:
        return self.buffer.type.element_type

    @property
    def symbol(self) -> ir.Attribute:
        return ir.FlatSymbolRefAttr.get(self.buffer.name)

    @property
    def row(self) -> int:
        """Elements of a whole row."""
        return prod(self.buffer.row_shape)

    def load(self, op: ir.Operation) -> ir.Value:
        wanted = list(op.results[0].type.shape)
        rows = wanted[: len(wanted) - len(self.buffer.row_shape)]
        kind = tensor_type([*rows, *self.part[1:]], self.element)
        own = RemoteLoadOp(buffer=self.symbol, row=op.operands[0], value=kind).value
        return rows_of_blocks(gathered_blocks(own, prod(rows), self.replicas), wanted)

    def store(self, op: ir.Operation) -> None:
        value, row = op.operands
        rows = list(value.type.shape)[: len(value.type.shape) - len(self.buffer.row_shape)]
        own = own_block(blocks_of_rows(value, prod(rows), self.replicas), [*rows, self.part[1]])
        RemoteStoreOp(buffer=self.symbol, value=own, row=row)

    def gather(self, op: ir.Operation) -> ir.Value:
        wanted = list(op.results[0].type.shape)
        numbers, count = self._numbers_of_all(op.operands[0])
        if self.buffer.partition == "encoding":
            kind = tensor_type([self.replicas, count, self.part[1]], self.element)
            found = HostGatherOp(buffer=self.symbol, rows=numbers, value=kind).value
            return rows_of_blocks(self._exchanged(found), wanted)
        place, is_here = self._here(numbers)
        kind = tensor_type([self.replicas, count, *self.buffer.row_shape], self.element)
        found = reshaped(
            HostGatherOp(buffer=self.symbol, rows=place, value=kind).value, [self.replicas, count, self.row]
        )
        flat = reshaped(self._where(is_here, found), [self.replicas * count * self.row])
        own = ReduceScatterOp(
            source=flat, op=ir.StringAttr.get("add"), value=tensor_type([count * self.row], self.element)
        )
        return reshaped(own.value, wanted)

    def update(self, op: ir.Operation) -> None:
        numbers, count = self._numbers_of_all(op.operands[0])
        if self.buffer.partition == "encoding":
            update = self._exchanged(blocks_of_rows(op.operands[1], count, self.replicas))
        else:
            numbers, is_here = self._here(numbers)
            flat = reshaped(op.operands[1], [count, self.row])
            of_all = AllGatherOp(source=flat, value=tensor_type([self.replicas, count, self.row], self.element)).value
            update = reshaped(self._where(is_here, of_all), [self.replicas, count, *self.buffer.row_shape])
        new = HostUpdateAddOp(buffer=self.symbol, rows=numbers, update=update).operation
        if "every" in op.attributes:
            new.attributes["every"] = op.attributes["every"]

    def _numbers_of_all(self, rows: ir.Value) -> tuple[ir.Value, int]:
        """The numbers that each replica asks for, and how many that are."""
        count = prod(rows.type.shape)
        kind = tensor_type([self.replicas, count], rows.type.element_type)
        return AllGatherOp(source=reshaped(rows, [count]), value=kind).value, count

    def _exchanged(self, blocks: ir.Value) -> ir.Value:
        """Block r of every replica, on replica r."""
        number = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 0)
        return AllToAllOp(source=blocks, split_dimension=number, concat_dimension=number, value=blocks.type).value

    def _here(self, numbers: ir.Value) -> tuple[ir.Value, ir.Value]:
        """The row of its own that each number stands for, and whether it does on this replica."""
        kind = numbers.type.element_type

        def row(number: ir.Value) -> ir.Value:
            return arith.DivSIOp(number, arith.ConstantOp(kind, self.replicas).result).result

        place = elementwise(numbers, kind, row).results[0]
        bits = tensor.EmptyOp(list(numbers.type.shape), ir.IntegerType.get_signless(1)).result

        def is_here(elements: list[ir.Value]) -> list[ir.Value]:
            owner = arith.RemSIOp(elements[0], arith.ConstantOp(kind, self.replicas).result).result
            return [arith.CmpIOp(arith.CmpIPredicate.eq, owner, elements[1]).result]

        maps = [identity_map(2), ir.AffineMap.get(2, 0, []), identity_map(2)]
        return place, generic([numbers, replica_number()], [bits], maps, [True, True], is_here).results[0]

    def _where(self, is_here: ir.Value, values: ir.Value) -> ir.Value:
        """Rows that are here, and zeros in place of the others."""
        empty = tensor.EmptyOp(list(values.type.shape), self.element).result
        rows = ir.AffineMap.get(3, 0, [ir.AffineExpr.get_dim(0), ir.AffineExpr.get_dim(1)])

        def chosen(elements: list[ir.Value]) -> list[ir.Value]:
            return [arith.SelectOp(elements[0], elements[1], zero(self.element)).result]

        maps = [rows, identity_map(3), identity_map(3)]
        return generic([is_here, values], [empty], maps, [True] * 3, chosen).results[0]


_REWRITES: dict[str, Callable[[_Parts, ir.Operation], ir.Value | None]] = {
    "ipu.remote_load": _Parts.load,
    "ipu.remote_store": _Parts.store,
    "ipu.host_gather": _Parts.gather,
    "ipu.host_update_add": _Parts.update,
}
