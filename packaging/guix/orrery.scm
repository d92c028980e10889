;; SPDX-License-Identifier: LGPL-2.1-or-later
;; Orrery for Guix, from the checkout that this recipe lies in:
;;   guix build -f packaging/guix/orrery.scm
(use-modules (guix packages)
             (guix gexp)
             (guix git-download)
             (guix utils)
             (guix build-system meson)
             ((guix licenses) #:prefix license:)
             (gnu packages compression)
             (gnu packages backup)
             (gnu packages maths)
             (gnu packages mpi)
             (gnu packages pkg-config)
             (gnu packages python)
             (gnu packages serialization)
             (gnu packages simulation)
             (gnu packages web)
             (gnu packages xml))

(define %checkout
  (dirname (dirname (current-source-directory))))

(package
  (name "orrery")
  (version "0.2.0")
  (source (local-file %checkout "orrery-checkout"
                      #:recursive? #t
                      #:select? (or (git-predicate %checkout)
                                    (const #t))))
  (build-system meson-build-system)
  (arguments
   (list #:tests? #f
         #:configure-flags
         #~(list "-Dtests=disabled" "-Dexamples=disabled"
                 "-Dopencl=disabled" "-Dmpi=disabled" "-Dfortran=disabled"
                 "-Djava=disabled" "-Drust=disabled" "-Dpython=disabled"
                 "-Dsimgrid=disabled" "-Dhdf5=disabled" "-Dreport=disabled")))
  (native-inputs (list pkg-config python))
  (inputs (list expat glpk (list hwloc "lib") jansson libarchive libyaml))
  (synopsis "Task runtime with real and simulated machines")
  (description
   "Orrery runs graphs of tasks with StarPU's programming interface.  The
machine is real or simulated, chosen when the program starts: the same binary
predicts how long it would take on a machine that is not there.")
  (home-page "")
  (license license:lgpl2.1+))
