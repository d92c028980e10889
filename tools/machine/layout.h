/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/machine/layout.h - the layout of the picture of a machine. From top to
 * bottom: processors, a box for each NUMA node, and disks; main memory as a bar
 * over the whole width, or, where it is several nodes, a panel for each with
 * its processors, bar and devices, and links between memories above; a bar for
 * each hub, over the devices that share it; the devices; what connects devices
 * without main memory; the table of bandwidths. Lengths are pixels, y grows
 * downwards. One thread.
 */
#pragma once

#include "tools/machine/view.h"

#include "platforms/locality.h"

#include <stdbool.h>

#define LAYOUT_MARGIN     30
#define LAYOUT_PITCH      172 /* from one device to the next */
#define LAYOUT_BOX_WIDTH  144
#define LAYOUT_BOX_HEIGHT 86
#define LAYOUT_BAR_HEIGHT 28
#define LAYOUT_GAP        58 /* between rows, with the labels of lines */
#define LAYOUT_LINE_AT    26 /* from a box's left edge to the line coming in */
#define LAYOUT_CORE       11
#define LAYOUT_PADDING    14 /* within a panel */
#define LAYOUT_BRIDGE     30 /* from one link between memories to the next */

/* Neighbouring devices drawn as one box. */
struct layout_column {
    unsigned first, n;
};

/* A NUMA node; where main memory is several, a panel with all its parts. */
struct layout_panel {
    double x, width; /* of the panel, or of the box of processors */
};

/* A link between two main memories, above their panels. */
struct layout_bridge {
    unsigned a, b; /* panels, a < b */
    unsigned level;
    struct view_rate rate;
    const char *name; /* of its slowest link, the description's */
};

struct machine_layout {
    struct orr_locality locality;
    struct layout_panel *panels;   /* owned; of each node */
    struct layout_bridge *bridges; /* owned */
    unsigned nbridges, nbridge_levels;
    double *column_at; /* owned; left edges */
    double top;        /* of the processors */
    const struct orr_machine_desc *desc;
    struct machine_view view;
    struct layout_column *columns; /* owned */
    unsigned ncolumns;
    unsigned *column_of; /* owned; per device */
    unsigned *levels;    /* owned; per direct link, how deep it hangs */
    unsigned *rows;      /* owned; per hub, 0 at the top */
    unsigned depth;      /* rows of hubs; 0: there are none */
    unsigned nlevels;
    double width;
    double memory_y, devices_y, below_y; /* tops of rows */
};

/* Places everything. `desc` is borrowed until machine_layout_done. Fails with
 * -ENOMEM only, and then leaves nothing to end. */
int machine_layout_init(const struct orr_machine_desc *desc,
                        struct machine_layout *ret);
void machine_layout_done(struct machine_layout *layout);

/* Left edge of a column, and top of a hub's bar. */
double layout_column_x(const struct machine_layout *l, unsigned column);
double layout_bar_y(const struct machine_layout *l, int hub);

/* The least and the greatest column of a hub's devices. */
void layout_hub_columns(const struct machine_layout *l,
                        const struct view_hub *hub, unsigned *ret_first,
                        unsigned *ret_last);

/* The box of a node's processors; how many cores the fullest has, how many
 * stand in a row, and their height, 0 when they are too many to be drawn. */
double layout_processor_width(const struct machine_layout *l);
double layout_processor_height(const struct machine_layout *l);
unsigned layout_most_cpus(const struct machine_layout *l);
unsigned layout_cores_across(unsigned ncpu);
double layout_cores_height(const struct machine_layout *l);

/* Whether that box names its node: there is only one. */
bool layout_has_place(const struct machine_layout *l);

/* Disks and further memories stand beside the processors. */
bool layout_is_disk(const struct orr_host_desc *host);
bool layout_is_other(const struct orr_machine_desc *desc,
                     const struct orr_host_desc *host);
unsigned layout_count_others(const struct orr_machine_desc *desc);

/* The connection that carries data between two hosts, and the link that limits
 * it most, NULL without a route. */
struct view_rate layout_rate_between(const struct orr_machine_desc *desc,
                                     unsigned from, unsigned to,
                                     const char **ret_name);

/* Whether two labels are drawn as one. */
bool layout_about_equal(double a, double b);

/* GiB that a host may hold, 0: not stated. */
double layout_memory_gib(const struct orr_host_desc *host);
