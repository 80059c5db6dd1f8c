// The execution on a time axis: what each row of tiles does when, with loops drawn once for all their iterations.

const MOST_BLOCKS = 600;

/**
 * The rows of the trace, each {name, ipu, io, spans}; the spans of a row are the steps that it takes part in, in order,
 * each {step, executed, count, start, end}. Then the loops and calls around them, and the total.
 */
function timeline(data) {
  const { rows, steps, loops, total } = data.timeline;
  const computing = data.target.ipus;
  const made = rows.map((name, row) => ({ name, ipu: row % computing, io: row >= computing, spans: [] }));
  for (const [step, count, ...spans] of steps)
    spans.forEach((span, row) => {
      if (span && span[1] > span[0])
        made[row].spans.push({ step, executed: data.executed.get(step), count, start: span[0], end: span[1] });
    });
  const bands = loops
    .map(([name, kind, count, depth, start, end]) => ({ name, kind, count, depth, start, end }))
    .filter(({ start, end }) => end > start);
  return { rows: made, bands, total };
}

/** [kind, cycles] of one execution of a step on one IPU, in order. */
function phases(data, { step, executed }, ipu) {
  const own = executed.per_ipu?.[ipu];
  const { inter_ipu, host, compute, exchange, sync } = executed;
  const all = !own
    ? [
        ["inter_ipu", inter_ipu],
        ["host", host],
        ["compute", compute],
        ["exchange", exchange],
        ["sync", sync],
      ]
    : data.step.get(step).kind === "compute"
      ? [
          ["compute", own[0]],
          ["sync", own[0] ? sync : 0],
        ]
      : [
          ["host", host],
          ["sync", sync],
          ["inter_ipu", own[2] ?? 0],
          ["exchange", own[1]],
        ];
  return all.filter(([, cycles]) => cycles > 0);
}

/** The spans that overlap the part from ``from`` to ``to`` of the time axis. */
function spansBetween(spans, from, to) {
  const firstWhere = (holds) => {
    let [low, high] = [0, spans.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (holds(spans[middle])) high = middle;
      else low = middle + 1;
    }
    return low;
  };
  return spans.slice(
    firstWhere((span) => span.end > from),
    firstWhere((span) => span.start >= to),
  );
}

/**
 * The blocks of one row between two times, about ``most`` of them: {start, end, kind, bottom, top, span}. Where there are
 * more than a screen can show, the blocks are slices of time, cut by height into the shares of each kind (``shares``
 * then, and the ``span`` that takes most of it).
 */
function blocksOf(data, row, from, to, most) {
  const seen = spansBetween(row.spans, from, to);
  return seen.length <= most ? exactBlocks(data, row, seen) : sharedBlocks(data, row, seen, from, to, most);
}

/** The phases of a span, each [kind, start, end], drawn as long as all of its executions. */
function phasesOf(data, row, span) {
  const own = phases(data, span, row.ipu);
  const scale = (span.end - span.start) / own.reduce((sum, [, cycles]) => sum + cycles, 0);
  let now = span.start;
  return own.map(([kind, cycles]) => [kind, now, (now += cycles * scale)]);
}

function exactBlocks(data, row, seen) {
  let idle = seen[0]?.start;
  return seen.flatMap((span) => {
    const blocks = phasesOf(data, row, span).map(([kind, start, end]) => {
      return { start, end, kind, bottom: 0, top: HEIGHTS[kind], span };
    });
    const waiting = { start: idle, end: span.start, kind: "waiting", bottom: 0, top: HEIGHTS.waiting, span };
    idle = span.end;
    return waiting.end - waiting.start > 0.05 ? [waiting, ...blocks] : blocks;
  });
}

/** How high each kind's block is, so that kinds can be told without their colours. */
const HEIGHTS = { compute: 1, exchange: 0.72, inter_ipu: 0.86, host: 0.58, sync: 0.4, waiting: 0.16 };

function sharedBlocks(data, row, seen, from, to, most) {
  const width = (to - from) / most;
  const slices = Array.from({ length: most }, () => ({ shares: {}, span: null, longest: 0 }));
  for (const span of seen)
    for (const [kind, start, end] of phasesOf(data, row, span)) {
      const last = Math.min(most - 1, Math.floor((end - from) / width));
      for (let index = Math.max(0, Math.floor((start - from) / width)); index <= last; index++) {
        const overlap = Math.min(end, from + (index + 1) * width) - Math.max(start, from + index * width);
        const slice = slices[index];
        slice.shares[kind] = (slice.shares[kind] ?? 0) + Math.max(0, overlap / width);
        if (overlap > slice.longest) [slice.longest, slice.span] = [overlap, span];
      }
    }
  return slices.flatMap(({ shares, span }, index) => {
    if (!span) return [];
    const idle = 1 - Object.values(shares).reduce((sum, share) => sum + share, 0);
    if (idle > 0.01) shares.waiting = idle;
    let bottom = 0;
    return ["compute", "exchange", "inter_ipu", "host", "sync", "waiting"]
      .filter((kind) => shares[kind] > 0.01)
      .map((kind) => {
        const start = from + index * width;
        const block = { start, end: start + width, kind, bottom, top: bottom + shares[kind], span, shares };
        bottom = block.top;
        return block;
      });
  });
}
