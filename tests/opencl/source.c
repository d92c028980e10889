/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/opencl/source.c - what is known of kernels from their source: parameters, which are
 * only read, operations and bytes. TAP.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opencl/count.h"

static unsigned ntests, failed;

static void claim(bool holds, const char *what)
{
    printf("%s %u - %s\n", holds ? "ok" : "not ok", ++ntests, what);
    failed += !holds;
}

/* One kernel `k` of a source, and a work-item of it. */
struct fixture {
    struct socl_source *source;
    const struct socl_function *kernel;
    struct socl_count count;
};

static struct fixture read_with(const char *text, const char *options, const double *values)
{
    static double none[16];
    struct fixture fixture = {0};
    char *log = NULL;

    for (int i = 0; i < 16; i++)
        none[i] = (double)NAN;
    fixture.source = socl_source_read(text, options, &log);
    if (!fixture.source) {
        printf("# %s", log ? log : "no memory\n");
        free(log);
        exit(1);
    }
    fixture.kernel = socl_source_find(fixture.source, "k");
    if (!fixture.kernel)
        return fixture;
    fixture.count.loads = calloc(32, sizeof(double));
    socl_source_count(fixture.source, fixture.kernel, values ? values : none, &fixture.count);
    return fixture;
}

static void done(struct fixture *fixture)
{
    free(fixture->count.loads);
    free(fixture->count.written);
    socl_source_free(fixture->source);
}

static bool near(double got, double wanted)
{
    if (fabs(got - wanted) <= 1e-9 * fabs(wanted))
        return true;
    printf("# %g instead of %g\n", got, wanted);
    return false;
}

static void test_parameters(void)
{
    struct fixture f = read_with(
        "#define REAL float\n"
        "typedef unsigned int uint32;\n"
        "kernel void k(__global const REAL *restrict a, global int *b, __local double *c,\n"
        "    __constant float4 *d, uint32 n, const unsigned short m, float2 v) { b[0] = n; }",
        NULL, NULL);
    const struct socl_parameter *p = f.kernel->parameters;

    claim(f.kernel->n == 7 && !strcmp(p[0].name, "a") && !strcmp(p[6].name, "v"),
          "parameters are found, with macros and types of the source's own");
    claim(p[0].pointer && p[0].is_const && p[0].is_restrict && p[0].space == SOCL_GLOBAL &&
              p[0].scalar == SOCL_FLOAT,
          "a constant buffer of floats");
    claim(p[2].space == SOCL_LOCAL && p[2].scalar == SOCL_DOUBLE, "local memory");
    claim(p[3].space == SOCL_CONSTANT && p[3].width == 4, "constant memory of vectors");
    claim(!p[4].pointer && p[4].bytes == 4 && p[5].bytes == 2 && p[6].bytes == 8,
          "scalars and vectors have sizes");
    done(&f);
}

static void test_reads(void)
{
    struct fixture f = read_with(
        "void put(__global float *to, float x) { to[0] = x; }\n"
        "__kernel void k(__global float *a, __global float *b, __global float *c,\n"
        "    __global float *d, __global float *e, __global int *f) {\n"
        "  __global float *alias = b + 3;\n"
        "  *alias = a[0]; put(c, 1.0f); d[1] += 2.0f; float x = e[0] == 1.0f;\n"
        "  atomic_add(&f[0], 1); }",
        NULL, NULL);
    const struct socl_parameter *p = f.kernel->parameters;

    claim(p[0].only_read && p[4].only_read, "buffers that are only read");
    claim(!p[1].only_read, "a buffer that is written by another name");
    claim(!p[2].only_read, "… by another function");
    claim(!p[3].only_read && !p[5].only_read, "… in place, and by an atomic operation");
    done(&f);
}

static void test_operations(void)
{
    struct fixture f = read_with(
        "__kernel void k(__global float *a, __global double *b) {\n"
        "  int i = get_global_id(0);\n"
        "  a[i] = a[i] * 2.0f + 1.0f;\n" /* 2 */
        "  float4 v = (float4)(1.0f); v = mad(v, v, v);\n" /* 8 */
        "  b[i] = sqrt(b[i]) - 1.0; }",                    /* 2 of doubles */
        NULL, NULL);

    claim(near(f.count.flops32, 10), "operations of floats, of vectors by element");
    claim(near(f.count.flops64, 2), "… of doubles");
    claim(near(f.count.loads[0], 4) && near(f.count.stores[0], 4) &&
              near(f.count.loads[1], 8), "bytes that are read and written");
    done(&f);
}

static void test_loops(void)
{
    const double values[16] = {(double)NAN, 100};
    struct fixture f = read_with(
        "#define TWICE(x) x; x\n"
        "__kernel void k(__global float *a, int n) {\n"
        "  float s = 0.0f;\n"
        "  for (int i = 0; i < n; i++) { s += a[i]; }\n"                        /* 100 */
        "  for (int i = 10; i > 0; i -= 2) { TWICE(s *= 2.0f); }\n"             /* 10 */
        "  for (int i = 1; i <= 64; i *= 2) s *= 2.0f;\n"                       /* 7 */
        "  for (int i = 0; i < 10; i++) for (int j = 0; j < i; j++) s += 1.0f;\n" /* 45 */
        "  a[0] = s; }",
        NULL, values);

    claim(near(f.count.flops32, 162), "loops by arguments, down, by factors, and in triangles");
    claim(near(f.count.loads[0], 400) && near(f.count.stores[0], 4), "what a loop reads");
    done(&f);
}

static void test_functions(void)
{
    struct fixture f =
        read_with("float twice(float x) { return x * 2.0f; }\n"
                  "float four(float x) { return twice(x) + twice(x); }\n"
                  "__kernel void k(__global float *a) { a[0] = four(a[0]) * four(1.0f); }",
                  NULL, NULL);

    claim(near(f.count.flops32, 7), "functions count where they are called");
    done(&f);
}

static void test_preprocessor(void)
{
    struct fixture f = read_with(
        "#if defined(WIDE) && WIDE > 2 /* a comment\n over lines */\n"
        "#define CAT(a, b) a##b\n"
        "#define BOTH(a, b) CAT(a, b)\n"
        "#define STEP(n) x = x * 2.0f;\n"
        "#define STEPS STEP(1) STEP(2) \\\n"
        "  STEP(3)\n"
        "typedef BOTH(float, WIDE) vec;\n"
        "#else\n"
        "#error narrow\n"
        "#endif\n"
        "__kernel void k(__global vec *a) { float x = 1.0f; STEPS a[0] = x; }",
        "-cl-fast-relaxed-math -D WIDE=4", NULL);
    char *log = NULL;

    claim(near(f.count.flops32, 3) && f.kernel->parameters[0].width == 4,
          "macros, conditions and options");
    done(&f);
    claim(!socl_source_read("#error here\n", NULL, &log) && log && strstr(log, "here"),
          "#error ends the build, and its log says so");
    free(log);
    log = NULL;
    claim(!socl_source_read("__kernel void k() { ", NULL, &log) && log,
          "a brace that nobody closes");
    free(log);
}

/* Nothing that stands in a source ends the program, or goes on for ever. */
static void test_nonsense(void)
{
    static const char *const texts[] = {
        "__kernel void k(", "__kernel void k(__global float *a) { a[ = ) ; for (;; }",
        "#define A A B\n#define B A\n__kernel void k(__global int *a) { A; B; a[0] }",
        "__kernel void k(int) { for (int i = 0; i < 1; i--) ; do while if else case ? : }",
        "#define F(x) F(x\n__kernel void k() { F(F(F(1))); }", "struct s { int a[3; };",
        "__kernel void k(__global float *a) { (float4)(1, ; sizeof( ; a->b.c[1 }",
        "\"unclosed", "#if (((\n#endif\n", "#define\n#undef\n#if\n#endif\n", "/* never closed",
        "__kernel void k(__global float *a) { k(a); }"};

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        char *log = NULL;
        struct socl_source *source = socl_source_read(texts[i], "-D", &log);

        socl_source_free(source);
        free(log);
    }
    claim(true, "nonsense is read to its end");
}

int main(void)
{
    test_parameters();
    test_reads();
    test_operations();
    test_loops();
    test_functions();
    test_preprocessor();
    test_nonsense();
    printf("1..%u\n", ntests);
    return failed != 0;
}
