(** Decides alpha fairness if w / U^alpha is not always rational (docs/axioms.md, proportional fairness in rationals).
    Intervals enclose these numbers. The checker compares powers of the ends of the intervals. *)
From Coq Require Import QArith Qreduction Qfield Arith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Arithmetic Checker Repair Soundness Bundle Prices Named Alpha Certificate.
Open Scope Q_scope.

(** The number w / U^(s/q) is the p with p^q U^s = w^q. The number is between lo and hi. *)
Definition encloses (s q : nat) (w U lo hi : Q) : Prop :=
  0 < lo /\ 0 < hi /\ power lo q * power U s <= power w q /\ power w q <= power hi q * power U s.

Section On.
Variable P : problem.
Notation N := (users P). Notation K := (classes P). Notation M := (resources P).

(** The allocation is fair for alpha = s/q up to eps, in the first-order form. Every active user has a positive worth.
    For all rational intervals that enclose the numbers w / U^alpha, the sum of the gains is at most eps times the sum
    of w U^(1 - alpha). The first sum takes each gain at the end of the interval that makes it least. The second sum
    takes the ends that make it largest. The inequality is then true of the numbers themselves, because such intervals
    can be arbitrarily small. *)
Definition alpha_fair_among (possible : allocation -> Prop) (u : nat -> nat -> Q) (s q : nat) (eps : Q) (x : allocation) : Prop :=
  (forall n, user P n -> 0 < value P u x n) /\
  forall lo hi, (forall n, user P n -> encloses s q (weight P n) (value P u x n) (lo n) (hi n)) ->
  forall y, possible y ->
    sum N (fun n => if active P n then
      let gain := value P u y n - value P u x n in smaller (lo n * gain) (hi n * gain) else 0) <=
    larger (eps * sum N (fun n => if active P n then lo n * value P u x n else 0))
           (eps * sum N (fun n => if active P n then hi n * value P u x n else 0)).
Definition alpha_fair := alpha_fair_among (feasible P).

(** * Programs *)
Variable T : tables.
Variable B : scope.
Record roots := { r_u : nat -> nat -> Q; r_value : nat -> Q; r_low : nat -> Q; r_high : nat -> Q; r_spent : Q }.
Variable V : roots.
Notation x := (t_x T).
Definition check_ends (s q : nat) (up : bool) : bool :=
  Nat.ltb 0 q &&
  all N (fun n => if is_active T n then
    let v := r_value V n in let level := rpower v s in let w := rpower (weight P n) q in
    eqq v (value_of P (r_u V) x n) && lt 0 v && lt 0 (r_low V n) && lt 0 (r_high V n) &&
    (* These products are long, so they are compared unreduced. *)
    le (rpower (r_low V n) q * level) w && le w (rpower (r_high V n) q * level) else true) &&
  eqq (r_spent V) (rsum N (fun n => if is_active T n then mul (if up then r_high V n else r_low V n) (r_value V n) else 0)) &&
  lt 0 (r_spent V).
Definition check_root_prices (s q : nat) (p : prices) (m : Q) : bool :=
  check_ends s q false && all N (fun n => all K (fun i => le 0 (r_u V n i))) &&
  sc_prices B (is_active T) (fun n i => mul (r_high V n) (r_u V n i)) p && le m 0 &&
  eqq (mul m (r_spent V)) (sub (r_spent V) (sc_bound B p)).
Definition check_root_better (s q : nat) (y : allocation) (m : Q) : bool :=
  check_ends s q true && check_feasible P T y && sc_keeps B y && lt m 0 &&
  eqq (- mul m (r_spent V)) (rsum N (fun n => if is_active T n then
    let gain := sub (value_of P (r_u V) y n) (r_value V n) in
    mul (if lt gain 0 then r_high V n else r_low V n) gain else 0)).

(** * Soundness *)
Lemma power_pos a n : 0 < a -> 0 < power a n.
Proof. intros A. induction n; simpl; [lra|]. apply Qmult_lt_0_compat; auto. Qed.
Lemma power_le a b n : 0 < a -> a <= b -> power a n <= power b n.
Proof.
  intros A L. induction n; simpl; [lra|]. apply Qle_trans with (b * power a n).
  - apply prod_le; auto. apply Qlt_le_weak, power_pos. auto.
  - apply prod_le_l; auto. lra.
Qed.
Lemma power_lt a b n : 0 < a -> a < b -> (0 < n)%nat -> power a n < power b n.
Proof.
  intros A L Hn. destruct n; [lia|]. simpl. apply Qlt_le_trans with (b * power a n).
  - apply Qmult_lt_compat_r; auto. apply power_pos. auto.
  - apply prod_le_l; [apply power_le; lra|lra].
Qed.
(** Every lower end is at most every upper end. *)
Lemma enclosed s q w U lo hi lo' hi' : (0 < q)%nat -> 0 < U ->
  encloses s q w U lo hi -> encloses s q w U lo' hi' -> lo <= hi'.
Proof.
  intros Q0 Up (A & Bh & C & D) (A' & Bh' & C' & D'). apply Qnot_lt_le. intros L.
  pose proof (power_lt hi' lo q Bh' L Q0) as P0. pose proof (power_pos U s Up) as Us.
  pose proof (Qmult_lt_compat_r _ _ _ Us P0). lra.
Qed.

Hypothesis W : well_formed P.
Variable stated_x : allocation.
Variable placed : bool.
Hypothesis R : right P stated_x T placed.
Variables s q : nat.
Variable possible : allocation -> Prop.
Hypothesis RB : right_scope P possible B.

Lemma ends_user up n : check_ends s q up = true -> (n < N)%nat -> is_active T n = true ->
  (0 < q)%nat /\ r_value V n == value P (r_u V) x n /\ 0 < value P (r_u V) x n /\
  encloses s q (weight P n) (value P (r_u V) x n) (r_low V n) (r_high V n).
Proof.
  intros C Hn An. unfold check_ends in C. rewrite !andb_true_iff, all_iff in C. destruct C as [[[Q0 C] _] _].
  apply Nat.ltb_lt in Q0. specialize (C n Hn). rewrite An in C. cbv zeta in C. rewrite !andb_true_iff in C.
  destruct C as [[[[[C1 C2] C3] C4] C5] C6]. bools. rewrite !rpower_eq in C5, C6.
  assert (E : value_of P (r_u V) x n == value P (r_u V) x n).
  { unfold value_of, value. rewrite rsum_eq. apply sum_ext. intros. apply mul_eq. }
  rewrite E in C1. rewrite (power_ext _ _ s C1) in C5, C6. rewrite C1 in C2.
  split; [auto|]. split; [auto|]. split; [auto|]. unfold encloses. auto.
Qed.
Lemma value_of_is y n : value_of P (r_u V) y n == value P (r_u V) y n.
Proof. unfold value_of, value. rewrite rsum_eq. apply sum_ext. intros. apply mul_eq. Qed.
Lemma spent_of up : check_ends s q up = true ->
  r_spent V == sum N (fun n => if active P n then (if up then r_high V n else r_low V n) * value P (r_u V) x n else 0) /\
  0 < r_spent V.
Proof.
  intros C. pose proof C as C'. unfold check_ends in C'. rewrite !andb_true_iff in C'. destruct C' as [[_ S1] S2]. bools.
  split; auto. rewrite S1, rsum_eq. apply sum_ext. intros n Hn. rewrite <- (is_active_eq P stated_x T placed R) by auto.
  destruct (is_active T n) eqn:An; [|reflexivity]. destruct (ends_user up n C Hn An) as (_ & E & _). rewrite mul_eq, E. reflexivity.
Qed.

Theorem check_root_prices_sound p m : check_root_prices s q p m = true -> alpha_fair_among possible (r_u V) s q (- m) x.
Proof.
  unfold check_root_prices. rewrite !andb_true_iff. intros [[[[C U0] Cp] M0] E]. rewrite all_iff in U0.
  apply le_iff in M0. apply eqq_iff in E. rewrite mul_eq, sub_eq in E. split.
  - intros n U. destruct (user_is P stated_x T placed R n U) as [Hn An]. apply (ends_user false n C Hn An).
  - intros lo hi En y Y0. pose proof (sc_feasible _ _ _ RB y Y0) as Y. destruct (spent_of false C) as [Sp Sp0]. cbv iota in Sp.
    (* a number between the ends of both intervals *)
    set (pi := fun n => larger (lo n) (r_low V n)).
    set (vx := value P (r_u V) x) in *. set (vy := value P (r_u V) y).
    assert (Pi : forall n, user P n -> lo n <= pi n /\ pi n <= hi n /\ r_low V n <= pi n /\ pi n <= r_high V n /\ 0 < vx n).
    { intros n U. destruct (user_is P stated_x T placed R n U) as [Hn An].
      destruct (ends_user false n C Hn An) as (Q0 & _ & Up & Be). specialize (En n U).
      pose proof (enclosed _ _ _ _ _ _ _ _ Q0 Up En En). pose proof (enclosed _ _ _ _ _ _ _ _ Q0 Up En Be).
      pose proof (enclosed _ _ _ _ _ _ _ _ Q0 Up Be En). pose proof (enclosed _ _ _ _ _ _ _ _ Q0 Up Be Be).
      unfold pi. minmax; repeat split; try lra; auto. }
    assert (Vy : forall n, (n < N)%nat -> 0 <= vy n).
    { intros n Hn. apply sum_nonneg. intros i Hi. specialize (U0 n Hn). rewrite all_iff in U0. specialize (U0 i Hi).
      apply le_iff in U0. apply prod_nonneg; auto. apply (f_nonneg P y Y); auto. }
    assert (L1 : sum N (fun n => if active P n then let gain := vy n - vx n in smaller (lo n * gain) (hi n * gain) else 0) <=
      sum N (fun n => (if active P n then pi n * vy n else 0) + -(1) * (if active P n then pi n * vx n else 0))).
    { apply sum_le. intros n Hn. destruct (active P n) eqn:An; [|lra]. cbv zeta.
      destruct (Pi n (conj Hn An)) as (A1 & A2 & _).
      destruct (Qlt_le_dec (vy n - vx n) 0) as [Ng|Ps].
      - assert (B1 : pi n * (-(vy n - vx n)) <= hi n * (-(vy n - vx n))) by (apply prod_le; lra). minmax; lra.
      - assert (B1 : lo n * (vy n - vx n) <= pi n * (vy n - vx n)) by (apply prod_le; lra). minmax; lra. }
    rewrite sum_add, sum_scale in L1.
    assert (L2 : sum N (fun n => if active P n then pi n * vy n else 0) <= sc_bound B p).
    { pose proof (sc_duality _ _ _ RB (is_active T) (fun n i => mul (r_high V n) (r_u V n i)) p y Cp Y0) as Bd.
      apply Qle_trans with (sum N (fun n => sum K (fun i => mul (r_high V n) (r_u V n i) * y n i))).
      - apply sum_le. intros n Hn. destruct (active P n) eqn:An.
        + destruct (Pi n (conj Hn An)) as (_ & _ & _ & A4 & _).
          rewrite (sum_ext K _ (fun i => r_high V n * (r_u V n i * y n i))) by (intros; rewrite mul_eq; ring).
          rewrite sum_scale. fold (value P (r_u V) y n). fold vy. apply prod_le; auto.
        + rewrite sum_zero; [lra|]. intros i Hi. rewrite (inactive_entry P W y n i) by auto. ring.
      - apply Bd. intros n i Hn Hi An. rewrite (is_active_eq P stated_x T placed R) in An by auto.
        rewrite (inactive_entry P W y n i) by auto. lra. }
    assert (L3 : r_spent V <= sum N (fun n => if active P n then pi n * vx n else 0)).
    { rewrite Sp. apply sum_le. intros n Hn. destruct (active P n) eqn:An; [|lra].
      destruct (Pi n (conj Hn An)) as (_ & _ & A3 & _ & A5). apply prod_le; lra. }
    assert (L4 : sum N (fun n => if active P n then pi n * vx n else 0) <= sum N (fun n => if active P n then hi n * vx n else 0)).
    { apply sum_le. intros n Hn. destruct (active P n) eqn:An; [|lra].
      destruct (Pi n (conj Hn An)) as (_ & A2 & _ & _ & A5). apply prod_le; lra. }
    pose proof (prod_le_l _ _ (1 - m) L3 ltac:(lra)) as L5. pose proof (prod_le_l _ _ (- m) L4 ltac:(lra)) as L6.
    fold vy vx. minmax; lra.
Qed.

Theorem check_root_better_sound y m : check_root_better s q y m = true ->
  forall eps, alpha_fair_among possible (r_u V) s q eps x -> - m <= eps.
Proof.
  unfold check_root_better. rewrite !andb_true_iff. intros [[[[C Fe] Ke] M0] E] eps [_ O].
  apply (check_feasible_sound P stated_x T placed R) in Fe. apply (sc_kept _ _ _ RB) in Ke; auto. clear Fe. rename Ke into Fe. apply lt_iff in M0. apply eqq_iff in E. rewrite mul_eq, rsum_eq in E.
  destruct (spent_of true C) as [Sp Sp0]. cbv iota in Sp.
  specialize (O (r_low V) (r_high V)). cbv zeta in O.
  assert (Bo : forall n, user P n -> encloses s q (weight P n) (value P (r_u V) x n) (r_low V n) (r_high V n)).
  { intros n U. destruct (user_is P stated_x T placed R n U) as [Hn An]. apply (ends_user true n C Hn An). }
  specialize (O Bo y Fe).
  set (all := sum N (fun n => if active P n then r_high V n * value P (r_u V) x n else 0)) in *.
  assert (L : - m * r_spent V <= sum N (fun n => if active P n then
    smaller (r_low V n * (value P (r_u V) y n - value P (r_u V) x n)) (r_high V n * (value P (r_u V) y n - value P (r_u V) x n)) else 0)).
  { setoid_replace (- m * r_spent V) with (- (m * r_spent V)) by ring. rewrite E. apply sum_le. intros n Hn.
    rewrite (is_active_eq P stated_x T placed R) by auto. destruct (active P n) eqn:An; [|lra].
    rewrite <- (is_active_eq P stated_x T placed R) in An by auto.
    destruct (ends_user true n C Hn An) as (Q0 & Ev & Up & En). pose proof (enclosed _ _ _ _ _ _ _ _ Q0 Up En En) as Lh.
    cbv zeta. set (gain := value P (r_u V) y n - value P (r_u V) x n).
    assert (Eg : sub (value_of P (r_u V) y n) (r_value V n) == gain) by (rewrite sub_eq, value_of_is, Ev; reflexivity).
    rewrite mul_eq. rewrite (lt_ext _ 0 gain 0 Eg ltac:(reflexivity)), Eg. destruct (lt gain 0) eqn:Lt; bools.
    - assert (r_low V n * - gain <= r_high V n * - gain) by (apply prod_le; lra). minmax; lra.
    - assert (r_low V n * gain <= r_high V n * gain) by (apply prod_le; lra). minmax; lra. }
  assert (Lh : 0 <= sum N (fun n => if active P n then r_low V n * value P (r_u V) x n else 0) <= r_spent V).
  { rewrite Sp. unfold all. split; [apply sum_nonneg|apply sum_le]; intros n Hn; destruct (active P n) eqn:An; try lra;
      destruct (Bo n (conj Hn An)) as (B1 & B2 & _); rewrite <- (is_active_eq P stated_x T placed R) in An by auto;
      destruct (ends_user true n C Hn An) as (Q0 & _ & Up & En); pose proof (enclosed _ _ _ _ _ _ _ _ Q0 Up En En) as Lh.
    - apply prod_nonneg; lra.
    - apply prod_le; lra. }
  apply Qnot_lt_le. intros Lt. assert (Lt' : eps * r_spent V < - m * r_spent V) by (apply Qmult_lt_compat_r; auto).
  assert (Pos : 0 < - m * r_spent V) by (apply Qmult_lt_0_compat; lra).
  assert (Es : eps * all == eps * r_spent V) by (rewrite Sp; reflexivity).
  destruct (Qlt_le_dec eps 0) as [Ng|Ps].
  - assert (0 <= - eps * sum N (fun n => if active P n then r_low V n * value P (r_u V) x n else 0)) by (apply prod_nonneg; lra).
    minmax; lra.
  - pose proof (prod_le_l _ _ eps (proj2 Lh) Ps). minmax; lra.
Qed.

Lemma check_root_nothing_sound n v : check_nothing P T B v n = true ->
  forall eps, ~ alpha_fair_among possible (v_u v) s q eps x.
Proof.
  unfold check_nothing. intros H eps [O _]. bools. apply Nat.ltb_lt in H.
  assert (U : user P n) by (eapply is_user; eauto). specialize (O n U).
  assert (E : value_of P (v_u v) x n == value P (v_u v) x n).
  { unfold value_of, value. rewrite rsum_eq. apply sum_ext. intros. apply mul_eq. }
  lra.
Qed.
End On.

(** If the worths have other but equal values, the statement stays the same. *)
Lemma alpha_ext P possible u v s q eps x : (forall n i, (n < users P)%nat -> (i < classes P)%nat -> u n i == v n i) ->
  alpha_fair_among P possible u s q eps x -> alpha_fair_among P possible v s q eps x.
Proof.
  intros E [H O].
  assert (V : forall y n, (n < users P)%nat -> value P u y n == value P v y n).
  { intros y n Hn. apply sum_ext. intros i Hi. rewrite E by auto. reflexivity. }
  split; [intros n U; rewrite <- V by apply U; auto|]. intros lo hi B y Y.
  assert (B' : forall n, user P n -> encloses s q (weight P n) (value P u x n) (lo n) (hi n)).
  { intros n U. destruct (B n U) as (B1 & B2 & B3 & B4). assert (Hn : (n < users P)%nat) by apply U.
    pose proof (power_ext _ _ s (V x n Hn)) as Pw. unfold encloses. rewrite Pw. auto. }
  specialize (O lo hi B' y Y).
  assert (S1 : forall f : nat -> Q, sum (users P) (fun n => if active P n then f n * value P u x n else 0) ==
    sum (users P) (fun n => if active P n then f n * value P v x n else 0)).
  { intros f. apply sum_ext. intros n Hn. destruct (active P n); [rewrite V by auto|]; reflexivity. }
  assert (S2 : sum (users P) (fun n => if active P n then
      let gain := value P v y n - value P v x n in smaller (lo n * gain) (hi n * gain) else 0) ==
    sum (users P) (fun n => if active P n then
      let gain := value P u y n - value P u x n in smaller (lo n * gain) (hi n * gain) else 0)).
  { apply sum_ext. intros n Hn. destruct (active P n); [|reflexivity]. cbv zeta. apply smaller_ext; rewrite !V by auto; reflexivity. }
  rewrite S2. apply Qle_trans with (1 := O). apply Qle_lteq. right. apply larger_ext; rewrite S1; reflexivity.
Qed.

(** If alpha is whole, this is proportional fairness as Spec.v states it. *)
Section Whole.
Variable P : problem.
Hypothesis W : well_formed P.
Variable possible : allocation -> Prop.
Lemma exactly s w U : 0 < w -> 0 < U -> encloses s 1 w U (w / power U s) (w / power U s).
Proof.
  intros Wp Up. pose proof (power_pos U s Up) as Us.
  assert (L : 0 < w / power U s) by (unfold Qdiv; apply Qmult_lt_0_compat; auto; apply Qinv_lt_0_compat; auto).
  assert (E : power (w / power U s) 1 * power U s == power w 1) by (cbn [power]; field; lra).
  unfold encloses. rewrite E. repeat split; auto; lra.
Qed.
Lemma only_one s w U lo hi : 0 < w -> 0 < U -> encloses s 1 w U lo hi -> lo <= w / power U s <= hi.
Proof.
  intros Wp Up B. pose proof (exactly s w U Wp Up) as X.
  split; [apply (enclosed s 1 w U lo hi _ _ ltac:(lia) Up B X)|apply (enclosed s 1 w U _ _ lo hi ltac:(lia) Up X B)].
Qed.
Lemma proportional_more u s eps eps' x : eps <= eps' -> proportional_among P possible u s eps x -> proportional_among P possible u s eps' x.
Proof.
  intros L [H O]. split; auto. cbv zeta in *. intros y Y. apply Qle_trans with (1 := O y Y). apply prod_le; auto.
  apply sum_nonneg. intros n Hn. destruct (active P n) eqn:A; [|lra]. specialize (H n (conj Hn A)).
  pose proof (weight_pos P W n Hn). pose proof (power_pos (value P u x n) s H).
  apply prod_nonneg; [apply quotient_nonneg|]; lra.
Qed.
Theorem whole_alpha u s eps x : 0 <= eps -> alpha_fair_among P possible u s 1 eps x -> proportional_among P possible u s eps x.
Proof.
  intros Ep [H O]. split; auto. cbv zeta. intros y Y.
  set (pr := fun n => weight P n / power (value P u x n) s).
  assert (B : forall n, user P n -> encloses s 1 (weight P n) (value P u x n) (pr n) (pr n)).
  { intros n U. apply exactly; auto. apply (weight_pos P W). apply U. }
  specialize (O pr pr B y Y). cbv zeta in O.
  apply Qle_trans with (sum (users P) (fun n => if active P n then
    smaller (pr n * (value P u y n - value P u x n)) (pr n * (value P u y n - value P u x n)) else 0)).
  - apply sum_le. intros n Hn. destruct (active P n); [|lra]. fold (pr n). minmax; lra.
  - apply Qle_trans with (1 := O). unfold pr. minmax; lra.
Qed.
Theorem alpha_whole u s eps x : 0 <= eps -> proportional_among P possible u s eps x -> alpha_fair_among P possible u s 1 eps x.
Proof.
  intros Ep [H O]. split; auto. cbv zeta in O. intros lo hi B y Y. specialize (O y Y).
  assert (In : forall n, user P n -> lo n <= weight P n / power (value P u x n) s <= hi n).
  { intros n U. apply only_one; auto. apply (weight_pos P W). apply U. }
  apply Qle_trans with (eps * sum (users P) (fun n => if active P n then hi n * value P u x n else 0)); [|minmax; lra].
  apply Qle_trans with (eps * sum (users P) (fun n => if active P n then weight P n / power (value P u x n) s * value P u x n else 0)).
  2:{ apply prod_le_l; auto. apply sum_le. intros n Hn. destruct (active P n) eqn:A; [|lra].
      specialize (In n (conj Hn A)). specialize (H n (conj Hn A)). apply prod_le; lra. }
  apply Qle_trans with (2 := O). apply sum_le. intros n Hn. destruct (active P n) eqn:A; [|lra]. cbv zeta.
  specialize (In n (conj Hn A)). set (pr := weight P n / power (value P u x n) s) in *.
  set (gain := value P u y n - value P u x n). destruct (Qlt_le_dec gain 0) as [Ng|Ps].
  - assert (pr * - gain <= hi n * - gain) by (apply prod_le; lra). minmax; lra.
  - assert (lo n * gain <= pr * gain) by (apply prod_le; lra). minmax; lra.
Qed.
End Whole.
