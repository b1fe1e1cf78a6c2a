// Line and dot charts in SVG: axes, one nearest-point tooltip, colours from the style sheet.

const tip = document.getElementById("tip");

function ticks(low, high, count) {
  const raw = (high - low) / Math.max(count, 1) || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= raw) * power;
  const found = [];
  for (let value = Math.ceil(low / step - 1e-9) * step; value <= high + step * 1e-6; value += step) found.push(value);
  return found;
}

function logTicks(low, high) {
  const found = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
    for (const factor of high / low > 100 ? [1] : [1, 2, 5]) {
      const value = factor * 10 ** power;
      if (value >= low * 0.999 && value <= high * 1.001) found.push(value);
    }
  }
  return found;
}

const brief = (value) =>
  Math.abs(value) >= 1e5 ? value.toExponential(0) : String(Number(value.toPrecision(3)));

function axis(values, from, to, { log = false, pad = 0, count = 5, zero = false, whole = false } = {}) {
  let low = Math.min(...values);
  let high = Math.max(...values);
  if (zero) low = Math.min(low, 0);
  if (log) low = Math.max(low, high * 1e-6, 1e-9);
  if (!(high > low)) [low, high] = log ? [low / 2, low * 2] : [low - (Math.abs(low) * 0.05 || 0.5), low + (Math.abs(low) * 0.05 || 0.5)];
  const space = log ? 0 : (high - low) * pad;
  [low, high] = [low - space, high + space];
  const f = log ? Math.log10 : (value) => value;
  const scale = (value) => from + ((f(Math.max(value, log ? low : -Infinity)) - f(low)) / (f(high) - f(low))) * (to - from);
  scale.ticks = log ? logTicks(low, high) : ticks(low, high, whole ? Math.min(count, Math.max(high - low, 1)) : count);
  return scale;
}

const extent = (lists) => {
  let low = Infinity;
  let high = -Infinity;
  for (const list of lists) {
    for (const value of list) {
      if (value === null || value === undefined) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  return low > high ? [0, 1] : [low, high];
};

function frame(host, height, margin, description) {
  const width = Math.max(host.clientWidth, 240);
  const svg = draw("svg", {
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    role: "img",
    "aria-label": description,
  });
  host.replaceChildren(svg);
  return { svg, width, height, left: margin.left, right: width - margin.right, top: margin.top, bottom: height - margin.bottom };
}

function grid(box, x, y, xLabel) {
  const parts = [];
  for (const value of y ? y.ticks : []) {
    parts.push(draw("line", { class: "grid", x1: box.left, x2: box.right, y1: y(value), y2: y(value) }));
    parts.push(draw("text", { class: "tick", x: box.left - 8, y: y(value), dy: "0.32em", "text-anchor": "end" }, brief(value)));
  }
  for (const value of x.ticks) {
    if (!y) parts.push(draw("line", { class: "grid", x1: x(value), x2: x(value), y1: box.top, y2: box.bottom }));
    parts.push(draw("text", { class: "tick", x: x(value), y: box.bottom + 16, "text-anchor": "middle" }, brief(value)));
  }
  parts.push(draw("line", { class: "axis", x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom }));
  parts.push(draw("text", { class: "label", x: box.right, y: box.bottom + 32, "text-anchor": "end" }, xLabel));
  box.svg.append(...parts);
}

function showTip(event, lines) {
  tip.replaceChildren(...lines.map((line, index) => make(index ? "span" : "strong", null, line)));
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  const left = Math.min(event.clientX + 14, innerWidth - width - 8);
  const above = event.clientY + 18 + height > innerHeight;
  tip.style.left = `${Math.max(left, 8)}px`;
  tip.style.top = `${above ? event.clientY - height - 12 : event.clientY + 18}px`;
}

const hideTip = () => {
  tip.hidden = true;
};

// points: [{x, y, lines, mark}] in pixels; the tooltip shows the nearest one within reach.
function hover(box, points, reach = 40) {
  const ring = draw("circle", { class: "ring", r: 5, visibility: "hidden" });
  let hot = null;
  box.svg.append(ring);
  const leave = () => {
    hideTip();
    ring.setAttribute("visibility", "hidden");
    hot?.classList.remove("hot");
  };
  box.svg.addEventListener("pointerleave", leave);
  box.svg.addEventListener("pointermove", (event) => {
    const area = box.svg.getBoundingClientRect();
    const [px, py] = [event.clientX - area.left, event.clientY - area.top];
    let best = null;
    let nearest = reach * reach;
    for (const point of points) {
      const distance = (point.x - px) ** 2 + (point.y - py) ** 2;
      if (distance < nearest) [best, nearest] = [point, distance];
    }
    if (!best) return leave();
    if (hot !== best.mark) hot?.classList.remove("hot");
    hot = best.mark;
    hot?.classList.add("hot");
    ring.setAttribute("cx", best.x);
    ring.setAttribute("cy", best.y);
    ring.setAttribute("visibility", "visible");
    return showTip(event, best.lines());
  });
}

let clips = 0;

// series: [{label, note, x: [], y: [], colour, dash}]
function lineChart(host, { series, xLabel, yLabel, log, zero, late }) {
  const box = frame(host, 250, { left: 52, right: 12, top: 12, bottom: 40 }, `${yLabel} against ${xLabel}: ${plural(series.length, "line")}`);
  const how = { log, zero: zero && !log, count: box.width / 90, whole: xLabel === "epoch" };
  const x = axis(extent(series.map((one) => one.x)), box.left, box.right, how);
  const y = axis(extent(series.map((one) => (late ? one.y.slice(Math.floor(one.y.length / 4)) : one.y))), box.bottom, box.top, { pad: 0.04 });
  grid(box, x, y, xLabel);
  const clip = `clip-${(clips += 1)}`;
  box.svg.append(draw("clipPath", { id: clip }, draw("rect", { x: 0, y: box.top - 2, width: box.width, height: box.bottom - box.top + 3 })));
  const points = [];
  for (const one of series) {
    let path = "";
    let pen = "M";
    const mark = draw("path", { class: "line", "clip-path": `url(#${clip})`, style: `stroke:${one.colour}`, "stroke-dasharray": one.dash || null });
    one.y.forEach((value, index) => {
      if (value === null) {
        pen = "M";
        return;
      }
      const [px, py] = [x(one.x[index]), y(value)];
      path += `${pen}${px.toFixed(1)} ${py.toFixed(1)}`;
      pen = "L";
      const tooltip = () => [one.label, one.note, `${xLabel} ${brief(one.x[index])}`, `${yLabel} ${value.toPrecision(4)}`];
      if (py <= box.bottom + 1) points.push({ x: px, y: py, mark, lines: tooltip });
    });
    mark.setAttribute("d", path);
    box.svg.append(mark);
  }
  hover(box, points);
}

// rows: [{label, values, seeds, mean, std, paper, colour}]: dots of the seeds, mean and deviation, the paper's as a diamond
function dotChart(host, rows, name) {
  const gutter = Math.max(...rows.map((row) => row.label.length)) * 7.4 + 24;
  const narrow = gutter > host.clientWidth * 0.42; // names then stand above their rows
  const left = narrow ? 12 : gutter;
  const step = narrow ? 44 : 30;
  const description = `${name}: ours and the paper's, ${plural(rows.length, "group")}`;
  const box = frame(host, rows.length * step + 44, { left, right: 16, top: 6, bottom: 38 }, description);
  const around = (mean, std) => [mean - (std || 0), mean + (std || 0)];
  const theirs = (row) => (row.difference === null ? [] : around(row.paper, row.paper_std));
  const all = rows.flatMap((row) => [...row.values, ...around(row.mean, row.std), ...theirs(row)]);
  const x = axis(extent([all]), box.left + 8, box.right - 8, { pad: 0.05, count: (box.right - box.left) / 80 });
  grid(box, x, null, rows[0].metric);
  const points = [];
  rows.forEach((row, index) => {
    const y = box.top + index * step + step / 2 + (narrow ? 8 : 0);
    const label = narrow ? { x: box.left, y: y - 15 } : { x: box.left - 12, y, dy: "0.32em", "text-anchor": "end" };
    const room = Math.floor(box.right / 7.4);
    const text = row.label.length > room && narrow ? `${row.label.slice(0, room - 1)}…` : row.label;
    box.svg.append(draw("text", { class: "name", ...label }, text, draw("title", null, row.label)));
    const ours = [row.label, `mean ${row.mean.toFixed(4)}${row.std === null ? "" : ` ± ${row.std.toFixed(4)}`}`, plural(row.values.length, "seed")];
    const [low, high] = around(row.mean, row.std).map(x);
    if (row.std) box.svg.append(draw("line", { class: "spread", style: `stroke:${row.colour}`, x1: low, x2: high, y1: y, y2: y }));
    row.values.forEach((value, seed) => {
      box.svg.append(draw("circle", { class: "seed", style: `fill:${row.colour}`, cx: x(value), cy: y, r: 3 }));
      points.push({ x: x(value), y, lines: () => [row.label, `seed ${row.seeds[seed]}: ${value.toFixed(4)}`, ours[1]] });
    });
    box.svg.append(draw("line", { class: "mean", style: `stroke:${row.colour}`, x1: x(row.mean), x2: x(row.mean), y1: y - 8, y2: y + 8 }));
    points.push({ x: x(row.mean), y: y - 6, lines: () => ours });
    if (row.difference !== null) {
      const p = x(row.paper);
      const [from, to] = theirs(row).map(x);
      const printed = [row.paper, row.paper_std].filter((value) => value !== null).map((value) => value.toFixed(row.paper_digits));
      if (row.paper_std) box.svg.append(draw("line", { class: "paper", x1: from, x2: to, y1: y, y2: y }));
      box.svg.append(draw("path", { class: "diamond", d: `M${p} ${y - 6}L${p + 6} ${y}L${p} ${y + 6}L${p - 6} ${y}Z` }));
      points.push({ x: p, y, lines: () => [`${row.label}, the paper's`, printed.join(" ± "), row.source] });
    }
  });
  hover(box, points, 24);
}

// items: [{name, value}]: bars of shares
function barChart(host, items, name) {
  const left = Math.min(Math.max(...items.map((item) => item.name.length)) * 7 + 16, host.clientWidth * 0.45);
  const description = `${name}: ${items.map((item) => `${item.name} ${item.value.toFixed(2)}`).join(", ")}`;
  const box = frame(host, items.length * 28 + 12, { left, right: 52, top: 4, bottom: 8 }, description);
  const most = Math.max(...items.map((item) => item.value), 1e-9);
  items.forEach((item, index) => {
    const y = box.top + index * 28 + 14;
    const width = (Math.max(item.value, 0) / most) * (box.right - box.left);
    box.svg.append(
      draw("text", { class: "name", x: left - 10, y, dy: "0.32em", "text-anchor": "end" }, item.name),
      draw("rect", { class: "bar", x: left, y: y - 8, width: Math.max(width, 1), height: 16, rx: 3 }),
      draw("text", { class: "tick", x: left + width + 6, y, dy: "0.32em" }, item.value.toFixed(3)),
    );
  });
}

// trials: [{number, value, best, state, …}]: one dot per trial, the best so far as a line
function trialChart(host, trials, yLabel) {
  const done = trials.filter((trial) => trial.value !== null).sort((a, b) => a.number - b.number);
  if (!done.length) {
    host.replaceChildren(make("p", { class: "empty" }, "No trial has a value yet."));
    return;
  }
  const box = frame(host, 250, { left: 52, right: 14, top: 12, bottom: 40 }, `${yLabel} of ${plural(done.length, "trial")}`);
  const x = axis(extent([done.map((trial) => trial.number)]), box.left + 8, box.right - 8, { count: box.width / 80, whole: true });
  const y = axis(extent([done.map((trial) => trial.value)]), box.bottom, box.top, { pad: 0.06 });
  grid(box, x, y, "trial");
  let path = "";
  const points = [];
  for (const trial of done) {
    if (trial.best !== null) {
      const [px, py] = [x(trial.number).toFixed(1), y(trial.best).toFixed(1)];
      path += path ? `H${px}V${py}` : `M${px} ${py}`;
    }
    const complete = trial.state === "complete";
    const mark = draw("circle", { class: complete ? "trial" : "trial open", cx: x(trial.number), cy: y(trial.value), r: 4 });
    box.svg.append(mark);
    const settings = Object.entries(trial.params).map(([name, value]) => `${name} = ${value}`);
    const tooltip = () => [`trial ${trial.number}: ${trial.value.toPrecision(5)}`, trial.state, ...settings];
    points.push({ x: x(trial.number), y: y(trial.value), mark, lines: tooltip });
  }
  box.svg.append(draw("path", { class: "line best", d: path }));
  hover(box, points);
}
