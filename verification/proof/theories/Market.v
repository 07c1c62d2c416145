(** Defines the time-shared market (docs/theory.md, section 4, Fact 5). The time of every class is sold at a price,
    every user spends its whole budget, and every user buys at its cheapest classes. Then no feasible allocation has a
    larger first-order sum. This is the meaning of "the optimum of sum_n w_n log x_n" over the rationals, which have no
    logarithms. Since log is concave, the sum of w_n log y_n exceeds the sum of w_n log x_n by at most sum_n w_n (y_n /
    x_n - 1). *)
From Coq Require Import QArith Qfield Arith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Arithmetic Repair Meaning.
Open Scope Q_scope.

Section On.
Variable P : problem.
Notation N := (users P). Notation K := (classes P). Notation M := (resources P).
Hypothesis W : well_formed P.
Hypothesis Timed : forall i, (i < K)%nat -> timed P i = true.

(** p_i is the price of class i. If the tasks of n are limited, q_n is the price of one of its tasks. *)
Record market (x : allocation) (p q : nat -> Q) : Prop := {
  m_has : forall n, user P n -> 0 < tasks P x n;
  m_prices : forall i, (i < K)%nat -> 0 <= p i;
  m_tasks : forall n, (n < N)%nat -> 0 <= q n /\ (limit P n = None -> q n == 0);
  m_bargain : forall n i, user P n -> (i < K)%nat -> 0 < gamma P n i ->
    weight P n <= (p i * / gamma P n i + q n) * tasks P x n;
  m_spent : sum K p + sum N (fun n => match limit P n with Some t => q n * t | None => 0 end) <=
    sum N (fun n => if active P n then weight P n else 0) }.

Lemma value_of_tasks y n : value P (fun _ _ => 1) y n == tasks P y n.
Proof. apply sum_ext. intros. ring. Qed.

Theorem market_is_proportional x p q : market x p q -> proportional P (fun _ _ => 1) 1 0 x.
Proof.
  intros Mk. split; [intros n U; rewrite value_of_tasks; apply (m_has _ _ _ Mk); auto|]. intros price y Y.
  set (h := fun n => sum K (fun i => p i * (y n i * takes P n i 0)) + q n * tasks P y n).
  assert (M0 : (0 < M)%nat) by apply (some_resource P W).
  assert (Ge : forall n, (n < N)%nat -> 0 <= h n).
  { intros n Hn. unfold h. assert (0 <= q n) by apply (m_tasks _ _ _ Mk n Hn).
    assert (0 <= tasks P y n) by (apply sum_nonneg; intros; apply (f_nonneg P y Y); auto).
    assert (0 <= q n * tasks P y n) by (apply prod_nonneg; auto).
    assert (0 <= sum K (fun i => p i * (y n i * takes P n i 0))).
    { apply sum_nonneg. intros i Hi. apply prod_nonneg; [apply (m_prices _ _ _ Mk); auto|].
      apply prod_nonneg; [apply (f_nonneg P y Y); auto|apply takes_nonneg; auto]. }
    lra. }
  assert (Each : forall n, (n < N)%nat ->
    (if active P n then price n * (value P (fun _ _ => 1) y n - value P (fun _ _ => 1) x n) else 0) <=
    h n - (if active P n then weight P n else 0)).
  { intros n Hn. destruct (active P n) eqn:A; [|specialize (Ge n Hn); lra].
    assert (U : user P n) by (split; auto). pose proof (m_has _ _ _ Mk n U) as Xn.
    assert (Pr : price n == weight P n / tasks P x n).
    { unfold price. cbn [power]. rewrite Qmult_1_r, value_of_tasks. reflexivity. }
    rewrite Pr, !value_of_tasks.
    assert (E : weight P n / tasks P x n * (tasks P y n - tasks P x n) ==
      sum K (fun i => weight P n / tasks P x n * y n i) - weight P n).
    { rewrite sum_scale. fold (tasks P y n). field. lra. }
    rewrite E. unfold h.
    assert (S : sum K (fun i => weight P n / tasks P x n * y n i) <=
      sum K (fun i => p i * (y n i * takes P n i 0) + q n * y n i)).
    { apply sum_le. intros i Hi. pose proof (f_nonneg P y Y n i Hn Hi) as Y0.
      destruct (Qlt_le_dec 0 (gamma P n i)) as [G|G].
      - pose proof (m_bargain _ _ _ Mk n i U Hi G) as B. unfold takes. rewrite Timed by auto.
        assert (B' : weight P n / tasks P x n <= p i * / gamma P n i + q n) by (apply quotient_le; auto).
        pose proof (prod_le _ _ (y n i) B' Y0). lra.
      - pose proof (gamma_nonneg P W n i Hn Hi). rewrite (f_can P y Y n i Hn Hi) by lra. lra. }
    rewrite sum_add, (sum_scale K (q n)) in S. fold (tasks P y n) in S. lra. }
  apply Qle_trans with (sum N (fun n => h n - (if active P n then weight P n else 0))); [apply sum_le; auto|].
  assert (Sub : sum N (fun n => h n - (if active P n then weight P n else 0)) ==
    sum N h - sum N (fun n => if active P n then weight P n else 0)).
  { rewrite (sum_ext N _ (fun n => h n + -(1) * (if active P n then weight P n else 0))) by (intros; ring).
    rewrite sum_add, sum_scale. ring. }
  rewrite Sub. pose proof (m_spent _ _ _ Mk) as Sp.
  assert (Total : sum N h <= sum K p + sum N (fun n => match limit P n with Some t => q n * t | None => 0 end)).
  { unfold h. rewrite sum_add, sum_swap.
    assert (A : sum K (fun i => sum N (fun n => p i * (y n i * takes P n i 0))) <= sum K p).
    { apply sum_le. intros i Hi. rewrite sum_scale. pose proof (f_rows P y Y i 0%nat Hi M0) as L.
      unfold load in L. unfold full in L. rewrite Timed in L by auto.
      pose proof (prod_le_l _ _ (p i) L (m_prices _ _ _ Mk i Hi)). lra. }
    assert (B : sum N (fun n => q n * tasks P y n) <=
      sum N (fun n => match limit P n with Some t => q n * t | None => 0 end)).
    { apply sum_le. intros n Hn. destruct (m_tasks _ _ _ Mk n Hn) as [Q0 Q1].
      pose proof (f_limit P y Y n Hn) as L. unfold within_limit in L. destruct (limit P n) as [t|].
      - apply prod_le_l; auto.
      - rewrite Q1 by auto. lra. }
    lra. }
  lra.
Qed.

(** Fact 5. If tasks are unlimited, every allocation that meets Theorem 2 of the PS-DSF paper is the allocation of such
    a market. Its prices are p_i = max_n w_n gamma_ni / x_n. *)
Lemma greatest_le n f c : 0 <= c -> (forall k, (k < n)%nat -> f k <= c) -> greatest n f <= c.
Proof.
  induction n; simpl; intros C H; auto. assert (greatest n f <= c) by (apply IHn; auto).
  specialize (H n ltac:(lia)). minmax; lra.
Qed.
Definition best_bargain (x : allocation) (i : nat) : Q :=
  greatest N (fun n => if active P n then weight P n * gamma P n i / tasks P x n else 0).

Section Theorem2.
Variable x : allocation.
Hypothesis F : feasible P x.
Hypothesis O : ps_dsf P 0 x.
Hypothesis Unlimited : forall n, (n < N)%nat -> limit P n = None.
Hypothesis Has : forall n, user P n -> 0 < tasks P x n.

Lemma bargain_nonneg n i : (n < N)%nat -> (i < K)%nat ->
  0 <= (if active P n then weight P n * gamma P n i / tasks P x n else 0).
Proof.
  intros Hn Hi. destruct (active P n) eqn:A; [|lra]. pose proof (weight_pos P W n Hn). pose proof (gamma_nonneg P W n i Hn Hi).
  pose proof (Has n (conj Hn A)). apply quotient_nonneg; [apply prod_nonneg|]; lra.
Qed.
(** Every class where n can run is full, and the users that have a part of it buy at the best price. *)
Lemma holders n i : user P n -> (i < K)%nat -> 0 < gamma P n i ->
  load P x i 0 == 1 /\ forall m, (m < N)%nat -> 0 < x m i ->
    active P m = true /\ 0 < gamma P m i /\
    weight P n * gamma P n i / tasks P x n <= weight P m * gamma P m i / tasks P x m.
Proof.
  intros U Hi G. destruct (ps_dsf_exact P W x F O n i U Hi G) as [(T & L & _)|(r & Hr & Tp & Fu & Le)].
  { rewrite (Unlimited n) in L by apply U. discriminate. }
  assert (r = 0%nat).
  { unfold takes in Tp. rewrite Timed in Tp by auto. destruct r; auto. exfalso. lra. }
  subst r. unfold full in Fu. rewrite Timed in Fu by auto. split; [exact Fu|]. intros m Hm X.
  assert (Gm : 0 < gamma P m i).
  { pose proof (gamma_nonneg P W m i Hm Hi). destruct (Qlt_le_dec 0 (gamma P m i)); auto.
    rewrite (f_can P x F m i Hm Hi) in X; lra. }
  assert (Am : active P m = true).
  { unfold active, g. rewrite Unlimited by auto. apply lt_iff. apply Qlt_le_trans with (gamma P m i); auto.
    apply (sum_term K (gamma P m) i); auto. intros j Hj. apply gamma_nonneg; auto. }
  split; [exact Am|]. split; [exact Gm|].
  pose proof (Has n U) as Xn. pose proof (Has m (conj Hm Am)) as Xm. pose proof (weight_pos P W m Hm) as Wm.
  assert (Hn : (n < N)%nat) by apply U. pose proof (weight_pos P W n Hn) as Wn.
  assert (Pos : 0 < x m i * takes P m i 0).
  { unfold takes. rewrite Timed by auto. apply Qmult_lt_0_compat; auto. apply Qinv_lt_0_compat. exact Gm. }
  specialize (Le m Hm Pos). unfold level_at in Le.
  assert (A : 0 < weight P m * gamma P m i) by (apply Qmult_lt_0_compat; auto).
  assert (B : 0 < weight P n * gamma P n i) by (apply Qmult_lt_0_compat; auto).
  apply quotient_le; auto. setoid_replace (weight P m * gamma P m i / tasks P x m * tasks P x n)
    with (tasks P x n / tasks P x m * (weight P m * gamma P m i)) by (field; lra).
  assert (C : tasks P x m * (weight P n * gamma P n i) <= tasks P x n * (weight P m * gamma P m i)).
  { assert (D : tasks P x m / (weight P m * gamma P m i) * (weight P m * gamma P m i) * (weight P n * gamma P n i) <=
      tasks P x n / (weight P n * gamma P n i) * (weight P m * gamma P m i) * (weight P n * gamma P n i)).
    { apply prod_le; [apply prod_le; [exact Le|]|]; lra. }
    assert (D1 : tasks P x m / (weight P m * gamma P m i) * (weight P m * gamma P m i) * (weight P n * gamma P n i) ==
      tasks P x m * (weight P n * gamma P n i)) by (field; split; lra).
    assert (D2 : tasks P x n / (weight P n * gamma P n i) * (weight P m * gamma P m i) * (weight P n * gamma P n i) ==
      tasks P x n * (weight P m * gamma P m i)) by (field; split; lra).
    lra. }
  assert (E : weight P n * gamma P n i <= tasks P x n * (weight P m * gamma P m i) / tasks P x m)
    by (apply le_quotient; lra).
  assert (E' : tasks P x n * (weight P m * gamma P m i) / tasks P x m ==
    tasks P x n / tasks P x m * (weight P m * gamma P m i)) by (field; lra).
  lra.
Qed.

Lemma price_is_spent i : (i < K)%nat ->
  best_bargain x i <= sum N (fun m => if active P m then x m i * (weight P m / tasks P x m) else 0).
Proof.
  intros Hi. set (s := sum N _). assert (S0 : 0 <= s).
  { apply sum_nonneg. intros m Hm. destruct (active P m) eqn:A; [|lra]. pose proof (Has m (conj Hm A)).
    pose proof (weight_pos P W m Hm). apply prod_nonneg; [apply (f_nonneg P x F); auto|apply quotient_nonneg; lra]. }
  apply greatest_le; auto. intros n Hn. destruct (active P n) eqn:A; [|auto].
  pose proof (gamma_nonneg P W n i Hn Hi) as G0.
  destruct (Qlt_le_dec 0 (gamma P n i)) as [G|G].
  - destruct (holders n i (conj Hn A) Hi G) as [Fu Ho]. set (b := weight P n * gamma P n i / tasks P x n) in *.
    assert (L : b * load P x i 0 <= s).
    { unfold load. rewrite <- sum_scale. apply sum_le. intros m Hm. pose proof (f_nonneg P x F m i Hm Hi) as X0.
      destruct (Qlt_le_dec 0 (x m i)) as [X|X].
      - destruct (Ho m Hm X) as (Am & Gm & Le). rewrite Am. unfold takes. rewrite Timed by auto.
        pose proof (Has m (conj Hm Am)) as Xm.
        assert (I : 0 <= x m i * / gamma P m i) by (apply prod_nonneg; [lra|apply Qinv_le_0_compat; lra]).
        pose proof (prod_le _ _ _ Le I) as T.
        assert (E : weight P m * gamma P m i / tasks P x m * (x m i * / gamma P m i) == x m i * (weight P m / tasks P x m))
          by (field; split; lra).
        lra.
      - assert (E : x m i == 0) by lra. destruct (active P m); rewrite E; lra. }
    rewrite Fu in L. lra.
  - assert (E : gamma P n i == 0) by lra. rewrite E. unfold Qdiv. rewrite Qmult_0_r, Qmult_0_l. exact S0.
Qed.

Theorem ps_dsf_is_a_market : market x (best_bargain x) (fun _ => 0).
Proof.
  constructor.
  - exact Has.
  - intros i Hi. apply greatest_nonneg.
  - intros n Hn. split; [lra|reflexivity].
  - intros n i U Hi G. assert (Hn : (n < N)%nat) by apply U. pose proof (Has n U) as Xn.
    pose proof (greatest_ge N (fun n => if active P n then weight P n * gamma P n i / tasks P x n else 0) n Hn) as B.
    cbv beta in B. destruct U as [_ A]. rewrite A in B. fold (best_bargain x i) in B.
    assert (I : 0 <= / gamma P n i * tasks P x n) by (apply prod_nonneg; [apply Qinv_le_0_compat|]; lra).
    pose proof (prod_le _ _ _ B I) as T.
    assert (E : weight P n * gamma P n i / tasks P x n * (/ gamma P n i * tasks P x n) == weight P n) by (field; split; lra).
    lra.
  - assert (Z : sum N (fun n => match limit P n with Some t => 0 * t | None => 0 end) == 0).
    { apply sum_zero. intros n Hn. rewrite Unlimited by auto. reflexivity. }
    rewrite Z, Qplus_0_r.
    apply Qle_trans with (sum K (fun i => sum N (fun m => if active P m then x m i * (weight P m / tasks P x m) else 0))).
    + apply sum_le. intros i Hi. apply price_is_spent. exact Hi.
    + rewrite sum_swap. apply sum_le. intros m Hm. destruct (active P m) eqn:A.
      * rewrite sum_scale_r. fold (tasks P x m). pose proof (Has m (conj Hm A)).
        assert (E : tasks P x m * (weight P m / tasks P x m) == weight P m) by (field; lra). lra.
      * rewrite sum_zero by reflexivity. lra.
Qed.
Theorem ps_dsf_is_proportional : proportional P (fun _ _ => 1) 1 0 x.
Proof. exact (market_is_proportional x (best_bargain x) (fun _ => 0) ps_dsf_is_a_market). Qed.
End Theorem2.
End On.
