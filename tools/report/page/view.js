// view.js - the span of time that all pictures show, and what is emphasised.

const view = {
  left: 112, right: 1, // pixels at which time begins and ends
  scale: d3.scaleLinear(), // from ns to pixels
  ticks() { // as many as their texts have room for
    return Math.max(2, Math.min(8, Math.floor((this.right - this.left) / 90)));
  },
  hidden: new Set(), // numbers of kernels
  matches: null, // indices of tasks that were searched for, in order
  path: null, // indices of tasks on the critical path
  links: true,
  states: true,
  steals: true,
  wedges: 0, // drawn for steals
};

const whole = d3.scaleLinear();
const zoom = d3.zoom().filter(() => !d3.event.button)
  .on("zoom", () => setTransform(d3.event.transform, d3.event.sourceEvent));
const pictures = []; // what redraws, each with the element that can be dragged

// Every picture is in the same state, whichever was moved.
function setTransform(transform) {
  view.scale = transform.rescaleX(whole);
  for (const picture of pictures) picture.element.__zoom = transform;
  redraw();
}

let waiting = false;
function redraw() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    for (const picture of pictures) picture.draw();
  });
}

function addPicture(element, draw, wheel) {
  pictures.push({ element, draw });
  const chosen = d3.select(element).call(zoom);
  if (!wheel) chosen.on("wheel.zoom", null); // the page scrolls
}

// Shows from one time to another, ns.
function showSpan(from, to) {
  const least = run.end / zoom.scaleExtent()[1];
  const middle = (from + to) / 2, half = Math.max(to - from, least) / 2;
  const k = Math.max(1, run.end / (2 * half));
  const x = whole(Math.max(0, middle - half));
  setTransform(d3.zoomIdentity.translate(view.left, 0).scale(k).translate(-x, 0));
}

function resize() {
  const width = document.getElementById("gantt").clientWidth;
  view.right = Math.max(view.left + 50, width - 12);
  whole.domain([0, Math.max(run.end, 1)]).range([view.left, view.right]);
  const box = [[view.left, 0], [view.right, 1]];
  zoom.scaleExtent([1, Math.max(10, run.end / 100)]).extent(box)
    .translateExtent(box);
  const transform = pictures.length ? pictures[0].element.__zoom : null;
  setTransform(transform || d3.zoomIdentity);
}
