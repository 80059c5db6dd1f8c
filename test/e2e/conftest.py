"""Makes the helpers of the end-to-end tests importable: ``support`` (tools) and ``cases`` (tables of small programs)."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
