(** Proves weak duality for prices, and decides Pareto optimality by prices. *)
From Coq Require Import QArith Qreduction Qfield Arith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Arithmetic Checker Repair Soundness Bundle.
Open Scope Q_scope.

(** The prices of rows, and the prices of tasks of users *)
Record prices := { on_row : nat -> nat -> Q; on_user : nat -> Q }.

(** * Programs *)
Section Programs.
Variable P : problem.
Variable T : tables.
Notation N := (users P). Notation K := (classes P). Notation M := (resources P).
Notation x := (t_x T). Notation g := (t_g T).

(** a_ni <= sum_r p_ir d_nir + q_n on every class where n can run, for every n with [counted n] *)
Definition check_prices (counted : nat -> bool) (a : nat -> nat -> Q) (p : prices) : bool :=
  all K (fun i => all M (fun r => le 0 (on_row p i r))) &&
  all N (fun n => match limit P n with Some _ => le 0 (on_user p n) | None => eqq (on_user p n) 0 end) &&
  all N (fun n => if counted n then all K (fun i =>
    if runs_on T n i
    then le (a n i) (add (rsum M (fun r => mul (on_row p i r) (t_takes T n i r))) (on_user p n))
    else true) else true).
Definition bound (p : prices) : Q :=
  add (rsum K (fun i => rsum M (fun r => mul (on_row p i r) (t_full T i r))))
      (rsum N (fun n => match limit P n with Some t => mul (on_user p n) t | None => 0 end)).

(** A scope: the allocations that an axiom compares with x, and the bound that prices prove about them. These
    allocations are the feasible ones, or (Within.v) the feasible ones within the limits of groups. *)
Record scope := {
  sc_prices : (nat -> bool) -> (nat -> nat -> Q) -> prices -> bool;
  sc_bound : prices -> Q;
  sc_keeps : allocation -> bool;      (* this feasible allocation is in the scope *)
  sc_open : nat -> bool }.            (* the scope allows tasks of the user *)
Definition everywhere : scope :=
  {| sc_prices := check_prices; sc_bound := bound; sc_keeps := fun _ => true; sc_open := fun _ => true |}.
Variable B : scope.

(** Pareto optimality. The margin is the negative of the gap. *)
Definition check_pareto (l : nat -> Q) (p : prices) (m : Q) : bool :=
  all N (fun n => if is_active T n then le 1 (mul (l n) (g n)) else le 0 (l n)) &&
  sc_prices B (fun n => lt 0 (l n)) (fun n i => l n) p &&
  eqq (- m) (sub (sc_bound B p) (rsum N (fun n => if is_active T n then mul (l n) (t_tasks T n) else 0))).
Definition check_dominating (y : allocation) (m : Q) : bool :=
  check_feasible P T y && sc_keeps B y && all N (fun n => le (t_tasks T n) (rsum K (y n))) &&
  lt m 0 &&
  eqq (- m) (rsum N (fun n => if is_active T n then quo (sub (rsum K (y n)) (t_tasks T n)) (g n) else 0)).

End Programs.

(** * Soundness *)
Section Sound.
Variable P : problem.
Notation N := (users P). Notation K := (classes P). Notation M := (resources P).
Hypothesis W : well_formed P.
Variable T : tables.
Variable stated_x : allocation.
Variable placed : bool.
Hypothesis R : right P stated_x T placed.
Notation x := (t_x T).
Hypothesis F : feasible P x.

(** Weak duality *)
Lemma bound_sound counted a p y : check_prices P T counted a p = true -> feasible P y ->
  (forall n i, (n < N)%nat -> (i < K)%nat -> counted n = false -> a n i * y n i <= 0) ->
  sum N (fun n => sum K (fun i => a n i * y n i)) <= bound P T p.
Proof.
  intros C Y Z. unfold check_prices in C. bools.
  assert (Hrow : forall i r, (i < K)%nat -> (r < M)%nat -> 0 <= on_row p i r).
  { intros i r Hi Hr. specialize (H i Hi). bools. specialize (H r Hr). bools. auto. }
  assert (Huser : forall n, (n < N)%nat -> 0 <= on_user p n).
  { intros n Hn. specialize (H1 n Hn). destruct (limit P n); bools; lra. }
  pose (cost := fun n i => sum M (fun r => on_row p i r * takes P n i r)).
  assert (Hcost : forall n i, (n < N)%nat -> (i < K)%nat -> 0 <= cost n i).
  { intros n i Hn Hi. apply sum_nonneg. intros r Hr. apply prod_nonneg; auto. apply takes_nonneg; auto. }
  assert (A : forall n i, (n < N)%nat -> (i < K)%nat -> a n i * y n i <= cost n i * y n i + on_user p n * y n i).
  { intros n i Hn Hi. pose proof (f_nonneg P y Y n i Hn Hi) as Hy.
    destruct (counted n) eqn:Cn.
    2:{ specialize (Z n i Hn Hi Cn). pose proof (prod_nonneg _ _ (Hcost n i Hn Hi) Hy).
        pose proof (prod_nonneg _ _ (Huser n Hn) Hy). lra. }
    destruct (runs_on T n i) eqn:U.
    - specialize (H0 n Hn). rewrite Cn in H0. bools. specialize (H0 i Hi). rewrite U in H0. bools.
      rewrite add_eq, rsum_eq in H0.
      assert (E : sum M (fun r => mul (on_row p i r) (t_takes T n i r)) == cost n i).
      { apply sum_ext. intros. rewrite mul_eq, (takes_is _ _ _ _ R) by auto. reflexivity. }
      rewrite E in H0. rewrite <- Qmult_plus_distr_l. apply prod_le; auto.
    - rewrite (runs_on_eq P stated_x T placed R) in U by auto. bools.
      pose proof (gamma_nonneg P W n i Hn Hi).
      rewrite (f_can P y Y n i Hn Hi) by lra. lra. }
  assert (B : sum N (fun n => sum K (fun i => a n i * y n i)) <=
              sum N (fun n => sum K (fun i => cost n i * y n i)) + sum N (fun n => on_user p n * tasks P y n)).
  { rewrite <- sum_add. apply sum_le. intros n Hn. unfold tasks.
    rewrite <- !sum_scale, <- sum_add. apply sum_le. intros i Hi. apply A; auto. }
  assert (D : sum N (fun n => sum K (fun i => cost n i * y n i)) <=
              sum K (fun i => sum M (fun r => on_row p i r * full P i r))).
  { rewrite sum_swap. apply sum_le. intros i Hi.
    rewrite (sum_ext N _ (fun n => sum M (fun r => on_row p i r * (y n i * takes P n i r)))).
    2:{ intros n Hn. unfold cost. rewrite <- sum_scale_r. apply sum_ext. intros. ring. }
    rewrite sum_swap. apply sum_le. intros r Hr. rewrite sum_scale.
    apply prod_le_l; auto. apply (f_rows P y Y); auto. }
  assert (E : sum N (fun n => on_user p n * tasks P y n) <=
              sum N (fun n => match limit P n with Some t => mul (on_user p n) t | None => 0 end)).
  { apply sum_le. intros n Hn. specialize (H1 n Hn). pose proof (f_limit P y Y n Hn) as L.
    unfold within_limit in L. destruct (limit P n); bools.
    - rewrite mul_eq. apply prod_le_l; auto.
    - rewrite H1. lra. }
  unfold bound. rewrite add_eq, !rsum_eq.
  assert (G : sum K (fun i => rsum M (fun r => mul (on_row p i r) (t_full T i r))) ==
              sum K (fun i => sum M (fun r => on_row p i r * full P i r))).
  { apply sum_ext. intros i Hi. rewrite rsum_eq. apply sum_ext. intros r Hr.
    rewrite !mul_eq, (full_is _ _ _ _ R) by auto. reflexivity. }
  rewrite G. lra.
Qed.

Record right_scope (possible : allocation -> Prop) (B : scope) : Prop := {
  sc_feasible : forall y, possible y -> feasible P y;
  sc_duality : forall counted a p y, sc_prices B counted a p = true -> possible y ->
    (forall n i, (n < N)%nat -> (i < K)%nat -> counted n = false -> a n i * y n i <= 0) ->
    sum N (fun n => sum K (fun i => a n i * y n i)) <= sc_bound B p;
  sc_kept : forall y, feasible P y -> sc_keeps B y = true -> possible y }.
Lemma everywhere_right : right_scope (feasible P) (everywhere P T).
Proof. constructor; auto. intros counted a p y C Y Z. apply (bound_sound counted); auto. Qed.

Variable possible : allocation -> Prop.
Variable B : scope.
Hypothesis RB : right_scope possible B.

Theorem check_pareto_sound l p m : check_pareto P T B l p m = true -> pareto_optimal_among P possible (- m) x.
Proof.
  unfold check_pareto. intros H y Y0 D. pose proof (sc_feasible _ _ RB y Y0) as Y. bools. rewrite H0, sub_eq, rsum_eq.
  assert (Bd : sum N (fun n => sum K (fun i => l n * y n i)) <= sc_bound B p).
  { apply (sc_duality _ _ RB (fun n => lt 0 (l n)) (fun n i => l n)); auto.
    intros n i Hn Hi E. bools. pose proof (f_nonneg P y Y n i Hn Hi) as Hy.
    destruct (is_active T n) eqn:An.
    - specialize (H n Hn). rewrite An in H. bools. rewrite mul_eq in H.
      assert (U : user P n) by (eapply is_user; eauto). pose proof (user_g P n U) as G.
      pose proof (prod_le (l n) 0 (t_g T n) E) as C.
      rewrite (g_is _ _ _ _ R) in * by auto. specialize (C ltac:(lra)). lra.
    - rewrite (is_active_eq P stated_x T placed R) in An by auto.
      rewrite (inactive_entry P W y n i) by auto. lra. }
  assert (S : sum N (fun n => if active P n then (tasks P y n - tasks P x n) / g P n else 0) <=
              sum N (fun n => sum K (fun i => l n * y n i) +
                (-1) * (if is_active T n then mul (l n) (t_tasks T n) else 0))).
  { apply sum_le. intros n Hn. rewrite sum_scale. fold (tasks P y n).
    specialize (H n Hn). rewrite (is_active_eq P stated_x T placed R) in * by auto.
    destruct (active P n) eqn:An.
    - assert (U : user P n) by (split; auto). pose proof (user_g P n U) as G. bools.
      rewrite mul_eq, (g_is _ _ _ _ R) in H by auto. rewrite mul_eq, (tasks_is _ _ _ _ R) by auto.
      specialize (D n U). apply quotient_le; auto.
      assert (Dn : 0 <= tasks P y n - tasks P x n) by lra.
      pose proof (prod_le_l _ _ (tasks P y n - tasks P x n) H Dn). lra.
    - bools. rewrite (inactive_tasks P W y n) by auto. lra. }
  rewrite sum_add, sum_scale in S. lra.
Qed.

Theorem check_dominating_sound y m : check_dominating P T B y m = true ->
  forall eps, pareto_optimal_among P possible eps x -> - m <= eps.
Proof.
  unfold check_dominating. intros H eps O. apply andb_true_iff in H. destruct H as [H M0]. apply eqq_iff in M0.
  apply andb_true_iff in H. destruct H as [H _]. apply andb_true_iff in H. destruct H as [H H2].
  apply andb_true_iff in H. destruct H as [H Ke].
  apply (check_feasible_sound P stated_x T placed R) in H. apply (sc_kept _ _ RB) in Ke; auto. bools.
  assert (E : - m == sum N (fun n => if active P n then (tasks P y n - tasks P x n) / g P n else 0)).
  { rewrite M0, rsum_eq. apply sum_ext. intros n Hn. rewrite (is_active_eq P stated_x T placed R) by auto.
    destruct (active P n); [|reflexivity].
    rewrite quo_eq, sub_eq, (tasks_is _ _ _ _ R), (g_is _ _ _ _ R), rsum_eq by auto. reflexivity. }
  rewrite E. apply O; auto. intros n U. assert (Hn : (n < N)%nat) by apply U. specialize (H2 n Hn). bools.
  rewrite (tasks_is _ _ _ _ R), rsum_eq in H2 by auto. auto.
Qed.

End Sound.
