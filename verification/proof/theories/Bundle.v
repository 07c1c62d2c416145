(** Defines the value of a bundle to a user. Decides sharing incentive and work conservation, which compare this value
    with the tasks of users. *)
From Coq Require Import QArith Qreduction Qfield Arith ZArith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Arithmetic Checker Repair Soundness.
Open Scope Q_scope.

(** * Programs *)
Section Programs.
Variable P : problem.
Variable T : tables.
Notation N := (users P). Notation K := (classes P). Notation M := (resources P).
Notation x := (t_x T). Notation g := (t_g T). Notation has_tasks := (t_tasks T).

Definition on_class (n i : nat) (b : nat -> Q) : Q :=
  if runs_on T n i then match least M (t_takes T n i) b with Some v => v | None => 0 end else 0.
Definition best (n : nat) (b : nat -> nat -> Q) : Q := rsum K (fun i => on_class n i (b i)).
Definition at_most (n : nat) (v : Q) : Q := match limit P n with Some l => smaller l v | None => v end.

(** The number of tasks of n, minus m times g_n *)
Definition due (m : Q) (n : nat) : Q := sub (has_tasks n) (mul m (g n)).

Definition users_all (f : nat -> bool) : bool := all N (fun n => if is_active T n then f n else true).

(** Sharing incentive: no user has a margin below m, and some user has exactly m. *)
Definition part (n i r : nat) : Q := mul (quo (weight P n) (t_weights T)) (t_full T i r).
Definition shared (n : nat) : Q := at_most n (best n (part n)).
Definition check_sharing (m : Q) : bool :=
  users_all (fun n => le (shared n) (due m n)) &&
  any N (fun k => is_active T k && eqq (shared k) (due m k)).

(** Work conservation: no user has a margin below m for the free capacity, and some user has exactly m. *)
Definition room (n : nat) : Q :=
  let v := best n (t_slack T) in
  match limit P n with Some l => smaller (sub l (has_tasks n)) v | None => v end.
Definition spare (m : Q) (n : nat) : bool := le (room n) (- mul m (g n)).
Definition has_least (m : Q) (k : nat) : bool := is_active T k && eqq (room k) (- mul m (g k)).
Definition check_conserving (m : Q) : bool := users_all (spare m) && any N (has_least m).
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

Lemma users_all_iff f : users_all P T f = true <-> forall n, user P n -> f n = true.
Proof.
  unfold users_all. rewrite all_iff. split; intros H n.
  - intros U. destruct (user_is P stated_x T placed R n U) as [Hn A]. specialize (H n Hn). rewrite A in H. auto.
  - intros Hn. destruct (is_active T n) eqn:A; auto. apply H. eapply is_user; eauto.
Qed.

Lemma least_fits m d b v : least m d b = Some v -> (forall r, (r < m)%nat -> 0 <= b r) ->
  0 <= v /\ forall r, (r < m)%nat -> 0 < d r -> v * d r <= b r.
Proof.
  revert v. induction m; simpl; intros v L B; [discriminate|].
  assert (B' : forall r, (r < m)%nat -> 0 <= b r) by (intros; apply B; lia).
  destruct (lt 0 (d m)) eqn:E; bools.
  - assert (Q1 : 0 <= quo (b m) (d m)).
    { rewrite quo_eq. apply quotient_nonneg; [apply B; lia|lra]. }
    assert (Q2 : quo (b m) (d m) * d m == b m) by (rewrite quo_eq; field; lra).
    assert (Q3 : forall w, w <= quo (b m) (d m) -> w * d m <= b m).
    { intros w Hw. pose proof (prod_le w _ (d m) Hw ltac:(lra)). lra. }
    destruct (least m d b) as [u|] eqn:Lm.
    + destruct (IHm u eq_refl B') as [U1 U2].
      destruct (le (quo (b m) (d m)) u) eqn:C; inversion L; subst; bools; split; auto; intros r Hr Dr.
      * destruct (Nat.eq_dec r m); [subst; lra|]. specialize (U2 r ltac:(lia) Dr).
        pose proof (prod_le (quo (b m) (d m)) u (d r) C ltac:(lra)). lra.
      * destruct (Nat.eq_dec r m); [subst; apply Q3; lra|]. apply U2; auto; lia.
    + inversion L; subst. split; auto. intros r Hr Dr.
      destruct (Nat.eq_dec r m); [subst; lra|]. exfalso.
      destruct (least_some m d b r ltac:(lia) Dr) as [? E']. congruence.
  - destruct (IHm v L B') as [U1 U2]. split; auto. intros r Hr Dr.
    destruct (Nat.eq_dec r m); [subst; lra|]. apply U2; auto; lia.
Qed.

Lemma t_takes_some n i : (n < N)%nat -> (i < K)%nat -> 0 < gamma P n i ->
  exists r, (r < M)%nat /\ 0 < t_takes T n i r.
Proof.
  intros Hn Hi G. destruct (gamma_tight P W n i Hn Hi G) as (r & Hr & D & _).
  exists r. split; auto. rewrite (takes_is _ _ _ _ R) by auto. auto.
Qed.

(** User n can run [best] tasks of a bundle, and no more. *)
Lemma on_class_most n i b z : (n < N)%nat -> (i < K)%nat -> 0 <= z -> (gamma P n i == 0 -> z == 0) ->
  (forall r, (r < M)%nat -> z * takes P n i r <= b r) -> z <= on_class P T n i b.
Proof.
  intros Hn Hi Hz Hg Hb. unfold on_class. rewrite (runs_on_eq P stated_x T placed R) by auto.
  destruct (lt 0 (gamma P n i)) eqn:G; bools.
  - destruct (t_takes_some n i Hn Hi G) as (r & Hr & D).
    destruct (least_some M (t_takes T n i) b r Hr D) as [v E]. rewrite E.
    apply (least_sound M (t_takes T n i) b); auto.
    intros. rewrite (takes_is _ _ _ _ R) by auto. auto.
  - pose proof (gamma_nonneg P W n i Hn Hi). rewrite Hg; lra.
Qed.
Lemma on_class_runs n i b : (n < N)%nat -> (i < K)%nat -> (forall r, (r < M)%nat -> 0 <= b r) ->
  0 <= on_class P T n i b /\ (gamma P n i == 0 -> on_class P T n i b == 0) /\
  forall r, (r < M)%nat -> on_class P T n i b * takes P n i r <= b r.
Proof.
  intros Hn Hi B. unfold on_class. rewrite (runs_on_eq P stated_x T placed R) by auto.
  destruct (lt 0 (gamma P n i)) eqn:G; bools.
  - destruct (t_takes_some n i Hn Hi G) as (r0 & Hr0 & D0).
    destruct (least_some M (t_takes T n i) b r0 Hr0 D0) as [v E]. rewrite E.
    destruct (least_fits M (t_takes T n i) b v E B) as [V1 V2]. repeat split; auto.
    + lra.
    + intros r Hr. rewrite <- (takes_is _ _ _ _ R) by auto.
      destruct (Qlt_le_dec 0 (t_takes T n i r)) as [D|D]; [auto|].
      pose proof (takes_nonneg P W n i r Hn Hi Hr) as Pos. rewrite <- (takes_is _ _ _ _ R) in Pos by auto.
      assert (Z : t_takes T n i r == 0) by lra. rewrite Z. specialize (B r Hr). lra.
  - repeat split; try lra. intros r Hr. specialize (B r Hr). lra.
Qed.
Lemma best_eq n b : best P T n b == sum K (fun i => on_class P T n i (b i)).
Proof. apply rsum_eq. Qed.
Lemma best_most n b z : (n < N)%nat -> runs P n b z -> sum K z <= best P T n b.
Proof.
  intros Hn H. rewrite best_eq. apply sum_le. intros i Hi. apply on_class_most; auto.
  - apply (r_nonneg P n b z H); auto.
  - apply (r_can P n b z H); auto.
  - intros. apply (r_fits P n b z H); auto.
Qed.
Lemma best_nonneg n b : (n < N)%nat -> (forall i r, (i < K)%nat -> (r < M)%nat -> 0 <= b i r) ->
  0 <= best P T n b.
Proof. intros Hn B. rewrite best_eq. apply sum_nonneg. intros. apply on_class_runs; auto. Qed.
(** Every number of tasks up to [best] can be run. *)
Lemma best_runs n b t : (n < N)%nat -> (forall i r, (i < K)%nat -> (r < M)%nat -> 0 <= b i r) ->
  0 <= t -> t <= best P T n b -> exists z, runs P n b z /\ sum K z == t.
Proof.
  intros Hn B Ht Hb. set (v := best P T n b) in *.
  destruct (Qlt_le_dec 0 v) as [V|V].
  - exists (fun i => t / v * on_class P T n i (b i)). split.
    + assert (S0 : 0 <= t / v) by (apply quotient_nonneg; lra).
      assert (S1 : t / v <= 1) by (apply quotient_le; lra).
      constructor; intros i; intros.
      * apply prod_nonneg; auto. apply on_class_runs; auto.
      * destruct (on_class_runs n i (b i) Hn H ltac:(auto)) as (_ & Z & _). rewrite Z by auto. lra.
      * destruct (on_class_runs n i (b i) Hn H ltac:(auto)) as (_ & _ & Z). specialize (Z r H0).
        specialize (B i r H H0).
        assert (Hm : t / v * (on_class P T n i (b i) * takes P n i r) <= t / v * b i r)
          by (apply prod_le_l; auto).
        pose proof (prod_le _ _ (b i r) S1 B). lra.
    + rewrite sum_scale, <- best_eq. fold v. field. lra.
  - exists (fun _ => 0). split; [constructor; intros; try lra|].
    + specialize (B i r H H0). lra.
    + rewrite sum_zero by reflexivity. lra.
Qed.

Lemma limit_T n l : (n < N)%nat -> limit P n = Some l -> 0 <= l.
Proof. intros. eapply (limit_nonneg P W); eauto. Qed.
Lemma at_most_cases n v : (limit P n = None /\ at_most P n v = v) \/
  exists l, limit P n = Some l /\ at_most P n v = smaller l v.
Proof. unfold at_most. destruct (limit P n) as [l|]; [right; exists l|left]; auto. Qed.

Lemma content_iff eps n b : user P n -> (forall i r, (i < K)%nat -> (r < M)%nat -> 0 <= b i r) ->
  content P eps x n b <-> at_most P n (best P T n b) <= tasks P x n + eps * g P n.
Proof.
  intros U B. assert (Hn : (n < N)%nat) by apply U. pose proof (best_nonneg n b Hn B) as V0.
  split.
  - intros C. destruct (best_runs n b (at_most P n (best P T n b)) Hn B) as (z & Z1 & Z2).
    + destruct (at_most_cases n (best P T n b)) as [[L E]|(l & L & E)]; rewrite E; auto.
      pose proof (limit_T n l Hn L). minmax; lra.
    + destruct (at_most_cases n (best P T n b)) as [[L E]|(l & L & E)]; rewrite E; [lra|minmax; lra].
    + rewrite <- Z2. apply C; auto. unfold within_limit.
      destruct (at_most_cases n (best P T n b)) as [[L E]|(l & L & E)]; rewrite L; auto.
      rewrite Z2, E. minmax; lra.
  - intros H z Z L. pose proof (best_most n b z Hn Z) as V. unfold within_limit in L.
    destruct (at_most_cases n (best P T n b)) as [[L' E]|(l & L' & E)]; rewrite E in H; rewrite L' in L;
      [lra|minmax; lra].
Qed.

Lemma content_ext eps n b c : (n < N)%nat -> (forall i r, (i < K)%nat -> (r < M)%nat -> b i r == c i r) ->
  content P eps x n b -> content P eps x n c.
Proof.
  intros Hn E C z Z L. apply C; auto. constructor.
  - apply (r_nonneg P n c z Z).
  - apply (r_can P n c z Z).
  - intros. rewrite E by auto. apply (r_fits P n c z Z); auto.
Qed.

Lemma due_eq m n : (n < N)%nat -> due T m n == tasks P x n - m * g P n.
Proof. intros. unfold due. rewrite sub_eq, mul_eq, (tasks_is _ _ _ _ R), (g_is _ _ _ _ R) by auto. reflexivity. Qed.

Lemma weight_sum_pos n : user P n -> 0 < sum N (fun m => if active P m then weight P m else 0).
Proof.
  intros [Hn A]. assert (weight P n <= sum N (fun m => if active P m then weight P m else 0)).
  { pose proof (sum_term N (fun m => if active P m then weight P m else 0) n) as S. cbv beta in S.
    rewrite A in S. apply S; auto. intros j Hj. destruct (active P j); [|lra].
    pose proof (weight_pos P W j Hj). lra. }
  pose proof (weight_pos P W n Hn). lra.
Qed.
Lemma entitlement_nonneg n : user P n -> 0 <= entitlement P n.
Proof.
  intros U. unfold entitlement. apply quotient_nonneg.
  - pose proof (weight_pos P W n ltac:(apply U)). lra.
  - pose proof (weight_sum_pos n U). lra.
Qed.

(** -m is the least eps within which the axiom holds. *)
Definition least_eps (axiom : Q -> Prop) (m : Q) : Prop := axiom (- m) /\ forall eps, axiom eps -> - m <= eps.
Lemma below eps m a : 0 < a -> m * a <= eps * a -> m <= eps.
Proof. intros A H. apply Qnot_lt_le. intro C. assert (0 < (m - eps) * a) by (apply Qmult_lt_0_compat; lra). lra. Qed.

Theorem check_sharing_sound m : check_sharing P T m = true ->
  least_eps (fun eps => sharing_incentive P eps x) m.
Proof.
  unfold check_sharing. intros H. apply andb_true_iff in H. destruct H as [H A]. rewrite users_all_iff in H.
  apply any_iff in A. destruct A as (k & Hk & A). apply andb_true_iff in A. destruct A as [Ak A]. apply eqq_iff in A.
  assert (I : forall n, user P n -> forall eps,
    content P eps x n (fun i r => entitlement P n * full P i r) <-> shared P T n <= tasks P x n + eps * g P n).
  { intros n U eps. assert (Hn : (n < N)%nat) by apply U.
    assert (E : forall i r, (i < K)%nat -> (r < M)%nat -> entitlement P n * full P i r == part P T n i r).
    { intros. unfold part. rewrite mul_eq, quo_eq, (weights_is _ _ _ _ R), (full_is _ _ _ _ R) by auto.
      unfold entitlement. reflexivity. }
    assert (B : forall i r, (i < K)%nat -> (r < M)%nat -> 0 <= part P T n i r).
    { intros. rewrite <- E by auto. apply prod_nonneg; [apply entitlement_nonneg|apply full_nonneg]; auto. }
    unfold shared. rewrite <- content_iff by auto.
    split; apply content_ext; auto. intros. symmetry. auto. }
  split.
  - intros n U. apply I; auto. specialize (H n U). bools. rewrite due_eq in H by apply U. lra.
  - intros eps O. assert (U : user P k) by (eapply is_user; eauto).
    specialize (O k U). rewrite I in O by auto. rewrite A, due_eq in O by auto.
    apply (below _ _ (g P k)); [apply user_g; auto|lra].
Qed.

Lemma slack_nonneg i r : (i < K)%nat -> (r < M)%nat -> 0 <= slack P x i r.
Proof. intros Hi Hr. unfold slack. pose proof (f_rows P x F i r Hi Hr). lra. Qed.

Lemma conserving_sound m k : users_all P T (spare P T m) = true -> (k < N)%nat -> has_least P T m k = true ->
  least_eps (fun eps => work_conserving P eps x) m.
Proof.
  intros H H2 H0. unfold has_least in H0. rewrite users_all_iff in H. bools. unfold spare in H.
  assert (B : forall i r, (i < K)%nat -> (r < M)%nat -> 0 <= t_slack T i r).
  { intros. rewrite (slack_is _ _ _ _ R) by auto. apply slack_nonneg; auto. }
  assert (I : forall n, user P n -> forall eps,
    (forall z, runs P n (slack P x) z -> within_limit P n (tasks P x n + sum K z) -> sum K z <= eps * g P n) <->
    room P T n <= eps * g P n).
  { intros n U eps. assert (Hn : (n < N)%nat) by apply U. unfold room.
    pose proof (best_nonneg n (t_slack T) Hn B) as V0.
    assert (E : forall i r, (i < K)%nat -> (r < M)%nat -> t_slack T i r == slack P x i r).
    { intros. apply (slack_is _ _ _ _ R); auto. }
    split.
    - intros A. pose proof (f_limit P x F n Hn) as L. unfold within_limit in *.
      destruct (limit P n) as [l|] eqn:Ln.
      + destruct (best_runs n (t_slack T) (smaller (sub l (t_tasks T n)) (best P T n (t_slack T))) Hn B) as (z & Z1 & Z2).
        * rewrite <- (tasks_is _ _ _ _ R) in L by auto. pose proof (sub_eq l (t_tasks T n)). minmax; lra.
        * minmax; lra.
        * rewrite <- Z2. apply A.
          -- constructor; [apply (r_nonneg _ _ _ _ Z1)|apply (r_can _ _ _ _ Z1)|].
             intros. rewrite <- E by auto. apply (r_fits _ _ _ _ Z1); auto.
          -- rewrite Z2, <- (tasks_is _ _ _ _ R) by auto. pose proof (sub_eq l (t_tasks T n)). minmax; lra.
      + destruct (best_runs n (t_slack T) (best P T n (t_slack T)) Hn B) as (z & Z1 & Z2); try lra.
        rewrite <- Z2. apply A; auto. constructor; [apply (r_nonneg _ _ _ _ Z1)|apply (r_can _ _ _ _ Z1)|].
        intros. rewrite <- E by auto. apply (r_fits _ _ _ _ Z1); auto.
    - intros A z Z L. assert (Z' : runs P n (t_slack T) z).
      { constructor; [apply (r_nonneg _ _ _ _ Z)|apply (r_can _ _ _ _ Z)|].
        intros. rewrite E by auto. apply (r_fits _ _ _ _ Z); auto. }
      pose proof (best_most n (t_slack T) z Hn Z') as V. unfold within_limit in L.
      destruct (limit P n) as [l|]; [|lra]. rewrite <- (tasks_is _ _ _ _ R) in L by auto.
      pose proof (sub_eq l (t_tasks T n)). minmax; lra. }
  split.
  - intros n z U. apply I; auto. specialize (H n U). bools. rewrite mul_eq, (g_is _ _ _ _ R) in H by apply U. lra.
  - intros eps A. assert (U : user P k) by (eapply is_user; eauto).
    assert (A' : room P T k <= eps * g P k) by (apply I; auto; intros; apply (A k); auto).
    rewrite H1, mul_eq, (g_is _ _ _ _ R) in A' by auto.
    apply (below _ _ (g P k)); [apply user_g; auto|lra].
Qed.
Theorem check_conserving_sound m : check_conserving P T m = true -> least_eps (fun eps => work_conserving P eps x) m.
Proof.
  unfold check_conserving. intros H. bools. apply any_iff in H0. destruct H0 as (k & Hk & H0).
  apply (conserving_sound m k); auto.
Qed.

Lemma least_ext m d b c : (forall r, (r < m)%nat -> b r == c r) ->
  match least m d b, least m d c with Some u, Some v => u == v | None, None => True | _, _ => False end.
Proof.
  induction m; simpl; intros E; auto.
  assert (E' : forall r, (r < m)%nat -> b r == c r) by (intros; apply E; lia). specialize (IHm E').
  assert (Q : quo (b m) (d m) == quo (c m) (d m)) by (rewrite !quo_eq, E by lia; reflexivity).
  destruct (lt 0 (d m)); auto.
  destruct (least m d b) as [u|], (least m d c) as [v|]; try contradiction; auto.
  destruct (le (quo (b m) (d m)) u) eqn:A, (le (quo (c m) (d m)) v) eqn:B; bools; lra.
Qed.
Lemma on_class_ext n i b c : (forall r, (r < M)%nat -> b r == c r) -> on_class P T n i b == on_class P T n i c.
Proof.
  intros E. unfold on_class. destruct (runs_on T n i); [|reflexivity].
  pose proof (least_ext M (t_takes T n i) b c E) as L.
  destruct (least _ _ b), (least _ _ c); try contradiction; auto. reflexivity.
Qed.
End Sound.
