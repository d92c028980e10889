/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/api/checkpoint.c - values that other ranks keep. The thread that submits tasks. */
#include "mpi/checkpoint.h"

#include <stdarg.h>

#include <orrery_mpi.h>

#include "mpi/api/api.h"

static struct orr_checkpoint_template *template_of(struct orr_rank *rank,
                                                   starpu_mpi_checkpoint_template_t t,
                                                   const char *call)
{
    orr_api_pointer(rank, t, "template", call);
    return (struct orr_checkpoint_template *)(void *)t;
}

int starpu_mpi_checkpoint_init(void)
{
    return orr_checkpoints_init(ORR_API_RANK(), __func__);
}

int starpu_mpi_checkpoint_shutdown(void)
{
    return orr_checkpoints_shutdown(ORR_API_RANK(), __func__);
}

/* --- entries --- */

static int add_datum(struct orr_rank *rank, struct orr_checkpoint_template *t,
                     starpu_data_handle_t handle, int backup, const char *call)
{
    struct orr_checkpoint_entry entry = {.handle = orr_api_handle(rank, handle, call),
                                         .backup = backup};

    return orr_checkpoint_add(t, &entry, call);
}

static int add_value(struct orr_checkpoint_template *t, va_list *ap, const char *call)
{
    struct orr_checkpoint_entry entry = {.handle = NULL};

    entry.value = va_arg(*ap, void *);
    entry.size = va_arg(*ap, size_t);
    entry.tag = va_arg(*ap, starpu_mpi_tag_t);
    entry.backup_of = va_arg(*ap, int (*)(int));
    return orr_checkpoint_add(t, &entry, call);
}

static int add_array(struct orr_rank *rank, struct orr_checkpoint_template *t, va_list *ap,
                     const char *call)
{
    starpu_data_handle_t *handles = va_arg(*ap, starpu_data_handle_t *);
    int n = va_arg(*ap, int), backup = va_arg(*ap, int), rc = 0;

    if (n > 0)
        orr_api_pointer(rank, handles, "array of handles", call);
    for (int i = 0; i < n && rc == 0; i++)
        rc = add_datum(rank, t, handles[i], backup, call);
    return rc;
}

static int add_list(struct orr_rank *rank, struct orr_checkpoint_template *t, va_list *ap,
                    const char *call)
{
    int tag, rc = 0;

    while (rc == 0 && (tag = va_arg(*ap, int)) != 0) {
        if (tag == STARPU_R) {
            starpu_data_handle_t handle = va_arg(*ap, starpu_data_handle_t);

            rc = add_datum(rank, t, handle, va_arg(*ap, int), call);
        } else if (tag == STARPU_DATA_ARRAY) {
            rc = add_array(rank, t, ap, call);
        } else if (tag == STARPU_VALUE) {
            rc = add_value(t, ap, call);
        } else {
            orr_log_error("%s: argument %#x is no entry: STARPU_R, STARPU_DATA_ARRAY and "
                          "STARPU_VALUE are, and 0 ends the list",
                          call, (unsigned)tag);
            rc = -EINVAL;
        }
    }
    return rc;
}

/* --- templates --- */

int starpu_mpi_checkpoint_template_register(starpu_mpi_checkpoint_template_t *cp_template,
                                            int cp_id, int cp_domain, ...)
{
    struct orr_rank *rank = ORR_API_RANK();
    struct orr_checkpoint_template *t;
    va_list ap;
    int rc;

    orr_api_pointer(rank, cp_template, "template's address", __func__);
    rc = orr_checkpoint_create(rank, cp_id, cp_domain, &t, __func__);
    if (rc)
        return rc;
    va_start(ap, cp_domain);
    rc = add_list(rank, t, &ap, __func__);
    va_end(ap);
    if (rc) {
        orr_checkpoint_discard(t);
        return rc;
    }
    rc = orr_checkpoint_freeze(t, __func__);
    if (rc == 0)
        *cp_template = (starpu_mpi_checkpoint_template_t)(void *)t;
    return rc;
}

int starpu_mpi_checkpoint_template_create(starpu_mpi_checkpoint_template_t *cp_template,
                                          int cp_id, int cp_domain)
{
    struct orr_rank *rank = ORR_API_RANK();
    struct orr_checkpoint_template *t;
    int rc;

    orr_api_pointer(rank, cp_template, "template's address", __func__);
    rc = orr_checkpoint_create(rank, cp_id, cp_domain, &t, __func__);
    if (rc == 0)
        *cp_template = (starpu_mpi_checkpoint_template_t)(void *)t;
    return rc;
}

int starpu_mpi_checkpoint_template_add_entry(starpu_mpi_checkpoint_template_t *cp_template,
                                             ...)
{
    struct orr_rank *rank = ORR_API_RANK();
    struct orr_checkpoint_template *t;
    va_list ap;
    int rc;

    orr_api_pointer(rank, cp_template, "template's address", __func__);
    t = template_of(rank, *cp_template, __func__);
    va_start(ap, cp_template);
    rc = add_list(rank, t, &ap, __func__);
    va_end(ap);
    return rc;
}

int starpu_mpi_checkpoint_template_freeze(starpu_mpi_checkpoint_template_t *cp_template)
{
    struct orr_rank *rank = ORR_API_RANK();

    orr_api_pointer(rank, cp_template, "template's address", __func__);
    return orr_checkpoint_freeze(template_of(rank, *cp_template, __func__), __func__);
}

int starpu_mpi_checkpoint_template_submit(starpu_mpi_checkpoint_template_t cp_template,
                                          int prio)
{
    return orr_checkpoint_submit(template_of(ORR_API_RANK(), cp_template, __func__), prio,
                                 __func__);
}

int starpu_mpi_checkpoint_template_print(starpu_mpi_checkpoint_template_t cp_template)
{
    orr_checkpoint_print(template_of(ORR_API_RANK(), cp_template, __func__));
    return 0;
}

/* --- from files --- */

int orrery_mpi_checkpoint_restore(starpu_mpi_checkpoint_template_t cp_template,
                                  int *ret_step)
{
    struct orr_rank *rank = ORR_API_RANK();

    orr_api_pointer(rank, ret_step, "address for the number", __func__);
    return orr_checkpoint_restore(template_of(rank, cp_template, __func__), ret_step,
                                  __func__);
}
