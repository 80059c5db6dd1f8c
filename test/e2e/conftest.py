"""Makes what the end-to-end tests share importable: ``support`` (tools) and ``cases`` (small programs)."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
