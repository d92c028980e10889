/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/machine/parts.h - published figures of processors and devices: the
 * tables of platforms/catalogue/derive.py, which has their sources. Constant.
 */
#pragma once

struct machine_processor {
    const char *name;   /* "EPYC 7763"; NULL ends the table */
    const char *model;  /* "AMD EPYC 7763" */
    double clock;       /* GHz, base */
    double flops;       /* single precision, per cycle and core */
    double memory_rate; /* bytes per second of all its channels */
    unsigned cores;     /* of the catalogue's machine with it, 0: none */
};

struct machine_device {
    const char *name;          /* "H100 SXM"; NULL ends the table */
    const char *model;         /* "NVIDIA H100 SXM5 80GB" */
    double tflops;             /* single precision */
    unsigned long long memory; /* bytes */
};

/* What derive.py assumes where nothing is published. Seconds, bytes per
 * second. */
struct machine_assumptions {
    /* Of the published rate. */
    double bus_efficiency, nvlink_efficiency, memory_efficiency;
    double pcie_latency, nvlink_latency;
    double nvlink_rate; /* one direction of one device, NVLink 4 */
};

extern const struct machine_processor machine_processors[];
extern const struct machine_device machine_devices[];
extern const struct machine_assumptions machine_assumptions;

/* The part that a text names: by its name or model, or a name that is a part of
 * the text or that the text is a part of, in any letter case ("h100 pcie",
 * "NVIDIA A100-SXM4-80GB"); of several the longest name. NULL without. */
const struct machine_processor *machine_processor_find(const char *text);
const struct machine_device *machine_device_find(const char *text);

/* "EPYC 7763, Ryzen 7950X": the names, for messages; owned by the caller, NULL
 * without memory. */
char *machine_processor_names(void);
char *machine_device_names(void);
