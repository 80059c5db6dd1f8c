// What to change first, as the Python side has found and ordered it.

function adviceSection(data, showStep) {
  const total = data.execution.cycles.total || 1;
  const items = data.advice.map((advice) =>
    element(
      "li",
      { class: `advice ${advice.urgent ? "urgent" : ""}` },
      element(
        "h3",
        {},
        element("span", { class: "text" }, advice.title),
        advice.gain_cycles === null
          ? element("span", { class: "gain memory" }, advice.urgent ? "needed to fit" : "memory")
          : element(
              "span",
              { class: `gain ${advice.kind}`, title: cycles(advice.gain_cycles) },
              `up to −${percent(advice.gain_cycles / total)} time`,
            ),
      ),
      element("p", {}, advice.why),
      element("p", { class: "action" }, advice.action),
      advice.step === null
        ? null
        : element("button", { class: "link", onclick: () => showStep(advice.step) }, `Show step ${advice.step}`),
    ),
  );
  const none = element(
    "p",
    {},
    "Nothing stands out: no change that the report knows would gain more than 1 % of the time.",
  );
  return section(
    "advice",
    "What to change first",
    "Ordered by what each change gains at most. Gains do not add up, and the estimate is of the model, not of the chip.",
    items.length ? element("ol", { class: "advices" }, ...items) : none,
  );
}
