"""All advice on a profile, the best first."""

from itertools import chain

from ipu_mlir.runtime.profile.profile import Profile
from ipu_mlir.tools.report.advice import communication, compute, memory
from ipu_mlir.tools.report.advice.entry import Advice, Numbers

RULES = (
    memory.problems,
    memory.crowded_tiles,
    memory.much_code,
    compute.uneven_ops,
    compute.slow_products,
    compute.wide_products,
    communication.exchange_bound_ops,
    communication.many_small_steps,
    communication.slow_host,
    communication.slow_links,
    communication.waiting_ipus,
)
_MOST = 8
_WORTH_SAYING = 0.01
"""Share of all cycles that advice has to gain at least."""


def advise(profile: Profile) -> list[Advice]:
    """Changes to make, in order: what does not fit, then by the cycles that it gains at most, then memory."""
    numbers = Numbers(profile)
    least = _WORTH_SAYING * numbers.cycles.total
    found = chain.from_iterable(rule(numbers) for rule in RULES)
    worth = [advice for advice in found if advice.gain_cycles is None or advice.gain_cycles > least]
    return sorted(worth, key=lambda advice: (not advice.urgent, -(advice.gain_cycles or 0)))[:_MOST]
