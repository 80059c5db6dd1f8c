"""The attributes of the dialect, and the plain values they stand for.

Passes and the runtime compute on the plain values (``Mapping``, ``Parts``, ``Target``); the attributes only carry
them through IR. ``from_attr`` and ``to_attr`` convert, and remember what they converted.
"""

from dataclasses import asdict
from functools import lru_cache
from typing import Any

from ipu_mlir.dialects.bindings import ir
from ipu_mlir.dialects.dialect import Ipu
from ipu_mlir.dialects.mapping.mapping import Mapping, MappingLoop
from ipu_mlir.dialects.mapping.parts import PartLoop, Parts
from ipu_mlir.dialects.target import Target


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


def _numbers(text: str) -> list[Any]:
    """The nested lists and integers of ``#ipu.x<...>`` text, without the types of the integers."""
    import json

    return json.loads("[" + text[text.index("<") + 1 : text.rindex(">")].replace(" : i64", "") + "]")


@lru_cache(maxsize=4096)
def _mapping_of_text(text: str) -> Mapping:
    elements, loops, offset, first_tile = _numbers(text)
    return Mapping(elements, tuple(MappingLoop(*loop) for loop in loops), offset, first_tile)


@lru_cache(maxsize=4096)
def _parts_of_text(text: str) -> Parts:
    loops, first_tile = _numbers(text)
    return Parts(tuple(PartLoop(*loop) for loop in loops), first_tile)


def mapping_from_attr(attribute: ir.Attribute) -> Mapping:
    """The plain mapping of a ``#ipu.mapping`` attribute."""
    return _mapping_of_text(str(attribute))


def parts_from_attr(attribute: ir.Attribute) -> Parts:
    """The plain parts of a ``#ipu.parts`` attribute."""
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
    """``target`` as an attribute of the current context."""
    entries = {
        key: ir.StringAttr.get(value)
        if isinstance(value, str)
        else ir.FloatAttr.get(ir.F64Type.get(), value, loc=ir.Location.unknown())
        if isinstance(value, float)
        else ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)
        for key, value in asdict(target).items()
    }
    return TargetAttr.get(ir.DictAttr.get(entries))


def target_from_attr(attribute: ir.Attribute) -> Target:
    """The plain target of a ``#ipu.target`` attribute."""
    fields = TargetAttr(attribute).fields.maybe_downcast()
    return Target(**{entry.name: entry.attr.maybe_downcast().value for entry in fields})
