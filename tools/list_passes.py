"""``ipu-opt --list-passes``: our passes with their options, and the named pipelines."""

from dataclasses import MISSING

from ipu_mlir.passes.core import upstream_passes
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.core.options import Option, option_text, options_of, type_text
from ipu_mlir.passes.core.pipeline_steps import Registry

_UPSTREAM = "Every pass of upstream MLIR works too, with its own options (https://mlir.llvm.org/docs/Passes):"


def passes_text(registry: Registry) -> str:
    """A text that lists what may stand in a pipeline."""
    passes = "\n".join(_pass_text(registry.passes[name]) for name in sorted(registry.passes))
    pipelines = "\n".join(f"  {name}\n      {','.join(parts)}" for name, parts in registry.pipelines.items())
    upstream = "\n".join(f"  {name}" for name in upstream_passes.NAMES)
    return f"Passes:\n{passes}\n\nPipelines:\n{pipelines}\n\n{_UPSTREAM}\n{upstream}\n"


def _pass_text(pass_class: type[Pass]) -> str:
    lines = [f"  {pass_class.name}", f"      {pass_class.description()}"]
    return "\n".join(lines + [_option_line(option) for option in options_of(pass_class)])


def _option_line(option: Option) -> str:
    default = "needed" if option.default is MISSING else f"default: {option_text(option.default)}"
    return f"        {option.name}: {type_text(option.type)} ({default})"
