// All ops of the source, and all variables.

const number = (title, value, text = (each) => whole(value(each))) => ({ title, number: true, value, text });

function opsSection(data) {
  const type = peakType(data.execution.share_of_peak);
  return section(
    "ops",
    "Operations",
    "Which op of the program costs most, and how close to the peak does it come?",
    dataTable({
      id: "ops-table",
      caption: "Operations of the program",
      rows: data.ops,
      sort: "cycles",
      search: "Search names and locations",
      empty: "The program has no operations.",
      columns: [
        { title: "operation", value: (op) => op.name },
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
  );
}

function variablesSection(data) {
  const life = ({ first_step: first, last_step: last }) =>
    first === null && last === null ? "always" : `${first ?? "start"} – ${last ?? "end"}`;
  return section(
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
}
