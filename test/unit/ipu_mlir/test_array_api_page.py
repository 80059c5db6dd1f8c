"""The page of the array API standard says what the package has."""

import runpy
from pathlib import Path

DOCS = Path(__file__).parents[3] / "docs"


def test_the_page_is_what_its_script_writes():
    script = runpy.run_path(str(DOCS / "array_api_page.py"))
    assert (DOCS / "array-api.md").read_text() == script["page"](), "run python docs/array_api_page.py --write"
