"""Attributes and the plain values that they stand for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.attributes.attributes import (
    mapping_from_attr,
    mapping_text,
    mapping_to_attr,
    module_target,
    parts_from_attr,
    parts_text,
    parts_to_attr,
    target_from_attr,
    target_to_attr,
)
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.mapping.mapping import Mapping, MappingLoop
from ipu_mlir.dialects.mapping.parts import PartLoop, Parts
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.errors import CompileError, TargetError
from ipu_mlir.dialects.support.parsing import parse_module
from ipu_mlir.passes.support.rewriting import list_ops

CONTEXT = ipu.context()
NUMBER = st.integers(-(2**40), 2**40)
SIZE = st.integers(0, 2**40)
MAPPINGS = st.builds(
    Mapping,
    SIZE,
    st.lists(st.builds(MappingLoop, SIZE.map(lambda size: size + 1), SIZE, NUMBER, NUMBER), max_size=5).map(tuple),
    NUMBER,
    NUMBER,
)
PARTS = st.builds(Parts, st.lists(st.builds(PartLoop, NUMBER, NUMBER, NUMBER), max_size=5).map(tuple), NUMBER)


@given(MAPPINGS)
def test_mapping_comes_back_from_its_attribute(mapping):
    with CONTEXT:
        attribute = mapping_to_attr(mapping)
        assert mapping_from_attr(attribute) == mapping
        assert ir.Attribute.parse(mapping_text(mapping)) == attribute


@given(PARTS)
def test_parts_come_back_from_their_attribute(parts):
    with CONTEXT:
        attribute = parts_to_attr(parts)
        assert parts_from_attr(attribute) == parts
        assert ir.Attribute.parse(parts_text(parts)) == attribute


@pytest.mark.parametrize(
    "target",
    [Target(), Target(ipus=4, tiles_per_ipu=64), Target(clock_hz=1.85e9, bytes_per_tile=262_144)],
    ids=lambda target: target.name,
)
def test_target_comes_back_from_its_attribute(target):
    with CONTEXT:
        assert target_from_attr(target_to_attr(target)) == target


def test_fields_left_out_of_a_target_have_its_defaults():
    with CONTEXT:
        attribute = ir.Attribute.parse("#ipu.target<{tiles_per_ipu = 16}>")
        assert target_from_attr(attribute) == Target(tiles_per_ipu=16)


def test_target_without_fields_is_the_default():
    with CONTEXT:
        assert target_from_attr(ir.Attribute.parse("#ipu.target<{}>")) == Target()


@pytest.mark.parametrize(
    ("read", "text", "message"),
    [
        (
            mapping_from_attr,
            "#ipu.mapping<4, [[2, 4]], 0, 0>",
            r"the entry \[2, 4\]; each entry is \[block, extent, str",
        ),
        (mapping_from_attr, "#ipu.mapping<4, [4], 0, 0>", "with the entry 4; each entry is"),
        (mapping_from_attr, '#ipu.mapping<4, [["2", 4, 1, 1]], 0, 0>', "which is not made of integers"),
        (mapping_from_attr, "#ipu.mapping<4, [[2.5, 4, 1, 1]], 0, 0>", "which is not made of integers"),
        (mapping_from_attr, "#ipu.mapping<4, [[0, 4, 1, 1]], 0, 0>", "a block is at least 1"),
        (
            mapping_from_attr,
            "#ipu.mapping<4, [[1, -4, 1, 1]], 0, 0>",
            "an extent and the number of elements at least 0",
        ),
        (mapping_from_attr, "#ipu.mapping<-4, [], 0, 0>", "the number of elements at least 0"),
        (parts_from_attr, "#ipu.parts<[[2, 4]], 0>", r"the entry \[2, 4\]; each entry is \[block, extent, tile_step\]"),
        (parts_from_attr, "#ipu.parts<[[2, 4, true]], 0>", "which is not made of integers"),
        (target_from_attr, "#ipu.target<{tyles_per_ipu = 4}>", "the field 'tyles_per_ipu'; its fields are name, ipus,"),
        (target_from_attr, '#ipu.target<{ipus = "two"}>', "field 'ipus' is \"two\"; it is of type int"),
        (target_from_attr, "#ipu.target<{ipus = [2]}>", r"field 'ipus' is \[2\]; it is of type int"),
    ],
)
def test_malformed_attribute_says_what_is_wrong(read, text, message):
    with CONTEXT, pytest.raises(CompileError, match=message):
        read(ir.Attribute.parse(text))


@pytest.mark.parametrize("field", ["ipus", "tiles_per_ipu", "bytes_per_tile", "workers", "exchange_bytes_per_cycle"])
def test_target_without_any_of_something_is_refused(field):
    with pytest.raises(TargetError, match=f"a target needs {field} >= 1, got 0"):
        Target(**{field: 0})


def test_target_that_names_a_chip_has_its_figures():
    with ipu.context(), ir.Location.unknown():
        target = target_from_attr(ir.Attribute.parse('#ipu.target<{name = "ipu21", ipus = 2}>'))
    assert (target.ipus, target.tiles_per_ipu, target.clock_hz) == (2, 1472, 1.85e9)


FUNCTION = "func.func @f() {\n  return\n}"


def test_target_of_the_module_holds_inside_it():
    module = parse_module(
        f"module attributes {{ipu.target = #ipu.target<{{tiles_per_ipu = 4}}>}} {{\n{FUNCTION}\n}}", ipu.context()
    )
    (inner,) = list_ops(module.operation, "func.return")
    assert module_target(module.operation) == module_target(inner) == Target(tiles_per_ipu=4)


def test_module_that_names_none_has_the_default():
    module = parse_module(FUNCTION, ipu.context())
    assert module_target(module.operation) == Target()
