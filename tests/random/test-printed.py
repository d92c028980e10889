#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What test-random says is true: two simulations of a seed do the same,
printed programs compile and pass, a task that does not write is found, and the
small program that is printed then fails when it expects other bytes. Prints
TAP.

usage: test-printed.py TEST_RANDOM INCLUDE LIBRARY COMPILER..."""
import os
import re
import subprocess
import sys
import tempfile

test_random, include, library = sys.argv[1:4]
compiler = sys.argv[4:]
results = []


def run(*words):
    return subprocess.run([test_random, *words], capture_output=True,
                          text=True)


def compiled(text, folder):
    """The program and what its comment says is its environment."""
    source = os.path.join(folder, 'random.c')
    program = os.path.join(folder, 'random')
    with open(source, 'w') as f:
        f.write(text)
    subprocess.run([*compiler, '-std=gnu11', '-Wall', '-Wextra', '-Werror',
                    '-o', program, source, '-I' + include, library,
                    '-Wl,-rpath,' + os.path.dirname(library), '-pthread'],
                   check=True)
    said = dict(re.findall(r"^ \*     (\w+)='(.*)' \\$", text, re.M))
    return program, {**os.environ, **said}


def status(text):
    with tempfile.TemporaryDirectory() as folder:
        program, environment = compiled(text, folder)
        return subprocess.run([program], env=environment,
                              capture_output=True).returncode


def spoilt(text):
    """The same, but other bytes are expected than there are."""
    text = re.sub(r'(READ|UPDATE), UINT64_C\(0x\w+\)', r'\1, UINT64_C(0x1)',
                  text)
    return re.sub(r'(compare\(.*), UINT64_C\(0x\w+\)', r'\1, UINT64_C(0x1)',
                  text)


def test(name, passed):
    results.append(passed)
    print('%s %d - %s' % ('ok' if passed else 'not ok', len(results), name),
          flush=True)


def digests(*words):
    result = run('--digests', '--jobs', '1', *words)
    return re.findall('^# machine.*', result.stdout, re.M)


first, second = digests('--graphs', '300'), digests('--graphs', '300')
test('two simulations of a seed run the same tasks at the same time',
     len(first) == 6 and first == second)
test('another seed, another run', digests('--graphs', '50') !=
     digests('--graphs', '50', '--seed', '1'))

for batch in range(6):
    printed = run('--print', '--batch', str(batch), '--per-machine', '3')
    test('the printed graphs of machine %d pass' % batch,
         status(printed.stdout) == 0)
real = run('--print', '--batch', '0', '--per-machine', '3', '--real')
test('printed graphs of the real machine pass', status(real.stdout) == 0)

found = run('--spoil', '--jobs', '1')
test('tasks that do not write are found', found.returncode == 1)
test('… and the program is made small',
     len(re.findall('starpu_task_submit', found.stderr)) <= 2 and
     len(re.findall(r'register_(at_home\(|shape\(&h\[)\d',
                    found.stderr)) <= 2)
test('a program that expects other bytes fails',
     status(spoilt(found.stderr)) == 1)
test('features that there are not are refused',
     run('--with', 'nonsense').returncode == 2)
print('1..%d' % len(results))
sys.exit(not all(results))
