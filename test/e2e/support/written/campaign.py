"""Many written programs, one after another: prints those that differ or end in an error.

python test/e2e/support/written/campaign.py FIRST COUNT [numpy|jax|tensorflow|torch]
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from support.written.check import LIBRARIES, problem

_SECONDS = 60
"""Between two lines that say how many there were."""


def main(first: int, count: int, library: str) -> int:
    begin, due, failed = time.process_time(), time.monotonic() + _SECONDS, 0
    for seed in range(first, first + count):
        if said := problem(seed, library):
            failed += 1
            print(f"seed {seed}: {said}\n{LIBRARIES[library].program(seed).source}", flush=True)
        if seed + 1 - first == count or time.monotonic() > due:
            due = time.monotonic() + _SECONDS
            print(f"{seed + 1 - first} programs, {failed} failed, {time.process_time() - begin:.0f} s", flush=True)
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else "numpy"))
