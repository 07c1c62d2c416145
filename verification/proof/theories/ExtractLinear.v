(** Extracts the checker of certificates of linear programmes as an OCaml program, with the numbers of ExtractNumbers.v. *)
From Coq Require Import Extraction.
From Evenhand Require Import ExtractNumbers.
From Evenhand Require Import LinearProgramme.
Extraction "build/linear_checker.ml" judge_programme.
