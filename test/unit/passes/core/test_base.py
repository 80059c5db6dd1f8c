"""Refusing a program."""

import pytest

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass, PassFailed, Refusals
from ipu_mlir.passes.support.rewriting import list_ops


def test_refusals_fail_once_after_all_of_them(two_adds: ir.Module) -> None:
    first, second, *_ = list_ops(two_adds.operation, "arith.addi")
    with pytest.raises(PassFailed) as caught, Refusals() as refuse:
        refuse(first, "is the first")
        refuse.at(second.location, "a place of its own")
    assert str(caught.value).splitlines() == [
        "t.mlir:2:8: error: 'arith.addi' op is the first",
        "t.mlir:3:8: error: a place of its own",
    ]


def test_no_refusals_no_failure() -> None:
    with Refusals():
        pass


def test_another_exception_goes_through(two_adds: ir.Module) -> None:
    with pytest.raises(KeyError), Refusals() as refuse:
        refuse(list_ops(two_adds.operation, "arith.addi")[0], "is wrong")
        raise KeyError("bug")


def test_description_is_the_first_line() -> None:
    class Documented(Pass):
        """Do one thing.

        Needs: nothing.
        """

    assert Documented.description() == "Do one thing."
