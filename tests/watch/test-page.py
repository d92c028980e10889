#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The page of `orrery watch` in Chromium: updates arrive, filters work, 100,000 tasks stay
usable, it fits 420 and 1,600 pixels, dark and light, and becomes the report. TAP.

usage: test-page.py ORRERY STEPS
"""
import os
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "api")]
from browser import Browser  # noqa: E402
from programs import Skip, run_all, test  # noqa: E402
from watch_util import Watched, environment  # noqa: E402

if len(sys.argv) != 3:
    sys.exit(__doc__.strip())
ORRERY, STEPS = map(os.path.abspath, sys.argv[1:3])
TOP = tempfile.TemporaryDirectory(prefix="orrery-test-")
ENV = environment(TOP.name)
MACHINE = "h100-pcie-4"


def both(*words, **settings):
    if not shutil.which("chromium"):
        raise Skip("there is no chromium")
    return (Watched(ORRERY, STEPS, TOP.name, *words, env=dict(ENV, **settings)),
            Browser(TOP.name))


def tile(name):
    return f"document.querySelector('#counts .{name} b')?.textContent"


def rows(table):
    return f"[...document.querySelectorAll('#{table} tbody tr')]"


def write(browser, field, text):
    browser.value(f"byId('{field}').value = {text!r}; "
                  f"byId('{field}').dispatchEvent(new Event('input')); 0")


def check_layout(browser):
    """Nothing is wider than the window, at any width and in either scheme, and text is told
    from what is behind it."""
    for pixels in (420, 1600):
        browser.width(pixels)
        for scheme in ("dark", "light"):
            browser.scheme(scheme)
            assert browser.value("document.documentElement.scrollWidth") <= pixels, pixels
            outside = browser.value(
                "[...document.querySelectorAll('h1, h2, form, #counts, .wide, canvas')]"
                ".filter(e => e.getBoundingClientRect().right > innerWidth + 1)"
                ".map(e => e.outerHTML.slice(0, 80))")
            assert outside == [], (pixels, outside)
            ink, paper = browser.value(
                "[getComputedStyle(document.body).color, "
                "getComputedStyle(document.body).backgroundColor].map(c => "
                "c.match(/\\d+/g).slice(0, 3).reduce((sum, x) => sum + Number(x), 0))")
            assert (ink > paper) == (scheme == "dark") and abs(ink - paper) > 400, \
                (scheme, ink, paper)
            lights = browser.value(
                "['waiting', 'ready', 'running', 'ended'].map(s => getComputedStyle("
                "document.querySelector('i.' + s)).backgroundColor)")
            assert len(set(lights)) == 4, lights


@test
def updates_arrive_and_states_and_graph_are_shown():
    run, browser = both("--no-report", "--links", "edit:{line}?{file}")
    with run, browser:
        browser.width(1600)
        browser.open(run.address)
        run.tell("gate 5")
        browser.until(tile("running") + " === '1' && " + tile("waiting") + " === '6'")
        assert browser.value("byId('program').textContent") == "watch-steps"
        worker = browser.value(rows("workers") + "[0].innerText")
        assert "gate #1" in worker, worker
        browser.until("document.querySelectorAll('#graph circle').length === 7")
        states = browser.value("[...document.querySelectorAll('#graph circle')]"
                               ".map(c => c.getAttribute('class')).sort()")
        assert states == ["running"] + 6 * ["waiting"], states
        assert browser.value("document.querySelectorAll('#graph line').length") == 6
        browser.until(rows("tasks") + ".length === 1")
        browser.value("byId('state').value = 'waiting'; "
                      "byId('state').dispatchEvent(new Event('input')); 0")
        browser.until(rows("tasks") + ".length === 6")
        write(browser, "find", "last")
        browser.until(rows("tasks") + ".length === 1 && byId('found').textContent === '1 tasks'")
        browser.value(rows("tasks") + "[0].querySelector('button').click(); 0")
        write(browser, "depth", "1")
        browser.until("document.querySelectorAll('#graph circle').length === 2 && "
                      "document.querySelectorAll('#graph circle.chosen').length === 1")
        # Where it was submitted: in the list, beside the graph, in its title, in the table.
        link = "edit:7?/no%20folder/last%20%26%20least.c"
        for place in ("#tasks tbody a", "#graph-note a", f"#lines tbody a[href='{link}']"):
            assert browser.value(
                f"(a => [a.textContent, a.title, a.getAttribute('href')])"
                f"(document.querySelector(\"{place}\"))") == \
                ["last & least.c:7", "/no folder/last & least.c:7", link], place
        assert browser.value("document.querySelector('#graph circle.chosen title').textContent"
                             ).endswith("submitted at /no folder/last & least.c:7")
        check_layout(browser)
        before = browser.value("view.updates")
        run.tell("on")
        run.tell("run 100")
        browser.until(tile("ended") + " === '107' && view.updates > %d" % before)
        browser.until(rows("kernels") + ".length === 4")
        assert browser.errors() == [], browser.errors()


@test
def filters_hide_workers_and_kernels():
    run, browser = both("-m", MACHINE, "-s", "lws", "--no-report", STARPU_NCPU="4")
    with run, browser:
        browser.open(run.address)
        run.tell("run 320")
        browser.until(tile("ended") + " === '320'")
        browser.until(rows("workers") + ".length === view.state.runs[0].workers.length")
        everyone = browser.value(rows("workers") + ".length")
        write(browser, "filter", "cpu 0")
        browser.until(rows("workers") + f".length < {everyone}")
        names = browser.value(rows("workers") + ".map(r => r.cells[0].textContent.toLowerCase())")
        assert names and all("cpu 0" in name for name in names), names
        assert browser.value("byId('workers-note').textContent") == \
            f"{len(names)} of {everyone} workers"
        write(browser, "filter", "work")
        browser.until(rows("kernels") + ".length === 1")
        write(browser, "filter", "no such thing")
        browser.until(rows("workers") + ".length === 0 && " + rows("kernels") + ".length === 0")
        write(browser, "filter", "")
        browser.until(rows("workers") + f".length === {everyone}")
        browser.value("byId('busy').click(); 0")
        browser.until(rows("workers") + ".length === 0")
        assert browser.errors() == [], browser.errors()


@test
def a_hundred_thousand_tasks_stay_usable():
    run, browser = both("-m", MACHINE, "-s", "eager", "--no-report")
    with run, browser:
        browser.open(run.address)
        run.tell("run 100000")
        browser.until(tile("ended") + " === '100,000'")
        browser.value("byId('state').value = 'ended'; "
                      "byId('state').dispatchEvent(new Event('input')); 0")
        browser.until(rows("tasks") + ".length === 50")
        assert "100,000 tasks" in browser.value("byId('found').textContent")
        browser.until("document.querySelectorAll('#graph circle').length > 0")
        assert browser.value("document.querySelectorAll('#graph circle').length") <= 300
        assert browser.value("document.querySelectorAll('*').length") < 5000
        write(browser, "around", "50000")
        browser.until("byId('graph-note').textContent.includes('around task 50000')")
        # What an update costs, whatever there is: frames are of 16 ms.
        took = browser.value("(() => { const begin = performance.now(); for (let i = 0; i < 20; "
                             "i++) draw(); return (performance.now() - begin) / 20; })()")
        print(f"# an update of 100,000 tasks takes {took:.1f} ms", flush=True)
        assert browser.errors() == [], browser.errors()


@test
def pausing_keeps_what_is_seen():
    run, browser = both("--no-report")
    with run, browser:
        browser.open(run.address)
        run.tell("run 10")
        browser.until(tile("ended") + " === '10'")
        browser.value("byId('pause').click(); 0")
        run.tell("run 10")
        browser.until("view.state.tasks.ended === 20")
        assert browser.value(tile("ended")) == "10"
        browser.value("byId('pause').click(); 0")
        browser.until(tile("ended") + " === '20'")


def check_report(browser):
    """The page of the report in either scheme, while it is open: text, chart and colours of
    kernels are told from what is behind them."""
    light = {}
    for scheme in ("dark", "light", "dark"):
        browser.scheme(scheme)
        dark = scheme == "dark"
        # The chart is drawn once more: behind its labels is the paper.
        browser.until("(pixel => (pixel[0] + pixel[1] + pixel[2] < 150) === %s)("
                      "gantt.canvas.getContext('2d').getImageData(1, 30, 1, 1).data)" %
                      str(dark).lower())
        ink, paper, kernel, line = browser.value(
            "[['body', 'color'], ['body', 'backgroundColor'], ['#legend i', 'backgroundColor'],"
            " ['#curves path[fill=none][stroke-width]', 'stroke']].map(([what, property]) => "
            "getComputedStyle(document.querySelector(what))[property].match(/\\d+/g)"
            ".slice(0, 3).reduce((sum, x) => sum + Number(x), 0))")
        assert (ink > paper) == dark and abs(ink - paper) > 400, (scheme, ink, paper)
        assert abs(kernel - paper) > 120, (scheme, kernel, paper)
        light[dark] = (kernel, line)
    assert light[True] != light[False], light
    assert browser.errors() == [], browser.errors()


@test
def at_the_end_it_becomes_the_report():
    run, browser = both("--plain", "-o", "page.html")
    with run, browser:
        browser.open(run.address)
        run.tell("run 100")
        browser.until(tile("ended") + " === '100'")
        run.process.stdin.close()
        run.process.stdin = None
        browser.until("location.pathname.endsWith('/report') && "
                      "document.title === 'watch-steps on this machine, for real' && "
                      "document.getElementById('summary').textContent.includes('100 tasks')")
        check_report(browser)
        status, _, err = run.end()
        assert status == 0, err
        assert "the report is page.html" in err, err


@test
def without_a_report_it_stays_and_says_so():
    run, browser = both("--no-report")
    with run, browser:
        browser.open(run.address)
        run.tell("run 10")
        browser.until(tile("ended") + " === '10'")
        run.process.stdin.close()
        run.process.stdin = None
        status, _, err = run.end()
        assert status == 0, err
        browser.until("byId('phase').textContent === "
                      "'the program has ended; there is no report'")
        assert browser.value(tile("ended")) == "10"


sys.exit(run_all())
