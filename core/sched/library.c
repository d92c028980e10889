/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/sched/library.c - policies of a shared object. StarPU goes on with its
 * default policy when the object cannot be used; here that is an error, as a
 * policy that does not exist is.
 */
#include "core/sched/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#define VARIABLE "STARPU_SCHED_LIB"

/* The address at which the code of this library begins; NULL: not known. */
static const void *own_base(void)
{
    static const char anchor;
    Dl_info info;

    return dladdr(&anchor, &info) ? info.dli_fbase : NULL;
}

/* Hooks call the functions of the StarPU that the object was linked with: if that
 * is another one, these would find no runtime. */
static int check_origin(void *object, const char *file, struct orr_error *err)
{
    void *call = dlsym(object, "starpu_push_task_end");
    Dl_info info;

    if (!call || !dladdr(call, &info) || info.dli_fbase == own_base())
        return 0;
    return orr_fail(err, -EINVAL,
                    VARIABLE ": %s was linked with another StarPU, %s: link it "
                    "with none, or as pkg-config --libs starpu-1.4 of this one "
                    "says",
                    file, info.dli_fname);
}

/* Opened again it is the same object. */
static int policy_library_open(const char *file, void **ret,
                               struct orr_error *err)
{
    *ret = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!*ret)
        return orr_fail(err, -ENOENT,
                        VARIABLE ": %s; name a shared object that was built "
                        "against this library, with its path",
                        dlerror());
    return check_origin(*ret, file, err);
}

static int check_policy(const struct starpu_sched_policy *policy,
                        const char *file, const char *name,
                        struct orr_error *err)
{
    if (!policy->policy_name || strcmp(policy->policy_name, name) != 0)
        return orr_fail(err, -EINVAL,
                        VARIABLE ": asked for policy `%s', %s gives one whose "
                        "policy_name is `%s'",
                        name, file,
                        policy->policy_name ? policy->policy_name : "NULL");
    if (!policy->push_task)
        return orr_fail(err, -EINVAL,
                        VARIABLE ": policy `%s' of %s lacks push_task", name,
                        file);
    return 0;
}

int orr_sched_library_find(const char *file, const char *name,
                           struct starpu_sched_policy **ret,
                           struct orr_error *err)
{
    static const char symbol[] = "starpu_get_sched_lib_policy";
    struct starpu_sched_policy *(*get)(const char *);
    void *object;
    int code;

    *ret = NULL;
    if (!file || !*file)
        return 0;
    code = policy_library_open(file, &object, err);
    if (code)
        return code;
    /* ISO C has no conversion between the two, POSIX has. */
    *(void **)(void *)&get = dlsym(object, symbol);
    if (!get)
        return orr_fail(err, -EINVAL,
                        VARIABLE ": %s has no %s, the function that returns "
                        "the policy of a name",
                        file, symbol);
    *ret = get(name);
    return *ret ? check_policy(*ret, file, name, err) : 0;
}

int orr_sched_library_list(const char *file, struct starpu_sched_policy ***ret,
                           struct orr_error *err)
{
    struct starpu_sched_policy **(*list)(void);
    void *object;
    int code;

    *ret = NULL;
    if (!file || !*file)
        return 0;
    code = policy_library_open(file, &object, err);
    if (code)
        return code;
    *(void **)(void *)&list = dlsym(object, "starpu_get_sched_lib_policies");
    if (list)
        *ret = list();
    return 0;
}
