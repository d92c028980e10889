/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bindings/python/starpupy/submit.c - task_submit(options)(func, *args, **kwargs).
 */
#include "task.h"

#include <limits.h>
#include <math.h>
#include <string.h>

struct submit {
    PyObject_HEAD PyObject *name, *model, *modes; /* None: not given */
    int synchronous, priority, where, has_priority;
    unsigned color;
    double flops;
    int ret_handle, ret_fut, ret_param, arg_handle;
};

/* One call of it. */
struct submission {
    const struct submit *options;
    struct spy_task *task;
    PyObject *func;
    PyObject *access; /* dict of the function's modes by name, or NULL */
    PyObject *names;  /* of its parameters by position, a tuple, or NULL */
    struct starpu_task *before[STARPU_NMAXBUFS]; /* that it waits for */
    struct starpu_task **more_before;
    size_t nbefore, room;
};

/* -- modes ---------------------------------------------------------------- */

/* The parameters of a function that has no others than those it names. */
static PyObject *names_of_function(PyObject *func)
{
    PyCodeObject *code = (PyCodeObject *)PyFunction_GET_CODE(func);
    PyObject *all, *names;

    if (code->co_flags & CO_VARARGS)
        return PyObject_CallOneArg(spy.names_of, func);
    all = PyCode_GetVarnames(code);
    names = all ? PyTuple_GetSlice(all, 0, code->co_argcount) : NULL;
    Py_XDECREF(all);
    return names;
}

/* Finds the names of parameters by position, for modes that are given by name. */
static int find_names(struct submission *s)
{
    if (!s->names)
        s->names = PyFunction_Check(s->func)
                       ? names_of_function(s->func)
                       : PyObject_CallOneArg(spy.names_of, s->func);
    return s->names ? 0 : -1;
}

/* The mode in a dict or sequence for an argument: 0 if it is not in it. */
static int mode_in(PyObject *modes, PyObject *name, Py_ssize_t position)
{
    PyObject *mode = NULL, *index;

    if (PyDict_Check(modes)) {
        if (name)
            mode = PyDict_GetItemWithError(modes, name);
        if (!mode && !PyErr_Occurred() && position >= 0) {
            index = PyLong_FromSsize_t(position);
            mode = index ? PyDict_GetItemWithError(modes, index) : NULL;
            Py_XDECREF(index);
        }
        if (!mode)
            return PyErr_Occurred() ? -1 : 0;
        return spy_mode(mode);
    }
    if (position < 0 || position >= PySequence_Size(modes))
        return PyErr_Occurred() ? -1 : 0;
    mode = PySequence_GetItem(modes, position);
    if (!mode)
        return -1;
    position = spy_mode(mode);
    Py_DECREF(mode);
    return (int)position;
}

/* The mode of an argument; `name` is NULL for one by position. -1 and an
 * exception. */
static int submission_argument_mode(struct submission *s, PyObject *name,
                                    Py_ssize_t position)
{
    int mode = 0;

    if (s->options->ret_param && position == 0)
        return STARPU_RW;
    if (s->options->modes == Py_None && !s->access)
        return STARPU_R;
    if (!name && (s->access || PyDict_Check(s->options->modes))) {
        if (find_names(s) < 0)
            return -1;
        if (position < PyTuple_GET_SIZE(s->names))
            name = PyTuple_GET_ITEM(s->names, position);
    }
    if (s->options->modes != Py_None)
        mode = mode_in(s->options->modes, name, position);
    if (mode == 0 && s->access)
        mode = mode_in(s->access, name, position);
    return mode ? mode : STARPU_R;
}

/* Whether a key of a dict of modes stands for an argument of the call. */
static int is_argument(struct submission *s, PyObject *key, Py_ssize_t n,
                       PyObject *kwargs)
{
    PyObject *ret;
    Py_ssize_t position;
    int is_there = 0;

    if (PyLong_Check(key)) {
        position = PyLong_AsSsize_t(key);
        if (position == -1 && PyErr_Occurred())
            PyErr_Clear(); /* too large: not one of them */
        return position >= 0 && position < n;
    }
    if (kwargs)
        is_there = PyDict_Contains(kwargs, key);
    if (is_there == 0)
        is_there = find_names(s) < 0 ? -1 : PySequence_Contains(s->names, key);
    if (is_there != 0)
        return is_there;
    /* A keyword that the call does without. */
    ret = PyObject_CallFunctionObjArgs(spy.has_parameter, s->func, key, NULL);
    is_there = ret ? PyObject_IsTrue(ret) : -1;
    Py_XDECREF(ret);
    return is_there;
}

/* The modes that were given must be those of arguments: one that is not would be
 * missed where it was meant. `n` arguments are given by position. */
static int check_modes(struct submission *s, Py_ssize_t n, PyObject *kwargs)
{
    PyObject *modes = s->options->modes, *key, *mode;
    Py_ssize_t at = 0;

    if (modes == Py_None)
        return 0;
    if (!PyDict_Check(modes)) {
        if (PySequence_Size(modes) <= n)
            return 0;
        spy_error("task_submit: modes=%R: the call has %zd arguments by "
                  "position",
                  modes, n);
        return -1;
    }
    while (PyDict_Next(modes, &at, &key, &mode)) {
        int ret = is_argument(s, key, n, kwargs);

        if (ret == 1)
            continue;
        if (ret == 0)
            spy_error("task_submit: modes=%R: the call has no argument %R: use "
                      "the name of a parameter, or a position from 0",
                      modes, key);
        return -1;
    }
    return 0;
}

/* -- arguments ------------------------------------------------------------ */

static int wait_before(struct submission *s, struct starpu_task *before)
{
    struct starpu_task **more;

    if (s->nbefore == s->room) {
        more = PyMem_Realloc(s->more_before, 2 * s->room * sizeof(*more));
        if (!more) {
            PyErr_NoMemory();
            return -1;
        }
        if (!s->more_before)
            memcpy(more, s->before, sizeof(s->before));
        s->more_before = more;
        s->room *= 2;
    }
    (s->more_before ? s->more_before : s->before)[s->nbefore++] = before;
    return 0;
}

/* The size that models see of an argument which is no data. */
static size_t object_bytes(PyObject *object)
{
    Py_ssize_t n = 0;

    if (PyUnicode_Check(object))
        n = PyUnicode_GET_LENGTH(object);
    else if (PyList_Check(object) || PyTuple_Check(object) ||
             PyDict_Check(object) || PyAnySet_Check(object))
        n = PyObject_Size(object) * (Py_ssize_t)sizeof(double);
    return n > 0 ? (size_t)n : 0;
}

static PyObject *use_handle(struct submission *s, struct spy_handle *handle,
                            PyObject *name, Py_ssize_t position)
{
    int mode = submission_argument_mode(s, name, position);

    if (mode < 0 || spy_handle_check(handle, "task_submit") < 0)
        return NULL;
    if (handle->held && !spy_in_task()) {
        bool clash = (handle->held | mode) & STARPU_W;

        if (clash && s->options->synchronous)
            return spy_error("task_submit: the task would wait for data that "
                             "the application has acquired: release them "
                             "first");
    }
    s->task->special = true;
    if (spy_task_add(s->task, handle, mode) < 0)
        return NULL;
    return Py_NewRef((PyObject *)handle);
}

/* The placeholder of an argument until the function is called: a new
 * reference. */
static PyObject *submission_take_argument(struct submission *s,
                                          PyObject *object, PyObject *name,
                                          Py_ssize_t position)
{
    struct spy_handle *handle = NULL;

    if (PyObject_TypeCheck(object, &spy_future_type)) {
        struct spy_future *future = (void *)object;

        if (future->state != SPY_DONE) {
            s->task->special = true;
            if (future->task && wait_before(s, future->task) < 0)
                return NULL;
            return Py_NewRef(object);
        }
        object = future->value;
    }
    if (spy_is_handle(object))
        return use_handle(s, (void *)object, name, position);
    if (s->options->arg_handle && PyObject_CheckBuffer(object)) {
        handle = spy_handle_of(object);
        if (!handle && PyErr_Occurred())
            return NULL;
    }
    if (handle)
        return use_handle(s, handle, name, position);
    if (s->options->model != Py_None)
        s->task->bytes += object_bytes(object);
    return Py_NewRef(object);
}

static int take_arguments(struct submission *s, PyObject *args,
                          PyObject *kwargs)
{
    Py_ssize_t n = PyTuple_GET_SIZE(args) - 1, at = 0;
    PyObject *name, *object;

    if (check_modes(s, n, kwargs) < 0)
        return -1;
    s->task->args = PyTuple_New(n);
    if (!s->task->args)
        return -1;
    for (Py_ssize_t i = 0; i < n; i++) {
        object =
            submission_take_argument(s, PyTuple_GET_ITEM(args, i + 1), NULL, i);
        if (!object)
            return -1;
        PyTuple_SET_ITEM(s->task->args, i, object);
    }
    if (!kwargs || PyDict_GET_SIZE(kwargs) == 0)
        return 0;
    s->task->kwargs = PyDict_New();
    if (!s->task->kwargs)
        return -1;
    while (PyDict_Next(kwargs, &at, &name, &object)) {
        int ret;

        object = submission_take_argument(s, object, name, -1);
        ret = object ? PyDict_SetItem(s->task->kwargs, name, object) : -1;
        Py_XDECREF(object);
        if (ret < 0)
            return -1;
    }
    return 0;
}

/* -- the function --------------------------------------------------------- */

/* Finds what is to be called: new reference. */
static PyObject *find_python_function(PyObject *func)
{
    if (PyUnicode_Check(func))
        return PyObject_CallOneArg(spy.find, func);
    if (PyCallable_Check(func))
        return Py_NewRef(func);
    return spy_error("task_submit: %s object cannot be called: hand over a "
                     "function or the name of one",
                     Py_TYPE(func)->tp_name);
}

/* What it is called in traces and models: new reference. */
static PyObject *function_name(PyObject *func)
{
    PyObject *name;

    if (PyFunction_Check(func))
        return Py_NewRef(((PyFunctionObject *)func)->func_name);
    name = PyObject_GetAttrString(func, "__name__");
    if (name && PyUnicode_Check(name))
        return name;
    Py_XDECREF(name);
    PyErr_Clear();
    return PyUnicode_FromString(Py_TYPE(func)->tp_name);
}

static int look_at_function(struct submission *s, PyObject *func)
{
    PyObject *dict;

    s->func = s->task->func = find_python_function(func);
    if (!s->func)
        return -1;
    /* A function without attributes of its own has no modes. */
    if (PyFunction_Check(s->func) && !((PyFunctionObject *)s->func)->func_dict)
        return 0;
    dict = PyObject_GetAttrString(s->func, "starpu_access");
    if (dict && PyDict_Check(dict))
        s->access = dict;
    else
        Py_XDECREF(dict);
    PyErr_Clear();
    return 0;
}

/* -- the task ------------------------------------------------------------- */

static int task_fill_buffers(struct starpu_task *task, struct spy_task *self)
{
    task->nbuffers = (int)self->nhandles;
    if (self->nhandles > STARPU_NMAXBUFS) {
        size_t n = self->nhandles;

        /* Freed with the task. */
        task->dyn_handles = malloc(n * sizeof(task->dyn_handles[0]));
        task->dyn_interfaces = malloc(n * sizeof(task->dyn_interfaces[0]));
        task->dyn_modes = malloc(n * sizeof(task->dyn_modes[0]));
        if (!task->dyn_handles || !task->dyn_interfaces || !task->dyn_modes) {
            PyErr_NoMemory();
            return -1;
        }
    }
    for (size_t i = 0; i < self->nhandles; i++) {
        STARPU_TASK_SET_HANDLE(task, self->handles[i]->data, i);
        STARPU_TASK_SET_MODE(task, self->modes[i], i);
    }
    return 0;
}

/* Whether that file lies in the folder of this package, which submits for others. */
static bool is_ours(const char *file)
{
    PyObject *code =
        PyFunction_Check(spy.find) ? PyFunction_GET_CODE(spy.find) : NULL;
    const char *own =
        code ? PyUnicode_AsUTF8(((PyCodeObject *)code)->co_filename) : NULL;
    const char *slash = own ? strrchr(own, '/') : NULL;
    size_t length = slash ? (size_t)(slash + 1 - own) : 0;

    return length && !strncmp(file, own, length);
}

/* The line of Python that submits: the first one on the stack that is not the package's. The
 * name stays with the task. */
static void submission_set_line(struct submission *s, struct starpu_task *task)
{
    PyFrameObject *frame = PyEval_GetFrame();

    Py_XINCREF(frame);
    while (frame && !s->task->file) {
        PyCodeObject *code = PyFrame_GetCode(frame);
        const char *file = PyUnicode_AsUTF8(code->co_filename);
        PyFrameObject *outer;

        if (file && !is_ours(file)) {
            s->task->file = Py_NewRef(code->co_filename);
            task->file = file;
            task->line = PyFrame_GetLineNumber(frame);
        }
        Py_DECREF(code);
        outer = PyFrame_GetBack(frame);
        Py_DECREF(frame);
        frame = outer;
    }
    Py_XDECREF(frame);
    PyErr_Clear();
}

static struct starpu_task *submission_make_task(struct submission *s,
                                                struct starpu_codelet *cl)
{
    struct starpu_task *task = starpu_task_create();

    if (!task)
        return (void *)PyErr_NoMemory();
    task->cl = cl;
    task->cl_arg = s->task;
    task->epilogue_callback_func = spy_task_epilogue;
    task->epilogue_callback_arg = s->task;
    task->priority = s->options->priority;
    task->color = s->options->color;
    task->flops = s->options->flops;
    if (s->task->future)
        task->destroy = 0;
    if (s->options->name != Py_None)
        task->name = cl->name;
    if (spy.lines)
        submission_set_line(s, task);
    if (task_fill_buffers(task, s->task) == 0)
        return task;
    task->destroy = 0;
    starpu_task_destroy(task);
    return NULL;
}

static int submission_hand_over(struct submission *s, struct starpu_task *task)
{
    bool waits = spy.simulated || spy.limited;
    PyThreadState *state = NULL;
    int ret;

    if (s->nbefore)
        starpu_task_declare_deps_array(task, (unsigned)s->nbefore,
                                       s->more_before ? s->more_before
                                                      : s->before);
    for (size_t i = 0; i < s->task->nhandles; i++) {
        s->task->handles[i]->pending++;
        s->task->handles[i]->uses++;
    }
    spy_task_leave(s->task);
    s->task->submitted = true;
    spy.unfinished++;
    if (s->task->future)
        s->task->future->task = task;
    if (waits)
        state = spy_detach();
    else
        spy_hold(true);
    ret = starpu_task_submit(task);
    if (waits)
        spy_attach(state);
    else
        spy_hold(false);
    if (ret == 0)
        return 0;
    for (size_t i = 0; i < s->task->nhandles; i++)
        s->task->handles[i]->pending--;
    spy.unfinished--;
    if (s->task->future)
        s->task->future->task = NULL;
    return ret;
}

static int submission_submit(struct submission *s, PyObject *name)
{
    struct starpu_codelet *cl = spy_codelet(name, s->options->model,
                                            s->options->where, spy_task_kernel);
    struct starpu_task *task = cl ? submission_make_task(s, cl) : NULL;
    int ret;

    if (!task)
        return -1;
    ret = submission_hand_over(s, task);
    if (ret == 0)
        return 0;
    task->destroy = 0;
    starpu_task_destroy(task);
    if (ret == -ENODEV)
        spy_error(
            "task_submit: no worker can run `%s': Python functions run on "
            "processors, in a simulation also where their model or "
            "--assume has times for; change where= or the number of "
            "workers",
            cl->name);
    else
        spy_error("task_submit: %s", strerror(-ret));
    return -1;
}

/* -- what is returned ----------------------------------------------------- */

static int make_outputs(struct submission *s, PyObject *name)
{
    const struct submit *options = s->options;
    PyObject *first;

    if (options->ret_handle && options->ret_param) {
        first = PyTuple_GET_ITEM(s->task->args, 0);
        if (!spy_is_handle(first)) {
            spy_error("task_submit: ret_param=True: the first argument must "
                      "be a Handle or an object with memory");
            return -1;
        }
    } else if (options->ret_handle) {
        s->task->result = spy_handle_new();
        if (!s->task->result ||
            spy_task_add(s->task, s->task->result, STARPU_W) < 0)
            return -1;
    }
    if (options->synchronous || (options->ret_fut && !options->ret_handle)) {
        s->task->future = spy_future_new(name);
        if (!s->task->future)
            return -1;
    }
    return 0;
}

/* Waits for it and returns what the user gets; steals both, which may be NULL. */
static PyObject *submission_result(const struct submit *options,
                                   PyObject *future, PyObject *handle)
{
    PyObject *value = NULL;

    if (options->synchronous) {
        value = PyObject_CallMethod(future, "wait", NULL);
        if (!value && !spy_future_ended((void *)future))
            goto fail; /* interrupted */
        if (!value && !handle && !options->ret_fut)
            goto fail;
        if (!value)
            PyErr_Clear();
        Py_XDECREF(value);
    }
    if (handle) {
        Py_XDECREF(future);
        return handle;
    }
    if (options->ret_fut)
        return future;
    Py_XDECREF(future);
    Py_RETURN_NONE;

fail:
    Py_XDECREF(future);
    Py_XDECREF(handle);
    return NULL;
}

static int submission_prepare(struct submission *s, PyObject *args,
                              PyObject *kwargs, PyObject **ret_name)
{
    if (look_at_function(s, PyTuple_GET_ITEM(args, 0)) < 0)
        return -1;
    if (s->options->ret_param && PyTuple_GET_SIZE(args) < 2) {
        spy_error("task_submit: ret_param=True: there is no first argument");
        return -1;
    }
    if (take_arguments(s, args, kwargs) < 0)
        return -1;
    s->task->into_first = s->options->ret_param;
    *ret_name = s->options->name != Py_None ? Py_NewRef(s->options->name)
                                            : function_name(s->func);
    if (!*ret_name)
        return -1;
    return make_outputs(s, *ret_name);
}

/* NULL and an exception. */
static PyObject *try_to_submit(struct submit *self, PyObject *args,
                               PyObject *kwargs)
{
    struct submission s = {.options = self, .room = STARPU_NMAXBUFS};
    PyObject *name = NULL, *future = NULL, *handle = NULL;
    bool ok;

    if (!spy_may_call("task_submit"))
        return NULL;
    if (PyTuple_GET_SIZE(args) < 1)
        return spy_error("task_submit: no function: call "
                         "task_submit(options)(function, arguments)");
    spy_garbage_collect();
    s.task = spy_task_new();
    if (!s.task)
        return NULL;
    ok = submission_prepare(&s, args, kwargs, &name) == 0;
    if (ok) {
        /* The task may be delivered before submission returns. */
        future = Py_XNewRef((PyObject *)s.task->future);
        if (self->ret_handle)
            handle =
                Py_NewRef(s.task->result ? (PyObject *)s.task->result
                                         : PyTuple_GET_ITEM(s.task->args, 0));
        ok = submission_submit(&s, name) == 0;
    }
    if (!ok)
        spy_task_free(s.task);
    Py_XDECREF(s.names);
    Py_XDECREF(s.access);
    Py_XDECREF(name);
    PyMem_Free(s.more_before);
    if (ok)
        return submission_result(self, future, handle);
    Py_XDECREF(future);
    Py_XDECREF(handle);
    return NULL;
}

static PyObject *submit_call(struct submit *self, PyObject *args,
                             PyObject *kwargs)
{
    PyObject *found;

    do
        found = try_to_submit(self, args, kwargs);
    while (!found && spy_met_claims());
    return found;
}

/* -- options -------------------------------------------------------------- */

static int parse_where(PyObject *where)
{
    static const struct {
        const char *word;
        int bit;
    } kinds[] = {{"cpu", STARPU_CPU},
                 {"cuda", STARPU_CUDA},
                 {"opencl", STARPU_OPENCL},
                 {"hip", STARPU_HIP}};
    long all = STARPU_CPU | STARPU_CUDA | STARPU_OPENCL | STARPU_HIP, bits;

    if (where == Py_None)
        return 0;
    if (PyLong_Check(where)) {
        bits = PyLong_AsLong(where);
        if (bits >= 0 && !(bits & ~all))
            return (int)bits;
        PyErr_Clear();
    }
    for (size_t i = 0; PyUnicode_Check(where) && i < Py_ARRAY_LENGTH(kinds);
         i++)
        if (PyUnicode_CompareWithASCIIString(where, kinds[i].word) == 0)
            return kinds[i].bit;
    spy_error("task_submit: where=%R: use 'cpu', 'cuda', 'opencl', 'hip' or a "
              "sum of starpu.STARPU_CPU, ...",
              where);
    return -1;
}

/* Whether it can be a C string: those that it keeps are. */
static bool is_text(PyObject *object, const char *option)
{
    Py_ssize_t length = 0;
    const char *text;

    if (object == Py_None)
        return true;
    text = PyUnicode_Check(object) ? PyUnicode_AsUTF8AndSize(object, &length)
                                   : NULL;
    if (text && strlen(text) == (size_t)length)
        return true;
    PyErr_Clear();
    spy_error("task_submit: %s= must be a text that UTF-8 can write, without "
              "null characters, not %A",
              option, object);
    return false;
}

static bool is_symbol(PyObject *model)
{
    const char *text;

    if (!is_text(model, "perfmodel"))
        return false;
    text = model == Py_None ? "none" : PyUnicode_AsUTF8(model);
    if (text && *text && *text != '.' && !strchr(text, '/'))
        return true;
    spy_error("task_submit: perfmodel=%R: a file has the name of the symbol, "
              "which must not be empty, begin with a dot or contain a slash",
              model);
    return false;
}

/* Also of numpy's ints. */
static int parse_priority(PyObject *priority)
{
    int overflow = 0;
    long value = PyLong_AsLongAndOverflow(priority, &overflow);

    if (!overflow && value >= INT_MIN && value <= INT_MAX)
        return (int)value;
    if (!PyErr_Occurred())
        spy_error("task_submit: priority=%R: use an int from %d to %d",
                  priority, INT_MIN, INT_MAX);
    return -1;
}

static unsigned parse_color(PyObject *color)
{
    int overflow = 0;
    long value = PyLong_AsLongAndOverflow(color, &overflow);

    if (!overflow && value >= 0 && value <= UINT32_MAX)
        return (unsigned)value;
    if (!PyErr_Occurred())
        spy_error("task_submit: color=%R: use red, green and blue as an int, "
                  "0xRRGGBB",
                  color);
    return 0;
}

static double parse_flops(PyObject *flops)
{
    double value = PyFloat_AsDouble(flops);

    if (isfinite(value) && value >= 0)
        return value;
    if (!PyErr_Occurred())
        spy_error("task_submit: flops=%R: use a number from 0", flops);
    return 0;
}

/* What is wrong in any call; which arguments a call has is looked at then. */
static bool are_modes(PyObject *modes)
{
    PyObject *key, *mode;
    Py_ssize_t at = 0;

    if (modes == Py_None)
        return true;
    if (PyDict_Check(modes)) {
        while (PyDict_Next(modes, &at, &key, &mode))
            if (spy_mode(mode) < 0)
                return false;
        return true;
    }
    if (!PyList_Check(modes) && !PyTuple_Check(modes)) {
        spy_error("task_submit: modes=%R: use a dict by name or position, or a "
                  "list",
                  modes);
        return false;
    }
    for (; at < PySequence_Fast_GET_SIZE(modes); at++)
        if (spy_mode(PySequence_Fast_GET_ITEM(modes, at)) < 0)
            return false;
    return true;
}

static int submit_parse_options(struct submit *self, PyObject *args,
                                PyObject *kwargs)
{
    static char *names[] = {
        "name",       "synchronous", "priority",   "color",   "flops",
        "perfmodel",  "where",       "ret_handle", "ret_fut", "ret_param",
        "arg_handle", "modes",       NULL};
    PyObject *color = Py_None, *flops = Py_None, *where = Py_None;
    PyObject *priority = NULL;

    if (!PyArg_ParseTupleAndKeywords(
            args, kwargs, "|OpOOOOOppppO:task_submit", names, &self->name,
            &self->synchronous, &priority, &color, &flops, &self->model, &where,
            &self->ret_handle, &self->ret_fut, &self->ret_param,
            &self->arg_handle, &self->modes))
        return -1;
    if (!is_text(self->name, "name") || !is_symbol(self->model) ||
        !are_modes(self->modes))
        return -1;
    if (priority)
        self->priority = parse_priority(priority);
    if (color != Py_None && !PyErr_Occurred())
        self->color = parse_color(color);
    if (flops != Py_None && !PyErr_Occurred())
        self->flops = parse_flops(flops);
    if (!PyErr_Occurred())
        self->where = parse_where(where);
    return PyErr_Occurred() ? -1 : 0;
}

static PyObject *submit_new(PyTypeObject *type, PyObject *args,
                            PyObject *kwargs)
{
    struct submit *self = (void *)type->tp_alloc(type, 0);

    if (!self)
        return NULL;
    self->name = self->model = self->modes = Py_None;
    self->ret_fut = self->arg_handle = 1;
    if (submit_parse_options(self, args, kwargs) < 0) {
        self->name = self->model = self->modes = NULL;
        Py_DECREF(self);
        return NULL;
    }
    Py_INCREF(self->name);
    Py_INCREF(self->model);
    Py_INCREF(self->modes);
    return (PyObject *)self;
}

static void submit_dealloc(struct submit *self)
{
    Py_XDECREF(self->name);
    Py_XDECREF(self->model);
    Py_XDECREF(self->modes);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

PyTypeObject spy_submit_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "starpu.starpupy.task_submit",
    .tp_basicsize = sizeof(struct submit),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc =
        "task_submit(name=None, synchronous=False, priority=0, color=None,\n"
        "            flops=None, perfmodel=None, where=None, ret_handle=False,\n"
        "            ret_fut=True, ret_param=False, arg_handle=True,\n"
        "            modes=None)(func, *args, **kwargs)\n\n"
        "Submits a call of func as a task. Returns a Future of its value, with\n"
        "ret_handle=True a Handle of it, with ret_fut=False None.",
    .tp_new = submit_new,
    .tp_dealloc = (destructor)submit_dealloc,
    .tp_call = (ternaryfunc)submit_call,
};
