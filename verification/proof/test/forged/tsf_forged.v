(* The problem of tsf_true.v, but A has 0 instead of 30 tasks on s0. If Coq accepted this problem as well-formed,
   max-min would hold. *)
From Coq Require Import QArith List.
From Evenhand Require Import Spec Envy Limits Prices MaxMin Alpha Answered Placed Certificate Groups Literal.
Import ListNotations.
Open Scope Q_scope.

Definition the_problem : problem := {|
  users := 2;
  classes := 2;
  resources := 2;
  weight := row [1; 1];
  count := row [1; 1];
  capacity := rows [[30; 0]; [10; 1]];
  base := rows [[1; 0]; [1; 0]];
  demand := demands [[1; 0]; [1; 0]] [];
  limit := options [None; None];
  gang := fun _ => 1;
  allowed := grid [[false; true]; [false; true]];
  stated := fun _ _ => None;
  criterion := fun _ _ => None;
  timed := flags [false; false];
  alone := rows [[0; 10]; [30; 10]] |}.
Definition the_allocation : allocation := rows [[0; 2]; [0; 8]].
Definition the_tolerance : Q := 0.
Definition the_tables := tables_of the_problem the_allocation the_allocation None.

Theorem checked : case_holds the_problem the_allocation the_allocation None the_tolerance false = true.
Proof. vm_compute. reflexivity. Qed.
Definition by_computation := proven the_problem the_allocation the_allocation None the_tolerance false checked.

Definition evidence_that_feasible_holds : claim :=
  Feasible.
Theorem feasible_holds : holds (fun eps => feasible_within the_problem eps the_allocation) the_tolerance 0.
Proof. refine (by_computation evidence_that_feasible_holds true _ _). vm_compute. reflexivity. Qed.

Definition evidence_that_max_min_tsf_holds : claim :=
  max_min_of the_problem the_allocation the_tables Tsf 0 [
    ([0%nat; 1%nat], [10; 40],
     (prices_of [[0; 0]; [1; 0]] [0; 0]))].
Theorem max_min_tsf_holds : defined the_problem Tsf /\
  holds (fun eps => max_min the_problem (worth the_problem Tsf) eps the_allocation) the_tolerance 0.
Proof. refine (by_computation evidence_that_max_min_tsf_holds true _ _). vm_compute. reflexivity. Qed.
