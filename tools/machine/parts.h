/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/machine/parts.h - published figures of processors and devices: the
 * tables of platforms/catalogue/parts.py, which has their sources. Constant.
 */
#pragma once

#include <stdbool.h>

/* Of one socket. Rates are bytes per second, one direction. */
struct machine_processor {
    const char *name;  /* "EPYC 7763"; NULL ends the table */
    const char *model; /* "AMD EPYC 7763" */
    const char *source;
    unsigned cores;
    double clock;       /* GHz, base */
    double flops;       /* single precision, per cycle and core */
    unsigned l3_cores;  /* that share a third-level cache */
    double memory_rate; /* of all its channels */
    double socket_rate; /* of all links to other sockets, 0: it has none */
};

enum machine_kernel {
    MACHINE_POTRF,
    MACHINE_TRSM,
    MACHINE_SYRK,
    MACHINE_GEMM,
    MACHINE_NKERNELS
};

/* Parameters of law.h's law: us, us per row, flop per second, rows. */
struct machine_law {
    double launch, chain, rate, half;
};

struct machine_device {
    const char *name;  /* "H100 SXM"; NULL ends the table */
    const char *model; /* "NVIDIA H100 SXM5 80GB" */
    const char *also;  /* what drivers call it, "": as above */
    const char *source;
    double tflops, tflops64;               /* of vector units */
    double tflops_tensor, tflops64_tensor; /* 0: there is no such unit */
    double bandwidth;                      /* of its memory, bytes per second */
    unsigned long long memory;             /* bytes */
    unsigned pcie;                         /* generation, sixteen lanes */
    double link_rate; /* of all its links to other devices, one direction, bytes
                       * per second; 0: none */
    double link_efficiency; /* what a copy reaches of it */
    bool has_switch;        /* those links may go to a switch */
    struct machine_law laws[2][MACHINE_NKERNELS]; /* [1]: double precision */
};

/* The values that parts.py assumes if none is published or measured elsewhere.
 * Seconds, bytes per second, parts of the published rate. */
struct machine_assumptions {
    double pcie_efficiency[7]; /* by generation */
    double peer_efficiency;    /* between devices over PCIe */
    double link_efficiency;    /* of devices that are not known */
    double socket_efficiency, memory_efficiency;
    double pcie_latency, socket_latency;
    double link_latency, switch_latency; /* between two devices */
    double core_stream;                  /* what one core can use of memory */
};

extern const struct machine_processor machine_processors[];
extern const struct machine_device machine_devices[];
extern const struct machine_assumptions machine_assumptions;

/* The part that a text names in full: by its name, its model or what drivers
 * call it, in any letter case and with signs between the words or not ("h100
 * pcie", "NVIDIA A100-SXM4-80GB"). A text that says less, or more than the part
 * is ("H100", "RTX 4090 Laptop"), names none: NULL. */
const struct machine_processor *machine_processor_find(const char *text);
const struct machine_device *machine_device_find(const char *text);

/* "H100 PCIe, H100 SXM": parts that have a word of the text, all parts when
 * none has; for messages. Owned by the caller, NULL without memory. */
char *machine_processor_names(const char *text);
char *machine_device_names(const char *text);
