#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the handbook: the documents as HTML pages with a search, which need no network.

usage: handbook.py SOURCE FOLDER [DEPFILE]
Takes README.md, ARCHITECTURE.md, CHANGELOG.md, docs/ with its stories, and the pages of other
folders that these lead to and an installation has. Links to what is no page of it become plain text.
FOLDER is made anew. Ends with 1, and says where, if a link leads to a heading that is not there.
Needs Python's markdown (Debian: python3-markdown).
example: tools/project/handbook.py . /tmp/handbook
"""
import html
import json
import os
import posixpath
import re
import shutil
import sys
from html.parser import HTMLParser

FIRST = ["README.md", "docs/TUTORIAL.md", "docs/FROM_STARPU.md"]
OTHERS = ["ARCHITECTURE.md", "CHANGELOG.md", "core/policies/README.md", "perfmodel/METHODS.md",
          "platforms/README.md", "tools/README.md"]
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title} - Orrery</title>
<meta name="viewport" content="width=device-width">
<link rel="stylesheet" href="{root}handbook.css">
<script src="{root}index.js"></script><script src="{root}search.js"></script></head>
<body><nav><input id="words" type="search" placeholder="search" aria-label="search"
oninput="showFound('{root}')"><ul id="found"></ul><ul>
{pages}</ul></nav><main>
{body}
</main></body></html>
"""


class Sections(HTMLParser):
    """Headings of a page with their places, and the text below each; links and places."""

    def __init__(self, text):
        super().__init__()
        self.sections, self.places, self.links, self.heading = [], set(), [], False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if "id" in attrs:
            self.places.add(attrs["id"])
        if tag == "a" and "href" in attrs:
            self.links.append(attrs["href"])
        if re.fullmatch("h[1-6]", tag):
            self.sections.append({"place": attrs.get("id", ""), "heading": "", "text": ""})
            self.heading = True

    def handle_endtag(self, tag):
        if re.fullmatch("h[1-6]", tag):
            self.heading = False

    def handle_data(self, data):
        if self.sections:
            self.sections[-1]["heading" if self.heading else "text"] += data


def slug(text, _separator="-"):
    """The place of a heading, as forges have it: so links of the documents are right there, too."""
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")


def sources(source):
    docs = [f"docs/{name}" for name in sorted(os.listdir(os.path.join(source, "docs")))
            if name.endswith(".md")]
    stories = [f"docs/stories/{name}" for name in
               sorted(os.listdir(os.path.join(source, "docs/stories"))) if name.endswith(".md")]
    first = [page for page in FIRST if os.path.exists(os.path.join(source, page))]
    return first + [page for page in docs if page not in first] + stories + OTHERS


def place_of(page):
    return "index.html" if page == "README.md" else page[:-len(".md")] + ".html"


def lead(pages, page, target):
    """The link in the HTML page; None: it leads out of the handbook."""
    if re.match(r"[a-z]+:", target):
        return target
    path, mark, place = target.partition("#")
    if not path:
        return target
    where = posixpath.normpath(posixpath.join(posixpath.dirname(page), path))
    if where not in pages:
        return None
    here = posixpath.dirname(place_of(page)) or "."
    return posixpath.relpath(place_of(where), here) + mark + place


def convert(markdown, source, pages, page):
    """The page's body as HTML, and the images that it shows."""
    with open(os.path.join(source, page), encoding="utf-8") as file:
        text = file.read()
    body = markdown.markdown(
        text, extensions=["tables", "fenced_code", "toc", "sane_lists"],
        extension_configs={"toc": {"slugify": slug}})
    images = re.findall(r'<img [^>]*src="([^"]*)"', body)

    def link(match):
        to = lead(pages, page, html.unescape(match[1]))
        return (f'<a href="{html.escape(to)}">{match[2]}</a>' if to else match[2])
    return re.sub(r'<a href="([^"]*)">(.*?)</a>', link, body, flags=re.S), images


def wrong_links(bodies):
    """Sentences: of links whose heading is not there."""
    seen = {page: Sections(body) for page, body in bodies.items()}
    by_place = {place_of(page): sections for page, sections in seen.items()}
    wrong = []
    for page, sections in seen.items():
        here = posixpath.dirname(place_of(page))
        for link in sections.links:
            path, _, place = link.partition("#")
            if re.match(r"[a-z]+:", link) or not place:
                continue
            where = posixpath.normpath(posixpath.join(here, path)) if path else place_of(page)
            if place not in by_place[where].places:
                wrong.append(f"{page}: no heading \"#{place}\" in {where}")
    return wrong


def write(folder, name, text):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def write_pages(folder, bodies):
    titles, index = {}, []
    for page, body in bodies.items():
        sections = Sections(body).sections
        titles[page] = sections[0]["heading"] if sections else page
        for section in sections:
            index.append({"page": titles[page], "heading": section["heading"],
                          "place": place_of(page) + "#" + section["place"],
                          "text": " ".join(section["text"].split())})
    for page, body in bodies.items():
        here = posixpath.dirname(place_of(page)) or "."
        root = posixpath.relpath(".", here) + "/"
        rows = "".join(
            f'<li{" class=here" if other == page else ""}>'
            f'<a href="{root}{place_of(other)}">{html.escape(titles[other])}</a></li>\n'
            for other in bodies)
        write(folder, place_of(page), PAGE.format(title=html.escape(titles[page]), root=root,
                                                  pages=rows, body=body))
    write(folder, "index.js", "const handbook = " + json.dumps(index, ensure_ascii=False) + ";\n")


def main():
    if len(sys.argv) not in (3, 4) or "--help" in sys.argv:
        print(__doc__.strip())
        return 0 if "--help" in sys.argv else 2
    try:
        import markdown
    except ImportError:
        print("handbook.py: Python has no markdown: install it (Debian: python3-markdown)",
              file=sys.stderr)
        return 1
    source, folder = sys.argv[1:3]
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "handbook")
    pages = sources(source)
    bodies, used = {}, [os.path.abspath(__file__)]
    shutil.rmtree(folder, ignore_errors=True)
    for page in pages:
        bodies[page], images = convert(markdown, source, set(pages), page)
        used.append(os.path.join(source, page))
        for image in images:
            path = posixpath.join(posixpath.dirname(page), image)
            os.makedirs(os.path.join(folder, posixpath.dirname(path)), exist_ok=True)
            shutil.copyfile(os.path.join(source, path), os.path.join(folder, path))
            used.append(os.path.join(source, path))
    wrong = wrong_links(bodies)
    for line in wrong:
        print(f"handbook.py: {line}", file=sys.stderr)
    if wrong:
        return 1
    write_pages(folder, bodies)
    for name in sorted(os.listdir(beside)):
        shutil.copyfile(os.path.join(beside, name), os.path.join(folder, name))
        used.append(os.path.join(beside, name))
    if len(sys.argv) == 4:
        with open(sys.argv[3], "w", encoding="utf-8") as file:
            file.write(f"{os.path.basename(folder)}: {' '.join(used)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
