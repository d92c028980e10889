#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""orrery calibrate network. A network that is simulated is measured as a real one is, and its
words come back: nothing depends on how fast this machine is. Prints TAP.
usage: test-calibrate-network.py [ORRERY openmpi|mpich HOSTED]
(HOSTED: the measuring program, linked so that ranks of it can be simulated)"""
import json
import os
import re
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "unit"))
from tools_util import Tap, clean_environment, run  # noqa: E402

if len(sys.argv) < 4:
    print("1..0 # SKIP no MPI: neither Open MPI nor MPICH was there when this was built")
    sys.exit(0)
ORRERY, MPI, HOSTED = os.path.abspath(sys.argv[1]), sys.argv[2], os.path.abspath(sys.argv[3])
WITHIN = ("node-latency=3us node-bandwidth=320B:1GB/s,4160B:2GB/s,1048576B:4GB/s "
          "node-eager=20000B node-send=0.5us node-match=0.25us node-copy=5GB/s "
          "node-total=6GB/s")
BETWEEN = ("5GB/s half-duplex latency=4us hop=0 bandwidth=320B:0.5GB/s,1048576B:2.5GB/s "
           "eager=9000B send=0.75us match=0.5us copy=2GB/s")
tap = Tap()
top = tempfile.mkdtemp(prefix="orrery-network-")
env = clean_environment(top, "here")
# In containers, one process may not read another one's memory.
env.setdefault("OMPI_MCA_btl_vader_single_copy_mechanism", "none")


def calibrate(*words, simulated=None, **more):
    """With a cluster, the launcher is a shell that simulates the ranks."""
    words = ["calibrate", "network", "--mpi", MPI, "-r", "5", *words]
    if simulated:
        words += ["--", "sh", "-c", f'ORRERY_MACHINE="{simulated}" exec "{HOSTED}" "$2"', "sh"]
    return run(ORRERY, *words, env={**env, **more})


def said(done):
    try:
        return json.loads(done.out)
    except ValueError:
        return {}


def near(value, expected, by=0.01):
    return value is not None and abs(value - expected) <= by * expected


def speed_at(speeds, size):
    return next((s["bytes_per_second"] for s in speeds if s["bytes"] == size), None)


def file_of(name):
    return os.path.join(top, "bus", name + ".cluster.xml")


# --- what was simulated is found ---

done = calibrate("--json", "-o", "one", simulated=f"1*epyc-64 + 100Gb/s {WITHIN} ranks-per-node=2")
found = said(done)
node = found.get("node") or {}
tap.claim("the words of messages within a node come back",
          near(node.get("latency_us"), 3) and near(node.get("send_us"), 0.5) and
          near(node.get("match_us"), 0.25) and node.get("eager_bytes") == 20000 and
          near(node.get("copy_bytes_per_second"), 5e9, 0.05) and
          near(node.get("together_bytes_per_second"), 6e9, 0.05), done)
tap.claim("so does the bandwidth by size, also of what asks first",
          near(speed_at(node.get("speeds", []), 320), 1e9) and
          near(speed_at(node.get("speeds", []), 4160), 2e9) and
          near(speed_at(node.get("speeds", []), 1048576), 4e9), done)
tap.claim("what is alike in all repetitions has no spread, and one host no network",
          found.get("spread") == 0 and found.get("between_nodes", 0) is None and
          found.get("hosts") == 1 and found.get("incast", 0) is None, done)
shown = said(run(ORRERY, "machine", "show", "one", "--json", env=env))
network = shown.get("network", {})
tap.claim("the cluster is found by its name, with what was measured",
          shown.get("nodes") == 1 and shown.get("ranks_per_node") == 2 and
          near((network.get("in_node") or {}).get("latency_us"), 3) and
          (network.get("measured") or {}).get("repetitions") == 5, shown)
with open(file_of("one"), encoding="utf-8") as file:
    text = file.read()
again = said(calibrate("--json", "-o", "again",
                       simulated=f"1*epyc-64 + {found.get('network')} ranks-per-node=2"))
second = again.get("node") or {}
tap.claim("measuring what was written gives it once more",
          all(near(second.get(key), node[key]) for key in ("latency_us", "send_us", "match_us",
                                                           "eager_bytes")) and
          all(near(speed_at(second["speeds"], s["bytes"]), s["bytes_per_second"])
              for s in node.get("speeds", [{}])), again, found)

done = calibrate("--json", "-o", "two", simulated=f"2*epyc-64 + {BETWEEN}")
net = said(done).get("between_nodes") or {}
words = said(done).get("network", "")
tap.claim("the words of the network between nodes come back",
          near(net.get("latency_us"), 4) and near(net.get("send_us"), 0.75) and
          near(net.get("match_us"), 0.5) and net.get("eager_bytes") == 9000 and
          near(speed_at(net.get("speeds", []), 320), 0.5e9) and
          near(speed_at(net.get("speeds", []), 1048576), 2.5e9, 0.03) and
          said(done).get("hosts") == 2 and said(done).get("node", 0) is None, done)
done = calibrate("-o", "full", simulated=f"2*epyc-64 + {BETWEEN.replace('half', 'full')}")
line = next((row for row in done.out.splitlines() if row.startswith("network: ")), "")
tap.claim("half-duplex is said where both directions share a link, and only there",
          " half-duplex " in words and re.search(r"network: [\d.]+GB/s latency=", line) and
          "half-duplex" not in line, words, done)

done = calibrate("--json", "-o", "both",
                 simulated=f"2*epyc-64 + {BETWEEN} {WITHIN} ranks-per-node=2")
found = said(done)
tap.claim("four ranks on two hosts say both, and what all of them send to one",
          near((found.get("node") or {}).get("latency_us"), 3) and
          near((found.get("between_nodes") or {}).get("latency_us"), 4) and
          found.get("ranks") == 4 and found.get("incast", 0) > 0.5 and
          "node-latency=" in found["network"] and " latency=" in found["network"], done)

# --- what the doctor says of it ---


def doctor(name):
    done = run(ORRERY, "machine", "doctor", name, "--json", env=env)
    return {item["fault"]: item["severity"] for item in said(done).get("findings", [])}


def changed(name, **values):
    """The first cluster's file, with other values of what was measured."""
    new = text
    for key, value in values.items():
        new = re.sub(f'(id="measured-{key}" value=")[^"]*', rf"\g<1>{value}", new)
    with open(file_of(name), "w", encoding="utf-8") as out:
        out.write(new)
    return doctor(name)


MEASURED = {"measured-few", "measured-spread", "measured-busy", "asymmetric", "incast"}
faults = changed("good", share=1)
tap.claim("one host only is a note, and nothing else of what was measured is wrong",
          faults.get("measured-one-host") == "note" and not MEASURED & set(faults), faults)
faults = changed("bad", repetitions=3, spread=0.4, share=0.5, asymmetry=0.5, incast=0.2)
tap.claim("few repetitions, wide spread, a busy machine, directions that differ and a poor "
          "incast are warnings",
          all(faults.get(fault) == "warning" for fault in MEASURED), faults)
new = text.replace("node-latency=3us", "node-latency=80us").replace('"nodes" value="1"',
                                                                     '"nodes" value="2"')
with open(file_of("odd"), "w", encoding="utf-8") as out:
    out.write(new)
faults = doctor("odd")
tap.claim("a latency that no memory has is one, and more nodes than were measured",
          faults.get("node-latency") == "warning" and
          faults.get("measured-one-host") == "warning", faults)
with open(file_of("wrong"), "w", encoding="utf-8") as out:
    out.write(text.replace('measured-spread" value="', 'measured-spread" value="x'))
done = run(ORRERY, "machine", "doctor", "wrong", env=env)
tap.claim("a value that is none is named", done.code == 1 and "measured-spread" in done.err, done)

# --- files ---

with open(file_of("mine"), "w", encoding="utf-8") as out:
    out.write(re.sub(r"\s*<prop id=\"measured.*", "", text))
done = calibrate("-o", "mine", simulated=f"1*epyc-64 + 1Gb/s {WITHIN} ranks-per-node=2")
tap.claim("a cluster that somebody has written is not replaced, unless that is asked for",
          done.code == 1 and "--force" in done.err and
          calibrate("-o", "mine", "--force",
                    simulated=f"1*epyc-64 + 1Gb/s {WITHIN} ranks-per-node=2").code == 0 and
          calibrate("-o", "mine",
                    simulated=f"1*epyc-64 + 1Gb/s {WITHIN} ranks-per-node=2").code == 0, done)
here = os.path.join(top, "here", "x.cluster.xml")
os.mkdir(os.path.dirname(here))
done = calibrate("-o", here, simulated=f"1*epyc-64 + 1Gb/s {WITHIN} ranks-per-node=2")
tap.claim("a path may be given", done.code == 0 and os.path.exists(here) and here in done.out,
          done)

# --- what was measured badly ---

figures = os.path.join(top, "figures")
with open(figures, "w", encoding="utf-8") as out:
    out.write("ranks 2\nhosts 1\nnode eager 8191\n")
    for size, us in ((1, 0.5), (256, 0.57689), (1024, 0.5), (4096, 0.4), (16384, 5.4)):
        out.write(f"node time {size} {us} {us}\n")
    for name in ("send", "match", "late"):
        out.write(f"node {name} 1 0.1 0.1\n")
    for name in ("forth", "back", "both"):
        out.write(f"node {name} 2000 2000\n")
done = calibrate("-o", "noisy", "--", "sh", "-c", f"cat {figures}")
tap.claim("a longer message that seemed to take less time than a shorter one takes as long",
          done.code == 0 and os.path.exists(file_of("noisy")), done)

# --- what is wrong ---

for words, code, what in [
        (["-n", "1"], 2, "from 2 on"), (["-n", "x"], 2, "from 2 on"), (["-r", "0"], 2, "1 to 99"),
        (["-r", "100"], 2, "1 to 99"), (["-o", "../x"], 2, ".cluster.xml"),
        (["-n", "2", "--", "mpirun"], 2, "leave -n out"), (["--mpi", "lam"], 1, "mpich"),
        (["--", "/no/such/launcher"], 1, "/no/such/launcher"),
        (["--", "echo", "node time 1 x"], 1, "came with this command"),
        (["--", "echo"], 1, "nothing was measured")]:
    done = calibrate(*words)
    tap.claim(f"{' '.join(words)}: refused, with the remedy", done.code == code and
              what in done.err, done)

# --- ranks of this machine ---

if shutil.which("mpirun." + MPI) or shutil.which("mpirun"):
    done = calibrate("--json", "-r", "1")
    found = said(done)
    node = found.get("node") or {}
    tap.claim("two ranks of this machine are measured",
              done.code == 0 and found.get("hosts") == 1 and found.get("ranks") == 2 and
              node.get("latency_us", 0) > 0 and len(node.get("speeds", [])) == 8 and
              0 <= node.get("eager_bytes", -1) <= 1 << 20 and
              all(f["median"] > 0 and f["samples"] == 1 for f in node["figures"]) and
              os.path.exists(file_of("here-ranks")), done)
    shown = said(run(ORRERY, "machine", "show", "here-ranks", "--json", env=env))
    tap.claim("the cluster is this machine, with its description",
              shown.get("groups", [{}])[0].get("machine") == "here", shown)
else:
    tap.skip("two ranks of this machine are measured", "there is no mpirun." + MPI)

shutil.rmtree(top)
tap.end()
