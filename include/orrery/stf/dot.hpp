// SPDX-License-Identifier: LGPL-2.1-or-later
// stf/dot.hpp - the graph of tasks as they are submitted, for Graphviz: sections of
// the program are boxes in it, below a depth they are one node each.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <orrery/stf/lock.hpp>

namespace orrery::stf::detail
{

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
        const lock_guard guard(lock_);
        sections.push_back({name, open, depth_of(open) + 1});
        open = static_cast<int>(sections.size()) - 1;
    }
    void end_section()
    {
        const lock_guard guard(lock_);
        if (open >= 0)
            open = sections[static_cast<std::size_t>(open)].outer;
    }
    void add(const std::string &name, const std::vector<access> &accesses)
    {
        const lock_guard guard(lock_);
        const std::size_t number = tasks.size();

        tasks.push_back({name, open, {}, {}});
        for (const access &a : accesses) {
            tasks[number].data += (tasks[number].data.empty() ? "" : " ") +
                                  a.name + (a.writes ? "(w)" : "(r)");
            order(number, a);
        }
    }
    void write()
    {
        const lock_guard guard(lock_);
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
        std::vector<std::size_t> after; // tasks that come before
    };
    struct last_uses {
        std::vector<std::size_t> readers;
        std::size_t writer = 0;
        bool written = false;
    };

    int depth_of(int number) const
    {
        return number < 0 ? 0
                          : sections[static_cast<std::size_t>(number)].depth;
    }
    void order(std::size_t number, const access &a)
    {
        if (uses.size() <= a.data)
            uses.resize(a.data + 1);
        last_uses &last = uses[a.data];

        if (last.written)
            edge(last.writer, number);
        if (!a.writes) {
            last.readers.push_back(number);
            return;
        }
        for (const std::size_t reader : last.readers)
            edge(reader, number);
        last.readers.clear();
        last.writer = number;
        last.written = true;
    }
    void edge(std::size_t from, std::size_t to)
    {
        for (const std::size_t known : tasks[to].after)
            if (known == from)
                return;
        if (from != to)
            tasks[to].after.push_back(from);
    }
    bool shown(int number) const
    {
        return deepest < 0 || depth_of(number) <= deepest;
    }
    // The section that a task is hidden in, -1: none.
    int hidden(std::size_t number) const
    {
        int inside = tasks[number].section, found = -1;

        for (; inside >= 0;
             inside = sections[static_cast<std::size_t>(inside)].outer)
            if (!shown(inside))
                found = inside;
        return found;
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
                std::fprintf(
                    out, "t%zu [label=%s]\n", i,
                    quoted(tasks[i].name + "\n" + tasks[i].data).c_str());
        for (std::size_t i = 0; i < sections.size(); i++) {
            if (sections[i].outer != outer)
                continue;
            if (!shown(static_cast<int>(i))) {
                std::fprintf(out, "s%zu [shape=box, label=%s]\n", i,
                             quoted(sections[i].name).c_str());
                continue;
            }
            std::fprintf(out,
                         "subgraph cluster_%zu {\nstyle=dashed\nlabel=%s\n", i,
                         quoted(sections[i].name).c_str());
            write_inside(out, static_cast<int>(i));
            std::fputs("}\n", out);
        }
    }
    // A node is a task, or the section that it is hidden in.
    static void print_node(std::FILE *out, int section, std::size_t task)
    {
        if (section < 0)
            std::fprintf(out, "t%zu", task);
        else
            std::fprintf(out, "s%d", section);
    }
    void write_edges(std::FILE *out) const
    {
        // From section i to section k: drawn once.
        std::vector<bool> drawn(sections.size() * sections.size());

        for (std::size_t to = 0; to < tasks.size(); to++)
            for (const std::size_t from : tasks[to].after) {
                const int inside = hidden(from), into = hidden(to);
                if (inside >= 0 && into >= 0) {
                    const std::size_t pair =
                        static_cast<std::size_t>(inside) * sections.size() +
                        static_cast<std::size_t>(into);
                    if (inside == into || drawn[pair])
                        continue;
                    drawn[pair] = true;
                }
                print_node(out, inside, from);
                std::fputs(" -> ", out);
                print_node(out, into, to);
                std::fputs("\n", out);
            }
    }

    lock lock_;
    std::vector<section> sections; // [lock_]
    std::vector<task> tasks;       // [lock_] in the order of submission
    std::vector<last_uses> uses;   // [lock_] by number of the data
    int open = -1, deepest = -1;
};

} // namespace orrery::stf::detail
