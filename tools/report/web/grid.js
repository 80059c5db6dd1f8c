// Grids of coloured cells: the tiles of an IPU, and pairs of groups of tiles.

/**
 * A canvas of cells. ``shape()`` gives {columns, rows, cells}, ``value(cell)`` a number or NaN for none, ``about(cell)``
 * the tooltip. A click, or Enter, chooses a cell; arrow keys move.
 *
 * Gives {box, redraw(), choose(cell)}.
 */
function cellGrid({ id, label, shape, value, about, most, text, onchoose = null, height = 320 }) {
  const canvas = element("canvas", { tabindex: "0", role: "img", "aria-label": label });
  const hint = element("div", { class: "hint", hidden: true });
  const legend = element("div", { class: "scale" });
  const box = element("div", { class: "grid", id }, legend, element("div", { class: "cells" }, canvas, hint));
  let chosen = null;
  let size = 1;

  function redraw() {
    const { columns, rows, cells } = shape();
    const width = canvas.parentElement.clientWidth;
    if (!width || !columns) return;
    size = Math.max(3, Math.min(Math.floor(width / columns), Math.ceil(height / rows), 40));
    const ratio = window.devicePixelRatio || 1;
    Object.assign(canvas, { width: columns * size * ratio, height: rows * size * ratio });
    Object.assign(canvas.style, { width: `${columns * size}px`, height: `${rows * size}px` });
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    const highest = most() || 1;
    const gap = size > 5 ? 1 : 0;
    for (let cell = 0; cell < cells; cell++) {
      const found = value(cell);
      pen.fillStyle = Number.isNaN(found) ? colour("surface") : shade(found / highest);
      pen.fillRect((cell % columns) * size, Math.floor(cell / columns) * size, size - gap, size - gap);
    }
    if (chosen !== null && chosen < cells) {
      pen.strokeStyle = colour("limit");
      pen.lineWidth = 2;
      pen.strokeRect((chosen % columns) * size + 1, Math.floor(chosen / columns) * size + 1, size - 2, size - 2);
    }
    const bar = element("span", { class: "ramp", "aria-hidden": "true" });
    bar.style.background = `linear-gradient(to right, ${[0, 0.25, 0.5, 0.75, 1].map(shade).join(", ")})`;
    legend.replaceChildren(element("span", {}, text(0)), bar, element("span", {}, text(most())));
  }

  function cellAt(event) {
    const { columns, rows, cells } = shape();
    const [column, row] = [Math.floor(event.offsetX / size), Math.floor(event.offsetY / size)];
    const cell = row * columns + column;
    return column >= 0 && column < columns && row >= 0 && row < rows && cell < cells ? cell : null;
  }

  function choose(cell) {
    chosen = cell;
    redraw();
  }

  canvas.addEventListener("mousemove", (event) => {
    const cell = cellAt(event);
    hint.hidden = cell === null;
    if (cell === null) return;
    hint.replaceChildren(about(cell));
    const left = Math.min(event.offsetX + 14, canvas.parentElement.clientWidth - hint.offsetWidth - 4);
    Object.assign(hint.style, { left: `${Math.max(0, left)}px`, top: `${event.offsetY + 14}px` });
  });
  canvas.addEventListener("mouseleave", () => (hint.hidden = true));
  if (onchoose) {
    canvas.addEventListener("click", (event) => {
      const cell = cellAt(event);
      if (cell !== null) (choose(cell), onchoose(cell));
    });
    canvas.addEventListener("keydown", (event) => {
      const { columns, cells } = shape();
      const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns }[event.key];
      if (by === undefined) return;
      event.preventDefault();
      const next = Math.max(0, Math.min(cells - 1, (chosen ?? 0) + by));
      (choose(next), onchoose(next));
    });
  }
  const start = () => {
    redraw();
    new ResizeObserver(redraw).observe(box);
  };
  charts.push({ start, redraw });
  return { box, redraw, choose };
}

/** A colour for a share from 0 to 1: from the ground of the page to the colour of compute. */
function shade(share) {
  const part = Math.round(100 * Math.sqrt(Math.max(0, Math.min(1, share))));
  return `color-mix(in oklab, ${colour("compute")} ${part}%, ${colour("band")})`;
}
