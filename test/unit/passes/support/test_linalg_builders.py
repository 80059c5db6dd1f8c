"""Named ops that passes make are those that upstream's own builders make."""

import pytest

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.support.linalg_builders import copy_into, fill_with, product_into, transpose_into

TENSORS = "func.func @main(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>, %c: f32) { return }"
DEFAULT = "cast = #linalg.type_fn<cast_signed>, "
"""An attribute that upstream's builder writes down though it says nothing new."""
BUFFERS = TENSORS.replace("tensor", "memref")


def made(text: str, make) -> str:
    """The program ``text`` after ``make`` was called with its arguments."""
    with ipu.context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        block = module.body.operations[0].regions[0].blocks[0]
        with ir.InsertionPoint(block.operations[0]):
            make(*block.arguments)
        assert module.operation.verify()
        return module.operation.get_asm(print_generic_op_form=True)


@pytest.mark.parametrize("text", [TENSORS, BUFFERS])
def test_ops_are_those_of_upstream(text: str) -> None:
    copied = made(text, lambda a, b, c: upstream("linalg").copy(a, outs=[b]))
    assert made(text, lambda a, b, c: copy_into(a, b)) == copied.replace(DEFAULT, "")
    filled = made(text, lambda a, b, c: upstream("linalg").fill(c, outs=[b]))
    assert made(text, lambda a, b, c: fill_with(c, b)) == filled
    squares = text.replace("2x3", "3x3")
    turned = made(squares, lambda a, b, c: upstream("linalg").transpose(a, outs=[b], permutation=[1, 0]))
    assert made(squares, lambda a, b, c: transpose_into(a, b, [1, 0])) == turned
    for each, name in ((squares, "matmul"), (text.replace("2x3", "2x3x3"), "batch_matmul")):
        product = made(each, lambda a, b, c, name=name: getattr(upstream("linalg"), name)(a, a, outs=[b]))
        assert made(each, lambda a, b, c: product_into(a, a, b)) == product.replace(DEFAULT, "")
