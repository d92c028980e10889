#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Man pages and completions of shells, from what the commands say with --help, and
man pages of file formats, from docs/.

usage: manual.py ORRERY VERSION MAN BASH ZSH FISH

Writes orrery.1, a page for each command and verb, and for each program with StarPU's
name that lies in the folder starpu/ beside ORRERY, into the folder MAN/man1, formats
into MAN/man5, completions as `orrery`, `_orrery` and `orrery.fish` into the others.
"""
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True  # beside the sources
from manual_format import FORMATS, format_page

DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..",
                    "docs")


def help_of(orrery, *words):
    return subprocess.run([orrery, *words, "--help"], check=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          encoding="utf-8").stdout


def what_of(text):
    """The first sentence behind the usage."""
    rest = re.split(r"^\S", text.split("usage:", 1)[1], 1, re.M)
    body = text[len(text) - len(rest[-1]) - 1:]
    return re.split(r"[.:;](?:\s|$)", body)[0].replace("\n", " ")


class Command:
    """A command or verb: its words, its help, options and verbs."""

    def __init__(self, orrery, words, what=""):
        self.words, self.what = words, what
        self.help = help_of(orrery, *words)
        # Usage, and the column of options: "-o, --output FILE", "--csv, --markdown".
        usage = re.match(r"usage:.*\n(?:  .*\n)*", self.help)[0]
        heads = [usage] + re.findall(r"^ +((?:-\w, )?--[a-z].*?)(?:  |$)",
                                     self.help[len(usage):], re.M)
        self.options = sorted(set(re.findall(
            r"(?<![\w-])--[a-z][a-z-]*", "\n".join(heads))) | {"--help"})
        self.short = dict(re.findall(r"^  -(\w), --([a-z-]+)", self.help, re.M))
        self.letters = sorted("-" + letter for letter in self.short)
        name = " ".join(("orrery",) + words)
        found = []
        if len(words) == 1: # a list of verbs, or a line of usage for each
            found = re.findall(rf"^(?:usage:)? +{name} ([a-z]+)\b|"
                               r"^  ([a-z]+)  +\S", self.help, re.M)
            found = ["".join(pair) for pair in found]
        self.verbs = [Command(orrery, words + (verb,))
                      for verb in dict.fromkeys(found)]
        for verb in self.verbs:
            if verb.help == self.help:
                verb.what = self.what
        if not self.what:
            self.what = what_of(self.help)

    @property
    def page(self):
        return "-".join(("orrery",) + self.words)


def commands_of(orrery):
    return [Command(orrery, (name,), what) for name, what in
            re.findall(r"^  ([a-z]+)  +(\S.*)$", help_of(orrery), re.M)]


# --- man pages ---

def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "\\(ga")
    text = re.sub(r"[^\x00-\x7f]", lambda found: f"\\[u{ord(found[0]):04X}]", text)
    return "\n".join("\\&" + line if line[:1] in (".", "'") else line
                     for line in text.split("\n"))


def literal(lines):
    return ".nf\n" + roff("\n".join(lines)) + "\n.fi\n"


def sections(text):
    """Lines of usage, description, exit codes and examples."""
    found = {"usage": [], "about": [], "exit": [], "example": []}
    now = "usage"
    for line in text.rstrip("\n").split("\n"):
        for begin, section in (("usage: ", "usage"), ("Exit codes: ", "exit"),
                               ("example: ", "example")):
            if line.startswith(begin):
                now, line = section, line[len(begin):]
                break
        else:
            if now == "usage" and not line.startswith(" "):
                now = "about"
        found[now].append(line.strip() if now in ("usage", "example")
                          else line)
    return found


def man_page(page, version, what, text, see):
    found = sections(text)
    out = (f'.TH {page.upper()} 1 "" "Orrery {version}" "Orrery"\n'
           f".SH NAME\n{roff(page)} \\- {roff(what)}\n"
           ".SH SYNOPSIS\n" + literal(found["usage"]) +
           ".SH DESCRIPTION\n" + literal(found["about"]))
    if found["exit"]:
        out += ".SH EXIT STATUS\n" + roff("\n".join(found["exit"])) + "\n"
    if found["example"]:
        out += ".SH EXAMPLES\n" + literal(found["example"])
    names = sorted(name for name in see if name != page)
    return out + ".SH SEE ALSO\n" + ",\n".join(
        f".BR {roff(name)} (1)" for name in names).replace(",\n", " ,\n") + "\n"


# --- completions ---

def words_after(command):
    """What may follow: verbs, options."""
    return [verb.words[-1] for verb in command.verbs] + command.options + \
        command.letters


# What follows an option: names that only the command and its programs know.
VALUES = {"machine": "orrery machine list 2>/dev/null | awk 'NR > 1 { print $1 }'",
          "scheduler": "starpu_sched_display 2>/dev/null"}


def bash(commands):
    cases = "".join(
        f"    '{' '.join(c.words)}') words='{' '.join(words_after(c))}' ;;\n"
        for top in commands for c in [top, *top.verbs])
    top = " ".join([c.words[0] for c in commands] + ["--help", "--version"])
    return f"""# Completion of orrery for bash; generated from its help.
_orrery() {{
    local cur=${{COMP_WORDS[COMP_CWORD]}} command=${{COMP_WORDS[1]}} words= w
    COMPREPLY=()
    for w in "${{COMP_WORDS[@]:2:COMP_CWORD-2}}"; do
        [ "$w" != -- ] || return # the program's own
    done
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W '{top}' -- "$cur"))
        return
    fi
    case ${{COMP_WORDS[COMP_CWORD-1]}} in
    -m | --machine) words=$({VALUES["machine"]}) ;;
    -s | --scheduler) words=$({VALUES["scheduler"]}) ;;
    esac
    if [ -n "$words" ]; then
        COMPREPLY=($(compgen -W "$words" -- "$cur"))
        return
    fi
    case "$command ${{COMP_WORDS[2]}}" in
{''.join(f"    '{' '.join(v.words)}') command='{' '.join(v.words)}' ;;{chr(10)}" for c in commands for v in c.verbs)}    esac
    [ "$command" != "${{COMP_WORDS[1]}}" ] && [ "$COMP_CWORD" -eq 2 ] &&
        command=${{COMP_WORDS[1]}}
    case "$command" in
{cases}    esac
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
}}
complete -o default -F _orrery orrery
"""


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def zsh(commands):
    top = "\n".join("        " + quoted(f"{c.words[0]}:{c.what}")
                    for c in commands)
    cases = "".join(
        f"    {quoted(' '.join(c.words))}) compadd -- "
        f"{' '.join(words_after(c))} ;;\n"
        for head in commands for c in [*head.verbs, head])
    return f"""#compdef orrery
# Completion of orrery for zsh; generated from its help.
local -a commands
if (( CURRENT == 2 )); then
    commands=(
{top}
    )
    _describe command commands
    return
fi
if (( ${{words[(I)--]}} && ${{words[(I)--]}} < CURRENT )); then
    _files
    return
fi
case "${{words[CURRENT-1]}}" in
-m|--machine) compadd -- ${{(f)"$({VALUES["machine"]})"}}; return ;;
-s|--scheduler) compadd -- ${{(f)"$({VALUES["scheduler"]})"}}; return ;;
esac
local verb="${{words[2]}} ${{words[3]}}"
(( CURRENT == 3 )) && verb=
case "$verb" in
{"".join(line for line in cases.splitlines(True) if " " in line.split(")")[0].strip())}    *) case "${{words[2]}}" in
{"".join(line for line in cases.splitlines(True) if " " not in line.split(")")[0].strip())}    esac ;;
esac
_files
"""


def fish(commands):
    lines = ["# Completion of orrery for fish; generated from its help."]
    for c in commands:
        lines.append("complete -c orrery -n __fish_use_subcommand -a "
                     f"{c.words[0]} -d {quoted(c.what)}")
        seen = f"'__fish_seen_subcommand_from {c.words[0]}'"
        for verb in c.verbs:
            lines.append(f"complete -c orrery -n {seen} -a {verb.words[1]}")
        options = set(c.options).union(*(v.options for v in c.verbs))
        short = {}
        for one in (c, *c.verbs):
            short.update({name: letter for letter, name in one.short.items()})
        for option in sorted(options):
            line = f"complete -c orrery -n {seen} -l {option[2:]}"
            if option[2:] in short:
                line += f" -s {short[option[2:]]}"
            if option[2:] in VALUES:
                line += f" -x -a {quoted(f'({VALUES[option[2:]]})')}"
            lines.append(line)
    return "\n".join(lines) + "\n"


def name_pages(folder, orrery, version):
    """Of programs with StarPU's names: the text of each file."""
    programs = os.path.join(os.path.dirname(orrery), "starpu")
    names = sorted(name for name in os.listdir(programs)
                   if name.startswith("starpu_") and
                   os.path.isfile(os.path.join(programs, name)) and
                   os.access(os.path.join(programs, name), os.X_OK))
    found = {}
    for name in names:
        text = help_of(os.path.join(programs, name))
        found[os.path.join(folder, name + ".1")] = man_page(
            name, version, what_of(text), text, ["orrery", *names])
    return found


def format_pages(folder, version):
    """The text of each file."""
    found = {}
    for source, name, what in FORMATS:
        with open(os.path.join(DOCS, source + ".md"), encoding="utf-8") as file:
            text = file.read()
        see = [("orrery", 1)] + [(other, 5) for _, other, _ in FORMATS
                                 if other != name]
        found[os.path.join(folder, name + ".5")] = format_page(
            text, name, what, version, see)
    return found


def remove_others(folder, files):
    """Pages of commands that there are no more."""
    for name in os.listdir(folder) if os.path.isdir(folder) else []:
        path = os.path.join(folder, name)
        if name.startswith(("orrery", "starpu_")) and path not in files:
            os.remove(path)


def main():
    if len(sys.argv) != 7:
        sys.exit(__doc__.strip())
    orrery, version = sys.argv[1:3]
    man, *shells = sys.argv[3:]
    commands = commands_of(orrery)
    tops = ["orrery"] + [c.page for c in commands]
    files = {os.path.join(folder, name): write(commands)
             for folder, name, write in zip(
                 shells, ("orrery", "_orrery", "orrery.fish"),
                 (bash, zsh, fish))}
    files.update(format_pages(os.path.join(man, "man5"), version))
    man = os.path.join(man, "man1")
    files[os.path.join(man, "orrery.1")] = man_page(
        "orrery", version, "runs tasks on real and simulated machines",
        help_of(orrery), tops)
    for c in (c for head in commands for c in [head, *head.verbs]):
        files[os.path.join(man, c.page + ".1")] = man_page(
            c.page, version, c.what, c.help, tops)
    files.update(name_pages(man, orrery, version))
    remove_others(man, files)
    for path, text in files.items():
        os.makedirs(os.path.dirname(path), exist_ok=True)
        # Anew, so that ninja sees that the folder has changed.
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(path + ".new", path)


if __name__ == "__main__":
    main()
