// The page: sections, filters, colours; everything is redrawn when the URL changes.

const main = document.getElementById("main");
const form = document.getElementById("filters");
const SECTIONS = [];
const CONFIGURATIONS = 50;

function section(id, title, lead, ...children) {
  const heading = make("h2", { id: `${id}-title` }, title);
  const opening = lead ? make("p", { class: "lead" }, lead) : null;
  const element = make("section", { id, "aria-labelledby": `${id}-title` }, heading, opening, ...children);
  main.append(element);
  SECTIONS.push({ id, title });
  return element;
}

function select(label, name, options, fallback) {
  const onchange = (event) => change({ [name]: event.target.value });
  const control = make("select", { name, onchange }, options.map(([value, text]) => make("option", { value }, text)));
  control.sync = () => {
    control.value = state[name] || fallback;
  };
  return { control, field: make("label", { class: "choice" }, label, " ", control) };
}

const host = (kind) => make("div", { class: kind || "host" });
const hosts = { results: host("panels one"), curves: host("panels"), time: host("panels"), studies: [] };
for (const name of ["resultTable", "briefTable", "classes", "costs", "hops", "runs", "changes", "choices", "problems", "configurations"]) hosts[name] = host();

const reported = ["", "validation score"];
const metric = select("metric", "metric", [reported, ...metrics.map((name) => [name, name])], "");
const scores = metrics.filter((name) => !name.endsWith("loss") && !name.startsWith("seconds"));
const time = select("metric", "time", [reported, ...scores.map((name) => [name, name])], "");
const ranges = [["", "all epochs"], ["late", "without the first quarter"]];
const range = select("scaled to", "range", ranges, "");
const range2 = select("scaled to", "range", ranges, "");
const scale = select("seconds", "scale", [["linear", "linear"], ["log", "logarithmic"]], "linear");

const compared = DATA.results.some((row) => row.difference !== null);
const generated = DATA.results.some((row) => row.paper !== null && row.difference === null);
const diamond = [
  compared ? "The diamond is the paper's number." : null,
  generated ? "Published numbers are those of the real graphs; they are not drawn beside generated data." : null,
  compared || generated ? null : "There is no published number for these data sets and models.",
].filter(Boolean).join(" ");
const dots = `Dots are seeds, the upright stroke is their mean and the bar its standard deviation. ${diamond}`;
const seconds = "Training seconds so far, without evaluation; every line starts after the seconds of its precomputation.";
const controls = (...fields) => make("div", { class: "controls" }, fields);

section("results", "Results", dots, hosts.results, hosts.resultTable);
if (DATA.tables.brief.rows.length) section("brief", "Brief runs", null, hosts.briefTable);
if (DATA.classes.length) section("classes", "Classes", "Metrics per class on the test split, of the run of a group with the best validation score.", hosts.classes);
section("curves", "Learning curves", "One line per run; the runs of a group share a colour.", controls(metric.field, range.field), hosts.curves);
section("time", "Score against seconds", seconds, controls(time.field, scale.field, range2.field), hosts.time);
section("costs", "Costs", "Precomputation is paid once for a data set and its operators, however many runs follow.", hosts.costs);
if (DATA.tables.hops.rows.length) section("hops", "Hops", null, hosts.hops);
DATA.studies.forEach((study, index) => {
  const own = { figures: host("panels"), table: host() };
  hosts.studies.push(own);
  section(`study-${index}`, `Search: ${study.name}`, study.folder, own.figures, own.table);
});
if (DATA.tables.choices.rows.length) section("choices", "Searched models and operators", null, hosts.choices);
section("runs", "Runs", null, hosts.runs);
section("configuration", "Configuration", null, hosts.changes, hosts.configurations);
if (DATA.tables.problems.rows.length) section("problems", "Left out", null, hosts.problems);

document.getElementById("contents").append(...SECTIONS.map(({ id, title }) => make("a", { href: `#${id}`, "data-jump": id }, title)));
document.getElementById("created").textContent = `Created ${DATA.created} from ${plural(DATA.runs.length, "run")}`;
for (const { name, value, note } of DATA.facts) {
  const number = make("dd", null, value, make("small", null, note));
  document.getElementById("facts").append(make("div", null, make("dt", null, name), number));
}
DATA.tables.runs.rows.forEach((row, index) => {
  row.link = String(index);
  row.follow = (event) => {
    event.preventDefault();
    change({ open: String(index) });
    document.getElementById(`run-${index}`)?.scrollIntoView({ block: "start" });
  };
});

// Links inside the page scroll; the URL after # belongs to the filters.
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("[data-jump]");
  if (!link) return;
  event.preventDefault();
  const target = document.getElementById(link.dataset.jump);
  target.setAttribute("tabindex", "-1");
  target.focus({ preventScroll: true });
  target.scrollIntoView({ block: "start" });
});

for (const name of ["dataset", "model", "job_type"]) {
  const values = [...new Set(DATA.runs.map((run) => run[name]))].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  form.elements[name].append(make("option", { value: "" }, "all"), ...values.map((value) => make("option", { value }, value)));
  form.elements[name].addEventListener("change", (event) => change({ [name]: event.target.value }));
}
let waiting = 0;
form.elements.text.addEventListener("input", (event) => {
  clearTimeout(waiting);
  waiting = setTimeout(() => change({ text: event.target.value }), 150);
});
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("reset", (event) => {
  event.preventDefault();
  change({ dataset: "", model: "", job_type: "", text: "" });
});

function settingsOf(index) {
  const own = DATA.runs[index].settings;
  const all = Object.entries({ ...DATA.common, ...own }).sort(([a], [b]) => a.localeCompare(b));
  const row = ([name, value]) =>
    make("tr", { class: name in own ? "own" : null }, make("th", { scope: "row" }, name), make("td", null, value));
  const caption = make("caption", null, "Settings of this run; those in bold differ between runs");
  return make("table", { class: "settings" }, caption, make("tbody", null, all.map(row)));
}

function renderConfigurations(rows) {
  const indices = rows.map((row) => Number(row.link));
  const opened = state.open === "" ? null : Number(state.open);
  const first = unfolded.has("configurations") ? indices : indices.slice(0, CONFIGURATIONS);
  if (opened !== null && indices.includes(opened) && !first.includes(opened)) first.unshift(opened);
  const items = first.map((index) => {
    const run = DATA.runs[index];
    const title = `${run.dataset} · ${run.model} · seed ${run.seed}`;
    const details = make("details", { id: `run-${index}` }, make("summary", null, title, make("small", null, run.folder)));
    const fillIn = () => details.querySelector("table") || details.append(settingsOf(index));
    details.addEventListener("toggle", () => details.open && fillIn());
    if (index === opened) {
      details.open = true;
      fillIn();
    }
    return details;
  });
  const all = () => {
    unfolded.add("configurations");
    render();
  };
  hosts.configurations.replaceChildren(...items);
  if (first.length < indices.length) {
    const note = `Show all ${indices.length.toLocaleString("en")} configurations`;
    hosts.configurations.append(make("button", { type: "button", class: "more", onclick: all }, note));
  }
}

const themes = { "": ["◐", "as the system"], light: ["☀", "light"], dark: ["☾", "dark"] };
const themeButton = document.getElementById("theme");
themeButton.addEventListener("click", () => change({ theme: { "": "dark", dark: "light", light: "" }[state.theme] ?? "" }));

function renderTheme() {
  const theme = state.theme in themes ? state.theme : "";
  document.documentElement.dataset.theme = theme;
  themeButton.textContent = themes[theme][0];
  themeButton.setAttribute("aria-label", `Colours: ${themes[theme][1]}`);
  themeButton.title = `Colours: ${themes[theme][1]}`;
}

function drawFigures() {
  hideTip();
  drawResults(hosts.results);
  drawCurves(hosts.curves, state.metric, "epoch");
  drawCurves(hosts.time, state.time, "seconds");
  DATA.studies.forEach((study, index) => drawStudy(hosts.studies[index].figures, study));
}

function render() {
  renderTheme();
  for (const name of ["dataset", "model", "job_type", "text"]) {
    if (form.elements[name] !== document.activeElement || name !== "text") form.elements[name].value = state[name];
  }
  for (const choice of [metric, time, scale, range, range2]) choice.control.sync();
  renderTable(hosts.resultTable, "results", DATA.tables.results);
  if (DATA.tables.brief.rows.length) renderTable(hosts.briefTable, "brief", DATA.tables.brief);
  renderClasses(hosts.classes);
  renderTable(hosts.costs, "costs", DATA.tables.costs);
  if (DATA.tables.hops.rows.length) renderTable(hosts.hops, "hops", DATA.tables.hops);
  renderConfigurations(renderTable(hosts.runs, "runs", DATA.tables.runs));
  if (DATA.tables.changes.rows.length) renderTable(hosts.changes, "changes", DATA.tables.changes, false);
  if (DATA.tables.choices.rows.length) renderTable(hosts.choices, "choices", DATA.tables.choices, false);
  if (DATA.tables.problems.rows.length) renderTable(hosts.problems, "problems", DATA.tables.problems);
  DATA.studies.forEach((study, index) => renderTable(hosts.studies[index].table, `study-${index}`, studyTable(study)));
  const matching = DATA.runs.filter(runMatches).length;
  document.getElementById("count").textContent = `${matching.toLocaleString("en")} of ${plural(DATA.runs.length, "run")}`;
  drawFigures();
}

let resized = 0;
let lastWidth = innerWidth;
addEventListener("resize", () => {
  if (innerWidth === lastWidth) return;
  lastWidth = innerWidth;
  clearTimeout(resized);
  resized = setTimeout(drawFigures, 120);
});
addEventListener("keydown", (event) => event.key === "Escape" && hideTip());
addEventListener("hashchange", () => {
  readAddress();
  render();
});
readAddress();
render();
if (state.open) document.getElementById(`run-${state.open}`)?.scrollIntoView();
