(** Encloses the optimum between the reward of a plan and a bound that prices prove. *)
From Coq Require Import QArith Qround Qreduction Qfield Arith ZArith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Checker Soundness Reservation ReservationTree.
Import ListNotations.
Open Scope Q_scope.

(** The proof that no configuration is worth more than a bound. It is a branch tree with the units of the resources and
    of the profits, or a comparison with all listed configurations. *)
Inductive pricing := Tree (g : nat -> Q) (unit : Q) (t : tree) | All_listed.

Section On.
Variable R : reservation.
Notation J := (types R). Notation M := (rows R). Notation S := (pools R).

Definition rworth (b : nat -> Q) (k : configuration) : Q := rsum J (fun j => mul (b j) (inject_Z (k j))).
Lemma rworth_eq b k : rworth b k == worth R b k.
Proof. unfold rworth, worth. rewrite rsum_eq. apply sum_ext. intros. apply mul_eq. Qed.

Definition check_fits (s : nat) (k : configuration) : bool :=
  all J (fun j => Z.leb 0 (k j)) &&
  match listed R with
  | Some l => existsb (fun c => all J (fun j => Z.leb (k j) (c j))) l
  | None => all M (fun r => le (rsum J (fun j => mul (size R j r) (inject_Z (k j)))) (room R s r))
  end.

Lemma check_fits_iff s k : check_fits s k = true <-> fits R s k.
Proof.
  unfold check_fits, fits. rewrite andb_true_iff, all_iff.
  assert (K : (forall j, (j < J)%nat -> Z.leb 0 (k j) = true) <-> (forall j, (j < J)%nat -> (0 <= k j)%Z)).
  { split; intros H j Hj; specialize (H j Hj); apply Z.leb_le; auto. }
  rewrite K. apply and_iff_compat_l. destruct (listed R) as [l|].
  - rewrite existsb_exists. split; intros (c & I & H); exists c; (split; [auto|]).
    + rewrite all_iff in H. intros j Hj. apply Z.leb_le. auto.
    + apply all_iff. intros j Hj. apply Z.leb_le. auto.
  - rewrite all_iff. split; intros H r Hr; specialize (H r Hr).
    + bools. rewrite rsum_eq in H. rewrite <- (sum_ext J _ _ (fun j _ => mul_eq _ _)). exact H.
    + apply le_iff. rewrite rsum_eq, (sum_ext J _ _ (fun j _ => mul_eq _ _)). exact H.
Qed.

Definition check_pricing (s : nat) (beta : nat -> Q) (most : Q) (p : pricing) : bool :=
  match p with
  | Tree g unit t =>
      lt 0 unit && all J (fun j => multiple unit (beta j)) &&
      (let most := down unit most in
       walk_all R g s (fun _ => true) beta (fun v _ => Z.leb (down unit v) most) t)
  | All_listed => match listed R with Some l => forallb (fun c => le (rworth beta c) most) l | None => false end
  end.

Theorem check_pricing_sound s beta most p : (forall j, (j < J)%nat -> 0 <= beta j) ->
  check_pricing s beta most p = true -> forall k, fits R s k -> worth R beta k <= most.
Proof.
  intros B H k F. destruct p as [g unit t|]; simpl in H.
  - bools. destruct (walk_all_sound _ _ _ _ _ _ _ H0 k F) as (v & a & Acc & L & _).
    { intros j _ E. discriminate. }
    apply Z.leb_le in Acc. eapply multiple_le; eauto.
  - destruct F as [_ F]. destruct (listed R) as [l|]; [|discriminate]. destruct F as (c & I & C).
    rewrite forallb_forall in H. specialize (H c I). bools. rewrite rworth_eq in H.
    eapply Qle_trans; [|exact H]. apply sum_le. intros j Hj. apply prod_le_l; auto. rewrite <- Zle_Qle. auto.
Qed.

Variable A : amount.

Definition check_possible (t : Q) : bool := if whole A then eqq t (inject_Z (Qfloor t)) else true.
Lemma check_possible_sound t : check_possible t = true -> possible A t.
Proof.
  unfold check_possible, possible. destruct (whole A); auto. intros H. bools. exists (Qfloor t). auto.
Qed.
Lemma possible_floor t : whole A = true -> possible A t -> t == inject_Z (Qfloor t).
Proof.
  unfold possible. intros -> (z & E). rewrite (Qfloor_comp _ _ E), Qfloor_Z. exact E.
Qed.

(** Prices with alpha_j + beta_j >= u_j and sum_j beta_j k_j <= pi_s for every configuration k of pool s *)
Definition check_prices (alpha beta price : nat -> Q) (p : nat -> pricing) : bool :=
  all J (fun j => le 0 (alpha j) && le 0 (beta j) && le (reward R j) (add (alpha j) (beta j))) &&
  all S (fun s => le 0 (price s) && check_pricing s beta (price s) (p s)).
Definition total_price (alpha price : nat -> Q) : Q :=
  add (rsum J (fun j => mul (alpha j) (jobs A j))) (rsum S (fun s => mul (price s) (portion A s))).
(** If jobs are whole, every reward is a multiple of a unit. The bound is then rounded down to a multiple of this
    unit. *)
Definition check_bound (alpha beta price : nat -> Q) (p : nat -> pricing) (unit v : Q) : bool :=
  check_prices alpha beta price p &&
  if whole A
  then if all J (fun j => eqq (reward R j) 0) then eqq v 0
       else lt 0 unit && all J (fun j => multiple unit (reward R j)) &&
            eqq v (mul unit (inject_Z (down unit (total_price alpha price))))
  else eqq v (total_price alpha price).

Definition check_serves (X : assignment) (Y : nat -> Q) : bool :=
  all (parts X) (fun t => Nat.ltb (pool X t) S && le 0 (part X t) && check_possible (part X t) &&
    check_fits (pool X t) (conf X t)) &&
  all S (fun s => le (rsum (parts X) (fun t => if Nat.eqb (pool X t) s then part X t else 0)) (portion A s)) &&
  all J (fun j => le 0 (Y j) && check_possible (Y j) && le (Y j) (jobs A j) &&
    le (Y j) (rsum (parts X) (fun t => mul (part X t) (inject_Z (conf X t j))))).

Definition rearns (Y : nat -> Q) : Q := rsum J (fun j => mul (reward R j) (Y j)).
Lemma rearns_eq Y : rearns Y == earns R Y.
Proof. unfold rearns, earns. rewrite rsum_eq. apply sum_ext. intros. apply mul_eq. Qed.

Lemma sum_single n v s : (s < n)%nat -> sum n (fun j => if Nat.eqb s j then v j else 0) == v s.
Proof.
  induction n; simpl; intros H; [lia|]. destruct (Nat.eqb_spec s n).
  - subst. rewrite sum_zero; [ring|]. intros j Hj. destruct (Nat.eqb_spec n j); [lia|reflexivity].
  - rewrite IHn by lia. ring.
Qed.

Lemma check_prices_sound alpha beta price p : check_prices alpha beta price p = true ->
  no_plan_earns_more_than R A (total_price alpha price).
Proof.
  unfold check_prices. intros H X Y V. bools.
  assert (P1 : forall j, (j < J)%nat -> 0 <= alpha j /\ 0 <= beta j /\ reward R j <= alpha j + beta j).
  { intros j Hj. specialize (H j Hj). bools. rewrite add_eq in H1. auto. }
  assert (P2 : forall s, (s < S)%nat -> 0 <= price s /\ forall k, fits R s k -> worth R beta k <= price s).
  { intros s Hs. specialize (H0 s Hs). bools. split; auto. eapply check_pricing_sound; eauto.
    intros. apply P1; auto. }
  clear H H0.
  assert (L : earns R Y <= sum J (fun j => alpha j * jobs A j) +
    sum J (fun j => beta j * sum (parts X) (fun t => part X t * inject_Z (conf X t j)))).
  { unfold earns. rewrite <- sum_add. apply sum_le. intros j Hj. destruct (P1 j Hj) as (Ha & Hb & Hr).
    destruct (s_served R A X Y V j Hj) as (Y0 & _ & Y1 & Y2).
    pose proof (prod_le _ _ _ Hr Y0). pose proof (prod_le_l _ _ _ Y1 Ha). pose proof (prod_le_l _ _ _ Y2 Hb). lra. }
  assert (B : sum J (fun j => beta j * sum (parts X) (fun t => part X t * inject_Z (conf X t j))) ==
    sum (parts X) (fun t => part X t * worth R beta (conf X t))).
  { rewrite (sum_ext J _ (fun j => sum (parts X) (fun t => part X t * (beta j * inject_Z (conf X t j))))).
    2:{ intros. rewrite <- sum_scale. apply sum_ext. intros. ring. }
    rewrite sum_swap. apply sum_ext. intros. rewrite sum_scale. reflexivity. }
  assert (D : sum (parts X) (fun t => part X t * worth R beta (conf X t)) <=
    sum S (fun s => price s * portion A s)).
  { apply Qle_trans with
      (sum (parts X) (fun t => sum S (fun s => if Nat.eqb (pool X t) s then price s * part X t else 0))).
    - apply sum_le. intros i Hi.
      rewrite (sum_single S (fun s => price s * part X i)) by (apply (s_pool R A X Y V); auto).
      rewrite (Qmult_comm (price _)). apply prod_le_l; [|apply (s_part R A X Y V i Hi)].
      apply P2; [apply (s_pool R A X Y V)|apply (s_fits R A X Y V)]; auto.
    - rewrite sum_swap. apply sum_le. intros s Hs.
      rewrite (sum_ext _ _ (fun i => price s * (if Nat.eqb (pool X i) s then part X i else 0))).
      2:{ intros. destruct (Nat.eqb _ _); ring. }
      rewrite sum_scale. apply prod_le_l; [apply (s_portion R A X Y V)|apply P2]; auto. }
  unfold total_price. rewrite add_eq, !rsum_eq, !(sum_ext _ _ _ (fun j _ => mul_eq _ _)). lra.
Qed.

Theorem check_bound_sound alpha beta price p unit v :
  check_bound alpha beta price p unit v = true -> no_plan_earns_more_than R A v.
Proof.
  unfold check_bound. intros H X Y V. apply andb_true_iff in H. destruct H as [P H].
  pose proof (check_prices_sound alpha beta price p P X Y V) as B.
  destruct (whole A) eqn:Wh; [|bools; lra].
  destruct (all J _) eqn:Z.
  - bools. unfold earns. rewrite sum_zero; [lra|]. intros j Hj. specialize (Z j Hj). bools. rewrite Z. ring.
  - bools. rewrite mul_eq in H0. rewrite H0. unfold earns in *.
    assert (E : sum J (fun j => reward R j * Y j) == sum J (fun j => reward R j * inject_Z (Qfloor (Y j)))).
    { apply sum_ext. intros j Hj. apply Qmult_comp; [reflexivity|]. apply possible_floor; auto.
      apply (s_served R A X Y V j Hj). }
    rewrite E in *. eapply multiple_le; eauto. rewrite down_mul by auto. lia.
Qed.

Theorem check_serves_sound X Y : check_serves X Y = true -> serves R A X Y.
Proof.
  unfold check_serves. intros H. bools. constructor.
  - intros t Ht. specialize (H t Ht). bools. apply Nat.ltb_lt. auto.
  - intros t Ht. specialize (H t Ht). bools. apply check_fits_iff. auto.
  - intros t Ht. specialize (H t Ht). bools. split; [auto|]. apply check_possible_sound. auto.
  - intros s Hs. specialize (H1 s Hs). bools. rewrite rsum_eq in H1. auto.
  - intros j Hj. specialize (H0 j Hj). bools. rewrite rsum_eq in H2. repeat split; auto.
    + apply check_possible_sound. auto.
    + rewrite <- (sum_ext (parts X) _ _ (fun t _ => mul_eq _ _)). auto.
Qed.

(** The evidence that the optimum is between the reward of this plan and the bound of these prices *)
Record optimum := {
  plan : assignment; served : nat -> Q; reached : Q;
  on_load : nat -> Q; on_slot : nat -> Q; on_server : nat -> Q; proofs : nat -> pricing; at_most : Q }.

Definition check_optimum (unit : Q) (o : optimum) : bool :=
  check_serves (plan o) (served o) && eqq (rearns (served o)) (reached o) &&
  check_bound (on_load o) (on_slot o) (on_server o) (proofs o) unit (at_most o).

Theorem check_optimum_sound unit o : check_optimum unit o = true ->
  the_optimum_is_between R A (reached o) (at_most o).
Proof.
  unfold check_optimum. intros H. bools. rewrite rearns_eq in H1. split.
  - exists (plan o), (served o). split; auto. apply check_serves_sound; auto.
  - eapply check_bound_sound; eauto.
Qed.
End On.
Print Assumptions check_optimum_sound.
