// The view is in the URL after #, so that it can be bookmarked and shared.

const state = { dataset: "", model: "", job_type: "", text: "", theme: "", metric: "", time: "", scale: "linear", range: "", open: "", sort: {} };
const hidden = new Set(); // groups that were switched off in a legend

function readAddress() {
  const params = new URLSearchParams(location.hash.slice(1));
  for (const name of Object.keys(state)) {
    if (name === "sort") state.sort = {};
    else state[name] = params.get(name) ?? (name === "scale" ? "linear" : "");
  }
  for (const [name, value] of params) {
    if (name.startsWith("sort.")) state.sort[name.slice(5)] = value;
  }
}

function writeAddress() {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(state)) {
    if (name !== "sort" && value && value !== "linear") params.set(name, value);
  }
  for (const [table, order] of Object.entries(state.sort)) params.set(`sort.${table}`, order);
  history.replaceState(null, "", `#${params}`);
}

function change(changes) {
  Object.assign(state, changes);
  writeAddress();
  render();
}

const chosen = (row) =>
  (!state.dataset || !row.dataset || row.dataset === state.dataset) &&
  (!state.model || !(row.models || [row.model]).some(Boolean) || (row.models || [row.model]).includes(state.model)) &&
  (!state.job_type || !row.job_type || row.job_type === state.job_type);

const mentions = (texts) => {
  const all = texts.join(" ").toLowerCase();
  return state.text.toLowerCase().split(/\s+/).every((word) => all.includes(word));
};
