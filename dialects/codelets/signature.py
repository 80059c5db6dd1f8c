"""The dimensions that the operands of a codelet have behind those of a stack, and their names."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

Shapes = tuple[tuple[int, ...], ...]
Names = tuple[str, ...]
Related = Callable[[Mapping[str, int]], bool]


@dataclass(frozen=True)
class Signature:
    """Dimensions of operands by name, as in the signature of a generalized ufunc.

    Names with one letter have one size; a digit tells loops of one size apart, as those over rows and columns. ``p``
    runs over the real and the imaginary part, and is 2. All operands are stacks of one shape.

    Attributes:
        inputs, outputs: the names of each operand's last dimensions.
        parallel: the names whose elements a codelet computes each for itself, as the right sides of a solution.
        related: what has to hold for the sizes of several letters.
    """

    inputs: tuple[Names, ...]
    outputs: tuple[Names, ...]
    parallel: str = ""
    related: Related = lambda sizes: True

    @staticmethod
    def parse(text: str, parallel: str = "", related: Related = lambda sizes: True) -> "Signature":
        """
        >>> Signature.parse("n1 n2, n1 k -> n1 k").loops
        ('n1', 'n2', 'k')
        """
        inputs, outputs = (tuple(tuple(each.split()) for each in side.split(",")) for side in text.split("->"))
        return Signature(inputs, outputs, parallel, related)

    @cached_property
    def loops(self) -> Names:
        """Every name, in the order in which they first stand."""
        return tuple(dict.fromkeys(name for operand in (*self.inputs, *self.outputs) for name in operand))

    def sizes(self, inputs: Shapes, outputs: Shapes) -> dict[str, int] | None:
        """The size of each letter, or None where operands of these shapes do not fit.

        >>> Signature.parse("n1 n2, n1 k -> n1 k").sizes(((5, 3, 3), (5, 3, 2)), ((5, 3, 2),))
        {'n': 3, 'k': 2}
        """
        names = (*self.inputs, *self.outputs)
        if len(inputs) != len(self.inputs) or len(outputs) != len(self.outputs):
            return None
        found: dict[str, int] = {}
        stacks = set()
        for shape, own in zip((*inputs, *outputs), names, strict=True):
            stack = len(shape) - len(own)
            if stack < 0:
                return None
            stacks.add(shape[:stack])
            for size, name in zip(shape[stack:], own, strict=True):
                if found.setdefault(name[0], size) != size:
                    return None
        fits = len(stacks) == 1 and found.get("p", 2) == 2 and self.related(found)
        return found if fits else None

    def takes(self, inputs: Shapes, outputs: Shapes) -> bool:
        return self.sizes(inputs, outputs) is not None

    def __str__(self) -> str:
        """
        >>> print(Signature.parse("n1 n2, n1 k -> n1 k"))
        stacks of [n, n], [n, k], and results of [n, k]
        """
        inputs, outputs = (
            ", ".join(f"[{', '.join(name[0].replace('p', '2') for name in each)}]" for each in side)
            for side in (self.inputs, self.outputs)
        )
        return f"stacks of {inputs}, and results of {outputs}"
