/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/machine/new.c - `orrery machine new`: a machine from a few options, or
 * from the answers to a few questions. One thread.
 */
#include "tools/common/tool.h"
#include "tools/machine/parts.h"
#include "tools/machine/plan.h"

#include "platforms/packed.h"
#include "platforms/units.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: orrery machine new NAME --cpu MODEL|GHZ --cores N\n"
    "           [--gpu MODEL --gpus N [--gpu-memory 16GiB] [--link LINK[,LINK]]]\n"
    "Describes a machine without measurements, from published figures and stated\n"
    "assumptions; all of it is marked derived. Without options it asks, or reads the\n"
    "answers from a pipe, a line each: processor, cores, GPUs, and if there are any\n"
    "their model, memory and links; an empty line takes what is in brackets.\n"
    "      --cpu MODEL|GHZ     a processor of the catalogue, by its full name, or a\n"
    "                          clock: 2.4GHz\n"
    "      --cores N           of the whole machine; default: all of its sockets\n"
    "      --numa N            sockets, each a NUMA node with its memory and equal\n"
    "                          parts of cores and GPUs; default: 1\n"
    "      --core-flops N      single precision per cycle and core, when --cpu is a\n"
    "                          clock\n"
    "      --gpu MODEL         a GPU of the catalogue, by its full name, or any other\n"
    "                          name with --gpu-memory\n"
    "      --gpus N            default: 1\n"
    "      --gpu-memory BYTES  16GiB, 80GB ...\n"
    "      --gpu-tflops N      single-precision peak, to scale models\n"
    "      --link LINK         pcie3, pcie4, pcie5, pcie6 (sixteen lanes each);\n"
    "                          nvlink: NVLink or Infinity Fabric between each\n"
    "                          pair; nvswitch: a switch;\n"
    "                          default: what the GPU has, else pcie4\n"
    "      --no-peer           no copies between GPUs over PCIe\n"
    "      --models            copy kernel models of the catalogue's nearest machine,\n"
    "                          scaled by published peaks\n"
    "  -o, --output FILE       a platform file; default: where -m finds NAME\n"
    "      --force             replace files that are there\n"
    "      --json              report as JSON what was made\n"
    "`orrery machine new cluster NAME` describes a cluster of such machines, `orrery\n"
    "machine new hosts NAME` hosts that share a file system, for workflows; each has\n"
    "a --help of its own.\n"
    "Exit codes: 0; 1 when something failed; 2 for a wrong command line.\n"
    "example: orrery machine new lab --cpu 'EPYC 7763' --cores 64 --gpu 'H100 PCIe' \\\n"
    "             --gpus 4 --link pcie5 --models && orrery run -m lab -- ./cholesky\n";

/* The request; borrowed from the command line, or owned by `answers`. */
struct request {
    const char *cpu, *cores, *core_flops, *numa;
    const char *gpu, *gpus, *gpu_memory, *gpu_tflops, *link;
    bool no_peer, models;
    struct machine_destination where;
};

#define NQUESTIONS 7

struct answers {
    char *texts[NQUESTIONS]; /* owned */
    unsigned n;
};

/* ---- values ---- */

/* A whole number from `least` to `most`; -1 and a message for others. */
static long read_count_option(const char *option, const char *text, long least,
                              long most)
{
    char *end;
    long value;

    errno = 0;
    value = strtol(text, &end, 10);
    if (end != text && !*end && errno == 0 && value >= least && value <= most)
        return value;
    tool_error("machine new: %s %s: a whole number from %ld to %ld is "
               "expected",
               option, text, least, most);
    return -1;
}

/* "2.4", "2.4GHz": 0 when the text is no clock. */
static double read_clock(const char *text)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || !(value > 0) || value > 100)
        return 0;
    end += strspn(end, " ");
    return !*end || strcasecmp(end, "GHz") == 0 ? value : 0;
}

static double read_positive(const char *option, const char *text)
{
    double value;

    if (!orr_number_parse(text, &value) && value > 0)
        return value;
    tool_error("machine new: %s %s: a positive number is expected", option,
               text);
    return -1;
}

/* "16GiB", "80GB", bytes; 0 and a message for others. */
static unsigned long long read_memory_option(const char *text)
{
    double value;

    if (!orr_quantity_parse(ORR_QUANTITY_SIZE, text, &value) && value >= 1 &&
        value < 1e17)
        return (unsigned long long)value;
    tool_error("machine new: --gpu-memory %s: a size such as 16GiB is expected",
               text);
    return 0;
}

/* ---- links ---- */

struct links {
    double pcie_rate;
    bool pcie, nvlink, nvswitch; /* which were asked for */
};

static int read_link_word(const char *word, struct links *links)
{
    unsigned generation = 0;

    if (strcasecmp(word, "nvlink") == 0) {
        links->nvlink = true;
    } else if (strcasecmp(word, "nvswitch") == 0) {
        links->nvswitch = true;
    } else {
        if (strncasecmp(word, "pcie", 4) == 0 && word[4] && !word[5])
            generation = (unsigned)(word[4] - '0');
        links->pcie = true;
        links->pcie_rate = machine_plan_pcie_rate(generation);
        if (links->pcie_rate <= 0) {
            tool_error("machine new: --link %s: pcie3, pcie4, pcie5, pcie6, "
                       "nvlink or nvswitch is expected, or two with a comma",
                       word);
            return -EINVAL;
        }
    }
    return 0;
}

/* `usual`: the generation of PCI Express, when none is asked for. */
static int read_links(const char *text, unsigned usual, struct links *links)
{
    char **words = tool_split(text ? text : "");
    int rc = 0;

    if (!words) {
        tool_error("out of memory");
        return -ENOMEM;
    }
    *links = (struct links){.pcie_rate = machine_plan_pcie_rate(usual)};
    for (unsigned i = 0; rc == 0 && words[i]; i++)
        rc = read_link_word(words[i], links);
    free(words);
    if (rc == 0 && links->nvlink && links->nvswitch) {
        tool_error("machine new: --link: either nvlink or nvswitch");
        rc = -EINVAL;
    }
    return rc;
}

/* All links of a device go to the switch, or are shared out among its peers. */
static int plan_set_nvlinks(struct machine_plan *plan,
                            const struct links *links, unsigned usual)
{
    unsigned n = plan->ndevices;
    double rate = n ? machine_plan_nvlink_rate(plan->devices[0].model) : 0;

    if (!n)
        return 0;
    if (!links->pcie &&
        machine_plan_assume(plan, "PCI Express %u, sixteen lanes", usual) < 0)
        return -ENOMEM;
    if (n > 1 && links->nvswitch) {
        plan->switch_rate = rate;
        return machine_plan_assume(plan, "%.4g GB/s of NVLink each way",
                                   rate / 1e9);
    }
    if (n == 1 || !links->nvlink)
        return 0;
    plan->pair_rates = calloc((size_t)n * n, sizeof(*plan->pair_rates));
    if (!plan->pair_rates) {
        tool_error("out of memory");
        return -ENOMEM;
    }
    for (unsigned i = 0; i < n * n; i++)
        plan->pair_rates[i] = rate / (n - 1);
    if (n == 2)
        return machine_plan_assume(
            plan, "%.4g GB/s of links to the other device each way",
            rate / 1e9);
    return machine_plan_assume(plan,
                               "%.4g GB/s of links to other devices each way, "
                               "shared out among %u peers",
                               rate / 1e9, n - 1);
}

/* A card without such links is not the one that was meant. */
static int check_gpu_links(const char *gpu, const struct machine_device *known,
                           const struct links *links)
{
    if (known && links->nvswitch && !known->has_switch)
        tool_error("machine new: --gpu %s --link nvswitch: the %s has no "
                   "NVSwitch; of NVIDIA's modules those called SXM have one",
                   gpu, known->model);
    else if (known && links->nvlink && known->link_rate <= 0)
        tool_error("machine new: --gpu %s --link nvlink: the %s has no links "
                   "of that kind to others",
                   gpu, known->model);
    else
        return 0;
    return -EINVAL;
}

/* ---- the plan ---- */

/* Cores of a known processor, by default. */
static long cores_of(const struct request *request)
{
    const struct machine_processor *known;

    if (request->cores)
        return read_count_option("--cores", request->cores, 1,
                                 MACHINE_PLAN_MAX_CORES);
    known = machine_processor_find(request->cpu);
    if (known && request->numa) {
        long sockets = read_count_option("--numa", request->numa, 1,
                                         MACHINE_PLAN_MAX_NODES);

        return sockets < 0 ? -1 : sockets * (long)known->cores;
    }
    return known ? (long)known->cores : -1;
}

/* More cores than the sockets of a known processor hold. */
static int check_cores(const struct request *request, long cores, long sockets)
{
    const struct machine_processor *known =
        machine_processor_find(request->cpu);
    long most = known ? sockets * (long)known->cores : cores;

    if (cores <= most)
        return 0;
    tool_error("machine new: --cores %ld: %ld socket%s of the %s %s %ld; "
               "--numa %ld makes room for them",
               cores, sockets, sockets == 1 ? "" : "s", known->model,
               sockets == 1 ? "has" : "have", most,
               (cores + (long)known->cores - 1) / (long)known->cores);
    return -EINVAL;
}

static int plan_processor(const struct request *request, const char *name,
                          struct machine_plan *plan)
{
    double clock = read_clock(request->cpu), flops = 0;
    long cores = cores_of(request), nodes = 1;

    if (cores < 0)
        return -EINVAL;
    if (request->numa) {
        long most =
            cores < MACHINE_PLAN_MAX_NODES ? cores : MACHINE_PLAN_MAX_NODES;

        nodes = read_count_option("--numa", request->numa, 1, most);

        if (nodes < 0)
            return -EINVAL;
        machine_plan_set_sockets(plan, (unsigned)nodes);
    }
    if (check_cores(request, cores, nodes) < 0)
        return -EINVAL;
    if (request->core_flops) {
        flops = read_positive("--core-flops", request->core_flops);
        if (flops < 0)
            return -EINVAL;
    }
    return machine_plan_set_processor(plan, name,
                                      clock > 0 ? NULL : request->cpu,
                                      (unsigned)cores, clock, flops);
}

/* All that is not clear about the parts, at once: each is said. */
static int check_processor(const struct request *request)
{
    char *names;

    if (read_clock(request->cpu) <= 0 &&
        !machine_processor_find(request->cpu)) {
        names = machine_processor_names(request->cpu);
        tool_error("machine new: --cpu %s names no processor of the catalogue "
                   "(%s): give one of them, or its clock, such as 2.4GHz",
                   request->cpu, names ? names : "");
        free(names);
        return -EINVAL;
    }
    if (request->cores || machine_processor_find(request->cpu))
        return 0;
    tool_error("machine new: how many cores? give --cores, such as --cores 32");
    return -EINVAL;
}

static int check_devices(const struct request *request)
{
    char *names;

    if ((!request->gpu && !request->gpus) ||
        (request->gpus && !strcmp(request->gpus, "0")) ||
        (request->gpu &&
         (machine_device_find(request->gpu) || request->gpu_memory)))
        return 0;
    names = machine_device_names(request->gpu ? request->gpu : "");
    tool_error("machine new: --gpu %s names no GPU of the catalogue (%s): give "
               "one of them, or --gpu-memory as well",
               request->gpu ? request->gpu : "MODEL", names ? names : "");
    free(names);
    return -EINVAL;
}

static bool request_has_devices(const struct request *request)
{
    return request->gpu || (request->gpus && strcmp(request->gpus, "0") != 0);
}

/* Options of what the machine does not have, or that would be ignored. */
static int check_unused(const struct request *request)
{
    const struct machine_processor *processor =
        machine_processor_find(request->cpu);
    const struct {
        const char *name, *value;
    } devices[] = {{"link", request->link},
                   {"gpu-memory", request->gpu_memory},
                   {"gpu-tflops", request->gpu_tflops},
                   {"no-peer", request->no_peer ? "" : NULL}};

    for (size_t i = 0; i < sizeof(devices) / sizeof(*devices); i++)
        if (devices[i].value && !request_has_devices(request)) {
            tool_error("machine new: --%s%s%s is of GPUs, and there are none: "
                       "give --gpu MODEL, or leave it out",
                       devices[i].name, *devices[i].value ? " " : "",
                       devices[i].value);
            return -EINVAL;
        }
    if (processor && request->core_flops) {
        tool_error("machine new: --core-flops %s: that of the %s is known; the "
                   "option is for a clock, such as --cpu 2.4GHz",
                   request->core_flops, processor->model);
        return -EINVAL;
    }
    return 0;
}

/* A known card may be given less than it has, not more. */
static int check_memory(const struct request *request,
                        unsigned long long memory)
{
    const struct machine_device *known = machine_device_find(request->gpu);

    if (memory < 1 << 20)
        tool_error("machine new: --gpu-memory %s is %llu bytes: give the unit, "
                   "such as %lluGiB",
                   request->gpu_memory, memory, memory);
    else if (known && (double)memory > 1.1 * (double)known->memory)
        tool_error("machine new: --gpu-memory %s: the %s has %.0f GiB; a card "
                   "with more needs a name of its own",
                   request->gpu_memory, known->model,
                   (double)known->memory / (1 << 30));
    else
        return 0;
    return -EINVAL;
}

static int request_check(const struct request *request)
{
    int processor = check_processor(request), devices = check_devices(request);

    if (processor == 0)
        processor = check_unused(request);
    return processor < 0 ? processor : devices;
}

static int plan_devices(const struct request *request,
                        struct machine_plan *plan)
{
    const struct machine_device *known =
        request->gpu ? machine_device_find(request->gpu) : NULL;
    unsigned long long memory = 0;
    struct links links;
    double tflops = 0;
    unsigned usual;
    long n = request->gpus ? read_count_option("--gpus", request->gpus, 0,
                                               MACHINE_PLAN_MAX_DEVICES)
                           : request->gpu != NULL;

    if (n <= 0)
        return n < 0 ? -EINVAL : 0;
    usual = known ? known->pcie : 4;
    if (read_links(request->link, usual, &links) < 0 ||
        check_gpu_links(request->gpu, known, &links) < 0)
        return -EINVAL;
    if (request->gpu_memory &&
        (!(memory = read_memory_option(request->gpu_memory)) ||
         check_memory(request, memory) < 0))
        return -EINVAL;
    if (request->gpu_tflops) {
        tflops = read_positive("--gpu-tflops", request->gpu_tflops);
        if (tflops < 0)
            return -EINVAL;
    }
    if (machine_plan_add_devices(plan, request->gpu, (unsigned)n, memory,
                                 tflops, links.pcie_rate) < 0)
        return -EINVAL;
    for (unsigned i = 0; i < plan->ndevices; i++)
        plan->devices[i].numa = i * plan->nnuma / plan->ndevices;
    /* NVIDIA's drivers refuse copies between GeForce cards. */
    plan->no_peer =
        request->no_peer || strstr(plan->devices[0].model, "GeForce") != NULL;
    return plan_set_nvlinks(plan, &links, usual);
}

static int make_new_machine(const struct request *request, const char *name)
{
    struct machine_plan plan = {.models = request->models};
    int rc = request_check(request);

    if (rc == 0)
        rc = plan_processor(request, name, &plan);
    if (rc == 0)
        rc = plan_devices(request, &plan);
    if (rc == 0)
        rc = machine_plan_note_sockets(&plan);
    if (rc == 0)
        rc = machine_plan_finish(&plan, &request->where);
    machine_plan_done(&plan);
    return rc;
}

/* ---- questions ---- */

/* Asks and gives the answer, owned by `answers`; `usual` (may be NULL) when it
 * is empty. NULL at the end of the input, with a message. */
static const char *answers_ask(struct answers *answers, const char *question,
                               const char *usual)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t length;

    if (isatty(STDIN_FILENO)) {
        fprintf(stderr, "%s%s%s%s: ", question, usual ? " [" : "",
                usual ? usual : "", usual ? "]" : "");
    }
    length = getline(&line, &room, stdin);
    while (length > 0 && strchr(" \t\r\n", line[length - 1]))
        line[--length] = '\0';
    if (length == 0 && usual) {
        free(line);
        line = strdup(usual);
    }
    if (length < 0 || !line || !line[0] || answers->n == NQUESTIONS) {
        free(line);
        tool_error("machine new: no answer to \"%s\"; there are options for "
                   "it, see orrery machine new --help",
                   question);
        return NULL;
    }
    return answers->texts[answers->n++] = line;
}

static int ask_devices(struct answers *answers, struct request *request)
{
    char *names = machine_device_names("");
    char *question = tool_format("GPU model (%s)", names ? names : "");
    int rc = -EINVAL;

    if (question &&
        (request->gpu = answers_ask(answers, question, NULL)) != NULL) {
        const struct machine_device *known = machine_device_find(request->gpu);
        char *memory = !known ? NULL
                       : known->memory % (1 << 20)
                           ? tool_format("%llu", known->memory)
                           : tool_format("%lluMiB", known->memory / (1 << 20));

        char usual[8];

        snprintf(usual, sizeof(usual), "pcie%u", known ? known->pcie : 4);
        request->gpu_memory = answers_ask(answers, "memory of each", memory);
        free(memory);
        if (request->gpu_memory)
            request->link = answers_ask(answers,
                                        "links (pcie3 to pcie6, nvlink, "
                                        "nvswitch; two with a comma)",
                                        usual);
        rc = request->gpu_memory && request->link ? 0 : -EINVAL;
    }
    free(names);
    free(question);
    return rc;
}

static int ask_all(struct answers *answers, struct request *request)
{
    char *names = machine_processor_names("");
    char *question =
        tool_format("processor (%s; or a clock in GHz)", names ? names : "");
    const struct machine_processor *known;
    char cores[16] = "";

    free(names);
    request->cpu = question ? answers_ask(answers, question, NULL) : NULL;
    free(question);
    if (!request->cpu)
        return -EINVAL;
    known = machine_processor_find(request->cpu);
    if (known)
        snprintf(cores, sizeof(cores), "%u", known->cores);
    request->cores = answers_ask(answers, "cores", cores[0] ? cores : NULL);
    if (!request->cores)
        return -EINVAL;
    request->gpus = answers_ask(answers, "GPUs", "0");
    if (!request->gpus)
        return -EINVAL;
    return strcmp(request->gpus, "0") == 0 ? 0 : ask_devices(answers, request);
}

int machine_new(int argc, char **argv, const char *const *sampling_dirs,
                bool json)
{
    struct request request = {
        .where = {.sampling_dirs = sampling_dirs, .json = json}};
    struct answers answers = {0};
    const struct tool_option options[] = {
        {0, "cpu", &request.cpu, NULL},
        {0, "cores", &request.cores, NULL},
        {0, "core-flops", &request.core_flops, NULL},
        {0, "numa", &request.numa, NULL},
        {0, "gpu", &request.gpu, NULL},
        {0, "gpus", &request.gpus, NULL},
        {0, "gpu-memory", &request.gpu_memory, NULL},
        {0, "gpu-tflops", &request.gpu_tflops, NULL},
        {0, "link", &request.link, NULL},
        {0, "no-peer", NULL, &request.no_peer},
        {0, "models", NULL, &request.models},
        {'o', "output", &request.where.output, NULL},
        {0, "force", NULL, &request.where.force},
        {0, "json", NULL, &request.where.json},
        {0}};
    static char cluster[] = "machine new cluster",
                hosts[] = "machine new hosts";
    int noperands, rc;

    if (argc > 1 && strcmp(argv[1], "cluster") == 0) {
        argv[1] = cluster;
        return machine_new_cluster(argc - 1, argv + 1, sampling_dirs, json);
    }
    if (argc > 1 && strcmp(argv[1], "hosts") == 0) {
        argv[1] = hosts;
        return machine_new_hosts(argc - 1, argv + 1, sampling_dirs, json);
    }
    rc = tool_parse_operands(argc, argv, options, help, &noperands);

    if (rc <= 0)
        return rc < 0 ? TOOL_USAGE : TOOL_OK;
    if (noperands != 1 || !orr_packed_leaf_ok(argv[1])) {
        tool_error("machine new: one NAME without slash or leading dot; see "
                   "orrery machine new --help");
        return TOOL_USAGE;
    }
    if (request.where.output &&
        (strlen(request.where.output) < 5 ||
         strcmp(request.where.output + strlen(request.where.output) - 4,
                ".xml") != 0)) {
        tool_error("machine new: -o %s: the name of a platform file ends with "
                   ".xml",
                   request.where.output);
        return TOOL_USAGE;
    }
    if (!request.cpu &&
        (request.cores || request.gpu || request.gpus || request.numa ||
         request.core_flops || request.gpu_memory || request.gpu_tflops ||
         request.link || request.no_peer)) {
        tool_error("machine new: which processor? give --cpu MODEL, or its "
                   "clock in GHz");
        return TOOL_USAGE;
    }
    rc = request.cpu ? 0 : ask_all(&answers, &request);
    if (rc == 0)
        rc = make_new_machine(&request, argv[1]);
    for (unsigned i = 0; i < answers.n; i++)
        free(answers.texts[i]);
    return rc == 0 && fflush(stdout) == 0 ? TOOL_OK : TOOL_FAILED;
}
