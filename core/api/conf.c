/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/conf.c - struct starpu_conf before starpu_init. Any thread, as long
 * as the environment does not change.
 */
#include <errno.h>
#include <string.h>

#include "core/api/api.h"
#include "core/device/kind_settings.h"
#include "core/exec/program.h"

enum { CONF_MAGIC = 42 };

/* The variable if it is set, else -1 for "not set". */
static int count_of(const struct orr_config *config, enum orr_config_id id)
{
    return orr_config_is_set(config, id) ? orr_config_int(config, id) : -1;
}

static void fill_sync_copies(struct starpu_conf *conf,
                             const struct orr_config *config)
{
    const struct orr_device_kind *kind;

    conf->disable_asynchronous_copy =
        orr_config_bool(config, ORR_CFG_SYNC_COPIES);
    for (unsigned i = 0; (kind = orr_device_kind_at(i)); i++) {
        const struct orr_kind_settings *settings = orr_kind_settings(kind);

        if (settings->sync_copies != ORR_CFG_COUNT) {
            int value = orr_config_bool(config, settings->sync_copies);

            memcpy((char *)conf + settings->conf_sync_copies, &value,
                   sizeof(value));
        }
    }
}

static void fill(struct starpu_conf *conf, const struct orr_config *config)
{
    memset(conf, 0, sizeof(*conf));
    conf->magic = CONF_MAGIC;
    conf->ncpus = count_of(config, ORR_CFG_NCPU);
    conf->reserve_ncpus = count_of(config, ORR_CFG_RESERVE_NCPU);
    conf->ncuda = count_of(config, ORR_CFG_NCUDA);
    conf->single_combined_worker =
        orr_config_bool(config, ORR_CFG_SINGLE_COMBINED_WORKER);
    conf->nopencl = count_of(config, ORR_CFG_NOPENCL);
    conf->nhip = count_of(config, ORR_CFG_NHIP);
    conf->nmax_fpga = conf->nmpi_ms = conf->ntcpip_ms = -1;
    conf->calibrate = orr_config_int(config, ORR_CFG_CALIBRATE);
    conf->bus_calibrate = orr_config_int(config, ORR_CFG_BUS_CALIBRATE);
    fill_sync_copies(conf, config);
    conf->trace_buffer_size = UINT64_C(64) << 20;
    conf->global_sched_ctx_min_priority = count_of(config, ORR_CFG_MIN_PRIO);
    conf->global_sched_ctx_max_priority = count_of(config, ORR_CFG_MAX_PRIO);
    conf->catch_signals = orr_config_bool(config, ORR_CFG_CATCH_SIGNALS);
    conf->driver_spinning_backoff_min =
        (unsigned)orr_config_int(config, ORR_CFG_BACKOFF_MIN);
    conf->driver_spinning_backoff_max =
        (unsigned)orr_config_int(config, ORR_CFG_BACKOFF_MAX);
}

int starpu_conf_init(struct starpu_conf *conf)
{
    struct orr_config config;
    struct orr_error err = {""};

    if (!conf) {
        orr_log_error("starpu_conf_init: the structure is NULL");
        return -EINVAL;
    }
    if (orr_config_read_with(&config, orr_program()->settings, &err) < 0) {
        orr_log_error("starpu_conf_init: %s", err.text);
        return -EINVAL;
    }
    fill(conf, &config);
    /* The environment's own text: it lives longer than our copy. */
    if (orr_config_is_set(&config, ORR_CFG_SCHED))
        conf->sched_policy_name = starpu_getenv("STARPU_SCHED");
    orr_config_done(&config);
    return 0;
}

int starpu_conf_noworker(struct starpu_conf *conf)
{
    if (!conf || conf->magic != CONF_MAGIC) {
        orr_log_error("starpu_conf_noworker: call starpu_conf_init on the "
                      "structure first");
        return -EINVAL;
    }
    conf->ncpus = conf->ncuda = conf->nhip = conf->nopencl = 0;
    conf->nmax_fpga = conf->nmpi_ms = conf->ntcpip_ms = 0;
    return 0;
}
