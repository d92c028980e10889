/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* bindings/java/native/run.c - beginning, end, waiting, time, the environment. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "binding.h"

NATIVE(void, setenv), jstring name, jstring value, jboolean overwrite)
{
    const char *n = (*env)->GetStringUTFChars(env, name, NULL);
    const char *v = n ? (*env)->GetStringUTFChars(env, value, NULL) : NULL;

    (void)class;
    if (v && setenv(n, v, overwrite) != 0)
        throw_error(env, java.checked, "StarPU.setenv", -errno);
    if (v)
        (*env)->ReleaseStringUTFChars(env, value, v);
    if (n)
        (*env)->ReleaseStringUTFChars(env, name, n);
}

/* The JVM has handlers of its own for what ends a program. */
NATIVE(jint, init))
{
    int error;

    (void)class;
    setenv("STARPU_CATCH_SIGNALS", "0", 0);
    error = starpu_init(NULL);
    if (error)
        throw_text(env, java.checked,
                   "StarPU.init: there is no machine to run on (%s): the message on the "
                   "standard error has the reason, and ORRERY_MACHINE the machine",
                   strerror(-error));
    return error;
}

NATIVE(void, shutdown))
{
    (void)class;
    if (takes_part(env, java.checked, "StarPU.shutdown"))
        starpu_shutdown();
}

NATIVE(jboolean, isInitialized))
{
    (void)env, (void)class;
    return starpu_is_initialized() != 0;
}

NATIVE(jboolean, takesPart))
{
    (void)env, (void)class;
    return orrery_thread_takes_part() != 0;
}

NATIVE(jboolean, isSimulated))
{
    (void)env, (void)class;
    return orrery_is_simulated() != 0;
}

NATIVE(jboolean, runsKernels))
{
    (void)env, (void)class;
    return orrery_runs_kernels() != 0;
}

/* Whether the caller is the application: no kernel, no callback. */
NATIVE(jboolean, isInTask))
{
    (void)env, (void)class;
    return orrery_thread_takes_part() && starpu_task_get_current() != NULL;
}

NATIVE(void, waitForAll))
{
    (void)class;
    if (takes_part(env, java.checked, "StarPU.taskWaitForAll"))
        throw_error(env, java.checked, "StarPU.taskWaitForAll", starpu_task_wait_for_all());
}

NATIVE(jdouble, now))
{
    (void)env, (void)class;
    return starpu_timing_now();
}

NATIVE(jdouble, drand48))
{
    (void)env, (void)class;
    return starpu_drand48();
}

NATIVE(jint, workers))
{
    (void)env, (void)class;
    return (jint)starpu_worker_get_count();
}
