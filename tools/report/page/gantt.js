// gantt.js - what each worker and link did over time, on a canvas: of a hundred
// thousand boxes only those are drawn that a pixel can show.

const gantt = (() => {
  const canvas = document.getElementById("gantt");
  const ctx = canvas.getContext("2d");
  const axisHeight = 22, mostLinks = 24, mostWorkers = 128;
  let rows = [], height = 0, fill = null;

  // The boxes of a row, each of an event or of a part of it. The greatest end up to
  // each: where to begin is found by it.
  function makeRow(label, events, indices, starts = indices.map(i => events.start[i]),
    stops = indices.map(i => events.end[i])) {
    let latest = -1;
    const ends = stops.map(end => (latest = Math.max(latest, end)));
    return { label, events, indices, starts, stops, ends };
  }

  // Those boxes of a row, by their places.
  function somePlaces(row, places) {
    return makeRow(row.label, row.events, places.map(at => row.indices[at]),
      places.map(at => row.starts[at]), places.map(at => row.stops[at]));
  }

  // A task has a box for each time that its kernel went on after a wait: another
  // task may have run on its worker meanwhile.
  function taskRow(label, list) {
    const boxes = list.flatMap(i => {
      const parts = [];
      let from = tasks.start[i];
      for (const [start, end] of waitsOf.get(i) ?? []) {
        parts.push([from, start, i]);
        from = end;
      }
      return [...parts, [from, tasks.end[i], i]];
    });
    if (boxes.length > list.length) boxes.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    return makeRow(label, tasks, boxes.map(b => b[2]), boxes.map(b => b[0]),
      boxes.map(b => b[1]));
  }

  function workerRows() {
    const lists = run.workers.map(() => []), beside = run.workers.map(() => []);
    for (let i = 0; i < tasks.n; i++) lists[tasks.worker[i]].push(i);
    for (let i = 0; i < states.n; i++) beside[states.worker[i]].push(i);
    const stolen = run.workers.map(() => []);
    for (let i = 0; i < steals.n; i++) stolen[steals.thief[i]].push(steals.time[i]);
    const made = lists.map((list, w) => {
      const row = taskRow(run.workers[w].name, list);
      row.states = makeRow(row.label, states, beside[w]);
      row.steals = stolen[w];
      return row;
    }).filter(row => row.indices.length);
    const idle = run.workers.length - made.length;
    if (run.ranks && made.length > mostWorkers) return rankRows(made);
    if (idle) made.push(makeRow(`${idle} idle`, tasks, []));
    return made;
  }

  // Of more workers than have room a row has those of a rank, or of as many ranks as are one
  // place of the matrix: how many of them execute what.
  function rankRows(rowsOfWorkers) {
    const size = run.ranks.ranks_per_row, groups = new Map();
    for (const row of rowsOfWorkers) {
      const rank = Math.floor(Number(row.label.match(/^rank (\d+)/)[1]) / size);
      if (!groups.has(rank)) groups.set(rank, []);
      groups.get(rank).push(row);
    }
    return [...groups.entries()].map(([rank, members]) => {
      const boxes = members.flatMap(row => row.indices.map((i, at) =>
        [row.starts[at], row.stops[at], i])).sort((a, b) => a[0] - b[0] || a[2] - b[2]);
      const label = size === 1 ? `rank ${rank}` : `ranks ${rank * size}-${
        Math.min((rank + 1) * size, run.ranks.ranks.length) - 1}`;
      const row = makeRow(`${members.length} \u00d7 ${label}`, tasks, boxes.map(b => b[2]),
        boxes.map(b => b[0]), boxes.map(b => b[1]));
      row.workers = members.length;
      return row;
    });
  }

  function linkRows() {
    const lists = new Map();
    for (let i = 0; i < copies.n; i++) {
      const key = copies.from[i] * run.nodes + copies.to[i];
      if (!lists.has(key)) lists.set(key, []);
      lists.get(key).push(i);
    }
    const short = n => nodeNames[n].replace("main memory", "main").replace(/ (?=\d)/, "");
    const label = key => `${short(Math.floor(key / run.nodes))} \u2192 ${
      short(key % run.nodes)}`;
    const inOrder = list => list.sort((a, b) => copies.start[a] - copies.start[b]);
    const bytes = ([, list]) => d3.sum(list, i => copies.bytes[i]);
    const all = [...lists.entries()].sort((a, b) => bytes(b) - bytes(a));
    const rest = all.splice(mostLinks).flatMap(([, list]) => list);
    const made = all.sort((a, b) => a[0] - b[0]).map(([key, list]) =>
      makeRow(label(key), copies, inOrder(list)));
    if (rest.length)
      made.push(makeRow(`${lists.size - mostLinks} others`, copies, inOrder(rest)));
    return made;
  }

  const workers = workerRows(), links = linkRows();

  function layout() {
    rows = view.links ? workers.concat(links) : workers;
    const each = Math.max(5, Math.min(20, Math.floor(640 / rows.length)));
    let y = axisHeight;
    for (const row of rows) {
      if (row === links[0]) y += 6;
      row.y = y;
      row.height = row.indices.length ? each : Math.max(each, 11);
      y += row.height;
    }
    height = y + 4;
    const ratio = window.devicePixelRatio || 1;
    canvas.style.height = height + "px";
    canvas.width = Math.round(canvas.clientWidth * ratio);
    canvas.height = Math.round(height * ratio);
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  }

  // Calls paint(i, x, width) for the boxes of a row that are in sight and not
  // hidden by the one drawn before.
  function eachBox(row, paint) {
    const [from, to] = view.scale.domain();
    let drawn = -1;
    for (let at = d3.bisectLeft(row.ends, from); at < row.starts.length; at++) {
      const i = row.indices[at];
      if (row.starts[at] > to) break;
      const right = Math.min(view.right, view.scale(row.stops[at]));
      if (right - drawn < 0.4) continue;
      const left = Math.max(view.left, view.scale(row.starts[at]), drawn);
      if (right < view.left) continue;
      drawn = right;
      paint(i, left, Math.max(right - left, 0.6));
    }
  }

  // Most boxes have the colour of the one before; to set it again takes longer.
  function setFill(colour) {
    if (colour !== fill) ctx.fillStyle = fill = colour;
  }

  function paintTask(row, i, x, width) {
    const kernel = kernels[tasks.name[i]];
    const hidden = view.hidden.has(kernel.number);
    setFill(hidden ? shades.faint : kernel.colour);
    ctx.fillRect(x, row.y + 1, width > 3 ? width - 0.5 : width, row.height - 1.5);
    if (hidden || width < 34 || row.height < 12) return;
    ctx.save();
    ctx.beginPath();
    ctx.rect(x, row.y, width - 2, row.height);
    ctx.clip();
    ctx.fillStyle = kernel.ink; // until restore
    ctx.fillText(kernel.name, x + 3, row.y + row.height / 2);
    ctx.restore();
  }

  // Each column of pixels of a row of several workers: by kernel, what share of them.
  function paintShares(row) {
    const [from, to] = view.scale.domain(), left = Math.ceil(view.left);
    const n = Math.max(0, Math.floor(view.right) - left), shares = new Map();
    for (let at = d3.bisectLeft(row.ends, from); at < row.starts.length; at++) {
      if (row.starts[at] > to) break;
      const kernel = kernels[tasks.name[row.indices[at]]];
      const begin = view.scale(row.starts[at]) - left, end = view.scale(row.stops[at]) - left;
      if (!shares.has(kernel)) shares.set(kernel, new Float32Array(n));
      const of = shares.get(kernel);
      for (let x = Math.max(0, Math.floor(begin)); x < Math.min(n, end); x++)
        of[x] += Math.max(0, Math.min(end, x + 1) - Math.max(begin, x));
    }
    const used = new Float32Array(n), high = row.height - 1;
    for (const [kernel, of] of shares) {
      setFill(view.hidden.has(kernel.number) ? shades.faint : kernel.colour);
      for (let x = 0; x < n; x++) {
        if (of[x] <= 0) continue;
        const height = high * Math.min(1, of[x] / row.workers);
        used[x] += height;
        ctx.fillRect(left + x, row.y + high - used[x], 1, height);
      }
    }
  }

  function paintCopy(row, i, x, width) {
    setFill(shades.soft);
    ctx.fillRect(x, row.y + row.height * 0.25, width, row.height * 0.5);
  }

  // A band at the foot of the row, and no box: nothing is computed.
  function paintState(row, i, x, width) {
    setFill(stateOf.get(states.kind[i]).colour);
    ctx.fillRect(x, row.y + row.height * 0.7, width, row.height * 0.3 - 0.5);
  }

  // A wedge where the worker took a task from another one's queue.
  function paintSteals(row) {
    const [from, to] = view.scale.domain(), half = Math.min(3, row.height / 4);
    let free = view.left;
    ctx.fillStyle = shades.ink;
    ctx.strokeStyle = shades.paper;
    ctx.lineWidth = 1;
    for (let at = d3.bisectLeft(row.steals, from);
      at < row.steals.length && row.steals[at] <= to; at++) {
      const x = view.scale(row.steals[at]);
      if (x < free) continue;
      free = x + 1.5;
      ctx.beginPath();
      ctx.moveTo(x - half, row.y + 0.5);
      ctx.lineTo(x + half, row.y + 0.5);
      ctx.lineTo(x, row.y + 0.5 + 1.6 * half);
      ctx.closePath();
      ctx.stroke();
      ctx.fill();
      view.wedges++;
    }
  }

  // A frame around tasks that were searched for, or are on the critical path.
  function emphasise(row, chosen) {
    eachBox({ ...row, ...row.chosenBy(chosen) }, (i, x, width) => {
      const kernel = kernels[tasks.name[i]];
      ctx.fillStyle = kernel.colour;
      ctx.fillRect(x, row.y + 1, width, row.height - 1.5);
      ctx.strokeStyle = shades.ink;
      ctx.lineWidth = 1.5;
      ctx.strokeRect(x, row.y + 0.75, Math.max(width, 1), row.height - 1.5);
    });
  }

  for (const row of workers) {
    let last, found;
    row.chosenBy = chosen => {
      if (last !== chosen) {
        const set = new Set(chosen);
        last = chosen;
        found = somePlaces(row, d3.range(row.indices.length)
          .filter(at => set.has(row.indices[at])));
      }
      const { indices, starts, stops, ends } = found;
      return { indices, starts, stops, ends };
    };
  }

  function drawLabels() {
    ctx.globalAlpha = 1;
    ctx.fillStyle = shades.paper;
    ctx.fillRect(0, axisHeight, view.left, height);
    ctx.fillStyle = shades.ink;
    ctx.textBaseline = "middle";
    ctx.textAlign = "right";
    // Where there is no room for all, that of what is folded stays.
    const taken = [], folded = row => row.indices.length === 0;
    for (const row of rows.filter(folded).concat(rows.filter(row => !folded(row)))) {
      const y = row.y + row.height / 2;
      if (taken.some(at => Math.abs(at - y) < 11)) continue;
      taken.push(y);
      ctx.fillText(row.label, view.left - 6, y, view.left - 8);
    }
    ctx.textAlign = "left";
  }

  function drawAxis() {
    const unit = timeUnit(view.scale.domain()[1]);
    const ticks = view.scale.copy().domain(view.scale.domain().map(t => t / unit.size));
    ctx.strokeStyle = shades.line;
    ctx.lineWidth = 1;
    ctx.fillStyle = shades.ink;
    ctx.textAlign = "center";
    const form = ticks.tickFormat(view.ticks());
    for (const t of ticks.ticks(view.ticks())) {
      const x = Math.round(ticks(t)) + 0.5;
      ctx.beginPath();
      ctx.moveTo(x, axisHeight - 4);
      ctx.lineTo(x, height);
      ctx.stroke();
      ctx.fillText(`${form(t)} ${unit.name}`, x, axisHeight / 2 - 1);
    }
    ctx.textAlign = "left";
  }

  // Marks of the application: a dashed line each, and its text where there is room.
  function drawMarks() {
    ctx.strokeStyle = ctx.fillStyle = shades.ink;
    ctx.setLineDash([4, 3]);
    let free = view.left;
    for (const { time, text } of run.marks) {
      const x = Math.round(view.scale(time)) + 0.5;
      if (x < view.left || x > view.right) continue;
      ctx.beginPath();
      ctx.moveTo(x, axisHeight - 8);
      ctx.lineTo(x, height);
      ctx.stroke();
      if (x < free) continue;
      ctx.fillText(text, x + 2, axisHeight - 4);
      free = x + 8 + ctx.measureText(text).width;
    }
    ctx.setLineDash([]);
  }

  function draw() {
    const chosen = view.matches || view.path;
    ctx.clearRect(0, 0, canvas.clientWidth, height);
    ctx.font = "11px system-ui, sans-serif";
    ctx.textBaseline = "middle";
    drawAxis();
    ctx.globalAlpha = chosen ? 0.25 : 1;
    fill = null;
    for (const row of rows)
      if (row.states && view.states)
        eachBox(row.states, (i, x, width) => paintState(row, i, x, width));
    for (const row of rows)
      if (row.workers) paintShares(row);
      else eachBox(row, (i, x, width) =>
        (row.events === tasks ? paintTask : paintCopy)(row, i, x, width));
    view.wedges = 0;
    if (view.steals) for (const row of rows) if (row.steals) paintSteals(row);
    ctx.globalAlpha = 1;
    if (chosen) for (const row of rows)
      if (row.chosenBy) emphasise(row, chosen);
    drawMarks();
    drawLabels();
  }

  // The task, state or copy at a place of the canvas, or null.
  function find(x, y) {
    const row = rows.find(r => y >= r.y && y < r.y + r.height);
    if (!row || x < view.left) return null;
    return nearestTo(row, x) ??
      (row.states && view.states ? nearestTo(row.states, x) : null);
  }

  function nearestTo(row, x) {
    const time = view.scale.invert(x), slack = view.scale.invert(x + 2) - time;
    let best = null, nearest = slack;
    for (let at = d3.bisectLeft(row.ends, time - slack);
      at < row.starts.length && row.starts[at] <= time + slack; at++) {
      const i = row.indices[at];
      const away = Math.max(row.starts[at] - time, time - row.stops[at], 0);
      if (away <= nearest) {
        nearest = away;
        best = { row, events: row.events, i };
      }
    }
    return best;
  }

  // Where a row begins.
  const top = row => rows[row].y;

  return { canvas, layout, draw, find, top };
})();
