// All ops of the source, and all variables.

const number = (title, value, text = (each) => whole(value(each))) => ({ title, number: true, value, text });

function opsSection(data, showStep) {
  const type = peakType(data.execution.share_of_peak);
  const panel = element("div", { class: "panel", "aria-live": "polite", hidden: true });
  const show = (op) => {
    panel.hidden = false;
    panel.replaceChildren(...opDetails(data, op, showStep));
    remember("op", op.id);
    panel.scrollIntoView({ block: "nearest" });
  };
  link("op", (text) => data.op.has(Number(text)) && show(data.op.get(Number(text))));
  const made = section(
    "ops",
    "Operations",
    "Which op of the program costs most, and how close to the peak does it come? Click one for its steps.",
    dataTable({
      id: "ops-table",
      caption: "Operations of the program",
      rows: data.ops,
      sort: "cycles",
      search: "Search names and locations",
      empty: "The program has no operations.",
      columns: [
        {
          title: "operation",
          value: (op) => op.name,
          node: (op) => element("button", { class: "link", onclick: () => show(op) }, op.name),
        },
        { title: "location", place: true, value: (op) => op.location ?? "" },
        number("cycles", (op) => op.cycles),
        {
          ...number(
            "share",
            (op) => op.share,
            (op) => percent(op.share),
          ),
          node: (op) => shareBar(op.share),
        },
        number("compute", (op) => op.compute_cycles),
        number("exchange", (op) => op.exchange_cycles),
        number(
          "FLOP",
          (op) => op.flops,
          (op) => flops(op.flops, ""),
        ),
        number(
          "of peak",
          (op) => op.share_of_peak,
          (op) => percent(op.share_of_peak),
        ),
        number(
          "memory",
          (op) => op.bytes,
          (op) => bytes(op.bytes),
        ),
        number("runs", (op) => op.executions),
      ],
    }),
    panel,
  );
  return { made, show };
}

/** An op: its line of the source, and the steps that were made from it. */
function opDetails(data, op, showStep) {
  const line = sourceLine(data, op.location);
  const steps = op.steps.map((id) => {
    const [step, executed] = [data.step.get(id), data.executed.get(id)];
    const spent = executed ? executed.count * (executed.compute + executed.exchange + executed.inter_ipu) : 0;
    return { id, step, executed, spent };
  });
  return [
    element("h3", {}, `${op.name}${op.location ? ` at ${op.location}` : ""}`),
    line && element("p", {}, element("code", { class: "source" }, line)),
    dataTable({
      id: "op-steps",
      caption: `Steps of ${op.name}`,
      rows: steps,
      sort: "cycles in all",
      columns: [
        {
          title: "step",
          value: (row) => row.id,
          node: (row) =>
            element("button", { class: "link", onclick: () => showStep(row.id) }, `${row.id}: ${row.step?.name ?? ""}`),
        },
        { title: "kind", value: (row) => row.step?.kind.replace("_", " ") ?? "" },
        number("cycles in all", (row) => row.spent),
        number("executions", (row) => row.executed?.count ?? 0),
        number("tiles", (row) => row.executed?.active_tiles ?? 0),
      ],
    }),
  ].filter(Boolean);
}

function variablesSection(data) {
  const life = ({ first_step: first, last_step: last }) =>
    first === null && last === null ? "always" : `${first ?? "start"} – ${last ?? "end"}`;
  const made = section(
    "variables",
    "Variables",
    "Which tensors take the memory, where do they lie, and how long do they live?",
    dataTable({
      id: "variables-table",
      caption: "Variables of the program",
      rows: data.compilation.variables,
      sort: "on the fullest tile",
      search: "Search names, types and locations",
      empty: "The program has no variables.",
      columns: [
        { title: "name", value: (variable) => variable.name },
        { title: "category", value: (variable) => variable.category },
        { title: "type", value: (variable) => variable.type, node: (variable) => element("code", {}, variable.type) },
        number(
          "on the fullest tile",
          (variable) => variable.bytes_worst_tile,
          (variable) => bytes(variable.bytes_worst_tile),
        ),
        number(
          "on all tiles",
          (variable) => variable.bytes_total,
          (variable) => bytes(variable.bytes_total),
        ),
        number(
          "tiles",
          (variable) => variable.tiles[2],
          ({ tiles: [first, last, count] }) =>
            count === 1
              ? whole(first)
              : `${whole(first)} – ${whole(last)}${count === last - first + 1 ? "" : ` (${whole(count)})`}`,
        ),
        { title: "lives in steps", value: (variable) => variable.first_step ?? -1, text: life },
        { title: "location", place: true, value: (variable) => variable.location ?? "" },
      ],
    }),
  );
  const show = (variable) => {
    const box = made.querySelector("input");
    box.value = variable.name;
    box.dispatchEvent(new Event("input"));
    goTo("variables");
  };
  return { made, show };
}
