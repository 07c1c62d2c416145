(** Tasks on single servers: work conservation, and what fits, whole or not. *)
From Coq Require Import QArith Qabs Qround Qreduction Qfield Arith ZArith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Arithmetic Checker Repair Soundness Bundle Limits Answered.
Open Scope Q_scope.

(** Tables of a placing: what is free on every server, how many of every class are listed *)
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
  match limit P n with Some t => le (add (t_tasks T n) 1) t | None => true end.
Definition place_on (n i s : nat) : bool :=
  Nat.eqb (class_of L s) i && all M (fun r => le (t_takes T n i r) (l_free F s r)).
Definition place_empty (n i : nat) : bool :=
  lt (l_listed F i) (count P i) && all M (fun r => le (t_takes T n i r) (l_one F i r)).
Definition a_place (n i : nat) : bool := runs_on T n i && (any S (place_on n i) || place_empty n i).
Definition waits (n : nat) : bool := is_pending n && any K (a_place n).
Definition check_all_wait (m : Q) : bool := eqq m 0 && users_all P T (fun n => negb (waits n)).
Definition check_somebody_waits (m : Q) : bool := eqq m (-1) && any N (fun n => is_active T n && waits n).

(** ** What fits, and whole tasks *)
Definition is_whole (q : Q) : bool := eqq q (inject_Z (Qfloor q)).
Definition someone_on (s : nat) : bool := any N (fun n => negb (nothing (on s n))).
Definition left_on (s r : nat) : Q := sub (l_one F (class_of L s) r) (load_on is_task s r).
(** Every limit has a margin of m at least. *)
Definition check_on_servers (m : Q) : bool :=
  all S (fun s => all N (fun n => nothing (on s n) || is_task s n ||
    le (absolute (on s n)) (- mul m (unit_at T n)))) &&
  all S (fun s => if someone_on s then all M (fun r => if lt 0 (t_full T (class_of L s) r)
    then le (mul m (l_one F (class_of L s) r)) (left_on s r) else true) else true) &&
  all N (fun n => match limit P n with
    | Some l => if is_active T n then le (mul m (g n)) (sub l (rsum K (stated_x n))) else true
    | None => true end).
(** One has just that: an entry that is none, a row, the tasks of a user. *)
Definition entry_on (m : Q) (s n : nat) : bool :=
  negb (nothing (on s n)) && negb (is_task s n) && eqq (- absolute (on s n)) (mul m (unit_at T n)).
Definition row_on (m : Q) (s r : nat) : bool :=
  lt 0 (t_full T (class_of L s) r) && eqq (left_on s r) (mul m (l_one F (class_of L s) r)).
Definition tightest_on (m : Q) : bool :=
  any N (tasks_at P stated_x T m) || any S (fun s => any N (entry_on m s)) ||
  any S (fun s => someone_on s && any M (row_on m s)).
Definition check_single (m : Q) : bool := check_on_servers m && tightest_on m.
Definition has_part : bool := any S (fun s => any N (fun n => is_task s n && negb (is_whole (on s n)))).
(** With a part of a task the margin is -1 at most. *)
Definition check_integer (m : Q) : bool := check_on_servers m &&
  if has_part then le m (-1) && (eqq m (-1) || tightest_on m) else tightest_on m.
(** Nothing stands anywhere, and all tasks are unlimited. *)
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

Lemma is_pending_iff n : (n < N)%nat -> is_pending P T n = true <-> within_limit P n (tasks P x n + 1).
Proof.
  intros Hn. unfold is_pending, within_limit. destruct (limit P n) as [l|]; [|split; auto].
  rewrite le_iff, add_eq, (tasks_is _ _ _ _ R) by auto. reflexivity.
Qed.
Lemma place_on_sound n i s : (n < N)%nat -> (i < K)%nat -> (s < S)%nat -> place_on P T L F n i s = true <->
  class_of L s = i /\ forall r, (r < M)%nat -> takes P n i r <= free P L s r.
Proof.
  intros Hn Hi Hs. unfold place_on. rewrite andb_true_iff, Nat.eqb_eq, all_iff. split; intros [A B]; split; auto; intros r Hr;
    specialize (B r Hr).
  - apply le_iff in B. rewrite (takes_is _ _ _ _ R), free_is in B by auto. auto.
  - apply le_iff. rewrite (takes_is _ _ _ _ R), free_is by auto. auto.
Qed.
Lemma place_empty_sound n i : (n < N)%nat -> (i < K)%nat -> place_empty P T F n i = true <->
  listed L i < count P i /\ forall r, (r < M)%nat -> takes P n i r <= row_of_one P i r.
Proof.
  intros Hn Hi. unfold place_empty. rewrite andb_true_iff, lt_iff, listed_is, all_iff by auto.
  split; intros [A B]; split; auto; intros r Hr; specialize (B r Hr).
  - apply le_iff in B. rewrite (takes_is _ _ _ _ R), one_is in B by auto. auto.
  - apply le_iff. rewrite (takes_is _ _ _ _ R), one_is by auto. auto.
Qed.
Lemma a_place_iff n i : (n < N)%nat -> (i < K)%nat -> a_place P T L F n i = true <-> has_place P L n i.
Proof.
  intros Hn Hi. unfold a_place, has_place.
  rewrite andb_true_iff, orb_true_iff, any_iff, (runs_on_eq P stated_x T is_placed R), lt_iff, place_empty_sound by auto.
  split.
  - intros [G [(s & Hs & A)|A]]; (split; [exact Hi|split; [exact G|]]); [left|right; exact A].
    exists s. apply place_on_sound in A; tauto.
  - intros (_ & G & [(s & Hs & E & A)|A]); (split; [exact G|]); [left|right; exact A].
    exists s. split; [exact Hs|]. apply place_on_sound; auto.
Qed.
Lemma waits_iff n : (n < N)%nat -> waits P T L F n = true <->
  within_limit P n (tasks P x n + 1) /\ exists i, has_place P L n i.
Proof.
  intros Hn. unfold waits. rewrite andb_true_iff, is_pending_iff, any_iff by auto.
  split; intros [A (i & B)]; split; auto; exists i.
  - apply a_place_iff; tauto.
  - assert (Hi : (i < K)%nat) by apply B. split; [exact Hi|]. apply a_place_iff; auto.
Qed.
Theorem check_all_wait_sound m : check_all_wait P T L F m = true -> placed_conserving P L (- m) x.
Proof.
  unfold check_all_wait. intros H. bools. rewrite (users_all_iff P T stated_x is_placed R) in H0. split; [lra|].
  intros n i U A B. exfalso. specialize (H0 n U). apply negb_true_iff in H0. rewrite <- not_true_iff_false in H0.
  apply H0. apply waits_iff; [apply U|]. eauto.
Qed.
Theorem check_somebody_waits_sound m : check_somebody_waits P T L F m = true ->
  forall eps, placed_conserving P L eps x -> - m <= eps.
Proof.
  unfold check_somebody_waits. intros H eps [_ O]. apply andb_true_iff in H. destruct H as [E H]. apply eqq_iff in E.
  apply any_iff in H. destruct H as (n & Hn & H). apply andb_true_iff in H. destruct H as [A H].
  apply waits_iff in H; auto. destruct H as [B (i & D)].
  specialize (O n i (is_user P stated_x T is_placed R n Hn A) B D). lra.
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
