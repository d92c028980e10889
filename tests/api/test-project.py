#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""`orrery perfmodel project`: models for a machine that one does not have, from
models written by hand, and what the commands make of them. TAP.

usage: test-project.py ORRERY BUSY MACHINE

BUSY is the program of busy.c, MACHINE is gpus.xml: four cores, three devices.
"""

import json
import os
import re
import socket
import sys

from busy_models import CPU, CUDA, KERNELS, SIZES, Busy, linear
from programs import run_all, test

if len(sys.argv) != 4:
    sys.exit(__doc__.strip())
ORRERY, BUSY, MACHINE = sys.argv[1:]
RUN = Busy(ORRERY, BUSY, MACHINE)
PROGRAMS = RUN.programs
orrery, simulate, report = RUN.orrery, RUN.simulate, RUN.report
models, model_text = RUN.models, RUN.model_text


def shares(said):
    return {part["origin"]: part for part in said["figures"]}


RATES = ("--peak", "cpu=10Gf,cuda=1Tf", "--bandwidth", "cpu=5GBps,cuda=500GBps",
         "--from-peak", "cpu=10Gf", "--from-bandwidth", "cpu=5GBps")


def projected(*words, folder=None):
    folder = folder or models({(CPU, 0): linear(*SIZES)}, host="home")
    ended = orrery("perfmodel", "project", "-m", MACHINE, "--host", "home",
                   *RATES, *words, folder=folder)
    return folder, ended


@test
def projected_models_are_used_by_each_command_and_said_to_be_derived():
    folder, ended = projected()
    ended.has_status(0)
    assert "4 models of gpus" in ended.out, ended.out
    said = report("-s", "dmda", folder=folder, size=1600)
    part = shares(said)["derived"]
    assert part["share"] == 1 and part["off_by"] > 0.4, said["figures"]
    means = {kernel["arch"]: kernel["mean_us"] for kernel in said["kernels"]}
    # On the same core as measured, on a device a hundredth of it after a launch.
    for arch, us in means.items():
        assert abs(us / (165 if arch == "cpu0" else 5.65) - 1) < 0.01, means
    assert any(arch.startswith("cuda") for arch in means), means
    for words in (("compare", "-s", "eager"), ("bound",),
                  ("trace", "-o", os.path.join(folder, "t.paje"))):
        ended = orrery(*words, "-m", MACHINE, "--", BUSY, "-size", "1600",
                       folder=folder)
        ended.has_status(0)
        assert "100.0 % derived (off by up to" in ended.out, (words, ended.out)


@test
def what_was_projected_is_said_in_json():
    _, ended = projected("--json")
    ended.has_status(0)
    said = json.loads(ended.out)
    assert (said["host"], said["from"], said["files"]) == ("gpus", "home", 4), said
    assert {row["from"] for row in said["models"]} == {"cpu0"}, said["models"]
    assert any(row["architecture"].startswith("cuda") and row["off_by"] > 0.4 and
               row["entries"] == len(SIZES) for row in said["models"]), said
    folder = models({(CPU, 0): linear(*SIZES)}, host="home")
    words = ("perfmodel", "project", "--host", "home", "--size", "3200,6400")
    table = orrery(*words, folder=folder)
    rows = json.loads(orrery(*words, "--json", folder=folder).out)
    assert {row["size"] for row in rows} == {3200, 6400}, rows
    for row in rows:
        assert "%s  " % row["model"] in table.out and \
            "%.4g" % row["us"] in table.out and row["off_by"] > 0, (row, table.out)


@test
def checks_of_projected_models_speak_of_no_measures():
    folder, _ = projected()
    ended = orrery("perfmodel", "check", "-m", MACHINE, folder=folder)
    assert "derived, not measured" in ended.out, ended.out
    for code in ("imprecise", "spikes", "spread", "few-samples"):
        assert "[%s]" % code not in ended.out, ended.out


@test
def projected_models_are_written_where_the_user_s_lie():
    folder = PROGRAMS.folder()
    home = os.path.join(folder, "home")
    own = os.path.join(home, ".starpu", "sampling", "codelets", "45")
    os.makedirs(own)
    here = socket.gethostname().split(".")[0]
    with open(os.path.join(own, "busy_alpha." + here), "w",
              encoding="ascii") as file:
        file.write(model_text({(CPU, 0): linear(*SIZES)}))
    ended = orrery("perfmodel", "project", "-m", "epyc-64", folder=folder,
                   STARPU_HOME=home, STARPU_PERF_MODEL_DIR=None)
    ended.has_status(0)
    made = os.path.join(own, "busy_alpha.epyc-64")
    assert os.path.exists(made), os.listdir(own)
    # A simulation finds it there.
    ended = orrery("run", "-m", "epyc-64", "--assume", "busy_beta = 1us; "
                   "busy_gamma = 1us; busy_delta = 1us", "--", BUSY, "-size",
                   "1600", folder=folder, STARPU_HOME=home,
                   STARPU_PERF_MODEL_DIR=None)
    ended.has_status(0)
    assert "derived (off by up to" in ended.out, ended.out
    # What comes with the machine is read first: it is not replaced in its place.
    with open(os.path.join(own, "dgemm." + here), "w", encoding="ascii") as file:
        file.write(model_text({(CPU, 0): linear(*SIZES)}))
    ended = orrery("perfmodel", "project", "-m", "epyc-64", "--force", "dgemm",
                   folder=folder, STARPU_HOME=home, STARPU_PERF_MODEL_DIR=None)
    ended.has_status(1)
    ended.says("comes with", "-o DIR", "STARPU_PERF_MODEL_DIR=DIR")


@test
def projected_models_are_measured_anew_where_they_are_calibrated():
    slow = {size: 1e6 * us for size, us in linear(*SIZES).items()}
    folder, _ = projected(folder=models({(CPU, 0): slow}, host="home"))
    before = report("-s", "eager", folder=folder, size=1600, STARPU_NCUDA="0")
    assert set(shares(before)) == {"derived"}, before["figures"]
    for _ in range(3):
        PROGRAMS.run([BUSY, "-size", "1600"], folder, STARPU_HOSTNAME="gpus",
                     STARPU_CALIBRATE="1", ORRERY_MACHINE=None).has_status(0)
    after = report("-s", "eager", folder=folder, size=1600, STARPU_NCUDA="0")
    assert set(shares(after)) == {"measured"}, after["figures"]
    listed = json.loads(orrery("perfmodel", "show", "busy_alpha", "--json",
                               "--host", "gpus", folder=folder).out)
    said = json.dumps(listed)
    assert '"measured"' in said and '"derived"' in said, said
    # What was computed, 165 s, is in no sum.
    for kernel in after["kernels"]:
        assert kernel["predicted_us"] < 1e6, kernel


@test
def what_the_machine_has_stays():
    folder = models({(CPU, 0): linear(*SIZES)}, host="home")
    models({(CPU, 0): linear(400)}, folder, KERNELS[:1])
    _, ended = projected(folder=folder)
    ended.says("busy_alpha.gpus is there and stays", "--force")
    assert "3 models of gpus" in ended.out, ended.out
    _, ended = projected("--force", "busy_a*", folder=folder)
    assert "1 model of gpus" in ended.out, ended.out


@test
def rates_that_are_not_known_are_named_with_the_remedy():
    folder = models({(CPU, 0): linear(*SIZES)}, host="home")
    ended = orrery("perfmodel", "project", "-m", MACHINE, "--host", "home",
                   folder=folder)
    ended.has_status(1)
    ended.says("--peak 'cuda=19.5 TFlop/s'", "--from-peak 'cpu=64 GFlop/s'",
               "--from-bandwidth 'cpu=10 GB/s'", "orrery-peak-fp32")
    _, ended = projected("--peak", "gpu=3", folder=folder)
    ended.has_status(2)
    ended.says("cuda=19.5 TFlop/s", "(cpu, cuda, opencl, hip)")


@test
def rates_are_written_as_in_assumptions_or_as_in_descriptions():
    folder = models({(CPU, 0): linear(*SIZES)}, host="home")
    rows = []
    for words in ((*RATES,),
                  ("--peak", "cpu = 10 GFlop/s, cuda = 1 TFlop/s",
                   "--bandwidth", "cpu = 5 GB/s; cuda = 500 GB/s",
                   "--from-peak", "CPU=10 gflop/s", "--from-bandwidth",
                   "cpu=5 GB/s"),
                  ("--peak", "cpu=10000Mf,cuda=1e12f", "--bandwidth",
                   "cpu=40Gbps,cuda=500GBps", "--from-peak", "cpu=10Gflops",
                   "--from-bandwidth", "cpu=5GBps")):
        ended = orrery("perfmodel", "project", "-m", MACHINE, "--host", "home",
                       "--force", *words, "busy_alpha", folder=folder)
        ended.has_status(0)
        path = os.path.join(folder, "sampling", "codelets", "45",
                            "busy_alpha.gpus")
        with open(path, encoding="ascii") as file:
            rows.append(file.read())
    assert rows[0] == rows[1] == rows[2]
    for wrong in ("cpu=3 GB/s", "cpu=5", "cpu=5G", "cpu", "cpu=0",
                  "cpu=10Gf cuda=1Tf", "cpu0=3Gf",
                  "=3Gf", "cpu=-1Gf", "cpu=3 lightyears"):
        _, ended = projected("--peak", wrong, folder=folder)
        ended.has_status(2)
        ended.says("--peak " + wrong)
        # What was written is shown rightly written.
        ended.says("cpu=64 GFlop/s" if wrong.startswith("cpu") else
                   "cuda=19.5 TFlop/s")
    _, ended = projected("--bandwidth", "cpu=5", folder=folder)
    ended.has_status(2)
    ended.says("--bandwidth cpu=5", "unit", "GB/s")


@test
def rates_of_this_machine_are_measured_where_nothing_states_them():
    here = socket.gethostname().split(".")[0]
    folder = models({(CPU, 0): linear(*SIZES)}, host=here)
    rates = ("--peak", "cpu=10Gf,cuda=1Tf", "--bandwidth", "cpu=5GBps,cuda=500GBps")
    ended = orrery("perfmodel", "project", "-m", MACHINE, *rates, folder=folder)
    ended.has_status(0)
    assert re.search(r": \S+ GFlop/s, \S+ GB/s, measured now",
                     ended.out), ended.out
    assert ended.out.count("measured now") == 1, ended.out
    base = re.search(r"a core of .* GB/s, measured ", ended.out).group(0)
    # It is kept: another machine is projected from the same.
    for machine in (MACHINE, "epyc-64"):
        ended = orrery("perfmodel", "project", "-m", machine, *rates, "--force",
                       folder=folder)
        ended.has_status(0)
        assert re.search(re.escape(base) + r"20\d\d-\d\d-\d\d .* spread \d+ %",
                         ended.out), (base, ended.out)
    # One that is given comes before it.
    ended = orrery("perfmodel", "project", "-m", MACHINE, *rates, "--force",
                   "--from-peak", "cpu=12 GFlop/s", folder=folder)
    assert "a core of %s: 12 GFlop/s, " % here in ended.out, ended.out
    # Nor are those of another host.
    ended = orrery("perfmodel", "project", "-m", MACHINE, *rates, "--force",
                   "--host", "home",
                   folder=models({(CPU, 0): linear(*SIZES)}, host="home"))
    ended.has_status(1)
    ended.says("--from-peak 'cpu=64 GFlop/s'")


@test
def rows_that_outliers_have_emptied_are_known_by_their_samples():
    folder = models({(CPU, 0): linear(100)}, host="home", names=KERNELS[:1])
    name = os.path.join(folder, "sampling", "codelets", "45%s", "busy_alpha.home")
    with open(name % "", encoding="ascii") as file:
        lines = file.read().split("\n")
    row = next(line.split() for line in lines if len(line.split()) == 8)
    text = "\n".join(" ".join([row[0], row[1], "0", "0", "0", "0", "0", "0"])
                     if line.split() == row else line for line in lines)
    with open(name % "", "w", encoding="ascii") as file:
        file.write(text)
    os.makedirs(os.path.dirname(name % ".orrery"))
    samples = " ".join(["0.828"] * 20)
    with open(name % ".orrery", "w", encoding="ascii") as file:
        file.write("orrery-side 2\nentry 0/0/1 0 %s 0 0 0.828 40 20 1 9 1\n"
                   "samples\nrecent 0 20 %s\nblocks 0 1 20 0 0 %s\n"
                   % (row[0], samples, samples))
    # As fast as measured on the same core, no faster on a device than its launch.
    _, ended = projected(folder=folder)
    ended.has_status(0)
    said = report("-s", "eager", "--assume", "busy_beta = 1us; busy_gamma = 1us; "
                  "busy_delta = 1us", folder=folder, size=100)
    means = {kernel["arch"]: kernel["mean_us"] for kernel in said["kernels"]
             if kernel["name"] == "busy_alpha"}
    for arch, us in means.items():
        assert abs(us - 0.828) < 0.01 if arch == "cpu0" else us >= 4, means
    # The measured model itself is used as well.
    os.rename(name % "", (name % "").replace(".home", ".gpus"))
    os.rename(name % ".orrery", (name % ".orrery").replace(".home", ".gpus"))
    said = report("-s", "eager", "--assume", "busy_beta = 1us; busy_gamma = 1us; "
                  "busy_delta = 1us", folder=folder, size=100)
    means = {kernel["arch"]: kernel["mean_us"] for kernel in said["kernels"]
             if kernel["name"] == "busy_alpha"}
    assert abs(means["cpu0"] - 0.828) < 0.01, means


@test
def sizes_that_were_not_measured_are_answered_with_a_range_and_how_to_assume_them():
    folder = models({(CPU, 0): linear(*SIZES), (CUDA, 0): linear(400),
                     (CUDA, 1): linear(400)}, host="home", names=KERNELS[:1])
    ended = orrery("perfmodel", "project", "--host", "home", "--size",
                   "3200,64000", folder=folder)
    ended.has_status(0)
    rows = [line.split() for line in ended.out.splitlines()
            if line.startswith("busy_alpha")]
    assert [row[1:3] for row in rows] == [
        ["cpu", "3200"], ["cpu", "64000"], ["cuda", "3200"], ["cuda", "64000"]]
    # 4 bytes an element; what linear() says of 800 elements is between two sizes.
    expected = linear(800)[800]
    assert abs(float(rows[0][3]) / expected - 1) < 0.1, (rows, expected)
    ranges = [float(row[4]) for row in rows]
    assert ranges[0] < ranges[1] < ranges[3], rows
    text = re.search(r"--assume '(kernel\[busy_alpha\] on cpu = \S+)'",
                     ended.out).group(1)
    simulate("-s", "eager", "--assume", text + "; busy_* = 1us",
             folder=folder).has_status(0)
    for wrong in ("0", "x", "12,,x"):
        orrery("perfmodel", "project", "--host", "home", "--size", wrong,
               folder=folder).has_status(2)


def with_flops(folder, flops_of):
    """Writes the flops of each row, by its size in bytes."""
    path = os.path.join(folder, "sampling", "codelets", "45", "busy_alpha.home")
    with open(path, encoding="ascii") as file:
        lines = [line.split(" ") for line in file.read().split("\n")]
    for words in lines:
        if len(words) == 8:
            words[2] = "%.9e" % flops_of(int(words[1]))
    with open(path, "w", encoding="ascii") as file:
        file.write("\n".join(map(" ".join, lines)))


def at_size(folder, size):
    """{architecture: (µs, by what)} of busy_alpha."""
    ended = orrery("perfmodel", "project", "--host", "home", "--size",
                   str(size), folder=folder)
    ended.has_status(0)
    rows = [re.split(r"  +", line.strip()) for line in ended.out.splitlines()
            if line.startswith("busy_alpha")]
    return {row[1]: (float(row[3]), row[6]) for row in rows}


@test
def other_sizes_are_projected_by_flops_then_by_a_core_then_by_bytes():
    # Times that go with the 1.5th power of the bytes, as products of tiles do.
    def cubic(*sizes):
        return {n: n ** 1.5 / 20 for n in sizes}

    folder = models({(CPU, 0): cubic(400), (CUDA, 0): cubic(*SIZES)},
                    host="home", names=KERNELS[:1])
    truth = 25600 ** 1.5 / 20
    by_bytes = at_size(folder, 4 * 25600)["cpu"]
    with_flops(folder, lambda size: 2 * size ** 1.5)
    by_flops = at_size(folder, 4 * 25600)["cpu"]
    assert by_bytes[1] == "bytes" and by_flops[1] == "flops"
    assert truth / 1.5 < by_flops[0] < truth * 1.5, (by_flops, truth, by_bytes)
    assert abs(by_bytes[0] - truth) > 2 * abs(by_flops[0] - truth), by_bytes
    folder = models({(CPU, 0): cubic(*SIZES), (CUDA, 0): cubic(400)},
                    host="home", names=KERNELS[:1])
    # A size that only the cores have; no flops are known.
    with_flops(folder, lambda size: 0)
    assert at_size(folder, 4 * 6400)["cuda"][1] == "a core's time"
    # Flops that are no function of the size say nothing of others.
    with_flops(folder, lambda size: size if size < 2000 else size ** 2)
    assert at_size(folder, 4 * 25600)["cpu"][1] == "bytes"
    assert at_size(folder, 4 * 6400)["cuda"][1] == "flops"


@test
def models_of_a_machine_are_projected_by_its_name():
    folder = PROGRAMS.folder()
    ended = orrery("perfmodel", "project", "-m", "epyc-64", "--from",
                   "sirocco-v100", "--from-peak", "cpu=64 GFlop/s",
                   "--from-bandwidth", "cpu=10 GB/s", "--force", "-o",
                   os.path.join(folder, "made"), folder=folder)
    ended.has_status(0)
    assert "derived from those of sirocco-v100" in ended.out, ended.out


@test
def tensor_units_count_where_they_are_asked_for():
    folder = PROGRAMS.folder()
    means = []
    for words in ((), ("--tensor",)):
        made = os.path.join(folder, "made" + "".join(words))
        orrery("perfmodel", "project", "-m", "hgx-h100-8", "--from",
               "sirocco-v100", "--double", *words, "--force", "-o", made, "dgemm",
               folder=folder).has_status(0)
        with open(os.path.join(made, "codelets", "45", "dgemm.hgx-h100-8"),
                  encoding="ascii") as file:
            rows = [line.split() for line in file if len(line.split()) == 8]
        means.append(float(rows[-1][3]))
    assert 1.5 < means[0] / means[1] < 2.1, means


@test
def models_are_not_projected_onto_themselves():
    folder = models({(CPU, 0): linear(*SIZES)})
    ended = orrery("perfmodel", "project", "-m", MACHINE, *RATES, "--force",
                   folder=folder, STARPU_HOSTNAME="gpus")
    ended.has_status(1)
    ended.says("models of gpus", "STARPU_HOSTNAME", "themselves")


@test
def rates_may_stand_in_the_description():
    folder = models({(CPU, 0): linear(*SIZES)}, host="home")
    path = os.path.join(folder, "gpus.xml")
    with open(MACHINE, encoding="utf-8") as file:
        text = file.read()
    for host, peak in (("MAIN", "10Gf"), ("CUDA0", "1Tf")):
        at = text.index('<host id="%s"' % host)
        end = text.index(">", at)
        close = text[end - 1] == "/"
        props = ('<prop id="orrery-peak-fp32" value="%s"/><prop id='
                 '"orrery-memory-bandwidth" value="50GBps"/>' % peak)
        text = (text[:end - 1] + ">" + props + "</host>" if close
                else text[:end + 1] + props) + text[end + 1:]
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    ended = orrery("perfmodel", "project", "-m", path, "--host", "home",
                   "--from-peak", "cpu=10Gf", "--from-bandwidth", "cpu=50GBps",
                   "busy_alpha", folder=folder)
    ended.has_status(0)
    assert "cpu0" in ended.out and "cuda0" in ended.out, ended.out
    assert "cuda1" not in ended.out, "its rates are not stated"
    ended.says("bandwidth of cuda of")


@test
def no_projection_is_above_the_peak_or_the_memory_of_a_card():
    """Of times that are above the rates that are given for where they were
    measured."""
    fast = {size: us / 1000 for size, us in linear(*SIZES).items()}
    folder = models({(CPU, 0): fast}, host="home")
    made = os.path.join(folder, "made")
    _, ended = projected("-o", made, "busy_alpha", folder=folder)
    ended.has_status(0)
    assert "are at the limit of the device" in ended.out, ended.out
    assert "1 model of gpus, derived from those of home, in %s" % made in \
        ended.out, ended.out
    assert "STARPU_PERF_MODEL_DIR=%s" % made in ended.out, ended.out
    with open(os.path.join(made, "codelets", "45", "busy_alpha.gpus"),
              encoding="ascii") as file:
        blocks = re.split(r"\n# COMB_", file.read())[1:]
    assert len(blocks) == 4
    for block in blocks[1:]:
        rows = [line.split() for line in block.splitlines()
                if len(line.split()) == 8]
        assert len(rows) == len(SIZES)
        for row in rows:  # 500 GB/s
            assert float(row[3]) >= int(row[1]) / 500e3 * 0.999999, row
    # Small ones are at that of their launch, or of the lanes that they fill.
    _, ended = projected("-o", os.path.join(folder, "slow"), folder=models(
        {(CPU, 0): linear(SIZES[-1])}, folder, host="home"))
    assert "at the limit" not in ended.out, ended.out


def rates_of_devices(machine):
    """[(its host, flop per µs, bytes per µs)] of the machine's devices."""
    ended = orrery("machine", "show", machine, "--json")
    ended.has_status(0)
    return [(host["id"], host["rates"]["peak-fp32"] / 1e6,
             host["rates"]["memory-bandwidth"] / 1e6)
            for host in json.loads(ended.out)["hosts"]
            if re.match(r"(CUDA|HIP)\d+$", host["id"])]


@test
def no_projection_on_a_device_of_the_catalogue_is_below_launch_and_latency():
    """40 kernels: from one item to a thousand million of them, bound by arithmetic, by
    memory, or by latency, which take a core what its rates allow, or far more."""
    folder = PROGRAMS.folder()
    path = os.path.join(folder, "sampling", "codelets", "45")
    os.makedirs(path)
    rows, kinds = {}, (0, 1, 300, 1e5)  # flop per item; 0: not known
    for power in range(10):
        for kind in kinds:
            items = 10 ** power
            rows["%08x" % (16 * power + kinds.index(kind))] = (
                8 * items, kind * items, max(0.02, kind * items / 2e3, items / 600))
    with open(os.path.join(path, "made.home"), "w", encoding="ascii") as file:
        file.write("45\n1\n1\n0\n0\n1\n1\n%d\n0 0 0 0 nan nan 0 0 0\n"
                   "nan nan nan\n0\n" % len(rows))
        for name, (size, flops, us) in rows.items():
            file.write("%s %d %.9e %.9e %.9e %.9e %.9e 10\n" % (
                name, size, flops, us, us / 100, 10 * us, 10 * us * us * 1.0001))
    ndevices = 0
    for machine in sorted(os.listdir(os.environ["ORRERY_PLATFORM_DIR"])):
        devices = rates_of_devices(machine)
        if not devices:
            continue
        ndevices += len(devices)
        made = os.path.join(folder, machine)
        orrery("perfmodel", "project", "-m", machine, "--host", "home",
               "--from-peak", "cpu=64Gf", "--from-bandwidth", "cpu=10GBps", "-o",
               made, "made", folder=folder).has_status(0)
        with open(os.path.join(made, "codelets", "45", "made." + machine),
                  encoding="ascii") as file:
            blocks = re.split(r"\n# COMB_", file.read())[1:]
        blocks = blocks[-len(devices):]  # a core, if its rates are known, is first
        assert len(blocks) == len(devices), (machine, len(blocks))
        for (device, peak, bandwidth), block in zip(devices, blocks):
            lines = [line.split() for line in block.splitlines()
                     if len(line.split()) == 8]
            assert len(lines) == len(rows) == 40, (machine, device, len(lines))
            for line in lines:
                size, flops, _ = rows[line[0]]
                chain = flops / (3000 * min(peak / 3000, max(1, size / 4) / 4))
                least = 4 + max(1, chain, size / bandwidth)
                assert float(line[3]) >= least * 0.9999, (machine, device, line)
    assert ndevices > 10, ndevices


@test
def models_that_are_not_to_be_trusted_are_named():
    times = linear(*SIZES)
    folder = models({(CPU, 0): times}, host="home")
    path = os.path.join(folder, "sampling", "codelets", "45", "busy_beta.home")
    with open(path, encoding="ascii") as file:
        lines = file.read().splitlines()
    lines[-1] = lines[-1][:-2] + "5"  # five samples
    with open(path, "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n")
    _, ended = projected(folder=folder)
    ended.has_status(0)
    ended.says("warning: busy_beta on cpu0_impl0 is not to be trusted")
    assert "busy_alpha on" not in ended.err, ended.err
    _, ended = projected("--force", "busy_alpha", folder=folder)
    assert "not to be trusted" not in ended.err, ended.err


@test
def kernels_are_projected_for_the_devices_that_have_them():
    folder, ended = projected("--only", "cpu", "busy_alpha")
    assert "cpu0" in ended.out and "cuda" not in ended.out, ended.out
    _, ended = projected("busy_beta", folder=folder)
    assert "cuda0" in ended.out and "--only cpu" in ended.out, ended.out
    said = report("-s", "eager", "--assume", "busy_gamma = 50us; busy_delta = 50us",
                  folder=folder, size=1600)
    ran = {(kernel["name"], kernel["arch"][:3]) for kernel in said["kernels"]}
    assert ("busy_beta", "cud") in ran, ran
    assert ("busy_alpha", "cud") not in ran and ("busy_alpha", "cpu") in ran, ran
    _, ended = projected("--only", "gpu", folder=folder)
    ended.has_status(2)
    ended.says("--only gpu", "cpu, cuda, opencl and hip")
    # What is there is not said to be missing.
    _, ended = projected("busy_alpha", folder=folder)
    ended.has_status(1)
    ended.says("has all of these models already")
    assert "no model was made" not in ended.err, ended.err


@test
def models_are_not_written_into_a_file():
    folder = PROGRAMS.folder()
    path = os.path.join(folder, "file")
    with open(path, "w", encoding="ascii"):
        pass
    for words in (("project", "-m", MACHINE), ("merge", folder)):
        ended = orrery("perfmodel", *words, "-o", path)
        ended.has_status(2)
        ended.says("-o %s: this is no directory" % path, "codelets/45")


sys.exit(run_all(2))
