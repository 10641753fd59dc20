// The page: what is shown, and how pointer and keyboard change it.

const data = readData();
const distance = new Distance(data);
const element = (id) => document.getElementById(id);
const states = makeStates(data);
const layers = data.layers;
const axes = data.axes;
const map = new StateMap(element("map"));
const timelines = new Timelines(
  element("timelines"), element("scroller"), states, data.episode_lengths, layers.findings);
const view = {
  palette: null, values: new Float32Array(states.n).fill(NaN), max: 1, interval: 1, unit: "",
  label: tickLabel, title: "", surface: null, fillsCells: false, showsIsochrones: true, layers,
  found: layers.findings.map(({ episode, first }) => stateOf(episode, first)).filter((state) => state >= 0),
  shows: {}, place: null, path: null,
  cursor: -1, start: -1, goal: -1, isTo: true, isReady: false, isCut: false,
};
let mode = "to", planned = null, isDrawn = true, maxSteps = 1;
let plane = null, average = null;

function makeStates({ states: { row, values }, episode_lengths: lengths, columns, graph }) {
  const made = { n: row.length, row, values, episode: new Uint32Array(row.length), frame: new Uint32Array(row.length) };
  let episode = 0, first = 0;
  row.forEach((number, state) => {
    while (number >= first + lengths[episode]) first += lengths[episode++];
    made.episode[state] = episode;
    made.frame[state] = number - first;
  });
  made.places = distance.places(project(values, columns.length, graph.scales));
  return made;
}

// Coordinates ---------------------------------------------------------------------------------

// The coordinate of a state on an axis; the frame is known only for states of the page.
function along(axis, values, frame = NaN) {
  if (axis.is_frame) return frame;
  return axis.parts.reduce((sum, [column, weight]) => sum + values[column] * weight, 0);
}

function setAxes() {
  const chosen = ["x-axis", "y-axis"].map((id) => Number(element(id).value));
  const [x, y] = chosen.map((at) => Float32Array.from({ length: states.n }, (_, state) =>
    along(axes[at], rowOf(states.values, state, data.columns.length), states.frame[state])));
  view.place = (values) => chosen.map((at) => along(axes[at], values));
  const isPlane = data.plane && chosen[0] < 2 && chosen[1] < 2 && chosen[0] !== chosen[1];
  // The plane of the data has the first column as x.
  const frame = isPlane && (chosen[0] === 0 ? data.plane : transposed(data.plane));
  map.setAxes({ x, y, xName: axes[chosen[0]].name, yName: axes[chosen[1]].name, plane: frame });
  plane = isPlane ? new PlaneSurface(frame, distance, data.graph.scales, chosen) : null;
  if (plane && view.isReady) plane.confirm(distance);
  average = new AverageSurface(x, y, map.x, map.y);
  placePath();
}

function transposed({ x, y, columns, rows, known }) {
  const other = { x: y, y: x, columns: rows, rows: columns, known: new Uint8Array(known.length) };
  for (let cell = 0; cell < columns * rows; cell++) {
    if (!(known[cell >> 3] & (1 << (cell & 7)))) continue;
    const [column, row] = [cell % columns, Math.floor(cell / columns)];
    // Rows count from the top, where y is largest.
    const at = (columns - 1 - column) * rows + (rows - 1 - row);
    other.known[at >> 3] |= 1 << (at & 7);
  }
  return other;
}

// Values --------------------------------------------------------------------------------------

// The state that distances refer to: with a path, its goal or its start.
function reference() {
  if (view.goal >= 0) return mode === "from" ? view.start : view.goal;
  return view.cursor;
}

function update() {
  view.isTo = mode !== "from";
  if (mode === "progress") {
    // Yellow is done.
    layers.progress.forEach((progress, state) => { view.values[state] = 1 - progress; });
    Object.assign(view, { max: 1, interval: 0.1, isCut: false, surface: average, fillsCells: false });
    view.label = (level) => tickLabel(1 - level);
    view.title = "progress";
    average.average(view.values);
    return;
  }
  Object.assign(view, { max: maxSteps, interval: roundInterval(maxSteps, 10), label: tickLabel, isCut: true });
  view.title = `steps ${view.isTo ? "to" : "from"} the ${view.isTo ? "star" : "circle"}`;
  if (data.fps) view.title += ` (${tickLabel(data.fps)} steps per second)`;
  if (!view.isReady || reference() < 0) {
    view.values.fill(NaN);
    view.surface = null;
    return;
  }
  distance.field(states.places, states.places, reference(), view.isTo, view.values);
  view.surface = plane ?? average;
  view.fillsCells = plane !== null;
  if (plane) plane.update(distance, states.places, reference(), view.isTo);
  else average.average(view.values);
}

function render() {
  isDrawn = true;
  update();
  map.draw(view);
  timelines.draw(view);
  drawLegend(element("scale"), view);
}

function redraw() {
  if (isDrawn) requestAnimationFrame(render);
  isDrawn = false;
}

// Texts ---------------------------------------------------------------------------------------

const nameOf = (state) => `@${states.episode[state]}:${states.frame[state]}`;

function stepsText(steps) {
  if (steps === Infinity) return "no known path";
  const text = `${steps.toFixed(steps < 100 ? 1 : 0)} steps`;
  return data.fps ? `${text} (${(steps / data.fps).toFixed(1)} s)` : text;
}

function stepsBetween(from, to) {
  return distance.route(states.places, from, states.places, to).steps;
}

function stateText(state) {
  const values = rowOf(states.values, state, data.columns.length);
  const shown = data.columns.slice(0, 8).map((name, column) => `${name} ${values[column].toFixed(3)}`);
  const more = data.columns.length > 8 ? ", …" : "";
  const progress = layers.progress ? `, progress ${layers.progress[state].toFixed(2)}` : "";
  return `${nameOf(state)}: ${shown.join(", ")}${more}${progress}`;
}

function showStatus() {
  if (!view.isReady) return;
  const { start, goal, cursor } = view;
  let text = "Point at a state, or focus the map and press an arrow key.";
  if (goal >= 0) {
    text = `From ${nameOf(start)} to ${nameOf(goal)}: ${stepsText(stepsBetween(start, goal))}; `
      + `back: ${stepsText(stepsBetween(goal, start))}. Press Esc to clear the path.`;
  } else if (cursor >= 0 && start >= 0) {
    text = `From ${nameOf(start)} to ${nameOf(cursor)}: ${stepsText(stepsBetween(start, cursor))}; `
      + `back: ${stepsText(stepsBetween(cursor, start))}. Click or press Enter to set the goal.`;
  } else if (cursor >= 0) text = stateText(cursor);
  element("status").textContent = text;
  if (cursor >= 0 && document.activeElement !== element("state")) element("state").value = nameOf(cursor);
  element("pin").textContent = start >= 0 && goal < 0 ? "Set goal" : "Set start";
}

function showPath() {
  const { start, goal } = view;
  const target = element("path");
  target.textContent = start < 0 ? "Click a start and then a goal."
    : goal < 0 ? `Start ${nameOf(start)}; click a goal.`
    : planned ? "" : "No path of recorded segments leads from the start to the goal.";
  if (!planned || goal < 0) return;
  const recorded = planned.segments.reduce((sum, { steps }) => sum + steps, 0);
  const summary = document.createElement("p");
  summary.textContent = `${stepsText(planned.steps)}: ${recorded} recorded in ${planned.segments.length} `
    + `segment${planned.segments.length === 1 ? "" : "s"}, ${(planned.steps - recorded).toFixed(1)} in connections.`;
  target.append(summary);
  if (!planned.segments.length) return;
  const table = document.createElement("table");
  table.innerHTML = "<thead><tr><th scope=col>segment</th><th scope=col>from</th><th scope=col>to</th><th scope=col>steps</th></tr></thead>";
  planned.segments.forEach(({ row, steps }, at) => {
    const line = table.insertRow();
    const [episode, frame] = placeOfRow(row);
    for (const text of [at + 1, `@${episode}:${frame}`, `@${episode}:${frame + steps}`, steps]) {
      line.insertCell().textContent = text;
    }
  });
  target.append(table);
}

function placeOfRow(row) {
  let episode = 0;
  while (row >= data.episode_lengths[episode]) row -= data.episode_lengths[episode++];
  return [episode, row];
}

// Actions -------------------------------------------------------------------------------------

// Chooses a state. Screen readers report it if the keyboard chose it.
function choose(state, isPointer) {
  if (state < 0 || !view.isReady || (isPointer && view.goal >= 0)) return;
  element("status").setAttribute("aria-live", isPointer ? "off" : "polite");
  view.cursor = state;
  showStatus();
  redraw();
}

function pin() {
  const { cursor, start, goal } = view;
  if (cursor < 0) return;
  if (start < 0 || goal >= 0) Object.assign(view, { start: cursor, goal: -1 });
  else if (cursor !== start) view.goal = cursor;
  planned = view.goal >= 0 ? plan(distance, data, states, view.start, view.goal) : null;
  placePath();
  showPath();
  showStatus();
  redraw();
}

function placePath() {
  view.path = planned ? planned.points.map((values) => view.place(values)) : null;
}

function clearPath() {
  Object.assign(view, { start: -1, goal: -1, path: null });
  planned = null;
  showPath();
  showStatus();
  redraw();
}

function setMode(name) {
  mode = name;
  for (const input of element("controls").elements.mode) input.checked = input.value === name;
  redraw();
}

// The state of the page at a frame of an episode, or before it; -1 if there is none.
function stateOf(episode, frame) {
  const row = timelines.rowOf.get(episode);
  if (row === undefined) return -1;
  const { first, end } = timelines.episodes[row];
  let state = first;
  while (state + 1 < end && states.frame[state + 1] <= frame) state++;
  return state;
}

function beside(offset) {
  const state = Math.min(states.n - 1, Math.max(0, view.cursor + offset));
  choose(state, false);
  timelines.reveal(state);
}

const KEYS = {
  ArrowLeft: () => choose(map.stateTowards(Math.max(0, view.cursor), -1, 0), false),
  ArrowRight: () => choose(map.stateTowards(Math.max(0, view.cursor), 1, 0), false),
  ArrowUp: () => choose(map.stateTowards(Math.max(0, view.cursor), 0, -1), false),
  ArrowDown: () => choose(map.stateTowards(Math.max(0, view.cursor), 0, 1), false),
  ",": () => beside(-1),
  ".": () => beside(1),
  Enter: pin,
  d: () => setMode(mode === "to" ? "from" : "to"),
  Escape: clearPath,
};

function listen() {
  const pointer = (canvas, stateAt) => {
    const at = ({ offsetX, offsetY }) => stateAt(offsetX, offsetY);
    canvas.addEventListener("pointermove", (event) => choose(at(event), true));
    canvas.addEventListener("click", (event) => {
      const state = at(event);
      if (state < 0) return;
      view.cursor = state;
      pin();
    });
  };
  pointer(element("map"), (x, y) => map.stateAt(x, y));
  pointer(element("timelines"), (x, y) => timelines.stateAt(x, y));
  element("map").addEventListener("keydown", (event) => {
    const action = !event.ctrlKey && !event.metaKey && !event.altKey && KEYS[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
  document.addEventListener("keydown", ({ key }) => { if (key === "Escape") clearPath(); });
  element("scroller").addEventListener("scroll", redraw);
  element("previous").addEventListener("click", () => beside(-1));
  element("next").addEventListener("click", () => beside(1));
  element("pin").addEventListener("click", pin);
  element("clear").addEventListener("click", clearPath);
  element("controls").addEventListener("submit", (event) => event.preventDefault());
  element("state").addEventListener("change", ({ target }) => {
    const found = /^@?(\d+)\s*[:,]\s*(\d+)$/.exec(target.value.trim());
    const state = found ? stateOf(Number(found[1]), Number(found[2])) : -1;
    if (state < 0) element("status").textContent = `${target.value}: not a state of this page; write it like @0:10.`;
    else {
      choose(state, false);
      timelines.reveal(state);
    }
  });
  for (const input of element("controls").elements.mode) {
    input.addEventListener("change", () => setMode(input.value));
  }
  for (const id of ["x-axis", "y-axis"]) {
    element(id).addEventListener("change", () => { setAxes(); redraw(); });
  }
  for (const id of ["isochrones", "findings", "gaps", "starts"]) {
    element(id).addEventListener("change", () => { readLayers(); redraw(); });
  }
  window.addEventListener("resize", resize);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { setPalette(); redraw(); });
}

function readLayers() {
  view.showsIsochrones = element("isochrones").checked;
  view.shows = {
    findings: layers.findings.length > 0 && element("findings").checked,
    gaps: element("gaps").checked,
    starts: element("starts").checked,
  };
}

function setPalette() {
  view.palette = new Palette(matchMedia("(prefers-color-scheme: dark)").matches);
}

function resize() {
  // The map takes the height that controls and texts leave.
  const top = document.querySelector("main").getBoundingClientRect().top + window.scrollY;
  document.documentElement.style.setProperty("--top", `${Math.round(top)}px`);
  map.resize();
  timelines.resize();
  redraw();
}

// Start ---------------------------------------------------------------------------------------

function listItem(list, text, advice, action) {
  const item = document.createElement("li");
  const button = document.createElement("button");
  Object.assign(button, { type: "button", textContent: text });
  button.addEventListener("click", action);
  item.append(button);
  if (advice) {
    const note = document.createElement("span");
    Object.assign(note, { className: "advice", textContent: advice });
    item.append(note);
  }
  list.append(item);
}

function showState(state) {
  clearPath();
  choose(state, false);
  if (state >= 0) timelines.reveal(state);
}

// Shows the first two columns that a start state names: on other axes it has no place.
function showColumns(columns) {
  const known = data.columns.map((_, column) => column).filter((column) => !Number.isNaN(columns[column]));
  if (known.length < 2) return;
  ["x-axis", "y-axis"].forEach((id, at) => { element(id).value = known[at]; });
  setAxes();
  redraw();
}

// Lists findings, gaps and start states; each button shows its own.
function listLayers() {
  const section = (title, items, add) => {
    if (!items.length) return;
    const heading = document.createElement("h3");
    heading.textContent = title;
    const list = document.createElement("ol");
    items.forEach((item) => add(list, item));
    element("found").append(heading, list);
  };
  section(`Findings: ${layers.findings.length}`, layers.findings, (list, finding) => {
    const { episode, first, end, rule, message, advice } = finding;
    listItem(list, `@${episode}:${first} to ${end - 1}, ${rule}: ${message}`, advice, () => showState(stateOf(episode, first)));
  });
  section(`Gaps: ${layers.bridges.length}`, layers.bridges, (list, { from, to, steps }) => {
    const text = `from @${from.episode}:${from.frame} to @${to.episode}:${to.frame}: ${stepsText(steps)}`;
    listItem(list, text, "", () => showState(stateOf(from.episode, from.frame)));
  });
  section(`Suggested start states: ${layers.starts.length}`, layers.starts, (list, start) => {
    const text = Object.entries(start.values).map(([name, value]) => `${name} ${Number(value).toFixed(3)}`);
    const show = () => showColumns(start.columns);
    listItem(list, [start.task, text.join(", ")].filter(Boolean).join(": "), "", show);
  });
}

function fillControls() {
  for (const [at, id] of ["x-axis", "y-axis"].entries()) {
    axes.forEach(({ name }, number) => element(id).add(new Option(name, number)));
    element(id).value = data.default_axes[at];
  }
  for (const label of document.querySelectorAll("[data-layer]")) {
    label.hidden = !layers[label.dataset.layer]?.length;
  }
  element("no-path").textContent = "no known path";
  const seconds = data.fps ? ` (${(timelines.longest / data.fps).toFixed(1)} s)` : "";
  element("timeline-title").textContent = `Episodes from frame 0 to ${timelines.longest - 1}${seconds}`;
}

// The farthest distance of the color scale: 99 % of all known distances between landmarks are
// shorter, so that a few long ones do not take all colors.
function scaleOf(table) {
  const sample = [];
  const every = Math.max(1, Math.floor(table.length / 20000));
  for (let at = 0; at < table.length; at += every) if (table[at] < Infinity) sample.push(table[at]);
  sample.sort((a, b) => a - b);
  const far = Math.max(1, sample[Math.floor(0.99 * (sample.length - 1))] ?? 1);
  const interval = roundInterval(far, 10);
  return Math.ceil(far / interval) * interval;
}

function finish() {
  distance.confirm(states.places);
  if (plane) plane.confirm(distance);
  maxSteps = scaleOf(distance.table);
  view.isReady = true;
  choose(stateOf(...data.first_state), false);
  showPath();
  markReady();
}

// The table is filled in parts, so that the page stays responsive.
function fillTable(row) {
  const next = distance.fillTable(row, 40);
  element("status").textContent = `Computing distances: ${Math.floor(100 * next / distance.n)} %`;
  if (next < distance.n) setTimeout(fillTable, 0, next);
  else finish();
}

let markReady;
// For the console and for tests: distances in steps between states of the page.
window.isochrone = {
  ready: new Promise((resolve) => { markReady = resolve; }),
  names: () => Array.from({ length: states.n }, (_, state) => nameOf(state)),
  distance: (from, to) => stepsBetween(from, to),
  field: (one, isTo) => {
    const steps = new Float32Array(states.n);
    distance.field(states.places, states.places, one, isTo, steps);
    return Array.from(steps);
  },
  show: (state) => {
    view.cursor = state;
    showStatus();
    render();
  },
  setMode,
};

// Start states name columns; those they do not name are unknown.
for (const start of layers.starts) {
  start.columns = data.columns.map((name) => start.values[name] ?? NaN);
}
setPalette();
fillControls();
readLayers();
listLayers();
setAxes();
resize();
listen();
render();
setTimeout(fillTable, 0, 0);
