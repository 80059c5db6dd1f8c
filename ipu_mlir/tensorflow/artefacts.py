"""What compiling and running leave on the disk: executables that are loaded instead of compiled, and reports."""

import hashlib
import logging
import pickle
import re
import subprocess
import sys
from importlib.metadata import version
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from ipu_mlir.compilation.compiled_modules import compile_module
from ipu_mlir.compilation.executable import Executable
from ipu_mlir.compilation.lowering import Lowering
from ipu_mlir.dialects.storage.whole_files import make_folder, write_whole
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.tensorflow.devices import Device, flags

if TYPE_CHECKING:
    from ipu_mlir.runtime.profile.profile import Profile

_LOG = logging.getLogger("ipu_mlir.tensorflow")
_NOT_IN_A_NAME = re.compile(r"[^\w.-]+")
_PAGE = "import sys; from ipu_mlir.tools.ipu_report import main; sys.exit(main())"


def executable_of(module: ir.Module, lowering: Lowering, device: Device, name: str) -> Executable:
    """The executable of ``module``: one that is in a folder of the device for just this program, or a new one.

    A folder is that of ``serialization_output_folder``, or of ``--executable_cache_path`` in ``TF_POPLAR_FLAGS``. A
    file in it is code: who may write there may run what he likes.

    Raises:
        CompileError: it cannot be compiled.
        IpuError: the file cannot be written.
    """
    folders = [Path(each) for each in (flags().get("executable_cache_path", ""), device.executables) if each]
    if not folders or device.executables is None:
        return _compiled(module, lowering)
    text = module.operation.get_asm(enable_debug_info=True)
    made_of = (
        version("ipu-mlir"),
        sys.version,
        lowering.target,
        device.partition,
        device.sums,
        device.merging,
        device.outlining,
        device.recomputing,
        device.float_modes,
        device.io_proportion,
        text,
    )
    key = hashlib.sha256(repr(made_of).encode()).hexdigest()[:32]
    files = [folder / f"{_file_name(name)}-{key}.poplar_exec" for folder in folders]
    found = next((made for made in map(_read, files) if made is not None), None)
    executable = found or _compiled(module, lowering)
    for file in files:
        if found is None or not file.exists():
            make_folder(file.parent)
            write_whole(file, pickle.dumps(executable))
    return executable


def _compiled(module: ir.Module, lowering: Lowering) -> Executable:
    executable = compile_module(module, "main", lowering)
    assert isinstance(executable, Executable), "what TensorFlow compiles has static shapes"
    return executable


def _read(file: Path) -> Executable | None:
    if not file.exists():
        return None
    try:
        found = pickle.loads(file.read_bytes())
        if not isinstance(found, Executable):
            raise TypeError(f"it holds a {type(found).__name__}")
    except Exception as error:  # a file that was cut off may fail in any way
        _LOG.warning("%s is no executable, and is made anew: %s", file, error)
        return None
    _LOG.info("loaded %s", file)
    return found


class Report:
    """The folder of a program in the one that the device has for reports."""

    _numbers = count()

    def __init__(self, folder: str, name: str) -> None:
        self._folder = Path(folder) / f"{next(self._numbers):03}_{_file_name(name)}"

    def write(self, profile: "Profile") -> None:
        """Leave ``profile.json``, and ``profile.html`` to look at.

        Raises:
            IpuError: they cannot be written.
        """
        make_folder(self._folder)
        file = self._folder / "profile.json"
        profile.save(file)
        made = subprocess.run([sys.executable, "-c", _PAGE, str(file)], capture_output=True, text=True, check=False)
        if made.returncode:
            _LOG.warning("no page was made of %s: %s", file, made.stderr.strip())


def _file_name(name: str) -> str:
    return _NOT_IN_A_NAME.sub("_", name)[:80]
