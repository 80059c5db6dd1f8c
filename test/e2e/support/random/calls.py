"""Random programs whose function is called three times, twice of them in a loop: one body that all calls share."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.support.bindings import ir


@dataclass(frozen=True)
class Called:
    """A drawn ``program`` as a function that another one calls: its results come twice."""

    program: Any

    @property
    def is_exact(self) -> bool:
        return self.program.is_exact

    @property
    def text(self) -> str:
        """A module with the drawn function, and one that calls it before a loop, and in each of its two iterations."""
        text = self.program.text
        assert text.count("func.func @main(") == 1, "a program has one function"
        with ipu.context(), ir.Location.unknown():
            module = ir.Module.parse(text)
            kind = ir.FunctionType(ir.TypeAttr(module.body.operations[-1].attributes["function_type"]).value)
        gives, count = list(map(str, kind.results)), len(kind.results)
        names = [f"%x{number}" for number in range(len(kind.inputs))]
        call = f"func.call @drawn({', '.join(names)}) {{ipu.outlined}} : {kind}"
        carried = ", ".join(f"%c{number} = %a#{number}" for number in range(count))
        taken = ", ".join(f"{name}: {each}" for name, each in zip(names, kind.inputs, strict=True))
        return (
            text.replace("func.func @main(", "func.func private @drawn(")
            + f"""
func.func @main({taken}) -> ({", ".join(gives * 2)}) {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %a:{count} = {call}
  %b:{count} = scf.for %i = %zero to %two step %one iter_args({carried}) -> ({", ".join(gives)}) {{
    %r:{count} = {call}
    scf.yield {", ".join(f"%r#{number}" for number in range(count))} : {", ".join(gives)}
  }}
  return {", ".join(f"%{name}#{number}" for name in "ab" for number in range(count))} : {", ".join(gives * 2)}
}}
"""
        )

    def inputs(self) -> list[np.ndarray]:
        return self.program.inputs()

    def evaluate(self, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
        return [*self.program.evaluate(inputs)] * 2
