/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * orrery_drawing.h - the graph of tasks as a program submits them, for Graphviz: sections
 * of the program are boxes in it. What orrery/stf.hpp draws with. Any thread; no call
 * waits.
 */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct starpu_task;
struct orrery_drawing;
struct orrery_drawn_end;

/* How a task uses data: their number, by which tasks are ordered, and name. */
struct orrery_drawn_use {
    size_t data;
    const char *name; /* lent for the call */
    int writes;
    int reads; /* what they had before */
};

/* What nodes of a drawing show. */
struct orrery_drawing_look {
    int deepest;  /* sections below that depth are one node each; -1: none */
    int times;    /* not 0: how long tasks have run; the longest is red */
    int colours;  /* not 0: where; one for each device, grey for processors */
    int nameless; /* not 0: no names of data */
    int copies; /* not 0: copies that tasks need of values that are elsewhere */
};

/* An empty drawing, for orrery_drawing_free(); NULL: there is no memory. Times, colours
 * and copies are those of tasks that are submitted while profiling is on. After
 * starpu_init(). */
struct orrery_drawing *
orrery_drawing_new(const struct orrery_drawing_look *look);
void orrery_drawing_free(struct orrery_drawing *drawing);

/* Tasks that are added from now on, and sections, are in this one, until its end. */
void orrery_drawing_begin_section(struct orrery_drawing *drawing,
                                  const char *name);
void orrery_drawing_end_section(struct orrery_drawing *drawing);

/* Of a task before its submission: its callback is called by one that notes where and how
 * long it ran. NULL where the drawing has no use for that; else for orrery_drawing_add(),
 * or orrery_drawing_forget() if the task is refused. */
struct orrery_drawn_end *orrery_drawing_watch(struct orrery_drawing *drawing,
                                              struct starpu_task *task);
void orrery_drawing_forget(struct orrery_drawn_end *end);

/* A task that was submitted, behind those that use the same data; takes `end`. */
void orrery_drawing_add(struct orrery_drawing *drawing, const char *name,
                        const struct orrery_drawn_use *uses, unsigned n,
                        struct orrery_drawn_end *end);

/* Writes it to the file. Returns 0 or an errno, negative; -ENOMEM as well if a call before
 * had no memory. Tasks that are drawn have ended. */
int orrery_drawing_write(struct orrery_drawing *drawing, const char *path);

#ifdef __cplusplus
}
#endif
