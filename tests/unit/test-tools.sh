#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# tests/unit/test-tools.sh - the orrery command, with programs that only
# pretend: shell scripts that write the report a library would write.
# usage: test-tools.sh ORRERY   (path of the command)
set -u

orrery=$(realpath "${1:?usage: test-tools.sh ORRERY}")
[ -x "$orrery" ] || { echo "Bail out! $orrery is no program"; exit 1; }
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
n=0
failed=0

# claim TEXT COMMAND...: one test, passed when the command succeeds.
claim()
{
    text=$1
    shift
    n=$((n + 1))
    if "$@"; then
        echo "ok $n - $text"
    else
        echo "not ok $n - $text"
        sed 's/^/# /' "$dir/out" "$dir/err"
        failed=$((failed + 1))
    fi
}

# run ARGUMENTS...: the command's outputs and exit code, for later claims.
run()
{
    "$orrery" "$@" >"$dir/out" 2>"$dir/err" </dev/null
    code=$?
}

code_is() { [ "$code" -eq "$1" ]; }
out_has() { grep -q -- "$1" "$dir/out"; }
err_has() { grep -q -- "$1" "$dir/err"; }
is_json() { python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$1"; }
is_png() { [ "$(head -c 4 "$1" | tail -c 3)" = PNG ]; }

cat >"$dir/program" <<'END'
#!/bin/sh
echo "machine $ORRERY_MACHINE scheduler $STARPU_SCHED arguments $*"
case $STARPU_SCHED in
eager) us=4000 ;;
*) us=2500 ;;
esac
cat >"$ORRERY_REPORT" <<REPORT
{"version": "0", "simulated": true, "machine": "$ORRERY_MACHINE",
 "provenance": "derived", "scheduler": "$STARPU_SCHED", "makespan_us": $us,
 "flops": 5e9, "tasks": 220, "transfers": 12, "transferred_bytes": 1048576,
 "evictions": 0, "wall_s": 0.25, "exit": "shutdown",
 "workers": [{"name": "CPU 0", "busy_us": 1250, "tasks": 20},
             {"name": "CPU 1", "busy_us": 1250, "tasks": 20},
             {"name": "CUDA 0.0 (big)", "busy_us": 2500, "tasks": 180}]}
REPORT
if [ -n "${ORRERY_TRACE-}" ]; then
    tab=$(printf '\t')
    sed "s/ /$tab/g" >"$ORRERY_TRACE" <<TRACE
%EventDef PajeSetState 20
7 0.0 w0 W t0 CPU0
7 0.0 w1 W t1 CUDA0_0
10 0.0 w0 WS I
20 0.5 w0 WS "potrf" 4 "" 0 0 1 1 0 0.1 0 0 0 -1 "0"
10 1.0 w0 WS I
20 1.0 w1 WS "gemm" 4 "" 0 0 2 2 0 0.1 0 0 0 -1 "0"
10 2.5 w1 WS I
TRACE
fi
exit "${FAKE_EXIT-0}"
END
cat >"$dir/stranger" <<'END'
#!/bin/sh
echo "I know nothing"
END
cat >"$dir/choosy" <<END
#!/bin/sh
if [ "\$STARPU_SCHED" = lws ]; then
    echo "first line" >&2
    echo "orrery: error: no model for lws" >&2
    echo "I give up" >&2
    exit 1
fi
if [ "\$STARPU_SCHED" = ws ]; then
    echo "out of patience" >&2
    exit 1
fi
exec "$dir/program" "\$@"
END
chmod +x "$dir/program" "$dir/stranger" "$dir/choosy"
unset ORRERY_MACHINE STARPU_SCHED ORRERY_TRACE ORRERY_REPORT

for command in "" run bound compare machine "machine doctor" perfmodel \
    "perfmodel check" "perfmodel plot" trace calibrate validate; do
    # shellcheck disable=SC2086 # no word is one word less
    run $command --help
    claim "help of '$command' has an example" out_has '^example: orrery'
done

run
claim "no command is a wrong command line" code_is 2
run dance
claim "an unknown command ends with 2" code_is 2
claim "an unknown command is named" err_has dance
run run --tune -- "$dir/program"
claim "an unknown option ends with 2" code_is 2
claim "an unknown option is named with its remedy" err_has 'tune.*--help'
run run -m
claim "an option without its value ends with 2" code_is 2
run run
claim "run without a program ends with 2" code_is 2

run run -m moon -s eager -- "$dir/program" one two
claim "run ends with 0 when the program does" code_is 0
claim "run passes machine, scheduler and arguments on" \
    out_has 'machine moon scheduler eager arguments one two'
claim "run prints the virtual makespan" out_has 'makespan *4.000 ms (virtual)'
claim "run prints the speed" out_has 'speed *1250.0 GFlop/s'
claim "run says where the figures come from" out_has 'figures derived'
claim "run says nothing of evictions where there was none" \
    sh -c '! grep -q "came back" "$1"' sh "$dir/out"
claim "run prints how busy each kind of worker was" \
    out_has 'CPU *2 workers, 31.2 % busy, 40 tasks'

run run -m moon -s eager --json -- "$dir/program"
claim "run --json prints JSON and nothing else" is_json "$dir/out"

FAKE_EXIT=7
export FAKE_EXIT
run run -m moon -s eager -- "$dir/program"
claim "run ends as the program did" code_is 7
unset FAKE_EXIT

run run -- "$dir/stranger"
claim "a program that never loaded the library ends as it does" code_is 0
claim "a program that never loaded the library is told so" \
    err_has 'never started liborrery'
run run --json -- "$dir/stranger"
claim "without the report that was asked for as JSON it is a failure" code_is 1
run run -- sh -c 'echo "orrery: error: starpu_init: no such machine" >&2'
claim "a program that skips itself ends as it does" code_is 0
claim "a program that skips itself is told what that means" \
    err_has 'calls no starpu_init, or that failed'
run compare -m moon -s eager -- sh -c 'echo "orrery: error: out of luck" >&2'
claim "in comparisons the library's own reason is given" out_has 'out of luck$'
run run -- "$dir/nowhere"
claim "a program that does not exist ends with 127" code_is 127
claim "a program that does not exist is named" err_has "$dir/nowhere"
run run -- sh -c 'kill -9 $$'
claim "a killed program ends with 128 plus the signal" code_is 137
claim "a killed program's signal is named" err_has 'signal 9'

run compare -m moon,mars -s eager,dmdas -- "$dir/program"
claim "compare ends with 0 when all combinations do" code_is 0
claim "compare prints one line per combination" \
    out_has '^mars     dmdas             2.500    1.000   2000.0  1.0 MiB  33.3 %          0.25  derived$'
claim "compare prints a title and four lines" \
    [ "$(wc -l <"$dir/out")" -eq 5 ]
run compare -m moon -s eager,lws --json -- "$dir/program"
claim "compare --json prints JSON and nothing else" is_json "$dir/out"
run compare -m moon -s eager,lws,dmda -- "$dir/choosy"
claim "compare ends with 1 when a combination fails" code_is 1
claim "compare shows the library's own error of what failed" \
    out_has 'lws.* no model for lws$'
claim "compare shows the combinations that succeeded" out_has 'dmda *2.500'
run compare -m moon -s ws -- "$dir/choosy"
claim "compare shows the last line of what failed without one" \
    out_has 'ws.* out of patience$'
run compare -s eager -- "$dir/program"
claim "compare without machines ends with 2" code_is 2

if command -v gnuplot >/dev/null; then
    run compare -m moon,mars -s eager,dmdas --plot "$dir/bars.png" -- \
        "$dir/program"
    claim "compare --plot draws a PNG" is_png "$dir/bars.png"
    run trace -m moon -s eager -o "$dir/t.paje" -- "$dir/program"
    claim "trace ends with 0" code_is 0
    claim "trace keeps the trace" [ -s "$dir/t.paje" ]
    claim "trace draws beside it" is_png "$dir/t.png"
    run trace -m moon -s eager -o "$dir/t.paje" -- "$dir/stranger"
    claim "trace does not take an old file for a new one" code_is 1
else
    for text in "compare --plot" "trace"; do
        n=$((n + 1))
        echo "ok $n - $text # SKIP gnuplot is not installed"
    done
fi

# A machine whose second device has lost its row.
mkdir -p "$dir/sampling/bus"
good=$(printf '0\t9000\t9000\tnan\n9000\t0\t9000\tnan\n')
printf '%s\n9000\t9000\t0\tnan\nnan\tnan\tnan\tnan\n' "$good" \
    >"$dir/sampling/bus/moon.bandwidth"
printf '%s\n9000\t9000\t0\tnan\nnan\tnan\tnan\tnan\n' "$good" |
    sed 's/9000/9/g' >"$dir/sampling/bus/moon.latency"
sed '3s/9000/0/g' "$dir/sampling/bus/moon.bandwidth" \
    >"$dir/sampling/bus/mars.bandwidth"
cp "$dir/sampling/bus/moon.latency" "$dir/sampling/bus/mars.latency"
STARPU_PERF_MODEL_DIR=$dir/sampling
export STARPU_PERF_MODEL_DIR
run machine doctor -m moon
claim "a healthy machine ends with 0" code_is 0
claim "a healthy machine is said to be" out_has '^moon: healthy'
run machine doctor mars
claim "a machine with an error ends with 1" code_is 1
claim "the error is told in words" out_has 'error.*0 MB/s from CUDA 1 to any'
claim "the remedy is told" out_has 'STARPU_BUS_CALIBRATE=1'
run machine doctor mars --json
claim "findings come as JSON" out_has '"fault": "bandwidth-missing"'
STARPU_HOSTNAME=mars "$orrery" machine doctor >"$dir/out" 2>"$dir/err"
claim "this host is examined without a name" out_has '^mars: 1 error'
run machine doctor venus
claim "an unknown machine ends with 1" code_is 1
run machine doctor moon mars
claim "two machines are a wrong command line" code_is 2
unset STARPU_PERF_MODEL_DIR

# help_is_good COMMAND: the help is this command's, alike with the others'.
help_is_good()
{
    # shellcheck disable=SC2086 # words
    run $1 --help && code_is 0 &&
        head -1 "$dir/out" | grep -q "^usage: orrery $1 " &&
        out_has '^Exit codes: ' && out_has '^example: orrery ' &&
        ! LC_ALL=C.UTF-8 grep -qE '^.{81}' "$dir/out"
}

for command in run compare advise study trace explain report watch bound optimise record \
    "record import" replay validate env machine "machine doctor" "machine list" \
    "machine show" \
    "machine copy" "machine new" "machine new cluster" "machine new hosts" "machine import" "machine export" \
    "machine diff" \
    "calibrate kernels" "calibrate bus" "calibrate runtime" "calibrate network" \
    "perfmodel list" "perfmodel show" \
    "perfmodel check" "perfmodel plot" "perfmodel export" "perfmodel import" \
    "perfmodel merge" "perfmodel prune" "perfmodel project"; do
    claim "$command --help says usage, exit codes and an example" \
        help_is_good "$command"
done
for command in run compare trace explain report watch bound optimise record replay \
    validate env "sched list" "sched show" "machine check" "machine doctor" \
    "machine list" "machine show" "machine copy" "machine new" "machine import" \
    "machine export" "machine diff" "calibrate kernels" "calibrate bus" \
    "calibrate runtime" "calibrate network" "perfmodel list" "perfmodel show" "perfmodel check" \
    "perfmodel export" "perfmodel import" "perfmodel merge" "perfmodel plot" \
    "perfmodel project" "perfmodel prune" "record import"; do
    # shellcheck disable=SC2086 # words
    run $command --help
    claim "$command prints JSON" out_has '^ *--json '
done
# Memory that was full: what was moved between kinds of memory, and what twice.
cat >"$dir/crowded" <<'END'
#!/bin/sh
cat >"$ORRERY_REPORT" <<REPORT
{"version": "0", "simulated": true, "machine": "moon", "scheduler": "eager",
 "makespan_us": 1000, "tasks": 1, "exit": "shutdown", "workers": [],
 "transfers": 4, "transferred_bytes": 4194304, "evictions": 3,
 "links": [{"from": "NUMA 0", "to": "CUDA 0", "count": 1, "bytes": 1048576},
           {"from": "NUMA 0", "to": "CUDA 1", "count": 2, "bytes": 2097152},
           {"from": "CUDA 0", "to": "NUMA 0", "count": 1, "bytes": 1048576}],
 "returns": {"count": 43, "bytes": 45088768, "most": [
  {"data": "A(3,4)", "task": "gemm", "count": 41, "bytes": 42991616},
  {"data": "A(1,1)", "task": "syrk", "count": 1, "bytes": 1048576}]}}
REPORT
END
chmod +x "$dir/crowded"
run run -m moon -- "$dir/crowded"
claim "run prints what was moved between kinds of memory" \
    out_has 'links       NUMA to CUDA 3.0 MiB, CUDA to NUMA 1.0 MiB$'
claim "run prints what came back in all" \
    out_has 'came back   43 times after they had to leave, 43.0 MiB$'
claim "run names the task, the data, how often" \
    out_has "gemm's A(3,4) came back 41 times, 41.0 MiB\$"
claim "once is not twice" out_has "syrk's A(1,1) came back 1 time, 1.0 MiB\$"
run run -m moon --json -- "$dir/crowded"
claim "the JSON has them, too" sh -c 'python3 -c "import json, sys
d = json.load(open(sys.argv[1]))
assert d[\"returns\"][\"most\"][0][\"data\"] == \"A(3,4)\"" "$1"' sh "$dir/out"

# What-if edits: the stand-in for a program shows what it was given.
cat >"$dir/shows" <<'END'
#!/bin/sh
printf '<%s>' "${ORRERY_SET-unset}" | tee "$0.seen"
cat >"$ORRERY_REPORT" <<REPORT
{"version": "0", "simulated": true, "machine": "moon", "scheduler": "eager",
 "makespan_us": 1000, "tasks": 1, "exit": "shutdown", "workers": [],
 "edits": [{"edit": "cuda.count = 8", "effect": true, "echo": "3 -> 8"}]}
REPORT
END
chmod +x "$dir/shows"
run run -m moon --set 'cuda.count = 8' --set 'nvlink = on; bus.latency = 1us' \
    -- "$dir/shows"
claim "run hands all edits on, one a line" \
    sh -c 'tr "\n" "|" <"$1" | grep -q "<cuda.count = 8|nvlink = on; bus.latency = 1us>"' sh "$dir/out"
claim "run says what they changed" out_has 'what if     cuda.count = 8: 3 -> 8'
run run -m moon -- "$dir/shows"
claim "without --set there are no edits" out_has '<unset>'
run compare -m moon,mars --set 'cuda.count = 8' -s eager -- "$dir/shows"
claim "compare names the edits below its table, for each machine" sh -c \
    'grep -q "what if, on moon" "$1" && grep -q "what if, on mars" "$1" &&
    grep -q "  cuda.count = 8: 3 -> 8" "$1"' sh "$dir/out"
run trace -m moon --set 'cuda.count = 8' --json -o "$dir/t.paje" -- "$dir/shows"
claim "trace hands them on" grep -q '<cuda.count = 8>' "$dir/shows.seen"
run run --set
claim "--set needs a value" code_is 2
run machine show rtx4090-2 --set 'cuda.count = 3' --set 'cuda.speed = 2' --json
claim "machine show has the edits in its JSON" sh -c \
    'python3 -c "import json, sys
d = json.load(open(sys.argv[1]))
assert d[\"cuda_devices\"] == 3 and len(d[\"edits\"]) == 2" "$1"' sh "$dir/out"
claim "machine show says on stderr what was edited" \
    err_has 'what if cuda.count = 3: 2 -> 3 CUDA devices'
run machine show rtx4090-2 --set 'cuda.cuont = 3'
claim "a wrong edit ends with 1" code_is 1
claim "and is named with its place" err_has '"cuda.cuont = 3", column 6'
run machine copy "$dir/edited.xml" -m rtx4090-2 --set 'cuda.count = 3'
claim "machine copy writes an edited machine" code_is 0
run machine copy "$dir/again.xml" -m rtx4090-2 --set 'cuda.count = 3' --json
claim "and says so as JSON" sh -c 'python3 -c "import json, sys
d = json.load(open(sys.argv[1]))
assert d[\"file\"] == sys.argv[2] and d[\"cpus\"] > 0
assert d[\"calibrated\"] is None and d[\"host\"]" "$1" "$2" && cmp "$2" "$3"' \
    sh "$dir/out" "$dir/again.xml" "$dir/edited.xml"
run machine show "$dir/edited.xml"
claim "which can be shown" out_has 'CUDA2 .*models of CUDA0'
run machine doctor rtx4090-2 --set 'link["PCIe-CUDA1"].bandwidth = 100MBps'
claim "machine doctor looks at the edited machine" out_has 'CUDA 1'
run machine doctor --set 'cuda.count = 3'
claim "machine doctor wants to know which" code_is 2

# An edit of what the run did not use: it ran elsewhere because of it.
cat >"$dir/avoids" <<'END'
#!/bin/sh
us=213000
[ -n "${ORRERY_SET-}" ] && us=1548000
cat >"$ORRERY_REPORT" <<REPORT
{"version": "0", "simulated": true, "machine": "moon", "scheduler": "eager",
 "makespan_us": $us, "tasks": 1, "exit": "shutdown", "workers": [],
 "edits": [{"edit": "pcie.bandwidth = 1MBps", "effect": true, "echo": "slower",
            "tasks": 0, "bytes": ${FAKE_BYTES-0}}]}
REPORT
END
chmod +x "$dir/avoids"
run run -m moon --set 'pcie.bandwidth = 1MBps' -- "$dir/avoids"
claim "an edit of what was not used is compared with the run without it" \
    out_has 'without  *the edits 213.000 ms: they made it longer'
run run -m moon --json --set 'pcie.bandwidth = 1MBps' -- "$dir/avoids"
claim "in JSON as well" sh -c 'python3 -c "import json, sys
d = json.load(open(sys.argv[1]))
assert d[\"without_edits\"][\"makespan_us\"] == 213000" "$1"' sh "$dir/out"
sed 's/"tasks": 0,/"tasks": 0, "kernels_met": true,/' "$dir/avoids" >"$dir/kernels"
sed 's/true, "echo"/false, "echo"/; s/"tasks": 0,/"tasks": 0, "kernels_met": false,/' \
    "$dir/avoids" >"$dir/nosuch"
chmod +x "$dir/kernels" "$dir/nosuch"
run run -m moon --set 'kernel[x].time on cpu *= 2' -- "$dir/kernels"
claim "so is one of kernels that ran elsewhere" \
    out_has 'without  *the edits 213.000 ms: they made it longer'
run run -m moon --set 'kernel[nosuch] *= 2' -- "$dir/nosuch"
claim "of kernels that the program does not have there is nothing to compare" \
    sh -c '! grep -q without "$1"' sh "$dir/out"
run compare -m moon -s eager --set 'kernel[nosuch] *= 2' -- "$dir/nosuch"
claim "which compare says below its table" \
    out_has 'slower; no effect on this run, no kernel of it has that name'
FAKE_BYTES=7 run run -m moon --set 'pcie.bandwidth = 1MBps' -- "$dir/avoids"
claim "what was used needs no second run" sh -c '! grep -q without "$1"' sh \
    "$dir/out"

# A program that sets its own policy.
sed 's/"scheduler": "[^"]*"/"scheduler": "mine"/' "$dir/program" >"$dir/own"
chmod +x "$dir/own"
run compare -m moon -s eager,dmdas -- "$dir/own"
claim "compare labels rows by the policy that ran" sh -c \
    '[ "$(grep -c "^moon     mine " "$1")" -eq 2 ] && ! grep -q dmdas "$1"' sh \
    "$dir/out"
claim "and warns that the program sets its own" \
    err_has 'ran with the policy mine, not eager'
run compare -m moon -s eager,dmdas --json -- "$dir/own"
claim "compare --json has the policy that ran, and the one asked for" sh -c \
    'python3 -c "import json, sys
d = json.load(open(sys.argv[1]))
assert [r[\"scheduler\"] for r in d] == [\"mine\"] * 2
assert [r[\"scheduler_asked\"] for r in d] == [\"eager\", \"dmdas\"]" "$1"' \
    sh "$dir/out"
run run -m moon -s eager -- "$dir/own"
claim "run warns as well" err_has 'ran with the policy mine, not eager'

# Options behind the program, without --.
for command in run compare trace validate "calibrate kernels"; do
    # shellcheck disable=SC2086 # words
    run $command "$dir/program" one -s eager two
    claim "$command: an option behind the program ends with 2" code_is 2
    claim "$command: the right order is shown" \
        err_has "$command -s eager -- $dir/program one two"
done
run run "$dir/program" -m moon
claim "so the program does not run for real by mistake" code_is 2
run run "$dir/program" -mepyc-64
claim "nor with a machine that there is behind the letter" code_is 2
run compare -m moon "$dir/program" -slws,dmda
claim "nor with a policy" err_has "compare -m moon -slws,dmda -- $dir/program"
run run "$dir/program" -m
claim "a value that was forgotten has its place in the right order" \
    err_has "run -m VALUE -- $dir/program"
for words in "" "--json" "-m moon"; do
    # shellcheck disable=SC2086 # words
    run bound "$dir/program" $words
    claim "bound: a program without -- is no recorded graph: $words" \
        err_has "$dir/program is a program: write orrery bound"
done
run run -m moon -s eager "$dir/program" -size 9 -mix --sizes=3
claim "options of the program's own are passed on" \
    out_has 'arguments -size 9 -mix --sizes=3'
run run -m moon -s eager -- "$dir/program" -s lws
claim "behind -- all options are the program's" out_has 'arguments -s lws'
run run "$dir/program" -m4 -slow
claim "and letters with what is no machine and no policy" \
    out_has 'arguments -m4 -slow'

# Words that are nearly right.
run calibrat
claim "a mistyped command suggests the nearest" err_has 'did you mean calibrate'
run perfmodel chekc
claim "a mistyped verb suggests the nearest" err_has 'mean perfmodel check'
run chekc
claim "a mistyped verb without its command suggests the commands that have it" \
    err_has 'did you mean machine check or perfmodel check?'
run doctor
claim "a verb without its command as well" err_has 'did you mean machine doctor?'
run gantry
claim "what is like nothing suggests nothing" \
    err_has 'no command gantry; see orrery --help'
run trace -m moon --svg x.svg -- "$dir/program"
claim "an option that others have suggests the one of its purpose" \
    err_has 'unknown option --svg: did you mean --gantt?'
run compare -m moon --gantt x.png -- "$dir/program"
claim "which compare calls --plot" err_has 'did you mean --plot?'
run machine new x --gpu H100 --cpu 2.4GHz -o "$dir/x.xml"
claim "all that is not clear about parts is said: cores" err_has 'give --cores'
claim "and the device" err_has 'H100 PCIe, H100 SXM'
run perfmodel import "$dir"
claim "a folder is no export" err_has "$dir: Is a directory"
run machine lits
claim "of machine as well" err_has 'did you mean list'
run calibrate kernel
claim "of calibrate as well" err_has 'did you mean kernels'
run compare --jsn -m moon -- "$dir/program"
claim "a mistyped option suggests the nearest" err_has 'did you mean --json'
run -v
claim "-v is --version, as of StarPU's programs" out_has '^orrery [0-9]'
run help
claim "help is --help" out_has '^usage: orrery COMMAND'
claim "and ends with 0" code_is 0
run help machine list
claim "help takes commands" out_has '^usage: orrery machine list'
run machine list --help
claim "machine list has a help of its own" out_has '^usage: orrery machine list'
run validate -n 0 -- "$dir/program"
claim "a wrong number of repetitions is named" \
    err_has 'validate: -n 0: .*from 1 on'
run validate --seed x -- "$dir/program"
claim "a wrong seed is named" err_has 'validate: --seed x: '

run run -- "$dir/"
claim "a folder is no program, which is said" \
    err_has 'cannot be started: it is a directory'
echo "a table" >"$dir/x.txt"
run explain -- "$dir/x.txt"
claim "a file that is no program is called one" \
    err_has 'cannot be started: it is no program.*chmod +x.*CSV'
printf 'print(len((1, 2))\n' >"$dir/x.py"
chmod +x "$dir/x.py"
run run -- "$dir/x.py"
claim "a script without its interpreter's name is called one" \
    err_has 'x.py failed with exit status [0-9]*: sh read it.*#!'
run compare -m moon -s eager dmda -- "$dir/program"
claim "a second value of an option is not taken for a missing program" \
    out_has 'dmda cannot be started: .*one word, such as -s eager,dmda'
here=$PWD
cd "$dir"
run run -- program
cd "$here"
claim "of a program in this folder it is said how to call it" \
    err_has 'program cannot be started: it is in this folder.*write \./'
run validate -- true
claim "what never started the library is not told to measure kernels" sh -c \
    'grep -q "never started liborrery" "$1" && ! grep -q calibrate "$1"' \
    sh "$dir/err"

# A model that is missing: the whole list, not its heading.
cat >"$dir/lacks" <<'END'
#!/bin/sh
echo "orrery: warning: the policy $STARPU_SCHED is slow" >&2
echo "orrery: error: the simulation needs the time of kernel a, which is not known. Missing for the tasks so far:" >&2
echo "orrery: error:   alpha  footprint 0000abc1  on cpu0" >&2
echo "orrery: error: Run the program with STARPU_CALIBRATE=1." >&2
exit 1
END
chmod +x "$dir/lacks"
run compare -m moon -s eager,lws -- "$dir/lacks"
claim "compare's row ends with a sentence" out_has 'is not known\.$'
claim "below it is all that is missing, with the remedy" sh -c \
    'grep -q "^  *alpha  footprint 0000abc1" "$1" &&
    [ "$(grep -c "Run the program with" "$1")" -eq 1 ]' sh "$dir/err"

cat >"$dir/long" <<'END'
#!/bin/sh
echo "orrery: error: unknown machine: known are $(seq -s ', ' 100000 100060)" >&2
exit 1
END
chmod +x "$dir/long"
run compare -m moon -s eager -- "$dir/long"
claim "a reason that is too long for its row is cut at a word, and says so" \
    out_has 'known are 100000, .*[0-9], …$'

# Values and names that are nearly right.
run run -m moon --set '' -- "$dir/program"
claim "an empty edit names its option" err_has 'run: option --set needs a value'
claim "and ends with 2" code_is 2
run machine show rtx4090-2 --svg "$dir/p.png"
claim "machine show --svg wants a name that ends in .svg" \
    err_has 'p.png: the picture is an SVG'
claim "and writes nothing" [ ! -e "$dir/p.png" ]
run compare -m moon -s eager --plot "$dir/p.jpg" -- "$dir/program"
claim "compare --plot wants .png or .svg" err_has 'must end in .png or .svg'
run trace -m moon -s eager --gantt "$dir/p.jpg" -- "$dir/program"
claim "trace --gantt as well" err_has 'must end in .png or .svg'
run trace -m moon -s eager -o "$dir/p.svg" -- "$dir/program"
claim "trace -o: a picture's name is refused, with the option that draws" \
    err_has 'that is the trace, a file of data; the picture is --gantt'
run machine show --nmae x
claim "machine's verbs have their whole name in messages" \
    err_has 'orrery machine show --help'

# The program waits on a pipe that nobody writes to, and says its number first.
mkfifo "$dir/number" "$dir/never"
"$orrery" run -- sh -c 'echo $$ >"$0/number"; read -r word <"$0/never"' \
    "$dir" 2>"$dir/err" &
tool=$!
read -r program <"$dir/number"
kill -TERM $tool
wait $tool
code=$?
claim "a signal ends the tool with 128 plus its number" code_is 143
claim "a signal to the tool ends the program" \
    sh -c '! kill -0 "$1" 2>/dev/null' sh "$program"

echo "1..$n"
[ "$failed" -eq 0 ]
