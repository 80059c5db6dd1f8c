"""How many times more cycles the planner takes than the best plan that a search finds.

    python -m benchmarks.plan_search
    python -m benchmarks.plan_search "softmax,two towers" --tiles 64 --ipus 4 --tries 300

Each try is a whole program, compiled: its cycles are those of the profile, without what the host transfers. A search
changes how ops are cut, where they begin and on how many IPUs, their order, and how many IPUs the program takes.
"""

import argparse
import sys
import time
from collections.abc import Sequence

from benchmarks.plan_search.programs import NAMES, text_of
from benchmarks.plan_search.search import search
from benchmarks.run import names_of
from ipu_mlir.dialects.machine.target import Target

_MOST = 1.1


def main(argv: Sequence[str] | None = None) -> int:
    """Print a row per program; 1 if the planner takes more than 1.1 times the cycles of the best plan of one."""
    parser = argparse.ArgumentParser("python -m benchmarks.plan_search", description=(__doc__ or "").partition("\n")[0])
    flag = parser.add_argument
    flag("names", type=names_of(NAMES), nargs="?", default=list(NAMES), help=f"of {', '.join(NAMES)}")
    flag("--tiles", type=int, default=1472, help="of an IPU")
    flag("--ipus", type=int, default=1)
    flag("--tries", type=int, default=300)
    flag("--seed", type=int, default=0)
    arguments = parser.parse_args(argv)
    target = Target.named("mk2", ipus=arguments.ipus, tiles_per_ipu=arguments.tiles)
    print(f"{arguments.ipus} x {arguments.tiles:,} tiles, {arguments.tries} tries, seed {arguments.seed}\n")
    print(f"{'program':20} {'planner':>10} {'best found':>10} {'ratio':>6} {'seconds':>8}  differs in")
    worst = 0.0
    for name in arguments.names:
        begun = time.process_time()
        found = search(text_of(name), target, arguments.tries, arguments.seed)
        worst = max(worst, found.ratio)
        figures = f"{found.planned.cycles:>10,} {found.best.cycles:>10,} {found.ratio:>6.3f}"
        print(f"{name:20} {figures} {time.process_time() - begun:>8.0f}  {found.what}".rstrip(), flush=True)
    print(f"\nworst ratio: {worst:.3f}")
    return int(worst > _MOST)


if __name__ == "__main__":
    sys.exit(main())
