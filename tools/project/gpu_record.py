#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the suites on the GPUs of this machine, and writes what came of it.

usage: gpu_record.py [--to FOLDER] [--only REGEX] [--standin] BUILD

The tests are those of the suite `device`, which other runs give to stand-ins. The
record, FOLDER/<kind>-<device>-<version>.md (docs/gpu), has the devices, the driver,
each test's result, what failed, and the bandwidths measured; commit it. --only takes
the tests whose names match; --standin the stand-ins, whose records nobody commits.
Ends with 0 when all passed; 1 without GPUs, and says what was looked for.
"""

import argparse
import collections
import datetime
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time

KINDS = ("CUDA", "HIP")
ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
# Built where there is a toolkit.
EXAMPLES = {"vector_scal_cuda": [], "mult_cuda": ["-size", "960", "-check"],
            "stencil_cuda": ["-check"],
            "cholesky_cuda": ["-size", "3840", "-nblocks", "8", "-check"]}
Result = collections.namedtuple("Result", "name passed failed skipped seconds tail")


def own_environment(more):
    """The user's, without what changes the library."""
    env = {name: value for name, value in os.environ.items()
           if not name.startswith(("ORRERY_", "STARPU_", "GPU_STANDIN", "TEST_"))}
    return {**env, **more}


def output_of(words, env, timeout=600):
    done = subprocess.run(words, env=env, check=False, timeout=timeout,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, encoding="utf-8",
                          errors="replace")
    return done.returncode, done.stdout


def tests_of(build, kind, only):
    """Of the suite `device` on that kind: name, words, environment, timeout."""
    text = subprocess.run(["meson", "introspect", "--tests", build], check=True,
                          stdout=subprocess.PIPE, encoding="utf-8").stdout
    for test in json.loads(text):
        if (any(suite.endswith(":device") for suite in test["suite"]) and
                f"ORRERY_{kind}_LIBRARY" in test["env"] and
                re.search(only, test["name"])):
            yield test["name"], test["cmd"], test["env"], test["timeout"]


def environment_of(test_env, kind, standin, home):
    """What a test gets: the system's library instead of the stand-in."""
    env = own_environment({**test_env, "CK_EXCLUDE_TAGS": "standin", "STARPU_HOME": home})
    if standin:
        env["TEST_STAGED"] = "1"
    else:
        env.pop(f"ORRERY_{kind}_LIBRARY")
        env.pop("GPU_STANDIN", None)
    return env


def run_test(name, words, env, timeout):
    start = time.monotonic()
    try:
        code, text = output_of(words, env, timeout)
    except subprocess.TimeoutExpired as error:
        code, text = -1, (error.stdout or b"").decode(errors="replace")
        text += f"\nnot ended after {timeout} s"
    results = re.findall(r"^(ok|not ok)\b(.*)$", text, re.M)
    skipped = sum(word == "ok" and "# SKIP" in rest for word, rest in results)
    passed = sum(word == "ok" for word, _ in results) - skipped
    failed = sum(word == "not ok" for word, _ in results)
    if re.search(r"^1\.\.0\b", text, re.M) or code == 77:
        skipped += 1
    elif not results:  # a program that is one test
        passed, failed = int(code == 0), int(code != 0)
    failed += int(code != 0 and failed == 0 and code != 77)
    bad = [line for line in text.splitlines() if line.startswith("not ok")]
    tail = (bad or text.splitlines()[-15:])[:15] if failed else []
    return Result(name, passed, failed, skipped, time.monotonic() - start, tail)


def first_line(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.readline().strip()
    except OSError:
        return ""


def processor():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            found = re.search(r"^model name\s*:\s*(.*)$", file.read(), re.M)
    except OSError:
        found = None
    return found[1] if found else platform.machine()


def commit():
    code, text = output_of(["git", "-C", ROOT, "describe", "--always", "--dirty"],
                           dict(os.environ))
    return text.strip() if code == 0 else "unknown"


def version_text(kind, version):
    """CUDA's 12020 is 12.2; HIP's 60032830 is 6.0.32830."""
    if kind == "CUDA":
        return f"{version // 1000}.{version % 1000 // 10}"
    return f"{version // 10000000}.{version // 100000 % 100}.{version % 100000}"


def record_text(vendor, results, bus, standin):
    kind = vendor["kind"]
    driver = first_line("/proc/driver/nvidia/version" if kind == "CUDA"
                        else "/sys/module/amdgpu/version")
    sums = [sum(getattr(r, what) for r in results)
            for what in ("passed", "failed", "skipped")]
    lines = [f"# {kind}: {vendor['devices'][0].get('name', 'unknown')}", "",
             "A stand-in, no GPU." if standin else
             "Written by `./check --gpu`.", "",
             f"{sums[0]} passed, {sums[1]} failed, {sums[2]} skipped.", "",
             "| | |", "|---|---|",
             f"| date | {datetime.date.today().isoformat()} |",
             f"| commit | {commit()} |",
             f"| library | {kind} {version_text(kind, vendor.get('version', 0))} |",
             f"| driver | {driver or 'unknown'} |",
             f"| system | {platform.system()} {platform.release()} |",
             f"| processors | {os.cpu_count()}, {processor()} |"]
    for device in vendor["devices"]:
        lines.append(f"| device {device['number']} | {device.get('name', 'unknown')}, "
                     f"{device.get('memory', 0) / 2**30:.1f} GiB, "
                     f"{device.get('bus', 'unknown')} |")
    lines += ["", "| test | passed | failed | skipped | s |", "|---|--:|--:|--:|--:|"]
    lines += [f"| {r.name} | {r.passed} | {r.failed} | {r.skipped} | {r.seconds:.1f} |"
              for r in results]
    for r in results:
        if r.tail:
            lines += ["", f"## {r.name}", "", "```", *r.tail, "```"]
    lines += ["", "## Links", "", "```", *bus.rstrip().splitlines(), "```", ""]
    return "\n".join(lines)


def record(vendor, args, home):
    """Runs the tests of a vendor's devices. The number of those that failed."""
    kind = vendor["kind"]
    results = []
    for name, words, env, timeout in tests_of(args.build, kind, args.only):
        result = run_test(name, words,
                          environment_of(env, kind, args.standin, home), timeout)
        print(f"{name}: {result.passed} passed, {result.failed} failed, "
              f"{result.skipped} skipped, {result.seconds:.1f} s", flush=True)
        results.append(result)
    env = own_environment({"STARPU_HOME": home})
    for name, words in EXAMPLES.items() if kind == "CUDA" and not args.standin else ():
        program = os.path.join(args.build, "examples", name)
        if os.access(program, os.X_OK) and re.search(args.only, name):
            results.append(run_test(name, [program, *words], env, 300))
    if args.standin:
        env = {**env, **standin_environment()}
    # The table says by how much each link spreads.
    _, bus = output_of([os.path.join(args.build, "tools", "orrery"), "calibrate",
                        "bus", "--spread", "1000000%"] + ["--quick"] * args.standin, env)
    name = vendor["devices"][0].get("name", "unknown")
    version = version_text(kind, vendor.get("version", 0))
    file = re.sub(r"[^a-z0-9.]+", "-", f"{kind}-{name}-{version}".lower()) + ".md"
    path = os.path.join(args.to, file)
    os.makedirs(args.to, exist_ok=True)
    with open(path, "w", encoding="utf-8") as out:
        out.write(record_text(vendor, results, bus, args.standin))
    passed, failed, skipped = (sum(getattr(r, what) for r in results)
                               for what in ("passed", "failed", "skipped"))
    print(f"{path} is the record; commit it")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return failed + int(passed == 0)


def standin_environment():
    """Libraries that a test of this program names."""
    return {name: value for name, value in os.environ.items()
            if name in ("ORRERY_CUDA_LIBRARY", "ORRERY_HIP_LIBRARY", "GPU_STANDIN")}


def main():
    parser = argparse.ArgumentParser(usage=__doc__, add_help=False)
    parser.add_argument("--to", default=os.path.join(ROOT, "docs", "gpu"))
    parser.add_argument("--only", default="")
    parser.add_argument("--standin", action="store_true")
    parser.add_argument("build")
    args = parser.parse_args()
    args.build = os.path.abspath(args.build)
    env = own_environment(standin_environment() if args.standin else {})
    tool = os.path.join(args.build, "tools", "orrery")
    code, text = output_of([tool, "env", "--devices", "--json"], env)
    if code != 0:
        print(text, end="")
        return 1
    vendors = [v for v in json.loads(text)
               if v["kind"] in KINDS and v.get("devices")]
    if not vendors:
        print("There is no GPU that the library drives. What was looked for:")
        print(output_of([tool, "env", "--devices"], env)[1], end="")
        return 1
    with tempfile.TemporaryDirectory(prefix="orrery-gpu-") as home:
        failed = [record(vendor, args, home) for vendor in vendors]
    return 1 if any(failed) else 0


if __name__ == "__main__":
    sys.exit(main())
