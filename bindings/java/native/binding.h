/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bindings/java/native/binding.h - what the files of the JNI library share. Java's
 * half is the class Native; its methods are Java_fr_labri_hpccloud_starpu_Native_*.
 *
 * Up-calls go by call_java, on the stack that the thread began with: a JVM takes any
 * other one for an overflow. Methods that are called up catch what is thrown.
 */
#pragma once

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

#include <orrery.h>
#include <starpu.h>

#include "fr_labri_hpccloud_starpu_Native.h" /* written by javac -h */

#define NATIVE(type, name)                                                                 \
    JNIEXPORT type JNICALL Java_fr_labri_hpccloud_starpu_Native_##name(JNIEnv *env,        \
                                                                       jclass class

/* What a kernel's up-call is told of each buffer: words of the thread's frame. Java
 * reads them in Frame. */
enum {
    FRAME_INTERFACE, /* address of the interface */
    FRAME_ADDRESS,   /* of the elements; of an object vector the number of its array */
    FRAME_FIRST,     /* of an object vector: the first element; else 0 */
    FRAME_NX,        /* elements of a row */
    FRAME_NY,        /* rows */
    FRAME_LD,        /* elements from a row to the next */
    FRAME_WORDS,
};

/* What a thread keeps that runs Java. */
struct java_thread {
    JNIEnv *env;
    int64_t *frame; /* room for `nframe' buffers */
    jobject buffer; /* global: a direct buffer on the frame */
    unsigned nframe;
};

/* The classes and methods that are called up. Set when the library is loaded. */
struct java {
    JavaVM *vm;
    jclass native; /* global, as the next ones */
    jclass checked, unchecked; /* StarPUException of tasks, IllegalStateException of data */
    jmethodID execute, completed, cost;
    jmethodID allocate, free, copy, pack, unpack;
};
extern struct java java;

/* Calls function(arg), with the thread attached, on the stack that it began with. */
void call_java(void (*function)(struct java_thread *thread, void *arg), void *arg);

/* The frame of at least n buffers; NULL: no memory, and an exception is pending. */
int64_t *thread_frame(struct java_thread *thread, unsigned n);

/* Whether the calling Java thread may go on with the call; else an exception of the class
 * that names the call is pending. */
bool takes_part(JNIEnv *env, jclass thrown, const char *call);

/* "CALL: what the error means". 0 is none. Returns whether it was one. */
bool throw_error(JNIEnv *env, jclass thrown, const char *call, int error);
void throw_text(JNIEnv *env, jclass thrown, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Describes a buffer. The number of an array for object vectors. */
void describe_buffer(void *interface, int64_t words[FRAME_WORDS]);

/* objects.c: vectors of Java objects. */
extern struct starpu_data_interface_ops object_vector_ops;
struct object_vector {
    int id;         /* of the interface; where all interfaces have it */
    uint32_t array; /* the number that Java knows its array by; 0: none */
    uint32_t first, n;
    uintptr_t counted; /* the memory that stands for the array in the node's limit */
};
void object_vector_register(starpu_data_handle_t *handle, uint32_t n);
void object_vector_block(void *father, void *child, struct starpu_data_filter *filter,
                         unsigned id, unsigned n);
