"""The attributes of the dialect, and the plain values they stand for.

Passes and the runtime compute on the plain values (``Mapping``, ``Parts``, ``Target``); the attributes only carry
them through IR. ``from_attr`` and ``to_attr`` convert, and remember what they converted.
"""

import json
from dataclasses import asdict, fields
from functools import lru_cache
from typing import Any

from ipu_mlir.dialects.attributes.dialect import Ipu
from ipu_mlir.dialects.machine.figures import FIGURES
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.mapping.mapping import Mapping, MappingLoop
from ipu_mlir.dialects.mapping.parts import PartLoop, Parts
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.dictionaries import entries_of
from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.dialects.support.remembered import remembered


class MappingAttr(Ipu.Attribute, name="mapping"):
    """``#ipu.mapping<elements, [[block, extent, stride, tile_step], ...], offset, first_tile>``."""

    elements: ir.IntegerAttr
    loops: ir.ArrayAttr
    offset: ir.IntegerAttr
    first_tile: ir.IntegerAttr


class PartsAttr(Ipu.Attribute, name="parts"):
    """``#ipu.parts<[[block, extent, tile_step], ...], first_tile>``, one entry per loop of the op."""

    loops: ir.ArrayAttr
    first_tile: ir.IntegerAttr


class TargetAttr(Ipu.Attribute, name="target"):
    """``#ipu.target<{name = "ipu2", ipus = 1, ...}>``: the fields of ``Target``; those left out have its defaults."""

    fields: ir.DictAttr


def _numbers(text: str, entry: str) -> list[Any]:
    """The nested lists and integers of ``#ipu.x<...>`` text; every list inside is one ``[...]`` like ``entry``.

    Raises:
        CompileError: an entry has another number of members, or a member is no integer.
    """
    plain = text.replace(" : i64", "")
    try:
        found = json.loads("[" + plain[plain.index("<") + 1 : plain.rindex(">")] + "]")
    except (ValueError, RecursionError) as error:
        raise CompileError(f"has {plain}, which is not made of integers; each entry is {entry}") from error
    for loops in (each for each in found if isinstance(each, list)):
        for loop in loops:
            if not isinstance(loop, list) or len(loop) != entry.count(",") + 1:
                raise CompileError(f"has {plain} with the entry {json.dumps(loop)}; each entry is {entry}")
            if any(type(number) is not int for number in loop):
                raise CompileError(f"has {plain} with the entry {json.dumps(loop)}, which is not made of integers")
    return found


@lru_cache(maxsize=1024)
def mapping_of_text(text: str) -> Mapping:
    """The plain mapping of a ``#ipu.mapping`` attribute that is printed already; raises as ``mapping_from_attr``."""
    elements, loops, offset, first_tile = _numbers(text, "[block, extent, stride, tile_step]")
    mapping = Mapping(elements, tuple(MappingLoop(*loop) for loop in loops), offset, first_tile)
    if not mapping.is_well_formed():
        rule = "a block is at least 1, an extent and the number of elements at least 0"
        raise CompileError(f"has {mapping_text(mapping)}, which holds nothing: {rule}")
    return mapping


@lru_cache(maxsize=1024)
def _parts_of_text(text: str) -> Parts:
    loops, first_tile = _numbers(text, "[block, extent, tile_step]")
    return Parts(tuple(PartLoop(*loop) for loop in loops), first_tile)


@remembered
def mapping_from_attr(attribute: ir.Attribute) -> Mapping:
    """The plain mapping of a ``#ipu.mapping`` attribute.

    Raises:
        CompileError: it is malformed; the message is the end of a sentence about an op.
    """
    return mapping_of_text(str(attribute))


@remembered
def parts_from_attr(attribute: ir.Attribute) -> Parts:
    """The plain parts of a ``#ipu.parts`` attribute; what they mean for an op is asked by ``broken_part_rule``.

    Raises:
        CompileError: it is malformed; the message is the end of a sentence about an op.
    """
    return _parts_of_text(str(attribute))


def mapping_text(mapping: Mapping) -> str:
    """``mapping`` as it stands in IR."""
    loops = ", ".join(f"[{x.block}, {x.extent}, {x.stride}, {x.tile_step}]" for x in mapping.loops)
    return f"#ipu.mapping<{mapping.elements}, [{loops}], {mapping.offset}, {mapping.first_tile}>"


def parts_text(parts: Parts) -> str:
    """``parts`` as they stand in IR."""
    loops = ", ".join(f"[{x.block}, {x.extent}, {x.tile_step}]" for x in parts.loops)
    return f"#ipu.parts<[{loops}], {parts.first_tile}>"


def mapping_to_attr(mapping: Mapping) -> ir.Attribute:
    """``mapping`` as an attribute of the current context."""
    return ir.Attribute.parse(mapping_text(mapping))


def parts_to_attr(parts: Parts) -> ir.Attribute:
    """``parts`` as an attribute of the current context."""
    return ir.Attribute.parse(parts_text(parts))


def target_to_attr(target: Target) -> ir.Attribute:
    """``target`` as an attribute of the current context; figures that seldom change are in it where they are not those
    of its chip.
    """
    entries = {
        key: _value_attr(value, _KINDS[key])
        for key, value in asdict(target).items()
        if key not in _SELDOM or value != FIGURES[key].of(target.name)
    }
    return TargetAttr.get(ir.DictAttr.get(entries))


_KINDS: dict[str, type] = {
    field.name: FIGURES[field.name].kind if field.name in FIGURES else type(field.default) for field in fields(Target)
}
"""The fields of a target, with the types that they have in IR."""

_COMMON = (
    *("tiles_per_ipu", "bytes_per_tile", "clock_hz", "workers", "f32_vector_width", "f16_vector_width"),
    *("exchange_bytes_per_cycle", "sync_cycles"),
)
_SELDOM = frozenset(FIGURES) - frozenset(_COMMON)
"""The figures that are written only where they are not those of the chip."""


def _value_attr(value: Any, kind: type) -> ir.Attribute:
    if kind is str:
        return ir.StringAttr.get(value)
    if kind is float:
        return ir.FloatAttr.get(ir.F64Type.get(), float(value), loc=ir.Location.unknown())
    if kind is bool:
        return ir.BoolAttr.get(value)
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), int(value))


@remembered
def target_from_attr(attribute: ir.Attribute) -> Target:
    """The plain target of a ``#ipu.target`` attribute; fields left out are those of the chip that it names.

    Raises:
        CompileError: it has a field that targets do not have, or one of another type; the message is the end of a
            sentence about an op.
        TargetError: there can be no such machine.
    """
    values: dict[str, Any] = {}
    for name, entry in entries_of(TargetAttr(attribute).fields.maybe_downcast()).items():
        kind = _KINDS.get(name)
        if kind is None:
            raise CompileError(f"has a target with the field '{name}'; its fields are {', '.join(_KINDS)}")
        value = getattr(entry.maybe_downcast(), "value", None)
        if type(value) is not kind:
            raise CompileError(f"has a target whose field '{name}' is {entry}; it is of type {kind.__name__}")
        values[name] = value
    return Target(**values)


TARGET = "ipu.target"
"""Attribute of a module with its target."""


def module_target(op: ir.Operation) -> Target:
    """The target of the module that ``op`` is or stands in; the default one where it names none."""
    while True:
        if TARGET in op.attributes:
            return target_from_attr(op.attributes[TARGET])
        try:
            parent = op.parent
        except ValueError:  # what the bindings say of an op that was cloned
            parent = None
        if parent is None:
            return Target()
        op = parent.operation
