#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The handbook that tools/project/handbook.py makes: its pages, links, search; nothing of it
is on a network. Prints TAP.

    test-handbook.py SOURCE PYTHON    (which has markdown; "": none has)
"""
import json
import os
import shutil
import sys
import tempfile
from html.parser import HTMLParser

import tools_util as util

LOADED = {("img", "src"), ("script", "src"), ("link", "href"), ("iframe", "src")}


class Page(HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.links, self.loaded, self.places = [], [], set()
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if (tag, name) in LOADED:
                self.loaded.append(value)
            elif (tag, name) == ("a", "href"):
                self.links.append(value)
            elif name == "id":
                self.places.add(value)


def read_pages(folder):
    return {os.path.join(where, name): Page(os.path.join(where, name))
            for where, _, names in os.walk(folder) for name in names if name.endswith(".html")}


def broken(pages):
    """Links and what is loaded that lead nowhere."""
    found = []
    for path, page in pages.items():
        for link in page.links + page.loaded:
            if link.startswith(("http://", "https://", "mailto:")) and link in page.links:
                continue # a reader may follow it
            name, _, place = link.partition("#")
            target = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
            if not os.path.exists(target) or (place and place not in pages[target].places):
                found.append(f"{path}: {link}")
    return found


def search_tests(tap, folder):
    node = shutil.which("node")
    if not node:
        tap.skip("the search finds sections", "there is no node: package nodejs")
        return
    script = ("const fs = require('fs');"
              "const search = require(process.argv[1] + '/search.js');"
              "const text = fs.readFileSync(process.argv[1] + '/index.js', 'utf8');"
              "const list = new Function(text + 'return handbook;')();"
              "console.log(JSON.stringify([search(list, 'soname').map(s => s.place),"
              "search(list, '  ').length, search(list, 'soname xyzzyx').length,"
              "search(list, 'SONAME changelog')[0] !== undefined]));")
    done = util.run(node, "-e", script, folder)
    places, blank, none, both = json.loads(done.out or "[[], 1, 1, false]")
    tap.claim("the search finds sections: first the one that has the word in its heading",
              places[:1] == ["docs/VERSIONS.html#the-soname"], done.err, str(places))
    tap.claim("nothing is found of nothing, or of a word that is nowhere", blank == none == 0)
    tap.claim("all words are wanted, in any case", both)


def wrong_tests(tap, source, python, folder):
    for name in ("docs", "core/policies", "perfmodel", "platforms", "tools"):
        os.makedirs(os.path.join(folder, name))
    os.mkdir(os.path.join(folder, "docs/stories"))
    for name in ("README.md", "ARCHITECTURE.md", "CHANGELOG.md", "core/policies/README.md",
                 "perfmodel/METHODS.md", "platforms/README.md", "tools/README.md"):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write("# A page\n\n[there](docs/ONE.md#not-there) [source](a.c)\n"
                       if name == "README.md" else "# A page\n")
    with open(os.path.join(folder, "docs/ONE.md"), "w", encoding="utf-8") as file:
        file.write("# One\n")
    done = util.run(python, source + "/tools/project/handbook.py", folder, folder + "/out")
    tap.claim("a link to a heading that is not there fails, and is named",
              done.code == 1 and 'README.md: no heading "#not-there" in docs/ONE.html' in
              done.err, done.err)


def tests(tap, source, python, folder):
    out = os.path.join(folder, "handbook")
    done = util.run(python, source + "/tools/project/handbook.py", source, out)
    tap.claim("it is made", done.code == 0, done.err)
    pages = read_pages(out)
    docs = [name[:-3] for name in os.listdir(source + "/docs") if name.endswith(".md")]
    lacking = [name for name in docs
               if os.path.join(out, "docs", name + ".html") not in pages]
    tap.claim("each document is a page", not lacking and len(pages) > len(docs), str(lacking))
    links = broken(pages)
    tap.claim("links lead to pages and headings that are there", not links, *links[:20])
    tap.claim("pages lead to each other", all(
        sum(not link.startswith("http") for link in page.links) >= len(pages)
        for page in pages.values()))
    away = [name for page in pages.values() for name in page.loaded
            if ":" in name or name.startswith("//")]
    with open(out + "/handbook.css", encoding="utf-8") as file:
        css = file.read()
    tap.claim("nothing is loaded from a network", not away and "url(" not in css and
              "@import" not in css, str(away))
    search_tests(tap, out)
    wrong_tests(tap, source, python, os.path.join(folder, "wrong"))


def main():
    tap = util.Tap()
    source, python = os.path.abspath(sys.argv[1]), sys.argv[2]
    if python:
        with tempfile.TemporaryDirectory() as folder:
            tests(tap, source, python, folder)
    else:
        tap.skip("the handbook", "Python has no markdown: package python3-markdown")
    tap.end()


if __name__ == "__main__":
    main()
