(** Defines programs on rationals and finite sums, and proves what they compute. *)
From Coq Require Import QArith Qreduction Qfield Arith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec.
Open Scope Q_scope.

Definition add (a b : Q) := Qred (a + b).
Definition mul (a b : Q) := Qred (a * b).
Definition quo (a b : Q) := Qred (a / b).
Definition sub (a b : Q) := Qred (a - b).
Definition eqq (a b : Q) := Qle_bool a b && Qle_bool b a.

(** A sum is computed by a loop, because the stack may be small in the extracted program. *)
Fixpoint rsum_from (a : Q) (n : nat) (f : nat -> Q) : Q :=
  match n with O => a | S k => rsum_from (add a (f k)) k f end.
Definition rsum (n : nat) (f : nat -> Q) : Q := rsum_from 0 n f.
Fixpoint any (n : nat) (f : nat -> bool) : bool :=
  match n with O => false | S k => if f k then true else any k f end.

(** The minimum of b r / d r over all r with d r > 0; None if there is no such r *)
Fixpoint least (m : nat) (d b : nat -> Q) : option Q :=
  match m with
  | O => None
  | S k => if lt 0 (d k) then
             match least k d b with
             | None => Some (quo (b k) (d k))
             | Some v => let t := quo (b k) (d k) in if le t v then Some t else Some v
             end
           else least k d b
  end.

Lemma add_eq a b : add a b == a + b. Proof. apply Qred_correct. Qed.
Lemma mul_eq a b : mul a b == a * b. Proof. apply Qred_correct. Qed.
Lemma quo_eq a b : quo a b == a / b. Proof. apply Qred_correct. Qed.
Lemma sub_eq a b : sub a b == a - b. Proof. apply Qred_correct. Qed.
Lemma le_iff a b : le a b = true <-> a <= b. Proof. apply Qle_bool_iff. Qed.
Lemma lt_iff a b : lt a b = true <-> a < b.
Proof.
  unfold lt. rewrite negb_true_iff. split; intro H.
  - apply Qnot_le_lt. rewrite <- Qle_bool_iff. congruence.
  - destruct (Qle_bool b a) eqn:E; auto. apply Qle_bool_iff in E. lra.
Qed.
Lemma lt_false a b : lt a b = false <-> b <= a.
Proof. unfold lt. rewrite negb_false_iff. apply Qle_bool_iff. Qed.
Lemma le_false a b : le a b = false <-> b < a.
Proof. rewrite <- lt_iff. unfold lt, le. rewrite negb_true_iff. reflexivity. Qed.
Lemma eqq_iff a b : eqq a b = true <-> a == b.
Proof. unfold eqq. rewrite andb_true_iff, !Qle_bool_iff. split; intros; [lra|split; lra]. Qed.

Lemma all_iff n f : all n f = true <-> forall k, (k < n)%nat -> f k = true.
Proof.
  induction n; simpl.
  - split; auto. intros; lia.
  - destruct (f n) eqn:E; split; intro H.
    + intros k Hk. destruct (Nat.eq_dec k n); [subst; auto|]. apply IHn; auto; lia.
    + apply IHn; intros; apply H; lia.
    + discriminate.
    + rewrite <- E. apply H. lia.
Qed.
Lemma any_iff n f : any n f = true <-> exists k, (k < n)%nat /\ f k = true.
Proof.
  induction n; simpl.
  - split; [discriminate|]. intros (k & ? & _); lia.
  - destruct (f n) eqn:E; split; intro H; auto.
    + exists n; split; auto.
    + apply IHn in H. destruct H as (k & ? & ?). exists k; split; auto; lia.
    + apply IHn. destruct H as (k & ? & ?). exists k; split; auto.
      destruct (Nat.eq_dec k n); [congruence|lia].
Qed.

(** * Sums *)
Lemma sum_ext n f g : (forall k, (k < n)%nat -> f k == g k) -> sum n f == sum n g.
Proof.
  induction n; simpl; intros H; [reflexivity|].
  rewrite IHn by (intros; apply H; lia). rewrite H by lia. reflexivity.
Qed.
Lemma rsum_from_eq n f : forall a, rsum_from a n f == a + sum n f.
Proof. induction n; intros a; simpl; [ring|]. rewrite IHn, add_eq. ring. Qed.
Lemma rsum_eq n f : rsum n f == sum n f.
Proof. unfold rsum. rewrite rsum_from_eq. ring. Qed.
Lemma sum_le n f g : (forall k, (k < n)%nat -> f k <= g k) -> sum n f <= sum n g.
Proof.
  induction n; simpl; intros H; [lra|].
  assert (sum n f <= sum n g) by (apply IHn; intros; apply H; lia).
  assert (f n <= g n) by (apply H; lia). lra.
Qed.
Lemma sum_add n f g : sum n (fun k => f k + g k) == sum n f + sum n g.
Proof. induction n; simpl; [reflexivity|]. rewrite IHn. ring. Qed.
Lemma sum_scale n c f : sum n (fun k => c * f k) == c * sum n f.
Proof. induction n; simpl; [ring|]. rewrite IHn. ring. Qed.
Lemma sum_scale_r n c f : sum n (fun k => f k * c) == sum n f * c.
Proof. induction n; simpl; [ring|]. rewrite IHn. ring. Qed.
Lemma sum_zero n f : (forall k, (k < n)%nat -> f k == 0) -> sum n f == 0.
Proof.
  induction n; simpl; intros H; [reflexivity|].
  rewrite IHn by (intros; apply H; lia). rewrite H by lia. reflexivity.
Qed.
Lemma sum_nonneg n f : (forall k, (k < n)%nat -> 0 <= f k) -> 0 <= sum n f.
Proof. intros H. rewrite <- (sum_zero n (fun _ => 0)) by reflexivity. apply sum_le; auto. Qed.
Lemma sum_swap n m f :
  sum n (fun i => sum m (fun j => f i j)) == sum m (fun j => sum n (fun i => f i j)).
Proof.
  induction n; simpl.
  - symmetry. apply sum_zero. reflexivity.
  - rewrite IHn, <- sum_add. reflexivity.
Qed.
Lemma sum_term n f k : (forall j, (j < n)%nat -> 0 <= f j) -> (k < n)%nat -> f k <= sum n f.
Proof.
  induction n; simpl; intros H Hk; [lia|].
  destruct (Nat.eq_dec k n).
  - subst. assert (0 <= sum n f) by (apply sum_nonneg; intros; apply H; lia). lra.
  - assert (f k <= sum n f) by (apply IHn; [intros; apply H|]; lia).
    assert (0 <= f n) by (apply H; lia). lra.
Qed.
(** A sum that is not positive and has a positive term also has a negative one. *)
Lemma sum_negative n f k :
  sum n f <= 0 -> (k < n)%nat -> 0 < f k -> exists m, (m < n)%nat /\ f m < 0.
Proof.
  intros Hs Hk Hp.
  destruct (any n (fun m => lt (f m) 0)) eqn:E.
  - apply any_iff in E. destruct E as (m & ? & Hm). exists m. rewrite lt_iff in Hm. auto.
  - exfalso. assert (Hn : forall j, (j < n)%nat -> 0 <= f j).
    { intros j Hj. apply lt_false.
      destruct (lt (f j) 0) eqn:F; auto.
      assert (any n (fun m => lt (f m) 0) = true) by (apply any_iff; exists j; auto). congruence. }
    pose proof (sum_term n f k Hn Hk). lra.
Qed.
Lemma prod_nonneg a b : 0 <= a -> 0 <= b -> 0 <= a * b.
Proof. apply Qmult_le_0_compat. Qed.
Lemma prod_le a b c : a <= b -> 0 <= c -> a * c <= b * c.
Proof. intros; apply Qmult_le_compat_r; auto. Qed.
Lemma prod_le_l a b c : a <= b -> 0 <= c -> c * a <= c * b.
Proof. intros. rewrite (Qmult_comm c a), (Qmult_comm c b). apply prod_le; auto. Qed.

Ltac bools := repeat match goal with
  | H : _ && _ = true |- _ => apply andb_true_iff in H; destruct H
  | H : all _ _ = true |- _ => rewrite all_iff in H
  | H : le _ _ = true |- _ => rewrite le_iff in H
  | H : le _ _ = false |- _ => rewrite le_false in H
  | H : lt _ _ = true |- _ => rewrite lt_iff in H
  | H : lt _ _ = false |- _ => rewrite lt_false in H
  | H : eqq _ _ = true |- _ => rewrite eqq_iff in H
  end.


(** * Comparisons, and the greatest number *)
Lemma smaller_spec a b : (a <= b /\ smaller a b == a) \/ (b < a /\ smaller a b == b).
Proof. unfold smaller. destruct (le a b) eqn:E; bools; [left|right]; split; auto; reflexivity. Qed.
Lemma larger_spec a b : (a <= b /\ larger a b == b) \/ (b < a /\ larger a b == a).
Proof. unfold larger. destruct (le a b) eqn:E; bools; [left|right]; split; auto; reflexivity. Qed.
(** Splits a proof into two cases, by a comparison of two numbers. *)
Ltac minmax := repeat match goal with
  | H : context [smaller ?a ?b] |- _ => let S := fresh in let E := fresh in
      destruct (smaller_spec a b) as [[S E]|[S E]]; generalize dependent (smaller a b); intros
  | |- context [smaller ?a ?b] => let S := fresh in let E := fresh in
      destruct (smaller_spec a b) as [[S E]|[S E]]; generalize dependent (smaller a b); intros
  | H : context [larger ?a ?b] |- _ => let S := fresh in let E := fresh in
      destruct (larger_spec a b) as [[S E]|[S E]]; generalize dependent (larger a b); intros
  | |- context [larger ?a ?b] => let S := fresh in let E := fresh in
      destruct (larger_spec a b) as [[S E]|[S E]]; generalize dependent (larger a b); intros
  end.
Lemma smaller_ext a b c d : a == c -> b == d -> smaller a b == smaller c d.
Proof. intros. minmax; lra. Qed.
Lemma larger_ext a b c d : a == c -> b == d -> larger a b == larger c d.
Proof. intros. minmax; lra. Qed.
Lemma greatest_ext n f h : (forall k, (k < n)%nat -> f k == h k) -> greatest n f == greatest n h.
Proof.
  induction n; simpl; intros H; [reflexivity|]. apply larger_ext; [apply IHn; intros|]; apply H; lia.
Qed.
Lemma greatest_nonneg n f : 0 <= greatest n f.
Proof. induction n; simpl; [lra|]. minmax; lra. Qed.
Lemma greatest_ge m f r : (r < m)%nat -> f r <= greatest m f.
Proof.
  induction m; simpl; intros Hr; [lia|]. destruct (Nat.eq_dec r m).
  - subst. minmax; lra.
  - assert (f r <= greatest m f) by (apply IHm; lia). minmax; lra.
Qed.
Lemma lt_ext a b c d : a == c -> b == d -> lt a b = lt c d.
Proof.
  intros A B. destruct (lt a b) eqn:E; symmetry.
  - bools. apply lt_iff. lra.
  - bools. apply lt_false. lra.
Qed.
Lemma quotient_nonneg a b : 0 <= a -> 0 <= b -> 0 <= a / b.
Proof. intros. apply prod_nonneg; auto. apply Qinv_le_0_compat; auto. Qed.
Lemma quotient_le a b c : 0 < b -> a <= c * b -> a / b <= c.
Proof. intros. apply Qle_shift_div_r; auto. Qed.
Lemma le_quotient a b c : 0 < b -> c * b <= a -> c <= a / b.
Proof. intros. apply Qle_shift_div_l; auto. Qed.
Lemma sum_single n f k : (k < n)%nat -> (forall j, (j < n)%nat -> j <> k -> f j == 0) -> sum n f == f k.
Proof.
  induction n; simpl; intros Hk H; [lia|]. destruct (Nat.eq_dec k n).
  - subst. rewrite sum_zero; [ring|]. intros. apply H; lia.
  - rewrite (IHn ltac:(lia)); [|intros; apply H; lia]. rewrite (H n); [ring|lia|lia].
Qed.

(** * The least quotient *)
Lemma least_sound m d b z v : least m d b = Some v -> 0 <= z ->
  (forall r, (r < m)%nat -> z * d r <= b r) -> z <= v.
Proof.
  revert v. induction m; simpl; intros v L Hz F; [discriminate|].
  assert (F' : forall r, (r < m)%nat -> z * d r <= b r) by (intros; apply F; lia).
  destruct (lt 0 (d m)) eqn:E; [|eauto]. bools.
  assert (T : z <= quo (b m) (d m)).
  { rewrite quo_eq. apply Qle_shift_div_l; auto. }
  destruct (least m d b) as [u|].
  - specialize (IHm u eq_refl Hz F').
    destruct (le (quo (b m) (d m)) u); inversion L; subst; auto.
  - inversion L; subst; auto.
Qed.
Lemma least_some m d b r : (r < m)%nat -> 0 < d r -> exists v, least m d b = Some v.
Proof.
  induction m; simpl; intros Hr Hd; [lia|].
  destruct (lt 0 (d m)) eqn:E.
  - destruct (least m d b) as [u|]; eauto. destruct (le _ u); eauto.
  - apply IHm; auto. destruct (Nat.eq_dec r m); [|lia]. subst. bools. lra.
Qed.
