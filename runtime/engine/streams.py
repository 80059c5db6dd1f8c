"""The host of one session: its queues and functions, as running programs see them."""

import sys
from typing import Any

import numpy as np

from ipu_mlir.dialects.support.text import printable
from ipu_mlir.runtime.engine.host_functions import HostFunction
from ipu_mlir.runtime.engine.infeeds import Infeed, SyntheticInfeed
from ipu_mlir.runtime.engine.outfeeds import Outfeed, SyntheticOutfeed
from ipu_mlir.runtime.engine.turns import Turn


class Streams:
    """The host of one session, as running programs see it.

    Attributes:
        is_quiet: whether nothing is printed.
        turn: that runs hold; None where nobody else may ask for it.
    """

    def __init__(self, turn: Turn | None = None) -> None:
        self.turn = turn
        self.infeeds: dict[str, Infeed] = {}
        self.outfeeds: dict[str, Outfeed] = {}
        self.functions: dict[str, HostFunction] = {}
        self.is_quiet = False

    def synthetic(self) -> "Streams":
        """The same ones without the host: infeeds and functions give zeros, and outfeeds keep nothing."""
        made = Streams()
        made.infeeds = {name: SyntheticInfeed(each.stream) for name, each in self.infeeds.items()}
        made.outfeeds = {name: SyntheticOutfeed(each.stream) for name, each in self.outfeeds.items()}
        made.functions = {name: each.synthetic() for name, each in self.functions.items()}
        return made

    def dequeue(self, name: str) -> None:
        """Take the next element of an infeed."""
        self.infeeds[name].take(self.turn)

    def receive(self, name: str, index: int, out: np.ndarray) -> None:
        """Write a tensor of the current element to ``out``."""
        (self.infeeds.get(name) or self.functions[name]).hand_out(index, out)

    def put(self, name: str, index: int, value: Any) -> None:
        """Let ``value`` be part of the next element of an outfeed, or an argument of a function."""
        (self.outfeeds.get(name) or self.functions[name]).put(index, value)

    def enqueue(self, name: str) -> None:
        """Pass what was put."""
        self.outfeeds[name].deliver()

    def host_call(self, name: str) -> None:
        """Call a function with what was put."""
        self.functions[name].call(self.turn)

    def print(self, label: str, is_unsigned: int, value: Any) -> None:
        """Show ``value`` after its label, in one line on standard error; of many elements, the first and last ones."""
        if not self.is_quiet:
            array = np.asarray(value)
            numbers = array.view(f"u{array.dtype.itemsize}") if is_unsigned else array
            shown = " ".join(np.array2string(numbers, threshold=100).split()).replace("[ ", "[")
            print(f"{printable(label)}: {shown}", file=sys.stderr, flush=True)
