"""Passes that reach out of the program: to files, to other programs, to the terminal, or to any pass by its name.

A pipeline that comes with a program is data of whoever wrote that; it may have all other passes.
"""

import re
from collections.abc import Iterable, Iterator

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core import upstream_passes
from ipu_mlir.passes.core.pipeline_steps import Step, UpstreamStep, leaves, upstream_manager
from ipu_mlir.passes.core.pipeline_text import Element, Nest, PassText, PipelineError, parse_pipeline

_NAMES_TOOLS = "names files and options for the tools of another machine"
OUTSIDE = {
    "gpu-module-to-binary": "starts tools in a folder that it names",
    "nvvm-attach-target": _NAMES_TOOLS,
    "print-ir": "prints to the terminal",
    "print-op-stats": "prints to the terminal",
    "rocdl-attach-target": _NAMES_TOOLS,
    "snapshot-op-locations": "writes a file that it names",
    "transform-interpreter": "does anything that a transform script says, with files as well",
    "transform-preload-library": "reads files that it names",
    "view-op-graph": "prints to the terminal",
    "xevm-attach-target": _NAMES_TOOLS,
}
"""By upstream pass, the reason why a pipeline of somebody else must not have it."""

NESTING = {
    "composite-fixed-point-pass": ("name", "CompositeFixedPointPass", "pipeline", "max-iterations"),
    "inline": ("default-pipeline", "op-pipelines", "max-iterations", "inlining-threshold"),
}
"""By upstream pass that runs others, the words that stand beside them: its options."""

_UNKNOWN = "is not among the passes that are known to change the program alone"
_WORD = re.compile(r"[\w.-]+")
_OPERATION = re.compile(r"[a-z_]+(\.\w+)+")


def outside(steps: Iterable[Step]) -> Iterator[tuple[str, str]]:
    """The passes of ``steps`` that may reach out of the program, each with the reason.

    Passes in Python are ours, or from files that the user has loaded: they are not among them. A pass of upstream that
    is a pipeline stands for the passes in it.
    """
    for step in leaves(steps):
        if isinstance(step, UpstreamStep):
            for each in _passes_of(step):
                reason = _reason(each)
                if reason:
                    yield step.name, reason if each.name == step.name else f"has '{each.name}' in it, which {reason}"


def _passes_of(step: UpstreamStep) -> list[PassText]:
    """The passes that MLIR makes of ``step``, with all of their options; of one that runs others, those it is given."""
    if step.name in NESTING:
        return [PassText(step.name, step.text)]
    try:
        with ir.Context():
            return list(_flat(parse_pipeline(str(upstream_manager(step, "any")))))
    except (ValueError, PipelineError):
        return [PassText(step.name, step.text)]


def _flat(elements: Iterable[Element]) -> Iterator[PassText]:
    for element in elements:
        if isinstance(element, Nest):
            yield from _flat(element.elements)
        else:
            yield element


def _reason(element: PassText) -> str:
    if element.name in OUTSIDE:
        return OUTSIDE[element.name]
    if element.name not in upstream_passes.NAMES:
        return _UNKNOWN
    for word in _WORD.findall(element.options.removeprefix(element.name)) if element.name in NESTING else ():
        if not _is_harmless(word, NESTING[element.name]):
            return f"runs passes that it names, and '{word}' is not known to change the program alone"
    return ""


def _is_harmless(word: str, options: Iterable[str]) -> bool:
    """True for passes of upstream that are, ``options``, numbers, and names of operations, which have a dot."""
    if word in upstream_passes.NAMES:
        return not any(outside([UpstreamStep(word)]))
    return word in options or word == "any" or word.lstrip("-").isdigit() or bool(_OPERATION.fullmatch(word))
