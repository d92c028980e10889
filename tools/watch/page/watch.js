// watch.js - draws what the command sends of a run that goes on. It keeps the last state,
// and curves of the states before; lists of tasks and the graph it asks for.

const byId = id => document.getElementById(id);
const view = { state: null, run: 0, samples: [], paused: false, asking: false, updates: 0,
  links: new Map() };
const SAMPLES = 600;

// --- words ---

const count = n => n.toLocaleString("en-US");

function time(us) {
  if (us >= 1e6) return (us / 1e6).toFixed(3) + " s";
  if (us >= 1e3) return (us / 1e3).toFixed(3) + " ms";
  return us.toFixed(1) + " \u00b5s";
}

function bytes(n) {
  for (const [unit, of] of [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]])
    if (n >= of) return (n / of).toFixed(1) + " " + unit;
  return n.toFixed(0) + " B";
}

const phases = {
  waiting: "the program has opened no run yet",
  running: "running",
  ended: "the program has ended; the report is being made",
  reported: "the program has ended",
  over: "the program has ended; there is no report",
};

// --- tables ---

// Rows of cells; a cell is a text, or [text, class], or a share of 1, or an element. Rows
// and cells that are there are kept.
function fill(table, rows) {
  const body = table.tBodies[0];
  while (body.rows.length > rows.length) body.deleteRow(-1);
  rows.forEach((cells, r) => {
    const row = body.rows[r] || body.insertRow();
    cells.forEach((cell, c) => setCell(row.cells[c] || row.insertCell(), cell));
  });
}

function setCell(td, cell) {
  if (cell instanceof Element) {
    td.replaceChildren(cell);
  } else if (typeof cell === "number") {
    let bar = td.querySelector(".bar i");
    if (!bar) {
      td.innerHTML = '<span class="bar"><i></i></span><span></span>';
      bar = td.querySelector(".bar i");
    }
    bar.style.width = Math.min(100, 100 * cell) + "%";
    td.lastChild.textContent = Math.round(Math.min(100, 100 * cell)) + " %";
  } else {
    const [text, kind] = Array.isArray(cell) ? cell : [cell, ""];
    if (td.className !== kind) td.className = kind;
    if (td.textContent !== text) td.textContent = text;
  }
}

const number = n => [typeof n === "number" ? count(n) : n, "number"];

// --- what is shown ---

const filter = () => byId("filter").value.trim().toLowerCase();

function currentRun() {
  const runs = view.state ? view.state.runs : [];
  return runs.find(run => run.number === view.run) || runs[0] || null;
}

function showRuns(runs) {
  const select = byId("run");
  const names = runs.map(run => (run.rank >= 0 ? `rank ${run.rank}, ` : "") + run.machine +
    (run.open ? "" : " (ended)"));
  if (select.dataset.names === names.join("\n")) return;
  select.dataset.names = names.join("\n");
  select.replaceChildren(...runs.map((run, i) => new Option(names[i], run.number)));
  select.value = currentRun() ? currentRun().number : "";
}

function showCounts(tasks) {
  const counts = byId("counts");
  for (const name of ["submitted", "waiting", "ready", "running", "ended"]) {
    let tile = counts.querySelector("." + name);
    if (!tile) {
      tile = document.createElement("div");
      tile.className = name;
      tile.append(document.createElement("b"), name);
      counts.append(tile);
    }
    tile.firstChild.textContent = count(tasks[name]);
  }
}

function showHead(state, run) {
  byId("program").textContent = state.program;
  document.title = `${count(state.tasks.ended)} tasks \u2013 ${state.program}`;
  byId("where").textContent = (run ? `on ${run.machine}, ` : "") + time(state.date_us) +
    (state.virtual ? " of virtual time" : "") +
    (state.nruns > 1 ? `, ${count(state.nruns)} runs` : "");
  const stuck = state.runs.some(one => one.deadlock);
  byId("phase").textContent = stuck ? "deadlock: nothing can go on any more"
    : state.phase === "running" && state.runs.every(one => !one.open)
      ? "its run has ended, the program goes on" : phases[state.phase] || state.phase;
  if (state.missed) byId("phase").textContent += `; ${count(state.missed)} events were missed` +
    " by the graph";
  if (state.exit) byId("phase").textContent += `; its exit status is ${state.exit}`;
  byId("phase").classList.toggle("trouble", stuck || state.exit > 0);
}

function showWorkers(run) {
  const since = run.date_us, wanted = filter(), busy = byId("busy").checked;
  const shown = run.workers.filter(worker => (!busy || worker.task) && (!wanted ||
    worker.name.toLowerCase().includes(wanted) ||
    (worker.kernel || "").toLowerCase().includes(wanted)));
  fill(byId("workers"), shown.map(worker => [worker.name,
    worker.task ? `${worker.kernel} #${worker.task}` : worker.state, number(worker.tasks),
    since > 0 ? worker.busy_us / since : 0]));
  byId("workers-note").textContent = shown.length < run.workers.length
    ? `${shown.length} of ${run.workers.length} workers` : "";
}

function showKernels(run) {
  const all = sumOfTimes(run.kernels), wanted = filter();
  const shown = run.kernels.filter(kernel => !wanted ||
    kernel.name.toLowerCase().includes(wanted) || run.workers.some(worker =>
      worker.kernel === kernel.name && worker.name.toLowerCase().includes(wanted)));
  shown.sort((a, b) => b.us - a.us);
  fill(byId("kernels"), shown.map(kernel => [kernel.name, number(kernel.tasks),
    [kernel.tasks ? time(kernel.us / kernel.tasks) : "", "number"],
    all > 0 ? kernel.us / all : 0]));
}

const sumOfTimes = kernels => kernels.reduce((sum, kernel) => sum + kernel.us, 0);

function showMemory(run) {
  const shown = run.nodes.filter(node => node.used > 0 || node.capacity > 0);
  fill(byId("nodes"), shown.map(node => [node.name, [bytes(Math.max(0, node.used)), "number"],
    node.capacity > 0 ? node.used / node.capacity : ["no limit", ""]]));
}

// Rates are of the run's own time, since the update before.
function showLinks(run) {
  const rows = run.links.map(link => {
    const key = `${run.number} ${link.from} ${link.to}`;
    const before = view.links.get(key) || { bytes: 0, date: 0, rate: 0 };
    const span = (run.date_us - before.date) / 1e6;
    const rate = span > 0 ? (link.bytes - before.bytes) / span : before.rate;
    view.links.set(key, { bytes: link.bytes, date: run.date_us, rate });
    return [`${link.from} \u2192 ${link.to}`, number(link.under_way), number(link.copies),
      [bytes(link.bytes), "number"], [bytes(Math.max(0, rate)), "number"]];
  });
  fill(byId("links"), rows);
  const m = run.messages;
  byId("messages").textContent = m.sent || m.received
    ? `${count(m.sent)} messages sent (${bytes(m.sent_bytes)}), ${count(m.received)} received ` +
      `(${bytes(m.received_bytes)})` : "";
}

// FILE:LINE without the folder, to be opened where there is a link; "" where it is not known.
function lineOf(one)
{
    if (!one.source)
        return "";
    const line = document.createElement(one.link ? "a" : "span");
    line.textContent = one.source.slice(one.source.lastIndexOf("/") + 1);
    line.title = one.source;
    if (one.link)
        line.href = one.link;
    return line;
}

function showLines(run)
{
    byId("submitted").hidden = !run.lines.length;
    fill(byId("lines"), [...run.lines ]
                            .sort((a, b) => b.tasks - a.tasks)
                            .map(line => [lineOf(line), number(line.tasks)]));
}

// --- curves ---

function addSample(state) {
  const last = view.samples[view.samples.length - 1];
  const sample = { at: performance.now(), date: state.date_us, ready: state.tasks.ready,
    running: state.tasks.running, ended: state.tasks.ended };
  if (last && state.phase !== "running" && last.ended === sample.ended) return;
  view.samples.push(sample);
  if (view.samples.length > SAMPLES) view.samples.shift();
  const from = view.samples[Math.max(0, view.samples.length - 9)];
  const seconds = (sample.at - from.at) / 1000;
  byId("rate").textContent = seconds > 0
    ? `${count(Math.round((sample.ended - from.ended) / seconds))} tasks per second` : "";
}

function drawCurves() {
  const canvas = byId("curves"), scale = window.devicePixelRatio || 1;
  const width = canvas.clientWidth, height = canvas.clientHeight;
  canvas.width = width * scale;
  canvas.height = height * scale;
  const ctx = canvas.getContext("2d"), style = getComputedStyle(document.documentElement);
  const colour = name => style.getPropertyValue("--" + name).trim();
  const samples = view.samples;
  ctx.scale(scale, scale);
  ctx.font = "11px system-ui, sans-serif";
  if (samples.length < 2) return;
  const first = samples[0].date, span = samples[samples.length - 1].date - first || 1;
  const most = Math.max(1, ...samples.map(s => Math.max(s.ready, s.running)));
  const x = s => 1 + (width - 2) * (s.date - first) / span;
  const y = n => height - 16 - (height - 30) * n / most;
  ctx.strokeStyle = colour("line");
  ctx.strokeRect(0.5, y(most), width - 1, y(0) - y(most));
  for (const name of ["ready", "running"]) {
    ctx.strokeStyle = colour(name);
    ctx.lineWidth = 2;
    ctx.beginPath();
    samples.forEach((s, i) => i ? ctx.lineTo(x(s), y(s[name])) : ctx.moveTo(x(s), y(s[name])));
    ctx.stroke();
  }
  ctx.fillStyle = colour("ink");
  ctx.fillText(count(most), 3, y(most) - 3);
  ctx.fillText(time(first), 1, height - 3);
  ctx.textAlign = "right";
  ctx.fillText(time(first + span), width - 1, height - 3);
}

// --- lists of tasks, the graph ---

function taskButton(task) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "task";
  button.textContent = task;
  button.addEventListener("click", () => choose(task));
  return button;
}

function choose(task) {
  byId("around").value = task;
  ask(true);
}

function showTasks(got) {
  const more = got.count > got.tasks.length ? `, of which ${got.tasks.length} are shown` : "";
  byId("found").textContent = `${count(got.count)} tasks${more}`;
  fill(byId("tasks"),
       got.tasks.map(
           task => [taskButton(task.task), task.kernel, task.state,
                    task.worker || "",
                    number("start_us" in task ? time(task.start_us) : ""),
                    number("end_us" in task && "start_us" in task
                               ? time(task.end_us - task.start_us)
                               : ""),
                    lineOf(task)]));
}

// In layers: each task is below all that it waits for.
function layers(tasks) {
  const at = new Map(tasks.map(task => [task.task, task]));
  tasks.sort((a, b) => a.task - b.task);
  for (const task of tasks) task.layer = 0;
  for (let changed = true, n = 0; changed && n < 100; n++) {
    changed = false;
    for (const task of tasks)
      for (const id of task.before) {
        const before = at.get(id);
        if (before && before.layer >= task.layer && before.layer < tasks.length) {
          task.layer = before.layer + 1;
          changed = true;
        }
      }
  }
  const rows = [];
  for (const task of tasks) (rows[task.layer] ||= []).push(task);
  for (const row of rows) {
    if (!row) continue;
    const mean = task => task.before.length
      ? task.before.reduce((sum, id) => sum + (at.get(id)?.place ?? 0), 0) / task.before.length : 0;
    row.sort((a, b) => mean(a) - mean(b) || a.task - b.task);
    row.forEach((task, i) => task.place = (i + 0.5) / row.length);
  }
  return { at, rows: rows.filter(row => row) };
}

const svg = (name, attributes) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  return element;
};

function showGraph(got) {
  const graph = byId("graph"), { at, rows } = layers(got.tasks);
  const widest = Math.max(1, ...rows.map(row => row.length));
  const width = Math.max(graph.parentElement.clientWidth - 4, 22 * widest);
  const height = 30 + 44 * rows.length, parts = [];
  rows.forEach((row, r) => row.forEach(task => {
    task.x = task.place * width;
    task.y = 20 + 44 * r;
  }));
  for (const task of got.tasks)
    for (const id of task.before)
      if (at.has(id))
        parts.push(svg("line", { x1: at.get(id).x, y1: at.get(id).y, x2: task.x, y2: task.y }));
  const labelled = got.tasks.length <= 80;
  for (const task of got.tasks) {
    const circle = svg("circle", { cx: task.x, cy: task.y, r: task.state === "join" ? 4 : 8,
      class: task.state + (!got.whole && task.task === got.task ? " chosen" : "") });
    const title = svg("title", {});
    title.textContent = `${task.kernel} #${task.task}: ${task.state}` +
                        (task.worker ? ` on ${task.worker}` : "") +
                        (task.source ? `\nsubmitted at ${task.source}` : "");
    circle.append(title);
    circle.addEventListener("click", () => choose(task.task));
    parts.push(circle);
    if (labelled && task.state !== "join") {
      const text = svg("text", { x: task.x, y: task.y + 19, "text-anchor": "middle" });
      text.textContent = widest * 70 < width ? `${task.kernel} #${task.task}` : `#${task.task}`;
      parts.push(text);
    }
  }
  graph.setAttribute("width", width);
  graph.setAttribute("height", height);
  graph.replaceChildren(...parts);
  byId("graph-note").textContent = !got.found && !got.whole
    ? "that task is not known, or not any more"
    : got.whole ? `all ${count(got.tasks.length)} tasks`
      : `${count(got.tasks.length)} tasks around task ${got.task}` +
        (got.cut ? "; there are more" : "");
  const chosen = !got.whole && at.get(got.task);
  if (chosen && chosen.source)
      byId("graph-note").append(", submitted at ", lineOf(chosen));
}

async function get(path, query) {
  const answer = await fetch(path + "?" + new URLSearchParams(query), { cache: "no-store" });
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return answer.json();
}

let again = false;
async function ask(now) {
  if (view.asking) {
    again ||= now;
    return;
  }
  const run = currentRun();
  if (!run) return;
  view.asking = true;
  try {
    showTasks(await get("tasks", { run: run.number, state: byId("state").value,
      find: byId("find").value.trim(), max: 50 }));
    showGraph(await get("graph", { run: run.number, task: byId("around").value.trim(),
      depth: byId("depth").value, max: 300 }));
  } catch (error) {
    byId("graph-note").textContent = "the command has ended";
  }
  view.asking = false;
  if (again) {
    again = false;
    ask(false);
  }
}

// --- updates ---

function draw() {
  const state = view.state, run = currentRun();
  if (!state) return;
  showHead(state, run);
  showCounts(state.tasks);
  showRuns(state.runs);
  drawCurves();
  if (!run) return;
  showWorkers(run);
  showKernels(run);
  showMemory(run);
  showLinks(run);
  showLines(run);
}

function update(state) {
  view.updates++;
  view.state = state;
  addSample(state);
  if (view.paused && state.phase === "running") return;
  draw();
  ask(false);
}

function begin() {
  const events = new EventSource("events");
  events.addEventListener("state", event => {
    const state = JSON.parse(event.data);
    update(state);
    // The stream stays open until the report is there: the command waits for its end.
    if (state.phase === "reported") location.replace("report");
    if (state.phase === "over") events.close();
  });
  events.addEventListener("error", () => {
    if (events.readyState === EventSource.OPEN) return;
    events.close();
    byId("phase").textContent = "the command has ended; this is what was seen last";
  });
  byId("pause").addEventListener("click", () => {
    view.paused = !view.paused;
    byId("pause").setAttribute("aria-pressed", view.paused);
    byId("pause").textContent = view.paused ? "go on" : "pause";
    draw();
  });
  byId("run").addEventListener("change", () => {
    view.run = Number(byId("run").value);
    draw();
    ask(true);
  });
  for (const id of ["filter", "busy"]) byId(id).addEventListener("input", draw);
  for (const id of ["state", "find", "around", "depth"])
    byId(id).addEventListener("input", () => ask(true));
  for (const form of document.forms) form.addEventListener("submit", e => e.preventDefault());
  addEventListener("resize", draw);
}

begin();
