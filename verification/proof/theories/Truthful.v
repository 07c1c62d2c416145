(** Proves that time-shared PS-DSF is strategy-proof (docs/theory.md, section 4, Theorem B), for problems and
    allocations as Spec.v states them. The liar is a user with the same demand on all its classes. Whatever answer the
    lie receives, the liar cannot run more of its true tasks in its bundles than with the truth. *)
From Coq Require Import QArith Qfield Arith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Arithmetic Checker Repair Soundness Meaning Market Certificate Groups Judge Determined Duality
  Programme TheoremB.
Import ListNotations.
Open Scope Q_scope.

(** An answer of `ps-dsf-tdm`: all classes are shared by time, and the allocation is proportionally fair (Fact 5). *)
Record ps_dsf_answer (P : problem) (x : allocation) : Prop := {
  a_feasible : feasible P x;
  a_timed : forall i, (i < classes P)%nat -> timed P i = true;
  a_fair : proportional P (fun _ _ => 1) 1 0 x }.

(** ** An answer of `ps-dsf-tdm` is the allocation of a market in TheoremB.v *)
Section Priced.
Variable P : problem.
Notation N := (users P). Notation K := (classes P). Notation M := (resources P).
Hypothesis W : well_formed P.
Variable x : allocation.
Hypothesis A : ps_dsf_answer P x.

Lemma answer_has n : user P n -> 0 < tasks P x n.
Proof. intros U. destruct (a_fair P x A) as [H _]. rewrite <- (value_of_tasks P x n). apply H. exact U. Qed.
Lemma takes_time n i : (i < K)%nat -> takes P n i 0 = / gamma P n i.
Proof. intros Hi. unfold takes. rewrite (a_timed P x A) by auto. reflexivity. Qed.

(** If every term of one sum is at most the term of another sum, and the sums are equal, all terms are equal. *)
Lemma sum_tight n f h : (forall k, (k < n)%nat -> f k <= h k) -> sum n h <= sum n f ->
  forall k, (k < n)%nat -> f k == h k.
Proof.
  intros L S k Hk. apply Qle_antisym; [auto|]. apply Qnot_lt_le. intros C.
  assert (T : sum n (fun j => h j + -(1) * f j) <= 0) by (rewrite sum_add, sum_scale; lra).
  pose proof (sum_term n (fun j => h j + -(1) * f j) k) as X. cbv beta in X.
  assert (0 < h k + -(1) * f k) by lra. apply (Qlt_irrefl 0). apply Qlt_le_trans with (1 := H).
  apply Qle_trans with (2 := T). apply X; auto. intros j Hj. specialize (L j Hj). lra.
Qed.

Definition each (n : nat) : Q := if active P n then weight P n / tasks P x n else 0.
Definition declared_of : declared :=
  {| of_weight := weight P; of_limit := limit P; of_gamma := gamma P |}.
Definition time_of (n i : nat) : Q := x n i * / gamma P n i.

Lemma time_runs n : (n < N)%nat -> runs_tasks K declared_of time_of n == tasks P x n.
Proof.
  intros Hn. apply sum_ext. intros i Hi. unfold time_of. simpl. pose proof (gamma_nonneg P W n i Hn Hi).
  destruct (Qlt_le_dec 0 (gamma P n i)) as [G|G]; [field; lra|].
  rewrite (f_can P x (a_feasible P x A) n i Hn Hi) by lra. ring.
Qed.
Lemma holder n i : (n < N)%nat -> (i < K)%nat -> 0 < x n i -> active P n = true /\ 0 < gamma P n i.
Proof.
  intros Hn Hi X. pose proof (a_feasible P x A) as F. split.
  - destruct (active P n) eqn:E; auto. pose proof (inactive_entry P W x n i F Hn Hi E). lra.
  - pose proof (gamma_nonneg P W n i Hn Hi). destruct (Qlt_le_dec 0 (gamma P n i)); auto.
    rewrite (f_can P x F n i Hn Hi) in X; lra.
Qed.

Theorem answer_is_priced : ps_dsf_tdm N K declared_of time_of.
Proof.
  pose proof (a_feasible P x A) as F. pose proof (a_timed P x A) as Timed.
  assert (M0 : (0 < M)%nat) by apply (some_resource P W).
  set (all := sum N (fun n => if active P n then weight P n else 0)).
  assert (Spent : forall n, (n < N)%nat -> sum K (fun i => each n * x n i) == if active P n then weight P n else 0).
  { intros n Hn. rewrite sum_scale. fold (tasks P x n). unfold each. destruct (active P n) eqn:Ac; [|ring].
    pose proof (answer_has n (conj Hn Ac)). field. lra. }
  destruct (prices_exist P [] (fun n _ => each n) all) as (p & q & e & Pr & Fe & Cost & Paid).
  - exists (fun _ _ => 0). split; [apply nothing_is_feasible; auto|]. intros c [].
  - intros y Y _. destruct (a_fair P x A) as [_ O]. cbv beta zeta in O. specialize (O y Y).
    assert (L : sum_of P (fun n _ => each n) y == sum N (fun n => (if active P n then weight P n else 0) +
      (if active P n then weight P n / power (value P (fun _ _ => 1) x n) 1 *
        (value P (fun _ _ => 1) y n - value P (fun _ _ => 1) x n) else 0))).
    { apply sum_ext. intros n Hn. rewrite sum_scale. fold (tasks P y n). unfold each.
      destruct (active P n) eqn:Ac; [|ring]. cbn [power]. rewrite !value_of_tasks, Qmult_1_r.
      pose proof (answer_has n (conj Hn Ac)). field. lra. }
    rewrite L, sum_add. fold all. lra.
  - assert (E0 : most e == 0 /\ forall j, coef e j == 0).
    { clear - Fe. induction Fe as [|c []|c d _ [I1 J1] _ [I2 J2]|t c _ _ [I J]]; simpl.
      - split; intros; reflexivity.
      - split; [lra|]. intros j. rewrite J1, J2. ring.
      - split; [rewrite I; ring|]. intros j. rewrite J. ring. }
    destruct E0 as [E1 E2].
    assert (Row : forall n i, (i < K)%nat -> sum M (fun r => p i r * takes P n i r) == p i 0%nat * / gamma P n i).
    { intros n i Hi. rewrite (sum_single M _ 0%nat); auto; [rewrite takes_time by auto; reflexivity|].
      intros r _ Ne. unfold takes. rewrite Timed by auto. destruct r; [congruence|ring]. }
    assert (Full : forall i, (i < K)%nat -> sum M (fun r => p i r * full P i r) == p i 0%nat).
    { intros i Hi. rewrite (sum_single M _ 0%nat); auto; unfold full; rewrite Timed by auto; [ring|].
      intros r _ Ne. destruct r; [congruence|ring]. }
    set (pr := fun i => p i 0%nat).
    assert (P0 : forall i, (i < K)%nat -> 0 <= pr i) by (intros; apply (of_rows P p q Pr); auto).
    assert (Q0 : forall n, (n < N)%nat -> 0 <= q n /\ (limit P n = None -> q n == 0)) by apply (of_users P p q Pr).
    assert (Bargain : forall n i, (n < N)%nat -> (i < K)%nat -> 0 < gamma P n i ->
      each n <= pr i * / gamma P n i + q n).
    { intros n i Hn Hi G. specialize (Cost n i Hn Hi G). cbv beta in Cost. unfold price_of, grid in Cost.
      rewrite Row, E2 in Cost by auto. fold (pr i) in Cost. lra. }
    (* The prices are paid term by term. *)
    set (cost := fun n i => (pr i * / gamma P n i + q n) * x n i).
    assert (Le : forall n i, (n < N)%nat -> (i < K)%nat -> each n * x n i <= cost n i).
    { intros n i Hn Hi. pose proof (f_nonneg P x F n i Hn Hi) as X. unfold cost.
      destruct (Qlt_le_dec 0 (gamma P n i)) as [G|G]; [apply prod_le; auto|].
      pose proof (gamma_nonneg P W n i Hn Hi). rewrite (f_can P x F n i Hn Hi) by lra. lra. }
    assert (Split : sum N (fun n => sum K (fun i => cost n i)) ==
      sum K (fun i => pr i * load P x i 0) + sum N (fun n => q n * tasks P x n)).
    { rewrite (sum_ext N _ (fun n => sum K (fun i => pr i * (x n i * takes P n i 0)) + q n * tasks P x n)).
      - rewrite sum_add, sum_swap. apply Qplus_comp; [|reflexivity]. apply sum_ext. intros i Hi.
        unfold load. rewrite sum_scale. reflexivity.
      - intros n Hn. unfold tasks. rewrite <- sum_scale, <- sum_add. apply sum_ext. intros i Hi. unfold cost.
        rewrite takes_time by auto. ring. }
    assert (Most1 : forall i, (i < K)%nat -> pr i * load P x i 0 <= pr i).
    { intros i Hi. pose proof (f_rows P x F i 0%nat Hi M0) as L. unfold full in L. rewrite Timed in L by auto.
      pose proof (prod_le_l _ _ (pr i) L (P0 i Hi)). lra. }
    set (lim := fun n => match limit P n with Some T => q n * T | None => 0 end).
    assert (Most2 : forall n, (n < N)%nat -> q n * tasks P x n <= lim n).
    { intros n Hn. unfold lim. destruct (Q0 n Hn) as [Qa Qb]. pose proof (f_limit P x F n Hn) as L. unfold within_limit in L.
      destruct (limit P n); [apply prod_le_l; auto|]. rewrite Qb by auto. lra. }
    assert (Total : sum K pr + sum N lim <= all).
    { unfold paid in Paid. rewrite E1 in Paid. fold lim in Paid.
      rewrite (sum_ext K _ pr) in Paid by (intros; apply Full; auto). lra. }
    assert (Sum1 : sum N (fun n => sum K (fun i => each n * x n i)) == all) by (apply sum_ext; auto).
    assert (S1 : sum N (fun n => sum K (fun i => each n * x n i)) <= sum N (fun n => sum K (fun i => cost n i))).
    { apply sum_le. intros. apply sum_le. intros. apply Le; auto. }
    assert (S2 : sum K (fun i => pr i * load P x i 0) <= sum K pr) by (apply sum_le; auto).
    assert (S3 : sum N (fun n => q n * tasks P x n) <= sum N lim) by (apply sum_le; auto).
    assert (Eq1 : forall n i, (n < N)%nat -> (i < K)%nat -> each n * x n i == cost n i).
    { intros n i Hn Hi. apply (sum_tight K (fun i => each n * x n i) (fun i => cost n i)); auto.
      assert (T : sum K (fun i => each n * x n i) == sum K (fun i => cost n i)); [|lra].
      apply (sum_tight N (fun n => sum K (fun i => each n * x n i)) (fun n => sum K (fun i => cost n i))); auto.
      - intros. apply sum_le. intros. apply Le; auto.
      - lra. }
    assert (Eq2 : forall i, (i < K)%nat -> pr i * load P x i 0 == pr i).
    { intros i Hi. apply (sum_tight K (fun i => pr i * load P x i 0) pr); auto. lra. }
    assert (Eq3 : forall n, (n < N)%nat -> q n * tasks P x n == lim n).
    { intros n Hn. apply (sum_tight N (fun n => q n * tasks P x n) lim); auto. lra. }
    (* the price of a task *)
    exists pr, (fun n => if active P n then each n - q n else 0).
    assert (Bought : forall n i, (n < N)%nat -> (i < K)%nat -> 0 < x n i -> (each n - q n) * gamma P n i == pr i).
    { intros n i Hn Hi X. destruct (holder n i Hn Hi X) as [_ G]. specialize (Eq1 n i Hn Hi). unfold cost in Eq1.
      assert (E : each n == pr i * / gamma P n i + q n) by (apply (Qmult_inj_r _ _ (x n i)); [lra|exact Eq1]).
      rewrite E. field. lra. }
    assert (Positive : forall n i, (n < N)%nat -> (i < K)%nat -> 0 < time_of n i -> 0 < x n i).
    { intros n i Hn Hi Z. unfold time_of in Z. pose proof (f_nonneg P x F n i Hn Hi) as X.
      destruct (Qlt_le_dec 0 (x n i)); auto. assert (O : x n i == 0) by lra. rewrite O in Z. lra. }
    assert (Budget : forall n, (n < N)%nat -> active P n = true -> (each n - q n) * tasks P x n == weight P n - q n * tasks P x n).
    { intros n Hn Ac. unfold each. rewrite Ac. pose proof (answer_has n (conj Hn Ac)). field. lra. }
    constructor; simpl.
    + intros n i Hn Hi. unfold time_of. apply prod_nonneg; [apply (f_nonneg P x F); auto|].
      apply Qinv_le_0_compat. apply gamma_nonneg; auto.
    + intros n i Hn Hi G. unfold time_of. rewrite (f_can P x F n i Hn Hi G). ring.
    + intros i Hi. pose proof (f_rows P x F i 0%nat Hi M0) as L. unfold full in L. rewrite Timed in L by auto.
      rewrite (sum_ext N _ (fun n => x n i * takes P n i 0)); [exact L|]. intros n Hn. rewrite takes_time by auto. reflexivity.
    + intros n T Hn L. rewrite time_runs by auto. pose proof (f_limit P x F n Hn) as B. unfold within_limit in B.
      rewrite L in B. exact B.
    + exact P0.
    + intros i Hi Pi. specialize (Eq2 i Hi).
      assert (L : load P x i 0 == 1).
      { apply (Qmult_inj_l _ _ (pr i)); [lra|]. rewrite Eq2. ring. }
      rewrite <- L. apply sum_ext. intros n Hn. rewrite takes_time by auto. reflexivity.
    + intros n Hn. destruct (active P n) eqn:Ac; [|lra]. pose proof (answer_has n (conj Hn Ac)) as X.
      assert (B : exists i, (i < K)%nat /\ 0 < x n i).
      { destruct (any K (fun i => lt 0 (x n i))) eqn:S.
        - apply any_iff in S. destruct S as (i & Hi & S). bools. eauto.
        - exfalso. assert (Z : tasks P x n == 0); [|lra]. apply sum_zero. intros i Hi.
          pose proof (f_nonneg P x F n i Hn Hi). destruct (Qlt_le_dec 0 (x n i)) as [Y|Y]; [|lra].
          assert (any K (fun i => lt 0 (x n i)) = true); [|congruence].
          apply any_iff. exists i. split; auto. apply lt_iff. auto. }
      destruct B as (i & Hi & B). destruct (holder n i Hn Hi B) as [_ G]. pose proof (Bought n i Hn Hi B) as E.
      specialize (P0 i Hi). apply Qnot_lt_le. intros C.
      assert (0 < - (each n - q n) * gamma P n i) by (apply Qmult_lt_0_compat; lra). lra.
    + intros n i Hn Hi G. specialize (P0 i Hi). destruct (active P n) eqn:Ac; [|lra].
      pose proof (Bargain n i Hn Hi G) as B.
      assert (E : (each n - q n) * gamma P n i <= pr i * / gamma P n i * gamma P n i) by (apply prod_le; lra).
      assert (E' : pr i * / gamma P n i * gamma P n i == pr i) by (field; lra). lra.
    + intros n i Hn Hi Z. specialize (Positive n i Hn Hi Z). destruct (holder n i Hn Hi Positive) as [Ac _].
      rewrite Ac. apply Bought; auto.
    + intros n Hn. rewrite time_runs by auto. pose proof (weight_pos P W n Hn). destruct (active P n) eqn:Ac; [|lra].
      rewrite Budget by auto. destruct (Q0 n Hn) as [Qa _]. pose proof (tasks_nonneg P x n F Hn).
      pose proof (prod_nonneg _ _ Qa H0). lra.
    + intros n i Hn Hi G. rewrite time_runs by auto. destruct (active P n) eqn:Ac.
      * destruct (Q0 n Hn) as [Qa Qb]. destruct (Qlt_le_dec 0 (q n)) as [Qp|Qn].
        -- left. specialize (Eq3 n Hn). unfold lim in Eq3. destruct (limit P n) as [T|] eqn:L.
           ++ exists T. split; auto. rewrite time_runs by auto. assert (Z : ~ q n == 0) by lra.
              apply (Qmult_inj_l _ _ _ Z). exact Eq3.
           ++ rewrite Qb in Qp by auto. lra.
        -- right. rewrite Budget by auto. assert (O : q n == 0) by lra. rewrite O. ring.
      * left. pose proof (inactive_zero P W n Hn Ac) as G0. pose proof (inactive_tasks P W x n F Hn Ac) as T0.
        assert (S : 0 < sum K (gamma P n)).
        { apply Qlt_le_trans with (1 := G). apply (sum_term K (gamma P n) i); auto. intros. apply gamma_nonneg; auto. }
        unfold g in G0. destruct (limit P n) as [T|] eqn:L; [|lra]. exists T. split; auto. rewrite time_runs by auto.
        pose proof (limit_nonneg P W n T Hn L). minmax; lra.
Qed.
Lemma declared_proper : proper N K declared_of.
Proof.
  split; simpl.
  - apply (weight_pos P W).
  - apply (gamma_nonneg P W).
Qed.
End Priced.

(** ** A lie *)

(** P' differs from P only in what user l declares: its demand, its tasks and its classes. *)
Record lie (P P' : problem) (l : nat) : Prop := {
  l_users : users P' = users P;
  l_classes : classes P' = classes P;
  l_resources : resources P' = resources P;
  l_count : forall i, (i < classes P)%nat -> count P' i == count P i;
  l_capacity : forall i r, (i < classes P)%nat -> (r < resources P)%nat -> capacity P' i r == capacity P i r;
  l_weight : forall n, (n < users P)%nat -> weight P' n == weight P n;
  l_limit : forall n, (n < users P)%nat -> n <> l -> limit P' n = limit P n;
  l_allowed : forall n i, (n < users P)%nat -> (i < classes P)%nat -> n <> l -> allowed P' n i = allowed P n i;
  l_stated : forall n i, (n < users P)%nat -> (i < classes P)%nat -> n <> l -> stated P' n i = stated P n i;
  l_demand : forall n i r, (n < users P)%nat -> (i < classes P)%nat -> (r < resources P)%nat -> n <> l ->
    demand P' n i r == demand P n i r }.

(** User l demands d on every class that it may use, and the problem states no numbers of tasks for l instead of
    demands. *)
Definition demands (P : problem) (l : nat) (d : nat -> Q) : Prop := forall i, (i < classes P)%nat ->
  stated P l i = None /\
  (allowed P l i = true -> forall r, (r < resources P)%nat -> demand P l i r == d r).

(** The allocation x' gives l bundles of d' on every class. With these bundles, l can run y_i tasks of d on class i, and
    at most T_l tasks in total. *)
Record runs_in_bundles (P : problem) (x' : allocation) (l : nat) (d d' y : nat -> Q) : Prop := {
  b_nonneg : forall i, (i < classes P)%nat -> 0 <= y i;
  b_can : forall i, (i < classes P)%nat -> gamma P l i == 0 -> y i == 0;
  b_fits : forall i r, (i < classes P)%nat -> (r < resources P)%nat -> y i * d r <= x' l i * d' r;
  b_limit : within_limit P l (sum (classes P) y) }.

Theorem no_lie_pays P P' l d d' x x' y :
  well_formed P -> well_formed P' -> (l < users P)%nat -> lie P P' l ->
  demands P l d -> demands P' l d' ->
  (forall r, (r < resources P)%nat -> 0 <= d r /\ 0 <= d' r) ->
  ps_dsf_answer P x -> ps_dsf_answer P' x' ->
  runs_in_bundles P x' l d d' y -> sum (classes P) y <= tasks P x l.
Proof.
  intros W W' Hl Lie D D' Nn A A' B.
  pose proof (answer_is_priced P W x A) as E. pose proof (answer_is_priced P' W' x' A') as E'.
  pose proof (declared_proper P W) as G. pose proof (declared_proper P' W') as G'.
  pose proof (a_feasible P x A) as F. pose proof (a_feasible P' x' A') as F'.
  rewrite (l_users P P' l Lie), (l_classes P P' l Lie) in E', G'.
  rewrite <- (time_runs P W x A l Hl).
  assert (Cap : forall i r, (i < classes P)%nat -> (r < resources P)%nat ->
    count P' i * capacity P' i r == count P i * capacity P i r).
  { intros i r Hi Hr. rewrite (l_count P P' l Lie), (l_capacity P P' l Lie) by auto. reflexivity. }
  refine (strategy_proof_in_bundles (users P) (classes P) (resources P) (declared_of P) (declared_of P') l d d'
    (fun i r => count P i * capacity P i r) Hl G G' _ _ _ Nn _ _ (time_of P x) (time_of P' x') E E' y _ _ _ _).
  - exact (l_weight P P' l Lie).
  - exact (l_limit P P' l Lie).
  - intros n i Hn Hi Ne. simpl. unfold gamma. rewrite (l_allowed P P' l Lie) by auto.
    destruct (allowed P n i); [|reflexivity].
    apply (alone_unique P n i).
    + assert (Hn' : (n < users P')%nat) by (rewrite (l_users P P' l Lie); auto).
      assert (Hi' : (i < classes P')%nat) by (rewrite (l_classes P P' l Lie); auto).
      pose proof (alone_is P' W' n i Hn' Hi') as I. unfold is_alone in *. rewrite (l_stated P P' l Lie) in I by auto.
      destruct (stated P n i); auto. rewrite (l_resources P P' l Lie), (l_allowed P P' l Lie) in I by auto.
      destruct I as [I1 I2]. split.
      * intros r Hr. specialize (I1 r Hr). rewrite (l_demand P P' l Lie), Cap in I1 by auto. auto.
      * destruct I2 as [(r & Hr & Dp & T)|(Al & Z & Dz)]; [left|right].
        -- exists r. rewrite (l_demand P P' l Lie) in Dp, T by auto. rewrite Cap in T by auto. auto.
        -- split; [auto|]. split; [auto|]. intros r Hr. specialize (Dz r Hr). rewrite (l_demand P P' l Lie) in Dz by auto. auto.
    + apply (alone_is P W n i); auto.
  - intros i Hi Gp. simpl in Gp. unfold gamma in Gp. destruct (D i Hi) as [St De].
    destruct (allowed P l i) eqn:Al; [|lra]. pose proof (alone_is P W l i Hl Hi) as I. unfold is_alone in I. rewrite St in I.
    destruct I as [_ [(r & Hr & Dp & T)|(Bad & _)]]; [|congruence]. exists r.
    rewrite (De eq_refl r Hr) in Dp, T. simpl. unfold gamma. rewrite Al. auto.
  - intros i r Hi Hr. simpl. unfold gamma.
    assert (Hi' : (i < classes P')%nat) by (rewrite (l_classes P P' l Lie); auto).
    assert (Hr' : (r < resources P')%nat) by (rewrite (l_resources P P' l Lie); auto).
    assert (Hl' : (l < users P')%nat) by (rewrite (l_users P P' l Lie); auto).
    destruct (D' i Hi') as [St De]. destruct (allowed P' l i) eqn:Al.
    + pose proof (alone_is P' W' l i Hl' Hi') as I. unfold is_alone in I. rewrite St in I. destruct I as [I _].
      specialize (I r Hr'). rewrite (De eq_refl r Hr'), Cap in I by auto. auto.
    + rewrite Qmult_0_l. apply prod_nonneg; [apply Qlt_le_weak, (count_pos P W)|apply (capacity_nonneg P W)]; auto.
  - exact (b_nonneg _ _ _ _ _ _ B).
  - exact (b_can _ _ _ _ _ _ B).
  - intros i r Hi Hr. apply Qle_trans with (1 := b_fits _ _ _ _ _ _ B i r Hi Hr). simpl. unfold time_of.
    assert (Hi' : (i < classes P')%nat) by (rewrite (l_classes P P' l Lie); auto).
    assert (Hl' : (l < users P')%nat) by (rewrite (l_users P P' l Lie); auto).
    pose proof (gamma_nonneg P' W' l i Hl' Hi').
    destruct (Qlt_le_dec 0 (gamma P' l i)) as [Gp|Gz].
    + assert (Q : x' l i * / gamma P' l i * gamma P' l i * d' r == x' l i * d' r) by (field; lra). lra.
    + rewrite (f_can P' x' F' l i Hl' Hi') by lra. lra.
  - intros T L. pose proof (b_limit _ _ _ _ _ _ B) as Wl. unfold within_limit in Wl. simpl in L. rewrite L in Wl. exact Wl.
Qed.

(** ** Theorems about certificates *)

(** If an allocation is fair with a nonnegative margin, it is fair within 0. *)
Lemma fair_enough P u m x : well_formed P -> 0 <= m -> proportional P u 1 (- m) x -> proportional P u 1 0 x.
Proof.
  intros W M [H O]. split; auto. cbv zeta in *. intros y Y. specialize (O y Y).
  apply Qle_trans with (1 := O). apply prod_le; [lra|]. apply sum_nonneg. intros n Hn.
  destruct (active P n) eqn:A; [|lra]. assert (V : 0 < value P u x n) by (apply H; split; auto).
  pose proof (weight_pos P W n Hn). cbn [power]. rewrite Qmult_1_r.
  apply prod_nonneg; [apply quotient_nonneg|]; lra.
Qed.
Lemma bottleneck_enough P m x : 0 <= m -> ps_dsf P (- m) x -> ps_dsf P 0 x.
Proof.
  intros M O n i U Hi G. assert (G0 : 0 < g P n) by (destruct U as [_ A]; apply lt_iff in A; exact A).
  assert (L : - m * g P n <= 0 * g P n) by (apply prod_le; lra).
  destruct (O n i U Hi G) as [(T & E & B)|(r & Hr & Tp & B)]; [left; exists T|right; exists r]; repeat split; auto; lra.
Qed.
Theorem unlimited_answer P x : well_formed P -> feasible P x -> (forall i, (i < classes P)%nat -> timed P i = true) ->
  (forall n, (n < users P)%nat -> limit P n = None) -> ps_dsf P 0 x -> ps_dsf_answer P x.
Proof.
  intros W F Timed Un O. constructor; auto. apply ps_dsf_is_proportional; auto. intros n U.
  assert (Hn : (n < users P)%nat) by apply U. pose proof (tasks_nonneg P x n F Hn) as X0.
  destruct (Qlt_le_dec 0 (tasks P x n)) as [|Z]; auto. exfalso. assert (Z0 : tasks P x n == 0) by lra.
  destruct (any (classes P) (fun i => lt 0 (gamma P n i))) eqn:S.
  2:{ destruct U as [_ A]. unfold active, g in A. rewrite Un in A by auto. apply lt_iff in A.
      rewrite sum_zero in A; [lra|]. intros i Hi. pose proof (gamma_nonneg P W n i Hn Hi).
      destruct (Qlt_le_dec 0 (gamma P n i)) as [G|G]; [|lra].
      assert (any (classes P) (fun i => lt 0 (gamma P n i)) = true); [|congruence].
      apply any_iff. exists i. split; auto. apply lt_iff. auto. }
  apply any_iff in S. destruct S as (i & Hi & G). bools.
  destruct (ps_dsf_exact P W x F O n i U Hi G) as [(T & L & _)|(r & Hr & Tp & Fu & Le)].
  { rewrite Un in L by auto. discriminate. }
  assert (r = 0%nat).
  { unfold takes in Tp. rewrite Timed in Tp by auto. destruct r; auto. lra. }
  subst r. unfold full in Fu. rewrite Timed in Fu by auto.
  destruct (sum_negative (users P) (fun m => - (x m i * takes P m i 0) + (if Nat.eqb m n then 1 else 0)) n) as (m & Hm & B); auto.
  - rewrite sum_add, (sum_ext _ _ (fun m => -(1) * (x m i * takes P m i 0))) by (intros; ring). rewrite sum_scale.
    fold (load P x i 0). rewrite Fu, (sum_single _ _ n); auto; [rewrite Nat.eqb_refl; lra|].
    intros j _ Ne. apply Nat.eqb_neq in Ne. rewrite Ne. reflexivity.
  - rewrite Nat.eqb_refl. assert (X : x n i <= tasks P x n).
    { apply (sum_term _ (x n) i); auto. intros. apply (f_nonneg P x F); auto. }
    pose proof (f_nonneg P x F n i Hn Hi). assert (E : x n i == 0) by lra. rewrite E. lra.
  - cbv beta in B. assert (Pos : 0 < x m i * takes P m i 0) by (destruct (Nat.eqb m n); lra).
    specialize (Le m Hm Pos). unfold level_at in Le. rewrite Z0 in Le.
    assert (Xm : 0 < x m i).
    { pose proof (f_nonneg P x F m i Hm Hi). destruct (Qlt_le_dec 0 (x m i)); auto.
      assert (E : x m i == 0) by lra. rewrite E in Pos. lra. }
    assert (Gm : 0 < gamma P m i).
    { pose proof (gamma_nonneg P W m i Hm Hi). destruct (Qlt_le_dec 0 (gamma P m i)); auto.
      rewrite (f_can P x F m i Hm Hi) in Xm; lra. }
    assert (Tm : x m i <= tasks P x m).
    { apply (sum_term _ (x m) i); auto. intros. apply (f_nonneg P x F); auto. }
    pose proof (weight_pos P W m Hm).
    assert (I : 0 < / (weight P m * gamma P m i)) by (apply Qinv_lt_0_compat, Qmult_lt_0_compat; auto).
    assert (C : 0 < tasks P x m * / (weight P m * gamma P m i)) by (apply Qmult_lt_0_compat; lra).
    unfold Qdiv in Le. lra.
Qed.

(** A claim from which the theorem follows. The claim says that the answer is proportionally fair. If the tasks of no
    user are limited, it may also say that the axiom `ps-dsf` holds. If the claim has a margin, the margin is not
    negative. *)
Definition shows_answer (P : problem) (st : statement) : bool :=
  all (classes P) (timed P) &&
  match says st with Some true => true | _ => false end &&
  match margin st with Some m => le 0 m | None => true end &&
  match about st with
  | OfProportional None a => Nat.eqb a 1
  | OfPsDsf => all (users P) (fun n => match limit P n with None => true | Some _ => false end)
  | _ => false
  end.
Theorem answer_proven P stated_x placing_ G Sib T totals places_ H A_ tolerance only_limits st e :
  check_case P stated_x placing_ T totals places_ tolerance only_limits = true ->
  judge P stated_x placing_ G Sib T totals places_ H A_ tolerance only_limits st e = Proven ->
  shows_answer P st = true -> well_formed P /\ ps_dsf_answer P (t_x T).
Proof.
  intros C J A. destruct (case_sound _ _ _ _ _ _ _ _ C) as (W & _ & _ & F0 & _). split; [exact W|].
  pose proof (judge_sound _ _ _ _ _ _ _ _ _ _ _ _ _ _ C J) as [_ Tr].
  unfold shows_answer in A. rewrite !andb_true_iff, all_iff in A. destruct A as [[[Timed Sa] Ma] Ab].
  assert (F : feasible P (t_x T)).
  { apply F0. destruct only_limits; auto. exfalso. unfold judge, is_allowed in J.
    destruct (covered (about st)); [|discriminate]. simpl in J.
    destruct (about st); try discriminate Ab; discriminate J. }
  destruct st as [a s m]. simpl in *. destruct s as [[|]|]; try discriminate Sa.
  assert (Ax : match m with
    | Some q => axiom_of P stated_x placing_ G Sib a (t_x T) (- q)
    | None => (forall eps, axiom_of P stated_x placing_ G Sib a (t_x T) eps) \/ forall n, ~ user P n end).
  { destruct m as [q|]; [destruct Tr as [X [_ Y]]; auto|]. destruct Tr as [X [Y|Y]]; auto. }
  (* If groups have limits, the axiom does not apply to classes that are all shared by time. *)
  assert (Co : (forall n, ~ user P n) \/ (among P G a = true -> comparable P G)).
  { destruct m as [q|]; [right; apply Tr|]. destruct Tr as [X _]; right; apply X. }
  assert (Free : (forall n, ~ user P n) \/ among P G a = false).
  { destruct Co as [Co|Co]; auto. destruct (among P G a); auto. left. intros n [Hn An]. destruct (Co eq_refl) as [[_ Di] _].
    apply active_pos in An. pose proof (g_gamma P n) as Gn. destruct (classes P) as [|k] eqn:Ek; [simpl in Gn; lra|].
    specialize (Di k ltac:(lia)). rewrite Timed in Di by lia. discriminate. }
  destruct a; try discriminate Ab.
  - apply unlimited_answer; auto.
    + intros n Hn. rewrite all_iff in Ab. specialize (Ab n Hn). destruct (limit P n); [discriminate|auto].
    + destruct m as [q|].
      * apply le_iff in Ma. apply (bottleneck_enough P q); auto.
      * destruct Ax as [Ax|Ax]; [apply Ax|]. intros n i U. destruct (Ax n U).
  - destruct s; [discriminate Ab|]. apply Nat.eqb_eq in Ab. subst. constructor; auto.
    assert (None_there : (forall n, ~ user P n) -> proportional P (fun _ _ => 1) 1 0 (t_x T)).
    { intros Nb. split; [intros n U; destruct (Nb n U)|].
      cbv zeta. intros y Y. rewrite !sum_zero; [lra| |]; intros n Hn; destruct (active P n) eqn:E; try reflexivity;
        destruct (Nb n (conj Hn E)). }
    destruct Free as [Nb|Fr]; [auto|]. unfold among in Fr. cbn [compares andb] in Fr.
    assert (Ex : forall eps, axiom_of P stated_x placing_ G Sib (OfProportional None 1) (t_x T) eps -> proportional P (fun _ _ => 1) 1 eps (t_x T)).
    { intros eps. cbn [axiom_of]. unfold Judge.possible. rewrite Fr. auto. }
    destruct m as [q|]; [specialize (Ex _ Ax)|].
    + apply le_iff in Ma. apply (fair_enough P _ q); auto.
    + destruct Ax as [Ax|Ax]; [apply Ex, Ax|auto].
Qed.
