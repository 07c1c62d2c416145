(** Proves facts about problems, and that the repair of any allocation is feasible. *)
From Coq Require Import QArith Qreduction Qfield Arith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Arithmetic.
Open Scope Q_scope.

Section On.
Variable P : problem.
Notation N := (users P). Notation K := (classes P). Notation M := (resources P).
Hypothesis W : well_formed P.

Lemma alone_nonneg n i : (n < N)%nat -> (i < K)%nat -> 0 <= alone P n i.
Proof.
  intros Hn Hi. pose proof (alone_is P W n i Hn Hi) as A. unfold is_alone in A.
  destruct (stated P n i) as [t|] eqn:E.
  - destruct (stated_pos P W n i t Hn Hi E). lra.
  - destruct A as [_ [(r & Hr & D & A)|[_ [A _]]]]; [|lra].
    assert (0 <= count P i * capacity P i r).
    { apply prod_nonneg; [apply Qlt_le_weak, (count_pos P W)|apply (capacity_nonneg P W)]; auto. }
    apply Qnot_lt_le. intro C.
    assert (0 < - alone P n i * demand P n i r) by (apply Qmult_lt_0_compat; lra). lra.
Qed.
Lemma gamma_nonneg n i : (n < N)%nat -> (i < K)%nat -> 0 <= gamma P n i.
Proof. intros. unfold gamma. destruct (allowed P n i); [apply alone_nonneg; auto|lra]. Qed.
Lemma full_nonneg i r : (i < K)%nat -> (r < M)%nat -> 0 <= full P i r.
Proof.
  intros. unfold full. destruct (timed P i).
  - destruct r; lra.
  - apply prod_nonneg; [apply Qlt_le_weak, (count_pos P W)|apply (capacity_nonneg P W)]; auto.
Qed.
Lemma takes_nonneg n i r : (n < N)%nat -> (i < K)%nat -> (r < M)%nat -> 0 <= takes P n i r.
Proof.
  intros. unfold takes. destruct (timed P i).
  - destruct r; [apply Qinv_le_0_compat, gamma_nonneg; auto|lra].
  - apply (demand_nonneg P W); auto.
Qed.

(** The tasks of n alone on a class fit in every row, and use up at least one row. *)
Lemma gamma_fits n i r : (n < N)%nat -> (i < K)%nat -> (r < M)%nat ->
  gamma P n i * takes P n i r <= full P i r.
Proof.
  intros Hn Hi Hr. pose proof (gamma_nonneg n i Hn Hi) as G. unfold takes, full. destruct (timed P i) eqn:T.
  - destruct r; [|lra]. destruct (Qlt_le_dec 0 (gamma P n i)).
    + rewrite Qmult_inv_r; lra.
    + assert (Z : gamma P n i == 0) by lra. rewrite Z. lra.
  - pose proof (alone_is P W n i Hn Hi) as A. unfold is_alone in A. unfold gamma in *.
    destruct (allowed P n i).
    + destruct (stated P n i) as [t|] eqn:E; [|apply A; auto].
      destruct (stated_pos P W n i t Hn Hi E). congruence.
    + assert (0 <= count P i * capacity P i r).
      { apply prod_nonneg; [apply Qlt_le_weak, (count_pos P W)|apply (capacity_nonneg P W)]; auto. }
      lra.
Qed.
Lemma gamma_tight n i : (n < N)%nat -> (i < K)%nat -> 0 < gamma P n i ->
  exists r, (r < M)%nat /\ 0 < takes P n i r /\ 0 < full P i r /\ gamma P n i * takes P n i r == full P i r.
Proof.
  intros Hn Hi G. unfold takes, full. destruct (timed P i) eqn:T.
  - exists O. split; [apply (some_resource P W)|split; [apply Qinv_lt_0_compat; auto|split; [lra|]]].
    apply Qmult_inv_r. lra.
  - pose proof (alone_is P W n i Hn Hi) as A. unfold is_alone in A. unfold gamma in *.
    destruct (allowed P n i); [|lra].
    destruct (stated P n i) as [t|] eqn:E.
    + destruct (stated_pos P W n i t Hn Hi E). congruence.
    + destruct A as [_ [(r & Hr & D & A)|[? _]]]; [|discriminate]. exists r. repeat split; auto.
      rewrite <- A. apply Qmult_lt_0_compat; auto.
Qed.
(** A user that can run on a class takes nothing of a row with the capacity 0. *)
Lemma empty_row n i r : (n < N)%nat -> (i < K)%nat -> (r < M)%nat -> 0 < gamma P n i -> full P i r == 0 ->
  takes P n i r == 0.
Proof.
  intros Hn Hi Hr G F. pose proof (gamma_fits n i r Hn Hi Hr) as A.
  pose proof (takes_nonneg n i r Hn Hi Hr) as T.
  destruct (Qlt_le_dec 0 (takes P n i r)); [|lra].
  assert (0 < gamma P n i * takes P n i r) by (apply Qmult_lt_0_compat; auto). lra.
Qed.

Lemma g_limit n T : limit P n = Some T -> g P n <= T.
Proof. intros L. unfold g. rewrite L. minmax; lra. Qed.
Lemma g_gamma n : g P n <= sum K (gamma P n).
Proof. unfold g. destruct (limit P n); [minmax|]; lra. Qed.
Lemma g_nonneg n : (n < N)%nat -> 0 <= g P n.
Proof.
  intros Hn. assert (0 <= sum K (gamma P n)) by (apply sum_nonneg; intros; apply gamma_nonneg; auto).
  unfold g. destruct (limit P n) as [T|] eqn:L; auto. pose proof (limit_nonneg P W n T Hn L). minmax; lra.
Qed.
Lemma active_pos n : active P n = true <-> 0 < g P n.
Proof. apply lt_iff. Qed.
Lemma inactive_zero n : (n < N)%nat -> active P n = false -> g P n == 0.
Proof. unfold active. intros Hn H. bools. pose proof (g_nonneg n Hn). lra. Qed.

(** If tasks are at most gamma on every class and at most the limit in total, they are at most g in total. *)
Lemma at_most_alone y n i : feasible P y -> (n < N)%nat -> (i < K)%nat -> y n i <= gamma P n i.
Proof.
  intros F Hn Hi. pose proof (gamma_nonneg n i Hn Hi). pose proof (f_nonneg P y F n i Hn Hi).
  destruct (Qlt_le_dec 0 (gamma P n i)) as [G|G].
  2:{ rewrite (f_can P y F n i Hn Hi); lra. }
  destruct (gamma_tight n i Hn Hi G) as (r & Hr & D & _ & E).
  pose proof (f_rows P y F i r Hi Hr) as L. unfold load in L.
  assert (y n i * takes P n i r <= sum N (fun m => y m i * takes P m i r)).
  { apply (sum_term N (fun m => y m i * takes P m i r)); auto. intros.
    apply prod_nonneg; [apply (f_nonneg P y F)|apply takes_nonneg]; auto. }
  apply Qnot_lt_le. intro C.
  assert (0 < (y n i - gamma P n i) * takes P n i r) by (apply Qmult_lt_0_compat; lra). lra.
Qed.
Lemma tasks_at_most y n : feasible P y -> (n < N)%nat -> tasks P y n <= g P n.
Proof.
  intros F Hn. assert (tasks P y n <= sum K (gamma P n)).
  { apply sum_le. intros. apply at_most_alone; auto. }
  pose proof (f_limit P y F n Hn) as L. unfold within_limit in L. unfold g.
  destruct (limit P n); auto. minmax; lra.
Qed.
Lemma tasks_nonneg y n : feasible P y -> (n < N)%nat -> 0 <= tasks P y n.
Proof. intros F Hn. apply sum_nonneg. intros. apply (f_nonneg P y F); auto. Qed.
Lemma inactive_tasks y n : feasible P y -> (n < N)%nat -> active P n = false -> tasks P y n == 0.
Proof.
  intros F Hn A. pose proof (tasks_at_most y n F Hn). pose proof (tasks_nonneg y n F Hn).
  pose proof (inactive_zero n Hn A). lra.
Qed.
Lemma inactive_entry y n i : feasible P y -> (n < N)%nat -> (i < K)%nat -> active P n = false -> y n i == 0.
Proof.
  intros F Hn Hi A. pose proof (inactive_tasks y n F Hn A) as Z.
  assert (y n i <= tasks P y n).
  { unfold tasks. apply (sum_term K (y n)); auto. intros. apply (f_nonneg P y F); auto. }
  pose proof (f_nonneg P y F n i Hn Hi). lra.
Qed.

(** * The repair *)
Lemma kept_nonneg x n i : 0 <= kept P x n i.
Proof. unfold kept, counts. destruct (_ && _) eqn:E; [|lra]. bools. lra. Qed.
Lemma kept_can x n i : gamma P n i == 0 -> kept P x n i == 0.
Proof. intros G. unfold kept, counts. destruct (_ && _) eqn:E; [|lra]. bools. lra. Qed.
Lemma cut_bounds x n i : (n < N)%nat -> 0 <= cut P x n i <= kept P x n i.
Proof.
  intros Hn. pose proof (kept_nonneg x n i) as Kn. unfold cut. destruct (limit P n) as [T|] eqn:L; [|lra].
  pose proof (limit_nonneg P W n T Hn L) as HT.
  destruct (lt T (tasks P (kept P x) n)) eqn:E; [|lra]. bools.
  set (t := tasks P (kept P x) n) in *.
  assert (A : 0 <= T / t) by (apply quotient_nonneg; lra).
  assert (B : T / t <= 1) by (apply quotient_le; lra).
  split; [apply prod_nonneg; auto|].
  pose proof (prod_le_l _ _ (kept P x n i) B Kn). lra.
Qed.
Lemma cut_limit x n : (n < N)%nat -> within_limit P n (tasks P (cut P x) n).
Proof.
  intros Hn. unfold within_limit. destruct (limit P n) as [T|] eqn:L; auto.
  pose proof (limit_nonneg P W n T Hn L) as HT.
  destruct (lt T (tasks P (kept P x) n)) eqn:E.
  - unfold tasks at 1. rewrite (sum_ext _ _ (fun i => kept P x n i * (T / tasks P (kept P x) n))).
    2:{ intros. unfold cut. rewrite L, E. reflexivity. }
    rewrite sum_scale_r. fold (tasks P (kept P x) n). bools.
    assert (H : tasks P (kept P x) n * (T / tasks P (kept P x) n) == T) by (field; lra). lra.
  - unfold tasks at 1. rewrite (sum_ext _ _ (kept P x n)).
    2:{ intros. unfold cut. rewrite L, E. reflexivity. }
    bools. auto.
Qed.
Lemma crowd_pos x i : 1 <= crowd P x i.
Proof. unfold crowd. minmax; lra. Qed.
Lemma crowd_bounds x i r : (r < M)%nat -> 0 < full P i r -> load P x i r <= crowd P x i * full P i r.
Proof.
  intros Hr F. pose proof (greatest_ge M (fun r => load P x i r / full P i r) r Hr) as G. cbv beta in G.
  assert (A : load P x i r / full P i r <= crowd P x i) by (unfold crowd; minmax; lra).
  pose proof (prod_le _ _ (full P i r) A (Qlt_le_weak _ _ F)) as B.
  assert (E : load P x i r / full P i r * full P i r == load P x i r) by (field; lra). lra.
Qed.

Theorem repaired_feasible x : feasible P (repaired P x).
Proof.
  assert (Pos : forall n i, (n < N)%nat -> (i < K)%nat ->
    0 <= repaired P x n i /\ repaired P x n i <= cut P x n i).
  { intros n i Hn Hi. pose proof (crowd_pos (cut P x) i) as C. destruct (cut_bounds x n i Hn) as [A _].
    unfold repaired. split; [apply quotient_nonneg; lra|]. apply quotient_le; [lra|].
    pose proof (prod_le_l _ _ (cut P x n i) C A). lra. }
  constructor.
  - intros. apply Pos; auto.
  - intros n i Hn Hi G. destruct (Pos n i Hn Hi). destruct (cut_bounds x n i Hn).
    pose proof (kept_can x n i G). lra.
  - intros i r Hi Hr. pose proof (crowd_pos (cut P x) i) as C.
    pose proof (full_nonneg i r Hi Hr) as F. unfold load.
    destruct (Qlt_le_dec 0 (full P i r)) as [F1|F1].
    + rewrite (sum_ext N _ (fun n => cut P x n i * takes P n i r * / crowd P (cut P x) i)).
      2:{ intros. unfold repaired. field. lra. }
      rewrite sum_scale_r. fold (load P (cut P x) i r).
      pose proof (crowd_bounds (cut P x) i r Hr F1) as B.
      apply quotient_le; lra.
    + rewrite sum_zero; [lra|]. intros n Hn. destruct (Pos n i Hn Hi) as [A B].
      destruct (cut_bounds x n i Hn) as [A' B'].
      pose proof (gamma_nonneg n i Hn Hi) as G.
      destruct (Qlt_le_dec 0 (gamma P n i)) as [G1|G1].
      * rewrite (empty_row n i r); auto; lra.
      * pose proof (kept_can x n i ltac:(lra)). assert (Z : repaired P x n i == 0) by lra. rewrite Z. lra.
  - intros n Hn. pose proof (cut_limit x n Hn) as L. unfold within_limit in *. destruct (limit P n); auto.
    assert (tasks P (repaired P x) n <= tasks P (cut P x) n); [|lra].
    apply sum_le. intros. apply Pos; auto.
Qed.

Lemma feasible_ext x y : (forall n i, (n < N)%nat -> (i < K)%nat -> x n i == y n i) ->
  feasible P x -> feasible P y.
Proof.
  intros E F. constructor.
  - intros. rewrite <- E by auto. apply (f_nonneg P x F); auto.
  - intros. rewrite <- E by auto. apply (f_can P x F); auto.
  - intros. unfold load. rewrite (sum_ext N _ (fun n => x n i * takes P n i r)).
    + apply (f_rows P x F); auto.
    + intros. rewrite E by auto. reflexivity.
  - intros n Hn. pose proof (f_limit P x F n Hn) as L. unfold within_limit, tasks in *.
    destruct (limit P n); auto. rewrite (sum_ext K _ (x n)); auto.
    intros. symmetry. auto.
Qed.
End On.
