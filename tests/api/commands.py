# SPDX-License-Identifier: LGPL-2.1-or-later
"""The commands, programs and outputs that a Markdown page shows, and a shell that
executes them one block after the other. For tests in Python."""
import os
import re
import subprocess


class Block:
    """What stands between two fences, or is indented: its language ("sh", "c",
    "cpp", "text", "" without), its text, the heading above, its lines in the page,
    counted from 0."""

    def __init__(self, language, heading, first, lines):
        self.language, self.heading, self.first = language, heading, first
        self.end = first + len(lines)
        self.text = "".join(line + "\n" for line in lines)

    def file_name(self):
        """The program that this block is: its first line names it."""
        found = re.match(r"(?:/\*|//) (\w+\.\w+) - ", self.text)
        return found.group(1) if found else None


def fenced(page):
    found, lines, language, heading = [], None, "", ""
    for number, line in enumerate(page.splitlines()):
        if line.startswith("```"):
            if lines is None:
                lines, language = [], line[3:].strip()
            else:
                found.append(Block(language, heading, number - len(lines),
                                   lines))
                lines = None
        elif lines is not None:
            lines.append(line)
        elif line.startswith("#"):
            heading = line.strip("# ")
    return found


def indented(page):
    found, lines, heading = [], [], ""
    for number, line in enumerate(page.splitlines() + ["end"]):
        if line.startswith("    "):
            lines.append(line[4:])
        elif not line and lines:
            lines.append("")
        elif lines:
            first = number - len(lines)
            while not lines[-1]:
                lines.pop()
            found.append(Block("", heading, first, lines))
            lines = []
        if line.startswith("#"):
            heading = line.strip("# ")
    return found


# Commands that judge this machine, which may be busy: their verdict, told by the
# status and these words, is no failure of the command.
JUDGES = (("calibrate kernels", 1, "kernels known to"),
          ("validate", 3, "drift"),
          ("validate", 4, "CANNOT TELL"),
          ("perfmodel check", 1, "verdict"))

PRELUDE = """
orrery() {
    command orrery "$@" && return 0
    orrery_status=$?
    case "$1 ${2-} $orrery_status" in
    "calibrate kernels 1" | "validate "*" "[34] | "perfmodel check 1")
        echo "$1 $2" >>"$TUTORIAL_STATE.judged"
        return 0 ;;
    esac
    return $orrery_status
}
"""


class Shell:
    """A user's shell: the folder and the variables that a block has set are
    those of the next one."""

    def __init__(self, folder, home, **variables):
        self.state = os.path.join(home, ".shell-state")
        self.folder, self.home = folder, home
        keep = {name: os.environ[name] for name in ("PATH", "TMPDIR", "LANG")
                if name in os.environ}
        keep.update(HOME=home, TUTORIAL_STATE=self.state, LC_ALL="C",
                    OPENBLAS_NUM_THREADS="1", **variables)
        self.variables = keep

    def run(self, text, limit_s=300):
        """(status, stdout, stderr) of the block, ended at its first failure."""
        judged = self.state + ".judged"
        if os.path.exists(judged):
            os.unlink(judged)
        script = (PRELUDE + "set -eu\n" + text +
                  '\nexport -p >"$TUTORIAL_STATE"\npwd >>"$TUTORIAL_STATE"\n')
        done = subprocess.run(["sh", "-c", script], cwd=self.folder,
                              env=self.variables, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=limit_s, encoding="utf-8", check=False)
        if done.returncode == 0:
            self.keep_state()
        if os.path.exists(judged):
            with open(judged, encoding="utf-8") as file:
                for command in file.read().splitlines():
                    words = [w for c, _, w in JUDGES if command.startswith(c)]
                    if not any(w in done.stdout + done.stderr for w in words):
                        return 1, done.stdout, done.stderr
        return done.returncode, done.stdout, done.stderr

    def keep_state(self):
        with open(self.state, encoding="utf-8") as file:
            lines = file.read().splitlines()
        self.folder = lines[-1]
        # A shell reads its own words best.
        shown = subprocess.run(["env", "-i", "sh", "-c", "\n".join(lines[:-1]) +
                                "\nenv -0"],
                               stdout=subprocess.PIPE, check=True).stdout
        self.variables = dict(
            word.split("=", 1) for word in shown.decode().split("\0") if word)


def comparable(output):
    """The output without what differs from run to run and machine to machine. Of
    a real machine, or one that was measured here, no number stays; of others the
    predictions do, which have three decimals."""
    here = re.search(r"\(real|figures measured", output)
    text = re.sub(r"^machine +\S+ \((real|sim)", r"machine * (\1", output,
                  flags=re.M)
    text = re.sub(r"simulated in [\d.]+ s", "simulated in # s", text)
    # What is said of measures that a busy machine spoilt.
    text = re.sub(r"^(untrusted | +orrery perfmodel check, ).*\n", "", text,
                  flags=re.M)
    # What the simulation or the bound took.
    text = re.sub(r"^(.+ \d+\.\d{3} .+ )\d+\.\d\d( +[a-z].*)$", r"\1#\2",
                  text, flags=re.M)
    text = re.sub(r"(yes|no) +[\d.]+", r"\1 #", text)
    if here:
        text = re.sub(r"\d+(\.\d+)?", "#", text)
    text = re.sub(r"(# worker)s?", r"\1", text)
    return [" ".join(line.split()) for line in text.strip().splitlines()]
