(** Constructs certificates. For every alpha and every gap, it constructs an allocation and prices that the checker
    accepts (from ExistsProportional.v). For every Pareto optimum, and for every allocation that is fair within a gap,
    it constructs prices (from Exists.v). *)
From Coq Require Import QArith Qreduction Qfield Arith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Arithmetic Checker Repair Soundness Bundle Prices Alpha Filled Roots Duality Programme.
From Evenhand Require Import Exists ExistsMaxMin ExistsLevels ExistsProportional.
Import ListNotations.
Open Scope Q_scope.

Section On.
Variable P : problem.
Notation N := (users P). Notation K := (classes P). Notation M := (resources P).
Hypothesis W : well_formed P.

(** * Certificates for given allocations *)
Section Given.
Variable T : tables.
Variable stated_x : allocation.
Variable placed : bool.
Hypothesis R : right P stated_x T placed.
Hypothesis F : feasible P (t_x T).
Notation x := (t_x T).

Theorem pareto_certificate_exists : pareto_optimal P 0 x -> exists l p, check_pareto P T (everywhere P T) l p 0 = true.
Proof.
  intros O. destruct (pareto_prices_exist P x F O) as (l & p & q & Pr & One & Cost & Paid).
  set (l' := fun n => if active P n then l n else 0). set (pq := {| on_row := p; on_user := q |}). exists l', pq.
  assert (Cp : check_prices P T (fun n => lt 0 (l' n)) (fun n _ => l' n) pq = true).
  { apply (prices_accepted P T stated_x placed R); auto. intros n i Hn Hi L G. unfold l' in *.
    destruct (active P n) eqn:A; [|apply lt_iff in L; lra]. apply Cost; auto. split; auto. }
  assert (E1 : rsum N (fun n => if is_active T n then mul (l' n) (t_tasks T n) else 0) ==
    sum N (fun n => if active P n then l n * tasks P x n else 0)).
  { rewrite rsum_eq. apply sum_ext. intros n Hn. rewrite (is_active_eq P stated_x T placed R) by auto. unfold l'.
    destruct (active P n); [|reflexivity]. rewrite mul_eq, (tasks_is _ _ _ _ R) by auto. reflexivity. }
  assert (L0 : forall n, (n < N)%nat -> 0 <= l' n).
  { intros n Hn. unfold l'. destruct (active P n) eqn:A; [|lra]. specialize (One n (conj Hn A)).
    pose proof (unit_pos P n (conj Hn A)) as G. apply Qnot_lt_le. intros C.
    assert (0 < - l n * g P n) by (apply Qmult_lt_0_compat; lra). lra. }
  assert (E2 : sum N (fun n => if active P n then l n * tasks P x n else 0) <= bound P T pq).
  { apply Qle_trans with (2 := bound_sound P W T stated_x placed R _ _ pq x Cp F ltac:(
      intros n i Hn Hi C; apply lt_false in C; specialize (L0 n Hn); assert (Z : l' n == 0) by lra; rewrite Z; lra)).
    apply sum_le. intros n Hn. rewrite sum_scale. fold (tasks P x n). unfold l'. destruct (active P n); lra. }
  unfold check_pareto. cbn [everywhere sc_prices sc_bound]. rewrite Cp, !andb_true_r. apply andb_true_iff. split.
  - apply all_iff. intros n Hn. rewrite (is_active_eq P stated_x T placed R) by auto. specialize (L0 n Hn).
    destruct (active P n) eqn:A; apply le_iff; [|auto]. rewrite mul_eq, (g_is _ _ _ _ R) by auto. unfold l'. rewrite A.
    apply One. split; auto.
  - apply eqq_iff. rewrite sub_eq, E1. unfold pq in *. rewrite (bound_is P T stated_x placed R) in *. lra.
Qed.

Variable u : nat -> nat -> Q.
Lemma value_is y n : value_of P u y n == value P u y n.
Proof. unfold value_of, value. rewrite rsum_eq. apply sum_ext. intros. apply mul_eq. Qed.
Hypothesis Somebody : exists n, user P n.

Theorem proportional_certificate_exists a eps : proportional P u a eps x -> exists V p m,
  v_u V = u /\ - m <= eps /\ check_proportional P T (everywhere P T) V a p m = true.
Proof.
  intros O. pose proof O as [Pos _]. destruct (proportional_prices_exist P W x u a eps O) as (p & q & Pr & Cost & Paid).
  set (price := fun n => quo (weight P n) (rpower (value_of P u x n) a)).
  set (spent := rsum N (fun n => if is_active T n then mul (price n) (value_of P u x n) else 0)).
  set (V := {| v_u := u; v_value := value_of P u x; v_price := price; v_spent := spent |}).
  set (pq := {| on_row := p; on_user := q |}). exists V, pq, (quo (sub spent (bound P T pq)) spent).
  assert (Ep : forall n, price n == weight P n / power (value P u x n) a).
  { intros n. unfold price. rewrite quo_eq, rpower_eq, (power_ext _ _ a (value_is x n)). reflexivity. }
  assert (Es : spent == sum N (fun n => if active P n then weight P n / power (value P u x n) a * value P u x n else 0)).
  { unfold spent. rewrite rsum_eq. apply sum_ext. intros n Hn. rewrite (is_active_eq P stated_x T placed R) by auto.
    destruct (active P n); [|reflexivity]. rewrite mul_eq, Ep, value_is. reflexivity. }
  assert (Term : forall n, user P n -> 0 < weight P n / power (value P u x n) a * value P u x n).
  { intros n U. specialize (Pos n U). pose proof (weight_pos P W n ltac:(apply U)). apply Qmult_lt_0_compat; auto.
    apply Qmult_lt_0_compat; auto. apply Qinv_lt_0_compat, power_pos. auto. }
  assert (Sp : 0 < spent).
  { destruct Somebody as (n & Hn & A). rewrite Es. apply Qlt_le_trans with (1 := Term n (conj Hn A)).
    pose proof (sum_term N (fun n => if active P n then weight P n / power (value P u x n) a * value P u x n else 0) n) as S.
    cbv beta in S. rewrite A in S. apply S; auto. intros k Hk. destruct (active P k) eqn:Ak; [|lra]. apply Qlt_le_weak, Term. split; auto. }
  split; [reflexivity|]. split.
  - rewrite quo_eq, sub_eq. unfold pq. rewrite (bound_is P T stated_x placed R), <- Es in *.
    assert (L : paid P p q / spent <= 1 + eps) by (apply quotient_le; lra).
    setoid_replace (- ((spent - paid P p q) / spent)) with (paid P p q / spent - 1) by (field; lra). lra.
  - unfold check_proportional. cbn [everywhere sc_prices sc_bound]. rewrite !andb_true_iff. split; [split|].
    + unfold check_worths. rewrite !andb_true_iff. split; [split|].
      * apply all_iff. intros n Hn. destruct (is_active T n) eqn:A; [|reflexivity].
        rewrite (is_active_eq P stated_x T placed R) in A by auto. simpl. rewrite !same, andb_true_r. simpl.
        apply lt_iff. rewrite value_is. apply Pos. split; auto.
      * apply same.
      * apply lt_iff. exact Sp.
    + apply (prices_accepted P T stated_x placed R); auto. intros n i Hn Hi A G.
      rewrite (is_active_eq P stated_x T placed R) in A by auto. simpl. rewrite mul_eq, Ep. apply Cost; auto. split; auto.
    + apply eqq_iff. simpl. rewrite mul_eq, quo_eq. field. lra.
Qed.

(** The ends of the intervals that enclose w / U^alpha, and an upper bound on the worth of all feasible allocations. The
    worth is taken at the upper ends. *)
Variables s q : nat.
Hypothesis Q0 : (0 < q)%nat.
Hypothesis U0 : forall n i, (n < N)%nat -> (i < K)%nat -> 0 <= u n i.
Variables lo hi : nat -> Q.
Hypothesis Ends : forall n, user P n -> 0 < value P u x n /\ encloses s q (weight P n) (value P u x n) (lo n) (hi n).
Lemma roots_accepted eps : (forall y, feasible P y -> sum N (fun n => if active P n then hi n * value P u y n else 0) <=
    (1 + eps) * sum N (fun n => if active P n then lo n * value P u x n else 0)) ->
  exists V p m, r_u V = u /\ - m <= eps /\ check_root_prices P T (everywhere P T) V s q p m = true.
Proof.
  intros Up. set (spent := rsum N (fun n => if is_active T n then mul (lo n) (value_of P u x n) else 0)).
  assert (Es : spent == sum N (fun n => if active P n then lo n * value P u x n else 0)).
  { unfold spent. rewrite rsum_eq. apply sum_ext. intros n Hn. rewrite (is_active_eq P stated_x T placed R) by auto.
    destruct (active P n); [|reflexivity]. rewrite mul_eq, value_is. reflexivity. }
  assert (Sum : forall y, feasible P y -> sum_of P (fun n i => if active P n then hi n * u n i else 0) y ==
    sum N (fun n => if active P n then hi n * value P u y n else 0)).
  { intros y Y. apply sum_ext. intros n Hn. destruct (active P n).
    - unfold value. rewrite <- sum_scale. apply sum_ext. intros. ring.
    - apply sum_zero. intros. ring. }
  destruct (prices_of_bound P W (fun n i => if active P n then hi n * u n i else 0) ((1 + eps) * spent)) as (p & qq & Pr & Cost & Paid).
  { intros y Y. rewrite Sum by auto. rewrite Es. apply Up. auto. }
  set (V := {| r_u := u; r_value := value_of P u x; r_low := lo; r_high := hi; r_spent := spent |}).
  set (pq := {| on_row := p; on_user := qq |}). exists V, pq, (quo (sub spent (bound P T pq)) spent).
  assert (Term : forall n, user P n -> 0 < lo n * value P u x n).
  { intros n U. destruct (Ends n U) as (A & B & _). apply Qmult_lt_0_compat; auto. }
  assert (Sp : 0 < spent).
  { destruct Somebody as (n & Hn & A). rewrite Es. apply Qlt_le_trans with (1 := Term n (conj Hn A)).
    pose proof (sum_term N (fun n => if active P n then lo n * value P u x n else 0) n) as S.
    cbv beta in S. rewrite A in S. apply S; auto. intros k Hk. destruct (active P k) eqn:Ak; [|lra]. apply Qlt_le_weak, Term. split; auto. }
  assert (Least : spent <= paid P p qq).
  { apply Qle_trans with (sum_of P (fun n i => if active P n then hi n * u n i else 0) x).
    - rewrite Sum, Es by auto. apply sum_le. intros n Hn. destruct (active P n) eqn:A; [|lra].
      destruct (Ends n (conj Hn A)) as (B & C). apply prod_le; [|lra]. apply (enclosed s q _ _ _ _ _ _ Q0 B C C).
    - apply Qle_trans with (2 := costs_at_most P p qq x Pr F). apply sum_le. intros n Hn. apply sum_le. intros i Hi.
      pose proof (f_nonneg P x F n i Hn Hi) as X0. pose proof (gamma_nonneg P W n i Hn Hi).
      destruct (Qlt_le_dec 0 (gamma P n i)); [|rewrite (f_can P x F n i) by (auto; lra); lra].
      apply prod_le; auto. }
  split; [reflexivity|]. split.
  - rewrite quo_eq, sub_eq. unfold pq. rewrite (bound_is P T stated_x placed R).
    assert (L : paid P p qq / spent <= 1 + eps) by (apply quotient_le; lra).
    setoid_replace (- ((spent - paid P p qq) / spent)) with (paid P p qq / spent - 1) by (field; lra). lra.
  - unfold check_root_prices. cbn [everywhere sc_prices sc_bound]. rewrite !andb_true_iff. repeat split.
    + unfold check_ends. rewrite !andb_true_iff. repeat split.
      * apply Nat.ltb_lt. auto.
      * apply all_iff. intros n Hn. destruct (is_active T n) eqn:A; [|reflexivity].
        rewrite (is_active_eq P stated_x T placed R) in A by auto. destruct (Ends n (conj Hn A)) as (B & C & D & G & H).
        cbv zeta. simpl. rewrite same, !andb_true_iff. pose proof (power_ext _ _ s (value_is x n)) as E.
        repeat split; [apply lt_iff; rewrite value_is; auto|apply lt_iff; auto|apply lt_iff; auto| |];
          apply le_iff; rewrite !rpower_eq, E; auto.
      * apply same.
      * apply lt_iff. exact Sp.
    + apply all_iff. intros n Hn. apply all_iff. intros i Hi. apply le_iff. apply U0; auto.
    + apply (prices_accepted P T stated_x placed R); auto. intros n i Hn Hi A G.
      rewrite (is_active_eq P stated_x T placed R) in A by auto. specialize (Cost n i Hn Hi G). cbv beta in Cost. rewrite A in Cost.
      simpl. rewrite mul_eq. exact Cost.
    + apply le_iff. rewrite quo_eq, sub_eq. apply quotient_le; [exact Sp|]. unfold pq. rewrite (bound_is P T stated_x placed R). lra.
    + apply eqq_iff. simpl. rewrite mul_eq, quo_eq. field. lra.
Qed.
End Given.

(** * Existence *)
Variable u : nat -> nat -> Q.
Hypothesis U0 : forall n i, (n < N)%nat -> (i < K)%nat -> 0 <= u n i.
Hypothesis U1 : forall n i, user P n -> (i < K)%nat -> 0 < gamma P n i -> 0 < u n i.
Lemma can_have n : user P n -> exists i, (i < K)%nat /\ 0 < gamma P n i /\ 0 < u n i.
Proof. intros U. destruct (runs_somewhere P n U) as (i & Hi & G). exists i. auto. Qed.

(** Alpha is s/q. *)
Theorem alpha_fair_exists s q eps : (0 < s)%nat -> (0 < q)%nat -> 0 < eps -> exists x, feasible P x /\ alpha_fair P u s q eps x.
Proof.
  intros S0 Q0 E. destruct (nearly_fair_exists P W u U0 can_have s q S0 Q0 eps E) as (x & lo & hi & X & Ends & Up).
  exists x. split; [auto|]. split; [intros n U; apply (Ends n U)|]. intros lo' hi' Ends' y Y. cbv zeta.
  set (pi := fun n => larger (lo' n) (lo n)).
  assert (Pi : forall n, user P n -> lo' n <= pi n /\ pi n <= hi' n /\ lo n <= pi n /\ pi n <= hi n /\ 0 < value P u x n).
  { intros n U. destruct (Ends n U) as [V B]. specialize (Ends' n U).
    pose proof (enclosed s q _ _ _ _ _ _ Q0 V Ends' Ends'). pose proof (enclosed s q _ _ _ _ _ _ Q0 V Ends' B).
    pose proof (enclosed s q _ _ _ _ _ _ Q0 V B Ends'). pose proof (enclosed s q _ _ _ _ _ _ Q0 V B B).
    unfold pi. minmax; repeat split; try lra; auto. }
  specialize (Up y Y).
  assert (L1 : sum N (fun n => if active P n then let gain := value P u y n - value P u x n in smaller (lo' n * gain) (hi' n * gain) else 0) <=
    sum N (fun n => (if active P n then hi n * value P u y n else 0) + -(1) * (if active P n then pi n * value P u x n else 0))).
  { apply sum_le. intros n Hn. destruct (active P n) eqn:A; [|lra]. cbv zeta. destruct (Pi n (conj Hn A)) as (A1 & A2 & A3 & A4 & _).
    set (gain := value P u y n - value P u x n).
    assert (B : pi n * value P u y n <= hi n * value P u y n) by (apply prod_le; [auto|apply (value_nonneg P u U0); auto]).
    destruct (Qlt_le_dec gain 0) as [Ng|Ps].
    - assert (C : pi n * - gain <= hi' n * - gain) by (apply prod_le; lra). unfold gain in *. minmax; lra.
    - assert (C : lo' n * gain <= pi n * gain) by (apply prod_le; lra). unfold gain in *. minmax; lra. }
  rewrite sum_add, sum_scale in L1.
  assert (L2 : sum N (fun n => if active P n then lo n * value P u x n else 0) <= sum N (fun n => if active P n then pi n * value P u x n else 0)).
  { apply sum_le. intros n Hn. destruct (active P n) eqn:A; [|lra]. destruct (Pi n (conj Hn A)) as (_ & _ & A3 & _ & A5). apply prod_le; lra. }
  assert (L3 : sum N (fun n => if active P n then pi n * value P u x n else 0) <= sum N (fun n => if active P n then hi' n * value P u x n else 0)).
  { apply sum_le. intros n Hn. destruct (active P n) eqn:A; [|lra]. destruct (Pi n (conj Hn A)) as (_ & A2 & _ & _ & A5). apply prod_le; lra. }
  pose proof (prod_le_l _ _ (1 + eps) L2 ltac:(lra)). pose proof (prod_le_l _ _ eps L3 ltac:(lra)).
  apply Qle_trans with (1 := L1). clear L1. minmax; lra.
Qed.
Theorem proportional_exists a eps : (0 < a)%nat -> 0 < eps -> exists x, feasible P x /\ proportional P u a eps x.
Proof.
  intros A0 E. destruct (alpha_fair_exists a 1 eps A0 ltac:(lia) E) as (x & X & O). exists x. split; [auto|].
  apply (whole_alpha P W); auto. lra.
Qed.

(** There is an allocation that is alpha fair within the gap, and a certificate of it that the checker accepts. *)
Hypothesis Somebody : exists n, user P n.
Lemma in_tables x : feasible P x -> exists T, check_tables P x T false = true /\ right P x T false /\ feasible P (t_x T) /\
  forall n, (n < N)%nat -> value P u (t_x T) n == value P u x n.
Proof.
  intros X. destruct (tables_exist P W x X) as (T & C & R & E). exists T. split; [auto|]. split; [auto|]. split.
  - apply (feasible_ext P x); auto. intros. symmetry. auto.
  - intros n Hn. apply sum_ext. intros i Hi. rewrite E by auto. reflexivity.
Qed.
Theorem alpha_certificate_exists s q eps : (0 < s)%nat -> (0 < q)%nat -> 0 < eps -> exists x T V p m,
  feasible P x /\ check_tables P x T false = true /\ r_u V = u /\ - m <= eps /\ check_root_prices P T (everywhere P T) V s q p m = true.
Proof.
  intros S0 Q0 E. destruct (nearly_fair_exists P W u U0 can_have s q S0 Q0 eps E) as (x & lo & hi & X & Ends & Up).
  destruct (in_tables x X) as (T & C & R & F & V). exists x, T.
  destruct (roots_accepted T x false R F u Somebody s q Q0 U0 lo hi) with (eps := eps) as (r & p & m & A).
  - intros n U. assert (Hn : (n < N)%nat) by apply U. destruct (Ends n U) as (B & B1 & B2 & B3 & B4).
    pose proof (power_ext _ _ s (V n Hn)) as Pw. unfold encloses. rewrite Pw, V by auto. auto.
  - intros y Y. apply Qle_trans with (1 := Up y Y). apply Qle_lteq. right. apply Qmult_comp; [reflexivity|].
    apply sum_ext. intros n Hn. destruct (active P n); [|reflexivity]. rewrite V by auto. reflexivity.
  - exists r, p, m. auto.
Qed.
End On.

(** The same theorem for tasks instead of a share. Its condition always holds, because every active user can have some
    tasks. *)
Theorem proportional_of_tasks_exists P a eps : well_formed P -> (0 < a)%nat -> 0 < eps ->
  exists x, feasible P x /\ proportional P (fun _ _ => 1) a eps x.
Proof. intros W. apply (proportional_exists P W); intros; lra. Qed.

(** Two allocations that are fair within 0 give every user the same amount. *)
Theorem proportional_unique P u a x y : well_formed P -> (0 < a)%nat -> feasible P x -> feasible P y ->
  proportional P u a 0 x -> proportional P u a 0 y -> forall n, user P n -> value P u x n == value P u y n.
Proof.
  intros W A0 X Y [Px Ox] [Py Oy] n U. cbv zeta in Ox, Oy. specialize (Ox y Y). specialize (Oy x X). rewrite Qmult_0_l in Ox, Oy.
  set (f := fun k => if active P k then weight P k * ((/ power (value P u x k) a - / power (value P u y k) a) *
    (value P u y k - value P u x k)) else 0).
  assert (Less : forall k s t, user P k -> 0 < s -> s < t -> 0 < weight P k * ((/ power s a - / power t a) * (t - s))).
  { intros k s t Uk S L. pose proof (power_pos s a S) as Ps. pose proof (power_pos t a ltac:(lra)) as Pt.
    pose proof (power_lt s t a S L A0) as Pl. apply Qmult_lt_0_compat; [apply (weight_pos P W); apply Uk|].
    apply Qmult_lt_0_compat; [|lra].
    assert (E : / power s a - / power t a == (power t a - power s a) / (power s a * power t a)) by (field; split; lra).
    rewrite E. apply Qlt_shift_div_l; [apply Qmult_lt_0_compat; auto|lra]. }
  assert (Pos : forall k, (k < users P)%nat -> 0 <= f k).
  { intros k Hk. unfold f. destruct (active P k) eqn:A; [|lra]. assert (Uk : user P k) by (split; auto).
    destruct (Q_dec (value P u x k) (value P u y k)) as [[L|L]|L].
    - apply Qlt_le_weak. apply Less; auto.
    - pose proof (Less k _ _ Uk (Py k Uk) L) as S. lra.
    - assert (Z : value P u y k - value P u x k == 0) by lra. rewrite Z. lra. }
  assert (Sum : sum (users P) f <= 0).
  { rewrite (sum_ext (users P) f (fun k =>
      (if active P k then weight P k / power (value P u x k) a * (value P u y k - value P u x k) else 0) +
      (if active P k then weight P k / power (value P u y k) a * (value P u x k - value P u y k) else 0))).
    - rewrite sum_add. lra.
    - intros k _. unfold f, Qdiv. destruct (active P k); ring. }
  pose proof (sum_term (users P) f n Pos ltac:(apply U)) as St. unfold f at 1 in St. destruct U as [Hn An]. rewrite An in St.
  destruct (Q_dec (value P u x n) (value P u y n)) as [[L|L]|L]; auto; exfalso.
  - pose proof (Less n _ _ (conj Hn An) (Px n (conj Hn An)) L). lra.
  - pose proof (Less n _ _ (conj Hn An) (Py n (conj Hn An)) L). lra.
Qed.
