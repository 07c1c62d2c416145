(** Extracts the checkers of ratio and worst-load certificates as an OCaml program. A user of the program trusts Coq's
    extraction, and also that these functions of Zarith compute the same numbers as those of Coq's Z. *)
From Coq Require Import Extraction.
From Evenhand Require Import ExtractNumbers.
From Evenhand Require Import ReservationRatio ReservationWorst.
Extraction "build/ratio_checker.ml" check_ratio check_worst_load check_reached check_nothing.
