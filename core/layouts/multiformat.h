/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/layouts/multiformat.h - what the library asks of data that have a
 * form per sort of device: which conversion a kernel needs first. The copy on a
 * node has the form in which the value came, and after a conversion its own, too.
 */
#pragma once

#include <stdbool.h>

#include <starpu_data_interfaces.h>

#include "core/base/form.h"

/* The form that users of the node's memory want. */
enum orr_form orr_form_of_node(unsigned node);

/* Whether that is the interface of starpu_multiformat_data_register. */
bool orr_is_multiformat(const struct starpu_data_interface_ops *ops);

/* The codelet by which a node's copy, which is valid, gets the form of the node, in
 * *ret; NULL: it has it. A caller that gets one calls its function, then
 * orr_multiformat_end. False: another context converts the copy now; ask once more. */
bool orr_multiformat_begin(void *data_interface, unsigned node,
                           struct starpu_codelet **ret);
void orr_multiformat_end(void *data_interface, unsigned node);

/* The same codelet, but the caller does not convert: the copy may be converted
 * meanwhile. For machines with a single thread. */
struct starpu_codelet *orr_multiformat_lacks(void *data_interface,
                                             unsigned node);

/* A copy has been sent from node to node, without content: the latter has the
 * form that the method would have sent. */
void orr_multiformat_sent(void *src, void *dst, unsigned dst_node);

/* The copy is written on the node: only its form is worth anything then. */
void orr_multiformat_write(void *data_interface, unsigned node);
