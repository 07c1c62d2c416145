(** Proves that answers and certificates exist: a Pareto optimal allocation, prices for each Pareto optimal allocation,
    and prices for every allocation that is proportionally fair within a gap. *)
From Coq Require Import QArith Qfield Arith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Arithmetic Repair Duality Programme.
Import ListNotations.
Open Scope Q_scope.

Section On.
Variable P : problem.
Notation N := (users P). Notation K := (classes P). Notation M := (resources P).
Hypothesis W : well_formed P.

Lemma unit_pos n : user P n -> 0 < g P n.
Proof. intros [_ A]. apply lt_iff in A. exact A. Qed.
Definition per_unit (n _ : nat) : Q := if active P n then / g P n else 0.
Lemma sum_of_users f y : sum_of P (fun n _ => f n) y == sum N (fun n => f n * tasks P y n).
Proof. apply sum_ext. intros n _. apply sum_scale. Qed.
Lemma no_rows y : keeps P [] y.
Proof. intros c []. Qed.

(** Prices prove an upper bound on the worth of all feasible allocations. *)
Lemma prices_of_bound a v : (forall y, feasible P y -> sum_of P a y <= v) -> exists p q, are_prices P p q /\
  (forall n i, (n < N)%nat -> (i < K)%nat -> 0 < gamma P n i -> a n i <= price_of P p q n i) /\ paid P p q <= v.
Proof.
  intros Up. destruct (prices_exist P [] a v) as (p & q & e & Pr & Fe & Cost & Paid); [| |auto].
  - exists (fun _ _ => 0). split; [apply nothing_is_feasible; auto|apply no_rows].
  - auto.
  - assert (E0 : most e == 0 /\ forall j, coef e j == 0).
    { clear - Fe. induction Fe as [|c []|c d _ [I1 J1] _ [I2 J2]|t c _ _ [I J]]; simpl.
      - split; intros; reflexivity.
      - split; [lra|]. intros j. rewrite J1, J2. ring.
      - split; [rewrite I; ring|]. intros j. rewrite J. ring. }
    destruct E0 as [E1 E2]. exists p, q. split; [auto|]. split; [|lra]. intros n i Hn Hi G. specialize (Cost n i Hn Hi G).
    unfold grid in Cost. rewrite E2 in Cost. lra.
Qed.
(** A Pareto optimal allocation exists. *)
Theorem pareto_optimum_exists : exists x, feasible P x /\ pareto_optimal P 0 x.
Proof.
  destruct (greatest_exists P W [] per_unit) as (x & F & _ & G).
  - exists (fun _ _ => 0). split; [apply nothing_is_feasible; auto|apply no_rows].
  - exists x. split; auto. intros y Y _. specialize (G y Y (no_rows y)). unfold per_unit in G.
    rewrite !(sum_of_users (fun n => if active P n then / g P n else 0)) in G.
    rewrite (sum_ext N _ (fun n => (if active P n then / g P n else 0) * tasks P y n +
      -(1) * ((if active P n then / g P n else 0) * tasks P x n))).
    + rewrite sum_add, sum_scale. lra.
    + intros n Hn. destruct (active P n) eqn:A; [|ring]. pose proof (unit_pos n (conj Hn A)). field. lra.
Qed.

(** No user has fewer tasks than in x. *)
Variable x : allocation.
Definition no_fewer (n : nat) : row := {| coef := flat P (fun m _ => if Nat.eqb m n then -(1) else 0); most := - tasks P x n |}.
Definition nobody_loses : list row := map no_fewer (filter (active P) (seq 0 N)).
Lemma at_no_fewer n z : (n < N)%nat -> at_point (N * K) (coef (no_fewer n)) z == - tasks P (grid P z) n.
Proof.
  intros Hn. simpl. rewrite at_flat, (sum_single N _ n); auto.
  - unfold tasks. rewrite (sum_ext K _ (fun i => -(1) * grid P z n i)) by (intros; rewrite Nat.eqb_refl; ring).
    rewrite sum_scale. ring.
  - intros m _ Ne. apply sum_zero. intros i _. apply Nat.eqb_neq in Ne. rewrite Ne. ring.
Qed.
Lemma nobody_loses_iff y : keeps P nobody_loses y -> forall n, user P n -> tasks P x n <= tasks P y n.
Proof.
  intros Ke n [Hn A]. assert (I : In (no_fewer n) nobody_loses).
  { apply in_map. apply filter_In. split; auto. apply in_seq. lia. }
  specialize (Ke _ I). rewrite at_no_fewer in Ke by auto. simpl in Ke.
  assert (E : tasks P (grid P (flat P y)) n == tasks P y n).
  { apply sum_ext. intros i Hi. rewrite grid_flat by auto. reflexivity. }
  lra.
Qed.
Lemma keeps_itself : keeps P nobody_loses x.
Proof.
  intros c I. apply in_map_iff in I. destruct I as (n & <- & I). apply filter_In in I. destruct I as [I _]. apply in_seq in I.
  rewrite at_no_fewer by lia. simpl.
  assert (E : tasks P (grid P (flat P x)) n == tasks P x n).
  { apply sum_ext. intros i Hi. rewrite grid_flat by auto. reflexivity. }
  lra.
Qed.
Lemma follows_losses e : follows nobody_loses e -> exists l : nat -> Q, (forall n, (n < N)%nat -> 0 <= l n) /\
  (forall n i, (n < N)%nat -> (i < K)%nat -> grid P (coef e) n i == - l n) /\
  (forall n, active P n = false -> l n == 0) /\ most e == - sum N (fun n => l n * tasks P x n).
Proof.
  induction 1 as [|c I|c d _ (l & A & B & C & D) _ (l' & A' & B' & C' & D')|t c T _ (l & A & B & C & D)].
  - exists (fun _ => 0). repeat split; intros; try lra; try reflexivity. simpl. rewrite sum_zero by (intros; ring). ring.
  - apply in_map_iff in I. destruct I as (n & <- & I). apply filter_In in I. destruct I as [I Ac]. apply in_seq in I.
    exists (fun m => if Nat.eqb m n then 1 else 0). split; [|split; [|split]].
    + intros m _. destruct (Nat.eqb m n); lra.
    + intros m i _ Hi. cbn [coef no_fewer]. rewrite grid_flat by auto. destruct (Nat.eqb m n); ring.
    + intros m Am. destruct (Nat.eqb_spec m n) as [->|]; [congruence|reflexivity].
    + rewrite (sum_single N _ n) by (try lia; intros j _ Ne; apply Nat.eqb_neq in Ne; rewrite Ne; ring).
      rewrite Nat.eqb_refl. simpl. ring.
  - exists (fun n => l n + l' n). split; [|split; [|split]].
    + intros n Hn. specialize (A n Hn). specialize (A' n Hn). lra.
    + intros n i Hn Hi. specialize (B n i Hn Hi). specialize (B' n i Hn Hi). unfold grid in *. simpl. lra.
    + intros n Am. rewrite C, C' by auto. ring.
    + simpl. rewrite D, D'. rewrite (sum_ext N (fun n => (l n + l' n) * tasks P x n) (fun n => l n * tasks P x n + l' n * tasks P x n))
        by (intros; ring). rewrite sum_add. ring.
  - exists (fun n => t * l n). split; [|split; [|split]].
    + intros n Hn. apply prod_nonneg; auto.
    + intros n i Hn Hi. specialize (B n i Hn Hi). unfold grid in *. simpl. rewrite B. ring.
    + intros n Am. rewrite C by auto. ring.
    + simpl. rewrite D. rewrite (sum_ext N (fun n => t * l n * tasks P x n) (fun n => t * (l n * tasks P x n))) by (intros; ring).
      rewrite sum_scale. ring.
Qed.

(** Every Pareto optimal allocation has prices that prove it, as `check_pareto` requires them, with the gap 0. *)
Theorem pareto_prices_exist : feasible P x -> pareto_optimal P 0 x -> exists l p q, are_prices P p q /\
  (forall n, user P n -> 1 <= l n * g P n) /\
  (forall n i, user P n -> (i < K)%nat -> 0 < gamma P n i -> l n <= price_of P p q n i) /\
  paid P p q <= sum N (fun n => if active P n then l n * tasks P x n else 0).
Proof.
  intros F O. set (v := sum N (fun n => (if active P n then / g P n else 0) * tasks P x n)).
  destruct (prices_exist P nobody_loses per_unit v) as (p & q & e & Pr & Fe & Cost & Paid).
  - exists x. split; [auto|apply keeps_itself].
  - intros y Y Ke. specialize (O y Y (nobody_loses_iff y Ke)). unfold per_unit.
    rewrite (sum_of_users (fun n => if active P n then / g P n else 0)).
    assert (E : sum N (fun n => if active P n then (tasks P y n - tasks P x n) / g P n else 0) ==
      sum N (fun n => (if active P n then / g P n else 0) * tasks P y n) + -(1) * v).
    { unfold v. rewrite <- sum_scale, <- sum_add. apply sum_ext. intros n Hn. destruct (active P n) eqn:A; [|ring].
      pose proof (unit_pos n (conj Hn A)). field. lra. }
    lra.
  - destruct (follows_losses e Fe) as (l & A & B & C & D). exists (fun n => / g P n + l n), p, q.
    split; [auto|]. split; [|split].
    + intros n U. assert (Hn : (n < N)%nat) by apply U. pose proof (unit_pos n U) as G. specialize (A n Hn).
      pose proof (prod_nonneg _ _ A (Qlt_le_weak _ _ G)) as L.
      assert (E : (/ g P n + l n) * g P n == 1 + l n * g P n) by (field; lra). lra.
    + intros n i U Hi G. assert (Hn : (n < N)%nat) by apply U. specialize (Cost n i Hn Hi G). unfold per_unit in Cost.
      destruct U as [_ Ac]. rewrite Ac, B in Cost by auto. lra.
    + rewrite D in Paid.
      assert (E : sum N (fun n => if active P n then (/ g P n + l n) * tasks P x n else 0) ==
        v + sum N (fun n => l n * tasks P x n)).
      { unfold v. rewrite <- sum_add. apply sum_ext. intros n Hn. destruct (active P n) eqn:Ac; [ring|]. rewrite C by auto. ring. }
      lra.
Qed.

(** Every allocation that is proportionally fair within eps has prices with no larger gap, as `check_proportional`
    requires them. *)
Theorem proportional_prices_exist u a eps : proportional P u a eps x ->
  let price n := weight P n / power (value P u x n) a in
  let spent := sum N (fun n => if active P n then price n * value P u x n else 0) in
  exists p q, are_prices P p q /\
  (forall n i, user P n -> (i < K)%nat -> 0 < gamma P n i -> price n * u n i <= price_of P p q n i) /\
  paid P p q <= spent + eps * spent.
Proof.
  intros [_ O] price spent. cbv zeta in O.
  destruct (prices_of_bound (fun n i => if active P n then price n * u n i else 0) (spent + eps * spent))
    as (p & q & Pr & Cost & Paid).
  - intros y Y. specialize (O y Y).
    assert (E : sum_of P (fun n i => if active P n then price n * u n i else 0) y ==
      sum N (fun n => if active P n then price n * (value P u y n - value P u x n) else 0) + spent).
    { unfold spent. rewrite <- sum_add. apply sum_ext. intros n Hn. destruct (active P n).
      - rewrite (sum_ext K _ (fun i => price n * (u n i * y n i))) by (intros; ring). rewrite sum_scale. fold (value P u y n). ring.
      - rewrite sum_zero by (intros; ring). ring. }
    assert (O' : sum N (fun n => if active P n then price n * (value P u y n - value P u x n) else 0) <= eps * spent) by exact O.
    rewrite E. clear - O'. lra.
  - exists p, q. split; [auto|]. split; [|auto].
    intros n i [Hn Ac] Hi G. specialize (Cost n i Hn Hi G). cbv beta in Cost. rewrite Ac in Cost. exact Cost.
Qed.
End On.
