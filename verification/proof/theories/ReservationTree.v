(** Defines branch trees, and proves what they say about all configurations that fit on a server. *)
From Coq Require Import QArith Qround Qreduction Qfield Arith ZArith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Checker Soundness Reservation.
Import ListNotations.
Open Scope Q_scope.

(** A leaf has multipliers of the resources. A split separates the configurations with at least [at_] jobs of type j
    from those with fewer. *)
Inductive tree := Leaf (m : nat -> Q) | Split (j : nat) (at_ : Z) (from below : tree).

(** * Tables of values, which avoid that values are computed again *)
Definition memo {T} (n : nat) (f : nat -> T) : nat -> T :=
  let l := map f (seq 0 n) in fun k => match nth_error l k with Some v => v | None => f k end.
Lemma memo_eq {T} n (f : nat -> T) k : memo n f k = f k.
Proof.
  unfold memo. destruct (nth_error (map f (seq 0 n)) k) eqn:E; auto.
  rewrite nth_error_map in E. destruct (nth_error (seq 0 n) k) eqn:F; [|discriminate].
  assert (H : (k < n)%nat) by (rewrite <- (seq_length n 0); apply nth_error_Some; congruence).
  apply nth_error_nth with (d := O) in F. rewrite seq_nth in F by auto. inversion E. subst. reflexivity.
Qed.

(** * Multiples of a unit *)

(** v rounded down to a multiple of u *)
Definition down (u v : Q) : Z := Qfloor (quo v u).
Definition multiple (u v : Q) : bool := eqq v (mul u (inject_Z (down u v))).

Lemma floor_le (k : Z) (v : Q) : inject_Z k <= v -> (k <= Qfloor v)%Z.
Proof. intros H. apply Qfloor_resp_le in H. rewrite Qfloor_Z in H. auto. Qed.
Lemma down_le u v w : 0 < u -> v <= w -> (down u v <= down u w)%Z.
Proof.
  intros Hu H. unfold down. apply Qfloor_resp_le. rewrite !quo_eq.
  unfold Qdiv. apply Qmult_le_compat_r; auto. apply Qlt_le_weak, Qinv_lt_0_compat; auto.
Qed.
Lemma down_mul u k : 0 < u -> down u (u * inject_Z k) = k.
Proof.
  intros Hu. unfold down. rewrite <- (Qfloor_Z k) at 2. apply Qfloor_comp. rewrite quo_eq. field. lra.
Qed.
Lemma down_below u v : 0 < u -> u * inject_Z (down u v) <= v.
Proof.
  intros Hu. unfold down. pose proof (Qfloor_le (quo v u)) as H. rewrite quo_eq in H at 2.
  setoid_replace v with (u * (v / u)) at 2 by (field; lra). apply prod_le_l; lra.
Qed.
Lemma down_comp u v w : v == w -> down u v = down u w.
Proof. intros E. unfold down. apply Qfloor_comp. rewrite !quo_eq, E. reflexivity. Qed.
(** A sum of multiples of a unit is a multiple of it. *)
Lemma multiples u n b (k : nat -> Z) : (forall j, (j < n)%nat -> multiple u (b j) = true) ->
  exists z, sum n (fun j => b j * inject_Z (k j)) == u * inject_Z z.
Proof.
  induction n; simpl; intros H.
  - exists 0%Z. change (inject_Z 0) with 0. ring.
  - destruct IHn as (z & E); [intros; apply H; lia|].
    assert (Hn : multiple u (b n) = true) by (apply H; lia).
    unfold multiple in Hn. bools. rewrite mul_eq in Hn.
    exists (z + down u (b n) * k n)%Z. rewrite inject_Z_plus, inject_Z_mult, E, Hn at 1. ring.
Qed.
(** If v rounded down to a multiple of the unit is at most [most] rounded down, a multiple of the unit that is at most v
    is at most [most]. *)
Lemma multiple_le u n b (k : nat -> Z) v most : 0 < u -> (forall j, (j < n)%nat -> multiple u (b j) = true) ->
  sum n (fun j => b j * inject_Z (k j)) <= v -> (down u v <= down u most)%Z ->
  sum n (fun j => b j * inject_Z (k j)) <= most.
Proof.
  intros U B W D. destruct (multiples u n b k B) as (z & Z). rewrite Z in *.
  apply (down_le u _ _ U) in W. rewrite down_mul in W by auto.
  apply Qle_trans with (u * inject_Z (down u most)); [|apply down_below; auto].
  apply prod_le_l; [|lra]. rewrite <- Zle_Qle. lia.
Qed.

Definition set {T} (f : nat -> T) (j : nat) (v : T) : nat -> T := fun h => if Nat.eqb h j then v else f h.

(** The sum of all terms; None if one is missing *)
Fixpoint sum_of_all (n : nat) (f : nat -> option Q) : option Q :=
  match n with
  | O => Some 0
  | S n => match sum_of_all n f with
           | Some a => match f n with Some b => Some (add a b) | None => None end
           | None => None end
  end.
Lemma sum_of_all_bounds n f g v : (forall j a, (j < n)%nat -> f j = Some a -> g j <= a) ->
  sum_of_all n f = Some v -> sum n g <= v.
Proof.
  revert v. induction n; simpl; intros v H E; [inversion E; lra|].
  destruct (sum_of_all n f) as [a|]; [|discriminate]. destruct (f n) as [b|] eqn:F; [|discriminate].
  inversion E. rewrite add_eq. assert (sum n g <= a) by (apply IHn; auto).
  specialize (H n b (Nat.lt_succ_diag_r n) F). lra.
Qed.

Section On.
Variable R : reservation.
Notation J := (types R). Notation M := (rows R).

(** * The walk *)
Section Tree.
Variables (c : nat -> Q) (beta : nat -> Q).
(** Whether a box is settled, given an upper bound on the worth of its configurations, and the largest number of jobs of
    each type *)
Variable accept : Q -> (nat -> option Z) -> bool.

Definition left (lo : nat -> Z) (r : nat) : Q :=
  add (c r) (- rsum J (fun j => mul (size R j r) (inject_Z (lo j)))).
(** The largest number of jobs of type j that fit in addition to the lower bounds of all types *)
Definition corner (lo : nat -> Z) (up : nat -> option Z) (l : nat -> Q) (j : nat) : option Z :=
  match least M (size R j) l with
  | Some v => let a := (lo j + Qfloor v)%Z in
              Some (match up j with Some u => Z.min u a | None => a end)
  | None => up j
  end.
(** The upper bound that these multipliers give for the worth of all configurations in the box *)
Definition value (lo : nat -> Z) (most : nat -> option Z) (m : nat -> Q) : option Q :=
  match sum_of_all J (fun j =>
    let v := add (beta j) (- rsum M (fun r => mul (m r) (size R j r))) in
    if le v 0 then Some (mul v (inject_Z (lo j)))
    else match most j with Some a => Some (mul v (inject_Z a)) | None => None end) with
  | Some v => Some (add v (rsum M (fun r => mul (m r) (c r))))
  | None => None
  end.
Definition leaf (lo : nat -> Z) (up : nat -> option Z) (m : nat -> Q) : bool :=
  let l := memo M (left lo) in
  if any M (fun r => lt (l r) 0) then true
  else if any J (fun j => match up j with Some u => Z.ltb u (lo j) | None => false end) then true
  else let most := memo J (corner lo up l) in
    all M (fun r => le 0 (m r)) &&
    match value lo most m with Some v => accept v most | None => false end.
Fixpoint walk (lo : nat -> Z) (up : nat -> option Z) (t : tree) : bool :=
  match t with
  | Leaf m => leaf (memo J lo) (memo J up) m
  | Split j a from below =>
      if walk (set lo j (Z.max a (lo j))) up from
      then walk lo (set up j (Some (match up j with Some u => Z.min u (a - 1) | None => (a - 1)%Z end))) below
      else false
  end.

(** * Soundness *)
Definition inside (lo : nat -> Z) (up : nat -> option Z) (k : configuration) : Prop :=
  forall j, (j < J)%nat -> (lo j <= k j)%Z /\ match up j with Some u => (k j <= u)%Z | None => True end.

Variable k : configuration.
Hypothesis D : forall j r, (j < J)%nat -> (r < M)%nat -> 0 <= size R j r.
Hypothesis C : forall r, (r < M)%nat -> sum J (fun j => size R j r * inject_Z (k j)) <= c r.

Definition settled : Prop := exists v most, accept v most = true /\ worth R beta k <= v /\
  forall j a, (j < J)%nat -> most j = Some a -> (k j <= a)%Z.

Lemma left_eq lo r : left lo r == c r - sum J (fun j => size R j r * inject_Z (lo j)).
Proof.
  unfold left. rewrite add_eq, rsum_eq.
  rewrite (sum_ext J (fun j => mul (size R j r) (inject_Z (lo j))) (fun j => size R j r * inject_Z (lo j)))
    by (intros; apply mul_eq). ring.
Qed.

Lemma room_for lo up j r : inside lo up k -> (j < J)%nat -> (r < M)%nat ->
  inject_Z (k j - lo j) * size R j r <= memo M (left lo) r.
Proof.
  intros I Hj Hr. rewrite memo_eq, left_eq. pose proof (C r Hr) as Cr.
  assert (T : size R j r * inject_Z (k j - lo j) <= sum J (fun h => size R h r * inject_Z (k h - lo h))).
  { apply (sum_term J (fun h => size R h r * inject_Z (k h - lo h))); auto. intros h Hh.
    apply prod_nonneg; auto. change 0 with (inject_Z 0). rewrite <- Zle_Qle. destruct (I h Hh). lia. }
  rewrite (sum_ext J (fun h => size R h r * inject_Z (k h - lo h))
    (fun h => size R h r * inject_Z (k h) + (-1) * (size R h r * inject_Z (lo h)))) in T.
  2:{ intros. unfold Z.sub. rewrite inject_Z_plus, inject_Z_opp. ring. }
  rewrite sum_add, sum_scale in T. lra.
Qed.

Lemma corner_sound lo up j a : inside lo up k -> (j < J)%nat ->
  corner lo up (memo M (left lo)) j = Some a -> (k j <= a)%Z.
Proof.
  intros I Hj E. unfold corner in E. destruct (I j Hj) as [L Up].
  destruct (least M (size R j) (memo M (left lo))) as [v|] eqn:F.
  - assert (inject_Z (k j - lo j) <= v).
    { apply (least_sound M (size R j) (memo M (left lo))); auto.
      - change 0 with (inject_Z 0). rewrite <- Zle_Qle. lia.
      - intros. eapply room_for; eauto. }
    apply floor_le in H. inversion E; subst. destruct (up j); lia.
  - rewrite E in Up. auto.
Qed.

Lemma leaf_sound lo up m : inside lo up k -> leaf lo up m = true -> settled.
Proof.
  intros I L. unfold leaf in L.
  destruct (any M _) eqn:L1.
  { exfalso. apply any_iff in L1. destruct L1 as (r & Hr & L1). bools. rewrite memo_eq, left_eq in L1.
    assert (sum J (fun j => size R j r * inject_Z (lo j)) <= sum J (fun j => size R j r * inject_Z (k j))).
    { apply sum_le. intros j Hj. apply prod_le_l; auto. rewrite <- Zle_Qle. apply I; auto. }
    pose proof (C r Hr). lra. }
  destruct (any J _) eqn:L2.
  { exfalso. apply any_iff in L2. destruct L2 as (j & Hj & L2). destruct (I j Hj) as [I1 I2].
    destruct (up j); [|discriminate]. apply Z.ltb_lt in L2. lia. }
  bools. destruct (value _ _ _) as [v|] eqn:V; [|discriminate].
  exists v, (memo J (corner lo up (memo M (left lo)))). split; [auto|]. split.
  2:{ intros j a Hj E. rewrite memo_eq in E. eapply corner_sound; eauto. }
  unfold value in V. destruct (sum_of_all J _) as [w|] eqn:S; [|discriminate]. inversion V; clear V.
  rewrite add_eq, rsum_eq. unfold worth.
  rewrite (sum_ext J (fun j => beta j * inject_Z (k j))
    (fun j => (beta j - sum M (fun r => m r * size R j r)) * inject_Z (k j) +
              sum M (fun r => m r * (size R j r * inject_Z (k j))))).
  2:{ intros j Hj. rewrite (sum_ext M (fun r => m r * (size R j r * inject_Z (k j)))
        (fun r => (m r * size R j r) * inject_Z (k j))) by (intros; ring).
      rewrite sum_scale_r. ring. }
  rewrite sum_add.
  assert (A : sum J (fun j => sum M (fun r => m r * (size R j r * inject_Z (k j)))) <=
              sum M (fun r => mul (m r) (c r))).
  { rewrite sum_swap. apply sum_le. intros r Hr. rewrite sum_scale, mul_eq.
    apply prod_le_l; auto. specialize (H r Hr). bools. auto. }
  assert (E : sum J (fun j => (beta j - sum M (fun r => m r * size R j r)) * inject_Z (k j)) <= w); [|lra].
  eapply sum_of_all_bounds; [|exact S]. clear S A. intros j a Hj. cbv beta.
  set (v' := add (beta j) (- rsum M (fun r => mul (m r) (size R j r)))).
  assert (Vj : v' == beta j - sum M (fun r => m r * size R j r)).
  { unfold v'. rewrite add_eq, rsum_eq.
    rewrite (sum_ext M (fun r => mul (m r) (size R j r)) (fun r => m r * size R j r))
      by (intros; apply mul_eq). ring. }
  destruct (I j Hj) as [I1 _]. rewrite <- Vj. destruct (le v' 0) eqn:F.
  - bools. intros E. injection E as <-. rewrite mul_eq. rewrite Zle_Qle in I1.
    assert (0 <= (- v') * (inject_Z (k j) - inject_Z (lo j))) by (apply prod_nonneg; lra). lra.
  - rewrite memo_eq. destruct (corner lo up (memo M (left lo)) j) as [b|] eqn:G; [|discriminate].
    intros E. injection E as <-. apply corner_sound in G; auto. rewrite mul_eq. apply prod_le_l.
    + rewrite <- Zle_Qle. auto.
    + apply Qlt_le_weak, Qnot_le_lt. intro X. apply le_iff in X. congruence.
Qed.

Lemma walk_sound t : forall lo up, inside lo up k -> walk lo up t = true -> settled.
Proof.
  induction t as [m|j a from IH1 below IH2]; simpl; intros lo up I W.
  - eapply leaf_sound; [|exact W]. intros j Hj. rewrite !memo_eq. auto.
  - destruct (walk _ _ from) eqn:W1; [|discriminate]. destruct (Z_lt_le_dec (k j) a) as [Lt|Le].
    + eapply IH2; [|eassumption]. intros h Hh. destruct (I h Hh) as [L Up]. split; auto.
      unfold set. destruct (Nat.eqb_spec h j); auto. subst. destruct (up j); lia.
    + eapply IH1; [|exact W1]. intros h Hh. destruct (I h Hh) as [L Up]. split; auto.
      unfold set. destruct (Nat.eqb_spec h j); auto. subst. lia.
Qed.
End Tree.

(** * Capacities *)

(** The capacity of row r, rounded down to a multiple of the unit of its demands. The same configurations fit as
    before. *)
Definition rounded (g : nat -> Q) (s r : nat) : Q := mul (g r) (inject_Z (down (g r) (room R s r))).

Definition check_units (g : nat -> Q) : bool :=
  match listed R with Some _ => false | None => true end &&
  all M (fun r => lt 0 (g r) && all J (fun j => le 0 (size R j r) && multiple (g r) (size R j r))).

Lemma check_units_sound g s k : check_units g = true -> fits R s k ->
  (forall j r, (j < J)%nat -> (r < M)%nat -> 0 <= size R j r) /\
  (forall r, (r < M)%nat -> sum J (fun j => size R j r * inject_Z (k j)) <= rounded g s r).
Proof.
  unfold check_units. intros H [K F]. bools. destruct (listed R); [discriminate|]. split.
  - intros j r Hj Hr. specialize (H0 r Hr). bools. specialize (H1 j Hj). bools. auto.
  - intros r Hr. specialize (H0 r Hr). bools.
    destruct (multiples (g r) J (fun j => size R j r) k) as (z & Z).
    { intros j Hj. specialize (H1 j Hj). bools. auto. }
    rewrite Z. unfold rounded. rewrite mul_eq. apply prod_le_l; [|lra].
    rewrite <- Zle_Qle. rewrite <- (down_mul (g r) z) by auto. apply down_le; auto. rewrite <- Z. auto.
Qed.

(** A tree over all configurations of the open types on a server of pool s *)
Definition walk_all (g : nat -> Q) (s : nat) (open : nat -> bool) (beta : nat -> Q)
    (accept : Q -> (nat -> option Z) -> bool) (t : tree) : bool :=
  check_units g &&
  walk (memo M (rounded g s)) beta accept (fun _ => 0%Z) (fun j => if open j then None else Some 0%Z) t.

Theorem walk_all_sound g s open beta accept t : walk_all g s open beta accept t = true ->
  forall k, fits R s k -> uses R open k -> settled beta accept k.
Proof.
  unfold walk_all. intros H k F U. bools. destruct (check_units_sound g s k H F) as [D C].
  eapply walk_sound; [exact D| | |exact H0].
  - intros r Hr. rewrite memo_eq. auto.
  - intros j Hj. split; [apply F; auto|]. destruct (open j) eqn:O; auto. rewrite (U j Hj O). lia.
Qed.
End On.
Print Assumptions walk_all_sound.
