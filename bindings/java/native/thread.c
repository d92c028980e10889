/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bindings/java/native/thread.c - threads that run Java, and exceptions. Workers are
 * attached when they first run Java, as daemons, and detached when they end.
 */
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binding.h"

enum { VERSION = JNI_VERSION_10 };

struct java java;

/* The thread's, freed with it; the key detaches those that were attached here. */
static pthread_key_t attached_key;
static _Thread_local struct java_thread self;

static void detach(void *value)
{
    struct java_thread *thread = value;

    if (thread->buffer)
        (*thread->env)->DeleteGlobalRef(thread->env, thread->buffer);
    free(thread->frame);
    memset(thread, 0, sizeof(*thread));
    (*java.vm)->DetachCurrentThread(java.vm);
}

static JNIEnv *attach(void)
{
    char name[64] = "orrery";
    JavaVMAttachArgs args = {.version = VERSION, .name = name};
    int worker = starpu_worker_get_id();
    void *env;

    if ((*java.vm)->GetEnv(java.vm, &env, VERSION) == JNI_OK)
        return env;
    if (worker >= 0)
        starpu_worker_get_name(worker, name, sizeof(name));
    if ((*java.vm)->AttachCurrentThreadAsDaemon(java.vm, &env, &args) != JNI_OK) {
        fprintf(stderr, "orrery: error: Java has no room for one more thread, %s\n", name);
        abort();
    }
    pthread_setspecific(attached_key, &self);
    return env;
}

struct call {
    void (*function)(struct java_thread *thread, void *arg);
    void *arg;
};

static void on_thread_stack(void *arg)
{
    struct call *call = arg;

    if (!self.env)
        self.env = attach();
    call->function(&self, call->arg);
}

void call_java(void (*function)(struct java_thread *thread, void *arg), void *arg)
{
    struct call call = {function, arg};

    orrery_call_on_thread_stack(on_thread_stack, &call);
}

int64_t *thread_frame(struct java_thread *thread, unsigned n)
{
    JNIEnv *env = thread->env;
    int64_t *frame;
    jobject buffer;

    if (n <= thread->nframe)
        return thread->frame;
    n = n < 8 ? 8 : 2 * n;
    frame = malloc(n * FRAME_WORDS * sizeof(*frame));
    buffer = frame ? (*env)->NewDirectByteBuffer(env, frame, (jlong)(n * FRAME_WORDS *
                                                                     sizeof(*frame)))
                   : NULL;
    if (!buffer) {
        free(frame);
        return NULL;
    }
    if (thread->buffer)
        (*env)->DeleteGlobalRef(env, thread->buffer);
    free(thread->frame);
    thread->buffer = (*env)->NewGlobalRef(env, buffer);
    (*env)->DeleteLocalRef(env, buffer);
    thread->frame = frame;
    thread->nframe = n;
    return frame;
}

/* --- exceptions --- */

void throw_text(JNIEnv *env, jclass thrown, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    (*env)->ThrowNew(env, thrown, text);
}

bool throw_error(JNIEnv *env, jclass thrown, const char *call, int error)
{
    if (error == 0)
        return false;
    if (error == -EDEADLK)
        throw_text(env, thrown,
                   "%s: would wait, which a kernel in Java may not do on a simulated machine, "
                   "and no callback: give the task the data, or submit a task behind it",
                   call);
    else
        throw_text(env, thrown, "%s: %s", call, strerror(error < 0 ? -error : error));
    return true;
}

bool takes_part(JNIEnv *env, jclass thrown, const char *call)
{
    if (orrery_thread_takes_part())
        return true;
    if (starpu_is_initialized())
        throw_text(env, thrown,
                   "%s: called by a second thread, and the machine is simulated, which is one "
                   "thread: call it from the one that called StarPU.init",
                   call);
    else
        throw_text(env, thrown,
                   "%s: call StarPU.init() before it, and not after StarPU.shutdown()", call);
    return false;
}

/* --- loading --- */

static jclass global_class(JNIEnv *env, const char *name)
{
    jclass local = (*env)->FindClass(env, name);

    return local ? (*env)->NewGlobalRef(env, local) : NULL;
}

static bool find_methods(JNIEnv *env)
{
    const struct {
        jmethodID *method;
        const char *name, *type;
    } methods[] = {
        {&java.execute, "execute", "(ILjava/nio/ByteBuffer;I)V"},
        {&java.completed, "completed", "(I)V"},
        {&java.cost, "cost", "(II)D"},
        {&java.allocate, "allocate", "(I)I"},
        {&java.free, "free", "(I)V"},
        {&java.copy, "copy", "(IIIII)V"},
        {&java.pack, "pack", "(III)[B"},
        {&java.unpack, "unpack", "(III[B)Z"},
    };

    java.native = global_class(env, "fr/labri/hpccloud/starpu/Native");
    java.checked = global_class(env, "fr/labri/hpccloud/starpu/StarPUException");
    java.unchecked = global_class(env, "java/lang/IllegalStateException");
    if (!java.native || !java.checked || !java.unchecked)
        return false;
    for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++) {
        *methods[i].method = (*env)->GetStaticMethodID(env, java.native, methods[i].name,
                                                       methods[i].type);
        if (!*methods[i].method)
            return false;
    }
    return true;
}

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved)
{
    void *env;

    (void)reserved;
    java.vm = vm;
    if ((*vm)->GetEnv(vm, &env, VERSION) != JNI_OK || !find_methods(env) ||
        pthread_key_create(&attached_key, detach) != 0)
        return JNI_ERR;
    return VERSION;
}
