(** Decides proportional fairness and alpha fairness within a gap, by prices. *)
From Coq Require Import QArith Qreduction Qfield Arith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Arithmetic Checker Repair Soundness Bundle Prices.
Open Scope Q_scope.

(** * Programs *)
Section Programs.
Variable P : problem.
Variable T : tables.
Notation N := (users P). Notation K := (classes P). Notation M := (resources P).
Notation x := (t_x T). Notation g := (t_g T).
Variable B : scope.
Notation check_prices := (sc_prices B). Notation bound := (sc_bound B).

(** Proportional fairness. [v_price] is w / U^a. [v_spent] is the sum of w U^(1-a), and the gap is a fraction of this
    sum. *)
(** [rpower] computes powers of a reduced number by repeated squaring. A power of a reduced number is reduced, so no
    common divisor is computed. *)
Fixpoint squared (q : Q) (p : positive) : Q :=
  match p with
  | xH => q
  | xO p => let h := squared q p in h * h
  | xI p => let h := squared q p in q * (h * h)
  end.
Definition rpower (q : Q) (n : nat) : Q := match n with O => 1 | S k => squared (Qred q) (Pos.of_succ_nat k) end.
Definition value_of (u : nat -> nat -> Q) (y : allocation) (n : nat) : Q := rsum K (fun i => mul (u n i) (y n i)).
Record worths := { v_u : nat -> nat -> Q; v_value : nat -> Q; v_price : nat -> Q; v_spent : Q }.
Variable V : worths.
Definition check_worths (a : nat) : bool :=
  all N (fun n => if is_active T n then eqq (v_value V n) (value_of (v_u V) x n) && lt 0 (v_value V n) &&
    eqq (v_price V n) (quo (weight P n) (rpower (v_value V n) a)) else true) &&
  eqq (v_spent V) (rsum N (fun n => if is_active T n then mul (v_price V n) (v_value V n) else 0)) &&
  lt 0 (v_spent V).
Definition check_proportional (a : nat) (p : prices) (m : Q) : bool :=
  check_worths a &&
  check_prices (is_active T) (fun n i => mul (v_price V n) (v_u V n i)) p &&
  eqq (mul m (v_spent V)) (sub (v_spent V) (bound p)).
Definition check_better (a : nat) (y : allocation) (m : Q) : bool :=
  check_worths a && check_feasible P T y && sc_keeps B y && lt m 0 &&
  eqq (- mul m (v_spent V))
    (rsum N (fun n => if is_active T n then mul (v_price V n) (sub (value_of (v_u V) y n) (v_value V n)) else 0)).
Definition check_nothing (n : nat) : bool :=
  Nat.ltb n N && is_active T n && sc_open B n && le (value_of (v_u V) x n) 0.
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
Variable possible : allocation -> Prop.
Variable B : scope.
Hypothesis RB : right_scope P possible B.

Lemma power_ext a b n : a == b -> power a n == power b n.
Proof. intros E. induction n; simpl; [reflexivity|]. rewrite IHn, E. reflexivity. Qed.
Lemma power_add q m n : power q (m + n) == power q m * power q n.
Proof. induction m; simpl; [ring|]. rewrite IHm. ring. Qed.
Lemma squared_eq q p : squared q p == power q (Pos.to_nat p).
Proof.
  induction p as [p IH|p IH|]; simpl squared.
  - rewrite Pos2Nat.inj_xI. simpl power. rewrite Nat.add_0_r, power_add, IH. reflexivity.
  - rewrite Pos2Nat.inj_xO. simpl. rewrite Nat.add_0_r, power_add, IH. reflexivity.
  - rewrite Pos2Nat.inj_1. simpl. ring.
Qed.
Lemma rpower_eq q n : rpower q n == power q n.
Proof.
  destruct n as [|k]; [reflexivity|]. unfold rpower. rewrite squared_eq, SuccNat2Pos.id_succ. apply power_ext, Qred_correct.
Qed.

Section Worths.
Variable V : worths.
Variable a : nat.
Hypothesis C : check_worths P T V a = true.
Notation u := (v_u V).
Definition price (n : nat) : Q := weight P n / power (value P u x n) a.

Lemma value_of_eq y n : value_of P u y n == value P u y n.
Proof. unfold value_of, value. rewrite rsum_eq. apply sum_ext. intros. apply mul_eq. Qed.
Lemma worths_user n : (n < N)%nat -> is_active T n = true ->
  v_value V n == value P u x n /\ 0 < value P u x n /\ v_price V n == price n.
Proof.
  intros Hn An. unfold check_worths in C. bools. specialize (H n Hn). rewrite An in H. bools.
  rewrite value_of_eq in H. rewrite <- H. repeat split; auto; try reflexivity.
  rewrite H2, quo_eq, rpower_eq. unfold price. rewrite (power_ext _ _ a H). reflexivity.
Qed.
Lemma spent_is : v_spent V == sum N (fun n => if active P n then price n * value P u x n else 0) /\ 0 < v_spent V.
Proof.
  split; [|unfold check_worths in C; bools; auto].
  assert (S : v_spent V == rsum N (fun n => if is_active T n then mul (v_price V n) (v_value V n) else 0))
    by (unfold check_worths in C; bools; auto).
  rewrite S, rsum_eq. apply sum_ext. intros n Hn. rewrite <- (is_active_eq P stated_x T placed R) by auto.
  destruct (is_active T n) eqn:An; [|reflexivity].
  destruct (worths_user n Hn An) as (E1 & _ & E2). rewrite mul_eq, E1, E2. reflexivity.
Qed.

Theorem check_proportional_sound p m : check_proportional P T B V a p m = true -> proportional_among P possible u a (- m) x.
Proof.
  unfold check_proportional. intros H. bools. split.
  - intros n U. destruct (user_is P stated_x T placed R n U) as [Hn An]. apply worths_user; auto.
  - intros pr y Y0. pose proof (sc_feasible _ _ _ RB y Y0) as Y. destruct spent_is as [Sp Sp0].
    change (fun n => if active P n then pr n * value P u x n else 0) with
      (fun n => if active P n then price n * value P u x n else 0). rewrite <- Sp.
    rewrite mul_eq, sub_eq in H0.
    assert (Bd : sum N (fun n => sum K (fun i => mul (v_price V n) (u n i) * (if active P n then y n i else 0))) <= sc_bound B p).
    { rewrite (sum_ext N _ (fun n => sum K (fun i => mul (v_price V n) (u n i) * y n i))).
      2:{ intros n Hn. apply sum_ext. intros i Hi. destruct (active P n) eqn:An; [reflexivity|].
          rewrite (inactive_entry P W y n i) by auto. reflexivity. }
      apply (sc_duality _ _ _ RB (is_active T) (fun n i => mul (v_price V n) (u n i))); auto.
      intros n i Hn Hi An. rewrite (is_active_eq P stated_x T placed R) in An by auto.
      rewrite (inactive_entry P W y n i) by auto. lra. }
    rewrite (sum_ext N _ (fun n => sum K (fun i => mul (v_price V n) (u n i) * (if active P n then y n i else 0)) +
        (-1) * (if active P n then price n * value P u x n else 0))).
    + rewrite sum_add, sum_scale, <- Sp. lra.
    + intros n Hn. destruct (active P n) eqn:An.
      * rewrite <- (is_active_eq P stated_x T placed R) in An by auto.
        destruct (worths_user n Hn An) as (_ & _ & E).
        rewrite (sum_ext K _ (fun i => price n * (u n i * y n i))).
        -- rewrite sum_scale. change (pr n) with (price n). unfold value at 1. ring.
        -- intros i Hi. rewrite mul_eq, E. ring.
      * rewrite sum_zero; [ring|]. intros. ring.
Qed.

Theorem check_better_sound y m : check_better P T B V a y m = true ->
  forall eps, proportional_among P possible u a eps x -> - m <= eps.
Proof.
  unfold check_better. intros H eps [_ O]. bools.
  apply (check_feasible_sound P stated_x T placed R) in H3. apply (sc_kept _ _ _ RB) in H2; auto. destruct spent_is as [Sp Sp0].
  specialize (O y H2). cbv zeta in O.
  change (fun n => if active P n then weight P n / power (value P u x n) a * value P u x n else 0) with
    (fun n => if active P n then price n * value P u x n else 0) in O. rewrite <- Sp in O.
  apply (below eps (- m) (v_spent V)); auto.
  apply Qle_trans with (2 := O). rewrite mul_eq, rsum_eq in H0.
  assert (E : - m * v_spent V == - (m * v_spent V)) by ring. rewrite E, H0.
  apply sum_le. intros n Hn. rewrite <- (is_active_eq P stated_x T placed R) by auto.
  destruct (is_active T n) eqn:An; [|lra].
  destruct (worths_user n Hn An) as (E1 & _ & E2).
  rewrite mul_eq, sub_eq, value_of_eq, E1, E2. unfold price. lra.
Qed.
End Worths.
Theorem check_nothing_sound V n : check_nothing P T B V n = true -> forall a eps, ~ proportional_among P possible (v_u V) a eps x.
Proof.
  unfold check_nothing. intros H a eps [O _]. bools. apply Nat.ltb_lt in H.
  assert (U : user P n) by (eapply is_user; eauto). specialize (O n U).
  assert (E : value_of P (v_u V) x n == value P (v_u V) x n).
  { unfold value_of, value. rewrite rsum_eq. apply sum_ext. intros. apply mul_eq. }
  lra.
Qed.
End Sound.
