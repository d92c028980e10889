// page.js - the controls, and the page put together.

const byId = id => document.getElementById(id);

function say(text) {
  byId("status").textContent = text;
}

// --- a task, state or copy in words ---

const tagOf = i => tasks.tag?.[i] ?? "";

function loopOf(i) {
  if (!(tasks.iteration?.[i] >= 0)) return "";
  const inner = tasks.subiteration[i];
  return `iteration ${tasks.iteration[i]}${inner >= 0 ? `, ${inner} inside` : ""}`;
}

const sourceOf = i => run.sources[tasks.source?.[i]];

// What is known of one below the chart, with a link to its line if there is one.
function showDetail(found) {
  const detail = d3.select("#detail").text(found ? describe(found) : "");
  const source = found?.events === tasks ? sourceOf(found.i) : null;
  if (source?.link) detail.append("div").append("a").attr("href", source.link).text(source.text);
}

function waited(i) {
  const parts = waitsOf.get(i);
  return parts ? `\nits kernel waited ${
    timeText(d3.sum(parts, ([from, to]) => to - from))}, in ${number(parts.length)} stretch${parts.length > 1 ? "es" : ""}` : "";
}

function stolen(i) {
  const steal = stealOf.get(tasks.job[i]);
  return steal === undefined ? "" : `\n${run.workers[steals.thief[steal]].name
    } took it from the queue of ${run.workers[steals.victim[steal]].name}, ${
    timeText(tasks.start[i] - steals.time[steal])} before its start`;
}

function describe({ events, i }) {
  const span = `${timeText(events.start[i])} to ${timeText(events.end[i])}, ${
    timeText(events.length[i])}`;
  if (events === states)
    return `${run.names[states.kind[i]]}, on ${run.workers[states.worker[i]].name}\n${span}`;
  if (events === copies)
    return `${run.names[copies.kind[i]]} of ${bytesText(copies.bytes[i])}: ${
      nodeNames[copies.from[i]]} to ${nodeNames[copies.to[i]]}\n${span}\ndatum ${
      copies.handle[i]}${copies.job[i] ? `, task ${copies.job[i]} waited` : ""}`;
  return `${kernels[tasks.name[i]].name}, task ${tasks.job[i]}, on ${
    run.workers[tasks.worker[i]].name}\n${span}\npriority ${
    tasks.priority[i]}\nbefore its start it was submitted ${
    timeText(tasks.submitted[i])}, ready ${timeText(tasks.ready[i])}, taken ${
    timeText(tasks.taken[i])}${waited(i)}${tagOf(i) ? `\ntag ${tagOf(i)}` : ""}${
    loopOf(i) ? `\n${loopOf(i)}` : ""}${stolen(i)}${
    sourceOf(i) ? `\nsubmitted at ${sourceOf(i).text}` : ""}`;
}

function watchChart() {
  const tip = byId("tip");
  gantt.canvas.addEventListener("mousemove", event => {
    const found = gantt.find(event.offsetX, event.offsetY);
    tip.hidden = !found;
    if (!found) return;
    tip.textContent = describe(found);
    tip.style.left = Math.min(event.pageX + 14, window.innerWidth - 300) + "px";
    tip.style.top = event.pageY + 14 + "px";
  });
  gantt.canvas.addEventListener("mouseleave", () => { tip.hidden = true; });
  gantt.canvas.addEventListener("click", event => {
    const found = gantt.find(event.offsetX, event.offsetY);
    showDetail(found);
  });
}

// --- search, filter, critical path ---

let match = -1; // which of the matches was shown last

function search(text) {
  const wanted = text.trim().toLowerCase(), found = [];
  match = -1;
  view.matches = null;
  if (wanted) {
    for (let i = 0; i < tasks.n; i++)
      if (String(tasks.job[i]) === wanted ||
        kernels[tasks.name[i]].name.toLowerCase().includes(wanted) ||
        run.workers[tasks.worker[i]].name.toLowerCase() === wanted ||
        (tagOf(i) && tagOf(i) === wanted.replace(/^(tag |0x)/, "")) ||
        (loopOf(i) && loopOf(i).split(",")[0] === wanted))
        found.push(i);
    view.matches = found;
    say(`${number(found.length)} of ${number(tasks.n)} tasks`);
  } else {
    say("");
  }
  redraw();
}

// Goes to the next match and keeps its figures below the chart.
function showNext() {
  if (!view.matches?.length) return;
  match = (match + 1) % view.matches.length;
  const i = view.matches[match], around = Math.max(tasks.length[i] * 12, 1000);
  const middle = (tasks.start[i] + tasks.end[i]) / 2;
  showSpan(middle - around / 2, middle + around / 2);
  showDetail({ events: tasks, i });
  say(`${number(match + 1)} of ${number(view.matches.length)} tasks`);
}

function setPath(on) {
  const jobs = new Set((run.explanation?.critical_path ?? []).map(l =>
    l.job + (run.ranks?.jobs_before[l.rank] ?? 0)));
  view.path = on ? d3.range(tasks.n).filter(i => jobs.has(tasks.job[i])) : null;
  redraw();
}

function makeLegend() {
  for (const kernel of byTime) {
    const button = d3.select("#legend").append("button").attr("type", "button")
      .attr("aria-pressed", "true");
    coloured(button.append("i"), "background", () => kernel.colour);
    button.append("span").text(`${kernel.name} (${number(kernel.count)})`);
    button.on("click", () => {
      const hide = !view.hidden.delete(kernel.number);
      if (hide) view.hidden.add(kernel.number);
      button.attr("aria-pressed", String(!hide));
      const seen = d3.sum(byTime, k => view.hidden.has(k.number) ? 0 : k.count);
      say(`${number(seen)} of ${number(tasks.n)} tasks`);
      redraw();
    });
  }
}

function makeStateLegend() {
  for (const state of stateKinds) {
    const entry = d3.select("#beside").append("span");
    entry.append("i").style("background", state.colour);
    entry.append("span").text(state.name);
  }
  if (steals.n)
    d3.select("#beside").append("span").text(`\u25be steal (${number(steals.n)})`);
}

function watchControls() {
  const closer = by => d3.select(gantt.canvas).call(zoom.scaleBy, by);
  byId("controls").addEventListener("submit", event => {
    event.preventDefault();
    showNext();
  });
  byId("search").addEventListener("input", event => search(event.target.value));
  byId("next").addEventListener("click", showNext);
  byId("path").addEventListener("change", event => setPath(event.target.checked));
  byId("path").disabled = !run.explanation;
  byId("links").addEventListener("change", event => {
    view.links = event.target.checked;
    gantt.layout();
    redraw();
  });
  byId("states").addEventListener("change", event => {
    view.states = event.target.checked;
    redraw();
  });
  byId("states").disabled = !states.n;
  byId("steals").addEventListener("change", event => {
    view.steals = event.target.checked;
    redraw();
  });
  byId("steals").disabled = !steals.n;
  byId("closer").addEventListener("click", () => closer(2));
  byId("wider").addEventListener("click", () => closer(0.5));
  byId("all").addEventListener("click", () => setTransform(d3.zoomIdentity));
  window.addEventListener("resize", () => {
    gantt.layout();
    resize();
  });
}

function writeHead() {
  const made = run.run, gflops = made?.flops > 0
    ? `, ${d3.format(",.1f")(made.flops / made.makespan_us / 1e3)} GFlop/s` : "";
  const joules = made?.energy?.joules;
  // Of this run, where another one is beside it.
  const own = run.other ? i => run.workers[tasks.worker[i]].node < run.other.node : () => true;
  const ownCopies = run.other ? d3.range(copies.n).filter(i => copies.to[i] < run.other.node)
    : d3.range(copies.n), ownTasks = d3.range(tasks.n).filter(own);
  const workers = run.workers.filter(w => !run.other || w.node < run.other.node);
  document.title = byId("title").textContent = run.title;
  byId("summary").textContent = `${made ? `${made.scheduler}: ` : ""}${
    timeText(run.other ? d3.max(ownTasks, i => tasks.end[i]) : run.end)}${
    gflops}${joules > 0 ? `, ${d3.format(",.4~g")(joules)} J` : ""}, ${number(ownTasks.length)} tasks on ${number(workers.length)} workers, ${
    number(ownCopies.length)} copies of ${bytesText(d3.sum(ownCopies, i => copies.bytes[i]))}${
    made ? `, ${made.simulated ? `simulated, figures ${made.provenance ?? "unknown"}`
      : "a real run"}` : ""}${run.other ? `; beside it one of ${
    timeText(d3.max(d3.range(tasks.n).filter(i => !own(i)), i => tasks.end[i]))}` : ""}`;
}

writeHead();
makeLegend();
makeStateLegend();
gantt.layout();
addPicture(gantt.canvas, gantt.draw, true);
resize();
curves.add();
watchChart();
watchControls();
addRanks();
addExplanation();
addKernels();
addSources();
addTimes();
addStates();
addSteals();
addLinks();
addBounds();
addComparisons();
addMachine();
addOrigins();
recolours.push(redraw);
redraw();
