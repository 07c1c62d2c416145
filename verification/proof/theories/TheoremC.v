(** Proves Theorem C (docs/theory.md, section 6). On one pool, in the fluid limit, greedy earns at least the fraction 1
    - (1 - 1/J)^J of the reward of any plan. *)
From Coq Require Import QArith Qround Qfield Arith ZArith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Checker Soundness Reservation ReservationRun.
Import ListNotations.
Open Scope Q_scope.

(** * Powers and means *)
Fixpoint power (b : Q) (n : nat) : Q := match n with O => 1 | S n => b * power b n end.
Definition q (n : nat) : Q := inject_Z (Z.of_nat n).
Fixpoint total (l : list Q) : Q := match l with [] => 0 | a :: l => a + total l end.
Fixpoint product (l : list Q) : Q := match l with [] => 1 | a :: l => a * product l end.

Lemma q_succ n : q (S n) == q n + 1.
Proof. unfold q. rewrite Nat2Z.inj_succ. unfold Z.succ. rewrite inject_Z_plus. reflexivity. Qed.
Lemma q_nonneg n : 0 <= q n.
Proof. unfold q. change 0 with (inject_Z 0). rewrite <- Zle_Qle. lia. Qed.
Lemma q_add m n : q (m + n) == q m + q n.
Proof. unfold q. rewrite Nat2Z.inj_add, inject_Z_plus. reflexivity. Qed.
Lemma power_nonneg b n : 0 <= b -> 0 <= power b n.
Proof. intros H. induction n; simpl; [lra|]. apply prod_nonneg; auto. Qed.
Lemma power_le a b n : 0 <= a -> a <= b -> power a n <= power b n.
Proof.
  intros H0 H. induction n; simpl; [lra|].
  apply Qle_trans with (a * power b n); [apply prod_le_l|apply prod_le]; auto. apply power_nonneg. lra.
Qed.
Lemma power_ext a b n : a == b -> power a n == power b n.
Proof. intros H. induction n; simpl; [reflexivity|]. apply Qmult_comp; auto. Qed.

(** The tangent of the (n+1)-th power at a is below the power. *)
Lemma tangent n a m : 0 <= a -> 0 <= m -> (q n + 1) * power a n * m <= power m (S n) + q n * power a (S n).
Proof.
  intros Ha Hm. induction n.
  - change (q 0) with 0. simpl. lra.
  - rewrite q_succ in *. simpl power in *.
    set (x := power a n) in *. set (y := power m n) in *.
    assert (0 <= (m - a) * (m * y - a * x)).
    { destruct (Qlt_le_dec a m).
      - apply prod_nonneg; [lra|]. pose proof (power_le a m (S n) Ha) as L. simpl in L. fold x y in L. lra.
      - assert (L : m * y <= a * x) by (apply (power_le m a (S n)); auto).
        setoid_replace ((m - a) * (m * y - a * x)) with ((a - m) * (a * x - m * y)) by ring.
        apply prod_nonneg; lra. }
    pose proof (prod_le_l _ _ _ IHn Ha). lra.
Qed.

(** The geometric mean is at most the arithmetic mean. *)
Lemma means l : Forall (fun a => 0 <= a) l -> forall m, q (length l) * m == total l ->
  product l <= power m (length l).
Proof.
  induction 1 as [|a l Ha H IH]; intros m E; [simpl; lra|].
  assert (T : 0 <= total l) by (clear - H; induction H; simpl; lra).
  simpl length in *. simpl total in E. simpl product. set (n := length l) in *. rewrite q_succ in E.
  set (m' := total l / q n).
  assert (E' : q n * m' == total l).
  { unfold m', n. destruct l as [|b l].
    - simpl length. simpl total. change (q 0) with 0. lra.
    - field. simpl length. rewrite q_succ. pose proof (q_nonneg (length l)). lra. }
  assert (M' : 0 <= m').
  { unfold m', Qdiv. apply prod_nonneg; auto. apply Qinv_le_0_compat, q_nonneg. }
  assert (M : 0 <= m).
  { destruct (Qlt_le_dec m 0) as [L|]; auto. exfalso. pose proof (q_nonneg n).
    assert (0 < (q n + 1) * (- m)) by (apply Qmult_lt_0_compat; lra). lra. }
  pose proof (prod_le_l _ _ _ (IH m' E') Ha) as L.
  pose proof (tangent n m' m M' M) as B.
  apply Qle_trans with (1 := L).
  setoid_replace a with ((q n + 1) * m - q n * m') by (rewrite E, E'; ring).
  simpl power in B. simpl power. lra.
Qed.

Lemma total_app l l' : total (l ++ l') == total l + total l'.
Proof. induction l; simpl; [ring|]. rewrite IHl. ring. Qed.
Lemma product_app l l' : product (l ++ l') == product l * product l'.
Proof. induction l; simpl; [ring|]. rewrite IHl. ring. Qed.

(** t_1, ..., t_P are fractions of a whole, and P is at most J. *)
Lemma parts_of_one l J : Forall (fun t => 0 <= t <= 1) l -> total l == 1 -> (length l <= J)%nat ->
  product (map (fun t => 1 - t) l) <= power (1 - 1 / q J) J.
Proof.
  intros H T L. set (ones := repeat 1 (J - length l)).
  assert (O : product ones == 1) by
    (unfold ones; clear; generalize (J - length l)%nat as n; induction n; simpl; [reflexivity|rewrite IHn; ring]).
  assert (O' : total ones == q (J - length l)).
  { unfold ones. clear. generalize (J - length l)%nat as n. induction n; [reflexivity|].
    simpl total. rewrite IHn, q_succ. ring. }
  assert (T' : total (map (fun t => 1 - t) l) == q (length l) - 1).
  { rewrite <- T. clear. induction l; [reflexivity|]. simpl length. simpl map. simpl total.
    rewrite IHl, q_succ. ring. }
  assert (N : length (map (fun t => 1 - t) l ++ ones) = J).
  { rewrite app_length, map_length. unfold ones. rewrite repeat_length. lia. }
  pose proof (means (map (fun t => 1 - t) l ++ ones)) as M. rewrite N in M.
  assert (Eq : product (map (fun t => 1 - t) l ++ ones) == product (map (fun t => 1 - t) l)).
  { rewrite product_app, O. ring. }
  rewrite <- Eq. apply M; clear M Eq.
  - apply Forall_app. split.
    + rewrite Forall_map. eapply Forall_impl; [|exact H]. intros a [? ?]. lra.
    + apply Forall_forall. intros a I. apply repeat_spec in I. rewrite I. lra.
  - rewrite total_app, T', O'.
    assert (q J == q (length l) + q (J - length l)).
    { rewrite <- q_add. replace (length l + (J - length l))%nat with J by lia. reflexivity. }
    assert (~ q J == 0).
    { destruct l; [simpl in T; lra|]. simpl length in *. rewrite q_succ in H0.
      pose proof (q_nonneg (length l)). pose proof (q_nonneg (J - S (length l))). lra. }
    setoid_replace (q J * (1 - 1 / q J)) with (q J - 1) by (field; auto). lra.
Qed.

(** * Less than 1/e *)

(** 1/0! + 1/1! + ... + 1/n!, which is below e and tends to it *)
Fixpoint inverse_factorial (i : nat) : Q := match i with O => 1 | S i' => inverse_factorial i' / q i end.
Definition euler (n : nat) : Q := sum (S n) inverse_factorial.

Section Binomials.
Variable x : Q.
Hypothesis X0 : 0 <= x.
Hypothesis X1 : x <= 1.
(** The coefficient of x^i in (1 - x)^-m, times x^i *)
Fixpoint term (m i : nat) : Q :=
  match m with
  | O => match i with O => 1 | S _ => 0 end
  | S m' => (fix go i := match i with O => 1 | S i' => term m' (S i') + x * go i' end) i
  end.
Lemma term_succ m i : term (S m) (S i) = term m (S i) + x * term (S m) i. Proof. reflexivity. Qed.
Lemma term_zero m : term m 0 = 1. Proof. destruct m; reflexivity. Qed.
Lemma term_nonneg m : forall i, 0 <= term m i.
Proof.
  induction m; intros i; [destruct i; simpl; lra|]. induction i; [simpl; lra|]. rewrite term_succ.
  pose proof (prod_nonneg _ _ X0 IHi). specialize (IHm (S i)). lra.
Qed.
Lemma terms_succ m n : sum (S n) (term (S m)) == sum (S n) (term m) + x * sum n (term (S m)).
Proof.
  induction n; [simpl sum; rewrite !term_zero; ring|].
  change (sum (S (S n)) (term (S m))) with (sum (S n) (term (S m)) + term (S m) (S n)).
  change (sum (S (S n)) (term m)) with (sum (S n) (term m) + term m (S n)).
  change (sum (S n) (term (S m))) with (sum n (term (S m)) + term (S m) n) at 2.
  rewrite IHn, term_succ. ring.
Qed.
Lemma terms_bounded m n : power (1 - x) m * sum (S n) (term m) <= 1.
Proof.
  induction m.
  - simpl power. assert (E : sum (S n) (term 0) == 1); [|lra].
    induction n; [reflexivity|]. change (sum (S (S n)) (term 0)) with (sum (S n) (term 0) + 0). lra.
  - assert (L : (1 - x) * sum (S n) (term (S m)) <= sum (S n) (term m)).
    { pose proof (terms_succ m n) as E. pose proof (prod_nonneg _ _ X0 (term_nonneg (S m) n)) as T.
      change (sum (S n) (term (S m))) with (sum n (term (S m)) + term (S m) n) in *. lra. }
    simpl power. assert (P : 0 <= power (1 - x) m) by (apply power_nonneg; lra).
    pose proof (prod_le_l _ _ _ L P). lra.
Qed.
Lemma term_large m : forall i, power (q m * x) i * inverse_factorial i <= term m i.
Proof.
  induction m; intros i.
  - destruct i; simpl; [lra|]. change (q 0) with 0. lra.
  - induction i; [simpl; lra|]. rewrite term_succ. specialize (IHm (S i)).
    pose proof (prod_le_l _ _ _ IHi X0) as L.
    assert (Qi : 0 < q (S i)) by (rewrite q_succ; pose proof (q_nonneg i); lra).
    assert (F : 0 <= inverse_factorial i).
    { clear. induction i; simpl; [lra|]. unfold Qdiv. apply prod_nonneg; auto. apply Qinv_le_0_compat, q_nonneg. }
    set (a := q (S m) * x) in *. set (b := q m * x) in *.
    assert (A : 0 <= a) by (apply prod_nonneg; auto; apply q_nonneg).
    assert (B : 0 <= b) by (apply prod_nonneg; auto; apply q_nonneg).
    assert (Ab : b == a - x) by (unfold a, b; rewrite q_succ; ring).
    (* a^(i+1) <= b^(i+1) + (i+1) x a^i *)
    assert (T : power a (S i) <= power b (S i) + q (S i) * x * power a i).
    { pose proof (tangent i a b A B) as T. simpl power in *. rewrite q_succ.
      setoid_replace ((q i + 1) * power a i * b) with ((q i + 1) * power a i * (a - x)) in T
        by (apply Qmult_comp; [reflexivity|exact Ab]). lra. }
    simpl inverse_factorial in *. set (f := inverse_factorial i) in *.
    assert (F' : 0 <= f / q (S i)) by (unfold Qdiv; apply prod_nonneg; auto; apply Qinv_le_0_compat; lra).
    pose proof (prod_le _ _ _ T F') as T'.
    setoid_replace ((power b (S i) + q (S i) * x * power a i) * (f / q (S i)))
      with (power b (S i) * (f / q (S i)) + x * (power a i * f)) in T' by (field; lra). lra.
Qed.
End Binomials.

Lemma below_inverse_of_e J n : power (1 - 1 / q (S J)) (S J) * euler n <= 1.
Proof.
  set (x := 1 / q (S J)).
  assert (P : 0 < q (S J)) by (rewrite q_succ; pose proof (q_nonneg J); lra).
  assert (X0 : 0 <= x) by (unfold x, Qdiv; apply prod_nonneg; [lra|apply Qinv_le_0_compat; lra]).
  assert (X1 : x <= 1).
  { unfold x. apply Qle_shift_div_r; auto. rewrite q_succ. pose proof (q_nonneg J). lra. }
  eapply Qle_trans; [|apply (terms_bounded x X0 X1 (S J) n)]. apply prod_le_l; [|apply power_nonneg; lra].
  apply sum_le. intros i _. pose proof (term_large x X0 (S J) i) as L.
  assert (E : power (q (S J) * x) i == 1).
  { assert (O : q (S J) * x == 1) by (unfold x; field; lra).
    clear - O. induction i; simpl; [reflexivity|]. rewrite IHi, O. reflexivity. }
  rewrite E in L. lra.
Qed.

(** * Open types *)
Fixpoint number (n : nat) (open : nat -> bool) : nat :=
  match n with O => O | S n => ((if open n then 1 else 0) + number n open)%nat end.
Lemma number_close n open j : (j < n)%nat -> open j = true -> number n open = S (number n (close open j)).
Proof.
  assert (E : forall m, (m <= j)%nat -> number m (close open j) = number m open).
  { induction m; intros Hm; simpl; auto. rewrite IHm by lia. unfold close.
    destruct (Nat.eqb_spec m j); [lia|]. reflexivity. }
  induction n; intros Hj O; [lia|]. simpl. destruct (Nat.eq_dec j n).
  - subst. rewrite O, E by lia. unfold close. rewrite Nat.eqb_refl. reflexivity.
  - rewrite IHn by (auto; lia). unfold close at 2. destruct (Nat.eqb_spec n j); [lia|]. destruct (open n); reflexivity.
Qed.
Lemma number_some n open j : (j < n)%nat -> open j = true -> (1 <= number n open)%nat.
Proof. intros. rewrite (number_close n open j); auto. lia. Qed.
Lemma number_all n : number n (fun _ => true) = n.
Proof. induction n; simpl; auto. Qed.

(** * Greedy against a plan *)
Section On.
Variable R : reservation.
Hypothesis W : well_formed R.
Hypothesis One : pools R = 1%nat.
Notation J := (types R). Notation A := (fluid R).

Lemma portion_one : portion A 0 == 1.
Proof.
  simpl. unfold all_servers. rewrite One. simpl. field.
  pose proof (servers_pos R W 0). rewrite One in H. specialize (H ltac:(lia)). lra.
Qed.

(** The configuration without the closed types *)
Definition cut (open : nat -> bool) (k : configuration) : configuration := fun j => if open j then k j else 0%Z.

Variables (X : assignment) (Y : nat -> Q).
Hypothesis V : serves R A X Y.

Lemma all_parts : sum (parts X) (part X) <= 1.
Proof.
  rewrite <- portion_one. pose proof (s_portion R A X Y V 0) as P. rewrite One in P. specialize (P ltac:(lia)).
  eapply Qle_trans; [|exact P]. apply sum_le. intros t Ht.
  pose proof (s_pool R A X Y V t Ht) as H. rewrite One in H.
  destruct (Nat.eqb_spec (pool X t) 0); [lra|lia].
Qed.

(** The reward that is missing until greedy has earned the reward of the plan *)
Definition behind (left : nat -> Q) : Q := earns R Y - earns R (fun j => jobs A j - left j).

Record on_the_way (open : nat -> bool) (left : nat -> Q) : Prop := {
  w_closed : forall j, (j < J)%nat -> open j = false -> left j == 0;
  w_left : forall j, (j < J)%nat -> 0 <= left j <= jobs A j }.

Lemma behind_open open left : on_the_way open left ->
  behind left <= sum J (fun j => if open j then reward R j * Y j else 0).
Proof.
  intros [Cl L]. unfold behind, earns.
  setoid_replace (sum J (fun j => reward R j * Y j) - sum J (fun j => reward R j * (jobs A j - left j)))
    with (sum J (fun j => reward R j * (Y j - (jobs A j - left j)))).
  2:{ rewrite (sum_ext J (fun j => reward R j * (Y j - (jobs A j - left j)))
        (fun j => reward R j * Y j + (-1) * (reward R j * (jobs A j - left j)))) by (intros; ring).
      rewrite sum_add, sum_scale. ring. }
  apply sum_le. intros j Hj. pose proof (reward_nonneg R W j Hj). specialize (L j Hj).
  destruct (s_served R A X Y V j Hj) as (Y0 & _ & Y1 & _).
  destruct (open j) eqn:O.
  - apply prod_le_l; auto. lra.
  - rewrite (Cl j Hj O) in *. assert (0 <= reward R j * (jobs A j - Y j)) by (apply prod_nonneg; lra). lra.
Qed.

(** While these types are open, a server of greedy earns at least the rate of the missing reward. *)
Lemma rate open left k : on_the_way open left -> first R 0 open k -> behind left <= worth R (reward R) k.
Proof.
  intros Way F.
  assert (K : 0 <= worth R (reward R) k).
  { apply sum_nonneg. intros j Hj. apply prod_nonneg; [apply (reward_nonneg R W); auto|].
    change 0 with (inject_Z 0). rewrite <- Zle_Qle. apply (first_fits R 0 open k F); auto. }
  apply Qle_trans with (sum (parts X) (fun t => part X t * worth R (reward R) (cut open (conf X t)))).
  - eapply Qle_trans; [apply behind_open; exact Way|].
    rewrite (sum_ext (parts X) _ (fun t => sum J (fun j =>
      if open j then reward R j * (part X t * inject_Z (conf X t j)) else 0))).
    2:{ intros t Ht. unfold worth. rewrite <- sum_scale. apply sum_ext. intros j Hj. unfold cut.
        destruct (open j); [|change (inject_Z 0) with 0]; ring. }
    rewrite sum_swap. apply sum_le. intros j Hj. destruct (open j).
    + rewrite sum_scale. apply prod_le_l; [|apply (reward_nonneg R W); auto]. apply (s_served R A X Y V j Hj).
    + rewrite sum_zero; [lra|reflexivity].
  - apply Qle_trans with (sum (parts X) (fun t => part X t * worth R (reward R) k)).
    + apply sum_le. intros t Ht. apply prod_le_l; [|apply (s_part R A X Y V t Ht)].
      apply Qnot_lt_le. intros L. apply (first_none R 0 open k F (cut open (conf X t))).
      * pose proof (s_fits R A X Y V t Ht) as Ft. pose proof (s_pool R A X Y V t Ht) as Pt. rewrite One in Pt.
        replace (pool X t) with 0%nat in Ft by lia.
        apply (fits_less R W 0 (conf X t)); auto. intros j Hj. destruct Ft as [Ft _]. specialize (Ft j Hj).
        unfold cut. destruct (open j); lia.
      * intros j Hj O. unfold cut. rewrite O. reflexivity.
      * left. exact L.
    + rewrite sum_scale_r. pose proof (prod_le _ _ _ all_parts K). lra.
Qed.

Lemma after_eq left k t j : 0 <= left j - t * inject_Z (k j) ->
  after left k t j == left j - t * inject_Z (k j).
Proof. intros H. unfold after. destruct (le _ 0) eqn:E; [|reflexivity]. bools. lra. Qed.
Lemma after_nonneg left k t j : 0 <= after left k t j.
Proof.
  unfold after. destruct (le _ 0) eqn:E; [lra|]. apply Qlt_le_weak, Qnot_le_lt. intros H. apply le_iff in H. congruence.
Qed.
Lemma after_le left k t j : 0 <= t -> (0 <= k j)%Z -> 0 <= left j -> after left k t j <= left j.
Proof.
  intros Ht Hk Hl. unfold after. destruct (le _ 0); auto.
  assert (0 <= t * inject_Z (k j)); [|lra]. apply prod_nonneg; auto. change 0 with (inject_Z 0). rewrite <- Zle_Qle. auto.
Qed.

(** Servers with any configuration, if they serve no more jobs than there are *)
Lemma behind_after open left k t : on_the_way open left -> first R 0 open k -> 0 <= t ->
  (forall j, (j < J)%nat -> t * inject_Z (k j) <= left j) ->
  behind (after left k t) <= behind left * (1 - t).
Proof.
  intros Way F T L.
  assert (E : behind (after left k t) == behind left - t * worth R (reward R) k).
  { unfold behind, worth, earns.
    rewrite (sum_ext J (fun j => reward R j * (jobs A j - after left k t j))
      (fun j => reward R j * (jobs A j - left j) + t * (reward R j * inject_Z (k j)))).
    2:{ intros j Hj. rewrite after_eq by (specialize (L j Hj); lra). ring. }
    rewrite sum_add, sum_scale. ring. }
  pose proof (prod_le_l _ _ _ (rate open left k Way F) T). lra.
Qed.

Lemma bound_of_fills open left n steps open' left' : fills R A 0 open left n steps open' left' ->
  on_the_way open left -> 0 <= n -> n <= 1 ->
  let t := map given steps in
  behind left' <= behind left * product (map (fun t => 1 - t) t) /\
  (behind left' <= 0 \/ total t == n) /\
  Forall (fun t => 0 <= t <= 1) t /\ (length steps <= number J open)%nat.
Proof.
  induction 1 as [open left n N|open left n U|open left n k t j steps open' left' N F Po T Tn Out Low Least G IH
                 |open left n k N F Some_ Out]; intros Way N0 N1; simpl.
  - repeat split; auto; [lra|right; lra|lia].
  - repeat split; auto; [lra| |lia]. left. eapply Qle_trans; [apply behind_open; exact Way|].
    rewrite sum_zero; [lra|]. intros j Hj. destruct (open j) eqn:O; [|reflexivity].
    assert (Yj : Y j == 0).
    { destruct (s_served R A X Y V j Hj) as (Y0 & _ & _ & Y2). rewrite (sum_zero (parts X)) in Y2; [lra|].
      intros t Ht. pose proof (s_fits R A X Y V t Ht) as Ft. pose proof (s_pool R A X Y V t Ht) as Pt.
      rewrite One in Pt. replace (pool X t) with 0%nat in Ft by lia.
      assert (conf X t j = 0%Z) as ->; [|change (inject_Z 0) with 0; ring].
      destruct (Z_lt_le_dec 0 (conf X t j)) as [P|P]; [|destruct Ft as [Ft _]; specialize (Ft j Hj); lia].
      exfalso. apply (U j Hj O). apply (fits_less R W 0 (conf X t)); auto. intros h Hh. unfold single.
      destruct Ft as [Ft _]. specialize (Ft h Hh). destruct (Nat.eqb_spec h j); subst; lia. }
    rewrite Yj. ring.
  - assert (K : forall h, (h < J)%nat -> (0 <= k h)%Z) by (apply (first_fits R 0 open k F)).
    assert (L : forall h, (h < J)%nat -> t * inject_Z (k h) <= left h).
    { intros h Hh. specialize (K h Hh). destruct (Z_lt_le_dec 0 (k h)) as [P|P].
      - apply Qnot_lt_le. intros B.
        assert (P' : 0 < inject_Z (k h)) by (change 0 with (inject_Z 0); rewrite <- Zlt_Qlt; auto).
        apply (Least (left h / inject_Z (k h)) h); [exact I| |].
        + apply Qlt_shift_div_r; auto.
        + repeat split; auto. apply Qle_lteq. right. field. lra.
      - replace (k h) with 0%Z by lia. change (inject_Z 0) with 0. rewrite Qmult_0_r. apply Way; auto. }
    destruct Out as (Hj & Kj & Out).
    assert (O : open j = true).
    { destruct (open j) eqn:O; auto. pose proof (first_uses R 0 open k F j Hj O). lia. }
    destruct IH as (B & S & P & N').
    + constructor.
      * intros h Hh C. unfold close in C. rewrite after_eq by (specialize (L h Hh); lra).
        destruct (Nat.eqb_spec h j).
        -- subst. specialize (L j Hj). lra.
        -- destruct Way as [Cl _]. pose proof (Cl h Hh C) as Z. specialize (L h Hh). specialize (K h Hh).
           assert (0 <= t * inject_Z (k h)).
           { apply prod_nonneg; auto. change 0 with (inject_Z 0). rewrite <- Zle_Qle. auto. }
           lra.
      * intros h Hh. split; [apply after_nonneg|].
        eapply Qle_trans; [apply after_le; auto; apply Way; auto|apply Way; auto].
    + lra.
    + lra.
    + repeat split.
      * eapply Qle_trans; [exact B|]. rewrite Qmult_assoc. apply prod_le.
        -- apply (behind_after open); auto.
        -- clear - P. induction P as [|a l [? ?] P IH]; simpl; [lra|]. apply prod_nonneg; [lra|auto].
      * destruct S; [left; auto|right; lra].
      * constructor; [lra|auto].
      * rewrite (number_close J open j); auto. lia.
  - assert (K : forall h, (h < J)%nat -> (0 <= k h)%Z) by (apply (first_fits R 0 open k F)).
    repeat split.
    + rewrite Qmult_1_r. apply (behind_after open); auto. intros h Hh. specialize (K h Hh).
      destruct (Z_lt_le_dec 0 (k h)) as [P|P].
      * apply Qlt_le_weak, Qnot_le_lt. intros B. apply (Out h). repeat split; auto.
      * replace (k h) with 0%Z by lia. change (inject_Z 0) with 0. rewrite Qmult_0_r. apply Way; auto.
    + right. ring.
    + constructor; [lra|constructor].
    + destruct Some_ as (j & Hj & Kj). apply (number_some J open j); auto.
      destruct (open j) eqn:O; auto. pose proof (first_uses R 0 open k F j Hj O). lia.
Qed.

Lemma bound_of_greedy steps left : greedy R A steps left ->
  let t := map given steps in
  behind left <= earns R Y * product (map (fun t => 1 - t) t) /\
  (behind left <= 0 \/ total t == 1) /\
  Forall (fun t => 0 <= t <= 1) t /\ (length steps <= J)%nat.
Proof.
  unfold greedy. intros G. inversion G as [open l E|s open l a open' l' b l'' Hs F G']; subst.
  { rewrite One in E. discriminate. }
  inversion G' as [open2 l2 E|s open2 l2 a2 open3 l3 b2 l4 Hs2 F2 G2]; subst; [|rewrite One in Hs2; lia].
  rewrite app_nil_r. simpl.
  assert (Way : on_the_way (fun _ => true) (jobs A)).
  { constructor; [discriminate|]. intros j Hj. split; [apply (load_nonneg R W); auto|lra]. }
  assert (P : portion A 0 == 1) by apply portion_one.
  destruct (bound_of_fills _ _ _ _ _ _ F Way) as (B & S & T & N); [lra|lra|].
  rewrite number_all in N. repeat split; auto.
  - assert (Z : behind (jobs A) == earns R Y).
    { unfold behind. assert (Zero : earns R (fun j => jobs A j - jobs A j) == 0); [|lra].
      apply sum_zero. intros. ring. }
    rewrite Z in B. exact B.
  - destruct S as [S|S]; [left; auto|right]. rewrite S. auto.
Qed.

Lemma earns_nonneg : 0 <= earns R Y.
Proof.
  apply sum_nonneg. intros j Hj. apply prod_nonneg; [apply (reward_nonneg R W); auto|].
  apply (s_served R A X Y V j Hj).
Qed.
End On.

(** * The theorem *)

(** The bound by a product, which needs no linear programme. t_1, ..., t_P are the fractions of the servers that the
    steps of greedy use. *)
Theorem greedy_earns_the_product R : well_formed R -> pools R = 1%nat ->
  forall steps left, greedy R (fluid R) steps left ->
  forall X Y, serves R (fluid R) X Y ->
  (1 - product (map (fun s => 1 - given s) steps)) * earns R Y <= earns R (fun j => jobs (fluid R) j - left j).
Proof.
  intros W One steps left G X Y V.
  destruct (bound_of_greedy R W One X Y V steps left G) as (B & _). unfold behind in B.
  rewrite map_map in B. lra.
Qed.

(** The bound for P steps, where P is at most J *)
Theorem greedy_earns_by_steps R : well_formed R -> pools R = 1%nat ->
  forall steps left, greedy R (fluid R) steps left ->
  (length steps <= types R)%nat /\
  forall P, (length steps <= P)%nat -> forall X Y, serves R (fluid R) X Y ->
  (1 - power (1 - 1 / q P) P) * earns R Y <= earns R (fun j => jobs (fluid R) j - left j).
Proof.
  intros W One steps left G. split.
  { assert (V : serves R (fluid R) {| parts := 0; pool := fun _ => O; conf := fun _ _ => 0%Z; part := fun _ => 0 |}
      (fun _ => 0)).
    { constructor; simpl; try (intros; lia).
      - intros s Hs. unfold Qdiv. apply prod_nonneg; [apply Qlt_le_weak, (servers_pos R W); auto|].
        apply Qinv_le_0_compat. apply sum_nonneg. intros. apply Qlt_le_weak, (servers_pos R W); auto.
      - intros j Hj. repeat split; try lra. apply (load_nonneg R W); auto. }
    apply (bound_of_greedy R W One _ _ V steps left G). }
  intros P Le X Y V.
  destruct (bound_of_greedy R W One X Y V steps left G) as (B & S & T & N).
  pose proof (earns_nonneg R W X Y V) as E.
  assert (Q : 0 <= power (1 - 1 / q P) P).
  { destruct P; [simpl; lra|]. apply power_nonneg. rewrite q_succ. pose proof (q_nonneg P).
    assert (1 / (q P + 1) <= 1); [|lra]. apply Qle_shift_div_r; lra. }
  unfold behind in *. destruct S as [S|S].
  - pose proof (prod_nonneg _ _ Q E). lra.
  - assert (M : product (map (fun t => 1 - t) (map given steps)) <= power (1 - 1 / q P) P).
    { apply parts_of_one; auto. rewrite map_length. auto. }
    pose proof (prod_le_l _ _ _ M E). lra.
Qed.

Theorem theorem_C R : well_formed R -> pools R = 1%nat ->
  greedy_earns_at_least R (fluid R) (1 - power (1 - 1 / q (types R)) (types R)).
Proof.
  intros W One g (steps & left & G & E) X Y V. rewrite E.
  destruct (greedy_earns_by_steps R W One steps left G) as (L & B). apply (B (types R)) with (X := X); auto.
Qed.

(** This fraction is at least 1 - 1/e. The theorem says that it is at least 1 - 1/E for every E from a sequence that
    tends to e from below. *)
Theorem greedy_earns_one_minus_inverse_of_e R : well_formed R -> pools R = 1%nat ->
  forall n, greedy_earns_at_least R (fluid R) (1 - 1 / euler n).
Proof.
  intros W One n g G X Y V.
  assert (E : 0 < euler n).
  { unfold euler. apply Qlt_le_trans with (inverse_factorial 0); [reflexivity|].
    apply (sum_term (S n) inverse_factorial 0); [|lia]. intros j _.
    clear. induction j; simpl; [lra|]. unfold Qdiv. apply prod_nonneg; auto. apply Qinv_le_0_compat, q_nonneg. }
  pose proof (theorem_C R W One g G X Y V) as C. pose proof (earns_nonneg R W X Y V) as Y0.
  destruct (types R) as [|J] eqn:T.
  - assert (Z : earns R Y == 0) by (unfold earns; rewrite T; reflexivity). rewrite Z in *. simpl in C. lra.
  - assert (B : power (1 - 1 / q (S J)) (S J) <= 1 / euler n).
    { apply Qle_shift_div_l; auto. apply below_inverse_of_e. }
    pose proof (prod_le _ _ _ B Y0). lra.
Qed.

Print Assumptions greedy_earns_the_product.
Print Assumptions theorem_C.
Print Assumptions greedy_earns_one_minus_inverse_of_e.
