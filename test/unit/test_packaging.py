"""What users install is what stands in the checkout."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("dialects", "passes", "runtime", "ipu_mlir", "tools")


def package_name(folder: Path) -> str:
    """``dialects/mapping`` -> ``ipu_mlir.dialects.mapping``."""
    parts = folder.relative_to(ROOT).parts
    return ".".join(parts if parts[0] == "ipu_mlir" else ("ipu_mlir", *parts))


def package_folders() -> dict[str, str]:
    """The name and the folder of every package in the checkout: each folder with Python files."""
    folders = {path.parent for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")}
    return {package_name(folder): folder.relative_to(ROOT).as_posix() for folder in folders}


def test_every_package_folder_has_an_init():
    missing = [folder for folder in package_folders().values() if not (ROOT / folder / "__init__.py").exists()]
    assert not missing, "a folder of modules is a package only with an __init__.py"


@pytest.mark.parametrize("room", ["dialects", "passes", "runtime", "tools"])
def test_rooms_are_in_the_package_of_a_checkout(room):
    """People, editors and type checkers find ``ipu_mlir.dialects`` in a checkout by its links."""
    assert (ROOT / "ipu_mlir" / room).resolve() == ROOT / room


@pytest.mark.pages
def test_wheel_holds_every_module(tmp_path):
    """pip builds in an environment of its own, with the setuptools that pyproject.toml asks for."""
    source = tmp_path / "source"
    unwanted = shutil.ignore_patterns("__pycache__")
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, source / folder, ignore=unwanted, symlinks=True)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path), str(source)]
    done = subprocess.run(pip, capture_output=True, text=True, check=False)
    if "No matching distribution found for setuptools" in done.stderr:
        pytest.skip("the package index cannot be reached, which setuptools comes from")
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    inside = {name for name in names if name.endswith(".py")}
    expected = {
        f"{package.replace('.', '/')}/{path.name}"
        for package, folder in package_folders().items()
        for path in (ROOT / folder).glob("*.py")
    }
    assert inside == expected
    report = ROOT / "tools" / "report"
    data = {path.relative_to(ROOT) for folder in ("web", "vendor") for path in (report / folder).iterdir()}
    assert {f"ipu_mlir/{path.as_posix()}" for path in data} <= names, "name it in pyproject.toml, package-data"
