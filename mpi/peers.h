/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/peers.h - ranks of one host notice when one of them is gone. MPI tells nobody that a
 * process was killed, and what it was to send is waited for; the launcher ends the others,
 * but does not know by what name the program calls the one that died.
 *
 * Each rank has a local socket, to which up to three others of its host are connected.
 * These sleep until it says that it ends, at its shutdown or after an error that it has
 * told; a connection that ends without that word is a rank that was killed, or has crashed.
 *
 *     rank ── 'g' (good-bye) ──→ watchers: nothing
 *     rank ── (closed) ────────→ watchers: a sentence that names it, and the end
 *
 * Ranks on other hosts, whose launcher has to tell, are not watched, and neither are
 * threads of one process. A child that a rank has forked, and that goes on without exec,
 * keeps the rank's socket open.
 */
#pragma once

struct orr_rank;

/* All ranks of the communicator of all, which they meet in. Where sockets cannot be had,
 * nobody is watched. `call` is for messages. */
void orr_peers_open(struct orr_rank *rank, const char *call);

/* The rank ends, and has said why if it must: others do not take it for one that died. Any
 * thread, more than once. */
void orr_peers_say_goodbye(struct orr_rank *rank);

/* When no message is under way any more. */
void orr_peers_close(struct orr_rank *rank);
