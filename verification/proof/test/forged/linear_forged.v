(* The programme of linear_true.v with another vertex. The file claims that its objective 27 is the optimum. The price
   of row 0 has the wrong sign. If the sign did not matter, these prices and the only bound of the row would prove
   27. *)
From Coq Require Import QArith List.
From Evenhand Require Import LinearProgramme.
Import ListNotations.
Open Scope Q_scope.
Definition the_programme : programme := {|
  rows := 3; columns := 2; is_maximised := true; constant := 0;
  cost := fun j => nth j [3; 5] 0;
  entries := fun j => nth j [[(0%nat, 1); (2%nat, 3)]; [(1%nat, 2); (2%nat, 2)]] [];
  row_bounds := fun i => {| lower := None; upper := Some (nth i [4; 12; 18] 0) |};
  column_bounds := fun _ => {| lower := Some 0; upper := None |} |}.
Definition the_point : nat -> Q := fun j => nth j [4; 3] 0.
Definition the_prices : nat -> Q := fun i => nth i [9 # 2; 0; -5 # 2] 0.
Theorem checked : check_optimal the_programme the_point the_prices 27 = true.
Proof. vm_compute. reflexivity. Qed.
Theorem optimal : is_optimum the_programme the_point 27.
Proof. exact (check_optimal_sound _ _ _ _ checked). Qed.
