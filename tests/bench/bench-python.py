#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a task of a Python function costs, beside joblib's threads and
concurrent.futures, in one run: µs per task from the first submission to the end of
the last, by the length of the task, and the ratio to concurrent.futures.

usage: bench-python.py [--workers N] [--tasks N] [--plot FILE.png|.svg]

starpu returns futures, handles or nothing. A task sleeps for its length, without the
GIL, so what is over length / workers is overhead. Each figure is the median of five
runs that take turns. --plot draws them by gnuplot.
"""
import argparse
import concurrent.futures
import os
import statistics
import subprocess
import sys
import time

REPEATS = 5
LENGTHS = (0, 10, 100, 1000)  # µs


def nothing(_):
    return None


def sleep(us):
    time.sleep(us * 1e-6)


def with_futures(starpu, function, length, n):
    submit = starpu.task_submit()
    futures = [submit(function, length) for _ in range(n)]
    starpu.task_wait_for_all()
    return futures[-1].result()


def with_handles(starpu, function, length, n):
    submit = starpu.task_submit(ret_handle=True)
    handles = [submit(function, length) for _ in range(n)]
    starpu.task_wait_for_all()
    return handles[-1]


def with_nothing(starpu, function, length, n):
    submit = starpu.task_submit(ret_fut=False)
    for _ in range(n):
        submit(function, length)
    starpu.task_wait_for_all()


def with_executor(pool, function, length, n):
    futures = [pool.submit(function, length) for _ in range(n)]
    concurrent.futures.wait(futures)


def with_joblib(joblib, function, length, n, workers):
    joblib.Parallel(n_jobs=workers, backend="threading")(
        joblib.delayed(function)(length) for _ in range(n))


def competitors(starpu, workers):
    """Name to a function of (function, length, n)."""
    pool = concurrent.futures.ThreadPoolExecutor(workers)
    found = {
        "concurrent.futures": lambda *a: with_executor(pool, *a),
        "starpu future": lambda *a: with_futures(starpu, *a),
        "starpu handle": lambda *a: with_handles(starpu, *a),
        "starpu none": lambda *a: with_nothing(starpu, *a),
    }
    try:
        import joblib
    except ImportError:
        print("# no joblib here: without its threading backend")
    else:
        found["joblib threading"] = \
            lambda *a: with_joblib(joblib, *a, workers)
    return found


def measure(found, length, n):
    """µs per task of each: the medians of runs that take turns."""
    function = sleep if length else nothing
    times = {name: [] for name in found}
    for _ in range(REPEATS):
        for name, run in found.items():
            start = time.perf_counter()
            run(function, length, n)
            times[name].append((time.perf_counter() - start) / n * 1e6)
    return {name: statistics.median(each) for name, each in times.items()}


def plot(path, names, rows):
    commands = [
        f"set terminal {'svg' if path.endswith('.svg') else 'png'} size 800,500",
        f"set output '{path}'", "set logscale y", "set key left",
        "set xlabel 'length of a task, µs'", "set ylabel 'µs per task'",
        "set logscale x",
    ]
    commands.append("plot " + ", ".join(
        f"'-' with linespoints title '{name}'" for name in names))
    for name in names:
        for length, figures in rows:
            commands.append(f"{max(length, 1)} {figures[name]}")
        commands.append("e")
    subprocess.run(["gnuplot"], input="\n".join(commands), text=True,
                   check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--tasks", type=int, default=5000)
    parser.add_argument("--plot")
    options = parser.parse_args()
    os.environ["STARPU_NCPU"] = str(options.workers)
    import starpu

    starpu.init()
    found = competitors(starpu, options.workers)
    measure(found, 0, options.tasks // 10)
    rows = []
    for length in LENGTHS:
        n = options.tasks if length < 1000 else options.tasks // 10
        figures = measure(found, length, n)
        rows.append((length, figures))
        for name, us in figures.items():
            print("bench python-task %-20s length %4d µs %9.2f µs per task, "
                  "%5.2f of concurrent.futures"
                  % (name, length, us, us / figures["concurrent.futures"]),
                  flush=True)
    starpu.shutdown()
    if options.plot:
        plot(options.plot, list(found), rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
