/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bindings/java/native/objects.c - a data interface: vectors of Java objects. The
 * elements of a replicate are an array of Java's, which keeps it under a number; parts
 * are ranges of that array. Processors only; between main memories elements are copied,
 * to disks and other processes they are serialised.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binding.h"

static void register_vector(starpu_data_handle_t handle, int home, void *interface)
{
    (void)home;
    for (unsigned node = 0; node < STARPU_MAXNODES; node++)
        memcpy(starpu_data_get_interface_on_node(handle, node), interface,
               sizeof(struct object_vector));
}

/* --- up-calls; what Java throws there it returns as a value --- */

struct operation {
    struct object_vector *one, *other;
    starpu_ssize_t result;
    void *bytes;
    size_t size;
};

static void java_allocate(struct java_thread *thread, void *arg)
{
    struct operation *o = arg;
    jvalue args[] = {{.i = (jint)o->one->n}};

    o->result = (*thread->env)->CallStaticIntMethodA(thread->env, java.native,
                                                     java.allocate, args);
    if ((*thread->env)->ExceptionCheck(thread->env))
        (*thread->env)->ExceptionClear(thread->env);
}

static void java_free(struct java_thread *thread, void *arg)
{
    struct operation *o = arg;
    jvalue args[] = {{.i = (jint)o->one->array}};

    (*thread->env)->CallStaticVoidMethodA(thread->env, java.native, java.free, args);
    if ((*thread->env)->ExceptionCheck(thread->env))
        (*thread->env)->ExceptionClear(thread->env);
}

static void java_copy(struct java_thread *thread, void *arg)
{
    struct operation *o = arg;
    jvalue args[] = {{.i = (jint)o->one->array}, {.i = (jint)o->one->first},
                     {.i = (jint)o->other->array}, {.i = (jint)o->other->first},
                     {.i = (jint)o->one->n}};

    (*thread->env)->CallStaticVoidMethodA(thread->env, java.native, java.copy, args);
    if ((*thread->env)->ExceptionCheck(thread->env))
        (*thread->env)->ExceptionClear(thread->env);
}

static void java_pack(struct java_thread *thread, void *arg)
{
    struct operation *o = arg;
    JNIEnv *env = thread->env;
    jvalue args[] = {{.i = (jint)o->one->array}, {.i = (jint)o->one->first},
                     {.i = (jint)o->one->n}};
    jbyteArray bytes =
        (*env)->CallStaticObjectMethodA(env, java.native, java.pack, args);

    o->result = -EINVAL;
    if ((*env)->ExceptionCheck(env))
        (*env)->ExceptionClear(env);
    else if (bytes) {
        o->size = (size_t)(*env)->GetArrayLength(env, bytes);
        o->bytes = (void *)starpu_malloc_on_node_flags(STARPU_MAIN_RAM, o->size, 0);
        o->result = o->bytes ? 0 : -ENOMEM;
        if (o->bytes)
            (*env)->GetByteArrayRegion(env, bytes, 0, (jsize)o->size, o->bytes);
    }
    if (bytes)
        (*env)->DeleteLocalRef(env, bytes);
}

static void java_unpack(struct java_thread *thread, void *arg)
{
    struct operation *o = arg;
    JNIEnv *env = thread->env;
    jbyteArray bytes = (*env)->NewByteArray(env, (jsize)o->size);
    jvalue args[] = {{.i = (jint)o->one->array}, {.i = (jint)o->one->first},
                     {.i = (jint)o->one->n}, {.l = bytes}};

    o->result = -ENOMEM;
    if (bytes) {
        (*env)->SetByteArrayRegion(env, bytes, 0, (jsize)o->size, o->bytes);
        o->result = (*env)->CallStaticBooleanMethodA(env, java.native, java.unpack, args)
                        ? 0
                        : -EINVAL;
        (*env)->DeleteLocalRef(env, bytes);
    }
    if ((*env)->ExceptionCheck(env))
        (*env)->ExceptionClear(env);
}

/* --- the methods --- */

/* What elements take of a memory's limit: a reference each. That is memory of the node,
 * which nobody touches: what is counted is what makes room. */
static size_t bytes_of(const struct object_vector *vector)
{
    return vector->n * sizeof(uint64_t);
}

/* On a disk the memory is an object of it, for the elements as bytes. */
static starpu_ssize_t allocate_on_node(void *interface, unsigned node)
{
    struct operation o = {.one = interface};
    size_t size = bytes_of(interface);
    uintptr_t counted = starpu_malloc_on_node(node, size);

    if (!counted)
        return -ENOMEM;
    o.one->array = 0;
    o.one->first = 0;
    if (starpu_node_get_kind(node) == STARPU_CPU_RAM) {
        call_java(java_allocate, &o);
        if (o.result <= 0) {
            starpu_free_on_node(node, counted, size);
            return -ENOMEM;
        }
        o.one->array = (uint32_t)o.result;
    }
    o.one->counted = counted;
    return (starpu_ssize_t)size;
}

static void free_on_node(void *interface, unsigned node)
{
    struct operation o = {.one = interface};

    if (o.one->array)
        call_java(java_free, &o);
    o.one->array = 0;
    starpu_free_on_node(node, o.one->counted, bytes_of(interface));
}

static int copy_ram_to_ram(void *source, unsigned source_node, void *destination,
                           unsigned destination_node)
{
    struct operation o = {.one = source, .other = destination};

    (void)source_node, (void)destination_node;
    call_java(java_copy, &o);
    return 0;
}

/* There is none for disks, to which values go packed. */
static const struct starpu_data_copy_methods copy_methods = {.ram_to_ram = copy_ram_to_ram};

static void *to_pointer(void *interface, unsigned node)
{
    (void)node;
    return (void *)((struct object_vector *)interface)->counted;
}

static size_t size_of(starpu_data_handle_t handle)
{
    return bytes_of(starpu_data_get_interface_on_node(handle, STARPU_MAIN_RAM));
}

static uint32_t footprint(starpu_data_handle_t handle)
{
    const struct object_vector *vector =
        starpu_data_get_interface_on_node(handle, STARPU_MAIN_RAM);

    return starpu_hash_crc32c_be(vector->n, 0);
}

static int is_alike(void *one, void *other)
{
    return ((struct object_vector *)one)->n == ((struct object_vector *)other)->n;
}

static void display(starpu_data_handle_t handle, FILE *file)
{
    const struct object_vector *vector =
        starpu_data_get_interface_on_node(handle, STARPU_MAIN_RAM);

    fprintf(file, "%u\t", vector->n);
}

static starpu_ssize_t describe(void *interface, char *text, size_t size)
{
    return snprintf(text, size, "JV%u", ((struct object_vector *)interface)->n);
}

static int pack(starpu_data_handle_t handle, unsigned node, void **bytes,
                starpu_ssize_t *count)
{
    struct operation o = {.one = starpu_data_get_interface_on_node(handle, node)};

    call_java(java_pack, &o);
    if (o.result < 0)
        return (int)o.result;
    *count = (starpu_ssize_t)o.size;
    if (bytes)
        *bytes = o.bytes;
    else
        starpu_free_on_node_flags(STARPU_MAIN_RAM, (uintptr_t)o.bytes, o.size, 0);
    return 0;
}

static int peek(starpu_data_handle_t handle, unsigned node, void *bytes, size_t count)
{
    struct operation o = {.one = starpu_data_get_interface_on_node(handle, node),
                          .bytes = bytes, .size = count};

    call_java(java_unpack, &o);
    return (int)o.result;
}

static int unpack(starpu_data_handle_t handle, unsigned node, void *bytes, size_t count)
{
    int error = peek(handle, node, bytes, count);

    starpu_free_on_node_flags(node, (uintptr_t)bytes, count, 0);
    return error;
}

static char name[] = "vector of Java objects";
struct starpu_data_interface_ops object_vector_ops = {
    .register_data_handle = register_vector,
    .allocate_data_on_node = allocate_on_node,
    .free_data_on_node = free_on_node,
    .copy_methods = &copy_methods,
    .to_pointer = to_pointer,
    .get_size = size_of,
    .footprint = footprint,
    .compare = is_alike,
    .display = display,
    .describe = describe,
    .interfaceid = STARPU_UNKNOWN_INTERFACE_ID,
    .interface_size = sizeof(struct object_vector),
    .dontcache = 1,
    .pack_data = pack,
    .peek_data = peek,
    .unpack_data = unpack,
    .name = name,
};

void object_vector_register(starpu_data_handle_t *handle, uint32_t n)
{
    struct object_vector vector = {.n = n};

    if (object_vector_ops.interfaceid == STARPU_UNKNOWN_INTERFACE_ID)
        object_vector_ops.interfaceid = starpu_data_interface_get_next_id();
    vector.id = object_vector_ops.interfaceid;
    starpu_data_register(handle, -1, &vector, &object_vector_ops);
}

/* Blocks of which the first have one element more. */
void object_vector_block(void *father, void *child, struct starpu_data_filter *filter,
                         unsigned id, unsigned n)
{
    const struct object_vector *whole = father;
    struct object_vector *part = child;
    uint32_t least = whole->n / n, rest = whole->n % n;

    (void)filter;
    part->id = whole->id;
    part->array = whole->array;
    part->n = least + (id < rest);
    part->first = whole->first + id * least + (id < rest ? id : rest);
}
