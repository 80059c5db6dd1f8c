"""Makes what tests share importable: ``support`` (tools) and ``cases`` (small programs) of the end-to-end tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "e2e"))
