#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Variables that docs/ENVIRONMENT.md calls those of real machines change no simulated
run, and others that only a device's driver could read are none of them. Prints TAP.

usage: test-variables.py PLAYER ENVIRONMENT.md
"""
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "unit"))
sys.dont_write_bytecode = True
from tools_util import Tap   # pylint: disable=wrong-import-position

MACHINE = "h100-pcie-4"
# A value that would change a real run; by the type in the page, else "1".
VALUES = {"0 or 1": {"0": "1", "1": "0"}, "integer": {}, "text": {}}
RECORD = """orrery-record 1
run
model 1 kind="per-arch" flags=4
codelet 1 name="k" cpu=1 cuda=1 asynchronous=10 buffers=-1 model=1
%s
wait-all
%s
end value=41
"""


def variables(page):
    """Name, type, default of those of real machines."""
    with open(page, encoding="utf-8") as file:
        for line in file:
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if len(cells) == 4 and cells[3].endswith("Real machines only."):
                yield cells[0].strip("`"), cells[1], cells[2].strip("`")


def record():
    calls, ends = [], []
    for i in range(1, 13):
        calls.append('data %d kind="variable" shape=1000000 home=0' % i)
        calls.append("submit %d codelet=1 times=300,100 data=%d:rw" % (i, i))
        ends.append("unregister %d" % i)
    for i in range(1, 12):
        calls.append("submit %d codelet=1 times=300,100 data=%d:r,%d:rw" % (
            12 + i, i, i + 1))
    text = RECORD % ("\n".join(calls), "\n".join(ends))
    return text.replace("end value=41", "end value=%d" % (text.count("\n") - 2))


def simulate(player, folder, **more):
    """What the run reports, but for the time that it took; or its errors."""
    path, report = (os.path.join(folder, word) for word in ("record", "report"))
    with open(path, "w", encoding="utf-8") as file:
        file.write(record())
    env = {key: value for key, value in os.environ.items()
           if not key.startswith(("STARPU_", "ORRERY_"))
           or key in ("ORRERY_MODULE_DIR", "ORRERY_PLATFORM_DIR")}
    env.update(STARPU_SILENT="1", STARPU_SCHED="dmda", ORRERY_MACHINE=MACHINE,
               ORRERY_REPORT=report, STARPU_PERF_MODEL_DIR=folder, **more)
    done = subprocess.run([player, path], env=env, text=True, timeout=60,
                          capture_output=True, check=False, errors="replace")
    if done.returncode != 0:
        return done.stderr
    with open(report, encoding="utf-8") as file:
        said = json.load(file)
    said.pop("wall_s")
    return re.sub(r'"(started|wall)[^,]*,', "", json.dumps(said, sort_keys=True))


def main():
    player, page = sys.argv[1:]
    tap, names = Tap(), []
    with tempfile.TemporaryDirectory() as folder:
        plain = simulate(player, folder)
        tap.claim("the program is simulated", plain.startswith("{"), plain)
        for name, kind, default in variables(page):
            value = VALUES.get(kind, {}).get(default, "1")
            found = simulate(player, folder, **{name: value})
            names.append(name)
            tap.claim("%s=%s changes no simulated run" % (name, value),
                      found == plain, found)
        changed = simulate(player, folder, STARPU_ENABLE_CUDA_GPU_GPU_DIRECT="0")
        tap.claim("copies between devices can be switched off",
                  changed.startswith("{") and changed != plain, changed)
        tap.claim("the page names such variables", len(names) > 20, names)
    tap.end()


if __name__ == "__main__":
    main()
