(** States and decides `tree` without groups (docs/groups.md). Every user has the tasks that the filling gives it. The
    filling is the max-min fair allocation of dominant shares. *)
From Coq Require Import QArith Qabs Qreduction Qfield Arith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Arithmetic Checker Repair Soundness Bundle Prices MaxMin Named Meaning.
Open Scope Q_scope.

Section On.
Variable P : problem.
Notation N := (users P). Notation K := (classes P). Notation M := (resources P).

(** The allocation x is the end of the filling, up to eps. *)
Definition filled (eps : Q) (x : allocation) : Prop := exists y,
  feasible P y /\ max_min P (worth P Drfh) 0 y /\
  forall n, user P n -> Qabs (tasks P x n - tasks P y n) <= eps * g P n.

(** * Programs *)

(** The end of the filling, its tables, and the proof that it is max-min fair *)
Record filling := { ends_with : allocation; its_tables : tables; its_shares : alone_proof; its_levels : list level }.
Variable T : tables.
Variable totals : nat -> Q.
Definition off (F : filling) (n : nat) : Q := Qred (Qabs (sub (t_tasks T n) (t_tasks (its_tables F) n))).
Definition check_filled (F : filling) (m : Q) : bool :=
  check_feasible P T (ends_with F) && check_tables P (ends_with F) (its_tables F) false &&
  check_worth P totals Drfh (u (its_shares F)) && check_defined P T totals Drfh (u (its_shares F)) &&
  check_levels P (its_tables F) (everywhere P (its_tables F)) (its_shares F) 0 (its_levels F) &&
  all N (fun n => if is_active T n then le (off F n) (- mul m (t_g T n)) else true) &&
  any N (fun n => is_active T n && eqq (off F n) (- mul m (t_g T n))).

(** * Soundness *)
Hypothesis W : well_formed P.
Variable stated_x : allocation.
Variable placed : bool.
Hypothesis R : right P stated_x T placed.
Hypothesis TO : check_totals P totals = true.
Notation x := (t_x T).

Lemma runs_somewhere n : user P n -> exists i, (i < K)%nat /\ 0 < gamma P n i.
Proof.
  intros [Hn A]. apply active_pos in A. pose proof (g_gamma P n) as L.
  destruct (any K (fun i => lt 0 (gamma P n i))) eqn:E.
  - apply any_iff in E. destruct E as (i & Hi & E). apply lt_iff in E. eauto.
  - exfalso. assert (Z : sum K (gamma P n) <= 0); [|lra]. rewrite <- (sum_zero K (fun _ => 0)) by reflexivity.
    apply sum_le. intros i Hi. apply Qnot_lt_le. intros G.
    assert (any K (fun i => lt 0 (gamma P n i)) = true); [|congruence]. apply any_iff. exists i. split; auto. apply lt_iff. auto.
Qed.
(** The dominant share of a user is a positive multiple of its tasks. *)
Lemma share_is_tasks y n : share P (worth P Drfh) y n == worth P Drfh n 0 / weight P n * tasks P y n.
Proof. unfold share. simpl. rewrite sum_scale. unfold tasks, Qdiv. ring. Qed.
Lemma same_shares y z n : user P n -> defined P Drfh -> share P (worth P Drfh) y n == share P (worth P Drfh) z n ->
  tasks P y n == tasks P z n.
Proof.
  intros U D E. destruct (runs_somewhere n U) as (i & Hi & G). assert (Pos : 0 < worth P Drfh n 0) by exact (D n i U Hi G).
  rewrite !share_is_tasks in E. pose proof (weight_pos P W n ltac:(apply U)) as Wn.
  assert (C : ~ worth P Drfh n 0 / weight P n == 0).
  { unfold Qdiv. intros Z. apply Qmult_integral in Z. destruct Z as [Z|Z]; [lra|].
    assert (0 < / weight P n) by (apply Qinv_lt_0_compat; auto). lra. }
  apply (Qmult_inj_l _ _ _ C). exact E.
Qed.
Lemma worth_nonneg n i : 0 <= worth P Drfh n i.
Proof. apply greatest_nonneg. Qed.

Lemma ended F m : check_filled F m = true ->
  feasible P (t_x (its_tables F)) /\ max_min P (worth P Drfh) 0 (t_x (its_tables F)) /\ defined P Drfh /\
  (forall n, user P n -> exists most, is_most P (worth P Drfh) n most) /\
  (forall n, (n < N)%nat -> t_tasks (its_tables F) n == tasks P (t_x (its_tables F)) n).
Proof.
  unfold check_filled. intros Q. rewrite !andb_true_iff in Q. destruct Q as [[[[[[_ Tb] Wo] De] Le] _] _].
  pose proof (check_tables_sound P _ _ _ Tb) as R2.
  assert (Fe : feasible P (t_x (its_tables F))).
  { apply (feasible_ext P (repaired P (ends_with F))); [|apply repaired_feasible; auto].
    intros n i Hn Hi. symmetry. apply (x_is _ _ _ _ R2); auto. }
  destruct (check_worth_sound P totals TO Drfh _ Wo) as [Eq _].
  assert (Sh : check_shares P (its_tables F) (its_shares F) = true).
  { unfold check_levels in Le. rewrite !andb_true_iff in Le. tauto. }
  split; [exact Fe|]. split; [|split; [|split]].
  - apply (max_min_ext P (its_tables F) _ (u (its_shares F))); auto.
    apply (check_levels_sound P W (its_tables F) (ends_with F) false R2 Fe _ _ (everywhere_right P W _ _ _ R2) (its_shares F) Sh 0 (its_levels F) Le).
  - apply (check_defined_sound P T stated_x placed R totals TO Drfh _ Wo De).
  - intros n U. exists (most (its_shares F) n). apply (is_most_ext P (u (its_shares F))).
    + intros i Hi. apply Eq; auto. apply U.
    + apply (most_is P W (its_tables F) (ends_with F) false R2 (its_shares F) Sh n U).
  - intros n Hn. apply (tasks_is _ _ _ _ R2); auto.
Qed.

Theorem check_filled_sound F m : check_filled F m = true ->
  filled (- m) x /\ forall eps, filled eps x -> - m <= eps.
Proof.
  intros Q. destruct (ended F m Q) as (Fe & Mm & De & Mo & Tk).
  unfold check_filled in Q. rewrite !andb_true_iff in Q. destruct Q as [[_ Al] An]. rewrite all_iff in Al.
  assert (Off : forall n, (n < N)%nat -> off F n == Qabs (tasks P x n - tasks P (t_x (its_tables F)) n)).
  { intros n Hn. unfold off. rewrite Qred_correct, sub_eq, (tasks_is _ _ _ _ R), Tk by auto. reflexivity. }
  split.
  - exists (t_x (its_tables F)). split; [auto|]. split; [auto|]. intros n U.
    destruct (user_is P stated_x T placed R n U) as [Hn Ac]. specialize (Al n Hn). rewrite Ac in Al. apply le_iff in Al.
    rewrite Off, mul_eq, (g_is _ _ _ _ R) in Al by auto. lra.
  - intros eps (y & Fy & My & Ny). apply any_iff in An. destruct An as (n & Hn & An). apply andb_true_iff in An.
    destruct An as [Ac An]. apply eqq_iff in An. rewrite Off, mul_eq, (g_is _ _ _ _ R) in An by auto.
    assert (U : user P n) by (eapply is_user; eauto). specialize (Ny n U).
    assert (E : tasks P y n == tasks P (t_x (its_tables F)) n).
    { apply same_shares; auto. apply (max_min_unique P); auto; apply (max_min_exact P W); auto; intros; apply worth_nonneg. }
    rewrite E, An in Ny. apply (below eps (- m) (g P n)); [apply user_g; auto|lra].
Qed.
End On.
