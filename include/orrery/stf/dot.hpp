// SPDX-License-Identifier: LGPL-2.1-or-later
// stf/dot.hpp - the graph of tasks as they are submitted, for Graphviz: sections of
// the program are boxes in it, below a depth they are one node each.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <orrery/stf/error.hpp>

namespace orrery::stf::detail {

class dot_graph
{
  public:
    struct access {
        std::size_t data; // its number
        std::string name;
        bool writes;
    };

    // The file that the environment asks for, NULL: none.
    static const char *file()
    {
        const char *name = std::getenv("ORRERY_STF_DOT");
        if (!name || !*name)
            name = std::getenv("CUDASTF_DOT_FILE");
        return name && *name ? name : nullptr;
    }

    void begin_section(const std::string &name)
    {
        const std::lock_guard<std::mutex> guard(lock);
        sections.push_back({name, open, depth_of(open) + 1});
        open = static_cast<int>(sections.size()) - 1;
    }
    void end_section()
    {
        const std::lock_guard<std::mutex> guard(lock);
        if (open >= 0)
            open = sections[static_cast<std::size_t>(open)].outer;
    }
    void add(const std::string &name, const std::vector<access> &accesses)
    {
        const std::lock_guard<std::mutex> guard(lock);
        const std::size_t number = tasks.size();

        tasks.push_back({name, open, {}});
        for (const access &a : accesses) {
            tasks[number].data += (tasks[number].data.empty() ? "" : " ") + a.name +
                                (a.writes ? "(w)" : "(r)");
            order(number, a);
        }
    }
    void write()
    {
        const std::lock_guard<std::mutex> guard(lock);
        std::FILE *out = std::fopen(file(), "w");

        if (!out)
            fail(std::string("the graph cannot be written to ") + file());
        const char *depth = std::getenv("CUDASTF_DOT_MAX_DEPTH");
        deepest = depth && *depth ? std::atoi(depth) : -1;
        std::fputs("digraph {\n", out);
        write_inside(out, -1);
        write_edges(out);
        std::fputs("}\n", out);
        if (std::fclose(out) != 0)
            fail(std::string("the graph cannot be written to ") + file());
    }

  private:
    struct section {
        std::string name;
        int outer, depth;
    };
    struct task {
        std::string name;
        int section;
        std::string data;
    };
    struct last_uses {
        std::vector<std::size_t> readers;
        std::size_t writer = 0;
        bool written = false;
    };

    int depth_of(int number) const
    {
        return number < 0 ? 0 : sections[static_cast<std::size_t>(number)].depth;
    }
    void order(std::size_t number, const access &a)
    {
        last_uses &last = uses[a.data];

        if (last.written && last.writer != number)
            edges.insert({last.writer, number});
        if (!a.writes) {
            last.readers.push_back(number);
            return;
        }
        for (const std::size_t reader : last.readers)
            if (reader != number)
                edges.insert({reader, number});
        last.readers.clear();
        last.writer = number;
        last.written = true;
    }
    bool shown(int number) const
    {
        return deepest < 0 || depth_of(number) <= deepest;
    }
    // The node that stands for a task: itself, or the section that it is hidden in.
    std::string node(std::size_t number) const
    {
        int inside = tasks[number].section, hidden = -1;

        for (; inside >= 0;
             inside = sections[static_cast<std::size_t>(inside)].outer)
            if (!shown(inside))
                hidden = inside;
        return hidden < 0 ? "t" + std::to_string(number)
                          : "s" + std::to_string(hidden);
    }
    static std::string quoted(const std::string &text)
    {
        std::string out = "\"";
        for (const char c : text)
            out += c == '"' || c == '\\' ? std::string("\\") + c
                                         : std::string(1, c);
        return out + "\"";
    }
    void write_inside(std::FILE *out, int outer) const
    {
        for (std::size_t i = 0; i < tasks.size(); i++)
            if (tasks[i].section == outer)
                std::fprintf(out, "t%zu [label=%s]\n", i,
                             quoted(tasks[i].name + "\n" + tasks[i].data)
                                 .c_str());
        for (std::size_t i = 0; i < sections.size(); i++) {
            if (sections[i].outer != outer)
                continue;
            if (!shown(static_cast<int>(i))) {
                std::fprintf(out, "s%zu [shape=box, label=%s]\n", i,
                             quoted(sections[i].name).c_str());
                continue;
            }
            std::fprintf(out, "subgraph cluster_%zu {\nstyle=dashed\nlabel=%s\n",
                         i, quoted(sections[i].name).c_str());
            write_inside(out, static_cast<int>(i));
            std::fputs("}\n", out);
        }
    }
    void write_edges(std::FILE *out) const
    {
        std::set<std::pair<std::string, std::string>> drawn;

        for (const auto &edge : edges) {
            const auto ends = std::make_pair(node(edge.first),
                                             node(edge.second));
            if (ends.first != ends.second && drawn.insert(ends).second)
                std::fprintf(out, "%s -> %s\n", ends.first.c_str(),
                             ends.second.c_str());
        }
    }

    std::mutex lock;
    std::vector<section> sections; // [lock]
    std::vector<task> tasks;       // [lock] in the order of submission
    std::map<std::size_t, last_uses> uses;
    std::set<std::pair<std::size_t, std::size_t>> edges;
    int open = -1, deepest = -1;
};

} // namespace orrery::stf::detail
