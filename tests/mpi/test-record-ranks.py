#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""orrery record --ranks: each rank of a program without the others; their replay together.
Prints TAP.
usage: test-record-ranks.py [ORRERY PLAYER CHOLESKY CG STENCIL RING]"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

if len(sys.argv) < 7:
    print("1..0 # SKIP no MPI: neither Open MPI nor MPICH was there when this was built")
    sys.exit(0)
ORRERY, PLAYER, CHOLESKY, CG, STENCIL, RING = map(os.path.abspath, sys.argv[1:7])
ENV = {name: value for name, value in os.environ.items()
       if not name.startswith(("ORRERY_RECORD", "ORRERY_MACHINE", "ORRERY_ASSUME"))}
results = []


def claim(text, true, *what):
    results.append(bool(true))
    print(("ok" if true else "not ok") + f" {len(results)} - {text}")
    if not true:
        print("\n".join("# " + line for line in "\n".join(map(str, what)).splitlines()))


def record(*words):
    return subprocess.run([ORRERY, "record", *words], capture_output=True, text=True,
                          env=ENV, check=False)


def replay(*words):
    return subprocess.run([ORRERY, "replay", *words, "--assume", "* = 100us"],
                          capture_output=True, text=True, env=ENV, check=False)


def replace(path, old, new):
    """The first line that begins so."""
    text = read(path).decode().splitlines(True)
    at = next(i for i, line in enumerate(text) if line.startswith(old))
    text[at] = new
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(text)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def lines(path, verb):
    """Those of that call, as fields by name."""
    return [dict(word.partition("=")[::2] for word in line.split()[1:])
            for line in read(path).decode().splitlines() if line.split()[0] == verb]


def test_program(at):
    program = ["-m", "epyc-64", "--", CHOLESKY, "-size", "768", "-nblocks", "8"]
    done = record("--ranks", "4", "-j", "1", "-o", at + "/one.rec", *program)
    claim("four ranks are recorded, with what all of them have",
          done.returncode == 0 and "4 of 4 ranks, 120 tasks" in done.stdout, done)
    again = record("--ranks", "4", "-j", "3", "-o", at + "/more.rec", *program)
    same = [read(f"{at}/one.rank{r}.rec") == read(f"{at}/more.rank{r}.rec") for r in range(4)]
    claim("the records are the same, however many are made at a time",
          again.returncode == 0 and all(same), again, same)
    alone = record("--ranks", "4", "--rank", "2", "-o", at + "/alone.rec", *program)
    claim("one rank alone has the same record, and no other is made",
          alone.returncode == 0 and glob.glob(at + "/alone*") == [at + "/alone.rank2.rec"] and
          read(at + "/alone.rank2.rec") == read(at + "/one.rank2.rec"), alone)
    sent, received = [], []
    for r in range(4):
        path = f"{at}/one.rank{r}.rec"
        sent += [(r, int(m.get("peer", 0)), m.get("tag", "0")) for m in lines(path, "send")]
        received += [(int(m.get("peer", 0)), r, m.get("tag", "0")) for m in lines(path, "receive")]
    claim("what one rank sends another one receives",
          sent and sorted(sent) == sorted(received), sent, received)
    path = at + "/one.rank3.rec"
    skipped = sum(int(line["value"]) for line in lines(path, "skip"))
    claim("insertions of other ranks are counted, and are no tasks",
          skipped + len(lines(path, "submit")) == 120, skipped)
    claim("data that the rank does not use have no line",
          len(lines(path, "data")) < 36 and lines(path, "numbers")[-1]["value"] == "36")


def test_folder(at):
    folder = at + "/records/"
    done = record("--ranks", "2", "-o", folder, "--", CHOLESKY, "-size", "192", "-nblocks", "2")
    claim("a folder has them in the compact form; without a machine it is this one",
          done.returncode == 0 and
          sorted(os.listdir(folder)) == ["rank0.recb", "rank1.recb"] and
          read(folder + "rank1.recb").startswith(b"orrery-record 1 binary\n"), done)


def test_unreal(at):
    done = record("--ranks", "2", "-m", "epyc-64", "-o", at + "/cg.rec", "--", CG, "-size",
                  "32", "-nblocks", "2")
    claim("a rank that looks at values which mean nothing is told so",
          done.returncode == 0 and "control flow may depend on them" in done.stderr, done)
    claim("each such look is in the record, behind the acquisition",
          b"acquire" in read(at + "/cg.rank0.rec") and lines(at + "/cg.rank0.rec", "unreal"))


def test_refusals(at):
    for words, text in ((["--ranks", "0", "-o", at + "/x.rec"], "--ranks 0"),
                        (["--ranks", "2", "--rank", "2", "-o", at + "/x.rec"],
                         "the ranks are 0 to 1"),
                        (["--rank", "2", "-o", at + "/x.rec"], "of how many?")):
        done = record(*words, "--", CHOLESKY)
        claim("refused: " + text, done.returncode == 2 and text in done.stderr, done)
    done = record("--ranks", "2", "-m", "epyc-64", "-o", at + "/x.rec", "--", "true")
    claim("a program that is none of ours is named, with its rank",
          done.returncode == 1 and "rank 0: " in done.stderr and "liborrery" in done.stderr,
          done)


CLUSTER = ["-m", "4*epyc-64 + ib 200Gb/s", "--json"]


def test_replay(at):
    program = ["-m", "epyc-64", "--", CHOLESKY, "-size", "768", "-nblocks", "8"]
    record("--ranks", "4", "-o", at + "/it.rec", *program)
    record("--ranks", "4", "-o", at + "/it/", *program)
    done = replay(at + "/it.rec", *CLUSTER)
    ranks = json.loads(done.stdout)["ranks"] if done.returncode == 0 else []
    claim("the ranks are played together",
          sum(rank["tasks"] for rank in ranks) == 120, done)
    for name in ("/it", "/it.rank0.rec"):
        again = replay(at + name, *CLUSTER)
        claim("they are the same by " + name,
              [rank["makespan_us"] for rank in json.loads(again.stdout)["ranks"]] ==
              [rank["makespan_us"] for rank in ranks], again)
    done = replay(at + "/it", "-m", "epyc-64")
    claim("a machine alone is as many nodes", done.returncode == 0, done)
    done = replay(at + "/it", "-m", "2*epyc-64 + 10Gb/s ranks-per-node=2")
    claim("several ranks may be on a node", done.returncode == 0, done)
    done = replay(at + "/it", "-m", "3*epyc-64")
    claim("too few nodes are refused", done.returncode == 1 and
          "4 ranks were recorded, and 3*epyc-64 has room for 3" in done.stderr, done)
    done = replay(at + "/it")
    claim("they need a cluster", done.returncode == 1 and "name a cluster" in done.stderr, done)


def write_idle(at, ranks):
    """Records of ranks that do nothing; returns the first one's name."""
    for rank in range(ranks):
        with open(os.path.join(at, f"idle{ranks}.rank{rank}.rec"), "w", encoding="utf-8") as file:
            file.write(f'orrery-record 1\nrun machine="epyc-64" scheduler="lws"\n'
                       f"rank {rank} size={ranks}\nend-rank\nend value=3\n")
    return os.path.join(at, f"idle{ranks}.rank0.rec")


def test_pages(at):
    def starts(ranks, **more):
        done = subprocess.run([PLAYER, write_idle(at, ranks)], capture_output=True, text=True,
                              env={**ENV, "ORRERY_MACHINE": f"{ranks}*epyc-64 + ib 200Gb/s",
                                   "LD_DEBUG": "files", **more}, check=False)
        return done.stderr.count("initialize program:") if done.returncode == 0 else done

    claim("a player of few ranks goes on as it was begun", starts(7) == 1, starts(7))
    claim("one of many begins anew, with its memory on huge pages", starts(8) == 2, starts(8))
    own = starts(8, GLIBC_TUNABLES="glibc.malloc.tcache_count=7")
    claim("unless the user has said how memory is to be", own == 1, own)


def test_wrong_records(at):
    record("--ranks", "4", "-o", at + "/it.rec", "-m", "epyc-64", "--", CHOLESKY, "-size",
           "384", "-nblocks", "4")
    sent = lines(at + "/it.rank0.rec", "send")[0]
    good = read(at + "/it.rank0.rec").decode()
    replace(at + "/it.rank0.rec", "send ", "gather-sends value=1\n")
    done = replay(at + "/it.rec", *CLUSTER)
    claim("a message that nobody sends is named, with the rank that waits for it",
          done.returncode == 3 and
          re.search(rf"rank {sent['peer']}: error:   MPI waits for message from rank 0, tag "
                    rf"{sent.get('tag', 0)}\b", done.stderr), sent, done)
    with open(at + "/it.rank0.rec", "w", encoding="utf-8") as file:
        file.write(good)
    record("--ranks", "3", "--rank", "2", "-o", at + "/it.rec", "-m", "epyc-64", "--",
           CHOLESKY, "-size", "384", "-nblocks", "4")
    done = replay(at + "/it.rec", *CLUSTER)
    claim("a record of another number of ranks is named",
          done.returncode == 1 and "it.rank2.rec" in done.stderr and
          "this is rank 2 of 3, and is to be played as rank 2 of 4" in done.stderr, done)
    os.unlink(at + "/it.rank2.rec")
    done = replay(at + "/it.rec", *CLUSTER)
    claim("a record that is not there is named, with how to make it",
          done.returncode == 1 and "it.rank2.rec: the record of rank 2, of 4" in done.stderr and
          "--ranks 4 --rank 2" in done.stderr, done)


def test_hosted(at):
    """The program itself as ranks of a simulated cluster, and its records."""
    env = {**ENV, "ORRERY_MACHINE": "4*epyc-64 + ib 200Gb/s", "ORRERY_ASSUME": "* = 100us",
           "STARPU_SILENT": "1"}
    for program in ([CHOLESKY, "-size", "768", "-nblocks", "8"], [STENCIL, "-size", "96"],
                    [RING, "-rounds", "5"]):
        name = os.path.basename(program[0]).partition("-")[0]
        record("--ranks", "4", "-m", "epyc-64", "-o", f"{at}/{name}.rec", "--", *program)
        ran = subprocess.run(program, env={**env, "ORRERY_TRACE": f"{at}/{name}-run.csv"},
                             capture_output=True, text=True, check=False)
        played = subprocess.run([PLAYER, f"{at}/{name}.rank0.rec"], capture_output=True,
                                env={**env, "ORRERY_TRACE": f"{at}/{name}-played.csv"},
                                text=True, check=False)
        same = played.returncode == 0 and [
            read(f"{at}/{name}-run.rank{r}.csv") == read(f"{at}/{name}-played.rank{r}.csv")
            for r in range(4)]
        claim(f"{name}: the traces of the program on the cluster, and of its records, are the "
              "same", same and all(same), ran, played, same)


with tempfile.TemporaryDirectory() as place:
    test_program(place)
    test_folder(place)
    test_unreal(place)
    test_refusals(place)
    test_replay(place)
    test_pages(place)
    test_wrong_records(place)
    test_hosted(place)
print(f"1..{len(results)}")
sys.exit(not all(results))
