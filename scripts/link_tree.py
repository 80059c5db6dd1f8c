"""Lay out the project as type checkers see packages: links below ``build/typing``, one per folder of the package.

The folders ``dialects``, ``passes``, ``runtime`` and ``tools`` are imported as ``ipu_mlir.dialects`` and so on, through
an import hook that type checkers do not follow. Run again after a folder was added.
"""

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TREE = ROOT / "build" / "typing"


def main() -> None:
    """Make the tree anew."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    for package, folder in settings["package-dir"].items():
        inside = TREE.joinpath(*package.split("."))
        inside.mkdir(parents=True, exist_ok=True)
        for old in inside.iterdir():
            if old.is_symlink():
                old.unlink()
        for file in (ROOT / folder).glob("*.py*"):
            (inside / file.name).symlink_to(file)
    print(f"linked {len(settings['package-dir'])} packages below {TREE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
