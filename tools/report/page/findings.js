// findings.js - what Orrery's other commands say of the run: explanation, bounds,
// comparisons, the machine; and where all values come from.

// Neighbours differ in lightness: most workers have few of the causes.
const causeShades = ["#b8b8b8", "#6a6a6a", "#dadada", "#8c8c8c", "#c8c8c8", "#505050",
  "#eee", "#7c7c7c", "#d0d0d0", "#3c3c3c"];

function addCriticalPath(section, links, length) {
  const unit = timeUnit(1e6 * length);
  const sums = d3.nest().key(l => l.what)
    .rollup(l => ({ n: l.length, ms: d3.sum(l, x => x.end_ms - x.start_ms) }))
    .entries(links).sort((a, b) => b.value.ms - a.value.ms);
  section.append("h3").text("On the critical path");
  addTable(section, [
    texts("what", r => r.key), numbers("times", r => r.value.n, ","),
    numbers(unit.name, r => 1e6 * r.value.ms / unit.size, ",.3f"),
    numbers("share", r => r.value.ms / length, ".1%"),
    { title: "", value: r => r.value.ms, show: (r, cell) =>
      drawBar(cell, [[r.value.ms / length, "var(--soft)"]]) },
  ], sums);
}

// Workers, or of more than sixteen their kinds, or ranks.
function idleRows(idle) {
  if (idle.length <= 16) return idle;
  const groups = d3.nest().key(w => w.rank === undefined ? w.worker.match(/^[^ \d_]*/)[0]
    : `rank ${w.rank}`).entries(idle);
  return groups.map(({ key, values }) => ({
    worker: `${values.length} \u00d7 ${key}`, n: values.length,
    busy_ms: d3.sum(values, w => w.busy_ms), idle_ms: d3.sum(values, w => w.idle_ms),
    causes_ms: Object.fromEntries(Object.keys(values[0].causes_ms).map(cause =>
      [cause, d3.sum(values, w => w.causes_ms[cause])])),
  }));
}

function addIdle(section, idle, length) {
  const rows = idleRows(idle), causes = Object.keys(idle[0]?.causes_ms ?? {}).filter(
    cause => rows.some(r => r.causes_ms[cause] > 0));
  const unit = timeUnit(1e6 * length), scaled = ms => 1e6 * ms / unit.size;
  section.append("h3").text(`Time of workers, ${unit.name}, idle by cause`);
  addTable(section, [
    texts("worker", r => r.worker.replace(/ \(.*/, "")),
    numbers("busy", r => scaled(r.busy_ms), ",.3f"),
    numbers("idle", r => scaled(r.idle_ms), ",.3f"),
    ...causes.map(cause => numbers(cause, r => scaled(r.causes_ms[cause]), ",.3f")),
    { title: "busy, then the causes in this order", value: r => r.busy_ms,
      show: (r, cell) => drawBar(cell, [["busy", r.busy_ms, "#000"],
        ...causes.map((c, i) => [c, r.causes_ms[c], causeShades[i] ?? "#eee"])].map(
        ([name, time, shade]) => [time / (length * (r.n ?? 1)), shade,
          `${name} ${timeText(1e6 * time)}`])).attr("class", "greys") },
  ], rows);
}

const leastGain = 0.5; // %

function addChanges(section, all) {
  const changes = all.filter(r => !r.failed && r.gain_percent >= leastGain);
  const others = all.filter(r => !changes.includes(r));
  if (changes.length) addHelp(section, changes);
  if (others.length)
    addSource(section, `Tried, and saves less than ${leastGain} %: ${
      others.map(r => r.change + (r.failed ? " (failed)" : "")).join("; ")}.`);
}

function addHelp(section, changes) {
  const unit = timeUnit(1e6 * d3.max(changes, r => r.makespan_ms));
  section.append("h3").text("What would help, each simulated");
  addTable(section, [
    texts("change", r => r.change),
    numbers("time saved", r => r.gain_percent, v => v.toFixed(1) + " %"),
    numbers(`makespan ${unit.name}`, r => 1e6 * r.makespan_ms / unit.size, ",.3f"),
    texts("how", r => r.edits ? `--set '${r.edits}'` : r.scheduler
      ? `-s ${r.scheduler}` : r.left_out
        ? `its record without the ${r.left_out}, replayed` : r.variable),
  ], changes);
}

// Where the application was while it submitted nothing.
function applicationLines(app, length) {
  const least = 0.005 * length, times = n => n === 1 ? "1 time" : `${n} times`;
  const lines = app.waits.filter(w => w.ms >= least).map(w =>
    `the application waited in ${w.call} for ${timeText(1e6 * w.ms)} (${
      times(w.times)}) before its last submission`);
  if (app.other_times && app.other_ms >= least)
    lines.push(`the application did something else for ${timeText(1e6 * app.other_ms)} (${
      times(app.other_times)}) between its submissions`);
  if (app.submission_us_per_task * app.submitted / 1000 >= least)
    lines.push(`submitting took ${timeText(1e3 * app.submission_us_per_task)
      } per task (${app.submitted} tasks)`);
  return lines;
}

const reasons = {
  "computing": w => `which was computing ${w.kernel}`,
  "waiting": w => `which itself waited for rank ${w.waits_for_rank}`,
  "not submitted": () => "which had not submitted yet what it needs",
  "runtime": () => "whose runtime was between tasks",
  "under way": () => "which had sent it: it was under way",
  "receiver not ready": () => "for which it was not ready itself yet",
};

function waitLine(w) {
  return `rank ${w.rank} waited ${timeText(1e6 * w.ms)} for a message of rank ${w.for_rank}, ${
    reasons[w.why](w)} (${w.times} time${w.times === 1 ? "" : "s"})`;
}

// What each of several ranks did, and what they sent to each other.
function addRanks() {
  const said = run.ranks;
  if (!said) return;
  const section = addSection("Ranks"), rows = said.ranks.filter(r => r);
  const most = d3.max(rows, r => r.busy_us + r.idle_us) || 1;
  addTable(section, [
    numbers("rank", r => r.rank, ","), numbers("tasks", r => r.tasks, ","),
    numbers("workers", r => r.workers, ","),
    texts("busy", r => timeText(1e3 * r.busy_us)), texts("idle", r => timeText(1e3 * r.idle_us)),
    { title: "", value: r => r.busy_us, show: (r, cell) =>
      drawBar(cell, [[r.busy_us / most, "var(--soft)"], [r.idle_us / most, "var(--line)"]]) },
    numbers("messages sent", r => r.sent, ","), numbers("sent", r => r.sent_bytes, bytesText),
    numbers("received", r => r.received, ","),
    numbers("bytes received", r => r.received_bytes, bytesText),
  ], rows);
  section.append("h3").text("Bytes from rank to rank");
  const size = said.ranks_per_row, place = i => size === 1 ? `${i}`
    : `${i * size}-${Math.min((i + 1) * size, said.ranks.length) - 1}`;
  addTable(section, [texts("from", r => place(r.i)),
    ...said.bytes.map((_, to) => numbers(`to ${place(to)}`, r => r.row[to], bytesText))],
    said.bytes.map((row, i) => ({ row, i })));
  addSource(section, `Imbalance: rank ${said.busiest_rank} computes ${
    percent(said.imbalance)} longer than ranks on average.`);
}

function addExplanation() {
  const said = run.explanation;
  if (!said) return;
  const section = addSection("What stood in the way");
  addCriticalPath(section, said.critical_path, said.makespan_ms);
  addIdle(section, said.idle, said.makespan_ms);
  const lines = said.application
    ? applicationLines(said.application, said.makespan_ms) : [];
  lines.push(...(said.waits ?? []).slice(0, 12).map(waitLine));
  lines.push(...(said.misplaced ?? []).map(
      m => `${m.kernel}: ${m.tasks} on a slower worker (${m.worker}${
          m.several
              ? ", others"
              : ""}), ${timeText(1e6 * m.lost_ms)} more than on the fastest`));
  lines.push(...(said.alone ?? [])
                 .map(a => `no other worker can run ${a.tasks} tasks of ${
                          a.worker}, which take ${
                          percent(a.busy_ms / said.makespan_ms)} of the run`));
  for (const m of said.wrong_models ?? [])
    lines.unshift(`the model of ${m.kernel} on ${m.on} was wrong: ${timeText(1e3 * m.predicted_us)
      } expected, ${timeText(1e3 * m.median_us)} taken (median of ${m.tasks})`);
  for (const link of (said.links ?? []).filter(l => l.use >= 0.5))
    lines.push(`link ${link.link}: ${percent(link.use)} of what it can carry`);
  if (said.copied_again_bytes > 0)
    lines.push(`${bytesText(said.copied_again_bytes)} were copied to memory that had ` +
      "had them before");
  section.append("ul").selectAll("li").data(lines).join("li").text(l => l);
  addChanges(section, said.changes ?? []);
  addSource(section, "From orrery explain; each change with the makespan of its own " +
    "simulation.");
}

// Of several ranks on a cluster: what is bound, and by what.
function addRankBounds(bounds) {
  const section = addSection("Bounds: what no run with this distribution can beat");
  const most = (list, value) => d3.max(list, value) || 0;
  const rows = [
    { what: "this run", ms: bounds.makespan_ms, by: "" },
    { what: "the bound", ms: bounds.best.ms, by: bounds.best.limited_by },
    { what: "critical path", ms: bounds.path.ms, by: `${bounds.path.tasks} tasks, ${
      bounds.path.messages} messages between nodes` },
    { what: "tasks of a rank", ms: most(bounds.ranks.filter(r => r), r => r.area_ms),
      by: "the workers of the rank that has most to do" },
    { what: "NICs of a node", ms: bounds.messages.ms, by: `node ${bounds.messages.node}, ${
      bytesText(bounds.messages.bytes)} ${bounds.messages.direction}` },
    ...bounds.cuts.map(cut => ({ what: "links between parts", by: `${cut.length} parts`,
      ms: most(cut, p => Math.max(p.receiving_ms, p.sending_ms)) })),
    { what: "each task on any node", ms: bounds.anywhere.ms, by: bounds.anywhere.bound },
  ];
  const longest = most(rows, r => r.ms) || 1, unit = timeUnit(1e6 * longest);
  addTable(section, [
    texts("", r => r.what),
    numbers(unit.name, r => r.ms === null ? NaN : 1e6 * r.ms / unit.size, ",.3f"),
    { title: "", value: r => r.ms, show: (r, cell) =>
      drawBar(cell, [[(r.ms || 0) / longest, r === rows[0] ? "var(--mid)" : "var(--ink)"]]) },
    numbers("of this run", r => r.ms === null ? NaN : r.ms / bounds.makespan_ms, ".1%"),
    texts("by", r => r.by),
  ], rows);
  section.append("p").text(bounds.words);
  addSource(section, "From orrery bound.");
}

function addBounds() {
  const bounds = run.bounds;
  if (!bounds) return;
  if (bounds.ranks) return addRankBounds(bounds);
  const section = addSection("Bounds: what no scheduler can beat");
  const made = { name: "this run", ms: bounds.makespan_ms, outcome: "",
    ignores: "", limited_by: "" };
  const most = d3.max([made, ...bounds.bounds], b => b.ms) || 1;
  const unit = timeUnit(1e6 * most);
  addTable(section, [
    texts("bound", r => r.name),
    numbers(unit.name, r => r.ms === null ? NaN : 1e6 * r.ms / unit.size, ",.3f"),
    { title: "", value: r => r.ms, show: (r, cell) =>
      drawBar(cell, [[(r.ms || 0) / most, r === made ? "var(--mid)" : "var(--ink)"]]) },
    numbers("of this run", r => r.ms === null ? NaN : r.ms / bounds.makespan_ms, ".1%"),
    texts("proved", r => r === made ? "" : r.proved ? "yes" : r.why || r.outcome),
    texts("ignores", r => r.ignores), texts("limited by", r => r.limited_by),
  ], [made, ...bounds.bounds]);
  addSource(section, `From orrery bound: ${bounds.notes.join("; ")}.`);
}

// What a sweep has tried: values by name, or texts.
function settingText(setting) {
  return typeof setting !== "object" || setting === null ? String(setting)
    : Object.entries(setting).map(([name, value]) =>
      Array.isArray(setting) ? settingText(value) : `${name} ${settingText(value)}`)
      .join(", ");
}

// Of the reports that compare prints: what a sweep tried, and simple values that
// differ from row to row.
function comparisonColumns(rows) {
  const fixed = ["machine", "scheduler", "makespan_us", "gflops", "transfers",
    "transferred_bytes", "evictions"];
  const differ = key => new Set(rows.map(r => r[key])).size > 1;
  const simple = key => rows.every(r => r[key] === undefined || r[key] === null ||
    typeof r[key] !== "object");
  const others = [...new Set(rows.flatMap(Object.keys))].filter(key =>
    !fixed.includes(key) && !["wall_s", "modelled_us", "exit", "scheduler_asked",
      "host"].includes(key) && simple(key) && differ(key));
  const tried = rows.some(r => settingText(r.settings ?? "") !== "")
    ? [texts("tried", r => settingText(r.settings ?? ""))] : [];
  return tried.concat(others.map(key => typeof rows.find(r => r[key] !== undefined)[key] === "number"
    ? numbers(key.replace(/_/g, " "), r => r[key], ",.6~f")
    : texts(key.replace(/_/g, " "), r => r[key])));
}

function addComparisons() {
  for (const { file, rows } of run.comparisons ?? []) {
    const section = addSection("Comparison");
    const most = d3.max(rows, r => r.makespan_us) || 1, unit = timeUnit(1e3 * most);
    addTable(section, [
      texts("machine", r => r.machine), texts("scheduler", r => r.scheduler),
      ...comparisonColumns(rows),
      numbers(`makespan ${unit.name}`, r => 1e3 * r.makespan_us / unit.size, ",.3f"),
      { title: "", value: r => r.makespan_us, show: (r, cell) => r.makespan_us
        ? drawBar(cell, [[r.makespan_us / most, "var(--soft)"]]) : cell.text(r.error) },
      numbers("GFlop/s", r => r.gflops, ",.1f"),
      numbers("copies", r => r.transfers, ","),
      numbers("copied", r => r.transferred_bytes, bytesText),
      numbers("evictions", r => r.evictions, ","),
    ], rows);
    addSource(section, `From orrery compare, ${file}.`);
  }
}

function addMachine() {
  if (!run.picture) return;
  const section = addSection("The machine");
  // An image cannot run anything, whatever its texts are.
  section.append("img").attr("alt", "memories, devices and links")
    .style("max-width", "100%")
    .attr("src", "data:image/svg+xml;charset=utf-8," + encodeURIComponent(run.picture));
  addSource(section, "From orrery machine show.");
}

function addOrigins() {
  const made = run.run ?? {}, section = addSection("Where the values come from");
  const rows = [["command", run.command], ["machine", made.machine &&
    `${made.machine}, ${made.simulated ? "simulated" : "real"}`],
    ["the machine's figures", made.provenance], ["models of", made.host],
    ["scheduler", made.scheduler],
    ["times of tasks", made.figures?.map(f => `${percent(f.share)} ${f.origin}${
      f.off_by ? `, off by up to ${percent(f.off_by)}` : ""}`).join("; ")],
    ["assumed", made.assumptions?.map(a => a.text + (a.used ? "" : " (not used)"))
      .join("; ")],
    ["what if", made.edits?.map(e => e.echo || e.edit).join("; ")],
    ["not to be trusted", made.untrusted?.map(u => u.symbol || u.model ||
      JSON.stringify(u)).join("; ")],
    ["trace", `${number(tasks.n)} tasks, ${number(copies.n)} copies${run.dropped
      ? `; ${number(run.dropped)} events found no memory` : ""}`],
    ["Orrery", run.version]].filter(([, text]) => text);
  const list = section.append("dl");
  for (const [term, text] of rows) {
    list.append("dt").text(term);
    list.append("dd").text(text);
  }
}
