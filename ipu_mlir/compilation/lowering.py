"""The passes that make a program, and the level of the IR that each of them leads to."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from ipu_mlir.compilation.entry import entries_alone
from ipu_mlir.compilation.fastest_number import set_target, take_contents, with_fastest_number
from ipu_mlir.compilation.supported_ops import unsupported_ops
from ipu_mlir.compilation.tried_advice import with_tried_advice
from ipu_mlir.dialects.attributes.attributes import module_target
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.diagnostics import DiagnosedError
from ipu_mlir.dialects.support.errors import CompileError, Settings, TargetError
from ipu_mlir.passes import PASSES
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.core.manager import PassTime, run_steps
from ipu_mlir.passes.core.options import make_pass
from ipu_mlir.passes.core.pipeline_steps import PassStep, Registry, Step, leaves, replace_pass, step_of
from ipu_mlir.passes.importing.set_target import SetTarget
from ipu_mlir.passes.normalize.widen_sums import WidenSums
from ipu_mlir.passes.pipelines import PIPELINES
from ipu_mlir.passes.pipelining.recompute import Recompute
from ipu_mlir.passes.placement.partition.partition import Partition
from ipu_mlir.passes.plugins import loaded_passes
from ipu_mlir.passes.programs.mark_replicas import MarkReplicas
from ipu_mlir.passes.programs.merge_collectives import MergeCollectives
from ipu_mlir.passes.programs.merge_remote_buffers import MergeRemoteBuffers
from ipu_mlir.passes.programs.outline_layers import OutlineLayers
from ipu_mlir.passes.programs.set_float_modes import SetFloatModes
from ipu_mlir.passes.supersteps.checks.check_memory import CheckMemory, OutOfMemoryError
from ipu_mlir.passes.supersteps.checks.check_supersteps import CheckSupersteps

_PIPELINE_TO = {"l1": "ipu-normalize", "l2": "ipu-place", "l3": "ipu-lower"}


_REGISTRY = Registry(PASSES, PIPELINES)
TO_HOST = _REGISTRY.resolve("ipu-to-host")

_CHECKS = (MarkReplicas(all_branches=True), CheckSupersteps(), CheckMemory())
"""What supersteps of the user's own go through."""

VERIFIED = ("one-shot-bufferize",)
"""Passes whose result is verified, besides what each stage leaves: upstream knows nothing of mappings."""

Pipeline = str | Pass | Iterable[str | Pass]
"""Pipeline text, a pass, or a list of passes and pieces of pipeline text."""


@dataclass(frozen=True)
class Lowering:
    """The way of a program from what came in (``l0``) to supersteps (``l3``), in stages that end at a level.

    From there it is the same way for all programs to what runs on the host.

    With a pipeline of the user's own, what it leaves is ``l3``, and the levels in between have no name.

    Attributes:
        stages: by the level they lead to, in order, the steps from the level before.
        target: the machine; None keeps the one that the module names, or takes the default machine.
        kernels: what runs as machine code, if it is said.
        said: all that a caller has said of the way, which decides it.
    """

    stages: dict[str, tuple[Step, ...]]
    target: Target | None = None
    own_pipeline: bool = field(default=False)
    kernels: str | None = None
    said: str | None = None

    def run(self, module: ir.Operation, level: str = "l3") -> list[PassTime]:
        """Bring ``module``, which is at ``l0``, to ``level`` in place; gives the time that each pass took.

        Ops that vanish when the program is normalised (assertions of what is known, loops that run once) need not be
        supported.

        Raises:
            CompileError: a pass refuses the program, it has ops that cannot be compiled (all of them are listed), or
                there is no such level.
        """
        if level == "l0":
            return []
        if level == "host":
            return [*self.run(module), *to_host(module)]
        stages = self._up_to(level)
        is_doubtful = "l1" in stages and bool(unsupported_ops(module))
        if self.target is not None:
            set_target(module, self.target)
        times: list[PassTime] = []
        for name, steps in stages.items():
            if name == "l2" and (found := self._on_fastest_number(module, level)) is not None:
                return times + found
            times += run_steps(module, steps, verify=VERIFIED)
            if name == "l1" and is_doubtful and (found := unsupported_ops(module)):
                raise DiagnosedError(found)
        return times

    def _on_fastest_number(self, module: ir.Operation, level: str) -> list[PassTime] | None:
        """Bring ``module`` from ``l1`` to ``level`` on as many IPUs as are best; None if there is no choice."""
        steps, target = [*self.stages["l2"], *self.stages["l3"]], module_target(module)
        place = next((place for place, step in enumerate(steps) if step_of(step, Partition)), None)
        if target.ipus == 1 or place is None:
            return None

        def begun(target: Target) -> ir.Operation:
            copy = module.clone()
            set_target(copy, target)
            run_steps(copy, steps[:place], verify=VERIFIED)
            return copy

        found = with_fastest_number(target, begun, steps[place:], VERIFIED)
        if found is None:
            return None
        if level == "l3":
            take_contents(module, found.module)
            return found.times
        set_target(module, replace(target, ipus=found.partition.ipus))
        times = run_steps(module, replace_pass(self.stages["l2"], found.partition), verify=VERIFIED)
        set_target(module, target)
        return times

    @property
    def text(self) -> str | None:
        """All that decides what becomes of a program; None if a callable does, or a pass of the user's own."""
        if self.said is not None:
            return self.said
        steps = [step for stage in self.stages.values() for step in stage]
        has_planner = any(isinstance(s, PassStep) and getattr(s.instance, "planner", None) is not None for s in steps)
        if self.own_pipeline or has_planner:
            return None
        return f"{[step.text for step in steps]} {self.target!r}"

    def beginning_at(self, level: str) -> "Lowering":
        """The way of a program that came in at ``level``; supersteps are only checked."""
        names = list(self.stages)
        if self.own_pipeline or level == "l0":
            return self
        stages = {name: self.stages[name] for name in names[names.index(level) + 1 :]}
        return replace(self, stages=stages or {"l3": tuple(map(PassStep, _CHECKS))})

    def on_replicas(self, replicas: int) -> "Lowering":
        """The way of a program that is written for so many replicas.

        Raises:
            TargetError: the target has another number of them.
        """
        if replicas == 1:
            return self
        target = self.target or Target()
        if target.replicas not in (1, replicas):
            raise TargetError(
                f"the program runs on {replicas} devices, each a replica, and the target has {target.replicas} "
                f"replicas; give ipu.Target(replicas={replicas}), or a mesh of {target.replicas} devices"
            )
        return replace(self, target=replace(target, replicas=replicas), said=None)

    def with_settings(self, settings: Settings, target: Target) -> "Lowering":
        """The same way with ``settings``, of the machine, ``target``, or of the partition.

        Raises:
            TargetError: there is no such machine.
            CompileError: the program is partitioned already.
        """
        machine = {name: each for name, each in settings.items() if name in Target.__dataclass_fields__}
        options = {name: each for name, each in settings.items() if name not in machine}
        stages = dict(self.stages)
        if options:
            steps = leaves(stages.get("l2", ()))
            partition = next((found for each in steps if (found := step_of(each, Partition))), None)
            if partition is None:
                raise CompileError(f"the program is placed already; {settings} is for tensors that are not")
            stages["l2"] = replace_pass(stages["l2"], replace(partition, **options))
        return replace(self, stages=stages, target=replace(target, **machine), said=None)

    def _up_to(self, level: str) -> dict[str, tuple[Step, ...]]:
        names = list(self.stages)
        if level not in names:
            why = "; a pipeline of your own has no levels in between" if self.own_pipeline else ""
            raise CompileError(
                f"the program has no level {level!r}; its levels are {', '.join(['l0', *names, 'host'])}{why}"
            )
        return {name: self.stages[name] for name in names[: names.index(level) + 1]}


class Lowered(NamedTuple):
    """A program on both of its last levels, and what each pass took."""

    supersteps: ir.Operation
    on_host: ir.Operation
    timings: list[PassTime]


def lower_together(module: ir.Module, entries: Sequence[str], lowering: Lowering) -> Lowered:
    """A copy of ``module`` lowered for ``entries``.

    Raises:
        CompileError: a pass refuses it. What is advised of one that does not fit was compiled.
    """
    copied = entries_alone(module.operation, entries)
    try:
        timings = lowering.run(copied.operation)
    except OutOfMemoryError as error:
        raise with_tried_advice(error, module, entries, lowering) from None
    on_host = copied.operation.clone()
    return Lowered(copied, on_host, timings + to_host(on_host.operation))


def with_plugins() -> Registry:
    """Our passes and pipelines, and the passes of plugins."""
    return Registry(PASSES.with_others(loaded_passes()), PIPELINES)


def to_host(module: ir.Operation) -> list[PassTime]:
    """Bring supersteps to level ``host`` in place: the same program for one memory.

    Raises:
        CompileError: a mark of a partition is not true.
    """
    return run_steps(module, TO_HOST, verify=VERIFIED)


def plan_lowering(
    target: Target | None = None,
    pipeline: Pipeline | None = None,
    planner: Callable[..., Any] | None = None,
    available_memory_proportion: float | None = None,
    merge_collectives: int | None = None,
    merge_remote_buffers: str | None = None,
    float_modes: str | Mapping[str, Any] | None = None,
    partials_type: str | None = None,
    outline_layers: bool = True,
    recompute: float | None = None,
) -> Lowering:
    """The passes for ``compile``.

    Args:
        target: the machine; None keeps the one that the module names, or takes the default machine.
        pipeline: replaces the default passes; the module gets its target first.
        planner: decides how each op is partitioned, instead of the built-in decision.
        available_memory_proportion: option of ``ipu-partition``.
        merge_collectives: bytes of ``ipu-merge-collectives``.
        merge_remote_buffers: which ones ``ipu-merge-remote-buffers`` merges.
        float_modes: options of ``ipu-set-float-modes``, by name or as text.
        partials_type: ``partials`` of ``ipu-widen-sums``.
        outline_layers: False leaves out ``ipu-outline-layers``.
        recompute: ``cycles`` of ``ipu-recompute``.

    Raises:
        CompileError: a pass or an option that does not exist, or a pipeline together with what is for the default
            passes.
        TargetError: ``target`` is no machine.
    """
    if target is not None and not isinstance(target, Target):
        raise TargetError(
            f"target={target!r} is no machine; give an ipu.Target, such as ipu.Target(ipus=1, tiles_per_ipu=16)"
        )
    begin = PassStep(SetTarget())
    if pipeline is not None:
        if planner is not None:
            raise CompileError("give either pipeline= or planner=; a pipeline can hold Partition(planner=...)")
        if available_memory_proportion is not None:
            raise CompileError("give available-memory-proportion to the ipu-partition of your own pipeline=")
        if merge_collectives is not None:
            raise CompileError("give max-bytes to an ipu-merge-collectives of your own pipeline=")
        if merge_remote_buffers is not None:
            raise CompileError("give which to an ipu-merge-remote-buffers of your own pipeline=")
        if float_modes is not None:
            raise CompileError("give float_modes as options of an ipu-set-float-modes of your own pipeline=")
        if partials_type is not None:
            raise CompileError("give partials_type as partials of an ipu-widen-sums of your own pipeline=")
        if not outline_layers:
            raise CompileError("leave ipu-outline-layers out of your own pipeline=")
        if recompute is not None:
            raise CompileError("give recompute as cycles of an ipu-recompute of your own pipeline=")
        return Lowering({"l3": (begin, *with_plugins().resolve(pipeline))}, target, own_pipeline=True)
    stages = {level: _REGISTRY.resolve(name) for level, name in _PIPELINE_TO.items()}
    if planner is not None or available_memory_proportion is not None:
        partition = Partition(planner=planner)
        if available_memory_proportion is not None:
            partition = replace(partition, available_memory_proportion=available_memory_proportion)
        stages["l2"] = replace_pass(stages["l2"], partition)
    if merge_remote_buffers is not None:
        merging = make_pass(MergeRemoteBuffers, f"which={merge_remote_buffers}")
        stages["l1"] = replace_pass(stages["l1"], merging)
    if float_modes is not None:
        stages["l1"] = replace_pass(stages["l1"], make_pass(SetFloatModes, _option_text(float_modes)))
    if partials_type is not None:
        stages["l1"] = replace_pass(stages["l1"], make_pass(WidenSums, f"partials={partials_type}"))
    if not outline_layers:
        stages["l1"] = tuple(each for each in stages["l1"] if each.text != OutlineLayers.name)
    if recompute is not None:
        again = make_pass(Recompute, f"cycles={recompute}")
        stages |= {level: replace_pass(stages[level], again) for level in ("l1", "l2")}
    if merge_collectives is not None:
        stages["l3"] = replace_pass(stages["l3"], MergeCollectives(max_bytes=merge_collectives))
    return Lowering({**stages, "l1": (begin, *stages["l1"])}, target)


def _option_text(options: str | Mapping[str, Any]) -> str:
    """Options as the text that a pipeline has.

    >>> _option_text({"rounding": "stochastic", "exceptions": ("inv", "div0")})
    'rounding=stochastic exceptions=inv,div0'
    """
    if isinstance(options, str):
        return options
    listed = {name: ",".join(each) if isinstance(each, list | tuple) else each for name, each in options.items()}
    return " ".join(f"{name}={each}" for name, each in listed.items() if each != "")


def level_of(function: ir.Operation) -> str:
    """The level that a function is written at: ``l3`` on buffers, ``l2`` on placed tensors, ``l0`` on others."""
    types = function.attributes["function_type"].value
    shaped = [each for each in (*types.inputs, *types.results) if isinstance(each, ir.ShapedType)]
    if any(isinstance(each, ir.MemRefType) for each in shaped):
        return "l3"
    ranked = (each for each in shaped if isinstance(each, ir.RankedTensorType))
    return "l2" if any(each.encoding is not None for each in ranked) else "l0"
