(** Decides no justified complaints and PS-DSF. Every user has all its tasks, or rows justify the tasks that it lacks.
    *)
From Coq Require Import QArith Qreduction Qfield Arith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Arithmetic Checker Repair Soundness Bundle.
Open Scope Q_scope.

(** * Programs *)
Section Programs.
Variable P : problem.
Variable T : tables.
Notation N := (users P). Notation K := (classes P). Notation M := (resources P).
Notation x := (t_x T). Notation g := (t_g T).

Definition someone (f : nat -> bool) : bool := any N (fun n => is_active T n && f n).
(** [lacks_few]: user n lacks at most -m times g_n of its tasks. [lacks_many]: user n lacks at least -m times g_n of its
    tasks. *)
Definition lacks_few (m : Q) (n : nat) : bool :=
  match limit P n with Some l => le (sub l (t_tasks T n)) (- mul m (g n)) | None => false end.
Definition lacks_many (m : Q) (n : nat) : bool :=
  match limit P n with Some l => le (- mul m (g n)) (sub l (t_tasks T n)) | None => true end.
Definition uses (n i r : nat) : bool := runs_on T n i && lt 0 (t_takes T n i r).

(** ** No justified complaints *)
Definition due_of (n : nat) : Q := quo (weight P n) (t_weights T).
Definition answers (m e : Q) (n i r : nat) : bool :=
  uses n i r && le (t_slack T i r) (- mul m (t_full T i r)) &&
  le (mul (add e m) (t_full T i r)) (mul (x n i) (t_takes T n i r)).
Definition njc_least (m : Q) (n : nat) : bool :=
  let e := due_of n in
  lacks_many m n && all K (fun i => all M (fun r => if uses n i r
    then le (- mul m (t_full T i r)) (t_slack T i r) || le (mul (x n i) (t_takes T n i r)) (mul (add e m) (t_full T i r))
    else true)).
Definition check_njc (m : Q) : bool :=
  users_all P T (fun n => let e := due_of n in
    lacks_few m n || any K (fun i => any M (fun r => answers m e n i r))) && someone (njc_least m).

(** ** PS-DSF. [lev] is the table of the levels x_n / (w_n gamma_ni). *)
Fixpoint sparse_from (a : Q) (n : nat) (f : nat -> option Q) : Q :=
  match n with O => a | S k => sparse_from (match f k with Some q => add a q | None => a end) k f end.
Definition sparse_sum (n : nat) (f : nat -> option Q) : Q := sparse_from 0 n f.
Variable lev : nat -> nat -> Q.
Definition check_levels_at : bool :=
  all N (fun n => all K (fun i =>
    if runs_on T n i then eqq (lev n i) (quo (t_tasks T n) (mul (weight P n) (t_gamma T n i))) else true)).
(** The lack of user n in a row: the free part of the row, and the amounts that other users hold above the level of n *)
Definition lack (n i r : nat) : Q :=
  let l := lev n i in
  quo (add (t_slack T i r) (sparse_sum N (fun k =>
    if le (x k i) 0 then None else if Nat.eqb k n then None else if le (lev k i) l then None else
    Some (mul (smaller (x k i) (sub (t_tasks T k) (mul l (mul (weight P k) (t_gamma T k i))))) (t_takes T k i r)))))
  (t_takes T n i r).
Definition no_bottleneck (m : Q) (n i : nat) : bool :=
  lacks_many m n && runs_on T n i &&
  (let d := - mul m (g n) in
   all M (fun r => if lt 0 (t_takes T n i r) then le d (lack n i r) else true)).
Definition is_answer (m : Q) (n i r : nat) : bool :=
  lt 0 (t_takes T n i r) && le (lack n i r) (- mul m (g n)).
Definition check_ps_dsf (m : Q) : bool :=
  check_levels_at &&
  users_all P T (fun n => lacks_few m n ||
    all K (fun i => if runs_on T n i then any M (is_answer m n i) else true)) &&
  someone (fun n => any K (no_bottleneck m n)).
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

Lemma lacks_few_sound m n : (n < N)%nat -> lacks_few P T m n = true ->
  exists l, limit P n = Some l /\ l - tasks P x n <= - m * g P n.
Proof.
  unfold lacks_few. intros Hn H. destruct (limit P n) as [l|]; [|discriminate]. bools. exists l. split; auto.
  rewrite sub_eq, mul_eq, (tasks_is _ _ _ _ R), (g_is _ _ _ _ R) in H by auto. lra.
Qed.
Lemma lacks_many_sound m n eps : user P n -> lacks_many P T m n = true ->
  (exists l, limit P n = Some l /\ l - tasks P x n <= eps * g P n) -> - m <= eps.
Proof.
  unfold lacks_many. intros U H (l & L & E). assert (Hn : (n < N)%nat) by apply U. rewrite L in H. bools.
  rewrite sub_eq, mul_eq, (tasks_is _ _ _ _ R), (g_is _ _ _ _ R) in H by auto.
  apply (below eps (- m) (g P n)); [apply user_g; auto|lra].
Qed.
Lemma uses_iff n i r : (n < N)%nat -> (i < K)%nat -> (r < M)%nat ->
  uses T n i r = true <-> 0 < gamma P n i /\ 0 < takes P n i r.
Proof.
  intros. unfold uses. rewrite andb_true_iff, (runs_on_eq P stated_x T placed R), !lt_iff, (takes_is _ _ _ _ R) by auto.
  reflexivity.
Qed.
Lemma someone_iff f : someone P T f = true -> exists n, user P n /\ f n = true.
Proof.
  unfold someone. rewrite any_iff. intros (n & Hn & H). apply andb_true_iff in H. destruct H.
  exists n. split; auto. eapply is_user; eauto.
Qed.

Lemma due_of_eq n : due_of P T n == entitlement P n.
Proof. unfold due_of, entitlement. rewrite quo_eq, (weights_is _ _ _ _ R). reflexivity. Qed.
Lemma answers_sound m n i r : user P n -> (i < K)%nat -> (r < M)%nat -> answers T m (due_of P T n) n i r = true ->
  0 < gamma P n i /\ 0 < takes P n i r /\ slack P x i r <= - m * full P i r /\
  (entitlement P n - - m) * full P i r <= x n i * takes P n i r.
Proof.
  intros U Hi Hr H. assert (Hn : (n < N)%nat) by apply U. unfold answers in H. bools.
  apply uses_iff in H; auto. destruct H.
  rewrite !mul_eq, add_eq, due_of_eq, (full_is _ _ _ _ R), (takes_is _ _ _ _ R) in H0 by auto.
  rewrite mul_eq, (full_is _ _ _ _ R), (slack_is _ _ _ _ R) in H1 by auto. repeat split; auto; lra.
Qed.
Lemma njc_least_sound m n eps : user P n -> njc_least P T m n = true ->
  no_justified_complaints P eps x -> - m <= eps.
Proof.
  unfold njc_least. intros U H O. assert (Hn : (n < N)%nat) by apply U. bools.
  destruct (O n U) as [L|(i & r & Hi & Hr & Gp & Tp & A & B)]; [apply (lacks_many_sound m n); auto|].
  specialize (H0 i Hi). bools. specialize (H0 r Hr).
  assert (Us : uses T n i r = true) by (apply uses_iff; auto). rewrite Us in H0.
  assert (Fp : 0 < full P i r).
  { pose proof (full_nonneg P W i r Hi Hr). destruct (Qlt_le_dec 0 (full P i r)) as [|C]; auto.
    rewrite (empty_row P W n i r) in Tp; auto; lra. }
  apply (below eps (- m) (full P i r)); auto. apply orb_true_iff in H0. destruct H0; bools.
  - rewrite mul_eq, (full_is _ _ _ _ R), (slack_is _ _ _ _ R) in H0 by auto. lra.
  - rewrite !mul_eq, add_eq, due_of_eq, (full_is _ _ _ _ R), (takes_is _ _ _ _ R) in H0 by auto. lra.
Qed.
Theorem check_njc_sound m : check_njc P T m = true -> least_eps (fun eps => no_justified_complaints P eps x) m.
Proof.
  unfold check_njc. intros H. bools. rewrite (users_all_iff P T stated_x placed R) in H.
  apply someone_iff in H0. destruct H0 as (k & U & Lk). split.
  - intros n Un. specialize (H n Un). cbv zeta in H. apply orb_true_iff in H. destruct H as [H|H].
    + left. apply lacks_few_sound; auto. apply Un.
    + right. apply any_iff in H. destruct H as (i & Hi & H). apply any_iff in H. destruct H as (r & Hr & H).
      exists i, r. split; auto. split; auto. apply answers_sound; auto.
  - intros eps. apply njc_least_sound with (n := k); auto.
Qed.

Lemma sparse_from_eq n f h : (forall k, (k < n)%nat -> match f k with Some q => q | None => 0 end == h k) ->
  forall a, sparse_from a n f == a + sum n h.
Proof.
  induction n; simpl; intros H a; [ring|]. rewrite <- (H n) by lia.
  rewrite IHn by (intros; apply H; lia). destruct (f n); [rewrite add_eq|]; ring.
Qed.
Lemma sparse_sum_eq n f h : (forall k, (k < n)%nat -> match f k with Some q => q | None => 0 end == h k) ->
  sparse_sum n f == sum n h.
Proof. intros H. unfold sparse_sum. rewrite (sparse_from_eq n f h H). ring. Qed.

Section Levels.
Variable lev : nat -> nat -> Q.
Hypothesis LV : check_levels_at P T lev = true.
Lemma lev_is n i : (n < N)%nat -> (i < K)%nat -> 0 < gamma P n i ->
  lev n i == tasks P x n / (weight P n * gamma P n i).
Proof.
  intros Hn Hi G. unfold check_levels_at in LV. rewrite all_iff in LV. specialize (LV n Hn).
  rewrite all_iff in LV. specialize (LV i Hi). rewrite (runs_on_eq P stated_x T placed R) in LV by auto.
  apply lt_iff in G. rewrite G in LV. apply lt_iff in G. apply eqq_iff in LV.
  rewrite LV, quo_eq, mul_eq, (tasks_is _ _ _ _ R), (gamma_is _ _ _ _ R) by auto. reflexivity.
Qed.
Lemma lack_eq n i r : (n < N)%nat -> (i < K)%nat -> (r < M)%nat -> 0 < gamma P n i ->
  lack P T lev n i r == lacks P x n i r.
Proof.
  intros Hn Hi Hr G. unfold lack, lacks.
  rewrite quo_eq, add_eq, (slack_is _ _ _ _ R), (takes_is _ _ _ _ R) by auto.
  rewrite (sparse_sum_eq N _ (fun m => if Nat.eqb m n then 0 else
     ahead P x n m i * takes P m i r)); [reflexivity|].
  intros k Hk. pose proof (f_nonneg P x F k i Hk Hi) as X0.
  pose proof (weight_pos P W n Hn) as Wn. pose proof (weight_pos P W k Hk) as Wk.
  destruct (le (x k i) 0) eqn:E; bools.
  { assert (Z : x k i == 0) by lra. destruct (Nat.eqb k n); [reflexivity|]. symmetry.
    assert (S : ahead P x n k i == 0)
      by (unfold ahead; minmax; lra).
    rewrite S. ring. }
  destruct (Nat.eqb k n); [reflexivity|].
  assert (Gk : 0 < gamma P k i).
  { pose proof (gamma_nonneg P W k i Hk Hi). destruct (Qlt_le_dec 0 (gamma P k i)); auto.
    rewrite (f_can P x F k i Hk Hi) in E; lra. }
  assert (A : 0 < weight P k * gamma P k i) by (apply Qmult_lt_0_compat; auto).
  assert (B : 0 < weight P n * gamma P n i) by (apply Qmult_lt_0_compat; auto).
  assert (D : tasks P x k - tasks P x n * (weight P k * gamma P k i) / (weight P n * gamma P n i) ==
              (lev k i - lev n i) * (weight P k * gamma P k i)).
  { rewrite !lev_is by auto. field. repeat split; lra. }
  destruct (le (lev k i) (lev n i)) eqn:C; bools.
  - assert (Z : ahead P x n k i == 0).
    { pose proof (prod_nonneg (lev n i - lev k i) _ ltac:(lra) (Qlt_le_weak _ _ A)). unfold ahead. minmax; lra. }
    rewrite Z. ring.
  - rewrite mul_eq, (takes_is _ _ _ _ R) by auto.
    assert (Pos : 0 < (lev k i - lev n i) * (weight P k * gamma P k i)) by (apply Qmult_lt_0_compat; lra).
    assert (Q1 : sub (t_tasks T k) (mul (lev n i) (mul (weight P k) (t_gamma T k i))) ==
                 tasks P x k - lev n i * (weight P k * gamma P k i)).
    { rewrite sub_eq, !mul_eq, (tasks_is _ _ _ _ R), (gamma_is _ _ _ _ R) by auto. reflexivity. }
    assert (Q2 : tasks P x k == lev k i * (weight P k * gamma P k i)) by (rewrite lev_is by auto; field; lra).
    unfold ahead.
    rewrite (smaller_ext (x k i) (sub (t_tasks T k) (mul (lev n i) (mul (weight P k) (t_gamma T k i)))) (x k i)
      (larger 0 (tasks P x k - tasks P x n * (weight P k * gamma P k i) / (weight P n * gamma P n i)))); try reflexivity.
    minmax; lra.
Qed.
Lemma is_answer_sound m n i r : user P n -> (i < K)%nat -> (r < M)%nat -> 0 < gamma P n i ->
  is_answer P T lev m n i r = true -> 0 < takes P n i r /\ lacks P x n i r <= - m * g P n.
Proof.
  intros U Hi Hr G H. assert (Hn : (n < N)%nat) by apply U. unfold is_answer in H. bools.
  rewrite (takes_is _ _ _ _ R) in H by auto. rewrite lack_eq, mul_eq, (g_is _ _ _ _ R) in H0 by auto. split; auto; lra.
Qed.
Lemma no_bottleneck_sound m n i eps : user P n -> (i < K)%nat -> no_bottleneck P T lev m n i = true ->
  ps_dsf P eps x -> - m <= eps.
Proof.
  unfold no_bottleneck. intros U Hi H O. assert (Hn : (n < N)%nat) by apply U. cbv zeta in H. bools.
  rewrite (runs_on_eq P stated_x T placed R) in H1 by auto. bools.
  destruct (O n i U Hi H1) as [L|(r & Hr & Tp & A)]; [apply (lacks_many_sound m n); auto|].
  specialize (H0 r Hr). rewrite <- (takes_is _ _ _ _ R) in Tp by auto. apply lt_iff in Tp. rewrite Tp in H0. bools.
  rewrite lack_eq, mul_eq, (g_is _ _ _ _ R) in H0 by auto.
  apply (below eps (- m) (g P n)); [apply user_g; auto|lra].
Qed.
End Levels.

Theorem check_ps_dsf_sound lev m : check_ps_dsf P T lev m = true -> least_eps (fun eps => ps_dsf P eps x) m.
Proof.
  unfold check_ps_dsf. intros H. apply andb_true_iff in H. destruct H as [H Lk]. apply andb_true_iff in H. destruct H as [LV H].
  apply someone_iff in Lk. destruct Lk as (k & Uk & A). apply any_iff in A. destruct A as (j & Hj & A).
  rewrite (users_all_iff P T stated_x placed R) in H. split.
  - intros n i U Hi G. assert (Hn : (n < N)%nat) by apply U. specialize (H n U). apply orb_true_iff in H.
    destruct H as [H|H].
    + left. apply lacks_few_sound; auto.
    + right. bools. specialize (H i Hi). rewrite (runs_on_eq P stated_x T placed R) in H by auto.
      pose proof G as G'. apply lt_iff in G'. rewrite G' in H. apply any_iff in H. destruct H as (r & Hr & B).
      exists r. split; auto. apply (is_answer_sound lev); auto.
  - intros eps. apply (no_bottleneck_sound lev LV m k j); auto.
Qed.
End Sound.
