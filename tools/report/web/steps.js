// One step in words: what it takes, on how many tiles, and the vertices that it runs.

const STEP_KINDS = {
  compute: "compute",
  exchange: "exchange",
  host_exchange: "host",
  sync: "sync",
  control: "sync",
};

/** Everything about a step, for the panels below charts. */
function stepDetails(data, id, { onTiles, showOp }) {
  const step = data.step.get(id);
  const executed = data.executed.get(id);
  const op = data.op.get(step.op);
  const times = executed && Object.keys(KINDS).filter((kind) => executed[kind]);
  const set = data.computeSet.get(id);
  const line = sourceLine(data, step.location);
  return [
    element("h3", {}, `Step ${id}: ${step.name}`),
    element(
      "div",
      { class: "columns" },
      facts([
        ["kind", step.kind.replace("_", " ")],
        step.location && ["location", step.location],
        line && ["source", element("code", { class: "source" }, line)],
        op && ["source op", element("button", { class: "link", onclick: () => showOp(op) }, op.name)],
        executed?.busy !== undefined && [
          "tiles",
          element("button", { class: "link", onclick: () => onTiles(id) }, "Show on the map of tiles"),
        ],
        executed && ["executions", whole(executed.count)],
        executed && ["tiles that take part", `${whole(executed.active_tiles)} of ${whole(data.target.num_tiles)}`],
        executed?.active_tiles && ["average tile / slowest tile", shareBar(executed.balance, STEP_KINDS[step.kind])],
        executed?.bytes_received && [
          "bytes received",
          `${bytes(executed.bytes_received)}, at most ${bytes(executed.bytes_received_worst)} by a tile`,
        ],
      ]),
      times?.length && timesTable(executed, times, data.execution.cycles.total),
    ),
    set && familiesTable(set),
  ].filter(Boolean);
}

function timesTable(executed, times, total) {
  const head = ["cycles", "one execution", "all", "of the total"].map((text) => element("th", { scope: "col" }, text));
  const rows = times.map((kind) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, KINDS[kind]),
      element("td", { class: "number" }, whole(executed[kind])),
      element("td", { class: "number" }, whole(executed[kind] * executed.count)),
      element("td", { class: "number" }, shareBar((executed[kind] * executed.count) / (total || 1), kind)),
    ),
  );
  return element(
    "table",
    { class: "times" },
    element("thead", {}, element("tr", {}, ...head)),
    element("tbody", {}, ...rows),
  );
}

function familiesTable(set) {
  return dataTable({
    id: null,
    caption: "Vertices of the step",
    rows: set.families,
    sort: "cycles of the slowest",
    columns: [
      { title: "vertex code", value: (family) => family.codelet },
      { title: "vertices", number: true, value: (family) => family.vertices, text: (family) => whole(family.vertices) },
      {
        title: "cycles of the slowest",
        number: true,
        value: (family) => family.cycles_max,
        text: (family) => whole(family.cycles_max),
      },
      {
        title: "on average",
        number: true,
        value: (family) => family.cycles_mean,
        text: (family) => whole(family.cycles_mean),
      },
      { title: "operations", number: true, value: (family) => family.flops, text: (family) => flops(family.flops) },
      { title: "code", number: true, value: (family) => family.code_bytes, text: (family) => bytes(family.code_bytes) },
      {
        title: "scratch",
        number: true,
        value: (family) => family.scratch_bytes,
        text: (family) => bytes(family.scratch_bytes),
      },
    ],
  });
}
