// Execution trace: one lane per IPU, and one for the loops around the steps.

const LANES_AT_ONCE = 8;
const LANE_HEIGHT = 46;

function traceSection(data) {
  const time = timeline(data);
  const panel = element("div", { class: "panel", "aria-live": "polite" });
  const input = element("input", {
    type: "number",
    min: 0,
    max: data.steps.length - 1,
    id: "trace-step",
    onchange: () => show(Number(input.value)),
  });
  const show = (id) => {
    if (!data.step.has(id)) return;
    input.value = id;
    panel.replaceChildren(...stepDetails(data, id));
  };
  const longest = time.leaves.reduce(
    (best, leaf) => (leaf.end - leaf.start > (best ? best.end - best.start : 0) ? leaf : best),
    null,
  );
  if (longest) show(longest.step);
  const drawn = traceChart(data, time, show);
  const zoomToStep = (id) => {
    const leaf = time.leaves.find(({ step }) => step === id);
    const room = leaf && (leaf.end - leaf.start) * 2;
    if (leaf) drawn.zoomTo(Math.max(0, leaf.start - room), Math.min(time.total, leaf.end + room));
  };
  const scale = data.target.ipus > LANES_AT_ONCE ? " The slider on the right scrolls through the IPUs." : "";
  const made = section(
    "trace",
    "Execution trace",
    `What each IPU does when. A loop is drawn once, as long as all its iterations together.${scale}`,
    kindLegend([
      ...PHASES.toReversed().filter((kind) => data.execution.cycles[kind]),
      ...(data.target.ipus > 1 ? ["waiting"] : []),
    ]),
    drawn.box,
    element(
      "div",
      { class: "tools" },
      element("label", { for: "trace-step" }, "Step"),
      input,
      longest && element("button", { onclick: () => show(longest.step) }, "Longest step"),
      longest && element("button", { onclick: () => zoomToStep(Number(input.value)) }, "Zoom to it"),
      longest && element("button", { onclick: () => drawn.zoomTo(0, time.total) }, "Whole execution"),
    ),
    panel,
  );
  return { made, show: (id) => (show(id), panel.scrollIntoView({ block: "nearest" })) };
}

function kindLegend(kinds) {
  const items = kinds.map((kind) => {
    const mark = element("span", { class: "block" });
    mark.style.setProperty("--kind", `var(--${kind})`);
    mark.style.setProperty("--height", HEIGHTS[kind]);
    return element("li", {}, mark, KINDS[kind] ?? "waiting for other IPUs");
  });
  return element("ul", { class: "legend" }, ...items);
}

function traceChart(data, time, onStep) {
  const depth = time.bands.reduce((most, band) => Math.max(most, band.depth + 1), 0);
  const lanes = [...(depth ? ["loops"] : []), ...Array.from({ length: data.target.ipus }, (_, ipu) => `IPU ${ipu}`)];
  const visible = Math.min(lanes.length, LANES_AT_ONCE + 1);

  const option = (range) => {
    const [from, to] = [(range.start / 100) * time.total, (range.end / 100) * time.total];
    const most = Math.max(MOST_BLOCKS / visible, 120);
    const [top, bottom] = [range.top ?? 0, range.bottom ?? visible - 1];
    const rows = lanes.flatMap((name, lane) => {
      if (lane < top || lane > bottom) return [];
      if (name === "loops") return time.bands.map((band) => ({ value: [lane, band.start, band.end], band }));
      const ipu = lane - (depth ? 1 : 0);
      return blocksOf(time.leaves, ipu, from, to, most).map((block) => ({
        value: [lane, block.start, block.end],
        block,
      }));
    });
    const many = lanes.length > visible;
    const scroller = {
      type: "slider",
      orient: "vertical",
      yAxisIndex: 0,
      filterMode: "filter",
      startValue: top,
      endValue: bottom,
      right: 6,
      width: 16,
      zoomLock: true,
      showDetail: false,
      showDataShadow: false,
      brushSelect: false,
      borderColor: colour("grid"),
      fillerColor: colour("selection"),
    };
    return {
      grid: { left: 62, right: many ? 40 : 16, top: 6, bottom: 70 },
      xAxis: axis({ min: 0, max: time.total || 1, name: "cycles", axisLabel: { formatter: shortCycles } }),
      yAxis: axis({ type: "category", data: lanes, inverse: true, splitLine: { show: false } }),
      dataZoom: [...zoom(range), ...(many ? [scroller] : [])],
      tooltip: {
        ...tooltipLook(),
        trigger: "item",
        formatter: ({ data: { band, block } }) => (band ? bandTip(band) : blockTip(data, block)),
      },
      series: [
        {
          type: "custom",
          clip: true,
          progressive: 0,
          dimensions: ["lane", "start", "end"],
          encode: { x: [1, 2], y: 0 },
          renderItem: (params, api) => drawBlock(params, api, rows[params.dataIndex], data, depth),
          data: rows,
        },
      ],
    };
  };
  return chart({
    id: "trace-chart",
    label: `Execution trace of ${counted(data.target.ipus, "IPU")} over ${cycles(time.total)}`,
    height: visible * LANE_HEIGHT + 84,
    option,
    onclick: (event, drawn) => {
      const at = clickedX(event, drawn);
      const leaf = at === null ? null : leavesBetween(time.leaves, at, at + 1e-9)[0];
      if (leaf) onStep(leaf.step);
    },
  });
}

/** A block of a lane, or a band around blocks, as shapes in pixels. */
function drawBlock(params, api, { band, block }, data, depth) {
  const [lane, start, end] = [api.value(0), api.value(1), api.value(2)];
  const [left, middle] = api.coord([start, lane]);
  const [right] = api.coord([end, lane]);
  const height = api.size([0, 1])[1] * 0.84;
  const bottom = middle + height / 2;
  const shape = band
    ? { y: middle - height / 2 + (band.depth * height) / depth, height: height / depth - 1 }
    : { y: bottom - block.top * height, height: (block.top - block.bottom) * height };
  const area = params.coordSys;
  const width = Math.max(right - left + (block?.shares ? 0.4 : 0), 0.75);
  const rect = echarts.graphic.clipRectByRect({ x: left, width, ...shape }, area);
  if (!rect) return null;
  const fill = band ? colour("band") : colour(block.kind);
  const text = band ? bandName(band) : block.shares || block.kind === "waiting" ? "" : blockName(data, block);
  const gap = rect.width > 4 && !block?.shares ? 0.5 : 0;
  return {
    type: "rect",
    shape: { ...rect, width: rect.width - gap },
    style: { fill, stroke: band ? colour("grid") : null },
    emphasis: { style: { opacity: 0.8 } },
    textContent:
      rect.width > 46 && rect.height > 11
        ? {
            style: {
              text,
              fill: band ? colour("text") : colour("on-kind"),
              width: rect.width - 8,
              overflow: "truncate",
              fontSize: 11,
              fontFamily,
            },
          }
        : null,
    textConfig: { position: "insideLeft", distance: 4 },
  };
}

const times = (count) => (count === 1 ? "" : ` × ${whole(count)}`);
/** The name of a loop, with its iterations unless the name has them already. */
const bandName = ({ name, kind, count }) =>
  `${name || kind}${count === null || name.includes(whole(count)) ? "" : times(count)}`;
const blockName = (data, { leaf }) => `${data.step.get(leaf.step).name}${times(leaf.count)}`;

const bandTip = (band) =>
  tip(bandName(band), [
    [null, "in all", cycles(band.end - band.start)],
    [null, "from", shortCycles(band.start)],
    [null, "to", shortCycles(band.end)],
  ]);

function blockTip(data, block) {
  const { leaf, shares } = block;
  if (shares) {
    const rows = Object.entries(shares).map(([kind, share]) => [
      colour(kind),
      KINDS[kind] ?? "waiting",
      percent(share),
    ]);
    return tip(
      `${shortCycles(block.start)} – ${shortCycles(block.end)} cycles`,
      rows,
      `Most of it: step ${leaf.step}, ${blockName(data, block)}`,
    );
  }
  const step = data.step.get(leaf.step);
  const { executed, count } = leaf;
  const rows = PHASES.toReversed()
    .filter((kind) => executed[kind])
    .map((kind) => [colour(kind), KINDS[kind], `${cycles(executed[kind])}${times(count)}`]);
  if (block.kind === "waiting")
    rows.unshift([colour("waiting"), "this IPU waits", cycles((block.end - block.start) / count)]);
  rows.push(
    [null, "balance of tiles", percent(executed.balance)],
    [null, "tiles that take part", whole(executed.active_tiles)],
  );
  if (executed.bytes_received) rows.push([null, "bytes received", bytes(executed.bytes_received)]);
  return tip(`Step ${step.id}: ${step.name}`, rows, step.location);
}
