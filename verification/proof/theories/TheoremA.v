(** States Theorem A (docs/theory.md, section 4), which is about PS-DSF if resources are divided. If the tasks on all
    other classes are given, exactly one point on a class meets Theorem 1 of the paper. This file proves that there is
    at most one such point, and TheoremAWater.v proves that there is one. The definition [existence] says that some
    allocation meets Theorem 1 on all classes together. TheoremAClasses.v proves it. *)
From Coq Require Import QArith Qfield Arith Bool Lia Lqa Setoid.
From Evenhand Require Import Spec Checker Soundness.
Open Scope Q_scope.

Record market := {
  m_users : nat; m_classes : nat; m_resources : nat;
  m_weight : nat -> Q;                  (* w_n *)
  m_room : nat -> nat -> Q;             (* k_i c_ir *)
  m_demand : nat -> nat -> nat -> Q;    (* d_nir *)
  m_limit : nat -> option Q;            (* T_n; None: unlimited *)
  m_gamma : nat -> nat -> Q }.          (* tasks of n with all of class i; 0 if n cannot run there *)

Section On.
Variable P : market.
Notation N := (m_users P). Notation K := (m_classes P). Notation M := (m_resources P).

Record market_well_formed : Prop := {
  mw_weight : forall n, (n < N)%nat -> 0 < m_weight P n;
  mw_room : forall i r, (i < K)%nat -> (r < M)%nat -> 0 <= m_room P i r;
  mw_demand : forall n i r, (n < N)%nat -> (i < K)%nat -> (r < M)%nat -> 0 <= m_demand P n i r;
  mw_limit : forall n T, (n < N)%nat -> m_limit P n = Some T -> 0 <= T;
  mw_gamma : forall n i, (n < N)%nat -> (i < K)%nat -> 0 <= m_gamma P n i }.

(** The resources determine gamma: a user with all of a class uses up the scarcest resource that it demands there. *)
Definition gamma_of_resources : Prop :=
  forall n i, (n < N)%nat -> (i < K)%nat -> m_gamma P n i == 0 \/
    (forall r, (r < M)%nat -> m_gamma P n i * m_demand P n i r <= m_room P i r) /\
    exists r, (r < M)%nat /\ 0 < m_demand P n i r /\ m_gamma P n i * m_demand P n i r == m_room P i r.

Definition all_tasks (x : nat -> nat -> Q) (n : nat) : Q := sum K (x n).
Definition elsewhere (x : nat -> nat -> Q) (i n : nat) : Q :=
  sum K (fun h => if Nat.eqb h i then 0 else x n h).
(** s_ni / w_n *)
Definition level (x : nat -> nat -> Q) (i n : nat) : Q := all_tasks x n / (m_gamma P n i * m_weight P n).

(** The conditions on class i. The class does not give more than it has. It gives nothing to a user that cannot run on
    it. It gives a user no more tasks than the user lacks to T_n. *)
Record feasible_on (i : nat) (x : nat -> nat -> Q) : Prop := {
  fo_nonneg : forall n, (n < N)%nat -> 0 <= x n i;
  fo_gamma : forall n, (n < N)%nat -> m_gamma P n i == 0 -> x n i == 0;
  fo_room : forall r, (r < M)%nat -> sum N (fun n => x n i * m_demand P n i r) <= m_room P i r;
  fo_limit : forall n T, (n < N)%nat -> m_limit P n = Some T -> x n i <= 0 \/ all_tasks x n <= T }.

Definition has_all (x : nat -> nat -> Q) (n : nat) : Prop :=
  match m_limit P n with Some T => T <= all_tasks x n | None => False end.

(** Resource r of class i is full, n demands it, and no user that holds some of it has a higher level than n. *)
Record bottleneck (i : nat) (x : nat -> nat -> Q) (n r : nat) : Prop := {
  b_row : (r < M)%nat;
  b_full : sum N (fun m => x m i * m_demand P m i r) == m_room P i r;
  b_demands : 0 < m_demand P n i r;
  b_level : forall m, (m < N)%nat -> 0 < x m i * m_demand P m i r -> level x i m <= level x i n }.

(** Theorem 1 of the paper, on class i *)
Definition meets (i : nat) (x : nat -> nat -> Q) : Prop :=
  feasible_on i x /\
  forall n, (n < N)%nat -> 0 < m_gamma P n i -> has_all x n \/ exists r, bottleneck i x n r.

Record ps_dsf (x : nat -> nat -> Q) : Prop := {
  pd_meets : forall i, (i < K)%nat -> meets i x;
  pd_limit : forall n T, (n < N)%nat -> m_limit P n = Some T -> all_tasks x n <= T }.

(** * At most one point on one class *)
Lemma tasks_split x i n : (i < K)%nat -> all_tasks x n == elsewhere x i n + x n i.
Proof.
  unfold all_tasks, elsewhere. induction K as [|k IH]; intros Hi; [lia|]. simpl.
  destruct (Nat.eqb_spec k i) as [->|D].
  - assert (E : sum i (fun h => if Nat.eqb h i then 0 else x n h) == sum i (x n)); [|rewrite E; ring].
    apply sum_ext. intros h Hh. destruct (Nat.eqb_spec h i); [lia|reflexivity].
  - rewrite IH by lia. ring.
Qed.

(** A finite set that is not empty has a least element. *)
Lemma some_least (p : nat -> bool) (f : nat -> Q) n k : (k < n)%nat -> p k = true ->
  exists m, (m < n)%nat /\ p m = true /\ forall j, (j < n)%nat -> p j = true -> f m <= f j.
Proof.
  revert k. induction n; intros k Hk Pk; [lia|].
  destruct (any n p) eqn:A.
  - apply any_iff in A. destruct A as (h & Hh & Ph). destruct (IHn h Hh Ph) as (m & Hm & Pm & L).
    destruct (p n) eqn:Pn.
    + destruct (Qlt_le_dec (f n) (f m)).
      * exists n. repeat split; auto. intros j Hj Pj. destruct (Nat.eq_dec j n); [subst; lra|].
        assert (f m <= f j) by (apply L; auto; lia). lra.
      * exists m. repeat split; auto. intros j Hj Pj. destruct (Nat.eq_dec j n); [subst; auto|apply L; auto; lia].
    + exists m. repeat split; auto. intros j Hj Pj. destruct (Nat.eq_dec j n); [congruence|apply L; auto; lia].
  - assert (O : forall j, (j < n)%nat -> p j = true -> False).
    { intros j Hj Pj. assert (any n p = true) by (apply any_iff; eauto). congruence. }
    assert (k = n) as -> by (destruct (Nat.eq_dec k n); auto; exfalso; apply (O k); auto; lia).
    exists n. repeat split; auto. intros j Hj Pj. destruct (Nat.eq_dec j n); [subst; lra|].
    exfalso. apply (O j); auto. lia.
Qed.

Hypothesis W : market_well_formed.
Variable i : nat.
Hypothesis Hi : (i < K)%nat.

Section Two.
Variables x y : nat -> nat -> Q.
Hypothesis X : meets i x.
Hypothesis Y : meets i y.
Hypothesis Same : forall n, (n < N)%nat -> elsewhere x i n == elsewhere y i n.

Lemma scale_pos n : (n < N)%nat -> 0 < m_gamma P n i -> 0 < m_gamma P n i * m_weight P n.
Proof. intros Hn G. apply Qmult_lt_0_compat; auto. apply (mw_weight W); auto. Qed.

(** If a user has less in x than in y, some user has less in y than in x. The level of that user in y is lower than the
    level of the first user in x. *)
Lemma somebody_lower n : (n < N)%nat -> x n i < y n i ->
  exists m, (m < N)%nat /\ y m i < x m i /\ level y i m < level x i n.
Proof.
  intros Hn L. destruct X as [Fx Bx], Y as [Fy By].
  assert (G : 0 < m_gamma P n i).
  { destruct (Qlt_le_dec 0 (m_gamma P n i)); auto. pose proof (mw_gamma W n i Hn Hi).
    assert (Z : m_gamma P n i == 0) by lra. rewrite (fo_gamma i x Fx n Hn Z), (fo_gamma i y Fy n Hn Z) in L. lra. }
  pose proof (tasks_split x i n Hi) as Sx. pose proof (tasks_split y i n Hi) as Sy. pose proof (Same n Hn) as Sn.
  destruct (Bx n Hn G) as [A|(r & [Hr Full D Lev])].
  { exfalso. unfold has_all in A. destruct (m_limit P n) as [T|] eqn:E; [|contradiction].
    pose proof (fo_nonneg i x Fx n Hn). destruct (fo_limit i y Fy n T Hn E); lra. }
  destruct (sum_negative N (fun m => y m i * m_demand P m i r - x m i * m_demand P m i r) n) as (m & Hm & B); auto.
  - rewrite (sum_ext N _ (fun m => y m i * m_demand P m i r + (-1) * (x m i * m_demand P m i r))) by (intros; ring).
    rewrite sum_add, sum_scale. pose proof (fo_room i y Fy r Hr). lra.
  - assert (0 < (y n i - x n i) * m_demand P n i r) by (apply Qmult_lt_0_compat; lra). lra.
  - simpl in B. pose proof (mw_demand W m i r Hm Hi Hr) as Dm. pose proof (fo_nonneg i y Fy m Hm) as Ym.
    assert (Lm : y m i < x m i).
    { apply Qnot_le_lt. intros C. pose proof (prod_le _ _ _ C Dm). lra. }
    exists m. split; [auto|]. split; [auto|].
    pose proof (prod_nonneg _ _ Ym Dm).
    assert (Gm : 0 < m_gamma P m i).
    { destruct (Qlt_le_dec 0 (m_gamma P m i)); auto. pose proof (mw_gamma W m i Hm Hi).
      assert (Z : m_gamma P m i == 0) by lra. rewrite (fo_gamma i x Fx m Hm Z) in Lm. lra. }
    apply Qlt_le_trans with (level x i m); [|apply Lev; auto; lra].
    unfold level. apply Qmult_lt_compat_r; [apply Qinv_lt_0_compat, scale_pos; auto|].
    pose proof (tasks_split x i m Hi). pose proof (tasks_split y i m Hi). pose proof (Same m Hm). lra.
Qed.
End Two.

Theorem one_point_on_a_class x y : meets i x -> meets i y ->
  (forall n, (n < N)%nat -> elsewhere x i n == elsewhere y i n) ->
  forall n, (n < N)%nat -> x n i == y n i.
Proof.
  intros X Y Same.
  set (differs := fun n => negb (eqq (x n i) (y n i))).
  set (lower := fun n => if lt (x n i) (y n i) then level x i n else level y i n).
  intros n Hn. destruct (differs n) eqn:D.
  2:{ unfold differs in D. apply negb_false_iff in D. apply eqq_iff. exact D. }
  exfalso. destruct (some_least differs lower N n Hn D) as (m & Hm & Dm & L).
  assert (Differs : forall k, x k i < y k i \/ y k i < x k i -> differs k = true).
  { intros k C. unfold differs. apply negb_true_iff. destruct (eqq (x k i) (y k i)) eqn:E; auto.
    apply eqq_iff in E. lra. }
  destruct (Qlt_le_dec (x m i) (y m i)) as [C|C].
  - destruct (somebody_lower x y X Y Same m Hm C) as (k & Hk & Lk & Lev).
    specialize (L k Hk (Differs k (or_intror Lk))). unfold lower in L.
    destruct (lt (x m i) (y m i)) eqn:E1; [|apply lt_false in E1; lra].
    destruct (lt (x k i) (y k i)) eqn:E2; [apply lt_iff in E2; lra|]. lra.
  - assert (C' : y m i < x m i).
    { unfold differs in Dm. apply negb_true_iff in Dm. apply Qnot_le_lt. intros B.
      assert (eqq (x m i) (y m i) = true) by (apply eqq_iff; lra). congruence. }
    destruct (somebody_lower y x Y X) with (n := m) as (k & Hk & Lk & Lev); auto.
    { intros h Hh. symmetry. auto. }
    specialize (L k Hk (Differs k (or_introl Lk))). unfold lower in L.
    destruct (lt (x m i) (y m i)) eqn:E1; [apply lt_iff in E1; lra|].
    destruct (lt (x k i) (y k i)) eqn:E2; [|apply lt_false in E2; lra]. lra.
Qed.
End On.

(** Every problem has such an allocation, and its numbers are rational (TheoremAClasses.v). *)
Definition existence : Prop :=
  forall P, market_well_formed P -> gamma_of_resources P -> exists x, ps_dsf P x.

Print Assumptions one_point_on_a_class.
