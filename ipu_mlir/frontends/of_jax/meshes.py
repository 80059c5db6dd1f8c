"""Programs of JAX on a mesh of devices, as the program of one replica.

Shardy, which comes with JAX, propagates the shardings, inserts the collectives, and gives what one device computes; a
device of the mesh is a replica.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jax import export
from jax.interpreters import mlir
from jaxlib.mlir import ir, passmanager
from jaxlib.mlir.dialects import sdy

from ipu_mlir.dialects.analysis.replicas import VARIES
from ipu_mlir.dialects.support.errors import CompileError

_PROPAGATE = (
    "builtin.module(sdy-propagation-pipeline,func.func(sdy-sharding-constraint-to-reshard,"
    "sdy-insert-explicit-reshards{enable-full-version=true}),sdy-close-shardings,"
    "func.func(sdy-reshard-to-collectives),sdy-convert-global-to-local)"
)
_DROP = "builtin.module(sdy-drop-sharding-and-mesh)"
_MARKS = (b"mhlo.sharding", b"SPMDFullToShardShape")


@dataclass(frozen=True)
class Sharding:
    """The blocks of an array that replicas hold.

    Attributes:
        blocks: into how many blocks each dimension is cut.
        held: by replica, the number of its block along each dimension.
    """

    blocks: tuple[int, ...]
    held: tuple[tuple[int, ...], ...]

    @property
    def is_cut(self) -> bool:
        """True if not every replica holds the whole array."""
        return math.prod(self.blocks) > 1

    def split(self, array: np.ndarray) -> np.ndarray:
        """What the replicas hold of ``array``, along a new first dimension.

        >>> Sharding((2, 1), ((0, 0), (1, 0))).split(np.arange(4).reshape(4, 1)).tolist()
        [[[0], [1]], [[2], [3]]]
        """
        return np.stack([array[self._at(array.shape, held)] for held in self.held])

    def join(self, parts: np.ndarray) -> np.ndarray:
        """The array of which ``parts`` has what each replica holds, along its first dimension.

        >>> cut = Sharding((1, 2), ((0, 0), (0, 1), (0, 0), (0, 1)))
        >>> cut.join(cut.split(np.arange(6).reshape(3, 2))).tolist()
        [[0, 1], [2, 3], [4, 5]]
        """
        rank = len(self.blocks)
        shape = tuple(size * blocks for size, blocks in zip(parts.shape[1:], self.blocks, strict=False))
        array = np.empty(shape + parts.shape[1 + rank :], parts.dtype)  # complex numbers have one more dimension
        for held, part in zip(self.held, parts, strict=True):
            array[self._at(array.shape, held)] = part
        return array

    def _at(self, shape: Sequence[int], held: Sequence[int]) -> tuple[slice, ...]:
        sizes = [size // blocks for size, blocks in zip(shape, self.blocks, strict=False)]
        return tuple(slice(number * size, (number + 1) * size) for number, size in zip(held, sizes, strict=True))


@dataclass(frozen=True)
class Local:
    """What one replica computes.

    Attributes:
        program: StableHLO as text.
        replicas: how many devices the mesh has.
        inputs, outputs: of each argument and each result of the program, how it is cut.
    """

    program: str
    replicas: int
    inputs: tuple[Sharding, ...]
    outputs: tuple[Sharding, ...]


def is_on_mesh(exported: export.Exported) -> bool:
    """True if a program that is exported without Shardy says where values lie on several devices."""
    program = exported.mlir_module_serialized
    return exported.nr_devices > 1 or any(mark in program for mark in _MARKS)


def local_program(program: str) -> Local:
    """What one replica computes of a program with shardings of Shardy.

    Raises:
        CompileError: Shardy cannot cut it.
    """
    context = mlir.make_ir_context()
    context.allow_unregistered_dialects = True
    with context, ir.Location.unknown():
        module = ir.Module.parse(program)
        meshes = {
            op.operation.attributes["sym_name"].value: sdy.MeshAttr(op.operation.attributes["mesh"])
            for op in module.body.operations
            if op.operation.name == "sdy.mesh"
        }
        replicas = max(
            (math.prod(sdy.MeshAxisAttr(axis).size for axis in mesh.axes) for mesh in meshes.values()), default=1
        )
        if replicas == 1:
            _drop_constraints(module.operation)
            passmanager.PassManager.parse(_DROP).run(module.operation)
            return Local(_text_of(module), 1, (), ())
        try:
            passmanager.PassManager.parse(_PROPAGATE).run(module.operation)
        except ir.MLIRError as error:
            said = "; ".join(each.message for each in error.error_diagnostics)
            raise CompileError(f"the program cannot be cut over the {replicas} devices of its mesh: {said}") from error
        function = ir.SymbolTable(module.operation)["main"]
        given, gives = function.type.inputs, function.type.results
        inputs = _shardings(function, "arg_attrs", given, meshes, replicas)
        outputs = _shardings(function, "res_attrs", gives, meshes, replicas)
        marks = [{VARIES: ir.BoolAttr.get(True)} if sharding.is_cut else {} for sharding in inputs]
        passmanager.PassManager.parse(_DROP).run(module.operation)
        function = ir.SymbolTable(module.operation)["main"]
        function.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(mark) for mark in marks])
        number = ir.IntegerType.get_signless(32)
        module.operation.attributes["mhlo.num_partitions"] = ir.IntegerAttr.get(number, replicas)
        module.operation.attributes["mhlo.num_replicas"] = ir.IntegerAttr.get(number, 1)
        return Local(_text_of(module), replicas, inputs, outputs)


def _drop_constraints(module: Any) -> None:
    """Drop what random keys are constrained to on one device; the pass that drops meshes leaves ops that name them."""
    found = []

    def look(op: Any) -> Any:
        if op.name == "sdy.sharding_constraint":
            found.append(op)
        return ir.WalkResult.ADVANCE

    module.walk(look)
    for op in found:
        op.results[0].replace_all_uses_with(op.operands[0])
        op.erase()


def _text_of(module: ir.Module) -> str:
    return module.operation.get_asm(large_elements_limit=None, enable_debug_info=True)


def _shardings(
    function: Any, name: str, types: Sequence[Any], meshes: Mapping[str, Any], replicas: int
) -> tuple[Sharding, ...]:
    entries = function.attributes[name] if name in function.attributes else [None] * len(types)
    return tuple(_sharding(entry, kind.rank, meshes, replicas) for entry, kind in zip(entries, types, strict=True))


def _sharding(entry: Any, rank: int, meshes: Mapping[str, Any], replicas: int) -> Sharding:
    if entry is None or "sdy.sharding" not in entry:
        return Sharding((1,) * rank, ((0,) * rank,) * replicas)
    sharding = sdy.TensorShardingAttr(entry["sdy.sharding"])
    reference = sharding.mesh_or_ref
    name = str(reference).removeprefix("@")
    mesh = meshes[name] if name in meshes else sdy.MeshAttr(reference)
    sizes = {axis.name: axis.size for axis in map(sdy.MeshAxisAttr, mesh.axes)}
    devices = list(mesh.device_ids) or list(range(replicas))
    blocks, held = [], np.zeros((replicas, rank), int)
    for place, dimension in enumerate(map(sdy.DimensionShardingAttr, sharding.dimension_shardings)):
        count = 1
        for axis in map(sdy.AxisRefAttr, dimension.axes):
            size = sizes[axis.name]
            inner = axis.sub_axis_info and sdy.SubAxisInfoAttr(axis.sub_axis_info)
            before, part = (inner.pre_size, inner.size) if inner else (1, size)
            coordinate = _coordinates(axis.name, sizes, replicas) // (size // (before * part)) % part
            held[devices, place] = held[devices, place] * part + coordinate
            count *= part
        blocks.append(count)
    return Sharding(tuple(blocks), tuple(map(tuple, held.tolist())))


def _coordinates(axis: str, sizes: Mapping[str, int], replicas: int) -> np.ndarray:
    """By place in the mesh, where it is along ``axis``."""
    shape = tuple(sizes.values())
    return np.unravel_index(np.arange(replicas), shape)[list(sizes).index(axis)]
