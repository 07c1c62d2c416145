(** Decides envy-freeness up to one task. *)
From Coq Require Import QArith Qround Qreduction Qfield Arith ZArith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Arithmetic Checker Repair Soundness Bundle Envy Placed.
Open Scope Q_scope.

(** * Programs *)
Section Programs.
Variable P : problem.
Variable T : tables.
Notation N := (users P). Notation K := (classes P). Notation M := (resources P).
Notation x := (t_x T).

Definition check_all_whole : bool := all N (fun n => all K (fun i => is_whole (x n i))).
(** The bundle of k with one task fewer on class j *)
Definition less (k j i : nat) : Q := if Nat.eqb i j then sub (x k i) 1 else x k i.
Definition worth_by (a : nat -> Q) (n k : nat) : Q :=
  let s := quo (weight P n) (weight P k) in
  rsum K (fun i => if lt 0 (a i) then on_class P T n i (fun r => mul s (mul (a i) (t_takes T k i r))) else 0).
Definition worth_less (n k j : nat) : Q := worth_by (less k j) n k.
Definition has_task (k j : nat) : bool := le 1 (x k j).

Variable h : hints.
Definition check_pair1 (d : Q) (quick : bool) (n k : nat) : bool :=
  check_pair P T h d quick n k || any K (fun j => has_task k j && le (at_most P n (worth_less n k j)) d).
Definition envy1_of (m : Q) (quick : bool) (n : nat) : bool :=
  let d := due T m n in
  has P n d || (let q := quick && check_rate P T h d n in all N (check_pair1 d q n)).
(** No user has a margin below m. User n has exactly the margin m towards k, whichever task is removed from the bundle
    of k. *)
Definition check_ef1 (m : Q) (n k : nat) : bool :=
  (let quick := check_held P T h in users_all P T (envy1_of m quick)) &&
  Nat.ltb n N && Nat.ltb k N && negb (Nat.eqb n k) && is_active T n && is_active T k &&
  (let d := due T m n in
   le d (at_most P n (worth_of P T n k)) &&
   all K (fun i => if has_task k i then le d (at_most P n (worth_less n k i)) else true)) &&
  check_all_whole.
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

Lemma check_all_whole_iff : check_all_whole P T = true <-> all_whole P x.
Proof.
  unfold check_all_whole, all_whole. rewrite all_iff. split.
  - intros H n i Hn Hi. specialize (H n Hn). rewrite all_iff in H. apply is_whole_iff. auto.
  - intros H n Hn. apply all_iff. intros i Hi. apply is_whole_iff. auto.
Qed.

Lemma worth_by_eq a n k : (n < N)%nat -> (k < N)%nat -> (forall i, (i < K)%nat -> 0 <= a i) ->
  (forall i r, (i < K)%nat -> (r < M)%nat -> 0 <= weight P n / weight P k * (a i * takes P k i r)) /\
  worth_by P T a n k == best P T n (fun i r => weight P n / weight P k * (a i * takes P k i r)).
Proof.
  intros Hn Hk A.
  assert (B : forall i r, (i < K)%nat -> (r < M)%nat -> 0 <= weight P n / weight P k * (a i * takes P k i r)).
  { intros. apply prod_nonneg; [apply quotient_nonneg; apply Qlt_le_weak, (weight_pos P W); auto|].
    apply prod_nonneg; [auto|apply takes_nonneg; auto]. }
  split; auto. unfold worth_by. rewrite (best_eq P T), rsum_eq. apply sum_ext. intros i Hi.
  destruct (lt 0 (a i)) eqn:X.
  - apply on_class_ext. intros r Hr. rewrite !mul_eq, quo_eq, (takes_is _ _ _ _ R) by auto. reflexivity.
  - bools. specialize (A i Hi). assert (Z : a i == 0) by lra.
    destruct (on_class_runs P W T stated_x placed R n i (fun r => weight P n / weight P k * (a i * takes P k i r)) Hn Hi)
      as (C & D & E); auto.
    destruct (Qlt_le_dec 0 (gamma P n i)) as [G|G].
    + destruct (gamma_tight P W n i Hn Hi G) as (r & Hr & Tp & _). specialize (E r Hr). cbv beta in E.
      set (o := on_class P T n i (fun r => weight P n / weight P k * (a i * takes P k i r))) in *.
      assert (E' : o * takes P n i r <= 0) by (rewrite Z in E; lra).
      destruct (Qlt_le_dec 0 o); [|lra].
      assert (0 < o * takes P n i r) by (apply Qmult_lt_0_compat; auto). lra.
    + pose proof (gamma_nonneg P W n i Hn Hi). rewrite D; lra.
Qed.
Lemma at_most_ext n v w : v == w -> at_most P n v == at_most P n w.
Proof. intros E. unfold at_most. destruct (limit P n); auto. apply smaller_ext; auto. reflexivity. Qed.

Lemma less_iff n k j eps : user P n -> user P k -> (j < K)%nat -> 1 <= x k j ->
  content P eps x n (fun i r => weight P n / weight P k * ((if Nat.eqb i j then x k i - 1 else x k i) * takes P k i r)) <->
  at_most P n (worth_less P T n k j) <= tasks P x n + eps * g P n.
Proof.
  intros Un Uk Hj X. assert (Hn : (n < N)%nat) by apply Un. assert (Hk : (k < N)%nat) by apply Uk.
  assert (E : forall i, less T k j i == if Nat.eqb i j then x k i - 1 else x k i).
  { intros i. unfold less. destruct (Nat.eqb i j); [apply sub_eq|reflexivity]. }
  assert (A : forall i, (i < K)%nat -> 0 <= less T k j i).
  { intros i Hi. rewrite E. pose proof (f_nonneg P x F k i Hk Hi). destruct (Nat.eqb i j) eqn:D; [|auto].
    apply Nat.eqb_eq in D. subst. lra. }
  destruct (worth_by_eq (less T k j) n k Hn Hk A) as [B1 B2].
  unfold worth_less. rewrite (at_most_ext n _ _ B2).
  rewrite <- (content_iff P W T stated_x placed R) by auto.
  split; apply content_ext; auto; intros; rewrite E; reflexivity.
Qed.
Lemma plain_iff n k eps : user P n -> user P k ->
  content P eps x n (fun i r => weight P n / weight P k * (x k i * takes P k i r)) <->
  at_most P n (worth_of P T n k) <= tasks P x n + eps * g P n.
Proof.
  intros Un Uk. assert (Hn : (n < N)%nat) by apply Un. assert (Hk : (k < N)%nat) by apply Uk.
  destruct (worth_by_eq (x k) n k Hn Hk) as [B1 B2]; [intros; apply (f_nonneg P x F); auto|].
  change (worth_of P T n k) with (worth_by P T (x k) n k).
  rewrite (at_most_ext n _ _ B2). rewrite <- (content_iff P W T stated_x placed R) by auto. reflexivity.
Qed.

Theorem check_ef1_sound h m n k : check_ef1 P T h m n k = true -> least_eps (fun eps => ef1 P eps x) m /\ all_whole P x.
Proof.
  unfold check_ef1. intros H. apply andb_true_iff in H. destruct H as [H Wh].
  apply andb_true_iff in H. destruct H as [H Low]. apply andb_true_iff in H. destruct H as [H Ak].
  apply andb_true_iff in H. destruct H as [H An]. apply andb_true_iff in H. destruct H as [H Ne].
  apply andb_true_iff in H. destruct H as [H Hk]. apply andb_true_iff in H. destruct H as [H Hn].
  apply Nat.ltb_lt in Hn. apply Nat.ltb_lt in Hk. apply negb_true_iff, Nat.eqb_neq in Ne.
  cbv zeta in *. rewrite (users_all_iff P T stated_x placed R) in H.
  split; [|apply check_all_whole_iff; auto]. split.
  - intros a b Ua Ub Nab. specialize (H a Ua). unfold envy1_of in H. cbv zeta in H.
    assert (Ha : (a < N)%nat) by apply Ua. assert (Hb : (b < N)%nat) by apply Ub.
    pose proof (due_eq P T stated_x placed R m a Ha) as De.
    assert (Plain : at_most P a (worth_of P T a b) <= due T m a -> content P (- m) x a
      (fun i r => weight P a / weight P b * (x b i * takes P b i r))) by (intros; apply plain_iff; auto; lra).
    apply orb_true_iff in H. destruct H as [H|H].
    + left. apply Plain. apply has_iff in H. destruct H as (l & Ll & H). unfold at_most. rewrite Ll. minmax; lra.
    + rewrite all_iff in H. specialize (H b Hb). unfold check_pair1 in H. apply orb_true_iff in H. destruct H as [H|H].
      * left. apply Plain. unfold check_pair in H.
        destruct (Nat.eqb a b) eqn:E; [apply Nat.eqb_eq in E; contradiction|].
        destruct (user_is P stated_x T placed R b Ub) as [_ Ab]. rewrite Ab in H. simpl in H.
        assert (V : worth_of P T a b <= due T m a).
        { destruct (_ && Z.leb _ _) eqn:Q; [|apply le_iff; auto].
          apply andb_true_iff in Q. destruct Q as [Q1 Q2]. apply andb_true_iff in Q1. destruct Q1.
          eapply quick_sound; eauto. }
        unfold at_most. destruct (limit P a); [minmax|]; lra.
      * right. apply any_iff in H. destruct H as (i & Hi & H). apply andb_true_iff in H. destruct H as [H1 H2].
        apply le_iff in H1. apply le_iff in H2. exists i. split; auto. split; auto. apply less_iff; auto. lra.
  - intros eps A. assert (Un : user P n) by (eapply is_user; eauto). assert (Uk : user P k) by (eapply is_user; eauto).
    pose proof (due_eq P T stated_x placed R m n Hn) as De. apply andb_true_iff in Low. destruct Low as [L1 L2]. bools.
    apply (below eps (- m) (g P n)); [apply user_g; auto|].
    destruct (A n k Un Uk Ne) as [B|(i & Hi & X & B)].
    + apply plain_iff in B; auto. lra.
    + apply less_iff in B; auto. specialize (L2 i Hi). unfold has_task in L2. apply le_iff in X. rewrite X in L2.
      apply le_iff in L2. lra.
Qed.
End Sound.
