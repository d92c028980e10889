/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/model.h - the state behind a struct starpu_perfmodel, and its
 * translation to perfmodel/.
 */
#pragma once

#include <starpu.h>

#include "core/cost/ask.h"
#include "perfmodel/model.h"
#include "perfmodel/store.h"

/* The model's state, made if needed; NULL without memory. Not for two threads
 * at once. */
struct _starpu_perfmodel_state *
orr_api_model_state(struct starpu_perfmodel *model);

/* A file was loaded: what it says is what the state has per devices. In perfmodel.c. */
void orr_api_model_read(struct _starpu_perfmodel_state *state);

/* The worker class that an architecture means, NULL when no worker here is
 * of it. Lent; that of several cores of a device is written to `room`. */
const struct orr_worker_class *
orr_api_class(struct orr_runtime *rt, const struct starpu_perfmodel_arch *arch,
              struct orr_worker_class *room);

/* The file loaded into the model; NULL without, which is reported on stderr. */
const struct orr_model_file *orr_api_model_file(const char *call,
                                                struct starpu_perfmodel *model);

/* The path of the side file with the model's raw measures, for the caller to
 * free; NULL when it has no file or memory is out. */
char *orr_api_model_side(const struct starpu_perfmodel *model);

/* The devices in perfmodel's type; at most `max` of them. Returns how many. */
unsigned orr_api_devices(const struct starpu_perfmodel_device *devices,
                         int ndevices, struct orr_device *ret, unsigned max);

/* No set has more devices than that. */
#define ORR_API_MAXDEVICES 16
