// The execution on a time axis: what each IPU does when, with loops drawn once for all their iterations.

/** The order in which a step spends its cycles. */
const PHASES = ["sync", "host", "inter_ipu", "exchange", "compute"];
const MOST_BLOCKS = 600;

/**
 * The leaves of the program tree in order, each {step, executed, count, start, end} in cycles of all its executions, and
 * the loops and calls around them, each {name, kind, count, depth, start, end}.
 */
function timeline(data) {
  const leaves = [];
  const bands = [];
  let now = 0;
  const walk = (node, depth) => {
    if (node.kind === "step") {
      const executed = data.executed.get(node.step);
      const count = node.count ?? executed?.count ?? 0;
      const length = executed ? count * cyclesOf(executed) : 0;
      if (length > 0) leaves.push({ step: node.step, executed, count, start: now, end: now + length });
      now += length;
      return;
    }
    const start = now;
    const inner = node.kind === "sequence" ? depth : depth + 1;
    for (const child of node.children) walk(child, inner);
    if (node.kind !== "sequence" && now > start)
      bands.push({ name: node.name, kind: node.kind, count: iterations(node), depth, start, end: now });
  };
  walk(data.compilation.program_tree, 0);
  return { leaves, bands, total: now };
}

/** How often the inside of a loop runs each time that the loop is reached; null where that is not known. */
function iterations(node) {
  const counts = node.children.map((child) => child.count).filter((count) => count !== null);
  if (node.kind !== "repeat" && node.kind !== "while") return null;
  return counts.length && node.count ? Math.max(...counts) / node.count : null;
}

/** [kind, cycles] of one execution on one IPU, in order; what it does not work is "waiting". */
function phases(executed, ipu) {
  const own = executed.per_ipu?.[ipu];
  return PHASES.flatMap((kind) => {
    const cycles = executed[kind];
    const busy = own && kind === "compute" ? own[0] : own && kind === "exchange" ? own[1] : cycles;
    return [
      [kind, Math.min(busy, cycles)],
      ["waiting", Math.max(0, cycles - busy)],
    ];
  }).filter(([, cycles]) => cycles > 0);
}

/** The leaves that overlap the part from ``from`` to ``to`` of the time axis. */
function leavesBetween(leaves, from, to) {
  const firstWhere = (holds) => {
    let [low, high] = [0, leaves.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (holds(leaves[middle])) high = middle;
      else low = middle + 1;
    }
    return low;
  };
  return leaves.slice(
    firstWhere((leaf) => leaf.end > from),
    firstWhere((leaf) => leaf.start >= to),
  );
}

/**
 * The blocks of one IPU between two times, about ``most`` of them: {start, end, kind, bottom, top, leaf}. Where there are
 * more than a screen can show, the blocks are slices of time, cut by height into the shares of each kind (``shares``
 * then, and the ``leaf`` that takes most of it).
 */
function blocksOf(leaves, ipu, from, to, most) {
  const seen = leavesBetween(leaves, from, to);
  return seen.length <= most ? seen.flatMap((leaf) => exactBlocks(leaf, ipu)) : sharedBlocks(seen, ipu, from, to, most);
}

function exactBlocks(leaf, ipu) {
  let now = leaf.start;
  return phases(leaf.executed, ipu).map(([kind, cycles]) => {
    const start = now;
    now += cycles * leaf.count;
    return { start, end: now, kind, bottom: 0, top: HEIGHTS[kind], leaf };
  });
}

/** How high each kind's block is, so that kinds can be told without their colours. */
const HEIGHTS = { compute: 1, exchange: 0.72, inter_ipu: 0.86, host: 0.58, sync: 0.4, waiting: 0.16 };

function sharedBlocks(leaves, ipu, from, to, most) {
  const width = (to - from) / most;
  const slices = Array.from({ length: most }, () => ({ shares: {}, leaf: null, longest: 0 }));
  for (const leaf of leaves) {
    let now = leaf.start;
    for (const [kind, cycles] of phases(leaf.executed, ipu)) {
      const end = now + cycles * leaf.count;
      const last = Math.min(most - 1, Math.floor((end - from) / width));
      for (let index = Math.max(0, Math.floor((now - from) / width)); index <= last; index++) {
        const overlap = Math.min(end, from + (index + 1) * width) - Math.max(now, from + index * width);
        const slice = slices[index];
        slice.shares[kind] = (slice.shares[kind] ?? 0) + Math.max(0, overlap / width);
        if (overlap > slice.longest) [slice.longest, slice.leaf] = [overlap, leaf];
      }
      now = end;
    }
  }
  return slices.flatMap(({ shares, leaf }, index) => {
    let bottom = 0;
    return ["compute", "exchange", "inter_ipu", "host", "sync", "waiting"]
      .filter((kind) => shares[kind] > 0.01)
      .map((kind) => {
        const start = from + index * width;
        const block = { start, end: start + width, kind, bottom, top: bottom + shares[kind], leaf, shares };
        bottom = block.top;
        return block;
      });
  });
}
