/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* bindings/java/native/data.c - registered data, parts, and buffers on memory. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "binding.h"

/* Java has handles as numbers; those of a kernel's buffers are addresses of interfaces,
 * with this bit. */
enum { IN_KERNEL = 1 };

static starpu_data_handle_t handle_of(jlong number)
{
    return (starpu_data_handle_t)(uintptr_t)number;
}

static jlong number_of(starpu_data_handle_t handle)
{
    return (jlong)(uintptr_t)handle;
}

/* The memory of a direct buffer that has so many bytes; NULL: an exception is pending. */
static void *memory_of(JNIEnv *env, const char *call, jobject buffer, jlong bytes)
{
    void *memory = buffer ? (*env)->GetDirectBufferAddress(env, buffer) : NULL;

    if (!memory)
        throw_text(env, java.unchecked,
                   "%s: the buffer is not direct: make it with ByteBuffer.allocateDirect",
                   call);
    else if (bytes < 0 || (*env)->GetDirectBufferCapacity(env, buffer) < bytes) {
        throw_text(env, java.unchecked,
                   "%s: the buffer has fewer than %lld bytes, or that is no size", call,
                   (long long)bytes);
        memory = NULL;
    }
    return memory;
}

NATIVE(jlong, registerVariable), jobject buffer, jint size)
{
    starpu_data_handle_t handle;
    void *memory;

    (void)class;
    if (!takes_part(env, java.unchecked, "register") ||
        !(memory = memory_of(env, "register", buffer, size)))
        return 0;
    starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)memory, (size_t)size);
    return number_of(handle);
}

NATIVE(jlong, registerVector), jobject buffer, jint n, jint size)
{
    starpu_data_handle_t handle;
    void *memory;

    (void)class;
    if (!takes_part(env, java.unchecked, "register") ||
        !(memory = memory_of(env, "register", buffer, (jlong)n * size)))
        return 0;
    starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)memory, (uint32_t)n,
                                (size_t)size);
    return number_of(handle);
}

NATIVE(jlong, registerMatrix), jobject buffer, jint nx, jint ny, jint size)
{
    starpu_data_handle_t handle;
    void *memory;

    (void)class;
    if (!takes_part(env, java.unchecked, "register") ||
        !(memory = memory_of(env, "register", buffer, (jlong)nx * ny * size)))
        return 0;
    starpu_matrix_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)memory, (uint32_t)nx,
                                (uint32_t)nx, (uint32_t)ny, (size_t)size);
    return number_of(handle);
}

NATIVE(jlong, registerObjects), jint n)
{
    starpu_data_handle_t handle;

    (void)class;
    if (!takes_part(env, java.unchecked, "register"))
        return 0;
    object_vector_register(&handle, (uint32_t)n);
    return number_of(handle);
}

NATIVE(void, unregister), jlong number, jboolean wanted)
{
    (void)class;
    if (!takes_part(env, java.unchecked, "unregister"))
        return;
    if (wanted)
        starpu_data_unregister(handle_of(number));
    else
        starpu_data_unregister_no_coherency(handle_of(number));
}

NATIVE(void, setName), jlong number, jstring name)
{
    const char *text = (*env)->GetStringUTFChars(env, name, NULL);

    (void)class;
    if (!text)
        return;
    starpu_data_set_name(handle_of(number), text);
    (*env)->ReleaseStringUTFChars(env, name, text);
}

NATIVE(void, acquire), jlong number, jint mode)
{
    (void)class;
    if (takes_part(env, java.unchecked, "acquire"))
        throw_error(env, java.unchecked, "acquire",
                    starpu_data_acquire(handle_of(number),
                                        (enum starpu_data_access_mode)mode));
}

NATIVE(void, release), jlong number)
{
    (void)class;
    if (takes_part(env, java.unchecked, "release"))
        starpu_data_release(handle_of(number));
}

/* --- parts --- */

static bool is_objects(starpu_data_handle_t handle)
{
    return (int)starpu_data_get_interface_id(handle) == object_vector_ops.interfaceid;
}

/* Cuts a vector into n blocks, or a matrix into n by m, first along its rows, as programs
 * in C do. */
NATIVE(void, partition), jlong number, jint n, jint m)
{
    starpu_data_handle_t handle = handle_of(number);
    bool matrix = starpu_data_get_interface_id(handle) == STARPU_MATRIX_INTERFACE_ID;
    struct starpu_data_filter rows = {.nchildren = (unsigned)n};
    struct starpu_data_filter columns = {.filter_func = starpu_matrix_filter_block,
                                         .nchildren = (unsigned)m};

    (void)class;
    if (!takes_part(env, java.unchecked, "partition"))
        return;
    rows.filter_func = matrix              ? starpu_matrix_filter_vertical_block
                       : is_objects(handle) ? object_vector_block
                                            : starpu_vector_filter_block;
    if (m > 0)
        starpu_data_map_filters(handle, 2, &columns, &rows);
    else
        starpu_data_partition(handle, &rows);
}

NATIVE(void, unpartition), jlong number)
{
    (void)class;
    if (takes_part(env, java.unchecked, "unpartition"))
        starpu_data_unpartition(handle_of(number), STARPU_MAIN_RAM);
}

NATIVE(jlong, child), jlong number, jint i, jint j)
{
    starpu_data_handle_t part;

    (void)class;
    if (!takes_part(env, java.unchecked, "getSubData"))
        return 0;
    part = starpu_data_get_child(handle_of(number), (unsigned)(j < 0 ? i : j));
    return number_of(j < 0 ? part : starpu_data_get_child(part, (unsigned)i));
}

/* --- what is where --- */

void describe_buffer(void *interface, int64_t words[FRAME_WORDS])
{
    int id = *(int *)interface; /* all interfaces begin with it */

    memset(words, 0, FRAME_WORDS * sizeof(*words));
    words[FRAME_INTERFACE] = (int64_t)(uintptr_t)interface;
    words[FRAME_NX] = words[FRAME_NY] = 1;
    if (id == STARPU_VECTOR_INTERFACE_ID) {
        words[FRAME_ADDRESS] = (int64_t)STARPU_VECTOR_GET_PTR(interface);
        words[FRAME_NX] = words[FRAME_LD] = STARPU_VECTOR_GET_NX(interface);
    } else if (id == STARPU_VARIABLE_INTERFACE_ID) {
        words[FRAME_ADDRESS] = (int64_t)STARPU_VARIABLE_GET_PTR(interface);
    } else if (id == STARPU_MATRIX_INTERFACE_ID) {
        words[FRAME_ADDRESS] = (int64_t)STARPU_MATRIX_GET_PTR(interface);
        words[FRAME_NX] = STARPU_MATRIX_GET_NX(interface);
        words[FRAME_NY] = STARPU_MATRIX_GET_NY(interface);
        words[FRAME_LD] = STARPU_MATRIX_GET_LD(interface);
    } else if (id == object_vector_ops.interfaceid) {
        const struct object_vector *vector = interface;

        words[FRAME_ADDRESS] = vector->array;
        words[FRAME_FIRST] = vector->first;
        words[FRAME_NX] = words[FRAME_LD] = vector->n;
    }
}

/* Of a handle in main memory, or of a kernel's buffer. */
NATIVE(void, describe), jlong number, jlongArray words)
{
    int64_t found[FRAME_WORDS];
    jlong told[FRAME_WORDS];
    void *interface = number & IN_KERNEL
                          ? (void *)(uintptr_t)(number & ~(jlong)IN_KERNEL)
                          : starpu_data_get_interface_on_node(handle_of(number),
                                                              STARPU_MAIN_RAM);

    (void)class;
    describe_buffer(interface, found);
    for (int i = 0; i < FRAME_WORDS; i++)
        told[i] = found[i];
    (*env)->SetLongArrayRegion(env, words, 0, FRAME_WORDS, told);
}

/* A buffer on memory that is somebody else's. */
NATIVE(jobject, view), jlong address, jlong bytes)
{
    (void)class;
    return (*env)->NewDirectByteBuffer(env, (void *)(uintptr_t)address, bytes);
}

NATIVE(jlong, address), jobject buffer)
{
    (void)class;
    return (jlong)(uintptr_t)(*env)->GetDirectBufferAddress(env, buffer);
}
