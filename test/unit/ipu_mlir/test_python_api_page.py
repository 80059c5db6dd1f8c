"""The page ``docs/python-api.md`` runs from top to bottom."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "python-api.md"


def test_the_page_runs(capsys):
    text = PAGE.read_text()
    names = {"__name__": "python_api_page"}
    blocks = list(re.finditer(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE))
    assert len(blocks) >= 8
    for block in blocks:
        line = text.count("\n", 0, block.start(1))
        exec(compile("\n" * line + block.group(1), str(PAGE), "exec"), names)
    printed = capsys.readouterr().out
    for sign in ("linalg.matmul", "#ipu.mapping", "ipu.compute_set", "def main(arg0", "params['w1']", str(PAGE)):
        assert sign in printed
