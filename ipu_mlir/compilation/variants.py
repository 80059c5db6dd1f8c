"""One program compiled for many settings, to compare them: what does not depend on the settings is done once."""

from typing import Any

from ipu_mlir.compilation.entry import entries_alone, entry_name, entry_of
from ipu_mlir.compilation.fastest_number import set_target, with_fastest_number
from ipu_mlir.compilation.lowering import VERIFIED, level_of, plan_lowering
from ipu_mlir.compilation.sources import load_module
from ipu_mlir.compilation.supported_ops import unsupported_ops
from ipu_mlir.dialects.attributes.attributes import module_target
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.passes import PASSES
from ipu_mlir.passes.core.manager import run_steps
from ipu_mlir.passes.core.pipeline_steps import Registry, replace_pass, step_of
from ipu_mlir.passes.importing.dynamic_types import dynamic_sizes
from ipu_mlir.passes.normalize.widen_sums import WidenSums
from ipu_mlir.passes.pipelines import PIPELINES
from ipu_mlir.passes.placement.partition.partition import Partition
from ipu_mlir.passes.supersteps.checks.check_memory import CheckMemory
from ipu_mlir.runtime.profile.build_profile import profile_of
from ipu_mlir.runtime.profile.profile import Profile


class Variants:
    """A program on its way to its partition, once for each machine.

    Attributes:
        source: the program as it came in.
        entry: the function that runs.
    """

    def __init__(self, source: Any, entry: str | None = None) -> None:
        """Take in a program.

        Args:
            source: a path, MLIR text, or an ``ir.Module``.
            entry: as of ``compile``.

        Raises:
            CompileError: as of ``compile``; or the program has unknown sizes, or is placed on tiles already.
        """
        self.source = load_module(source)
        self.entry = entry = entry_name(self.source, entry)
        function = entry_of(self.source, entry)
        if any(dynamic_sizes(each) for each in function.attributes["function_type"].value.inputs):
            raise CompileError(f"{entry!r} has sizes that are not known, and costs depend on them; give it fixed ones")
        if level_of(function) != "l0":
            raise CompileError(f"{entry!r} is placed on tiles already; settings matter for linalg on plain tensors")
        if unsupported_ops(self.source.operation):
            plan_lowering().run(entries_alone(self.source.operation, (entry,)), "l1")
        registry = Registry(PASSES, PIPELINES)
        steps = [step for name in ("ipu-normalize", "ipu-place", "ipu-lower") for step in registry.resolve(name)]
        first = next(place for place, step in enumerate(steps) if step_of(step, Partition))
        self._rest = [step for step in steps[first:] if not step_of(step, CheckMemory)]
        self._first, self._begun = steps[:first], dict[tuple[Target, WidenSums], ir.Operation]()

    @property
    def target(self) -> Target:
        """The machine that the program names, or the default one."""
        return module_target(self.source.operation)

    def profile(self, target: Target, partition: Partition, sums: WidenSums | None = None) -> Profile:
        """The profile of the program on ``target`` if it is cut as ``partition`` does; it need not fit.

        ``sums`` says in which type its sums are.

        Raises:
            CompileError: a pass refuses the program, as where a hint names a tile that ``target`` does not have.
        """
        sums, steps = sums or WidenSums(), replace_pass(self._rest, partition)
        found = with_fastest_number(target, lambda target: self.begin(target, sums).clone(), steps, VERIFIED)
        module = self.begin(target, sums).clone() if found is None else found.module
        if found is None:
            run_steps(module, steps, verify=VERIFIED)
        return profile_of(module, self.entry, source=self.source.operation)

    def begin(self, target: Target, sums: WidenSums) -> ir.Operation:
        """The program before its partition, made once: some passes ask for the memory of a tile."""
        if (target, sums) not in self._begun:
            module = entries_alone(self.source.operation, (self.entry,))
            set_target(module, target)
            run_steps(module, replace_pass(self._first, sums), verify=VERIFIED)
            self._begun[target, sums] = module
        return self._begun[target, sums]
