// data.js - the run: the columns of its trace as arrays, and words for its values.

const run = JSON.parse(document.getElementById("data").textContent);
const { tasks, copies, states, waits, steals } = run;

// A column that has steps only becomes one of values.
function sums(steps) {
  const values = new Float64Array(steps.length);
  let sum = 0;
  for (let i = 0; i < steps.length; i++) values[i] = sum += steps[i];
  return values;
}

for (const events of [tasks, copies, states]) {
  events.start = sums(events.start);
  events.end = events.start.map((start, i) => start + events.length[i]);
  events.n = events.start.length;
}

// Where kernels of a task wait: by the task's place, [start, end] of each wait.
const waitsOf = new Map();
sums(waits.task).forEach((task, i) => {
  if (!waitsOf.has(task)) waitsOf.set(task, []);
  waitsOf.get(task).push([waits.start[i], waits.start[i] + waits.length[i]]);
});

// When workers took a job from the queue of another one; by the job, the last time.
steals.time = sums(steals.time);
steals.n = steals.time.length;
const stealOf = new Map();
for (let i = 0; i < steals.n; i++) stealOf.set(steals.job[i], i);

// Names of memory nodes come with the report of a run; a trace has numbers only.
const nodeNames = Array.from({ length: run.nodes }, (_, n) => `memory ${n}`);
for (const name of [...(run.run?.links ?? []).flatMap(l => [l.from, l.to])]) {
  const [kind, number] = name.split(" ");
  if (kind === "NUMA" && +number < run.nodes) nodeNames[+number] = name;
}
const mains = Math.max(1, nodeNames.filter(n => n.startsWith("NUMA")).length);
run.workers.forEach(worker => {
  worker.kind = worker.name.match(/^[^ \d_]*/)[0];
  if (worker.node >= mains)
    nodeNames[worker.node] = worker.name.replace(/_\d+$| stream .*/, "").replace(/ ?(\d)/, " $1");
});
if (mains === 1) nodeNames[0] = "main memory";
// Another run, in the same chart, has the nodes from there on.
if (run.other) nodeNames[run.other.node] = `${run.other.label} main memory`;

// --- kernels: tasks of one name, those that took most time first ---

const kernels = run.names.map((name, number) => ({ name: name || "(no name)",
  number, count: 0, total: 0 }));
for (let i = 0; i < tasks.n; i++) {
  kernels[tasks.name[i]].count++;
  kernels[tasks.name[i]].total += tasks.length[i];
}
const byTime = kernels.filter(k => k.count).sort((a, b) => b.total - a.total);
// Colours of the palette (tools/common/palette.css) for what is drawn on a canvas, and what is to
// be done when they change: the reader's screen turns dark, or the page is printed.
const shades = {};
const recolours = [];

function readShades() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["paper", "ink", "soft", "mid", "line", "faint"])
    shades[name] = style.getPropertyValue(`--${name}`).trim();
  shades.dark = style.getPropertyValue("--dark").trim() === "1";
}
readShades();
recolours.push(readShades);
for (const query of ["(prefers-color-scheme: dark)", "print"])
  matchMedia(query).addEventListener("change", () => recolours.forEach(recolour => recolour()));

// Sets a property of a style to colour(), now and whenever colours change.
function coloured(selection, property, colour) {
  const recolour = () => selection.style(property, colour());
  recolour();
  recolours.push(recolour);
  return selection;
}

// The colours of other pictures (tools/common/colours.c), which differ in lightness, too; where
// they come again, lighter.
const seriesColours = ["#25568a", "#f49b41", "#45854a", "#470f11", "#b08fd0",
  "#583d30", "#eeb3cb", "#656565", "#34350e", "#2097a8"];
function seriesColour(i) {
  const colour = d3.lab(seriesColours[i % seriesColours.length]);
  if (shades.dark) colour.l = Math.max(colour.l, 42);
  colour.l += 9 * Math.floor(i / seriesColours.length) * (colour.l > 85 ? -1 : 1);
  return d3.rgb(colour).hex();
}
function colourKernels() {
  byTime.forEach((kernel, i) => {
    kernel.colour = seriesColour(i);
    kernel.ink = d3.lab(kernel.colour).l > 55 ? "#000" : "#fff";
  });
}
colourKernels();
recolours.push(colourKernels);

// What workers do beside tasks, each state in a shade of its own.
const stateKinds = [...new Set(states.kind)].sort((a, b) => a - b)
  .map((kind, i, all) => ({ name: run.names[kind], number: kind,
    colour: d3.interpolateGreys(0.25 + 0.6 * (all.length > 1 ? i / (all.length - 1) : 0)) }));
const stateOf = new Map(stateKinds.map(state => [state.number, state]));

// --- words ---

const number = d3.format(",");

// The unit in which people read times up to `ns`, as the commands do.
const timeUnits = [["ms", 1e6, 10e9], ["s", 1e9, 600e9], ["min", 60e9, 36000e9],
  ["h", 3600e9, 864000e9], ["d", 86400e9, Infinity]];

function timeUnit(ns) {
  const [name, size] = timeUnits.find(([, , below]) => !(ns >= below));
  return { name, size };
}

function timeText(ns) {
  const unit = ns > 0 && ns < 1e5 ? { name: "\u00b5s", size: 1e3 } : timeUnit(ns);
  return `${d3.format(",.3f")(ns / unit.size)} ${unit.name}`;
}

const percent = share => d3.format(".1%")(share);

function bytesText(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let u = 0;
  for (; Math.abs(bytes) >= 1024 && u < 4; u++) bytes /= 1024;
  return d3.format(u ? ".1f" : "d")(bytes) + " " + units[u];
}
