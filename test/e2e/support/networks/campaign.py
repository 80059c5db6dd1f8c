"""Many random networks, one after another: prints those that differ or end in an error, each made smaller.

python test/e2e/support/networks/campaign.py FIRST COUNT [jax|torch|tensorflow]
"""

import collections
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from support.networks.compare import problem, smallest
from support.networks.draw import draw_network

_SECONDS = 60
"""Between two lines that say how many there were."""


def main(first: int, count: int, framework: str) -> int:
    begin, seen = time.process_time(), collections.Counter[str]()
    failed, due = 0, time.monotonic() + _SECONDS
    for seed in range(first, first + count):
        network = draw_network(seed)
        seen.update(layer.kind for layer in network.layers)
        if said := problem(network, seed, framework):
            failed += 1
            sign = said[:40]
            least = smallest(
                network, lambda each, sign=sign, seed=seed: problem(each, seed, framework)[:12] == sign[:12]
            )
            print(f"seed {seed}: {said}\n  {least}\n  {problem(least, seed, framework)}", flush=True)
        if seed + 1 - first == count or time.monotonic() > due:
            due = time.monotonic() + _SECONDS
            print(f"{seed + 1 - first} networks, {failed} failed, {time.process_time() - begin:.0f} s", flush=True)
    print(f"layers: {dict(seen.most_common())}")
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:3]), (*sys.argv[3:], "jax")[0]))
