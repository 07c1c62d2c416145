(* The placing lists the two servers that exist. *)
From Coq Require Import QArith List.
From Evenhand Require Import Spec Envy Limits Prices MaxMin Alpha Answered Placed Certificate Groups Literal.
Import ListNotations.
Open Scope Q_scope.

Definition the_problem : problem := {|
  users := 2;
  classes := 1;
  resources := 1;
  weight := row [1; 1];
  count := row [2];
  capacity := rows [[10]];
  base := rows [[6]; [1]];
  demand := demands [[6]; [1]] [];
  limit := options [Some 2; Some 1];
  gang := fun _ => 1;
  allowed := grid [[true]; [true]];
  stated := fun _ _ => None;
  criterion := fun _ _ => None;
  timed := flags [false];
  alone := rows [[10 # 3]; [20]] |}.
Definition the_allocation : allocation := rows [[2]; [0]].
Definition the_servers : placing := placing_of [(0%nat, [1; 0]); (0%nat, [1; 0])].
Definition the_tolerance : Q := (1 # 1000000000).
Definition the_tables := tables_of the_problem the_allocation the_allocation (Some the_servers).

Theorem checked : case_holds the_problem the_allocation the_allocation (Some the_servers) the_tolerance false = true.
Proof. vm_compute. reflexivity. Qed.
Definition by_computation := proven the_problem the_allocation the_allocation (Some the_servers) the_tolerance false checked.

Definition evidence_that_feasible_holds : claim :=
  Feasible.
Theorem feasible_holds : holds (fun eps => placed_within the_problem the_servers eps the_allocation) 0 0.
Proof. refine (by_computation evidence_that_feasible_holds true _ _). vm_compute. reflexivity. Qed.

Definition evidence_that_integer_feasible_holds : claim :=
  Integer.
Theorem integer_feasible_holds : on_single_servers the_problem the_allocation (Some the_servers) /\
  holds (fun eps => integer_feasible the_problem the_servers eps the_allocation) 0 0.
Proof. refine (by_computation evidence_that_integer_feasible_holds true _ _). vm_compute. reflexivity. Qed.

Definition evidence_that_work_conserving_is_violated : claim :=
  Conserving.
Theorem work_conserving_is_violated : violated (fun eps => placed_conserving the_problem the_servers eps the_allocation) the_tolerance (-1).
Proof. refine (by_computation evidence_that_work_conserving_is_violated false _ _). vm_compute. reflexivity. Qed.

Definition evidence_that_pareto_optimal_is_violated : claim :=
  Dominated (rows [[2]; [1]]).
Theorem pareto_optimal_is_violated : violated (fun eps => pareto_optimal the_problem eps the_allocation) the_tolerance (-1).
Proof. refine (by_computation evidence_that_pareto_optimal_is_violated false _ _). vm_compute. reflexivity. Qed.
