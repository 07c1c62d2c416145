(** Tasks on single servers: work conservation, whole tasks that fit; and envy-freeness up to one task. *)
From Coq Require Import QArith Qabs Qround Qreduction Qfield Arith ZArith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Arithmetic Checker Repair Soundness Bundle Limits Answered.
Open Scope Q_scope.

(** Tables of a placing: what is free on every server, how many of every class are listed *)
Record places := { l_free : nat -> nat -> Q; l_listed : nat -> Q; l_one : nat -> nat -> Q }.

(** The limit that is the tightest *)
Inductive single := RowOf (s r : nat) | TasksOf (n : nat) | EntryOf (s n : nat).

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
  all S (fun s => Nat.ltb (class_of L s) K) &&
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
(** Rows of every class, of which every server lacks one *)
Definition lacking (n i : nat) (rows : list nat) : bool :=
  forallb (fun r => Nat.ltb r M && lt 0 (t_takes T n i r)) rows &&
  all S (fun s => negb (Nat.eqb (class_of L s) i) ||
    existsb (fun r => lt (l_free F s r) (t_takes T n i r)) rows) &&
  (le (count P i) (l_listed F i) || existsb (fun r => lt (l_one F i r) (t_takes T n i r)) rows).
Definition check_all_short (m : Q) (short : nat -> option (nat -> list nat)) : bool :=
  eqq m 0 && users_all P T (fun n => match short n with
    | Some rows => is_pending n && all K (fun i => if runs_on T n i then lacking n i (rows i) else true)
    | None => negb (is_pending n)
    end).
(** A pending task of k has a place on server s of class i, or on an empty one. *)
Definition check_has_place (m : Q) (k i : nat) (s : option nat) : bool :=
  Nat.ltb k N && is_active T k && is_pending k && Nat.ltb i K && runs_on T k i && eqq (- mul m (g k)) 1 &&
  (match s with Some s => Nat.ltb s S && place_on k i s | None => place_empty k i end) &&
  users_all P T (fun n => if is_pending n && any K (a_place n) then le 1 (- mul m (g n)) else true).

(** ** Whole tasks that fit *)
Definition off (q : Q) : Q :=
  let f := inject_Z (Qfloor q) in let a := sub q f in let b := sub (add f 1) q in if le a b then a else b.
Definition someone_on (s : nat) : bool := any N (fun n => negb (nothing (on s n))).
Definition left_on (s r : nat) : Q := sub (l_one F (class_of L s) r) (load_on is_task s r).
Definition check_whole (m : Q) : bool :=
  all S (fun s => all N (fun n => if nothing (on s n) then true else if is_task s n
    then (let d := off (on s n) in eqq d 0 || le d (- mul m (g n)))
    else le (absolute (on s n)) (- mul m (unit_at T n)))) &&
  all S (fun s => if someone_on s then all M (fun r => if lt 0 (t_full T (class_of L s) r)
    then le (mul m (l_one F (class_of L s) r)) (left_on s r) else true) else true) &&
  all N (fun n => match limit P n with
    | Some l => if is_active T n then le (mul m (g n)) (sub l (rsum K (stated_x n))) else true
    | None => true end).
Definition check_single (m : Q) (k : single) (slack : Q) : bool :=
  match k with
  | RowOf s r => Nat.ltb s S && Nat.ltb r M && lt 0 (t_full T (class_of L s) r) && someone_on s &&
      eqq slack (left_on s r) && eqq slack (mul m (l_one F (class_of L s) r))
  | TasksOf n => match limit P n with
      | Some l => Nat.ltb n N && is_active T n && eqq slack (sub l (rsum K (stated_x n))) && eqq slack (mul m (g n))
      | None => false end
  | EntryOf s n => Nat.ltb s S && Nat.ltb n N && negb (nothing (on s n)) &&
      (if is_task s n
       then lt 0 (off (on s n)) && eqq slack (- off (on s n)) && eqq slack (mul m (g n))
       else eqq slack (- absolute (on s n)) && eqq slack (mul m (unit_at T n)))
  end.
(** Nothing stands anywhere, and all tasks are unlimited. *)
Definition check_no_limit : bool :=
  all S (fun s => negb (someone_on s)) &&
  users_all P T (fun n => match limit P n with Some _ => false | None => true end).
Definition check_integer (m : Q) (k : single) (slack : Q) : bool := check_whole m && check_single m k slack.
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

Lemma check_placed_sound z : check_placed P L z = true -> placed P L z.
Proof.
  unfold check_placed. intros H. bools. constructor.
  - intros s Hs. apply Nat.ltb_lt. auto.
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
Lemma listed_is i : (i < K)%nat -> l_listed F i == sum S (fun s => if Nat.eqb (class_of L s) i then 1 else 0).
Proof.
  intros Hi. pose proof PL as A. unfold check_places in A. apply andb_true_iff in A. destruct A as [A _].
  apply andb_true_iff in A. destruct A as [_ A]. rewrite all_iff in A. specialize (A i Hi).
  apply eqq_iff in A. rewrite A. apply sparse_sum_eq. intros s Hs. destruct (Nat.eqb _ _); reflexivity.
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
  is_task T L s n = active P n && lt 0 (gamma P n (class_of L s)) && lt 0 (on s n).
Proof.
  intros. unfold is_task. rewrite (is_active_eq P stated_x T is_placed R), (runs_on_eq P stated_x T is_placed R) by auto.
  reflexivity.
Qed.
Theorem check_fits_sound : check_fits P T L F = true -> fits P L.
Proof.
  unfold check_fits. intros H. bools. constructor.
  - intros s n Hs Hn Ne. specialize (H s Hs). bools. specialize (H n Hn). apply orb_true_iff in H.
    destruct H as [H|H]; [apply nothing_iff in H; contradiction|].
    rewrite is_task_eq in H by auto. rewrite !andb_true_iff, !lt_iff in H. tauto.
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
  sum S (fun s => if Nat.eqb (class_of L s) i then 1 else 0) < count P i /\
  forall r, (r < M)%nat -> takes P n i r <= row_of_one P i r.
Proof.
  intros Hn Hi. unfold place_empty. rewrite andb_true_iff, lt_iff, listed_is, all_iff by auto.
  split; intros [A B]; split; auto; intros r Hr; specialize (B r Hr).
  - apply le_iff in B. rewrite (takes_is _ _ _ _ R), one_is in B by auto. auto.
  - apply le_iff. rewrite (takes_is _ _ _ _ R), one_is by auto. auto.
Qed.
Theorem check_all_short_sound m short : check_all_short P T L F m short = true ->
  placed_conserving P L (- m) x.
Proof.
  unfold check_all_short. intros H. bools. rewrite (users_all_iff P T stated_x is_placed R) in H0. split; [lra|].
  intros n i U Pd (Hi & G & Pl). exfalso. assert (Hn : (n < N)%nat) by apply U. specialize (H0 n U).
  apply is_pending_iff in Pd; auto. destruct (short n) as [rows|]; [|rewrite Pd in H0; discriminate].
  bools. specialize (H1 i Hi). rewrite (runs_on_eq P stated_x T is_placed R) in H1 by auto.
  apply lt_iff in G. rewrite G in H1. unfold lacking in H1. apply andb_true_iff in H1. destruct H1 as [H1 Em].
  apply andb_true_iff in H1. destruct H1 as [Us Ls]. bools. rewrite forallb_forall in Us.
  assert (Lk : forall b, (forall r, (r < M)%nat -> takes P n i r <= b r) ->
    existsb (fun r => lt (b r) (t_takes T n i r)) (rows i) = true -> False).
  { intros b B E. apply existsb_exists in E. destruct E as (r & I & E). specialize (Us r I).
    apply andb_true_iff in Us. destruct Us as [Hr _]. apply Nat.ltb_lt in Hr. apply lt_iff in E.
    rewrite (takes_is _ _ _ _ R) in E by auto. specialize (B r Hr). lra. }
  destruct Pl as [(s & Hs & E & B)|[E B]].
  - specialize (Ls s Hs). apply orb_true_iff in Ls. destruct Ls as [Ls|Ls].
    + apply negb_true_iff, Nat.eqb_neq in Ls. contradiction.
    + apply (Lk (l_free F s)); auto. intros r Hr. rewrite free_is by auto. auto.
  - apply orb_true_iff in Em. destruct Em as [Em|Em].
    + apply le_iff in Em. rewrite listed_is in Em by auto. lra.
    + apply (Lk (l_one F i)); auto. intros r Hr. rewrite one_is by auto. auto.
Qed.
Theorem check_has_place_sound m k i s : check_has_place P T L F m k i s = true ->
  forall eps, placed_conserving P L eps x -> - m <= eps.
Proof.
  unfold check_has_place. intros H eps [_ O]. apply andb_true_iff in H. destruct H as [H _].
  apply andb_true_iff in H. destruct H as [H Pl]. apply andb_true_iff in H. destruct H as [H E].
  apply andb_true_iff in H. destruct H as [H G]. apply andb_true_iff in H. destruct H as [H Hi].
  apply andb_true_iff in H. destruct H as [H Pd]. apply andb_true_iff in H. destruct H as [Hk Ak].
  apply Nat.ltb_lt in Hk. apply Nat.ltb_lt in Hi. apply eqq_iff in E.
  assert (U : user P k) by (eapply is_user; eauto).
  rewrite mul_eq, (g_is _ _ _ _ R) in E by auto. rewrite (runs_on_eq P stated_x T is_placed R) in G by auto.
  apply lt_iff in G. apply is_pending_iff in Pd; auto.
  apply (below eps (- m) (g P k)); [apply user_g; auto|].
  assert (A : 1 <= eps * g P k); [|lra]. apply (O k i); auto. split; auto. split; auto.
  destruct s as [s|].
  - apply andb_true_iff in Pl. destruct Pl as [Hs Pl]. apply Nat.ltb_lt in Hs.
    apply place_on_sound in Pl; auto. left. exists s. tauto.
  - right. apply place_empty_sound; auto.
Qed.

(** * Whole tasks *)
Lemma off_spec q : 0 <= off q /\ distance q (off q) /\ (whole q -> off q == 0) /\ (off q == 0 -> whole q) /\
  forall d, distance q d -> 0 <= d -> off q <= d.
Proof.
  pose proof (Qfloor_le q) as A. pose proof (Qlt_floor q) as B. rewrite inject_Z_plus in B.
  set (f := Qfloor q) in *. assert (E : off q == smaller (q - inject_Z f) (inject_Z f + 1 - q)).
  { unfold off, smaller. fold f. cbv zeta. destruct (le (sub q (inject_Z f)) (sub (add (inject_Z f) 1) q)) eqn:D1;
      destruct (le (q - inject_Z f) (inject_Z f + 1 - q)) eqn:D2; bools;
      rewrite ?sub_eq, ?add_eq in *; try reflexivity; lra. }
  assert (Near : forall d, distance q d -> 0 <= d -> off q <= d).
  { intros d (z & Z) Hd. rewrite E. destruct (Z_le_gt_dec z f) as [H|H].
    - rewrite Zle_Qle in H. destruct Z; minmax; lra.
    - assert (H' : (f + 1 <= z)%Z) by lia. rewrite Zle_Qle, inject_Z_plus in H'. change (inject_Z 1) with 1 in *.
      destruct Z; minmax; lra. }
  change (inject_Z 1) with 1 in B. split; [rewrite E; minmax; lra|]. split.
  { destruct (Qlt_le_dec (q - inject_Z f) (inject_Z f + 1 - q)).
    - exists f. left. rewrite E. minmax; lra.
    - exists (f + 1)%Z. right. rewrite E, inject_Z_plus. change (inject_Z 1) with 1. minmax; lra. }
  split; [|split]; auto.
  - intros [z Z]. assert (off q <= 0); [|rewrite E in *; minmax; lra]. apply Near; [|lra]. exists z. left. lra.
  - intros Z. rewrite E in Z. destruct (Qlt_le_dec (q - inject_Z f) (inject_Z f + 1 - q)).
    + exists f. minmax; lra.
    + exists (f + 1)%Z. rewrite inject_Z_plus. change (inject_Z 1) with 1. minmax; lra.
Qed.
Lemma someone_on_iff s : someone_on P L s = true <-> exists n, (n < N)%nat /\ ~ on s n == 0.
Proof.
  unfold someone_on. rewrite any_iff. split; intros (n & Hn & H); exists n; split; auto.
  - apply negb_true_iff in H. rewrite <- not_true_iff_false, nothing_iff in H. auto.
  - apply negb_true_iff. rewrite <- not_true_iff_false, nothing_iff. auto.
Qed.
Lemma left_on_eq s r : (s < S)%nat -> (r < M)%nat -> left_on P T L F s r == row_of_one P (class_of L s) r -
  sum N (fun n => if active P n && lt 0 (gamma P n (class_of L s)) && lt 0 (on s n)
        then on s n * takes P n (class_of L s) r else 0).
Proof.
  intros Hs Hr. unfold left_on, load_on. rewrite sub_eq, one_is by auto.
  rewrite (sparse_sum_eq N _ (fun n => if active P n && lt 0 (gamma P n (class_of L s)) && lt 0 (on s n)
        then on s n * takes P n (class_of L s) r else 0)); [reflexivity|].
  intros n Hn. rewrite <- is_task_eq by auto. destruct (nothing (on s n)) eqn:E.
  - apply nothing_iff in E. destruct (is_task T L s n); [rewrite E|]; ring.
  - destruct (is_task T L s n); [|reflexivity]. rewrite mul_eq, (takes_is _ _ _ _ R) by auto. reflexivity.
Qed.
Lemma one_pos i r : (i < K)%nat -> (r < M)%nat -> 0 < full P i r -> 0 < count P i -> 0 < row_of_one P i r.
Proof. intros. unfold row_of_one. apply Qlt_shift_div_l; lra. Qed.

Theorem check_whole_sound m : check_whole P stated_x T L F m = true -> integer_feasible P L (- m) stated_x.
Proof.
  unfold check_whole. intros H. bools. constructor.
  - intros s n Hs Hn Ne E. specialize (H s Hs). bools. specialize (H n Hn).
    destruct (nothing (on s n)) eqn:Z; [apply nothing_iff in Z; contradiction|].
    rewrite is_task_eq, E in H by auto. bools.
    rewrite absolute_eq, mul_eq, (unit_at_eq P T stated_x is_placed R) in H by auto. lra.
  - intros s n Hs Hn Pos E Nw. specialize (H s Hs). rewrite all_iff in H. specialize (H n Hn).
    destruct (nothing (on s n)) eqn:Z; [apply nothing_iff in Z; lra|].
    rewrite is_task_eq, E in H by auto. apply lt_iff in Pos. rewrite Pos, andb_true_r in H. cbv zeta in H.
    destruct (off_spec (on s n)) as (A & B & C1 & C2 & _). apply orb_true_iff in H. destruct H as [H|H]; bools.
    + exfalso. apply Nw. apply C2. auto.
    + rewrite mul_eq, (g_is _ _ _ _ R) in H by auto. exists (off (on s n)). repeat split; auto. lra.
  - intros s r Hs Hr Fp So. specialize (H1 s Hs). apply someone_on_iff in So. rewrite So in H1. bools.
    specialize (H1 r Hr). rewrite <- (full_is _ _ _ _ R) in Fp by auto. apply lt_iff in Fp. rewrite Fp in H1. bools.
    rewrite left_on_eq, mul_eq, one_is in H1 by auto. lra.
  - intros n l U Ln. assert (Hn : (n < N)%nat) by apply U. specialize (H0 n Hn). rewrite Ln in H0.
    destruct (user_is P stated_x T is_placed R n U) as [_ An]. rewrite An in H0. bools.
    rewrite mul_eq, sub_eq, rsum_eq, (g_is _ _ _ _ R) in H0 by auto. unfold tasks. lra.
Qed.
Theorem check_single_sound m k s : check_single P stated_x T L F m k s = true ->
  forall eps, integer_feasible P L eps stated_x -> - m <= eps.
Proof.
  unfold check_single. intros H eps O. destruct k as [z r|n|z n].
  - bools. apply Nat.ltb_lt in H. apply Nat.ltb_lt in H4. apply someone_on_iff in H2.
    rewrite (full_is _ _ _ _ R) in H3 by auto. pose proof (i_rows _ _ _ _ O z r H H4 H3 H2) as A.
    rewrite H1, left_on_eq, mul_eq, one_is in H0 by auto.
    apply (below eps (- m) (row_of_one P (class_of L z) r)); [apply one_pos; auto; apply (count_pos P W); auto|lra].
  - destruct (limit P n) as [l|] eqn:Ln; [|discriminate]. bools. apply Nat.ltb_lt in H.
    assert (U : user P n) by (eapply is_user; eauto).
    rewrite H1, sub_eq, rsum_eq, mul_eq, (g_is _ _ _ _ R) in H0 by auto.
    pose proof (i_limit _ _ _ _ O n l U Ln) as E. unfold tasks in E.
    apply (below eps (- m) (g P n)); [apply user_g; auto|lra].
  - apply andb_true_iff in H. destruct H as [H E]. apply andb_true_iff in H. destruct H as [H Ne].
    apply andb_true_iff in H. destruct H as [Hz Hn]. apply Nat.ltb_lt in Hz. apply Nat.ltb_lt in Hn.
    apply negb_true_iff in Ne. rewrite <- not_true_iff_false, nothing_iff in Ne.
    destruct (is_task T L z n) eqn:Tk; apply andb_true_iff in E; destruct E as [E1 E2]; bools.
    + rewrite is_task_eq in Tk by auto. destruct (off_spec (on z n)) as (A & _ & C1 & _ & C3).
      apply andb_true_iff in Tk. destruct Tk as [Tk Pos]. apply lt_iff in Pos.
      assert (U : user P n) by (split; auto; apply andb_true_iff in Tk; apply Tk).
      destruct (i_whole _ _ _ _ O z n Hz Hn Pos Tk) as (d & D1 & D2 & D3).
      { intros Wh. specialize (C1 Wh). lra. }
      specialize (C3 d D1 D2). assert (E3 : - off (on z n) == m * g P n).
      { rewrite mul_eq, (g_is _ _ _ _ R) in E2 by auto. lra. }
      apply (below eps (- m) (g P n)); [apply user_g; auto|lra].
    + rewrite is_task_eq in Tk by auto. pose proof (i_entries _ _ _ _ O z n Hz Hn Ne Tk) as A.
      rewrite E1, absolute_eq, mul_eq, (unit_at_eq P T stated_x is_placed R) in E2 by auto.
      apply (below eps (- m) (unit_of P n)); [apply unit_of_pos; auto|lra].
Qed.
Theorem check_no_limit_sound : check_no_limit P T L = true -> forall eps, integer_feasible P L eps stated_x.
Proof.
  unfold check_no_limit. intros H eps. apply andb_true_iff in H. destruct H as [H U]. bools.
  rewrite (users_all_iff P T stated_x is_placed R) in U.
  assert (Nil : forall s n, (s < S)%nat -> (n < N)%nat -> ~ on s n == 0 -> False).
  { intros s n Hs Hn Ne. specialize (H s Hs). apply negb_true_iff in H. rewrite <- not_true_iff_false in H.
    apply H. apply someone_on_iff. exists n. auto. }
  constructor.
  - intros. exfalso. eauto.
  - intros s n Hs Hn Pos. exfalso. apply (Nil s n); auto. lra.
  - intros s r Hs Hr _ (n & Hn & Ne). exfalso. eauto.
  - intros n l Un E. specialize (U n Un). rewrite E in U. discriminate.
Qed.
End Sound.
