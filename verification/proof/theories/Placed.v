(** Decides claims about tasks on single servers: work conservation, and whether tasks fit, as fractions or whole. *)
From Coq Require Import QArith Qabs Qround Qreduction Qfield Arith ZArith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Arithmetic Checker Repair Soundness Bundle Limits Answered.
Open Scope Q_scope.

(** Tables of a placing: the free capacity of every server, the number of listed servers of every class, and the
    capacity of the rows of one server *)
Record places := { l_free : nat -> nat -> Q; l_listed : nat -> Q; l_one : nat -> nat -> Q }.

(** * Programs *)
Section Programs.
Variable P : problem.
Variable stated_x : allocation.
Variable T : tables.
Variable L : placing.
Variable F : places.
Notation N := (users P). Notation K := (classes P). Notation M := (resources P). Notation S := (servers L).
Notation x := (t_x T). Notation g := (t_g T). Notation on := (on_server L).

Definition make_one (i r : nat) : Q := quo (t_full T i r) (count P i).
Definition make_listed (i : nat) : Q := sparse_sum S (fun s => if Nat.eqb (class_of L s) i then Some 1 else None).
Definition nothing (q : Q) : bool := eqq q 0.
Definition load_on (counted : nat -> nat -> bool) (s r : nat) : Q :=
  sparse_sum N (fun n => if nothing (on s n) then None
    else if counted s n then Some (mul (on s n) (t_takes T n (class_of L s) r)) else None).
Definition make_free (s r : nat) : Q := sub (l_one F (class_of L s) r) (load_on (fun _ _ => true) s r).

Definition check_placed (z : allocation) : bool :=
  all S (fun s => Nat.ltb (class_of L s) K) && all K (fun i => le (make_listed i) (count P i)) &&
  all N (fun n => all K (fun i => eqq (z n i)
    (sparse_sum S (fun s => if Nat.eqb (class_of L s) i then Some (on s n) else None)))).
Definition check_places : bool :=
  all K (fun i => all M (fun r => eqq (l_one F i r) (make_one i r))) &&
  all K (fun i => eqq (l_listed F i) (make_listed i)) &&
  all S (fun s => all M (fun r => eqq (l_free F s r) (make_free s r))).
Definition is_task (s n : nat) : bool :=
  is_active T n && runs_on T n (class_of L s) && lt 0 (on s n).
Definition check_fits : bool :=
  all S (fun s => all N (fun n => nothing (on s n) || is_task s n)) &&
  all S (fun s => all M (fun r => le 0 (l_free F s r))).

(** ** Work conservation *)
Definition is_pending (n : nat) : bool :=
  match limit P n with Some t => le (add (t_tasks T n) (gang P n)) t | None => true end.
(** The number of whole tasks that fit into the capacity b *)
Definition whole_on (n i : nat) (b : nat -> Q) : Q :=
  if runs_on T n i && all M (fun r => le (t_takes T n i r) (b r)) then inject_Z (Qfloor (on_class P T n i b)) else 0.
Definition whole_empty (n i : nat) : Q := if lt (l_listed F i) (count P i) then whole_on n i (l_one F i) else 0.
(** The number of whole tasks that fit on all servers of class i *)
Definition most_on (n i : nat) : Q :=
  if runs_on T n i then inject_Z (Qfloor (add
    (sparse_sum S (fun s => if Nat.eqb (class_of L s) i then Some (whole_on n i (l_free F s)) else None))
    (mul (sub (count P i) (l_listed F i)) (whole_empty n i)))) else 0.
Definition waits (n : nat) : bool := is_pending n && le (gang P n) (rsum K (most_on n)).
Definition check_all_wait (m : Q) : bool := eqq m 0 && users_all P T (fun n => negb (waits n)).
Definition check_somebody_waits (m : Q) : bool := eqq m (-1) && any N (fun n => is_active T n && waits n).

(** ** Feasibility on servers, and whole tasks *)
Definition is_whole (q : Q) : bool := eqq q (inject_Z (Qfloor q)).
Definition someone_on (s : nat) : bool := any N (fun n => negb (nothing (on s n))).
Definition left_on (s r : nat) : Q := sub (l_one F (class_of L s) r) (load_on is_task s r).
(** Every limit has a margin of at least m. *)
Definition check_on_servers (m : Q) : bool :=
  all S (fun s => all N (fun n => nothing (on s n) || is_task s n ||
    le (absolute (on s n)) (- mul m (unit_at T n)))) &&
  all S (fun s => if someone_on s then all M (fun r => if lt 0 (t_full T (class_of L s) r)
    then le (mul m (l_one F (class_of L s) r)) (left_on s r) else true) else true) &&
  all N (fun n => match limit P n with
    | Some l => if is_active T n then le (mul m (g n)) (sub l (rsum K (stated_x n))) else true
    | None => true end).
(** Some limit has exactly the margin m: an entry that does not count, a row, or the tasks of a user. *)
Definition entry_on (m : Q) (s n : nat) : bool :=
  negb (nothing (on s n)) && negb (is_task s n) && eqq (- absolute (on s n)) (mul m (unit_at T n)).
Definition row_on (m : Q) (s r : nat) : bool :=
  lt 0 (t_full T (class_of L s) r) && eqq (left_on s r) (mul m (l_one F (class_of L s) r)).
Definition tightest_on (m : Q) : bool :=
  any N (tasks_at P stated_x T m) || any S (fun s => any N (entry_on m s)) ||
  any S (fun s => someone_on s && any M (row_on m s)).
Definition check_single (m : Q) : bool := check_on_servers m && tightest_on m.
Definition has_part : bool := any S (fun s => any N (fun n => is_task s n && negb (is_whole (on s n)))).
(** If some task is a fraction, the margin is at most -1. *)
Definition check_integer (m : Q) : bool := check_on_servers m &&
  if has_part then le m (-1) && (eqq m (-1) || tightest_on m) else tightest_on m.
(** No server runs any task, and all tasks are unlimited. *)
Definition check_no_limit : bool :=
  all S (fun s => negb (someone_on s)) &&
  users_all P T (fun n => match limit P n with Some _ => false | None => true end).
End Programs.

(** * Soundness *)
Section Sound.
Variable P : problem.
Notation N := (users P). Notation K := (classes P). Notation M := (resources P).
Hypothesis W : well_formed P.
Variable T : tables.
Variable stated_x : allocation.
Variable is_placed : bool.
Hypothesis R : right P stated_x T is_placed.
Notation x := (t_x T).
Variable L : placing.
Variable F : places.
Notation S := (servers L). Notation on := (on_server L).

Lemma make_listed_eq i : make_listed L i == listed L i.
Proof. apply sparse_sum_eq. intros s Hs. destruct (Nat.eqb _ _); reflexivity. Qed.
Lemma check_placed_sound z : check_placed P L z = true -> placed P L z.
Proof.
  unfold check_placed. intros H. bools. constructor.
  - intros s Hs. apply Nat.ltb_lt. auto.
  - intros i Hi. specialize (H1 i Hi). apply le_iff in H1. rewrite <- make_listed_eq. auto.
  - intros n i Hn Hi. specialize (H0 n Hn). bools. specialize (H0 i Hi). bools. rewrite H0.
    apply sparse_sum_eq. intros s Hs. destruct (Nat.eqb _ _); reflexivity.
Qed.

Hypothesis C : forall s, (s < S)%nat -> (class_of L s < K)%nat.
Hypothesis PL : check_places P T L F = true.

Lemma one_is i r : (i < K)%nat -> (r < M)%nat -> l_one F i r == row_of_one P i r.
Proof.
  intros Hi Hr. pose proof PL as A. unfold check_places in A. apply andb_true_iff in A. destruct A as [A _].
  apply andb_true_iff in A. destruct A as [A _]. rewrite all_iff in A. specialize (A i Hi).
  rewrite all_iff in A. specialize (A r Hr). apply eqq_iff in A. rewrite A. unfold make_one, row_of_one.
  rewrite quo_eq, (full_is _ _ _ _ R) by auto. reflexivity.
Qed.
Lemma listed_is i : (i < K)%nat -> l_listed F i == listed L i.
Proof.
  intros Hi. pose proof PL as A. unfold check_places in A. apply andb_true_iff in A. destruct A as [A _].
  apply andb_true_iff in A. destruct A as [_ A]. rewrite all_iff in A. specialize (A i Hi).
  apply eqq_iff in A. rewrite A. apply make_listed_eq.
Qed.
Lemma nothing_iff q : nothing q = true <-> q == 0.
Proof. apply eqq_iff. Qed.
Lemma free_is s r : (s < S)%nat -> (r < M)%nat -> l_free F s r == free P L s r.
Proof.
  intros Hs Hr. pose proof PL as A. unfold check_places in A. apply andb_true_iff in A. destruct A as [_ A].
  rewrite all_iff in A. specialize (A s Hs). rewrite all_iff in A. specialize (A r Hr). apply eqq_iff in A.
  rewrite A. unfold make_free, free. rewrite sub_eq, one_is by auto. unfold load_on.
  rewrite (sparse_sum_eq N _ (fun n => on s n * takes P n (class_of L s) r)); [reflexivity|].
  intros n Hn. destruct (nothing (on s n)) eqn:E.
  - apply nothing_iff in E. rewrite E. ring.
  - rewrite mul_eq, (takes_is _ _ _ _ R) by auto. reflexivity.
Qed.
Lemma is_task_eq s n : (s < S)%nat -> (n < N)%nat ->
  is_task T L s n = can_run P L s n.
Proof.
  intros. unfold is_task. rewrite (is_active_eq P stated_x T is_placed R), (runs_on_eq P stated_x T is_placed R) by auto.
  reflexivity.
Qed.
Theorem check_fits_sound : check_fits P T L F = true -> fits P L.
Proof.
  unfold check_fits. intros H. bools. constructor.
  - intros s n Hs Hn Ne. specialize (H s Hs). bools. specialize (H n Hn). apply orb_true_iff in H.
    destruct H as [H|H]; [apply nothing_iff in H; contradiction|].
    rewrite is_task_eq in H by auto. unfold can_run in H. rewrite !andb_true_iff, !lt_iff in H. tauto.
  - intros s r Hs Hr. specialize (H0 s Hs). bools. specialize (H0 r Hr). bools. rewrite <- free_is by auto. auto.
Qed.

Lemma is_pending_iff n : (n < N)%nat -> is_pending P T n = true <-> within_limit P n (tasks P x n + gang P n).
Proof.
  intros Hn. unfold is_pending, within_limit. destruct (limit P n) as [l|]; [|split; auto].
  rewrite le_iff, add_eq, (tasks_is _ _ _ _ R) by auto. reflexivity.
Qed.
Lemma floor_whole q : whole (inject_Z (Qfloor q)).
Proof. exists (Qfloor q). reflexivity. Qed.
Lemma floor_nonneg q : 0 <= q -> 0 <= inject_Z (Qfloor q).
Proof. intros A. apply (Qfloor_resp_le 0 q) in A. rewrite Zle_Qle in A. exact A. Qed.
(** If a whole number is at most q, it is at most the floor of q. *)
Lemma whole_floor z q : whole z -> z <= q -> z <= inject_Z (Qfloor q).
Proof.
  intros [k E] A. rewrite E in A |- *. apply Qfloor_resp_le in A. rewrite Qfloor_Z in A. rewrite Zle_Qle in A. exact A.
Qed.
Lemma whole_pos z : whole z -> 0 < z -> 1 <= z.
Proof.
  intros [k E] A. rewrite E in A |- *. change 0 with (inject_Z 0) in A. rewrite <- Zlt_Qlt in A.
  change 1 with (inject_Z 1). rewrite <- Zle_Qle. lia.
Qed.
Lemma whole_on_fits n i b : (n < N)%nat -> (i < K)%nat -> let v := whole_on P T n i b in
  whole v /\ 0 <= v /\ (0 < v -> 0 < gamma P n i /\ forall r, (r < M)%nat -> v * takes P n i r <= b r).
Proof.
  intros Hn Hi. unfold whole_on. destruct (runs_on T n i && _) eqn:A; cbv zeta.
  2:{ split; [exists 0%Z; reflexivity|]. split; [lra|]. intros B. lra. }
  apply andb_true_iff in A. destruct A as [G A]. rewrite (runs_on_eq P stated_x T is_placed R), lt_iff in G by auto.
  rewrite all_iff in A.
  assert (B : forall r, (r < M)%nat -> 0 <= b r).
  { intros r Hr. specialize (A r Hr). apply le_iff in A. rewrite (takes_is _ _ _ _ R) in A by auto.
    pose proof (takes_nonneg P W n i r Hn Hi Hr). lra. }
  destruct (on_class_runs P W T stated_x is_placed R n i b Hn Hi B) as (V0 & _ & Vf).
  pose proof (Qfloor_le (on_class P T n i b)) as Fl. pose proof (floor_nonneg _ V0) as F0.
  split; [apply floor_whole|]. split; [exact F0|]. intros _. split; [exact G|]. intros r Hr. specialize (Vf r Hr).
  pose proof (takes_nonneg P W n i r Hn Hi Hr). apply Qle_trans with (2 := Vf). apply Qmult_le_compat_r; auto.
Qed.
Lemma whole_on_most n i b z : (n < N)%nat -> (i < K)%nat -> whole z -> 0 <= z ->
  (0 < z -> 0 < gamma P n i /\ forall r, (r < M)%nat -> z * takes P n i r <= b r) -> z <= whole_on P T n i b.
Proof.
  intros Hn Hi Wz Z0 Fz. destruct (whole_on_fits n i b Hn Hi) as (_ & V0 & _). cbv zeta in V0.
  destruct (Qlt_le_dec 0 z) as [Pos|]; [|lra]. destruct (Fz Pos) as [G Fr]. pose proof (whole_pos z Wz Pos) as One.
  unfold whole_on. destruct (runs_on T n i && _) eqn:A.
  - apply whole_floor; [exact Wz|]. apply (on_class_most P W T stated_x is_placed R); auto. intros G0. lra.
  - exfalso. rewrite <- not_true_iff_false in A. apply A. apply andb_true_iff. split.
    + rewrite (runs_on_eq P stated_x T is_placed R) by auto. apply lt_iff. exact G.
    + apply all_iff. intros r Hr. apply le_iff. rewrite (takes_is _ _ _ _ R) by auto.
      pose proof (takes_nonneg P W n i r Hn Hi Hr) as T0. specialize (Fr r Hr).
      apply Qle_trans with (2 := Fr). rewrite <- (Qmult_1_l (takes P n i r)) at 1. apply Qmult_le_compat_r; auto.
Qed.
Lemma whole_on_ext n i b c : (n < N)%nat -> (i < K)%nat -> (forall r, (r < M)%nat -> b r == c r) -> whole_on P T n i b == whole_on P T n i c.
Proof.
  intros Hn Hi E. destruct (whole_on_fits n i b Hn Hi) as (B1 & B2 & B3), (whole_on_fits n i c Hn Hi) as (C1 & C2 & C3).
  apply Qle_antisym; apply whole_on_most; auto; intros Pos; [destruct (B3 Pos) as [G Fr]|destruct (C3 Pos) as [G Fr]];
    (split; [exact G|]); intros r Hr; [rewrite <- E by auto|rewrite E by auto]; auto.
Qed.

(** The largest numbers of tasks that fit on each server, in the form of [fit_more] *)
Definition z_most (n s : nat) : Q := whole_on P T n (class_of L s) (free P L s).
Definition e_most (n i : nat) : Q := if lt (listed L i) (count P i) then whole_on P T n i (row_of_one P i) else 0.
Lemma most_fit n : (n < N)%nat -> fit_more P L n (z_most n) (e_most n).
Proof.
  intros Hn. constructor.
  - intros s Hs. apply (whole_on_fits n (class_of L s) (free P L s) Hn). auto.
  - intros i Hi. unfold e_most. destruct (lt (listed L i) (count P i)) eqn:A; bools.
    + destruct (whole_on_fits n i (row_of_one P i) Hn Hi) as (B1 & B2 & B3). split; [exact B1|]. split; [exact B2|].
      intros Pos. destruct (B3 Pos). auto.
    + split; [exists 0%Z; reflexivity|]. split; [lra|]. intros. lra.
Qed.
Lemma fit_most n z e : (n < N)%nat -> fit_more P L n z e ->
  (forall s, (s < S)%nat -> z s <= z_most n s) /\ forall i, (i < K)%nat -> e i <= e_most n i.
Proof.
  intros Hn [F1 F2]. split.
  - intros s Hs. destruct (F1 s Hs) as (A & B & D). apply whole_on_most; auto.
  - intros i Hi. destruct (F2 i Hi) as (A & B & D). unfold e_most. destruct (lt (listed L i) (count P i)) eqn:E; bools.
    + apply whole_on_most; auto. intros Pos. destruct (D Pos) as (G & _ & Fr). auto.
    + destruct (Qlt_le_dec 0 (e i)) as [Pos|]; [|lra]. destruct (D Pos) as (_ & Li & _). lra.
Qed.
Lemma more_on_le z e z' e' i : (i < K)%nat -> (forall s, (s < S)%nat -> z s <= z' s) -> e i <= e' i -> 0 <= e i ->
  (0 < e' i -> listed L i < count P i) -> more_on P L z e i <= more_on P L z' e' i.
Proof.
  intros Hi Hz He E0 Li. unfold more_on. apply Qplus_le_compat.
  - apply sum_le. intros s Hs. destruct (Nat.eqb _ _); [auto|lra].
  - destruct (Qlt_le_dec 0 (e' i)) as [Pos|]; [|assert (A : e i == 0) by lra; assert (B : e' i == 0) by lra; rewrite A, B; lra].
    specialize (Li Pos). rewrite !(Qmult_comm (count P i - listed L i)). apply Qmult_le_compat_r; lra.
Qed.
Lemma most_on_eq n i : (n < N)%nat -> (i < K)%nat -> most_on P T L F n i == inject_Z (Qfloor (more_on P L (z_most n) (e_most n) i)).
Proof.
  intros Hn Hi. unfold most_on. destruct (runs_on T n i) eqn:G.
  - assert (Fc : forall a b, a == b -> inject_Z (Qfloor a) == inject_Z (Qfloor b)) by (intros a b Ab; rewrite (Qfloor_comp _ _ Ab); reflexivity).
    apply Fc. rewrite add_eq. unfold more_on. apply Qplus_comp.
    + rewrite (sparse_sum_eq S _ (fun s => if Nat.eqb (class_of L s) i then z_most n s else 0)); [reflexivity|].
      intros s Hs. destruct (Nat.eqb (class_of L s) i) eqn:E; [|reflexivity]. apply Nat.eqb_eq in E. unfold z_most. rewrite E.
      apply whole_on_ext; auto. intros r Hr. apply free_is; auto.
    + rewrite mul_eq, sub_eq, listed_is by auto. apply Qmult_comp; [reflexivity|]. unfold whole_empty, e_most.
      rewrite (lt_ext (l_listed F i) (count P i) (listed L i) (count P i)) by (try reflexivity; apply listed_is; auto).
      destruct (lt (listed L i) (count P i)); [|reflexivity]. apply whole_on_ext; auto. intros r Hr. apply one_is; auto.
  - assert (A : more_on P L (z_most n) (e_most n) i == 0).
    { unfold more_on. assert (B : e_most n i == 0).
      { unfold e_most, whole_on. rewrite G. destruct (lt _ _); reflexivity. }
      rewrite B, (sum_zero S); [ring|]. intros s Hs. destruct (Nat.eqb (class_of L s) i) eqn:E; [|reflexivity].
      apply Nat.eqb_eq in E. unfold z_most, whole_on. rewrite E, G. reflexivity. }
    rewrite (Qfloor_comp _ _ A). reflexivity.
Qed.
Lemma more_on_nonneg n i : (n < N)%nat -> (i < K)%nat -> 0 <= more_on P L (z_most n) (e_most n) i.
Proof.
  intros Hn Hi. destruct (most_fit n Hn) as [F1 F2]. unfold more_on.
  assert (A : 0 <= sum S (fun s => if Nat.eqb (class_of L s) i then z_most n s else 0)).
  { apply sum_nonneg. intros s Hs. destruct (Nat.eqb _ _); [apply F1; auto|lra]. }
  destruct (F2 i Hi) as (_ & E0 & D). destruct (Qlt_le_dec 0 (e_most n i)) as [Pos|].
  - destruct (D Pos) as (_ & Li & _). pose proof (prod_nonneg (count P i - listed L i) (e_most n i) ltac:(lra) E0). lra.
  - assert (B : e_most n i == 0) by lra. rewrite B. lra.
Qed.
Lemma most_on_whole n i : (n < N)%nat -> (i < K)%nat -> whole (most_on P T L F n i) /\ 0 <= most_on P T L F n i.
Proof.
  intros Hn Hi. split; [exists (Qfloor (more_on P L (z_most n) (e_most n) i)); apply most_on_eq; auto|].
  rewrite most_on_eq by auto. apply floor_nonneg, more_on_nonneg; auto.
Qed.
(** Numbers of tasks by class can be placed if and only if none is above [most_on]. *)
Lemma has_places_iff n k : (n < N)%nat -> has_places P L n k <->
  sum K k == gang P n /\ forall i, (i < K)%nat -> whole (k i) /\ 0 <= k i /\ k i <= most_on P T L F n i.
Proof.
  intros Hn. unfold has_places. split; intros [E A]; (split; [exact E|]).
  - destruct A as (z & e & Fm & A). intros i Hi. destruct (A i Hi) as (Wk & K0 & Km). split; [exact Wk|]. split; [exact K0|].
    rewrite most_on_eq by auto. apply whole_floor; [exact Wk|]. apply Qle_trans with (1 := Km).
    destruct (fit_most n z e Hn Fm) as [A1 A2]. destruct (most_fit n Hn) as [_ B2].
    apply more_on_le; auto; [apply (m_empty _ _ _ _ _ Fm); auto|]. intros Pos. apply (B2 i Hi). exact Pos.
  - exists (z_most n), (e_most n). split; [apply most_fit; auto|]. intros i Hi. destruct (A i Hi) as (Wk & K0 & Km).
    split; [exact Wk|]. split; [exact K0|]. apply Qle_trans with (1 := Km). rewrite most_on_eq by auto. apply Qfloor_le.
Qed.
(** If whole numbers add up to at least g, there are smaller whole numbers that add up to exactly g. *)
Lemma chosen m : forall (c : nat -> Q) (g : Q), whole g -> 0 <= g -> (forall i, (i < m)%nat -> whole (c i) /\ 0 <= c i) -> g <= sum m c ->
  exists k, sum m k == g /\ forall i, (i < m)%nat -> whole (k i) /\ 0 <= k i /\ k i <= c i.
Proof.
  induction m as [|m IH]; simpl; intros c g Wg G0 Wc Gc.
  - exists (fun _ => 0). split; [lra|]. intros. lia.
  - destruct (Wc m ltac:(lia)) as [Wm Cm]. assert (Ws : whole (smaller (c m) g)) by (unfold smaller; destruct (le (c m) g); auto).
    assert (Sc : smaller (c m) g <= c m /\ smaller (c m) g <= g /\ 0 <= smaller (c m) g /\ g - smaller (c m) g <= sum m c).
    { assert (0 <= sum m c) by (apply sum_nonneg; intros; apply Wc; lia). minmax; repeat split; lra. }
    destruct Sc as (S1 & S2 & S3 & S4).
    destruct (IH c (g - smaller (c m) g)) as (k & Ek & Ak).
    + destruct Wg as [a Ea], Ws as [b Eb]. exists (a + - b)%Z. rewrite inject_Z_plus, inject_Z_opp, <- Ea, <- Eb. reflexivity.
    + lra.
    + intros. apply Wc. lia.
    + exact S4.
    + exists (fun i => if Nat.eqb i m then smaller (c m) g else k i). split.
      * rewrite Nat.eqb_refl, (sum_ext m _ k); [rewrite Ek; ring|]. intros i Hi. destruct (Nat.eqb_spec i m); [lia|reflexivity].
      * intros i Hi. destruct (Nat.eqb_spec i m) as [->|Ne]; [auto|]. apply Ak. lia.
Qed.
Lemma gang_whole n : (n < N)%nat -> whole (gang P n) /\ 0 <= gang P n.
Proof.
  intros Hn. destruct (gang_is P W n Hn) as (z & Z1 & E). split; [exists z; exact E|]. rewrite E. change 0 with (inject_Z 0).
  rewrite <- Zle_Qle. lia.
Qed.
Lemma waits_iff n : (n < N)%nat -> waits P T L F n = true <->
  within_limit P n (tasks P x n + gang P n) /\ exists k, has_places P L n k.
Proof.
  intros Hn. unfold waits. rewrite andb_true_iff, is_pending_iff, le_iff, rsum_eq by auto. split; intros [A B]; (split; [exact A|]).
  - destruct (gang_whole n Hn) as [Wg G0]. destruct (chosen K (most_on P T L F n) (gang P n) Wg G0) as (k & Ek & Ak); auto.
    + intros i Hi. apply most_on_whole; auto.
    + exists k. apply has_places_iff; auto.
  - destruct B as [k B]. apply has_places_iff in B; auto. destruct B as [Ek Ak]. rewrite <- Ek. apply sum_le. intros i Hi. apply Ak. auto.
Qed.
Theorem check_all_wait_sound m : check_all_wait P T L F m = true -> placed_conserving P L (- m) x.
Proof.
  unfold check_all_wait. intros H. bools. rewrite (users_all_iff P T stated_x is_placed R) in H0. split; [lra|].
  intros n k U A B. exfalso. specialize (H0 n U). apply negb_true_iff in H0. rewrite <- not_true_iff_false in H0.
  apply H0. apply waits_iff; [apply U|]. eauto.
Qed.
Theorem check_somebody_waits_sound m : check_somebody_waits P T L F m = true ->
  forall eps, placed_conserving P L eps x -> - m <= eps.
Proof.
  unfold check_somebody_waits. intros H eps [_ O]. apply andb_true_iff in H. destruct H as [E H]. apply eqq_iff in E.
  apply any_iff in H. destruct H as (n & Hn & H). apply andb_true_iff in H. destruct H as [A H].
  apply waits_iff in H; auto. destruct H as [B (k & D)].
  specialize (O n k (is_user P stated_x T is_placed R n Hn A) B D). lra.
Qed.

(** * Whole tasks *)
Lemma is_whole_iff q : is_whole q = true <-> whole q.
Proof.
  unfold is_whole, whole. rewrite eqq_iff. split; [eauto|]. intros [z E]. rewrite (Qfloor_comp _ _ E), Qfloor_Z. exact E.
Qed.
Lemma someone_on_iff s : someone_on P L s = true <-> exists n, (n < N)%nat /\ ~ on s n == 0.
Proof.
  unfold someone_on. rewrite any_iff. split; intros (n & Hn & H); exists n; split; auto.
  - apply negb_true_iff in H. rewrite <- not_true_iff_false, nothing_iff in H. auto.
  - apply negb_true_iff. rewrite <- not_true_iff_false, nothing_iff. auto.
Qed.
Lemma left_on_eq s r : (s < S)%nat -> (r < M)%nat -> left_on P T L F s r == row_of_one P (class_of L s) r -
  sum N (fun n => if can_run P L s n then on s n * takes P n (class_of L s) r else 0).
Proof.
  intros Hs Hr. unfold left_on, load_on. rewrite sub_eq, one_is by auto.
  rewrite (sparse_sum_eq N _ (fun n => if can_run P L s n then on s n * takes P n (class_of L s) r else 0)); [reflexivity|].
  intros n Hn. rewrite <- is_task_eq by auto. destruct (nothing (on s n)) eqn:E.
  - apply nothing_iff in E. destruct (is_task T L s n); [rewrite E|]; ring.
  - destruct (is_task T L s n); [|reflexivity]. rewrite mul_eq, (takes_is _ _ _ _ R) by auto. reflexivity.
Qed.
Lemma one_pos i r : (i < K)%nat -> (r < M)%nat -> 0 < full P i r -> 0 < count P i -> 0 < row_of_one P i r.
Proof. intros. unfold row_of_one. apply Qlt_shift_div_l; lra. Qed.

Lemma check_on_servers_sound m : check_on_servers P stated_x T L F m = true -> placed_within P L (- m) stated_x.
Proof.
  unfold check_on_servers. intros H. bools. constructor.
  - intros s n Hs Hn Ne E. specialize (H s Hs). bools. specialize (H n Hn). rewrite is_task_eq, E, orb_false_r in H by auto.
    apply orb_true_iff in H. destruct H as [H|H]; [apply nothing_iff in H; contradiction|]. bools.
    rewrite absolute_eq, mul_eq, (unit_at_eq P T stated_x is_placed R) in H by auto. lra.
  - intros s r Hs Hr Fp So. specialize (H1 s Hs). apply someone_on_iff in So. rewrite So in H1. bools.
    specialize (H1 r Hr). rewrite <- (full_is _ _ _ _ R) in Fp by auto. apply lt_iff in Fp. rewrite Fp in H1. bools.
    rewrite left_on_eq, mul_eq, one_is in H1 by auto. lra.
  - intros n l U Ln. assert (Hn : (n < N)%nat) by apply U. specialize (H0 n Hn). rewrite Ln in H0.
    destruct (user_is P stated_x T is_placed R n U) as [_ An]. rewrite An in H0. bools.
    rewrite mul_eq, sub_eq, rsum_eq, (g_is _ _ _ _ R) in H0 by auto. unfold tasks. lra.
Qed.
Lemma tightest_on_sound m : tightest_on P stated_x T L F m = true ->
  forall eps, placed_within P L eps stated_x -> - m <= eps.
Proof.
  unfold tightest_on. intros H eps O. apply orb_true_iff in H. destruct H as [H|H]; [apply orb_true_iff in H; destruct H as [H|H]|].
  - apply any_iff in H. destruct H as (n & Hn & H). destruct (tasks_at_iff P T stated_x is_placed R m n Hn H) as (l & U & Ln & E).
    pose proof (i_limit _ _ _ _ O n l U Ln). apply (below eps (- m) (g P n)); [apply user_g; auto|lra].
  - apply any_iff in H. destruct H as (s & Hs & H). apply any_iff in H. destruct H as (n & Hn & H). unfold entry_on in H. bools.
    apply negb_true_iff in H, H1. rewrite <- not_true_iff_false, nothing_iff in H. rewrite is_task_eq in H1 by auto.
    pose proof (i_entries _ _ _ _ O s n Hs Hn H H1).
    rewrite absolute_eq, mul_eq, (unit_at_eq P T stated_x is_placed R) in H0 by auto.
    apply (below eps (- m) (unit_of P n)); [apply unit_of_pos; auto|lra].
  - apply any_iff in H. destruct H as (s & Hs & H). apply andb_true_iff in H. destruct H as [So H]. apply someone_on_iff in So.
    apply any_iff in H. destruct H as (r & Hr & H). unfold row_on in H. bools. rewrite (full_is _ _ _ _ R) in H by auto.
    pose proof (i_rows _ _ _ _ O s r Hs Hr H So) as A. rewrite left_on_eq, mul_eq, one_is in H0 by auto.
    apply (below eps (- m) (row_of_one P (class_of L s) r)); [apply one_pos; auto; apply (count_pos P W); auto|lra].
Qed.
Theorem check_single_sound m : check_single P stated_x T L F m = true ->
  placed_within P L (- m) stated_x /\ forall eps, placed_within P L eps stated_x -> - m <= eps.
Proof.
  unfold check_single. intros H. apply andb_true_iff in H. destruct H.
  split; [apply check_on_servers_sound; auto|apply tightest_on_sound; auto].
Qed.
Theorem check_integer_sound m : check_integer P stated_x T L F m = true ->
  integer_feasible P L (- m) stated_x /\ forall eps, integer_feasible P L eps stated_x -> - m <= eps.
Proof.
  unfold check_integer. intros H. apply andb_true_iff in H. destruct H as [A H].
  apply check_on_servers_sound in A. destruct (has_part P T L) eqn:Pt.
  - apply andb_true_iff in H. destruct H as [B H]. apply le_iff in B. split.
    + split; [exact A|]. intros. lra.
    + intros eps [O Wh]. apply orb_true_iff in H. destruct H as [H|H]; [|apply tightest_on_sound; auto].
      apply eqq_iff in H. unfold has_part in Pt. apply any_iff in Pt. destruct Pt as (s & Hs & Pt).
      apply any_iff in Pt. destruct Pt as (n & Hn & Pt). apply andb_true_iff in Pt. destruct Pt as [Tk Nw].
      rewrite is_task_eq in Tk by auto. apply negb_true_iff in Nw. rewrite <- not_true_iff_false, is_whole_iff in Nw.
      specialize (Wh s n Hs Hn Tk Nw). lra.
  - split.
    + split; [exact A|]. intros s n Hs Hn Tk Nw. exfalso. rewrite <- not_true_iff_false in Pt. apply Pt.
      apply any_iff. exists s. split; [exact Hs|]. apply any_iff. exists n. split; [exact Hn|].
      rewrite is_task_eq, Tk by auto. apply negb_true_iff. rewrite <- not_true_iff_false, is_whole_iff. exact Nw.
    + intros eps [O _]. apply tightest_on_sound; auto.
Qed.
Theorem check_no_limit_sound : check_no_limit P T L = true -> forall eps, integer_feasible P L eps stated_x.
Proof.
  unfold check_no_limit. intros H eps. apply andb_true_iff in H. destruct H as [H U]. bools.
  rewrite (users_all_iff P T stated_x is_placed R) in U.
  assert (Nil : forall s n, (s < S)%nat -> (n < N)%nat -> ~ on s n == 0 -> False).
  { intros s n Hs Hn Ne. specialize (H s Hs). apply negb_true_iff in H. rewrite <- not_true_iff_false in H.
    apply H. apply someone_on_iff. exists n. auto. }
  split; [constructor|].
  - intros. exfalso. eauto.
  - intros s r Hs Hr _ (n & Hn & Ne). exfalso. eauto.
  - intros n l Un E. specialize (U n Un). rewrite E in U. discriminate.
  - intros s n Hs Hn Tk. exfalso. apply (Nil s n Hs Hn). unfold can_run in Tk. bools. lra.
Qed.
End Sound.
