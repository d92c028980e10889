// report_driver.js - what a reader does with a page of `orrery report`, for
// test-report.py, which appends it to the page. It notes what happened in an
// element that the browser prints with the page.
{
  const noted = {};
  const frame = () => new Promise(done =>
    requestAnimationFrame(() => requestAnimationFrame(done)));
  const span = () => view.scale.domain();
  const shown = () => byId("status").textContent;

  // Boxes that the chart paints in one go, and how long that takes, ms.
  const paint = () => {
    const ctx = gantt.canvas.getContext("2d"), plain = ctx.fillRect;
    let boxes = 0;
    ctx.fillRect = (...box) => { boxes++; plain.apply(ctx, box); };
    const begin = performance.now();
    gantt.draw();
    ctx.getImageData(0, 0, 1, 1); // not before all is painted
    const took = performance.now() - begin;
    delete ctx.fillRect;
    return { boxes, took };
  };

  // What stands beside and above the chart.
  const labels = () => {
    const ctx = gantt.canvas.getContext("2d"), plain = ctx.fillText, texts = [];
    ctx.fillText = (text, ...at) => { texts.push(text); plain.call(ctx, text, ...at); };
    gantt.draw();
    delete ctx.fillText;
    return texts;
  };

  // Pairs of texts of one axis that stand on each other, or nearly so; and of the chart's.
  const meeting = () => {
    const pairs = [];
    for (const axis of document.querySelectorAll("#curves svg g")) {
      const ticks = [...axis.querySelectorAll(":scope > .tick text")];
      ticks.forEach((tick, i) => {
        const a = tick.getBoundingClientRect(), b = ticks[i + 1]?.getBoundingClientRect();
        if (b && a.right + 2 > b.left && a.left < b.right + 2 && a.bottom > b.top + 2 &&
            a.top + 2 < b.bottom)
          pairs.push(`${tick.textContent} ${ticks[i + 1].textContent}`);
      });
    }
    const ctx = gantt.canvas.getContext("2d"), plain = ctx.fillText, ends = [];
    ctx.fillText = (text, x, y, ...more) => {
      const half = ctx.measureText(text).width / 2;
      if (ctx.textAlign === "center" && y < 12) {
        if (ends.length && x - half < ends[ends.length - 1] + 2) pairs.push(text);
        ends.push(x + half);
      }
      plain.call(ctx, text, x, y, ...more);
    };
    gantt.draw();
    delete ctx.fillText;
    return pairs;
  };

  // Texts of curves that the picture's edge cuts.
  const cut = () => [...document.querySelectorAll("#curves svg")].flatMap(svg =>
    [...svg.querySelectorAll(":scope > text")].filter(text =>
      text.getBoundingClientRect().right > svg.getBoundingClientRect().right + 1)
      .map(text => text.textContent));

  const wheel = by => gantt.canvas.dispatchEvent(new WheelEvent("wheel",
    { deltaY: by, clientX: 700, clientY: gantt.canvas.getBoundingClientRect().top + 40,
      bubbles: true, cancelable: true, view: window }));

  const drive = async () => {
    await frame();
    noted.title = document.title;
    noted.whole = span();
    noted.painted = paint();
    noted.labels = labels();
    for (let i = 0; i < 5; i++) wheel(-400);
    await frame();
    noted.zoomed = span();
    noted.paintedZoomed = paint();
    byId("all").click();
    await frame();
    noted.again = span();

    document.querySelector("#legend button").click();
    noted.filtered = shown();
    noted.pressed = document.querySelector("#legend button").getAttribute("aria-pressed");
    document.querySelector("#legend button").click();

    const search = byId("search");
    search.value = String(tasks.job[Math.floor(tasks.n / 2)]);
    search.dispatchEvent(new Event("input"));
    noted.found = shown();
    byId("next").click();
    await frame();
    noted.detail = byId("detail").textContent;
    noted.searched = span();
    noted.wanted = tasks.start[Math.floor(tasks.n / 2)];
    search.value = "no such thing";
    search.dispatchEvent(new Event("input"));
    noted.missed = shown();
    search.value = "";
    search.dispatchEvent(new Event("input"));
    byId("all").click();

    const count = text => {
      search.value = text;
      search.dispatchEvent(new Event("input"));
      return shown();
    };
    noted.tagged = count("0x1f");
    noted.looped = count("iteration 3");
    count("");
    noted.withStates = paint().boxes;
    byId("states").click();
    noted.withoutStates = paint().boxes;
    byId("states").click();
    if (run.waits.task.length) {
      const y = gantt.top(0) + 3;
      const at = time => gantt.find(view.scale(time), y);
      noted.described = describe(at(7000));
      noted.pointed = [7000, 20000, 50000, 35000].map(time => {
        const { events, i } = at(time);
        return run.names[events === tasks ? tasks.name[i] : states.kind[i]];
      });
    }

    if (steals.n) {
      const last = tasks.job.indexOf(steals.job[0]);
      noted.stolen = [describe({ events: tasks, i: last }).split("\n").pop(),
        (gantt.draw(), view.wedges)];
      byId("steals").click();
      noted.stolen.push((gantt.draw(), view.wedges));
    }
    if (!byId("path").disabled) byId("path").click();
    noted.path = view.path?.length ?? null;
    noted.sections = [...document.querySelectorAll("h2")].map(h => h.textContent);
    noted.rows = document.querySelectorAll("tbody tr").length;
    noted.titles = [...document.querySelectorAll("th")].map(h => h.textContent);
    noted.cells = [...document.querySelectorAll("td")].map(c => c.textContent)
      .filter(text => text.startsWith("cuda.count"));
    noted.meeting = meeting();
    document.body.style.width = "390px";
    window.dispatchEvent(new Event("resize"));
    await frame();
    await frame();
    noted.cut = cut();
    document.body.style.width = "";
    window.dispatchEvent(new Event("resize"));
    await frame();
    noted.colours = [...document.querySelectorAll("#legend button i")]
      .map(mark => getComputedStyle(mark).backgroundColor);
    noted.curves = document.querySelectorAll("#curves svg").length;
    noted.outside = performance.getEntriesByType("resource").map(r => r.name)
      .filter(name => !name.startsWith("data:"));
  };

  const tell = error => {
    if (error) noted.error = String(error.stack || error);
    noted.errors = window.errors;
    const element = document.createElement("pre");
    element.id = "noted";
    element.textContent = JSON.stringify(noted);
    document.body.append(element);
  };
  drive().then(() => tell(), tell);
}
