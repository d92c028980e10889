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
