// SPDX-License-Identifier: LGPL-2.1-or-later
// tools/project/handbook/search.js - the handbook's search, without a server: the sections
// that have all words, those first that have them in their heading. `handbook` is the list that
// index.js makes: page, heading, place, text of each section.
"use strict";

function searchSections(sections, words) {
    const wanted = words.toLowerCase().split(/\s+/).filter(word => word);
    if (!wanted.length)
        return [];
    return sections.map(section => {
        const heading = section.heading.toLowerCase(), text = section.text.toLowerCase();
        const inHeading = wanted.filter(word => heading.includes(word)).length;
        const all = wanted.every(word => heading.includes(word) || text.includes(word));
        return { section, rank: all ? 1 + inHeading : 0 };
    }).filter(found => found.rank).sort((a, b) => b.rank - a.rank)
        .slice(0, 30).map(found => found.section);
}

function showFound(root) {
    const list = document.getElementById("found");
    list.replaceChildren();
    for (const section of searchSections(handbook, document.getElementById("words").value)) {
        const link = document.createElement("a"), item = document.createElement("li");
        link.href = root + section.place;
        link.textContent = section.page + ": " + section.heading;
        item.append(link);
        list.append(item);
    }
}

if (typeof module !== "undefined")
    module.exports = searchSections;
