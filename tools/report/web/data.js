// The data of the page: what ipu-report packed, and what every section asks of it.

/** The JSON value that the page holds, compressed. */
async function unpack() {
  const packed = Uint8Array.from(atob(document.getElementById("data").textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

/** One number for each tile, from runs of equal ones. */
function expand(runs) {
  const values = new Float64Array(runs.reduce((sum, [, count]) => sum + count, 0));
  let tile = 0;
  for (const [value, count] of runs) values.fill(value, tile, (tile += count));
  return values;
}

/** A profile with its lists by id, and its numbers of all tiles expanded. */
function indexed({ file, profile, verdict, advice, timeline }) {
  const { compilation, execution, ops, target } = profile;
  const each = (group) => Object.fromEntries(Object.entries(group).map(([name, runs]) => [name, expand(runs)]));
  return {
    file,
    profile,
    verdict,
    advice,
    timeline,
    compilation,
    execution,
    ops,
    target,
    steps: compilation.steps,
    step: new Map(compilation.steps.map((step) => [step.id, step])),
    op: new Map(ops.map((op) => [op.id, op])),
    variable: new Map(compilation.variables.map((variable) => [variable.id, variable])),
    executed: new Map(execution.steps.map((step) => [step.step, step])),
    computeSet: new Map(compilation.compute_sets.map((set) => [set.step, set])),
    line: new Map(profile.program.lines.map(({ file, line, text }) => [`${file}:${line}`, text])),
    perTile: each(compilation.memory.per_tile),
    categories: each(compilation.memory.categories),
  };
}

/** Cycles of one execution of a step. */
const cyclesOf = (step) => step.compute + step.exchange + step.inter_ipu + step.sync + step.host;

/** Whether a variable lives while a step runs; those without steps always do. */
function livesAt(variable, index, position) {
  const first = variable.first_step === null ? -Infinity : position.get(variable.first_step);
  const last = variable.last_step === null ? Infinity : position.get(variable.last_step);
  return first <= index && index <= last;
}
