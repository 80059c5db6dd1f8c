// The program tree: control flow and steps, opened by mouse or keyboard.

const CHILDREN_AT_ONCE = 25;
const OPEN_LEVELS = 3;

function treeSection(data, showStep) {
  const total = data.execution.cycles.total || 1;
  const known = new Map();
  const cyclesIn = (node) => known.get(node) ?? known.set(node, nodeCycles(data, node, cyclesIn)).get(node);
  const root = data.compilation.program_tree;
  return section(
    "tree",
    "Program tree",
    "Which part of the program do the steps belong to, and how long does each part take?",
    element("ul", { class: "tree" }, treeNode(root, true, 0)),
  );

  function treeNode(node, open, depth) {
    const spent = cyclesIn(node);
    const step = node.kind === "step" ? data.step.get(node.step) : null;
    const name = step
      ? element("button", { class: "link", onclick: () => showStep(node.step) }, node.name || step.name)
      : element("span", {}, node.name || node.kind);
    const kind = step ? STEP_KINDS[step.kind] : "band";
    const badge = element("span", { class: `badge ${kind}` }, step ? step.kind.replace("_", " ") : node.kind);
    const count = node.count === null ? "count not known" : node.count === 1 ? null : `× ${whole(node.count)}`;
    const line = [
      badge,
      name,
      count && element("span", { class: "times" }, count),
      node.location && element("small", {}, node.location),
      element("span", { class: "spent" }, cycles(spent), shareBar(spent / total, kind === "band" ? "muted" : kind)),
    ];
    if (step || !node.children.length) return element("li", {}, element("div", { class: "leaf" }, ...line));
    const list = element("ul");
    const details = element("details", { open }, element("summary", {}, ...line), list);
    const fill = () => details.open && !list.childElementCount && addChildren(list, node.children, 0, depth + 1);
    details.addEventListener("toggle", fill);
    fill();
    return element("li", {}, details);
  }

  function addChildren(list, children, from, depth) {
    const until = from + CHILDREN_AT_ONCE;
    list.append(...children.slice(from, until).map((child) => treeNode(child, depth < OPEN_LEVELS, depth)));
    if (until >= children.length) return;
    const more = element(
      "li",
      {},
      element(
        "button",
        { onclick: () => (more.remove(), addChildren(list, children, until, depth)) },
        `Show more of ${whole(children.length)}`,
      ),
    );
    list.append(more);
  }
}

/** Cycles of all executions of a node. */
function nodeCycles(data, node, cyclesIn) {
  if (node.kind !== "step") return node.children.reduce((sum, child) => sum + cyclesIn(child), 0);
  const executed = data.executed.get(node.step);
  return executed ? (node.count ?? executed.count) * cyclesOf(executed) : 0;
}
