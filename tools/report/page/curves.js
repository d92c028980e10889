// curves.js - counts over time: ready tasks, memory, what links carry.

const curves = (() => {
  const most = 6; // lines in a picture; the rest is added up
  const dashes = ["", "7 2", "2 2", "9 2 2 2", "1 3", "14 3", "4 4"];

  // Values from changes, in order of time; equal times are one step.
  function steps(name, changes) {
    const time = [], value = [];
    let sum = 0;
    for (const [at, change] of changes) {
      sum += change;
      if (time.length && time[time.length - 1] === at) value[value.length - 1] = sum;
      else { time.push(at); value.push(sum); }
    }
    return { name, time, value, most: d3.max(value) || 0 };
  }

  function count(name, column) {
    const time = sums(column.time);
    return steps(name, Array.from(time, (at, i) => [at, column.change[i]]));
  }

  // One line for each of those with the largest weights, one for all others.
  function grouped(groups) {
    const sorted = [...groups.values()].sort((a, b) => b.weight - a.weight);
    const rest = sorted.splice(most);
    if (rest.length)
      sorted.push({ name: `${rest.length} others`,
        changes: rest.flatMap(g => g.changes) });
    return sorted.map(g => steps(g.name, g.changes.sort((a, b) => a[0] - b[0])));
  }

  function memory() {
    const groups = new Map(), time = sums(run.memory.time);
    run.memory.node.forEach((node, i) => {
      if (!groups.has(node))
        groups.set(node, { name: nodeNames[node], weight: 0, changes: [] });
      groups.get(node).weight += Math.abs(run.memory.change[i]);
      groups.get(node).changes.push([time[i], run.memory.change[i] / 2 ** 20]);
    });
    return grouped(groups);
  }

  // A copy carries its bytes evenly over its time; bytes per ns are GB/s.
  function bandwidth() {
    const groups = new Map();
    for (let i = 0; i < copies.n; i++) {
      const key = copies.from[i] * run.nodes + copies.to[i];
      if (!groups.has(key))
        groups.set(key, { weight: 0, changes: [], name:
          `${nodeNames[copies.from[i]]} \u2192 ${nodeNames[copies.to[i]]}` });
      if (!copies.length[i]) continue;
      const rate = copies.bytes[i] / copies.length[i];
      groups.get(key).weight += copies.bytes[i];
      groups.get(key).changes.push([copies.start[i], rate], [copies.end[i], -rate]);
    }
    return grouped(groups);
  }

  // Corners of the line in sight: of each column of pixels the first, the
  // lowest, the highest and the last value.
  function corners(line, y) {
    const [from, to] = view.scale.domain(), points = [];
    let at = Math.max(0, d3.bisectRight(line.time, from) - 1);
    let before = y(at > 0 || line.time[at] <= from ? line.value[at] : 0);
    points.push([view.left, before]);
    while (at < line.time.length && line.time[at] <= to) {
      const column = Math.floor(view.scale(line.time[at]));
      const x = Math.max(view.left, view.scale(line.time[at]));
      let low = before, high = before;
      points.push([x, before]);
      for (; at < line.time.length &&
        Math.floor(view.scale(line.time[at])) === column; at++) {
        before = y(line.value[at]);
        low = Math.min(low, before);
        high = Math.max(high, before);
      }
      points.push([x, low], [x, high], [x, before]);
    }
    points.push([view.right, before]);
    return points;
  }

  const space = 92, line = 14, bottom = 22; // of axes, a line of the legend, the foot

  function addPanel(title, unit, lines) {
    if (!lines.some(line => line.time.length)) return;
    const svg = d3.select("#curves").append("svg");
    const heading = svg.append("text").attr("x", view.left).attr("y", 11)
      .style("font-weight", "bold").text(`${title}, ${unit}`);
    const begin = view.left + heading.node().getComputedTextLength() + 18;
    const items = lines.map((of, i) => {
      const colour = () => seriesColour(i);
      const text = svg.append("text").text(of.name);
      return { text, width: 28 + text.node().getComputedTextLength(),
        mark: coloured(svg.append("line").attr("stroke-width", 2)
          .attr("stroke-dasharray", dashes[i]), "stroke", colour),
        path: coloured(svg.append("path").attr("fill", "none").attr("stroke-width", 1.3)
          .attr("stroke-dasharray", dashes[i]), "stroke", colour) };
    });
    const foot = svg.append("g"), axis = svg.append("g")
      .attr("transform", `translate(${view.left},0)`);
    const y = d3.scaleLinear().domain([0, d3.max(lines, l => l.most) || 1]);
    let arranged = null; // the right end for which the legend has its lines

    // What does not fit goes into a further line; the picture grows by it.
    function arrange() {
      let x = begin, down = 0;
      items.forEach(item => {
        if (x + item.width > view.right) {
          x = Math.max(0, Math.min(begin, view.right - item.width));
          down += line;
        }
        item.mark.attr("x1", x).attr("x2", x + 24).attr("y1", down + 7).attr("y2", down + 7);
        item.text.attr("x", x + 28).attr("y", down + 11);
        x += item.width + 16;
      });
      const height = down + space + bottom;
      y.range([height - bottom, down + line + 6]).nice(3);
      svg.attr("height", height);
      foot.attr("transform", `translate(0,${height - bottom})`);
      axis.call(d3.axisLeft(y).ticks(3));
      arranged = view.right;
    }

    const toMs = () => view.scale.copy()
      .domain(view.scale.domain().map(t => t / 1e6));
    addPicture(svg.node(), () => {
      if (arranged !== view.right) arrange();
      foot.call(d3.axisBottom(toMs()).ticks(view.ticks()));
      items.forEach((item, i) => item.path.attr("d", d3.line()(corners(lines[i], y))));
    }, false);
  }

  function add() {
    addPanel("tasks", "number", [count("ready", run.ready),
      count("submitted and not done", run.submitted)]);
    addPanel("memory", "MiB", memory());
    addPanel("links", "GB/s", bandwidth());
  }

  return { add };
})();
