// tables.js - tables that are sorted by a click; kernels with their distributions.

function addSection(title) {
  const section = d3.select("#sections").append("section");
  section.append("h2").text(title);
  return section;
}

function addSource(section, text) {
  section.append("p").attr("class", "source").text(text);
}

const mostRows = 24; // of a table, until all are asked for

// columns: {title, number, show(row, cell), value(row)}; value sorts, and is
// shown where there is no show.
function addTable(section, columns, rows) {
  const table = section.append("div").attr("class", "wide").append("table");
  const body = table.append("tbody");
  let sorted = null, shown = rows.length > mostRows + 4 ? mostRows : rows.length;
  const fill = () => {
    body.selectAll("tr").remove();
    for (const row of rows.slice(0, shown)) {
      const line = body.append("tr");
      for (const column of columns) {
        const cell = line.append("td").classed("number", !!column.number);
        if (column.show) column.show(row, cell);
        else cell.text(column.value(row) ?? "");
      }
    }
  };
  table.insert("thead", "tbody").append("tr").selectAll("th").data(columns).join("th")
    .classed("number", c => !!c.number).text(c => c.title)
    .on("click", column => {
      const back = sorted === column ? -1 : 1;
      rows.sort((a, b) => back * d3.ascending(column.value(a), column.value(b)));
      sorted = back > 0 ? column : null;
      fill();
    });
  fill();
  if (shown === rows.length) return;
  const more = section.append("button").attr("type", "button")
    .text(`all ${number(rows.length)} rows`);
  more.on("click", () => {
    shown = rows.length;
    more.remove();
    fill();
  });
}

// A column of numbers in a form of d3, or of a function.
function numbers(title, value, form) {
  const text = typeof form === "function" ? form : d3.format(form);
  return { title, number: true, value, show: (row, cell) => {
    const is = value(row);
    cell.text(is === null || is === undefined || Number.isNaN(is) ? "\u2013" : text(is));
  } };
}

function texts(title, value) {
  return { title, value };
}

// Bars side by side, [share, shade] each; all of it is `width` pixels. Returns the picture.
function drawBar(cell, parts, width = 200) {
  const svg = cell.append("svg").attr("width", width).attr("height", 12);
  let x = 0;
  for (const [share, shade, title] of parts) {
    svg.append("rect").attr("x", x).attr("width", Math.max(0, share * width))
      .attr("height", 12).style("fill", shade).append("title").text(title || "");
    x += share * width;
  }
  return svg;
}

function drawHistogram(cell, lengths) {
  const width = 150, height = 26, [least, most] = d3.extent(lengths);
  const svg = cell.append("svg").attr("width", width).attr("height", height);
  const x = d3.scaleLinear([least, most > least ? most : least + 1], [0, width - 1]);
  const bins = d3.histogram().domain(x.domain()).thresholds(x.ticks(30))(lengths);
  const y = d3.scaleLinear([0, d3.max(bins, b => b.length)], [0, height - 1]);
  for (const bin of bins)
    svg.append("rect").attr("x", x(bin.x0))
      .attr("width", Math.max(1.5, x(bin.x1) - x(bin.x0) - 0.5))
      .attr("y", height - y(bin.length)).attr("height", y(bin.length))
      .style("fill", "var(--soft)");
  svg.append("title").text(`${timeText(least)} to ${timeText(most)}`);
}

function kernelRows() {
  const groups = new Map();
  for (let i = 0; i < tasks.n; i++) {
    const kind = run.workers[tasks.worker[i]].kind;
    const key = tasks.name[i] + " " + kind;
    if (!groups.has(key))
      groups.set(key, { name: kernels[tasks.name[i]].name, kind, lengths: [] });
    groups.get(key).lengths.push(tasks.length[i]);
  }
  const rows = [...groups.values()];
  for (const row of rows) {
    row.lengths.sort(d3.ascending);
    row.total = d3.sum(row.lengths);
  }
  return rows.sort((a, b) => b.total - a.total);
}

// Lines of the program that submit tasks.
function addSources() {
  if (!run.sources.length) return;
  const rows = run.sources.map(source => ({ ...source, count: 0, total: 0, kernels: new Set() }));
  for (let i = 0; i < tasks.n; i++) {
    const row = rows[tasks.source[i]];
    if (!row) continue;
    row.count++;
    row.total += tasks.length[i];
    row.kernels.add(kernels[tasks.name[i]].name);
  }
  rows.sort((a, b) => b.total - a.total);
  const all = d3.sum(rows, r => r.total), unit = timeUnit(rows[0].total);
  addTable(addSection("Where tasks are submitted"), [
    { title: "line", value: r => r.text, show: (r, cell) =>
      r.link ? cell.append("a").attr("href", r.link).text(r.text) : cell.text(r.text) },
    texts("kernels", r => [...r.kernels].sort().join(", ")),
    numbers("tasks", r => r.count, ","),
    numbers(`total ${unit.name}`, r => r.total / unit.size, ",.3f"),
    numbers("share", r => r.total / all, ".1%"),
  ], rows);
}

function addKernels() {
  const section = addSection("Kernels"), rows = kernelRows();
  const all = d3.sum(rows, r => r.total);
  const quantile = q => row => d3.quantile(row.lengths, q) / 1e3;
  const unit = timeUnit(d3.max(rows, r => r.total));
  addTable(section, [
    texts("kernel", r => r.name), texts("on", r => r.kind),
    numbers("tasks", r => r.lengths.length, ","),
    numbers(`total ${unit.name}`, r => r.total / unit.size, ",.3f"),
    numbers("share", r => r.total / all, ".1%"),
    numbers("least \u00b5s", quantile(0), ",.3~f"),
    numbers("lower quartile", quantile(0.25), ",.3~f"),
    numbers("median", quantile(0.5), ",.3~f"),
    numbers("upper quartile", quantile(0.75), ",.3~f"),
    numbers("most", quantile(1), ",.3~f"),
    { title: "distribution", value: r => r.total,
      show: (r, cell) => drawHistogram(cell, r.lengths) },
  ], rows);
  addSource(section, "From the trace of this run.");
}

function addTimes() {
  const rows = run.run?.kernels;
  if (!rows?.length) return;
  const section = addSection("Times of kernels, and where they come from");
  addTable(section, [
    texts("kernel", r => r.name), texts("on", r => r.arch),
    texts("footprint", r => r.footprint),
    numbers("bytes", r => r.size, ","), numbers("tasks", r => r.count, ","),
    numbers("median \u00b5s", r => r.median_us, ",.3~f"),
    numbers("by its model", r => r.predicted_us, ",.3~f"),
    texts("from", r => r.origin),
    numbers("off by up to", r => r.off_by, ".1%"),
    numbers("outliers", r => r.aside_share, ".1%"),
  ], rows);
  addSource(section, "From the report of this run; the origin of a time is that of " +
    "the model that gave it.");
}

// Time in states beside tasks, of each worker or, of more than sixteen, of its kind.
function stateRows() {
  const fold = run.workers.length > 16, groups = new Map();
  run.workers.forEach((worker, w) => {
    const name = fold ? worker.kind : worker.name;
    if (!groups.has(name)) groups.set(name, { name, n: 0, tasks: 0, times: new Map() });
    groups.get(name).n++;
    worker.row = groups.get(name);
  });
  for (let i = 0; i < tasks.n; i++)
    run.workers[tasks.worker[i]].row.tasks += tasks.length[i] -
      d3.sum(waitsOf.get(i) ?? [], ([from, to]) => to - from);
  for (let i = 0; i < states.n; i++) {
    const { times } = run.workers[states.worker[i]].row, kind = states.kind[i];
    times.set(kind, (times.get(kind) ?? 0) + states.length[i]);
  }
  return [...groups.values()].map(row =>
    ({ ...row, name: fold ? `${row.n} \u00d7 ${row.name}` : row.name }));
}

function addStates() {
  if (!states.n) return;
  const section = addSection("What workers did beside tasks"), rows = stateRows();
  const time = kind => row => row.times.get(kind.number) ?? 0;
  const unit = timeUnit(d3.max(rows, r => Math.max(r.tasks, ...r.times.values())));
  addTable(section, [
    texts("worker", r => r.name),
    numbers(`tasks ${unit.name}`, r => r.tasks / unit.size, ",.3f"),
    ...stateKinds.map(kind => numbers(`${kind.name} ${unit.name}`,
      r => time(kind)(r) / unit.size, ",.3f")),
    { title: "tasks, then the states in this order", value: r => r.tasks,
      show: (r, cell) => drawBar(cell, [["tasks", r.tasks, "#000"],
        ...stateKinds.map(kind => [kind.name, time(kind)(r), kind.colour])].map(
        ([name, ns, shade]) => [ns / (run.end * r.n), shade, `${name} ${timeText(ns)}`])).attr("class", "greys") },
  ], rows);
  addSource(section, "From the trace of this run; what is left of its time a worker was " +
    "idle.");
}

// Who took tasks from whom; of more than sixteen workers, by their kinds.
function addSteals() {
  if (!steals.n) return;
  const fold = run.workers.length > 16, groups = new Map();
  const name = w => fold ? run.workers[w].kind : run.workers[w].name;
  for (let i = 0; i < steals.n; i++) {
    const thief = name(steals.thief[i]), victim = name(steals.victim[i]);
    const key = `${thief} ${victim}`;
    if (!groups.has(key)) groups.set(key, { thief, victim, count: 0 });
    groups.get(key).count++;
  }
  const section = addSection("Steals");
  addTable(section, [
    texts("taken by", r => r.thief), texts("from the queue of", r => r.victim),
    numbers("tasks", r => r.count, ","),
    numbers("share", r => r.count / steals.n, ".1%"),
  ], [...groups.values()].sort((a, b) => b.count - a.count));
  addSource(section, "From the trace of this run.");
}

function addLinks() {
  const groups = new Map();
  for (let i = 0; i < copies.n; i++) {
    const key = copies.from[i] * run.nodes + copies.to[i];
    if (!groups.has(key))
      groups.set(key, { from: nodeNames[copies.from[i]], to: nodeNames[copies.to[i]],
        copies: 0, bytes: 0, time: 0 });
    const row = groups.get(key);
    row.copies++;
    row.bytes += copies.bytes[i];
    row.time += copies.length[i];
  }
  if (!groups.size) return;
  const section = addSection("Copies");
  const unit = timeUnit(d3.max([...groups.values()], r => r.time));
  addTable(section, [
    texts("from", r => r.from), texts("to", r => r.to),
    numbers("copies", r => r.copies, ","),
    numbers("bytes", r => r.bytes, bytesText),
    numbers(`time of copies ${unit.name}`, r => r.time / unit.size, ",.3f"),
    numbers("GB/s of a copy", r => r.time ? r.bytes / r.time : NaN, ".3f"),
  ], [...groups.values()].sort((a, b) => b.bytes - a.bytes));
  addSource(section, "From the trace of this run.");
}
