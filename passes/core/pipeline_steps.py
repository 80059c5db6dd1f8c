"""A pipeline as steps: text, pass objects, or a mixture of both, resolved against the passes that exist.

Steps are plain data: a caller may look at them, or put a pass object of its own in the place of another
(``replace_pass``).
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeVar

from ipu_mlir.dialects.support import stablehlo
from ipu_mlir.dialects.support.bindings import ir, passmanager
from ipu_mlir.passes.core import upstream_passes
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.core.options import make_pass, pass_text
from ipu_mlir.passes.core.pipeline_text import Element, Nest, PassText, PipelineError, parse_pipeline
from ipu_mlir.passes.core.registry import suggestion

MODULE = "builtin.module"
_RESTRICTED = re.compile(r"restricted to '([\w.]+)'")


class WrongAnchor(PipelineError):
    """A pass stands where it gets another op than the one it works on, which is ``anchor``."""

    def __init__(self, name: str, anchor: str, found: str) -> None:
        super().__init__(f"pass '{name}' runs on {anchor}, not on {found}; write {anchor}({name})")
        self.anchor = anchor


class UnknownPass(PipelineError):
    """Nothing is called ``name``."""

    def __init__(self, name: str, near: str) -> None:
        super().__init__(f"there is no pass or pipeline '{name}'{near}")
        self.name = name


@dataclass(frozen=True)
class UpstreamStep:
    """A C++ pass by its text: ``canonicalize{max-iterations=3}``."""

    text: str

    @property
    def name(self) -> str:
        return self.text.partition("{")[0]


@dataclass(frozen=True)
class PassStep:
    """A pass object."""

    instance: Pass

    @property
    def name(self) -> str:
        return self.instance.name

    @property
    def text(self) -> str:
        return pass_text(self.instance)


@dataclass(frozen=True)
class NestStep:
    """Steps that run, one after the other, on each op named ``anchor`` directly inside."""

    anchor: str
    steps: "tuple[Step, ...]"

    @property
    def text(self) -> str:
        return f"{self.anchor}({','.join(step.text for step in self.steps)})"


Kind = TypeVar("Kind", bound=Pass)
Step = UpstreamStep | PassStep | NestStep
Pipeline = str | Pass | Iterable[str | Pass | Element]


@dataclass(frozen=True)
class Registry:
    """The names that a pipeline may use, besides upstream's.

    Attributes:
        passes: our passes by name.
        pipelines: named pipelines, each as elements in text; they may name each other.
    """

    passes: Mapping[str, type[Pass]]
    pipelines: Mapping[str, Sequence[str]]

    def __post_init__(self) -> None:
        if both := [each for each in self.pipelines if each in self.passes]:
            raise PipelineError(f"'{both[0]}' is both a pass and a pipeline; rename one")

    def resolve(self, pipeline: Pipeline) -> tuple[Step, ...]:
        """The steps of ``pipeline``: text, a pass object, or several of both, to be run on a module.

        Raises:
            PipelineError: bad syntax, a pass that does not exist, options that it does not take, or a named
                pipeline inside another op than a module.
        """
        steps: list[Step] = []
        for item in [pipeline] if isinstance(pipeline, str | Pass) else pipeline:
            if isinstance(item, Pass):
                steps.append(PassStep(item))
            else:
                steps += self._steps(parse_pipeline(item) if isinstance(item, str) else [item], MODULE, ())
        return tuple(steps)

    def _steps(self, elements: Iterable[Element], anchor: str, inside: tuple[str, ...]) -> Iterator[Step]:
        """Steps of ``elements``, which run on ``anchor`` and stand in the named pipelines ``inside``."""
        for element in elements:
            if isinstance(element, Nest):
                yield self._nest(element, inside)
            elif element.name in self.passes:
                yield PassStep(make_pass(self.passes[element.name], element.options))
            elif element.name in self.pipelines:
                yield from self._named(element, anchor, inside)
            else:
                step = UpstreamStep(str(element))
                with _scratch_context():
                    self._check(step, anchor)
                yield step

    def _nest(self, nest: Nest, inside: tuple[str, ...]) -> NestStep:
        if "." not in nest.anchor and nest.anchor != "any":
            raise PipelineError(
                f"'{nest.anchor}(...)' runs passes on no op; an op's name has a dot, as in func.func(...)"
            )
        return NestStep(nest.anchor, tuple(self._steps(nest.elements, nest.anchor, inside)))

    def _named(self, element: PassText, anchor: str, inside: tuple[str, ...]) -> Iterator[Step]:
        name = element.name
        if anchor not in (MODULE, "any"):
            raise PipelineError(f"pipeline '{name}' runs on {MODULE}, not inside {anchor}(...)")
        if element.options:
            raise PipelineError(f"pipeline '{name}' takes no options, got '{element.options}'; give them to its passes")
        if name in inside:
            raise PipelineError(f"pipeline '{name}' contains itself: {' -> '.join((*inside, name))}")
        for text in self.pipelines[name]:
            yield from self._steps(parse_pipeline(text), anchor, (*inside, name))

    def _check(self, step: UpstreamStep, anchor: str) -> None:
        try:
            upstream_manager(step, anchor)
        except ValueError as error:
            reason = " ".join(str(error).split())
            if "does not refer to a registered pass" in reason:
                near = suggestion(step.name, [*self.passes, *self.pipelines, *upstream_passes.NAMES])
                raise UnknownPass(step.name, near) from error
            if restricted := _RESTRICTED.search(reason):
                raise WrongAnchor(step.name, restricted.group(1), anchor) from error
            raise PipelineError(f"pass '{step.name}' does not take these options: '{step.text}': {reason}") from error


@lru_cache(maxsize=1)
def _scratch_context() -> ir.Context:
    """A context to look names up in; no IR is ever made in it."""
    return ir.Context()


def upstream_manager(step: UpstreamStep, anchor: str) -> passmanager.PassManager:
    """The MLIR pass manager that runs ``step``, in the current context; it does not verify.

    Raises:
        ValueError: there is no such pass, or it does not take these options (``Registry.resolve`` refuses both).
    """
    if "hlo" in step.name:
        stablehlo.bindings()
    manager = passmanager.PassManager(anchor)
    manager.enable_verifier(False)  # the caller checks between all passes, ours included
    manager.add(step.text)
    return manager


def replace_pass(steps: Sequence[Step], instance: Pass) -> tuple[Step, ...]:
    """``steps`` with ``instance`` in the place of every pass of its name.

    Raises:
        PipelineError: no step has that name.
    """
    if instance.name not in {step.name for step in leaves(steps)}:
        raise PipelineError(f"the pipeline has no pass '{instance.name}' to replace")
    return tuple(_with_pass(step, instance) for step in steps)


def step_of(step: Step, kind: type[Kind]) -> Kind | None:
    """The pass of ``step`` if it is one of ``kind``."""
    return step.instance if isinstance(step, PassStep) and isinstance(step.instance, kind) else None


def _with_pass(step: Step, instance: Pass) -> Step:
    if isinstance(step, NestStep):
        return replace(step, steps=tuple(_with_pass(inner, instance) for inner in step.steps))
    return PassStep(instance) if step.name == instance.name else step


def leaves(steps: Iterable[Step]) -> Iterator[UpstreamStep | PassStep]:
    """The passes of ``steps``, out of their nests."""
    for step in steps:
        if isinstance(step, NestStep):
            yield from leaves(step.steps)
        else:
            yield step
