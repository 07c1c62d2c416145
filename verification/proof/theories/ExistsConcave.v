(** Proves that a concave function of the tasks has an optimum over the feasible allocations. The function is a weighted
    sum over users. The term of a user is the minimum of some increasing lines at the worth that it has. This is a
    linear programme. In every direction from the optimum, the sum of weights times slopes does not grow, for some
    choice of lines that attain the minimum at the optimum. *)
From Coq Require Import QArith Qfield Arith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Arithmetic Repair Meaning Duality Programme ExistsLevels.
Import ListNotations.
Open Scope Q_scope.

(** The minimum of f 0, ..., f J *)
Fixpoint lowest (J : nat) (f : nat -> Q) : Q := match J with O => f O | S k => smaller (lowest k f) (f (S k)) end.
Lemma lowest_le J f j : (j <= J)%nat -> lowest J f <= f j.
Proof.
  induction J; intros Hj; [replace j with O by lia; simpl; lra|]. simpl.
  destruct (Nat.eq_dec j (S J)) as [->|]; [minmax; lra|]. specialize (IHJ ltac:(lia)). minmax; lra.
Qed.
Lemma lowest_ge J f c : (forall j, (j <= J)%nat -> c <= f j) -> c <= lowest J f.
Proof.
  induction J; intros H; simpl; [apply H; lia|]. assert (c <= lowest J f) by (apply IHJ; intros; apply H; lia).
  specialize (H (S J) ltac:(lia)). minmax; lra.
Qed.
Lemma a_little d e : 0 < d -> exists t0, 0 < t0 /\ forall t, 0 <= t -> t <= t0 -> t * e <= d.
Proof.
  intros D. destruct (Qlt_le_dec 0 e) as [E|E].
  - exists (d / e). assert (0 < d / e) by (apply Qlt_shift_div_l; lra). split; [auto|]. intros t T0 T1.
    pose proof (prod_le _ _ e T1 ltac:(lra)) as L. assert (Q : d / e * e == d) by (field; lra). lra.
  - exists 1. split; [lra|]. intros t T0 _. pose proof (prod_nonneg t (- e) T0 ltac:(lra)). lra.
Qed.
(** Near a point, one of the lines that attain the minimum at this point attains the minimum too. Among these lines, it
    is the line that grows least. *)
Lemma lowest_near J a e : exists j, (j <= J)%nat /\ a j == lowest J a /\
  exists t0, 0 < t0 /\ forall t, 0 <= t -> t <= t0 -> lowest J a + t * e j <= lowest J (fun k => a k + t * e k).
Proof.
  induction J.
  - exists O. split; [lia|]. split; [reflexivity|]. exists 1. split; [lra|]. intros. simpl. lra.
  - destruct IHJ as (j & Hj & Ej & t0 & T0 & Near). destruct (Q_dec (lowest J a) (a (S J))) as [[L|L]|L].
    + exists j. split; [lia|]. destruct (a_little (a (S J) - lowest J a) (e j - e (S J))) as (t1 & T1 & Far); [lra|].
      split; [simpl; minmax; lra|]. exists (smaller t0 t1). split; [minmax; lra|]. intros t P0 P1.
      specialize (Near t P0 ltac:(minmax; lra)). specialize (Far t P0 ltac:(minmax; lra)). simpl. minmax; lra.
    + exists (S J). split; [lia|]. destruct (a_little (lowest J a - a (S J)) (e (S J) - e j)) as (t1 & T1 & Far); [lra|].
      split; [simpl; minmax; lra|]. exists (smaller t0 t1). split; [minmax; lra|]. intros t P0 P1.
      specialize (Near t P0 ltac:(minmax; lra)). specialize (Far t P0 ltac:(minmax; lra)). simpl. minmax; lra.
    + destruct (Qlt_le_dec (e (S J)) (e j)) as [C|C].
      * exists (S J). split; [lia|]. split; [simpl; minmax; lra|]. exists t0. split; [auto|]. intros t P0 P1.
        specialize (Near t P0 P1). pose proof (prod_le_l _ _ t (Qlt_le_weak _ _ C) P0). simpl. minmax; lra.
      * exists j. split; [lia|]. split; [simpl; minmax; lra|]. exists t0. split; [auto|]. intros t P0 P1.
        specialize (Near t P0 P1). pose proof (prod_le_l _ _ t C P0). simpl. minmax; lra.
Qed.
Lemma all_near n (p : nat -> Q -> Prop) :
  (forall k, (k < n)%nat -> exists t0, 0 < t0 /\ forall t, 0 <= t -> t <= t0 -> p k t) ->
  exists t, 0 < t /\ t <= 1 /\ forall k, (k < n)%nat -> p k t.
Proof.
  intros H. assert (G : exists t0, 0 < t0 /\ forall t, 0 <= t -> t <= t0 -> forall k, (k < n)%nat -> p k t).
  { induction n.
    - exists 1. split; [lra|]. intros. lia.
    - destruct IHn as (t0 & T0 & A); [intros; apply H; lia|]. destruct (H n ltac:(lia)) as (t1 & T1 & B).
      exists (smaller t0 t1). split; [minmax; lra|]. intros t P0 P1 k Hk.
      destruct (Nat.eq_dec k n) as [->|]; [apply B; auto; minmax; lra|]. apply A; auto; [minmax; lra|lia]. }
  destruct G as (t0 & T0 & G). exists (smaller t0 1). split; [minmax; lra|]. split; [minmax; lra|].
  apply G; minmax; lra.
Qed.

Section On.
Variable P : problem.
Notation N := (users P). Notation K := (classes P). Notation M := (resources P).
Hypothesis W : well_formed P.
Variable u : nat -> nat -> Q.
Variables (J : nat) (cut slope : nat -> Q).
Hypothesis Grow : 0 <= slope 0%nat.
Notation val := (value P u).

Definition line (j : nat) (v : Q) : Q := cut j + slope j * v.
Definition worth_of (v : Q) : Q := lowest J (fun j => line j v).
Definition welfare (y : allocation) : Q := sum N (fun n => if active P n then weight P n * worth_of (val y n) else 0).

(** ** The linear programme. Its variables are the tasks, and for each user a number that is below all lines of the
    user. *)
Notation V := (N * K)%nat.
Lemma sum_parts f : sum (V + N) f == sum V f + sum N (fun n => f (V + n)%nat).
Proof. apply sum_split. Qed.
Lemma early j : (j < V)%nat -> Nat.ltb j V = true.
Proof. intros. apply Nat.ltb_lt. auto. Qed.
Lemma late n : Nat.ltb (V + n) V = false.
Proof. apply Nat.ltb_ge. lia. Qed.
Lemma back n : (V + n - V)%nat = n.
Proof. lia. Qed.
Definition join (f h : nat -> Q) (j : nat) : Q := if Nat.ltb j V then f j else h (j - V)%nat.
Lemma at_join f h z : at_point (V + N) (join f h) z == at_point V f z + sum N (fun n => h n * z (V + n)%nat).
Proof.
  unfold at_point. rewrite sum_parts. apply Qplus_comp; apply sum_ext; intros j Hj; unfold join.
  - rewrite early by auto. reflexivity.
  - rewrite late, back. reflexivity.
Qed.
Definition of_n (n m : nat) : Q := if Nat.eqb m n then 1 else 0.
Lemma sum_of_n n f : (n < N)%nat -> sum N (fun m => of_n n m * f m) == f n.
Proof.
  intros Hn. rewrite (sum_single N _ n); auto.
  - unfold of_n. rewrite Nat.eqb_refl. ring.
  - intros j _ Ne. unfold of_n. apply Nat.eqb_neq in Ne. rewrite Ne. ring.
Qed.
Definition kept_row (d : row) : row := {| coef := join (coef d) (fun _ => 0); most := most d |}.
Definition below (n j : nat) : row :=
  {| coef := join (flat P (fun m i => - slope j * (of_n n m * u m i))) (of_n n); most := cut j |}.
Definition programme : list row :=
  map kept_row (possible P) ++ flat_map (fun n => map (below n) (seq 0 (S J))) (filter (active P) (seq 0 N)).
Definition aim : nat -> Q := join (fun _ => 0) (fun n => if active P n then weight P n else 0).

Lemma at_below n j z : (n < N)%nat ->
  at_point (V + N) (coef (below n j)) z == z (V + n)%nat - slope j * val (grid P z) n.
Proof.
  intros Hn. cbn [coef below]. rewrite at_join, (sum_of_n n (fun m => z (V + m)%nat)) by auto. rewrite at_flat.
  rewrite (sum_ext N _ (fun m => of_n n m * (- slope j * val (grid P z) m))).
  - rewrite (sum_of_n n (fun m => - slope j * val (grid P z) m)) by auto. ring.
  - intros m Hm. unfold value. rewrite <- !sum_scale. apply sum_ext. intros. ring.
Qed.
Lemma at_aim z : at_point (V + N) aim z == sum N (fun n => if active P n then weight P n * z (V + n)%nat else 0).
Proof.
  unfold aim. rewrite at_join. unfold at_point at 1. rewrite sum_zero by (intros; ring).
  rewrite (sum_ext N (fun n => (if active P n then weight P n else 0) * z (V + n)%nat)
    (fun n => if active P n then weight P n * z (V + n)%nat else 0)); [ring|]. intros n _. destruct (active P n); ring.
Qed.
Lemma programme_iff z : solves (V + N) z programme <-> feasible P (grid P z) /\
  forall n j, user P n -> (j <= J)%nat -> z (V + n)%nat <= line j (val (grid P z) n).
Proof.
  unfold programme, line. split.
  - intros S. split.
    + apply (possible_iff P). intros d I. pose proof (S (kept_row d) ltac:(apply in_app_iff; left; apply in_map; auto)) as H.
      cbn [coef most kept_row] in H. rewrite at_join, (sum_zero N) in H by (intros; ring). lra.
    + intros n j [Hn A] Hj.
      pose proof (S (below n j)) as H. rewrite at_below in H by auto. cbn [most below] in H.
      assert (I : In (below n j) (map kept_row (possible P) ++
        flat_map (fun n => map (below n) (seq 0 (Datatypes.S J))) (filter (active P) (seq 0 N)))); [|specialize (H I); lra].
      apply in_app_iff. right. apply in_flat_map. exists n. split.
      * apply filter_In. split; [apply in_seq; lia|auto].
      * apply in_map. apply in_seq. lia.
  - intros [F B] d I. apply in_app_iff in I. destruct I as [I|I].
    + apply in_map_iff in I. destruct I as (e & <- & I). cbn [coef most kept_row].
      rewrite at_join, (sum_zero N) by (intros; ring). apply (possible_iff P) in F. specialize (F e I). lra.
    + apply in_flat_map in I. destruct I as (n & In_ & I). apply in_map_iff in I. destruct I as (j & <- & Ij).
      apply filter_In in In_. destruct In_ as [Hn A]. apply in_seq in Hn, Ij. rewrite at_below by lia. cbn [most below].
      specialize (B n j ltac:(split; [lia|auto]) ltac:(lia)). lra.
Qed.
Lemma value_ext y z n : (forall i, (i < K)%nat -> y n i == z n i) -> val y n == val z n.
Proof. intros E. apply sum_ext. intros. rewrite E by auto. reflexivity. Qed.
Lemma worth_ext a b : a == b -> worth_of a <= worth_of b.
Proof.
  intros E. apply lowest_ge. intros j Hj. apply Qle_trans with (line j a); [apply (lowest_le J (fun j => line j a)); auto|].
  unfold line. rewrite E. lra.
Qed.
Definition with_worth (y : allocation) : nat -> Q := join (flat P y) (fun n => worth_of (val y n)).
Lemma with_worth_grid y n i : (n < N)%nat -> (i < K)%nat -> grid P (with_worth y) n i = y n i.
Proof.
  intros Hn Hi. unfold with_worth, grid, join. rewrite early by nia.
  change (flat P y (n * K + i)%nat) with (grid P (flat P y) n i). apply grid_flat. auto.
Qed.
Lemma with_worth_last y n : with_worth y (V + n)%nat = worth_of (val y n).
Proof. unfold with_worth, join. rewrite late, back. reflexivity. Qed.
Lemma with_worth_solves y : feasible P y -> solves (V + N) (with_worth y) programme.
Proof.
  intros Y. apply programme_iff. split.
  - apply (feasible_ext P y); auto. intros. rewrite with_worth_grid by auto. reflexivity.
  - intros n j [Hn _] Hj. rewrite with_worth_last. apply Qle_trans with (line j (val y n)); [apply (lowest_le J (fun j => line j (val y n))); auto|].
    unfold line. rewrite (value_ext y (grid P (with_worth y)) n); [lra|]. intros. rewrite with_worth_grid by auto. reflexivity.
Qed.

Theorem best_welfare_exists : (forall n i, user P n -> (i < K)%nat -> 0 <= u n i) ->
  exists x, feasible P x /\ forall y, feasible P y -> welfare y <= welfare x.
Proof.
  intros U0. destruct (attained (V + N) programme aim) as (z & S & Top).
  - exists (with_worth (fun _ _ => 0)). apply with_worth_solves. apply nothing_is_feasible. auto.
  - exists (sum N (fun n => if active P n then weight P n * line 0 (sum K (fun i => u n i * gamma P n i)) else 0)).
    intros z S. apply programme_iff in S. destruct S as [F B]. rewrite at_aim. apply sum_le. intros n Hn.
    destruct (active P n) eqn:A; [|lra]. assert (U : user P n) by (split; auto). pose proof (weight_pos P W n Hn).
    apply prod_le_l; [|lra]. apply Qle_trans with (1 := B n 0%nat U ltac:(lia)). unfold line.
    assert (L : val (grid P z) n <= sum K (fun i => u n i * gamma P n i)).
    { apply sum_le. intros i Hi. apply prod_le_l; auto. apply at_most_alone; auto. }
    pose proof (prod_le_l _ _ _ L Grow). lra.
  - apply programme_iff in S. destruct S as [F B]. exists (grid P z). split; [auto|]. intros y Y.
    specialize (Top _ (with_worth_solves y Y)). rewrite !at_aim in Top.
    apply Qle_trans with (sum N (fun n => if active P n then weight P n * z (V + n)%nat else 0)).
    + apply Qle_trans with (2 := Top). apply sum_le. intros n Hn. destruct (active P n); [|lra]. rewrite with_worth_last. lra.
    + apply sum_le. intros n Hn. destruct (active P n) eqn:A; [|lra]. pose proof (weight_pos P W n Hn).
      apply prod_le_l; [|lra]. apply lowest_ge. intros j Hj. apply B; auto. split; auto.
Qed.

(** ** The optimum, compared with a point in the direction of y *)
Lemma value_mix t x y n : val (mix t x y) n == val x n + t * (val y n - val x n).
Proof.
  unfold value, mix. rewrite (sum_ext K _ (fun i => u n i * x n i + t * (u n i * y n i - u n i * x n i))) by (intros; ring).
  apply sum_mix.
Qed.
Theorem best_welfare_slopes x y : feasible P x -> (forall z, feasible P z -> welfare z <= welfare x) -> feasible P y ->
  exists at_ : nat -> nat, (forall n, (n < N)%nat -> (at_ n <= J)%nat /\ line (at_ n) (val x n) == worth_of (val x n)) /\
    sum N (fun n => if active P n then weight P n * slope (at_ n) * (val y n - val x n) else 0) <= 0.
Proof.
  intros X Best Y.
  destruct (choices nat O (fun n j => (j <= J)%nat /\ line j (val x n) == worth_of (val x n) /\
    exists t0, 0 < t0 /\ forall t, 0 <= t -> t <= t0 ->
      worth_of (val x n) + t * (slope j * (val y n - val x n)) <= worth_of (val (mix t x y) n)) N) as (at_ & At).
  { intros n Hn. destruct (lowest_near J (fun j => line j (val x n)) (fun j => slope j * (val y n - val x n)))
      as (j & Hj & Ej & t0 & T0 & Near). exists j. split; [auto|]. split; [exact Ej|]. exists t0. split; [auto|]. intros t P0 P1.
    apply Qle_trans with (1 := Near t P0 P1). apply lowest_ge. intros k Hk.
    apply Qle_trans with (1 := lowest_le J _ k Hk). cbv beta. unfold line. rewrite value_mix. lra. }
  exists at_. split; [intros n Hn; destruct (At n Hn) as (A & B & _); auto|].
  apply Qnot_lt_le. intros C.
  destruct (all_near N (fun n t => worth_of (val x n) + t * (slope (at_ n) * (val y n - val x n)) <= worth_of (val (mix t x y) n)))
    as (t & T0 & T1 & Near).
  { intros n Hn. apply (At n Hn). }
  assert (Fm : feasible P (mix t x y)) by (apply mix_feasible; auto; lra).
  specialize (Best _ Fm). unfold welfare in Best.
  assert (L : sum N (fun n => (if active P n then weight P n * worth_of (val x n) else 0) +
      t * (if active P n then weight P n * slope (at_ n) * (val y n - val x n) else 0)) <=
    sum N (fun n => if active P n then weight P n * worth_of (val (mix t x y) n) else 0)).
  { apply sum_le. intros n Hn. destruct (active P n); [|lra]. pose proof (weight_pos P W n Hn).
    pose proof (prod_le_l _ _ (weight P n) (Near n Hn) ltac:(lra)). lra. }
  rewrite sum_add, sum_scale in L.
  assert (0 < t * sum N (fun n => if active P n then weight P n * slope (at_ n) * (val y n - val x n) else 0))
    by (apply Qmult_lt_0_compat; auto). lra.
Qed.
End On.
