#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Man pages and completions that are made of the commands' help. TAP.

usage: test-manual.py MANUAL.PY ORRERY
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "api"))
from programs import Skip, run_all, test  # noqa: E402

if len(sys.argv) != 3:
    sys.exit(__doc__.strip())
MANUAL, ORRERY = map(os.path.abspath, sys.argv[1:3])
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(MANUAL))
from manual_format import FORMATS  # noqa: E402
DOCS = os.path.join(HERE, "..", "..", "docs")
TOP = tempfile.TemporaryDirectory(prefix="orrery-test-")
MAN, BASH, ZSH, FISH = (os.path.join(TOP.name, name)
                        for name in ("man", "bash", "zsh", "fish"))
subprocess.run([sys.executable, MANUAL, ORRERY, "9.9", MAN, BASH, ZSH, FISH],
               check=True)


PATH = {**os.environ, "PATH": os.pathsep.join(
    (os.path.dirname(ORRERY), os.path.join(os.path.dirname(ORRERY), "starpu"),
     os.environ["PATH"]))}


def command_help(*words):
    return subprocess.run([ORRERY, *words, "--help"], check=True,
                          stdout=subprocess.PIPE, encoding="utf-8").stdout


def page(name, section=1):
    with open(os.path.join(MAN, f"man{section}", f"{name}.{section}"),
              encoding="utf-8") as file:
        return file.read()


def pages():
    """The paths of all."""
    return [os.path.join(MAN, section, name) for section in os.listdir(MAN)
            for name in os.listdir(os.path.join(MAN, section))]


def shown(path):
    """What a reader sees of it, on one line."""
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-P-cbou", "-rLL=200n", "-rHY=0",
         path], check=True,
        stdout=subprocess.PIPE, encoding="utf-8")
    return " ".join(done.stdout.replace("\u2010", "-").replace(
        "\u2212", "-").split())


def complete(*words):
    """What bash offers for the last word, with the command in the PATH."""
    script = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); '
              '_orrery; echo "${COMPREPLY[@]}"')
    return subprocess.run(
        ["bash", "-c", script, "-", os.path.join(BASH, "orrery"), *words],
        check=True, stdout=subprocess.PIPE, encoding="utf-8", env=PATH).stdout.split()


@test
def every_command_and_verb_has_a_page():
    names = re.findall(r"^  ([a-z]+)  ", command_help(), re.M)
    assert len(names) > 7, names
    for name in names:
        assert f"orrery\\-{name} \\- " in page("orrery-" + name)
        assert f"BR orrery\\-{name} (1)" in page("orrery")
    for name in ("machine-list", "machine-show", "perfmodel-prune",
                 "calibrate-kernels"):
        assert "Orrery 9.9" in page("orrery-" + name)


@test
def pages_hold_all_of_the_help():
    for words in (("run",), ("explain",), ("machine", "show")):
        text = page("-".join(("orrery",) + words))
        text = text.replace("\\-", "-").replace("\\e", "\\")
        text = text.replace("\\(ga", "`").replace("\\&", "")
        for line in command_help(*words).splitlines():
            line = re.sub("^(usage|example|Exit codes): ", "", line).strip()
            assert line in text, (words, line)


@test
def each_of_starpus_names_has_a_page_with_all_of_its_help():
    folder = os.path.join(os.path.dirname(ORRERY), "starpu")
    for name in ("starpu_fxt_tool", "starpu_trace_state_stats.py", "starpu_config",
                 "starpu_sched_display", "starpu_env", "starpu_tasks_rec_complete"):
        text = page(name)
        assert f".SH NAME\n{name} \\- " in text, name
        text = re.sub(r"\\\(ga", "`", text.replace("\\-", "-").replace("\\e", "\\"))
        said = subprocess.run([os.path.join(folder, name), "--help"], check=True,
                              stdout=subprocess.PIPE, encoding="utf-8", env=PATH).stdout
        for line in said.splitlines():
            line = re.sub("^(usage|example|Exit codes): ", "", line).strip()
            assert line in text.replace("\\&", ""), (name, line)


@test
def formats_have_pages():
    assert "orrery\\-trace \\- trace files" in page("orrery-trace", 5)
    assert ".SH CSV" in page("orrery-trace", 5)
    assert "BR orrery\\-record (5)" in page("orrery-graph", 5)
    if not shutil.which("groff"):
        raise Skip("there is no groff")
    text = shown(os.path.join(MAN, "man5", "orrery-trace.5"))
    # A heading, a row of a table, code, an example.
    for words in ("TRACE(5)", "CSV", "start_ms, end_ms equal for what takes no "
                  "time", "ORRERY_TRACE=FILE makes a run"):
        assert words in text, words
    assert not re.search(r"[`|]|\*\*|\[[^]]*\]\(", text), text


@test
def pages_of_formats_lose_no_words():
    """All that the source has, in its order, is on the page."""
    if not shutil.which("groff"):
        raise Skip("there is no groff")
    for source, name, _ in FORMATS:
        with open(os.path.join(DOCS, source + ".md"), encoding="utf-8") as file:
            text = file.read()
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
        found = iter(re.findall(r"\w+", shown(
            os.path.join(MAN, "man5", name + ".5"))))
        for word in re.findall(r"\w+", re.sub(r"(?m)^# .*$|^\|[-|]+$|^```\w*$|"
                                              r"^\d+\. ", "", text)):
            assert word in found, (name, word)


@test
def groff_has_nothing_to_complain_of():
    if not shutil.which("groff"):
        raise Skip("there is no groff")
    for path in pages():
        done = subprocess.run(
            ["groff", "-man", "-Tutf8", "-ww", "-rLL=200n", path], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            encoding="utf-8")
        assert done.stderr == "", done.stderr


@test
def bash_completes_commands_verbs_and_options():
    assert complete("orrery", "expl") == ["explain"]
    assert complete("orrery", "machine", "doc") == ["doctor"]
    assert complete("orrery", "machine", "show", "--s") == ["--set", "--svg"]
    assert complete("orrery", "run", "--mach") == ["--machine"]
    assert complete("orrery", "run", "--", "./app", "--") == []


def heads(words):
    """What its help has before explanations: usage, and the left column."""
    text = command_help(*words)
    usage = re.match(r"usage:.*\n(?:  .*\n)*", text)[0]
    return usage + "\n".join(
        re.findall(r"^ +((?:-\w, )?--[a-z].*?)(?:  |$)", text[len(usage):], re.M))


def options_of(words):
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", heads(words))) | {"--help"}


def verbs_of(command):
    """As its own help lists them."""
    text = command_help(command)
    return set(re.findall(rf"^(?:usage:)? +orrery {command} ([a-z]+)\b", text, re.M)) | \
        (set(re.findall(r"^  ([a-z]+)  +\S", text, re.M)) if " VERB " in text else set())


def all_words():
    """Each command, each verb: its words."""
    for command in re.findall(r"^  ([a-z]+)  ", command_help(), re.M):
        verbs = verbs_of(command)
        yield (command,)
        for verb in sorted(verbs):
            yield command, verb


@test
def every_verb_prints_json():
    for words in all_words():
        if " VERB " not in command_help(*words):
            assert "--json" in options_of(words), words


@test
def bash_completes_every_verb_and_option():
    tried = 0
    for words in all_words():
        offered = set(complete("orrery", *words, "--"))
        wanted = options_of(words)
        if len(words) == 1:
            assert verbs_of(words[0]) <= set(complete("orrery", *words, "")), words
            if verbs_of(words[0]):
                continue # its options are those of its verbs
        assert offered == wanted, (words, offered ^ wanted)
        tried += len(wanted)
    assert tried > 150, tried


@test
def zsh_completes_every_verb_and_option():
    if not shutil.which("zsh"):
        raise Skip("there is no zsh")
    script = ('compadd() { shift; print -l -- "$@"; }; _describe() { }; _files() { }; '
              'ask() { local -a words=("$@"); local CURRENT=$#; source "$file"; }; '
              'file=$1; while read -r line; do ask ${=line} ""; print "= $line"; done')
    lines = ["orrery " + " ".join(words) for words in all_words()]
    done = subprocess.run(
        ["zsh", "-f", "-c", script, "-", os.path.join(ZSH, "_orrery")],
        input="\n".join(lines) + "\n", check=True, stdout=subprocess.PIPE,
        encoding="utf-8", env=PATH)
    answers = re.split(r"^= .*\n", done.stdout, flags=re.M)
    for words, answer in zip(all_words(), answers):
        offered = set(answer.split())
        if len(words) == 1 and verbs_of(words[0]):
            assert verbs_of(words[0]) <= offered, (words, offered)
            continue
        wanted = options_of(words)
        assert {o for o in offered if o.startswith("--")} == wanted, (
            words, offered ^ wanted)


@test
def fish_completes_every_verb_and_option():
    if not shutil.which("fish"):
        raise Skip("there is no fish")
    lines = ["orrery %s %s" % (" ".join(words), dashes) for words in all_words()
             for dashes in ("", "--")]
    done = subprocess.run(
        ["fish", "--no-config", "-c",
         f"source {os.path.join(FISH, 'orrery.fish')}; while read line; "
         "complete -C $line; echo \"= $line\"; end"],
        input="\n".join(lines) + "\n", check=True, stdout=subprocess.PIPE,
        encoding="utf-8", env=PATH, cwd=TOP.name)
    answers = re.split(r"^= .*\n", done.stdout, flags=re.M)
    for line, answer in zip(lines, answers):
        offered = {row.split("\t")[0] for row in answer.splitlines()}
        words = tuple(line.split()[1:])
        if line.endswith("--"):
            wanted = options_of(words[:-1])
            assert wanted <= offered, (words, wanted - offered)
        elif len(words) == 1:
            assert verbs_of(words[0]) <= offered, (words, offered)


@test
def names_of_machines_and_policies_are_completed():
    listed = subprocess.run([ORRERY, "machine", "list"], check=True,
                            stdout=subprocess.PIPE, encoding="utf-8").stdout
    names = [line.split()[0] for line in listed.splitlines()[1:]]
    assert sorted(complete("orrery", "run", "-m", "")) == sorted(names) != []
    assert complete("orrery", "explain", "--machine", "hgx") == \
        [name for name in names if name.startswith("hgx")]
    assert {"dmda", "dmdas"} <= set(complete("orrery", "run", "-s", "dmda"))


@test
def fish_completes_commands_options_and_names():
    if not shutil.which("fish"):
        raise Skip("there is no fish")

    def offered(line):
        done = subprocess.run(
            ["fish", "--no-config", "-c",
             f"source {os.path.join(FISH, 'orrery.fish')}; complete -C '{line}'"],
            check=True, stdout=subprocess.PIPE, encoding="utf-8", env=PATH)
        return [word.split("\t")[0] for word in done.stdout.splitlines()]

    assert offered("orrery expl") == ["explain"]
    assert "--json" in offered("orrery run --js")
    assert "dmdas" in offered("orrery run -s dmda")


@test
def the_other_shells_accept_their_files():
    ran = 0
    for shell, path in (("zsh", os.path.join(ZSH, "_orrery")),
                        ("fish", os.path.join(FISH, "orrery.fish"))):
        with open(path, encoding="utf-8") as file:
            assert "explain" in file.read()
        if shutil.which(shell):
            subprocess.run([shell, "-n", path], check=True)
            ran += 1
    if not ran:
        raise Skip("there is neither zsh nor fish")


sys.exit(run_all())
