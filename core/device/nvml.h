/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/nvml.h - NVIDIA's management library, beside energy (energy.h): it
 * is opened at the first question, and stays. Any thread.
 */
#pragma once

struct nvmlDevice_st;

/* Its name of the device on that PCI bus, "3b:00.0" or with a domain; NULL: it
 * knows none, or is not there. */
struct nvmlDevice_st *orr_nvml_device(const char *bus);

/* For how long, in us since some date, a GPU's clocks have been lower than its
 * kernels could use: for its power limit, and for heat. */
struct orr_nvml_slowdown {
    char name[64]; /* "NVIDIA H100 PCIe" */
    double power_us, heat_us;
};

/* Why no GPU can be asked, with what was looked for; NULL: they can. */
const char *orr_nvml_no_slowdown(void);

/* Of GPU `index`, from 0. -ENODEV: there is no such GPU, or none can be asked;
 * -ENOTSUP: it is there, under that name, and does not count. */
int orr_nvml_slowdown(unsigned index, struct orr_nvml_slowdown *ret);
