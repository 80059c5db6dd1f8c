"""Constants of the resource section, moved to where they are used."""

import numpy as np
import pytest

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.support.diagnostics import DiagnosedError
from ipu_mlir.dialects.support.parsing import parse_module
from ipu_mlir.dialects.support.resources import inline_resources


def with_section(text: str, **blobs: str) -> str:
    entries = ",\n".join(f'      {key}: "0x{digits}"' for key, digits in blobs.items())
    return f"{text}\n{{-#\n  dialect_resources: {{\n    builtin: {{\n{entries}\n    }}\n  }}\n#-}}\n"


def digits(array: np.ndarray) -> str:
    return "04000000" + array.tobytes().hex().upper()


@pytest.mark.parametrize(
    ("array", "element_type"),
    [
        (np.array([[1.5, -2.0], [0.0, 1e-30]], np.float32), "f32"),
        (np.array([1, -2, 3], np.int64), "i64"),
        (np.array([7], np.int8), "i8"),
        (np.array([True, False, True, True, False, True, True, True, True]), "i1"),
        (np.arange(5, dtype=np.float16), "f16"),
    ],
)
def test_data_becomes_a_constant(array: np.ndarray, element_type: str) -> None:
    shape = "".join(f"{size}x" for size in array.shape)
    text = with_section(f"%0 = arith.constant dense_resource<w> : tensor<{shape}{element_type}>", w=digits(array))
    module = parse_module(text, ipu.context())
    value = np.asarray(next(iter(module.body)).attributes["value"])
    assert value.shape == array.shape and np.array_equal(value.astype(array.dtype), array)


def test_global_has_its_type_before_the_data() -> None:
    text = 'module {{\n  memref.global "private" constant @w : memref<2xf32> = dense_resource<w>\n}}'
    data = digits(np.array([1.0, 2.0], np.float32))
    assert "dense<[1.000000e+00, 2.000000e+00]>" in str(
        parse_module(with_section(text.format(), w=data), ipu.context())
    )
    with pytest.raises(DiagnosedError, match="resource 'w' holds 4 bytes, but 2 x f32 need 8"):
        parse_module(with_section(text.format(), w=data[:-8]), ipu.context())


def test_numbers_of_eight_bits() -> None:
    """The digits of their types' names, ``f8E4M3B11FNUZ``, are no sizes."""
    text = with_section("%0 = arith.constant dense_resource<w> : tensor<2x2xf8E4M3B11FNUZ>", w="0400000058605068")
    assert "dense<[[1.000000e+00, 2.000000e+00], [5.000000e-01, 4.000000e+00]]>" in str(
        parse_module(text, ipu.context())
    )


def test_empty_constant() -> None:
    text = with_section("%0 = arith.constant dense_resource<w> : tensor<0x3xf32>", w="04000000")
    assert "dense<> : tensor<0x3xf32>" in str(parse_module(text, ipu.context()))


def test_text_without_resources_is_the_same_object() -> None:
    text = "module {}"
    assert inline_resources(text, "x") is text


@pytest.mark.parametrize("key", ["w", "torch.weight_0", "w$x-1"])
def test_keys_of_all_forms(key: str) -> None:
    text = with_section(f"dense_resource<{key}> : tensor<1xi8>", **{key: "0100000007"})
    assert inline_resources(text, "x").strip() == 'dense<"0x07"> : tensor<1xi8>'


def test_comments_and_strings_are_left_alone() -> None:
    text = (
        '// dense_resource<a>\nmodule attributes {x.y = "dense_resource<b>", x.z = dense_resource<c> : tensor<1xi8>} {}'
    )
    expected = text.replace("dense_resource<c>", 'dense<"0x07">')
    assert inline_resources(with_section(text, c="0100000007"), "x").strip() == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\n  dense_resource<w> : tensor<1xi8>", "x:2:3: error: the file holds no data for resource 'w'"),
        ("dense_resource<__elided__> : tensor<1xi8>", "x:1:1: error: this constant's values were left out"),
        (
            with_section("dense_resource<w> : tensor<2xi32>", w="0400000001000000"),
            "x:1:1: error: resource 'w' holds 4 bytes, but 2 x i32 need 8",
        ),
        (
            with_section("dense_resource<w> : tensor<2xi32>", w="0400000001000000")[:-30],
            "x:1:1: error: the file holds no data for resource 'w': it is truncated",
        ),
    ],
)
def test_missing_data_is_an_error_at_its_use(text: str, message: str) -> None:
    with pytest.raises(DiagnosedError) as caught:
        inline_resources(text, "x")
    assert str(caught.value).startswith(message)


def test_all_missing_resources_are_named_at_once() -> None:
    with pytest.raises(DiagnosedError) as caught:
        inline_resources("dense_resource<a> : tensor<1xi8>\ndense_resource<b> : tensor<1xi8>", "x")
    assert [(error.line, error.column) for error in caught.value.diagnostics] == [(1, 1), (2, 1)]


def test_strings_that_look_like_a_section_are_strings() -> None:
    text = 'module attributes {ipu.a = "dense_resource<", ipu.b = "{-# dialect_resources"} {}'
    assert inline_resources(text, "a.mlir") == text
    used = (
        'module attributes {ipu.a = "{-#", ipu.c = dense_resource<w> : tensor<1xf32>, ipu.b = "dense_resource<w>"} {}'
    )
    found = inline_resources(with_section(used, w=digits(np.array([1.5], np.float32))), "a.mlir")
    assert found == used.replace("dense_resource<w> :", 'dense<"0x0000C03F"> :') + "\n"


@pytest.mark.parametrize(
    "text", ["dense_resource<", "module {} // dense_resource<", '"dense_resource<', "x dense_resource< {-# #-}"]
)
def test_a_use_that_does_not_end_is_left_to_the_parser(text: str) -> None:
    assert inline_resources(text, "a.mlir") == text.partition("{-#")[0]
