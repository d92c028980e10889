/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/machine/view.h - how the devices of a machine are connected, from the
 * routes of its description: the hubs that devices share on their routes to
 * main memory, switches between devices, direct links. For pictures. Plain
 * data, one thread.
 */
#pragma once

#include "platforms/machine_desc.h"

/* The bandwidth of a connection. */
struct view_rate {
    double down, up;   /* bytes per second towards the device and from it; 0: no
                        * route in that direction */
    double latency_us; /* in one direction, the larger of both */
    bool shared;       /* both directions share it */
};

/* A part of the routes to main memory that is not a device's own: a bus, a
 * bridge, a switch, a link of two sockets. `parent`: the hub between it and
 * main memory, -1: none. */
struct view_hub {
    char *label;           /* owned; "Host", "PCI:0000:[10-1f]" */
    struct view_rate rate; /* least of the links it stands for */
    int parent;
    unsigned depth;    /* 0: at main memory */
    unsigned *devices; /* owned, sorted: indices in the view's */
    unsigned ndevices;
};

struct view_device {
    unsigned host;         /* index in the description */
    unsigned home;         /* the main memory next to it, a host */
    int hub;               /* nearest, -1: none is shared */
    struct view_rate rate; /* of the links that only it uses */
    int cluster;           /* switch between devices, -1: none */
    struct view_rate port; /* its link to that switch; down: from it */
    const char *port_link; /* its id, the description's */
};

/* A link that only two devices use. */
struct view_direct {
    unsigned a, b;         /* devices, a < b */
    struct view_rate rate; /* down: towards b */
};

/* A switch that only devices use (NVSwitch). */
struct view_cluster {
    unsigned ndevices;
    const char *port; /* id of one of the links to it, the description's */
};

struct machine_view {
    struct view_hub *hubs;
    unsigned nhubs;
    struct view_device *devices; /* in the order of drawing: those of a hub are
                                  * adjacent */
    unsigned ndevices;
    struct view_direct *directs;
    unsigned ndirects;
    struct view_cluster *clusters;
    unsigned nclusters;
};

/* Builds the view. *ret is ended with machine_view_done. Fails with -ENOMEM
 * only. */
int machine_view_init(const struct orr_machine_desc *desc,
                      struct machine_view *ret);
void machine_view_done(struct machine_view *view);
