/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bindings/java/native/task.c - codelets and tasks. Java keeps what belongs to a task in
 * a table, and the task the number there, from 1, as the argument of its callback; what
 * reduces has numbers as the arguments of its codelets. So nothing here refers to objects
 * of Java. Numbers of tasks that have ended are given back in bulk.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "binding.h"

struct java_codelet {
    struct starpu_codelet cl; /* first */
    struct starpu_perfmodel model;
};

/* What happens with a task; equal in Task.java. */
enum { SYNCHRONOUS = 1, AWAITED = 2, PROMISED = 4 };

/* Numbers of tasks that have ended. */
static struct {
    pthread_mutex_t lock;
    jint *numbers;
    unsigned n, room; /* [lock] */
} ended = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Main, when simulated: waits until a promised task has ended. */
static starpu_sem_t completion;
static atomic_bool main_waits;

static void task_ended(void *arg)
{
    pthread_mutex_lock(&ended.lock);
    ended.numbers[ended.n++] = (jint)(intptr_t)arg;
    pthread_mutex_unlock(&ended.lock);
}

static void java_completed(struct java_thread *thread, void *arg)
{
    jvalue args[] = {{.i = (jint)(intptr_t)arg}};

    (*thread->env)->CallStaticVoidMethodA(thread->env, java.native, java.completed, args);
    if ((*thread->env)->ExceptionCheck(thread->env))
        (*thread->env)->ExceptionClear(thread->env);
}

static void promised_ended(void *arg)
{
    call_java(java_completed, arg);
    task_ended(arg);
    if (!atomic_exchange(&main_waits, false))
        return;
    orrery_own_wait_end(&completion);
    starpu_sem_post(&completion);
}

/* The table of Java has n numbers from now on: all of them may be given back at once. */
NATIVE(jboolean, reserveNumbers), jint n)
{
    jint *numbers;

    (void)env, (void)class;
    pthread_mutex_lock(&ended.lock);
    numbers = realloc(ended.numbers, (size_t)n * sizeof(*numbers));
    if (numbers) {
        ended.numbers = numbers;
        ended.room = (unsigned)n;
    }
    pthread_mutex_unlock(&ended.lock);
    return numbers != NULL;
}

/* Moves numbers of tasks that have ended to the array; how many. */
NATIVE(jint, takeEnded), jintArray numbers)
{
    jint room = (*env)->GetArrayLength(env, numbers), n, first;

    (void)class;
    pthread_mutex_lock(&ended.lock);
    n = (jint)ended.n < room ? (jint)ended.n : room;
    first = (jint)ended.n - n;
    if (n > 0)
        (*env)->SetIntArrayRegion(env, numbers, 0, n, ended.numbers + first);
    ended.n = (unsigned)first;
    pthread_mutex_unlock(&ended.lock);
    return n;
}

/* --- kernels and models --- */

/* 0: a task that combines what tasks have contributed. */
static int number_of(const struct starpu_task *task)
{
    return task->callback_func == task_ended || task->callback_func == promised_ended
               ? (int)(intptr_t)task->callback_arg
               : 0;
}

struct execution {
    void **buffers;
    unsigned n;
    int number;
};

static void java_execute(struct java_thread *thread, void *arg)
{
    const struct execution *e = arg;
    JNIEnv *env = thread->env;
    int64_t *frame = thread_frame(thread, e->n);
    jvalue args[] = {{.i = e->number}, {.l = thread->buffer}, {.i = (jint)e->n}};

    if (frame) {
        for (unsigned i = 0; i < e->n; i++)
            describe_buffer(e->buffers[i], frame + (size_t)i * FRAME_WORDS);
        (*env)->CallStaticVoidMethodA(env, java.native, java.execute, args);
    }
    if ((*env)->ExceptionCheck(env)) {
        (*env)->ExceptionDescribe(env);
        (*env)->ExceptionClear(env);
    }
}

static void java_kernel(void *buffers[], void *arg)
{
    struct starpu_task *task = starpu_task_get_current();
    struct execution e = {buffers, STARPU_TASK_GET_NBUFFERS(task), number_of(task)};

    (void)arg;
    call_java(java_execute, &e);
}

/* The argument of codelets of a reduction: first values are made inside of the kernels of
 * other tasks. */
static void java_init_kernel(void *buffers[], void *arg)
{
    struct execution e = {buffers, 1, (int)(intptr_t)arg};

    call_java(java_execute, &e);
}

static void java_redux_kernel(void *buffers[], void *arg)
{
    struct execution e = {buffers, 2, (int)(intptr_t)arg};

    call_java(java_execute, &e);
}

struct estimate {
    int number;
    enum starpu_worker_archtype type;
    double us;
};

static void java_cost(struct java_thread *thread, void *arg)
{
    struct estimate *e = arg;
    jvalue args[] = {{.i = e->number}, {.i = (jint)e->type}};

    e->us = (*thread->env)->CallStaticDoubleMethodA(thread->env, java.native, java.cost,
                                                    args);
    if ((*thread->env)->ExceptionCheck(thread->env))
        (*thread->env)->ExceptionClear(thread->env);
}

static double cost_function(struct starpu_task *task, struct starpu_perfmodel_arch *arch,
                            unsigned implementation)
{
    struct estimate e = {number_of(task), arch->devices[0].type, 0};

    (void)implementation;
    call_java(java_cost, &e);
    return e.us;
}

/* --- codelets --- */

static char *copy_text(JNIEnv *env, jstring string)
{
    const char *text = string ? (*env)->GetStringUTFChars(env, string, NULL) : NULL;
    char *copy = text ? strdup(text) : NULL;

    if (text)
        (*env)->ReleaseStringUTFChars(env, string, text);
    return copy;
}

/* The text in C, which stays; 0 without memory. */
NATIVE(jlong, text), jstring text)
{
    (void)class;
    return (jlong)(uintptr_t)copy_text(env, text);
}

/* Codelets stay: a run may ask about each of them until the process ends. */
NATIVE(jlong, newCodelet), jstring name, jstring model, jboolean costs, jintArray modes,
       jint role, jlong cpu, jlong cuda, jboolean asynchronous, jboolean device)
{
    /* By role: equal in Codelet.java. */
    static const starpu_cpu_func_t kernels[] = {java_kernel, java_redux_kernel,
                                                java_init_kernel};
    struct java_codelet *c = calloc(1, sizeof(*c));
    jint n = (*env)->GetArrayLength(env, modes), mode;

    (void)class;
    if (!c) {
        throw_error(env, java.checked, "codelet", -ENOMEM);
        return 0;
    }
    starpu_codelet_init(&c->cl);
    c->cl.name = copy_text(env, name);
    c->cl.cpu_funcs[0] = cpu ? (starpu_cpu_func_t)(uintptr_t)cpu : kernels[role];
    if (asynchronous)
        c->cl.cuda_flags[0] = STARPU_CUDA_ASYNC;
    if (cuda)
        c->cl.cuda_funcs[0] = (starpu_cuda_func_t)(uintptr_t)cuda;
    else if (device && orrery_is_simulated())
        c->cl.cuda_funcs[0] = java_kernel; /* never called: devices' kernels are not run */
    c->cl.nbuffers = n;
    if (n > STARPU_NMAXBUFS) {
        c->cl.dyn_modes = calloc((size_t)n, sizeof(*c->cl.dyn_modes));
        if (!c->cl.dyn_modes) {
            throw_error(env, java.checked, "codelet", -ENOMEM);
            free(c);
            return 0;
        }
    }
    for (jint i = 0; i < n; i++) {
        (*env)->GetIntArrayRegion(env, modes, i, 1, &mode);
        if (c->cl.dyn_modes)
            c->cl.dyn_modes[i] = (enum starpu_data_access_mode)mode;
        else
            c->cl.modes[i] = (enum starpu_data_access_mode)mode;
    }
    if (model || costs) {
        c->model.type = costs ? STARPU_PER_ARCH : STARPU_HISTORY_BASED;
        c->model.symbol = copy_text(env, model ? model : name);
        c->model.arch_cost_function = costs ? cost_function : NULL;
        c->cl.model = &c->model;
    }
    return (jlong)(uintptr_t)c;
}

/* With the numbers of both in Java's table. */
NATIVE(void, setReductionMethods), jlong handle, jlong redux, jint redux_number, jlong init,
       jint init_number)
{
    (void)env, (void)class;
    starpu_data_set_reduction_methods_with_args(
        (starpu_data_handle_t)(uintptr_t)handle, (struct starpu_codelet *)(uintptr_t)redux,
        (void *)(intptr_t)redux_number, (struct starpu_codelet *)(uintptr_t)init,
        (void *)(intptr_t)init_number);
}

/* A function of C, by the name of its library (null: the program's) and its own. */
NATIVE(jlong, findFunction), jstring library, jstring name)
{
    char *path = copy_text(env, library), *symbol = copy_text(env, name);
    void *opened = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *found = opened && symbol ? dlsym(opened, symbol) : NULL;

    (void)class;
    if (!found)
        throw_text(env, java.checked, "function `%s': %s", symbol ? symbol : "", dlerror());
    free(path);
    free(symbol);
    return (jlong)(uintptr_t)found;
}

/* --- tasks --- */

static bool set_handles(JNIEnv *env, struct starpu_task *task, jlongArray handles, jint n)
{
    jlong few[STARPU_NMAXBUFS], *numbers = few;

    if (n > STARPU_NMAXBUFS) {
        numbers = malloc((size_t)n * sizeof(*numbers));
        task->dyn_handles = malloc((size_t)n * sizeof(*task->dyn_handles));
        if (!numbers || !task->dyn_handles) {
            free(numbers);
            return false;
        }
    }
    (*env)->GetLongArrayRegion(env, handles, 0, n, numbers);
    for (jint i = 0; i < n; i++)
        (task->dyn_handles ? task->dyn_handles : task->handles)[i] =
            (starpu_data_handle_t)(uintptr_t)numbers[i];
    if (numbers != few)
        free(numbers);
    return true;
}

/* Returns the task's address if it is to be waited for by that. */
NATIVE(jlong, submit), jlong codelet, jlongArray handles, jint n, jint number, jint flags,
       jint priority, jlong argument, jlong name)
{
    struct starpu_task *task;
    int error;

    (void)class;
    if (!takes_part(env, java.checked, "StarPU.submitTask"))
        return 0;
    task = starpu_task_create();
    if (!set_handles(env, task, handles, n)) {
        starpu_task_destroy(task);
        throw_error(env, java.checked, "StarPU.submitTask", -ENOMEM);
        return 0;
    }
    task->cl = (struct starpu_codelet *)(uintptr_t)codelet;
    task->cl_arg = (void *)(uintptr_t)argument;
    task->priority = priority;
    task->callback_func = flags & PROMISED ? promised_ended : task_ended;
    task->callback_arg = (void *)(intptr_t)number;
    task->synchronous = flags & SYNCHRONOUS ? 1 : 0;
    if (flags & AWAITED)
        task->detach = 0;
    if (name)
        task->name = (const char *)(uintptr_t)name;
    error = starpu_task_submit(task);
    if (error) {
        starpu_task_destroy(task);
        if (error == -ENODEV)
            throw_text(env, java.checked,
                       "StarPU.submitTask: no worker of this machine can execute `%s'",
                       ((struct starpu_codelet *)(uintptr_t)codelet)->name);
        else
            throw_error(env, java.checked, "StarPU.submitTask", error);
        return 0;
    }
    return (jlong)(uintptr_t)task;
}

NATIVE(void, waitForTask), jlong task)
{
    (void)class;
    if (takes_part(env, java.checked, "StarPU.waitForTasks"))
        throw_error(env, java.checked, "StarPU.waitForTasks",
                    starpu_task_wait((struct starpu_task *)(uintptr_t)task));
}

/* Nobody waits for it any more; it has ended. */
NATIVE(void, destroyTask), jlong task)
{
    (void)env, (void)class;
    starpu_task_destroy((struct starpu_task *)(uintptr_t)task);
}

/* Simulated, of main: lets others run until a promised task ends. */
NATIVE(void, waitForCompletion))
{
    (void)class;
    if (!takes_part(env, java.checked, "get"))
        return;
    orrery_own_wait_begin(&completion);
    starpu_sem_init(&completion, 0, 0);
    atomic_store(&main_waits, true);
    starpu_sem_wait(&completion);
    starpu_sem_destroy(&completion);
}
