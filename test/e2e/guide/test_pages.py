"""The Python of ``docs/tensorflow.md`` and ``docs/keras.md`` runs, all blocks of a page as one program."""

import re
import runpy
from pathlib import Path

import pytest

from ipu_mlir.tensorflow import ipu

pytest.importorskip("tensorflow")


@pytest.mark.parametrize("page", ["tensorflow", "keras"])
def test_a_page_runs(page, tmp_path):
    text = (Path(__file__).parents[3] / "docs" / f"{page}.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert blocks
    (tmp_path / "page.py").write_text("\n".join(blocks))
    try:
        runpy.run_path(str(tmp_path / "page.py"))
    finally:
        ipu.config.reset_ipu_configuration()
