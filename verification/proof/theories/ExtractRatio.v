(** Extracts the checkers of ratio and worst-load certificates as an OCaml program. In addition to Coq's extraction,
    this trusts that these functions of Zarith compute what those of Coq's Z do. *)
From Coq Require Import Extraction.
From Evenhand Require Import ExtractNumbers.
From Evenhand Require Import ReservationRatio ReservationWorst.
Extraction "build/ratio_checker.ml" check_ratio check_worst_load check_reached check_nothing.
