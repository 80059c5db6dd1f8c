// Execution trace: one lane per IPU, and one for the loops around the steps.

const LANES_AT_ONCE = 8;
const LANE_HEIGHT = 46;

function traceSection(data, links) {
  const time = timeline(data);
  const panel = element("div", { class: "panel", "aria-live": "polite" });
  const input = element("input", {
    type: "number",
    min: 0,
    max: data.steps.length - 1,
    id: "trace-step",
    onchange: () => chosen(Number(input.value)),
  });
  const show = (id) => {
    if (!data.step.has(id)) return;
    input.value = id;
    panel.replaceChildren(...stepDetails(data, id, links));
  };
  const chosen = (id) => (show(id), remember("step", id));
  link("step", (text) => show(Number(text)));
  const longest = time.rows
    .flatMap((row) => row.spans)
    .reduce((best, span) => (span.end - span.start > (best ? best.end - best.start : 0) ? span : best), null);
  if (longest) show(longest.step);
  const onDevice = withoutCopies(data, time);
  const drawn = traceChart(data, time, chosen);
  const zoomToStep = (id) => {
    const spans = time.rows.flatMap((row) => row.spans.filter(({ step }) => step === id).slice(0, 1));
    if (!spans.length) return;
    const [start, end] = [Math.min(...spans.map((span) => span.start)), Math.max(...spans.map((span) => span.end))];
    drawn.zoomTo(Math.max(0, start - (end - start) * 2), Math.min(time.total, end + (end - start) * 2));
  };
  const scale = time.rows.length > LANES_AT_ONCE ? " The slider on the right scrolls through the IPUs." : "";
  const made = section(
    "trace",
    "Execution trace",
    `What each ${time.rows.some((row) => row.io) ? "IPU, and its I/O tiles, do" : "IPU does"} when. A loop is drawn once, as long as all its iterations together.${scale}`,
    kindLegend([
      ...Object.keys(KINDS).filter((kind) => data.execution.cycles[kind]),
      ...(time.rows.length > 1 ? ["waiting"] : []),
    ]),
    drawn.box,
    element(
      "div",
      { class: "tools" },
      element("label", { for: "trace-step" }, "Step"),
      input,
      longest && element("button", { onclick: () => chosen(longest.step) }, "Longest step"),
      longest && element("button", { onclick: () => zoomToStep(Number(input.value)) }, "Zoom to it"),
      longest && element("button", { onclick: () => drawn.zoomTo(0, time.total) }, "Whole execution"),
      onDevice && element("button", { onclick: () => drawn.zoomTo(...onDevice) }, "Without the host's copies"),
    ),
    panel,
  );
  return { made, show: (id) => (chosen(id), panel.scrollIntoView({ block: "nearest" })) };
}

/** The part of the axis between the copies of arguments from the host and those of results to it; null if there are none. */
function withoutCopies(data, { rows }) {
  const spans = rows[0]?.spans ?? [];
  const isCopy = (span) => span && data.step.get(span.step).kind === "host_exchange";
  const from = isCopy(spans[0]) ? spans[0].end : 0;
  const to = isCopy(spans.at(-1)) ? spans.at(-1).start : spans.at(-1)?.end;
  return spans.length && to > from && (isCopy(spans[0]) || isCopy(spans.at(-1))) ? [from, to] : null;
}

function kindLegend(kinds) {
  const items = kinds.map((kind) => {
    const mark = element("span", { class: "block" });
    mark.style.setProperty("--kind", `var(--${kind})`);
    mark.style.setProperty("--height", HEIGHTS[kind]);
    return element("li", {}, mark, KINDS[kind] ?? "waiting for others");
  });
  return element("ul", { class: "legend" }, ...items);
}

function traceChart(data, time, onStep) {
  const depth = time.bands.reduce((most, band) => Math.max(most, band.depth + 1), 0);
  const lanes = [...(depth ? ["loops"] : []), ...time.rows.map((row) => row.name)];
  const visible = Math.min(lanes.length, LANES_AT_ONCE + 1);

  const option = (range) => {
    const [from, to] = [(range.start / 100) * time.total, (range.end / 100) * time.total];
    const most = Math.max(MOST_BLOCKS / visible, 120);
    const [top, bottom] = [range.top ?? 0, range.bottom ?? visible - 1];
    const rows = lanes.flatMap((name, lane) => {
      if (lane < top || lane > bottom) return [];
      if (name === "loops") return time.bands.map((band) => ({ value: [lane, band.start, band.end], band }));
      const row = time.rows[lane - (depth ? 1 : 0)];
      return blocksOf(data, row, from, to, most).map((block) => ({ value: [lane, block.start, block.end], block }));
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
      grid: { left: time.rows.some((row) => row.io) ? 110 : 62, right: many ? 40 : 16, top: 6, bottom: 70 },
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
    label: `Execution trace of ${counted(time.rows.length, "row")} of tiles over ${cycles(time.total)}`,
    height: visible * LANE_HEIGHT + 84,
    option,
    onclick: (event, drawn) => {
      const at = clickedX(event, drawn);
      if (at === null) return;
      const lane = Math.round(drawn.convertFromPixel({ gridIndex: 0 }, [event.offsetX, event.offsetY])[1]);
      const rows = [time.rows[lane - (depth ? 1 : 0)], ...time.rows].filter(Boolean);
      const span = rows.map((row) => spansBetween(row.spans, at, at + 1e-9)[0]).find(Boolean);
      if (span) onStep(span.step);
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
const blockName = (data, { span }) => `${data.step.get(span.step).name}${times(span.count)}`;

const bandTip = (band) =>
  tip(bandName(band), [
    [null, "in all", cycles(band.end - band.start)],
    [null, "from", shortCycles(band.start)],
    [null, "to", shortCycles(band.end)],
  ]);

function blockTip(data, block) {
  const { span, shares } = block;
  if (shares) {
    const rows = Object.entries(shares).map(([kind, share]) => [
      colour(kind),
      KINDS[kind] ?? "waiting",
      percent(share),
    ]);
    return tip(
      `${shortCycles(block.start)} – ${shortCycles(block.end)} cycles`,
      rows,
      `Most of it: step ${span.step}, ${blockName(data, block)}`,
    );
  }
  const step = data.step.get(span.step);
  const { executed, count } = span;
  if (block.kind === "waiting")
    return tip(`Waiting, until step ${step.id}: ${step.name}`, [
      [colour("waiting"), "waits", cycles(block.end - block.start)],
    ]);
  const rows = Object.keys(KINDS)
    .filter((kind) => executed[kind])
    .map((kind) => [colour(kind), KINDS[kind], `${cycles(executed[kind])}${times(count)}`]);
  rows.push(
    [null, "balance of tiles", percent(executed.balance)],
    [null, "tiles that take part", whole(executed.active_tiles)],
  );
  if (executed.bytes_received) rows.push([null, "bytes received", bytes(executed.bytes_received)]);
  return tip(`Step ${step.id}: ${step.name}`, rows, step.location);
}
