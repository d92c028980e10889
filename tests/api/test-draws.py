#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Machines that the errors of figures allow (compare --draws): which figures of links
and costs are off, for whom alike, and what that does to intervals. TAP.

usage: test-draws.py ORRERY BUSY MACHINE

BUSY is the program of busy.c, MACHINE is gpus.xml, which is copied under other names
with other words about where its figures come from.
"""

import json
import os
import re
import sys

from busy_models import Busy
from programs import run_all, test

if len(sys.argv) != 4:
    sys.exit(__doc__.strip())
ORRERY, BUSY, MACHINE = sys.argv[1:]
RUN = Busy(ORRERY, BUSY, MACHINE)
FOLDER = RUN.programs.folder()
with open(MACHINE, encoding="ascii") as source:
    TEXT = source.read()
DRAWS = 40


def machine(name, text):
    path = os.path.join(FOLDER, name + ".xml")
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    return path


def stated(main="", link=""):
    """The machine with properties of MAIN, and of each link."""
    text = TEXT.replace('<host id="MAIN" speed="1f"/>',
                        '<host id="MAIN" speed="1f">%s</host>' % main)
    return text.replace(' latency="10us"/>', ' latency="10us">%s</link>' % link)


def prop(name, value):
    return '<prop id="%s" value="%s"/>' % (name, value)


DERIVED = machine("moon", stated(prop("orrery-provenance", "derived")))
LIKE = machine("luna", stated(prop("orrery-provenance", "derived")))


def rows(machines, us, size=200000, *more, draws=DRAWS, policy="eager"):
    """Kernels of that length on GPUs, data of that size; no noise of kernels."""
    ended = RUN.orrery("compare", "-m", ",".join(machines), "-s", policy, "--draws",
                       str(draws), "--noise", "0", "--across", "--json", "--assume",
                       "busy_* on cuda = %gus" % us, *more, "--", BUSY, "-size",
                       str(size), STARPU_NCPU="0")
    ended.has_status(0)
    return json.loads(ended.out)


def spread(row):
    return max(row["runs_us"]) / min(row["runs_us"])


@test
def bandwidths_and_latencies_widen_what_waits_for_transfers_alone():
    of_links = rows([DERIVED], 1)[0]
    of_kernels = rows([DERIVED], 20000)[0]
    assert spread(of_links) > 1.3, of_links["runs_us"]
    assert spread(of_kernels) < 1.02, of_kernels["runs_us"]


@test
def what_is_drawn_is_listed_with_its_error_and_lies_within_it_as_often_as_stated():
    within = total = 0
    for draw in range(1, DRAWS + 1):
        said = RUN.report("--assume", "busy_* = 1us", ORRERY_SIM_DRAW=str(draw),
                          ORRERY_MACHINE=None, size=100, **{"folder": None})
        assert said["draw"] == draw
        for one in said["drawn"]:
            total += 1
            within += abs(one["factor"] - 1) and (
                1 / (1 + one["off_by"]) < one["factor"] < 1 + one["off_by"])
    assert total and 0.8 < within / total < 0.97, (within, total)


@test
def machines_that_share_a_figure_are_off_alike_in_each_draw():
    one, other = rows([DERIVED, LIKE], 1)
    assert one["runs_us"] == other["runs_us"]
    assert one["first_share"] == other["first_share"] == 0.5, one


@test
def parts_of_another_figure_are_off_on_their_own():
    faster = machine("sun", stated(prop("orrery-provenance", "derived")).replace(
        '"10GBps"', '"11GBps"').replace('"5GBps"', '"5.5GBps"').replace(
            '"12GBps"', '"13GBps"'))
    one, other = rows([DERIVED, faster], 1)
    assert 0 < one["first_share"] < other["first_share"] < 1, one["first_share"]


@test
def the_interval_is_of_the_draws_and_no_narrower_with_more_of_them():
    row = rows([DERIVED], 1)[0]
    low, high = row["interval_us"]
    inside = sum(low <= us <= high for us in row["runs_us"]) / DRAWS
    assert 0.9 <= inside < 1, (low, high, sorted(row["runs_us"]))


@test
def the_same_draws_come_again():
    assert [row["runs_us"] for row in rows([DERIVED], 1, draws=3)] == [
        row["runs_us"] for row in rows([DERIVED], 1, draws=3)]


@test
def a_measured_link_is_off_by_its_spread_alone():
    costs = "".join(prop("orrery-cost-" + name, "1") for name in (
        "submit", "submit-per-buffer", "push", "fetch", "device-alloc", "device-free",
        "pinned-alloc-per-mib", "first-use-per-mib", "device-first-use-per-mib", "kernel-queue", "copy-queue", "progress", "wake"))

    def of(**text):
        return machine("measured", stated(
            prop("orrery-provenance", "measured") + costs, **text))

    sure = rows([of()], 1)[0]
    wide = rows([of(link=prop("orrery-spread", "0.4"))], 1)[0]
    figures = {one["figure"]: one for one in wide["drawn"]}
    assert spread(sure) == 1 and sure["drawn"] == [], sure["drawn"]
    assert spread(wide) > 1.2, wide["runs_us"]
    assert figures["pcie bandwidth 10 GB/s"]["off_by"] == 0.4, figures
    assert figures["pcie bandwidth 10 GB/s"]["measured"], figures
    assert not any("latency" in name for name in figures), figures


@test
def costs_that_are_given_and_what_the_user_sets_are_not_drawn():
    given = machine("given", stated(
        prop("orrery-provenance", "derived") + prop("orrery-cost-push", "2")))
    drawn = {one["figure"] for one in rows([given], 1, draws=2)[0]["drawn"]}
    assert "cost submit 1 us" in drawn and not any("push" in one for one in drawn)
    edited = {one["figure"] for one in rows(
        [DERIVED], 1, 1000, "--set", "pcie.bandwidth = 10GBps", "--set",
        "cost[push] = 1us", "--set", "pcie.latency *= 2", draws=2)[0]["drawn"]}
    assert not any("pcie bandwidth" in one or "push" in one for one in edited), edited
    assert "pcie latency 10 us" in edited and "cost submit 1 us" in edited, edited


@test
def a_figure_that_is_scaled_is_off_as_it_was():
    plain, scaled = (rows([DERIVED], 1, 1000000, "--set", "bus.bandwidth *= %g" % factor,
                          "--set", "bus.latency = 0us", "--set", "cost = 0us")[0]
                     for factor in (1, 2))
    ratios = [a / b for a, b in zip(plain["runs_us"], scaled["runs_us"])]
    # But where a task goes to another device.
    assert sum(abs(ratio - 2) < 0.01 for ratio in ratios) > DRAWS / 2, ratios


@test
def a_link_whose_rate_has_no_unit_is_named():
    path = machine("unitless", TEXT.replace('"10GBps"', '"100"').replace(
        'latency="20us"', 'latency="20e-6"'))
    ended = RUN.orrery("machine", "show", path)
    ended.has_status(0)
    ended.says('line 32: bandwidth="100" of link "RAM-CUDA0" is taken for 100Bps',
               "neither have 5 others")
    assert "no unit" not in RUN.orrery("machine", "show", MACHINE).err


@test
def kinds_of_links_are_told_by_what_they_join():
    """Of a machine of the catalogue: sockets, slots, NVLink."""
    row = rows(["hgx-h100-8"], 1, draws=2)[0]
    path = os.path.join(os.environ["ORRERY_PLATFORM_DIR"], "hgx-h100-8", "platform.xml")
    with open(path, encoding="utf-8") as file:
        links = re.findall('<link id="([A-Za-z]+)[^"]*" bandwidth="([0-9.]+)MBps"',
                           file.read())
    kind_of = {"UPI": "membus", "Host": "membus", "PCIe": "pcie", "NVLink": "nvlink"}
    assert {name for name, _ in links} == set(kind_of), links
    drawn = {one["figure"] for one in row["drawn"]}
    for name, mbps in links:
        figure = "%s bandwidth %.4g GB/s" % (kind_of[name], float(mbps) / 1000)
        assert figure in drawn, (figure, drawn)


@test
def the_table_says_what_was_drawn():
    ended = RUN.orrery("compare", "-m", DERIVED, "-s", "eager,dmda", "--draws", "3",
                       "--assume", "busy_* = 1us", "--", BUSY)
    ended.has_status(0)
    for words in ("drawn as well, alike for all rows, on ",
                  "9 of 10 draws", "  membus bandwidth 12 GB/s, pcie bandwidth 10 GB/s, ",
                  "disk bandwidth 0.5 GB/s: not measured, off by up to 30 % in 9 of 10",
                  "  cost submit 1 us, cost push 1 us, ",
                  "cost progress 1 us: not measured, off by a factor of up to 3 in 9"):
        assert words in ended.out, (words, ended.out)
    ended = RUN.simulate("--assume", "busy_* = 1us", ORRERY_SIM_DRAW="3")
    ended.has_status(0)
    assert "drawn       machine 3 of those that errors allow" in ended.out, ended.out


if __name__ == "__main__":
    sys.exit(run_all(2))
