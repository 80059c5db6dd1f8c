"""Blocks that are filled before there is the op that they belong to: its results are known only then."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ipu_mlir.dialects.support.bindings import ir, upstream

scf = upstream("scf")


class Holder:
    """An op at the current insertion point that holds a block for a while.

    Args:
        make: the op. A loop's counter is the first argument of its block, and its range is known from the loop.
    """

    def __init__(self, make: Callable[[], ir.OpView] = lambda: scf.ExecuteRegionOp([])) -> None:
        self._op = make()
        self._holds = True
        region = self._op.regions[0]
        self.block = region.blocks[0] if len(region.blocks) else ir.Block.create_at_start(region, [], [])

    def add_argument(self, type_: ir.Type) -> ir.Value:
        """One more argument of the block."""
        return self.block.add_argument(type_, self._op.location)

    @contextmanager
    def filling(self) -> Iterator[None]:
        """Within the block, ops are appended here."""
        with ir.InsertionPoint(self.block):
            yield

    def move_to(self, region: ir.Region) -> None:
        """Become the block of ``region``."""
        self.block.append_to(region)
        self.drop()

    def drop(self) -> None:
        """Forget the block, and what is in it if it is here."""
        if self._holds:
            self._holds = False
            self._op.operation.erase()
