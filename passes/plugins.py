"""Plugins: Python files and installed packages with passes, dialects, codelets and planners of somebody else.

A file defines them at its top level: classes that derive from ``Pass`` and have a name, classes that derive from the
bindings' ``Dialect``, values of class ``LibraryCodelet``, and a dict ``PLANNERS`` of functions by name. A package names
its modules as entry points of the group ``ipu_mlir.plugins``.
"""

import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.codelets.codelet import LibraryCodelet
from ipu_mlir.dialects.codelets.library import LIBRARY, register
from ipu_mlir.dialects.support.bindings import ext
from ipu_mlir.dialects.support.diagnostics import DiagnosedError, Diagnostic
from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.passes import PASSES
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.core.pipeline_text import PipelineError
from ipu_mlir.passes.core.registry import suggestion

OURS = dict(LIBRARY)
"""The codelets of the compiler, before any plugin."""
GROUP = "ipu_mlir.plugins"
"""Of entry points."""


@dataclass(frozen=True)
class Plugin:
    """What one file or module defines.

    Attributes:
        name: the path of the file, or the name of the module.
        passes: pass classes, in the order of the file.
        dialects: classes of dialects, with their ops.
        codelets: library codelets; those of the compiler that the module imports are not among them.
        planners: functions that partition ops, by name.
    """

    name: str
    passes: tuple[type[Pass], ...] = ()
    dialects: tuple[type, ...] = ()
    codelets: tuple[LibraryCodelet, ...] = ()
    planners: dict[str, Callable[..., Any]] = field(default_factory=dict)


_LOADED: dict[str, tuple[object, Plugin]] = {}
"""By name, with what tells whether the file has changed since."""


def load_plugin(name: str | Path) -> Plugin:
    """Make known what the file ``name``, which ends in .py, or the module of that name defines; once per process.

    From then on its passes are known to pipelines, its dialects to every context that the compiler makes, verifiers
    included, and its codelets to programs.

    Raises:
        CompileError: it cannot be imported, or defines nothing of the kind, or has the name of another codelet.
        PipelineError: it has the name of another pass. DiagnosedError: it is no Python.
    """
    text = str(name)
    is_file = isinstance(name, Path) or text.endswith(".py") or "/" in text
    key, stamp = (str(Path(name).resolve()), _stamp(Path(name))) if is_file else (text, None)
    if key in _LOADED and _LOADED[key][0] == stamp:
        return _LOADED[key][1]
    module = import_file(Path(name)) if is_file else _import_module(text)
    plugin = plugin_of(module, text)
    others = loaded_passes(each for other, (_, each) in _LOADED.items() if other != key)
    PASSES.with_others([*others, *plugin.passes])  # raises where two have one name
    for codelet in plugin.codelets:
        try:
            register(codelet)
        except ValueError as error:
            raise CompileError(f"{text}: {error}; rename one") from error
    for dialect in plugin.dialects:
        ipu.add_dialect(dialect)
    _LOADED[key] = stamp, plugin
    return plugin


def load_installed() -> list[Plugin]:
    """Load the plugins of all installed packages.

    Raises:
        CompileError: one cannot be loaded; the message names the package.
    """
    from importlib.metadata import entry_points

    found = []
    for entry in entry_points(group=GROUP):
        try:
            found.append(load_plugin(entry.value.partition(":")[0]))
        except CompileError as error:
            package = entry.dist.name if entry.dist is not None else entry.name
            raise CompileError(
                f"plugin '{entry.name}' of the package {package}: {error}; uninstall or repair it"
            ) from error
    return found


def loaded_passes(plugins: Iterable[Plugin] | None = None) -> list[type[Pass]]:
    """The passes of ``plugins``, or of all that were loaded."""
    chosen = [plugin for _, plugin in _LOADED.values()] if plugins is None else plugins
    return list(dict.fromkeys(each for plugin in chosen for each in plugin.passes))


def planner_named(name: str) -> Callable[..., Any]:
    """The planner that a plugin calls so.

    Raises:
        PipelineError: none does.
    """
    planners = {known: each for _, plugin in _LOADED.values() for known, each in plugin.planners.items()}
    if name not in planners:
        known = f"; there are {', '.join(sorted(planners))}" if planners else "; --load a file with PLANNERS = {...}"
        raise PipelineError(f"no plugin has a planner '{name}'{suggestion(name, planners) or known}")
    return planners[name]


def import_file(path: Path) -> ModuleType:
    """The module that the Python file ``path`` is.

    Raises:
        CompileError: the file is missing or cannot be imported. DiagnosedError: it is no Python.
    """
    name = f"ipu_mlir_loaded_pass_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise CompileError(f"cannot load passes from {path}: expected a file that ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up there
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        place = (error.filename or str(path), error.lineno or 0, error.offset or 0)
        raise DiagnosedError([Diagnostic(error.msg, *place)]) from error
    except (OSError, ImportError) as error:
        raise CompileError(f"cannot load passes from {path}: {error}") from error
    return module


def plugin_of(module: ModuleType, name: str) -> Plugin:
    """What ``module`` defines.

    Raises:
        CompileError: nothing that a plugin can have.
    """
    values = list(vars(module).values())
    own = [each for each in values if isinstance(each, type) and each.__module__ == module.__name__]
    planners = vars(module).get("PLANNERS", {})
    if not isinstance(planners, dict) or not all(isinstance(k, str) and callable(v) for k, v in planners.items()):
        raise CompileError(f"{name}: PLANNERS is {planners!r}; expected a dict of functions by name")
    plugin = Plugin(
        name,
        tuple(each for each in own if issubclass(each, Pass) and hasattr(each, "name")),
        tuple(each for each in own if issubclass(each, ext.Dialect)),
        tuple(dict.fromkeys(each for each in values if isinstance(each, LibraryCodelet) and not is_ours(each))),
        dict(planners),
    )
    if not (plugin.passes or plugin.dialects or plugin.codelets or plugin.planners):
        raise CompileError(
            f"{name} defines no pass; expected a class that derives from Pass and has a name, or a dialect, a codelet, "
            "or PLANNERS"
        )
    return plugin


def is_ours(codelet: LibraryCodelet) -> bool:
    """True for a codelet that the compiler has by itself."""
    return codelet.name in OURS and OURS[codelet.name] is codelet


def _import_module(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise CompileError(
            f"cannot load the plugin {name}: {error}; give a file that ends in .py, or a module"
        ) from error


def _stamp(path: Path) -> object:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return None
