/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* record/fields.c - which fields each verb has, see call.h. Constants only. */
#include "record/call.h"

#include <math.h>
#include <string.h>

const struct orr_call orr_call_none = {
    .ncpus = -1,
    .ncuda = -1,
    .nopencl = -1,
    .reserved = -1,
    .worker = -1,
    .ran = -1,
    .device = -1,
    .least = -1,
    .most = -1,
};

const char *const orr_hows[ORR_NHOWS] = {
#define ORR_HOW(name, word) word,
    ORR_HOWS(ORR_HOW)
#undef ORR_HOW
};

const char *const orr_kind_variables[ORR_NKINDS] = {
    [ORR_KIND_CPU] = "CPU",
    [ORR_KIND_CUDA] = "CUDA",
    [ORR_KIND_OPENCL] = "OPENCL",
    [ORR_KIND_HIP] = "HIP",
};

/* X(member, word, type) */
#define FIELDS(X)                                                              \
    X(id, "", NUMBER)                                                          \
    X(after, "after", REAL)                                                    \
    X(how, "how", HOW)                                                         \
    X(machine, "machine", TEXT)                                                \
    X(scheduler, "scheduler", TEXT)                                            \
    X(text, "text", TEXT)                                                      \
    X(ncpus, "cpus", INTEGER)                                                  \
    X(ncuda, "cuda", INTEGER)                                                  \
    X(nopencl, "opencl", INTEGER)                                              \
    X(reserved, "reserved", INTEGER)                                           \
    X(combined, "combined", NUMBER)                                            \
    X(calibrate, "calibrate", NUMBER)                                          \
    X(symbol, "symbol", TEXT)                                                  \
    X(called, "called", TEXT)                                                  \
    X(type, "type", NUMBER)                                                    \
    X(model, "model", NUMBER)                                                  \
    X(energy, "energy", NUMBER)                                                \
    X(asynchronous, "asynchronous", HEX)                                       \
    X(where, "where", HEX)                                                     \
    X(flags, "flags", HEX)                                                     \
    X(parallelism, "parallelism", NUMBER)                                      \
    X(color, "color", HEX)                                                     \
    X(terms, "terms", NUMBER)                                                  \
    X(buffers, "buffers", INTEGER)                                             \
    X(modes, "modes", NUMBERS)                                                 \
    X(exponents, "exponents", NUMBERS)                                         \
    X(nodes, "nodes", INTEGERS)                                                \
    X(name, "name", TEXT)                                                      \
    X(kind, "kind", TEXT)                                                      \
    X(home, "home", INTEGER)                                                   \
    X(node, "node", INTEGER)                                                   \
    X(offset, "offset", INTEGER)                                               \
    X(of, "of", NUMBER)                                                        \
    X(value, "value", NUMBER)                                                  \
    X(size, "size", NUMBER)                                                    \
    X(shape, "shape", NUMBERS)                                                 \
    X(start, "start", NUMBERS)                                                 \
    X(axes, "axes", NUMBERS)                                                   \
    X(parts, "parts", NUMBERS)                                                 \
    X(codelet, "codelet", NUMBER)                                              \
    X(tag, "tag", NUMBER)                                                      \
    X(footprint, "footprint", HEX)                                             \
    X(context, "context", NUMBER)                                              \
    X(data, "data", USES)                                                      \
    X(before, "before", NUMBERS)                                               \
    X(workers, "workers", NUMBERS)                                             \
    X(ordered, "ordered", NUMBERS)                                             \
    X(parameters, "parameters", REALS)                                         \
    X(times, "times", REALS)                                                   \
    X(priority, "priority", INTEGER)                                           \
    X(worker, "worker", INTEGER)                                               \
    X(ran, "ran", INTEGER)                                                     \
    X(task, "task", NUMBER)                                                    \
    X(least, "least", INTEGER)                                                 \
    X(most, "most", INTEGER)                                                   \
    X(order, "order", NUMBER)                                                  \
    X(tagged, "tagged", NUMBER)                                                \
    X(kept, "kept", NUMBER)                                                    \
    X(awaited, "awaited", NUMBER)                                              \
    X(synchronous, "synchronous", NUMBER)                                      \
    X(unordered, "unordered", NUMBER)                                          \
    X(alone, "alone", NUMBER)                                                  \
    X(possibly, "possibly-parallel", NUMBER)                                   \
    X(graph, "graph", NUMBER)                                                  \
    X(flops, "flops", REAL)                                                    \
    X(us, "us", REAL)                                                          \
    X(redux, "redux", NUMBER)                                                  \
    X(init, "init", NUMBER)                                                    \
    X(host, "host", TEXT)                                                      \
    X(implementation, "implementation", NUMBER)                                \
    X(deviation, "deviation", REAL)                                            \
    X(peer, "peer", INTEGER)                                                   \
    X(comm, "comm", NUMBER)                                                    \
    X(request, "request", NUMBER)                                              \
    X(device, "device", INTEGER)                                               \
    X(place, "place", NUMBER)                                                  \
    X(cores, "cores", NUMBER)                                                  \
    X(memory, "memory", NUMBER)                                                \
    X(resumes, "resumes", NUMBER)                                              \
    X(under, "under", NUMBER)

#define FIELD(member, text, kind_)                                             \
    static const struct orr_field member##_ = {                                \
        .word = text,                                                          \
        .type = ORR_FIELD_##kind_,                                             \
        .offset = offsetof(struct orr_call, member),                           \
    };
FIELDS(FIELD)
#undef FIELD

/* Functions of a codelet: a bit per implementation. */
#define IMPLEMENTATIONS(name, text, which)                                     \
    static const struct orr_field name = {                                     \
        .word = text,                                                          \
        .type = ORR_FIELD_HEX,                                                 \
        .offset = offsetof(struct orr_call, implementations[which]),           \
    };
IMPLEMENTATIONS(cpu_, "cpu", ORR_KIND_CPU)
IMPLEMENTATIONS(cuda_, "cuda", ORR_KIND_CUDA)
IMPLEMENTATIONS(opencl_, "opencl", ORR_KIND_OPENCL)
IMPLEMENTATIONS(hip_, "hip", ORR_KIND_HIP)

#define LIST(...)                                                              \
    (const struct orr_field *const[])                                          \
    {                                                                          \
        __VA_ARGS__, &after_, NULL                                             \
    }

/* With those in parentheses, which came later: places of fields do not change. */
#define IN_ORDER(...) __VA_ARGS__
#define LIST_AND(later, ...)                                                   \
    (const struct orr_field *const[])                                          \
    {                                                                          \
        __VA_ARGS__, &after_, IN_ORDER later, NULL                             \
    }

const struct orr_verb_fields orr_verbs[ORR_NVERBS] = {
    [ORR_CALL_RUN] = {"run",
                      LIST(&machine_, &scheduler_, &ncpus_, &ncuda_, &nopencl_,
                           &reserved_, &combined_, &calibrate_, &least_, &most_,
                           &host_, &flags_)},
    [ORR_CALL_MODEL] = {"model", LIST(&id_, &kind_, &symbol_, &flags_, &name_,
                                      &terms_, &exponents_)},
    [ORR_CALL_CODELET] = {"codelet",
                          LIST(&id_, &name_, &called_, &cpu_, &cuda_, &opencl_,
                               &hip_, &asynchronous_, &where_, &buffers_,
                               &modes_, &nodes_, &model_, &energy_, &type_,
                               &parallelism_, &flags_, &color_)},
    [ORR_CALL_DATA] = {"data", LIST(&id_, &kind_, &home_, &shape_, &size_,
                                    &footprint_)},
    [ORR_CALL_PART] = {"part", LIST(&id_, &of_, &kind_, &shape_, &size_,
                                    &footprint_, &start_, &axes_, &offset_)},
    [ORR_CALL_PARTITION] = {"partition", LIST(&id_, &parts_)},
    [ORR_CALL_UNPARTITION] = {"unpartition", LIST(&id_, &node_)},
    [ORR_CALL_PLAN] = {"plan", LIST(&id_, &parts_)},
    [ORR_CALL_SWITCH] = {"switch",
                         LIST(&id_, &how_, &parts_, &node_, &unordered_)},
    [ORR_CALL_CLEAN] = {"clean", LIST(&id_, &parts_, &node_)},
    [ORR_CALL_SUBMIT] = {"submit",
                         LIST_AND((&device_, &graph_, &place_, &cores_,
                                   &memory_, &how_, &resumes_, &under_),
                                  &id_, &codelet_, &data_, &priority_, &name_,
                                  &tagged_, &tag_, &flops_, &footprint_, &size_,
                                  &parameters_, &times_, &worker_, &order_,
                                  &ran_, &workers_, &where_, &color_, &kept_,
                                  &awaited_, &synchronous_, &unordered_,
                                  &ordered_, &alone_, &possibly_, &context_)},
    [ORR_CALL_DEPEND] = {"depend", LIST(&id_, &before_)},
    [ORR_CALL_END_DEPEND] = {"end-depend", LIST(&id_, &before_)},
    [ORR_CALL_END_HOLD] = {"end-hold", LIST(&id_, &value_)},
    [ORR_CALL_END_RELEASE] = {"end-release", LIST(&id_)},
    [ORR_CALL_FORGET] = {"forget", LIST(&id_)},
    [ORR_CALL_TAG_DEPEND] = {"tag-depend", LIST(&id_, &before_)},
    [ORR_CALL_TAG_NOTIFY] = {"tag-notify", LIST(&id_)},
    [ORR_CALL_TAG_RESTART] = {"tag-restart", LIST(&id_)},
    [ORR_CALL_TAG_NOTIFY_RESTART] = {"tag-notify-restart", LIST(&id_)},
    [ORR_CALL_TAG_REMOVE] = {"tag-remove", LIST(&id_)},
    [ORR_CALL_TAG_CLEAR] = {"tag-clear", LIST(&value_)},
    [ORR_CALL_TAG_WAIT] = {"tag-wait", LIST(&before_)},
    [ORR_CALL_WAIT_TASK] = {"wait-task", LIST(&id_)},
    [ORR_CALL_WAIT_ALL] = {"wait-all", LIST(&value_)},
    [ORR_CALL_WAIT_READY] = {"wait-ready", LIST(&value_)},
    [ORR_CALL_SCHEDULE] = {"schedule", LIST(&value_)},
    [ORR_CALL_ACQUIRE] = {"acquire",
                          LIST(&id_, &how_, &value_, &node_, &unordered_,
                               &size_, &memory_, &task_)},
    [ORR_CALL_RELEASE] = {"release", LIST(&id_, &value_, &node_)},
    [ORR_CALL_UNREGISTER] = {"unregister", LIST(&id_, &how_)},
    [ORR_CALL_INVALIDATE] = {"invalidate", LIST(&id_, &how_, &kept_)},
    [ORR_CALL_FETCH] = {"fetch", LIST(&id_, &how_, &node_, &synchronous_,
                                      &priority_, &task_)},
    [ORR_CALL_ALLOCATE] = {"allocate", LIST(&id_, &node_)},
    [ORR_CALL_EVICT] = {"evict", LIST(&id_, &node_)},
    [ORR_CALL_WONT_USE] = {"wont-use", LIST(&id_)},
    [ORR_CALL_UNTOUCHED] = {"untouched", LIST(&id_)},
    [ORR_CALL_DUPLICATE] = {"duplicate", LIST(&id_, &of_, &synchronous_)},
    [ORR_CALL_NAME] = {"name", LIST(&id_, &name_)},
    [ORR_CALL_COORDINATES] = {"coordinates", LIST(&id_, &nodes_)},
    [ORR_CALL_SEQUENTIAL] = {"sequential", LIST(&id_, &value_)},
    [ORR_CALL_REDUCTION] = {"reduction", LIST(&id_, &redux_, &init_)},
    [ORR_CALL_WRITE_THROUGH] = {"write-through", LIST(&id_, &value_)},
    [ORR_CALL_OUT_OF_CORE] = {"out-of-core", LIST(&id_, &value_)},
    [ORR_CALL_IMPORTANT] = {"important", LIST(&id_, &value_)},
    [ORR_CALL_ARBITER] = {"arbiter", LIST(&id_)},
    [ORR_CALL_LIMITS] = {"limits", LIST(&least_, &most_)},
    [ORR_CALL_PIN] = {"pin", LIST(&size_)},
    [ORR_CALL_RANGE] = {"range", LIST(&least_, &most_, &value_)},
    [ORR_CALL_PRIORITIES] = {"priorities", LIST(&least_, &most_)},
    [ORR_CALL_PAUSE] = {"pause", LIST(&value_)},
    [ORR_CALL_RESUME] = {"resume", LIST(&value_)},
    [ORR_CALL_SLEEP] = {"sleep", LIST(&us_)},
    [ORR_CALL_ITERATION] = {"iteration", LIST(&how_, &value_)},
    [ORR_CALL_NOTE] = {"note", LIST(&text_)},
    [ORR_CALL_END] = {"end", LIST(&value_, &text_)},
    [ORR_CALL_TOOK] = {"took", LIST(&id_, &us_, &kind_, &implementation_)},
    [ORR_CALL_ROW] = {"row",
                      LIST(&codelet_, &kind_, &implementation_, &footprint_,
                           &size_, &flops_, &value_, &us_, &deviation_)},
    [ORR_CALL_RANK] = {"rank", LIST(&id_, &size_)},
    [ORR_CALL_COMM] = {"comm", LIST(&id_, &size_, &parts_)},
    [ORR_CALL_SEND] = {"send",
                       LIST(&id_, &peer_, &tag_, &comm_, &priority_, &request_,
                            &how_, &synchronous_, &unordered_, &alone_)},
    [ORR_CALL_RECEIVE] = {"receive",
                          LIST(&id_, &peer_, &tag_, &comm_, &priority_,
                               &request_, &how_, &unordered_)},
    [ORR_CALL_WAIT_MESSAGE] = {"wait-message", LIST(&id_, &called_)},
    [ORR_CALL_WAIT_MESSAGES] = {"wait-messages", LIST(&value_)},
    [ORR_CALL_BARRIER] = {"barrier", LIST(&id_)},
    [ORR_CALL_EXPECT_SENDS] = {"expect-sends", LIST(&id_, &value_)},
    [ORR_CALL_GATHER_SENDS] = {"gather-sends", LIST(&value_)},
    [ORR_CALL_SKIP] = {"skip", LIST(&value_)},
    [ORR_CALL_UNREAL] = {"unreal", LIST(&id_)},
    [ORR_CALL_END_RANK] = {"end-rank", LIST(&value_)},
    [ORR_CALL_NUMBERS] = {"numbers", LIST(&value_)},
    [ORR_CALL_GRAPH_LAUNCH] = {"graph-launch", LIST(&value_)},
    [ORR_CALL_PLACE] = {"place", LIST(&id_, &text_, &value_)},
};

int orr_field_is_default(const struct orr_field *field,
                         const struct orr_call *call)
{
    const char *at = (const char *)call + field->offset;
    const char *none = (const char *)&orr_call_none + field->offset;

    switch (field->type) {
    case ORR_FIELD_NUMBER:
    case ORR_FIELD_HEX:
    case ORR_FIELD_INTEGER:
        return !memcmp(at, none, sizeof(uint64_t));
    case ORR_FIELD_REAL:
        return *(const double *)at == 0;
    case ORR_FIELD_TEXT:
        return !*(const char *const *)at;
    case ORR_FIELD_HOW:
        return *(const enum orr_how *)at == ORR_HOW_PLAIN;
    case ORR_FIELD_NUMBERS:
    case ORR_FIELD_INTEGERS:
    case ORR_FIELD_REALS:
    case ORR_FIELD_USES:
        return ((const struct orr_numbers *)at)->n == 0;
    }
    return 1;
}
