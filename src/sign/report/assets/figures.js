// Figures: results beside the paper's, learning curves, scores against seconds, searches.

const PANELS = 12;
const LINES = 240; // of one panel; more cannot be told apart
const LEGEND = 16;

const metrics = [...new Set(DATA.runs.flatMap((run) => Object.keys(run.curve.metrics)))].sort();
const hasMetric = (name) => metrics.includes(name);
// The reported metric on the validation split, unless another one is chosen; it differs between data sets.
const drawnMetric = (run, choice) => {
  const names = hasMetric(choice) ? [choice] : [`val/${run.metric}`, "val/loss"];
  return names.find((name) => run.curve.metrics[name]);
};

const runMatches = (run) => chosen(run) && mentions([run.dataset, run.job_type, run.folder, DATA.groups[run.group].label]);

function panels(host, items, panelOf, drawn, legend) {
  const names = [...new Set(items.map(panelOf))].sort();
  const later = []; // a panel is as wide as the number of panels lets it
  host.replaceChildren();
  if (!names.length) {
    host.append(make("p", { class: "empty" }, "Nothing matches the filters."));
    return;
  }
  for (const name of names.slice(0, PANELS)) {
    const plot = make("div", { class: "plot" });
    const note = make("span", { class: "quiet" });
    const key = legend ? legend(name) : null;
    host.append(make("figure", { "data-panel": name }, make("figcaption", null, make("strong", null, name), " ", note), key, plot));
    later.push(() => {
      note.textContent = drawn(plot, items.filter((item) => panelOf(item) === name), name) || "";
    });
  }
  if (names.length > PANELS) {
    host.append(make("p", { class: "empty" }, `${PANELS} of ${names.length} panels are drawn; choose a data set above to see the others.`));
  }
  later.forEach((paint) => paint());
}

// Every group keeps some of its lines when there are too many.
function thinned(runs) {
  if (runs.length <= LINES) return runs;
  return runs.filter((_, index) => Math.floor((index * LINES) / runs.length) !== Math.floor(((index - 1) * LINES) / runs.length));
}

function drawResults(host) {
  if (!DATA.results.length) {
    host.replaceChildren();
    return;
  }
  const rows = DATA.results.filter((row) => row.mean !== null && chosen(row) && mentions([row.dataset, row.model, row.experiment, row.settings]));
  panels(host, rows, (row) => `${row.dataset} · ${row.metric}${row.brief ? " · brief runs" : ""}`, (plot, own, name) => {
    const shown = own.slice(0, 40).map((row) => ({ ...row, colour: styleOf.get(row.label).colour }));
    dotChart(plot, shown, name);
    return shown.length < own.length ? `${shown.length} of ${own.length} groups` : "";
  });
}

function drawCurves(host, choice, against) {
  const runs = DATA.runs.filter((run) => runMatches(run) && drawnMetric(run, choice));
  const panelOf = (run) => `${run.dataset} · ${drawnMetric(run, choice)}`;
  const labelsOf = (name) => new Set(runs.filter((run) => panelOf(run) === name).map((run) => lineOf(DATA.groups[run.group])));
  panels(host, runs, panelOf, (plot, own) => {
    const metric = drawnMetric(own[0], choice);
    const visible = own.filter((run) => !hidden.has(lineOf(DATA.groups[run.group])));
    const shown = thinned(visible);
    const series = shown.map((run) => {
      const { label } = DATA.groups[run.group];
      return { label, note: `seed ${run.seed}`, x: run.curve[against], y: run.curve.metrics[metric], ...styleOf.get(lineOf(DATA.groups[run.group])) };
    });
    const xLabel = against === "epoch" ? "epoch" : "seconds";
    const log = against === "seconds" && state.scale === "log";
    lineChart(plot, { series, xLabel, yLabel: metric, log, zero: true, late: state.range === "late" });
    const epochs = own.some((run) => run.curve.of > run.curve.epoch.length) ? ", some epochs omitted" : "";
    return shown.length < own.length ? `${shown.length} of ${own.length} runs${epochs}` : `${plural(own.length, "run")}${epochs}`;
  }, (name) => legendOf(labelsOf(name)));
}

function legendOf(used) {
  const shown = labels.filter((label) => used.has(label));
  const buttons = shown.slice(0, LEGEND).map((label) => {
    const { colour, dash } = styleOf.get(label);
    const line = draw("line", { x1: 1, x2: 25, y1: 5, y2: 5, style: `stroke:${colour}`, "stroke-width": 2.5, "stroke-dasharray": dash || null });
    const toggle = () => {
      if (!hidden.delete(label)) hidden.add(label);
      drawFigures();
    };
    const swatch = draw("svg", { width: 26, height: 10, "aria-hidden": "true" }, line);
    return make("button", { type: "button", "aria-pressed": String(!hidden.has(label)), title: "show or hide", onclick: toggle }, swatch, label);
  });
  const more = shown.length > LEGEND ? make("span", { class: "quiet" }, `and ${shown.length - LEGEND} more`) : null;
  return make("div", { class: "legend", role: "group", "aria-label": "Groups" }, buttons, more);
}

function drawStudy(host, study) {
  const importance = Object.entries(study.importances).map(([name, value]) => ({ name, value }));
  const left = make("div", { class: "plot" });
  const right = make("div", { class: "plot" });
  const note = make("span", { class: "quiet" }, `${study.metric}, ${study.better} is better; the line is the best so far`);
  host.replaceChildren(
    make("figure", null, make("figcaption", null, make("strong", null, "Trials"), " ", note), left),
    make("figure", null, make("figcaption", null, make("strong", null, "Importance of hyperparameters")), right),
  );
  trialChart(left, study.trials, study.metric);
  if (importance.length) barChart(right, importance, "importance");
  else right.append(make("p", { class: "empty" }, "Not known yet: a few trials with different values are needed."));
}

function studyTable(study, name) {
  const params = [...new Set(study.trials.flatMap((trial) => Object.keys(trial.params)))];
  const column = (key, title, number) => ({ key, title, number, hint: "", kind: number ? "count" : "text", bar: false });
  const text = (value) => {
    if (value === null || value === undefined || value === "") return "—";
    return typeof value === "number" ? String(Number(value.toPrecision(5))) : String(value);
  };
  const keys = [["number", true], ["state", false], ["value", true], ["seconds", true], ["device", false], ["reason", false]];
  const used = keys.filter(([key]) => study.trials.some((trial) => text(trial[key]) !== "—"));
  const numeric = (param) => study.trials.every((trial) => typeof (trial.params[param] ?? 0) === "number");
  return {
    caption: `Trials of ${study.name}`,
    columns: [...used.map(([key, number]) => column(key, key, number)), ...params.map((param) => column(`params.${param}`, param, numeric(param)))],
    rows: study.trials.map((trial) => {
      const values = [...used.map(([key]) => trial[key] ?? null), ...params.map((param) => trial.params[param] ?? null)];
      return { cells: values.map(text), values, dataset: study.dataset, models: [], job_type: "search", name };
    }),
  };
}
