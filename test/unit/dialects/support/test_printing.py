"""IR as text with aliases: it parses back to the same IR, and touches nothing but our attributes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.support.parsing import parse_module
from ipu_mlir.dialects.support.printing import to_text, with_aliases

PROGRAM = """
#map = affine_map<(d0) -> (d0 * 2)>
#home = #ipu.mapping<12, [[2, 3, 4, 1], [4, 4, 1, 0]], 0, 0>
#one = #ipu.mapping<12, [[12, 12, 1, 0]], 0, 0>
module attributes {ipu.target = #ipu.target<{clock_hz = 1.5, tiles_per_ipu = 4}>,
                   ipu.note = "\\22#ipu.mapping<4, [], 0, 0>\\22 // #m0"} {
  func.func private @parts() attributes {ipu.parts = #ipu.parts<[[3, 3, 0], [4, 4, 0]], 0>, ipu.map = #map}
  func.func @main(%x: memref<3x4xf32, #home>) -> memref<3x4xf32, strided<[4, 1], offset: 0>, #one> {
    %a = memref.alloc() : memref<3x4xf32, strided<[4, 1], offset: 0>, #one>
    "ipu.exchange"(%x, %a) : (memref<3x4xf32, #home>, memref<3x4xf32, strided<[4, 1], offset: 0>, #one>) -> ()
    return %a : memref<3x4xf32, strided<[4, 1], offset: 0>, #one>
  }
}
"""


@pytest.mark.parametrize("locations", [False, True])
@pytest.mark.parametrize("generic", [False, True])
def test_text_parses_to_the_same_module(locations: bool, generic: bool) -> None:
    module = parse_module(PROGRAM, ipu.context(), "p.mlir")
    text = to_text(module, locations=locations, generic=generic)
    again = parse_module(text, ipu.context(), "p.mlir")
    assert to_text(again, locations=locations, generic=generic) == text
    if locations:
        assert str(again) == str(module)
        assert again.operation.get_asm(enable_debug_info=True) == module.operation.get_asm(enable_debug_info=True)


def test_each_attribute_is_written_once() -> None:
    text = to_text(parse_module(PROGRAM, ipu.context()))
    assert text.startswith(
        "#t0 = #ipu.target<{clock_hz = 1.500000e+00, tiles_per_ipu = 4}>\n"
        "#p0 = #ipu.parts<[[3, 3, 0], [4, 4, 0]], 0>\n"
        "#m0 = #ipu.mapping<12, [[2, 3, 4, 1], [4, 4, 1, 0]], 0, 0>\n"
        "#m1 = #ipu.mapping<12, [[12, 12, 1, 0]], 0, 0>\n"
        "#map = affine_map<(d0) -> (d0 * 2)>\n"
    )
    assert text.count("#ipu.") == 5  # four aliases and the string


def test_strings_are_left_alone() -> None:
    text = to_text(parse_module(PROGRAM, ipu.context()))
    assert 'ipu.note = "\\22#ipu.mapping<4, [], 0, 0>\\22 // #m0"' in text


def test_one_function_prints_with_its_aliases() -> None:
    module = parse_module(PROGRAM, ipu.context())
    main = list(module.body)[1]
    text = to_text(main)
    assert (
        text.startswith("#m0 = #ipu.mapping<12, [[2, 3, 4, 1]")
        and "func.func @main(%arg0: memref<3x4xf32, #m0>)" in text
    )


def test_large_constants_can_be_left_out() -> None:
    module = parse_module("%0 = arith.constant dense<[1, 2, 3]> : tensor<3xi32>", ipu.context())
    assert "dense<[1, 2, 3]>" in to_text(module, large_elements_limit=3)
    assert "__elided__" in to_text(module, large_elements_limit=2)


@given(
    st.lists(
        st.sampled_from(
            ['"', '\\"', "#ipu.", "#ipu.mapping<", "4, ", "[[1 : i64]]", "0>", '"a : i64"', "{", "}", "\n", "x", "#m0"]
        ),
        max_size=12,
    ).map("".join)
)
def test_any_text_without_our_attributes_stays(text: str) -> None:
    """Whatever an alias stands for can be put back: nothing but whole attributes is replaced."""
    printed = with_aliases(text)
    lines = printed.split("\n")
    aliases = [line.partition(" = ") for line in lines[: len(lines) - text.count("\n") - 1]]
    body = "\n".join(lines[len(aliases) :])
    assert all(value.startswith("#ipu.") and value.endswith(">") for _, _, value in aliases)
    if not aliases:
        assert body == text


def test_megabytes_of_constants_stay() -> None:
    text = f'%0 = arith.constant dense<"0x{"0A1B2C3D" * 2_000_000}"> : tensor<2000000xf32, #ipu.mapping<4, [], 0, 0>>'
    printed = with_aliases(text)
    assert printed.startswith("#m0 = #ipu.mapping<4, [], 0, 0>\n%0 = ") and printed.endswith("xf32, #m0>")
    assert len(printed) > 16_000_000
