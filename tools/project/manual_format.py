# SPDX-License-Identifier: LGPL-2.1-or-later
"""Man pages of file formats, from the pages in docs/ that describe them: the part of
Markdown that these use."""
import re

# Page in docs, name of the man page, what it describes.
FORMATS = (
    ("TRACES", "orrery-trace", "trace files of runs"),
    ("RECORD", "orrery-record", "recorded calls of an application"),
    ("GRAPH", "orrery-graph", "recorded graphs of tasks"),
    ("ASSUME", "orrery-assume", "assumed times of kernels"),
)


def plain(text):
    """A text without a meaning for roff."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "\\(ga")
    text = re.sub(r"[^\x00-\x7f]", lambda one: f"\\[u{ord(one[0]):04X}]", text)
    return "\\&" + text if text[:1] in (".", "'") else text


def inline(text):
    """Code and emphasis in bold, links as their text."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    parts = re.split(r"(`[^`]+`|\*\*[^*]+\*\*|\*[^*\s][^*]*\*)", text)
    return "".join(
        "\\fB" + plain(part.strip("*`")).removeprefix("\\&") + "\\fR"
        if i % 2 else plain(part).removeprefix("\\&" if i else "")
        for i, part in enumerate(parts))


def cells(row):
    """Of a row of a table; \\| is a bar."""
    inner = row.strip().strip("|").replace("\\|", "\0")
    return [cell.strip().replace("\0", "|") for cell in inner.split("|")]


def table(rows):
    """A paragraph for each row: its first cell, then the others."""
    head, body = cells(rows[0]), [cells(row) for row in rows[2:]]
    out = []
    if any(head):
        out.append(".PP\n" + inline(", ".join(filter(None, head))) + ":")
    for first, *rest in body:
        out.append(f".TP\n{inline(first) or '.'}\n"
                   + (inline("; ".join(filter(None, rest))) or "\\&"))
    return "\n".join(out)


def literal(lines):
    return ".PP\n.RS 4\n.nf\n" + "\n".join(
        plain(line) or "\\&" for line in lines) + "\n.fi\n.RE"


def blocks(text):
    """(kind, lines) of each heading, paragraph, list entry, table and example."""
    kind, lines, fenced = None, [], False
    for line in text.rstrip("\n").split("\n") + [""]:
        if line.startswith("```"):
            fenced = not fenced
            now = None
        elif fenced or (line.startswith("    ") and kind != "entry"):
            now, line = "literal", line if fenced else line[4:]
        elif line.startswith("#"):
            now = "heading"
        elif line.startswith("|"):
            now = "table"
        elif re.match(r"(- |\d+\. )", line):
            now, line = "entry", re.sub(r"^(- |\d+\. )", "", line)
            if kind == "entry":
                yield kind, lines
                kind, lines = now, [line]
                continue
        elif not line.strip():
            now = None
        else:
            now = kind if kind == "entry" else "paragraph"
        if now != kind or kind == "heading":
            if lines:
                yield kind, lines
            kind, lines = now, []
        if now:
            lines.append(line)
    if lines:
        yield kind, lines


def format_page(text, name, what, version, see):
    """The man page, of section 5, of a page in Markdown."""
    out = [f'.TH {name.upper()} 5 "" "Orrery {version}" "Orrery"',
           f".SH NAME\n{plain(name)} \\- {plain(what)}", ".SH DESCRIPTION"]
    for kind, lines in blocks(text):
        if kind == "heading":
            depth, title = re.match(r"(#+) (.*)", lines[0]).groups()
            if len(depth) > 1:
                macro = ".SH" if len(depth) == 2 else ".SS"
                out.append(f"{macro} {plain(title)}")
        elif kind == "table":
            out.append(table(lines))
        elif kind == "literal":
            out.append(literal(lines))
        elif kind == "entry":
            out.append(".IP \\(bu 2\n" + inline(" ".join(
                line.strip() for line in lines)))
        else:
            out.append(".PP\n" + inline(" ".join(lines)))
    out.append(".SH SEE ALSO\n" + " ,\n".join(
        f".BR {plain(name)} ({section})" for name, section in see))
    return "\n".join(out) + "\n"
