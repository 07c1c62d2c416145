(** States the feasible allocations as linear inequalities. Proves that prices prove every upper bound on a linear
    function of them, and that the function attains its greatest value. *)
From Coq Require Import QArith Qfield Arith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Arithmetic Repair Duality.
Import ListNotations.
Open Scope Q_scope.

Section On.
Variable P : problem.
Notation N := (users P). Notation K := (classes P). Notation M := (resources P).
Hypothesis W : well_formed P.

(** Converts tasks by user and class to a single sequence, and back. *)
Definition flat (f : nat -> nat -> Q) (j : nat) : Q := f (j / K)%nat (j mod K)%nat.
Definition grid (z : nat -> Q) (n i : nat) : Q := z (n * K + i)%nat.
Lemma grid_flat f n i : (i < K)%nat -> grid (flat f) n i = f n i.
Proof.
  intros Hi. unfold grid, flat. rewrite Nat.div_add_l, Nat.div_small, Nat.add_0_r by lia.
  replace (n * K + i)%nat with (i + n * K)%nat by lia. rewrite Nat.mod_add, Nat.mod_small by lia. reflexivity.
Qed.
Lemma sum_split a b f : sum (a + b) f == sum a f + sum b (fun k => f (a + k)%nat).
Proof.
  induction b.
  - rewrite Nat.add_0_r. simpl. ring.
  - rewrite Nat.add_succ_r. simpl. rewrite IHb. ring.
Qed.
Lemma sum_grid n f : sum (n * K) f == sum n (fun m => sum K (fun i => f (m * K + i)%nat)).
Proof.
  induction n; [reflexivity|]. replace (S n * K)%nat with (n * K + K)%nat by lia. rewrite sum_split, IHn. reflexivity.
Qed.
Lemma at_flat f z : at_point (N * K) (flat f) z == sum N (fun n => sum K (fun i => f n i * grid z n i)).
Proof.
  unfold at_point. rewrite sum_grid. apply sum_ext. intros n Hn. apply sum_ext. intros i Hi.
  change (flat f (n * K + i)%nat) with (grid (flat f) n i). rewrite grid_flat by auto. reflexivity.
Qed.
Lemma at_grid f z : at_point (N * K) f z == sum N (fun n => sum K (fun i => grid f n i * grid z n i)).
Proof. unfold at_point. apply sum_grid. Qed.

(** ** The rows *)
Definition here (n i m j : nat) : Q := if Nat.eqb m n && Nat.eqb j i then 1 else 0.
Definition none_below (n i : nat) : row := {| coef := flat (fun m j => - here n i m j); most := 0 |}.
Definition none_above (n i : nat) : row := {| coef := flat (here n i); most := 0 |}.
Definition row_of (i r : nat) : row :=
  {| coef := flat (fun m j => if Nat.eqb j i then takes P m j r else 0); most := full P i r |}.
Definition limit_of (n : nat) (T : Q) : row := {| coef := flat (fun m _ => if Nat.eqb m n then 1 else 0); most := T |}.
Definition possible : list row :=
  map (fun a => none_below (fst a) (snd a)) (list_prod (seq 0 N) (seq 0 K)) ++
  flat_map (fun a => if eqq (gamma P (fst a) (snd a)) 0 then [none_above (fst a) (snd a)] else [])
    (list_prod (seq 0 N) (seq 0 K)) ++
  map (fun a => row_of (fst a) (snd a)) (list_prod (seq 0 K) (seq 0 M)) ++
  flat_map (fun n => match limit P n with Some T => [limit_of n T] | None => [] end) (seq 0 N).

Lemma in_pairs a b n m : In (a, b) (list_prod (seq 0 n) (seq 0 m)) <-> (a < n)%nat /\ (b < m)%nat.
Proof. rewrite in_prod_iff, !in_seq. lia. Qed.
Lemma possible_in c : In c possible ->
  (exists n i, (n < N)%nat /\ (i < K)%nat /\ c = none_below n i) \/
  (exists n i, (n < N)%nat /\ (i < K)%nat /\ gamma P n i == 0 /\ c = none_above n i) \/
  (exists i r, (i < K)%nat /\ (r < M)%nat /\ c = row_of i r) \/
  (exists n T, (n < N)%nat /\ limit P n = Some T /\ c = limit_of n T).
Proof.
  unfold possible. rewrite !in_app_iff, !in_flat_map, !in_map_iff.
  intros [([a b] & <- & H)|[([a b] & H & I)|[([a b] & <- & H)|(n & H & I)]]].
  - apply in_pairs in H. left. exists a, b. simpl. tauto.
  - apply in_pairs in H. cbn [fst snd] in I. destruct (eqq (gamma P a b) 0) eqn:E; [|destruct I].
    destruct I as [<-|[]]. right. left. exists a, b. bools. tauto.
  - apply in_pairs in H. right. right. left. exists a, b. simpl. tauto.
  - apply in_seq in H. destruct (limit P n) as [T|] eqn:E; [|destruct I]. destruct I as [<-|[]].
    right. right. right. exists n, T. repeat split; auto. lia.
Qed.
Lemma in_possible : 
  (forall n i, (n < N)%nat -> (i < K)%nat -> In (none_below n i) possible) /\
  (forall n i, (n < N)%nat -> (i < K)%nat -> gamma P n i == 0 -> In (none_above n i) possible) /\
  (forall i r, (i < K)%nat -> (r < M)%nat -> In (row_of i r) possible) /\
  (forall n T, (n < N)%nat -> limit P n = Some T -> In (limit_of n T) possible).
Proof.
  unfold possible. repeat split; intros; rewrite !in_app_iff, !in_flat_map, !in_map_iff.
  - left. exists (n, i). split; auto. apply in_pairs. auto.
  - right. left. exists (n, i). split; [apply in_pairs; auto|]. cbn [fst snd].
    destruct (eqq (gamma P n i) 0) eqn:E; [left; auto|]. exfalso. rewrite <- not_true_iff_false, eqq_iff in E. auto.
  - right. right. left. exists (i, r). split; auto. apply in_pairs. auto.
  - right. right. right. exists n. split; [apply in_seq; lia|]. rewrite H0. left. auto.
Qed.

(** ** The rows are satisfied exactly by feasible allocations. *)
Lemma sum_here n i f : (n < N)%nat -> (i < K)%nat -> sum N (fun m => sum K (fun j => here n i m j * f m j)) == f n i.
Proof.
  intros Hn Hi. rewrite (sum_single N _ n); auto.
  - rewrite (sum_single K _ i); auto.
    + unfold here. rewrite !Nat.eqb_refl. simpl. ring.
    + intros j _ Ne. unfold here. apply Nat.eqb_neq in Ne. rewrite Ne, andb_false_r. ring.
  - intros m _ Ne. apply sum_zero. intros j _. unfold here. apply Nat.eqb_neq in Ne. rewrite Ne. simpl. ring.
Qed.
Lemma at_none_below n i z : (n < N)%nat -> (i < K)%nat -> at_point (N * K) (coef (none_below n i)) z == - grid z n i.
Proof.
  intros Hn Hi. simpl. rewrite at_flat.
  rewrite (sum_ext N _ (fun m => -(1) * sum K (fun j => here n i m j * grid z m j))).
  - rewrite sum_scale, sum_here by auto. ring.
  - intros m _. rewrite <- sum_scale. apply sum_ext. intros. ring.
Qed.
Lemma at_none_above n i z : (n < N)%nat -> (i < K)%nat -> at_point (N * K) (coef (none_above n i)) z == grid z n i.
Proof. intros Hn Hi. simpl. rewrite at_flat, sum_here by auto. reflexivity. Qed.
Lemma at_row i r z : (i < K)%nat -> at_point (N * K) (coef (row_of i r)) z == load P (grid z) i r.
Proof.
  intros Hi. simpl. rewrite at_flat. apply sum_ext. intros n Hn. rewrite (sum_single K _ i); auto.
  - rewrite Nat.eqb_refl. ring.
  - intros j _ Ne. apply Nat.eqb_neq in Ne. rewrite Ne. ring.
Qed.
Lemma at_limit n T z : (n < N)%nat -> at_point (N * K) (coef (limit_of n T)) z == tasks P (grid z) n.
Proof.
  intros Hn. simpl. rewrite at_flat, (sum_single N _ n); auto.
  - apply sum_ext. intros i _. rewrite Nat.eqb_refl. ring.
  - intros m _ Ne. apply sum_zero. intros i _. apply Nat.eqb_neq in Ne. rewrite Ne. ring.
Qed.
Theorem possible_iff z : solves (N * K) z possible <-> feasible P (grid z).
Proof.
  destruct in_possible as (A & B & C & D). split.
  - intros S. constructor.
    + intros n i Hn Hi. specialize (S _ (A n i Hn Hi)). rewrite at_none_below in S by auto. simpl in S. lra.
    + intros n i Hn Hi G. pose proof (S _ (A n i Hn Hi)) as L. specialize (S _ (B n i Hn Hi G)).
      rewrite at_none_below in L by auto. rewrite at_none_above in S by auto. simpl in L, S. lra.
    + intros i r Hi Hr. specialize (S _ (C i r Hi Hr)). rewrite at_row in S by auto. auto.
    + intros n Hn. unfold within_limit. destruct (limit P n) as [T|] eqn:E; auto.
      specialize (S _ (D n T Hn E)). rewrite at_limit in S by auto. auto.
  - intros F c I. destruct (possible_in c I) as
      [(n & i & Hn & Hi & ->)|[(n & i & Hn & Hi & G & ->)|[(i & r & Hi & Hr & ->)|(n & T & Hn & E & ->)]]].
    + rewrite at_none_below by auto. simpl. pose proof (f_nonneg P _ F n i Hn Hi). lra.
    + rewrite at_none_above by auto. simpl. rewrite (f_can P _ F n i Hn Hi G). lra.
    + rewrite at_row by auto. apply (f_rows P _ F); auto.
    + rewrite at_limit by auto. pose proof (f_limit P _ F n Hn) as L. unfold within_limit in L. rewrite E in L. auto.
Qed.
Lemma feasible_flat y : feasible P y -> feasible P (grid (flat y)).
Proof. apply feasible_ext. intros n i _ Hi. rewrite grid_flat by auto. reflexivity. Qed.
Theorem nothing_is_feasible : feasible P (fun _ _ => 0).
Proof.
  constructor; intros; try reflexivity; try lra.
  - unfold load. rewrite sum_zero by (intros; ring). apply full_nonneg; auto.
  - unfold within_limit. destruct (limit P n) as [T|] eqn:E; auto. unfold tasks. rewrite sum_zero by reflexivity.
    apply (limit_nonneg P W n T); auto.
Qed.

(** ** An inequality that follows from these rows, and from some other rows, gives prices. *)
Definition paid (p : nat -> nat -> Q) (q : nat -> Q) : Q :=
  sum K (fun i => sum M (fun r => p i r * full P i r)) +
  sum N (fun n => match limit P n with Some T => q n * T | None => 0 end).
Definition price_of (p : nat -> nat -> Q) (q : nat -> Q) (n i : nat) : Q :=
  sum M (fun r => p i r * takes P n i r) + q n.
Record are_prices (p : nat -> nat -> Q) (q : nat -> Q) : Prop := {
  of_rows : forall i r, (i < K)%nat -> (r < M)%nat -> 0 <= p i r;
  of_users : forall n, (n < N)%nat -> 0 <= q n /\ (limit P n = None -> q n == 0) }.

Lemma paid_zero : paid (fun _ _ => 0) (fun _ => 0) == 0.
Proof.
  unfold paid. rewrite !sum_zero; [ring| |].
  - intros n _. destruct (limit P n); ring.
  - intros i _. apply sum_zero. intros. ring.
Qed.
Lemma paid_add p q p' q' : paid (fun i r => p i r + p' i r) (fun n => q n + q' n) == paid p q + paid p' q'.
Proof.
  unfold paid.
  rewrite (sum_ext K _ (fun i => sum M (fun r => p i r * full P i r) + sum M (fun r => p' i r * full P i r))).
  2:{ intros i _. rewrite <- sum_add. apply sum_ext. intros. ring. }
  rewrite (sum_ext N _ (fun n => match limit P n with Some T => q n * T | None => 0 end +
    match limit P n with Some T => q' n * T | None => 0 end)).
  2:{ intros n _. destruct (limit P n); ring. }
  rewrite !sum_add. ring.
Qed.
Lemma paid_scale t p q : paid (fun i r => t * p i r) (fun n => t * q n) == t * paid p q.
Proof.
  unfold paid. rewrite Qmult_plus_distr_r, <- !sum_scale. apply Qplus_comp.
  - apply sum_ext. intros i _. rewrite <- sum_scale. apply sum_ext. intros. ring.
  - apply sum_ext. intros n _. destruct (limit P n); ring.
Qed.
Lemma price_add p q p' q' n i :
  price_of (fun i r => p i r + p' i r) (fun n => q n + q' n) n i == price_of p q n i + price_of p' q' n i.
Proof.
  unfold price_of. rewrite (sum_ext M _ (fun r => p i r * takes P n i r + p' i r * takes P n i r)) by (intros; ring).
  rewrite sum_add. ring.
Qed.
Lemma price_scale t p q n i : price_of (fun i r => t * p i r) (fun n => t * q n) n i == t * price_of p q n i.
Proof.
  unfold price_of. rewrite (sum_ext M _ (fun r => t * (p i r * takes P n i r))) by (intros; ring). rewrite sum_scale. ring.
Qed.
Lemma price_zero n i : price_of (fun _ _ => 0) (fun _ => 0) n i == 0.
Proof. unfold price_of. rewrite sum_zero by (intros; ring). ring. Qed.

Variable E : list row.
(** s is the part that no price pays for. t is the price of tasks that no user may have. *)
Lemma follows_prices d : follows (possible ++ E) d -> exists p q s t e, are_prices p q /\
  (forall n i, (n < N)%nat -> (i < K)%nat -> 0 <= s n i /\ (~ gamma P n i == 0 -> t n i == 0)) /\
  follows E e /\
  (forall n i, (n < N)%nat -> (i < K)%nat -> grid (coef d) n i == price_of p q n i - s n i + t n i + grid (coef e) n i) /\
  most d == paid p q + most e.
Proof.
  assert (Z0 : are_prices (fun _ _ => 0) (fun _ => 0)) by (constructor; intros; [lra|split; [lra|reflexivity]]).
  induction 1 as [|d I|d d' _ (p & q & s & t & e & A & S & F & G & B) _ (p' & q' & s' & t' & e' & A' & S' & F' & G' & B')
    |c d C _ (p & q & s & t & e & A & S & F & G & B)].
  - exists (fun _ _ => 0), (fun _ => 0), (fun _ _ => 0), (fun _ _ => 0), nothing.
    split; [auto|]. split; [intros; split; [lra|reflexivity]|]. split; [constructor 1|]. split.
    + intros. rewrite price_zero. unfold grid. simpl. ring.
    + rewrite paid_zero. simpl. ring.
  - apply in_app_iff in I. destruct I as [I|I].
    2:{ exists (fun _ _ => 0), (fun _ => 0), (fun _ _ => 0), (fun _ _ => 0), d.
        split; [auto|]. split; [intros; split; [lra|reflexivity]|]. split; [constructor 2; auto|]. split.
        - intros. rewrite price_zero. unfold grid. ring.
        - rewrite paid_zero. ring. }
    destruct (possible_in d I) as
      [(n & i & Hn & Hi & ->)|[(n & i & Hn & Hi & Ga & ->)|[(i & r & Hi & Hr & ->)|(n & T & Hn & L & ->)]]].
    + exists (fun _ _ => 0), (fun _ => 0), (here n i), (fun _ _ => 0), nothing.
      split; [auto|]. split; [|split; [constructor 1|split]].
      * intros m j _ _. split; [|reflexivity]. unfold here. destruct (_ && _); lra.
      * intros m j Hm Hj. rewrite price_zero. cbn [coef none_below]. rewrite grid_flat by auto. unfold grid. simpl. ring.
      * rewrite paid_zero. simpl. ring.
    + exists (fun _ _ => 0), (fun _ => 0), (fun _ _ => 0), (here n i), nothing.
      split; [auto|]. split; [|split; [constructor 1|split]].
      * intros m j _ _. split; [lra|]. intros Ne. unfold here. destruct (Nat.eqb m n && Nat.eqb j i) eqn:Q; [|reflexivity].
        apply andb_true_iff in Q. destruct Q as [Q1 Q2]. apply Nat.eqb_eq in Q1, Q2. subst. contradiction.
      * intros m j Hm Hj. rewrite price_zero. cbn [coef none_above]. rewrite grid_flat by auto. unfold grid. simpl. ring.
      * rewrite paid_zero. simpl. ring.
    + exists (fun j h => if Nat.eqb j i && Nat.eqb h r then 1 else 0), (fun _ => 0), (fun _ _ => 0), (fun _ _ => 0), nothing.
      split; [|split; [intros; split; [lra|reflexivity]|split; [constructor 1|split]]].
      * constructor; intros; [destruct (_ && _); lra|split; [lra|reflexivity]].
      * intros m j Hm Hj. cbn [coef row_of]. rewrite grid_flat by auto. unfold price_of, grid. simpl.
        destruct (Nat.eqb j i) eqn:Q; simpl.
        -- rewrite (sum_single M _ r); auto; [rewrite Nat.eqb_refl; ring|].
           intros h _ Ne. apply Nat.eqb_neq in Ne. rewrite Ne. ring.
        -- rewrite sum_zero by (intros; ring). ring.
      * unfold paid. rewrite (sum_single K _ i); auto.
        -- rewrite (sum_single M _ r); auto.
           ++ rewrite !Nat.eqb_refl, sum_zero; [simpl; ring|]. intros n _. destruct (limit P n); ring.
           ++ intros h _ Ne. apply Nat.eqb_neq in Ne. rewrite Ne, andb_false_r. ring.
        -- intros j _ Ne. apply Nat.eqb_neq in Ne. rewrite Ne. apply sum_zero. intros. simpl. ring.
    + exists (fun _ _ => 0), (fun m => if Nat.eqb m n then 1 else 0), (fun _ _ => 0), (fun _ _ => 0), nothing.
      split; [|split; [intros; split; [lra|reflexivity]|split; [constructor 1|split]]].
      * constructor; intros; [lra|]. destruct (Nat.eqb n0 n) eqn:Q; split; try lra; try reflexivity.
        apply Nat.eqb_eq in Q. subst. intros X. congruence.
      * intros m j Hm Hj. cbn [coef limit_of]. rewrite grid_flat by auto. unfold price_of, grid. simpl.
        rewrite sum_zero by (intros; ring). ring.
      * unfold paid. rewrite (sum_zero K) by (intros; apply sum_zero; intros; ring).
        rewrite (sum_single N _ n); auto.
        -- rewrite L, Nat.eqb_refl. simpl. ring.
        -- intros m _ Ne. apply Nat.eqb_neq in Ne. rewrite Ne. destruct (limit P m); ring.
  - exists (fun i r => p i r + p' i r), (fun n => q n + q' n), (fun n i => s n i + s' n i), (fun n i => t n i + t' n i), (both e e').
    split; [|split; [|split; [constructor 3; auto|split]]].
    + constructor.
      * intros i r Hi Hr. pose proof (of_rows _ _ A i r Hi Hr). pose proof (of_rows _ _ A' i r Hi Hr). lra.
      * intros n Hn. destruct (of_users _ _ A n Hn) as [X Y], (of_users _ _ A' n Hn) as [X' Y']. split; [lra|].
        intros L. rewrite Y, Y' by auto. ring.
    + intros n i Hn Hi. destruct (S n i Hn Hi) as [X Y], (S' n i Hn Hi) as [X' Y']. split; [lra|].
      intros L. rewrite Y, Y' by auto. ring.
    + intros n i Hn Hi. rewrite price_add. unfold grid in *. simpl. rewrite (G n i), (G' n i) by auto. ring.
    + rewrite paid_add. simpl. rewrite B, B'. ring.
  - exists (fun i r => c * p i r), (fun n => c * q n), (fun n i => c * s n i), (fun n i => c * t n i), (times c e).
    split; [|split; [|split; [constructor 4; auto|split]]].
    + constructor.
      * intros i r Hi Hr. apply prod_nonneg; auto. apply (of_rows _ _ A); auto.
      * intros n Hn. destruct (of_users _ _ A n Hn) as [X Y]. split; [apply prod_nonneg; auto|].
        intros L. rewrite Y by auto. ring.
    + intros n i Hn Hi. destruct (S n i Hn Hi) as [X Y]. split; [apply prod_nonneg; auto|]. intros L. rewrite Y by auto. ring.
    + intros n i Hn Hi. rewrite price_scale. unfold grid in *. simpl. rewrite (G n i) by auto. ring.
    + rewrite paid_scale. simpl. rewrite B. ring.
Qed.

(** Strong duality. Suppose that the sum of a_ni y_ni is at most v for every feasible y that also satisfies the other
    rows. Then prices prove this bound, together with an inequality that follows from the other rows. *)
Definition keeps (y : allocation) : Prop := solves (N * K) (flat y) E.
Definition sum_of (a : nat -> nat -> Q) (y : allocation) : Q := sum N (fun n => sum K (fun i => a n i * y n i)).
Lemma sum_of_flat a z : at_point (N * K) (flat a) z == sum_of a (grid z).
Proof. apply at_flat. Qed.
Lemma flat_grid z j : (j < N * K)%nat -> flat (grid z) j = z j.
Proof.
  intros Hj. unfold flat, grid. assert (K <> 0)%nat by (intros E0; rewrite E0, Nat.mul_0_r in Hj; lia).
  f_equal. rewrite (Nat.div_mod j K) at 3 by auto. lia.
Qed.
Lemma keeps_grid z : solves (N * K) z E -> keeps (grid z).
Proof.
  intros S c I. specialize (S c I). unfold at_point in *. rewrite (sum_ext _ _ (fun j => coef c j * z j)); auto.
  intros j Hj. rewrite flat_grid by auto. reflexivity.
Qed.
Lemma both_iff z : solves (N * K) z (possible ++ E) <-> feasible P (grid z) /\ solves (N * K) z E.
Proof.
  rewrite <- possible_iff. split.
  - intros S. split; intros c I; apply S; apply in_app_iff; auto.
  - intros [A B] c I. apply in_app_iff in I. destruct I; auto.
Qed.

Theorem prices_exist a v : (exists y, feasible P y /\ keeps y) ->
  (forall y, feasible P y -> keeps y -> sum_of a y <= v) ->
  exists p q e, are_prices p q /\ follows E e /\
    (forall n i, (n < N)%nat -> (i < K)%nat -> 0 < gamma P n i -> a n i <= price_of p q n i + grid (coef e) n i) /\
    paid p q + most e <= v.
Proof.
  intros (y0 & F0 & E0) Up.
  destruct (duality (N * K) (possible ++ E) (flat a) v) as (d & F & C & B).
  - exists (flat y0). apply both_iff. split; [apply feasible_flat|]; auto.
  - intros z S. apply both_iff in S. destruct S as [A B]. rewrite sum_of_flat. apply Up; auto. apply keeps_grid. auto.
  - destruct (follows_prices d F) as (p & q & s & t & e & A & S & Fe & G & Md). exists p, q, e.
    split; [auto|]. split; [auto|]. split; [|lra].
    intros n i Hn Hi Ga. assert (J : (n * K + i < N * K)%nat) by nia.
    specialize (G n i Hn Hi). unfold grid at 1 in G. rewrite (C _ J) in G.
    change (flat a (n * K + i)%nat) with (grid (flat a) n i) in G. rewrite grid_flat in G by auto.
    destruct (S n i Hn Hi) as [S0 T0]. rewrite T0 in G by lra. lra.
Qed.

Theorem greatest_exists a : (exists y, feasible P y /\ keeps y) ->
  exists x, feasible P x /\ keeps x /\ forall y, feasible P y -> keeps y -> sum_of a y <= sum_of a x.
Proof.
  intros (y0 & F0 & E0). destruct (attained (N * K) (possible ++ E) (flat a)) as (z & S & U).
  - exists (flat y0). apply both_iff. split; [apply feasible_flat|]; auto.
  - exists (sum N (fun n => sum K (fun i => larger 0 (a n i) * gamma P n i))). intros z S. apply both_iff in S.
    destruct S as [F _]. rewrite sum_of_flat. apply sum_le. intros n Hn. apply sum_le. intros i Hi.
    pose proof (f_nonneg P _ F n i Hn Hi) as Y. pose proof (at_most_alone P W _ n i F Hn Hi) as G.
    assert (L0 : 0 <= larger 0 (a n i)) by (minmax; lra). assert (L1 : a n i <= larger 0 (a n i)) by (minmax; lra).
    pose proof (prod_le _ _ _ L1 Y). pose proof (prod_le_l _ _ _ G L0). lra.
  - apply both_iff in S. destruct S as [F S]. exists (grid z). split; [auto|]. split; [apply keeps_grid; auto|].
    intros y Y Ky. specialize (U (flat y)). rewrite !sum_of_flat in U.
    assert (Eq : sum_of a (grid (flat y)) == sum_of a y).
    { apply sum_ext. intros n Hn. apply sum_ext. intros i Hi. rewrite grid_flat by auto. reflexivity. }
    rewrite Eq in U. apply U. apply both_iff. split; [apply feasible_flat|]; auto.
Qed.
End On.
