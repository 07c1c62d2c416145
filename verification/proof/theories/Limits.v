(** Decides the feasibility of the stated allocation, by the largest excess over a limit. *)
From Coq Require Import QArith Qabs Qreduction Qfield Arith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Arithmetic Checker Repair Soundness Bundle.
Open Scope Q_scope.

(** * Programs *)
Section Programs.
Variable P : problem.
Variable stated_x : allocation.
Variable T : tables.
Notation N := (users P). Notation K := (classes P). Notation M := (resources P).

Definition absolute (q : Q) : Q := if le 0 q then q else - q.
Definition kept_of (n i : nat) : Q := if keeps stated_x (t_gamma T) (t_g T) n i then stated_x n i else 0.
Definition unit_at (n : nat) : Q := if is_active T n then t_g T n else 1.
Definition left_of (i r : nat) : Q := sub (t_full T i r) (load_of P (t_takes T) kept_of i r).
Definition is_entry (n i : nat) : bool :=
  negb (eqq (stated_x n i) 0) && negb (keeps stated_x (t_gamma T) (t_g T) n i).
(** Every limit has a margin of at least m. *)
Definition check_within (m : Q) : bool :=
  all N (fun n => all K (fun i => if is_entry n i
    then le (absolute (stated_x n i)) (- mul m (unit_at n)) else true)) &&
  all K (fun i => all M (fun r => if lt 0 (t_full T i r) then le (mul m (t_full T i r)) (left_of i r) else true)) &&
  all N (fun n => match limit P n with
    | Some l => if is_active T n then le (mul m (t_g T n)) (sub l (rsum K (stated_x n))) else true
    | None => true end).
(** Some limit has exactly the margin m: an entry that does not count, a row, or the tasks of a user. *)
Definition entry_at (m : Q) (n i : nat) : bool :=
  is_entry n i && eqq (- absolute (stated_x n i)) (mul m (unit_at n)).
Definition row_at (m : Q) (i r : nat) : bool := lt 0 (t_full T i r) && eqq (left_of i r) (mul m (t_full T i r)).
Definition tasks_at (m : Q) (n : nat) : bool :=
  match limit P n with
  | Some l => is_active T n && eqq (sub l (rsum K (stated_x n))) (mul m (t_g T n))
  | None => false end.
Definition check_limits (m : Q) : bool := check_within m &&
  (any N (fun n => any K (entry_at m n)) || any K (fun i => any M (row_at m i)) || any N (tasks_at m)).
(** The problem has no limit. *)
Definition check_no_bound : bool :=
  all N (fun n => all K (fun i => negb (is_entry n i))) &&
  all K (fun i => all M (fun r => le (t_full T i r) 0)) &&
  all N (fun n => match limit P n with Some _ => negb (is_active T n) | None => true end).
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

Lemma absolute_eq q : absolute q == Qabs q.
Proof.
  unfold absolute. destruct (le 0 q) eqn:E; bools.
  - rewrite Qabs_pos by auto. reflexivity.
  - rewrite Qabs_neg by lra. reflexivity.
Qed.
Lemma keeps_eq n i : (n < N)%nat -> (i < K)%nat -> keeps stated_x (t_gamma T) (t_g T) n i = counts P stated_x n i.
Proof.
  intros Hn Hi. unfold keeps, counts. fold (is_active T n). fold (runs_on T n i).
  rewrite (is_active_eq P stated_x T placed R), (runs_on_eq P stated_x T placed R) by auto. reflexivity.
Qed.
Lemma unit_at_eq n : (n < N)%nat -> unit_at T n == unit_of P n.
Proof.
  intros Hn. unfold unit_at, unit_of. rewrite (is_active_eq P stated_x T placed R) by auto.
  destruct (active P n); [apply (g_is _ _ _ _ R); auto|reflexivity].
Qed.
Lemma unit_of_pos n : (n < N)%nat -> 0 < unit_of P n.
Proof. intros. unfold unit_of. destruct (active P n) eqn:A; [apply active_pos; auto|lra]. Qed.
Lemma left_of_eq i r : (i < K)%nat -> (r < M)%nat -> left_of P stated_x T i r == full P i r - load P (kept P stated_x) i r.
Proof.
  intros Hi Hr. unfold left_of. rewrite sub_eq, (full_is _ _ _ _ R) by auto.
  rewrite (load_of_eq P) by (intros; apply (takes_is _ _ _ _ R); auto).
  rewrite (load_ext P (kept_of stated_x T) (kept P stated_x) i r); auto; [reflexivity|].
  intros n Hn. unfold kept_of, kept. rewrite keeps_eq by auto. reflexivity.
Qed.
Lemma is_entry_iff n i : (n < N)%nat -> (i < K)%nat ->
  is_entry stated_x T n i = true <-> (~ stated_x n i == 0 /\ counts P stated_x n i = false).
Proof.
  intros Hn Hi. unfold is_entry. rewrite andb_true_iff, !negb_true_iff, keeps_eq by auto.
  rewrite <- not_true_iff_false, eqq_iff. reflexivity.
Qed.

Theorem check_within_sound m : check_within P stated_x T m = true -> feasible_within P (- m) stated_x.
Proof.
  unfold check_within. intros H. bools. constructor.
  - intros n i Hn Hi Ne C. specialize (H n Hn). bools. specialize (H i Hi).
    assert (E : is_entry stated_x T n i = true) by (apply is_entry_iff; auto). rewrite E in H. bools.
    rewrite absolute_eq, mul_eq, unit_at_eq in H by auto. lra.
  - intros i r Hi Hr Fp. specialize (H1 i Hi). bools. specialize (H1 r Hr).
    rewrite <- (full_is _ _ _ _ R) in Fp by auto. apply lt_iff in Fp. rewrite Fp in H1. bools.
    rewrite left_of_eq, mul_eq, (full_is _ _ _ _ R) in H1 by auto. lra.
  - intros n l U L. assert (Hn : (n < N)%nat) by apply U. specialize (H0 n Hn). rewrite L in H0.
    destruct (user_is P stated_x T placed R n U) as [_ An]. rewrite An in H0. bools.
    rewrite mul_eq, sub_eq, rsum_eq, (g_is _ _ _ _ R) in H0 by auto. unfold tasks. lra.
Qed.
Lemma entry_at_sound m n i eps : (n < N)%nat -> (i < K)%nat -> entry_at stated_x T m n i = true ->
  feasible_within P eps stated_x -> - m <= eps.
Proof.
  unfold entry_at. intros Hn Hi H O. bools. apply is_entry_iff in H; auto. destruct H as [A B].
  rewrite absolute_eq, mul_eq, unit_at_eq in H0 by auto. pose proof (w_entries _ _ _ O n i Hn Hi A B).
  apply (below eps (- m) (unit_of P n)); [apply unit_of_pos; auto|lra].
Qed.
Lemma row_at_sound m i r eps : (i < K)%nat -> (r < M)%nat -> row_at P stated_x T m i r = true ->
  feasible_within P eps stated_x -> - m <= eps.
Proof.
  unfold row_at. intros Hi Hr H O. bools. rewrite left_of_eq, mul_eq, (full_is _ _ _ _ R) in H0 by auto.
  rewrite (full_is _ _ _ _ R) in H by auto. pose proof (w_rows _ _ _ O i r Hi Hr H).
  apply (below eps (- m) (full P i r)); auto; lra.
Qed.
Lemma tasks_at_iff m n : (n < N)%nat -> tasks_at P stated_x T m n = true ->
  exists l, user P n /\ limit P n = Some l /\ l - tasks P stated_x n == m * g P n.
Proof.
  unfold tasks_at. intros Hn H. destruct (limit P n) as [l|] eqn:L; [|discriminate]. bools. exists l.
  split; [eapply is_user; eauto|]. split; auto.
  rewrite sub_eq, rsum_eq, mul_eq, (g_is _ _ _ _ R) in H0 by auto. exact H0.
Qed.
Theorem check_limits_sound m : check_limits P stated_x T m = true ->
  feasible_within P (- m) stated_x /\ forall eps, feasible_within P eps stated_x -> - m <= eps.
Proof.
  unfold check_limits. intros H. apply andb_true_iff in H. destruct H as [H A].
  split; [apply check_within_sound; auto|]. intros eps O. apply orb_true_iff in A. destruct A as [A|A].
  - apply orb_true_iff in A. destruct A as [A|A]; apply any_iff in A; destruct A as (n & Hn & A);
      apply any_iff in A; destruct A as (i & Hi & A).
    + apply (entry_at_sound m n i); auto.
    + apply (row_at_sound m n i); auto.
  - apply any_iff in A. destruct A as (n & Hn & A). destruct (tasks_at_iff m n Hn A) as (l & U & L & E).
    pose proof (w_limit _ _ _ O n l U L). apply (below eps (- m) (g P n)); [apply user_g; auto|lra].
Qed.
Theorem check_no_bound_sound : check_no_bound P stated_x T = true -> forall eps, feasible_within P eps stated_x.
Proof.
  unfold check_no_bound. rewrite !andb_true_iff, !all_iff. intros [[A B] D] eps. constructor.
  - intros n i Hn Hi Ne Co. specialize (A n Hn). rewrite all_iff in A. specialize (A i Hi). apply negb_true_iff in A.
    assert (E : is_entry stated_x T n i = true) by (apply is_entry_iff; auto). congruence.
  - intros i r Hi Hr Fp. specialize (B i Hi). rewrite all_iff in B. specialize (B r Hr). apply le_iff in B.
    rewrite (full_is _ _ _ _ R) in B by auto. lra.
  - intros n l U L. assert (Hn : (n < N)%nat) by apply U. specialize (D n Hn). rewrite L in D.
    destruct (user_is P stated_x T placed R n U) as [_ An]. rewrite An in D. discriminate.
Qed.
End Sound.
