(** What a bundle is worth; envy-freeness, sharing incentive and work conservation, which compare it with what
    users have. *)
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

(** What n has, less the margin m *)
Definition due (m : Q) (n : nat) : Q := sub (has_tasks n) (mul m (g n)).

Definition users_all (f : nat -> bool) : bool := all N (fun n => if is_active T n then f n else true).

(** Sharing incentive: nobody has a margin below m, and k has just m. *)
Definition part (n i r : nat) : Q := mul (quo (weight P n) (t_weights T)) (t_full T i r).
Definition shared (n : nat) : Q := at_most n (best n (part n)).
Definition check_sharing (m : Q) (k : nat) : bool :=
  users_all (fun n => le (shared n) (due m n)) &&
  Nat.ltb k N && is_active T k && eqq (shared k) (due m k).

(** Work conservation: the same, of what is free *)
Definition room (n : nat) : Q :=
  let v := best n (t_slack T) in
  match limit P n with Some l => smaller (sub l (has_tasks n)) v | None => v end.
Definition spare (m : Q) (n : nat) : bool := le (room n) (- mul m (g n)).
Definition pending (n : nat) : bool := negb (has P n (has_tasks n)).
(** For every user with pending tasks the row that is short on every class; nobody has a margin below m, and
    somebody has just m. *)
Definition is_short (m : Q) (short : nat -> option (nat -> nat)) (n : nat) : bool :=
  match short n with
  | Some row => pending n &&
      all K (fun i => if runs_on T n i then Nat.ltb (row i) M && lt 0 (t_takes T n i (row i)) else true) &&
      (let v := rsum K (fun i => if runs_on T n i then quo (t_slack T i (row i)) (t_takes T n i (row i)) else 0) in
       le (match limit P n with Some l => smaller (sub l (has_tasks n)) v | None => v end) (- mul m (g n)))
  | None => negb (pending n)
  end.
Definition has_least (m : Q) (k : nat) : bool := is_active T k && eqq (room k) (- mul m (g k)).
Definition check_short (m : Q) (short : nat -> option (nat -> nat)) : bool :=
  users_all (is_short m short) && users_all (spare m) && any N (has_least m).
(** A user with pending tasks, and a class where some fit *)
Definition check_free (m : Q) (k i : nat) : bool :=
  users_all (spare m) && Nat.ltb k N && has_least m k && pending k && Nat.ltb i K && runs_on T k i &&
  all M (fun r => if lt 0 (t_takes T k i r) then lt 0 (t_slack T i r) else true).

(** Envy. What n could run with what k has, by weight *)
Definition worth_of (n k : nat) : Q :=
  let s := quo (weight P n) (weight P k) in
  rsum K (fun i => if lt 0 (x k i) then on_class n i (fun r => mul s (mul (x k i) (t_takes T k i r))) else 0).

(** Hints that settle most pairs in whole numbers: [held k i r] grains of row r are at least what k has there,
    over its weight; [rate n i] lists rows with what a grain is worth to n at most, of which [scale] make what
    n is due. They are looked at once for every user; wrong ones are refused. *)
Record hints := {
  grain : nat -> nat -> Q; held : nat -> nat -> nat -> Z; on : nat -> list nat;
  rate : nat -> nat -> list (nat * Z); scale : Z }.
Variable h : hints.

Definition check_held : bool :=
  Z.ltb 0 (scale h) &&
  all K (fun i => all M (fun r => le 0 (grain h i r))) &&
  all N (fun k => forallb (fun i => Nat.ltb i K) (on h k)) &&
  all N (fun k => all K (fun i =>
    if existsb (Nat.eqb i) (on h k)
    then all M (fun r => Z.leb 0 (held h k i r) &&
      le (quo (mul (x k i) (t_takes T k i r)) (weight P k)) (mul (inject_Z (held h k i r)) (grain h i r)))
    else le (x k i) 0)).
Definition check_rate (d : Q) (n : nat) : bool :=
  lt 0 d && all K (fun i =>
    match rate h n i with
    | nil => negb (runs_on T n i)
    | l => forallb (fun v => Nat.ltb (fst v) M && Z.leb 0 (snd v) && lt 0 (t_takes T n i (fst v)) &&
        le (mul (grain h i (fst v)) (mul (weight P n) (inject_Z (scale h))))
           (mul (mul (inject_Z (snd v)) d) (t_takes T n i (fst v)))) l
    end).
Fixpoint least_product (l : list (nat * Z)) (b : nat -> Z) : Z :=
  match l with
  | nil => 0%Z
  | (r, v) :: nil => (v * b r)%Z
  | (r, v) :: l' => Z.min (v * b r) (least_product l' b)
  end.
Fixpoint products (n k : nat) (l : list nat) : Z :=
  match l with
  | nil => 0%Z
  | i :: l' => (least_product (rate h n i) (held h k i) + products n k l')%Z
  end.
Definition check_pair (d : Q) (quick : bool) (n k : nat) : bool :=
  if Nat.eqb n k then true
  else if negb (is_active T k) then true
  else if quick && Z.leb (products n k (on h k)) (scale h) then true
  else le (worth_of n k) d.
Definition envy_of (m : Q) (quick : bool) (n : nat) : bool :=
  let d := due m n in
  has P n d || (let q := quick && check_rate d n in all N (check_pair d q n)).

(** Nobody has a margin below m, and n has just that towards k. *)
Definition check_envy (m : Q) (n k : nat) : bool :=
  (let quick := check_held in users_all (envy_of m quick)) &&
  Nat.ltb n N && Nat.ltb k N && negb (Nat.eqb n k) && is_active T n && is_active T k &&
  eqq (at_most n (worth_of n k)) (due m n).
(** There is nobody to envy. *)
Definition check_no_pair : bool :=
  users_all (fun n => all N (fun k => if is_active T k then Nat.eqb n k else true)).
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

(** No more can be run than [best], and so much can. *)
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
(** Whatever is no more than [best] can be run. *)
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

(** The least eps within which an axiom holds that says something of every user: it is -m. *)
Definition least_eps (axiom : Q -> Prop) (m : Q) : Prop := axiom (- m) /\ forall eps, axiom eps -> - m <= eps.
Lemma below eps m a : 0 < a -> m * a <= eps * a -> m <= eps.
Proof. intros A H. apply Qnot_lt_le. intro C. assert (0 < (m - eps) * a) by (apply Qmult_lt_0_compat; lra). lra. Qed.

Theorem check_sharing_sound m k : check_sharing P T m k = true ->
  least_eps (fun eps => sharing_incentive P eps x) m.
Proof.
  unfold check_sharing. intros H. bools. rewrite users_all_iff in H. apply Nat.ltb_lt in H2.
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
  - intros eps A. assert (U : user P k) by (eapply is_user; eauto).
    specialize (A k U). rewrite I in A by auto. rewrite H0, due_eq in A by auto.
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
Theorem check_short_sound m short : check_short P T m short = true -> least_eps (fun eps => work_conserving P eps x) m.
Proof.
  unfold check_short. intros H. bools. apply any_iff in H0. destruct H0 as (k & Hk & H0).
  apply (conserving_sound m k); auto.
Qed.
Theorem check_free_sound m k i : check_free P T m k i = true -> least_eps (fun eps => work_conserving P eps x) m.
Proof.
  unfold check_free. rewrite !andb_true_iff. intros H. destruct H as [[[[[[A B] C] _] _] _] _].
  apply Nat.ltb_lt in B. apply (conserving_sound m k); auto.
Qed.

(** * Envy *)
Definition bundle (n k i r : nat) : Q := weight P n / weight P k * (x k i * takes P k i r).
Lemma bundle_nonneg n k i r : (n < N)%nat -> (k < N)%nat -> (i < K)%nat -> (r < M)%nat -> 0 <= bundle n k i r.
Proof.
  intros. unfold bundle. apply prod_nonneg.
  - apply quotient_nonneg; apply Qlt_le_weak, (weight_pos P W); auto.
  - apply prod_nonneg; [apply (f_nonneg P x F)|apply takes_nonneg]; auto.
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
Lemma worth_of_eq n k : (n < N)%nat -> (k < N)%nat -> worth_of P T n k == best P T n (bundle n k).
Proof.
  intros Hn Hk. unfold worth_of. rewrite best_eq, rsum_eq. apply sum_ext. intros i Hi.
  destruct (lt 0 (x k i)) eqn:X.
  - apply on_class_ext. intros r Hr. unfold bundle. rewrite !mul_eq, quo_eq, (takes_is _ _ _ _ R) by auto. reflexivity.
  - bools. pose proof (f_nonneg P x F k i Hk Hi). assert (Z : x k i == 0) by lra.
    destruct (on_class_runs n i (bundle n k i) Hn Hi) as (A & B & C).
    { intros. apply bundle_nonneg; auto. }
    destruct (Qlt_le_dec 0 (gamma P n i)) as [G|G].
    + destruct (gamma_tight P W n i Hn Hi G) as (r & Hr & D & _).
      specialize (C r Hr). unfold bundle in C at 2. rewrite Z in C.
      assert (C' : on_class P T n i (bundle n k i) * takes P n i r <= 0) by lra.
      apply Qle_antisym; [|apply Qnot_lt_le; intro C2].
      * auto.
      * assert (0 < on_class P T n i (bundle n k i) * takes P n i r) by (apply Qmult_lt_0_compat; auto). lra.
    + pose proof (gamma_nonneg P W n i Hn Hi). rewrite B; lra.
Qed.

Section Quick.
Variable h : hints.
Lemma least_product_sound l b v : l <> nil ->
  (forall p, In p l -> v <= inject_Z (snd p * b (fst p))) -> v <= inject_Z (least_product l b).
Proof.
  induction l as [|[r w] l IH]; [congruence|]. intros _ H. simpl. destruct l as [|q l].
  - apply (H (r, w)). left. auto.
  - destruct (Z.min_spec (w * b r) (least_product (q :: l) b)) as [[_ E]|[_ E]]; rewrite E.
    + apply (H (r, w)). left. auto.
    + apply IH; [congruence|]. intros p Hp. apply H. right. auto.
Qed.
Lemma products_sum n k l u : (forall i, (i < K)%nat -> In i l -> u i <= inject_Z (least_product (rate h n i) (held h k i))) ->
  (forall i, In i l -> (0 <= least_product (rate h n i) (held h k i))%Z) ->
  sum K (fun i => if existsb (Nat.eqb i) l then u i else 0) <= inject_Z (products h n k l).
Proof.
  induction l as [|a l IH]; intros A B; simpl products.
  - simpl. rewrite sum_zero by reflexivity. apply Qle_refl.
  - rewrite inject_Z_plus.
    assert (I : sum K (fun i => if existsb (Nat.eqb i) l then u i else 0) <= inject_Z (products h n k l)).
    { apply IH; intros; [apply A|apply B]; simpl; auto. }
    set (la := inject_Z (least_product (rate h n a) (held h k a))) in *.
    assert (L0 : 0 <= la).
    { unfold la. change 0 with (inject_Z 0). rewrite <- Zle_Qle. apply B. left. auto. }
    assert (C : sum K (fun i => if existsb (Nat.eqb i) (a :: l) then u i else 0) <=
                sum K (fun i => if Nat.eqb i a then la else 0) +
                sum K (fun i => if existsb (Nat.eqb i) l then u i else 0)).
    { rewrite <- sum_add. apply sum_le. intros i Hi. simpl. destruct (Nat.eqb i a) eqn:E; simpl.
      - apply Nat.eqb_eq in E. subst. specialize (A a Hi (or_introl eq_refl)). fold la in A.
        destruct (existsb (Nat.eqb a) l); lra.
      - lra. }
    assert (D : sum K (fun i => if Nat.eqb i a then la else 0) <= la).
    { destruct (lt_dec a K).
      - rewrite (sum_single K _ a); auto.
        + rewrite Nat.eqb_refl. lra.
        + intros j Hj Ne. apply Nat.eqb_neq in Ne. rewrite Ne. reflexivity.
      - rewrite sum_zero; [lra|]. intros j Hj. destruct (Nat.eqb j a) eqn:E; [|reflexivity].
        apply Nat.eqb_eq in E. lia. }
    lra.
Qed.

Lemma inject_nonneg z : (0 <= z)%Z -> 0 <= inject_Z z.
Proof. intros. change 0 with (inject_Z 0). rewrite <- Zle_Qle. auto. Qed.
Lemma least_product_nonneg l b : (forall p, In p l -> (0 <= snd p * b (fst p))%Z) -> (0 <= least_product l b)%Z.
Proof.
  induction l as [|[r w] l IH]; intros H; simpl; [lia|]. destruct l as [|q l].
  - apply (H (r, w)). left. auto.
  - apply Z.min_glb.
    + apply (H (r, w)). left. auto.
    + apply IH. intros p Hp. apply H. right. auto.
Qed.

Lemma quick_sound d n k : (n < N)%nat -> (k < N)%nat ->
  check_held P T h = true -> check_rate P T h d n = true ->
  Z.leb (products h n k (on h k)) (scale h) = true -> worth_of P T n k <= d.
Proof.
  intros Hn Hk H C Q. unfold check_held in H. unfold check_rate in C.
  apply andb_true_iff in H. destruct H as [H H0]. apply andb_true_iff in H. destruct H as [H H4].
  apply andb_true_iff in H. destruct H as [H H2]. apply andb_true_iff in C. destruct C as [D0 H1]. bools.
  apply Z.leb_le in Q. apply Z.ltb_lt in H. specialize (H4 k Hk). rewrite forallb_forall in H4.
  specialize (H0 k Hk). bools. pose proof (weight_pos P W n Hn) as Wn. pose proof (weight_pos P W k Hk) as Wk.
  set (s := inject_Z (scale h)) in *.
  assert (S0 : 0 < s). { unfold s. change 0 with (inject_Z 0). rewrite <- Zlt_Qlt. auto. }
  set (term := fun i => if lt 0 (x k i)
    then on_class P T n i (fun r => mul (quo (weight P n) (weight P k)) (mul (x k i) (t_takes T k i r))) else 0).
  assert (Bn : forall i, (i < K)%nat -> existsb (Nat.eqb i) (on h k) = true ->
    forall r, (r < M)%nat -> (0 <= held h k i r)%Z /\
      x k i * t_takes T k i r / weight P k <= inject_Z (held h k i r) * grain h i r).
  { intros i Hi E r Hr. specialize (H0 i Hi). rewrite E in H0. bools. specialize (H0 r Hr).
    apply andb_true_iff in H0. destruct H0 as [Z1 Z2]. bools.
    rewrite quo_eq, !mul_eq in Z2. split; auto. apply Z.leb_le. auto. }
  assert (Rn : forall i, (i < K)%nat -> forall p, In p (rate h n i) -> (fst p < M)%nat /\ (0 <= snd p)%Z /\
    0 < t_takes T n i (fst p) /\
    grain h i (fst p) * (weight P n * s) <= inject_Z (snd p) * d * t_takes T n i (fst p)).
  { intros i Hi p Hp. specialize (H1 i Hi). destruct (rate h n i) as [|q l] eqn:E; [contradiction|].
    rewrite forallb_forall in H1. specialize (H1 p Hp).
    apply andb_true_iff in H1. destruct H1 as [H1 Z4]. apply andb_true_iff in H1. destruct H1 as [H1 Z3].
    apply andb_true_iff in H1. destruct H1 as [Z1 Z2]. bools. rewrite !mul_eq in Z4.
    apply Nat.ltb_lt in Z1. apply Z.leb_le in Z2. auto. }
  assert (Out : forall i, (i < K)%nat -> existsb (Nat.eqb i) (on h k) = false -> term i == 0).
  { intros i Hi E. specialize (H0 i Hi). rewrite E in H0. bools. unfold term.
    destruct (lt 0 (x k i)) eqn:X; bools; lra. }
  assert (In' : forall i, (i < K)%nat -> In i (on h k) -> existsb (Nat.eqb i) (on h k) = true).
  { intros i Hi I. apply existsb_exists. exists i. split; auto. apply Nat.eqb_refl. }
  assert (Pos : forall i, (i < K)%nat -> In i (on h k) -> (0 <= least_product (rate h n i) (held h k i))%Z).
  { intros i Hi I. apply least_product_nonneg. intros p Hp. destruct (Rn i Hi p Hp) as (A & B & _).
    apply Z.mul_nonneg_nonneg; auto. apply Bn; auto. }
  assert (Up : forall i, (i < K)%nat -> In i (on h k) ->
    term i * (s / d) <= inject_Z (least_product (rate h n i) (held h k i))).
  { intros i Hi I. assert (SD : 0 < s / d). { apply Qlt_shift_div_l; lra. }
    destruct (runs_on T n i) eqn:RO.
    2:{ unfold term, on_class. rewrite RO. pose proof (inject_nonneg _ (Pos i Hi I)).
        destruct (lt 0 (x k i)); lra. }
    apply least_product_sound.
    { specialize (H1 i Hi). destruct (rate h n i); [rewrite RO in H1; discriminate|congruence]. }
    intros p Hp. destruct (Rn i Hi p Hp) as (A & B & C1 & C2).
    destruct (Bn i Hi (In' i Hi I) (fst p) A) as [D1 D2].
    specialize (H2 i Hi). bools. specialize (H2 (fst p) A). bools.
    set (t := t_takes T n i (fst p)) in *. set (a := t_takes T k i (fst p)) in *.
    set (u := grain h i (fst p)) in *. rewrite inject_Z_mult.
    set (v := inject_Z (snd p)) in *. set (b := inject_Z (held h k i (fst p))) in *.
    assert (V0 : 0 <= v) by (apply inject_nonneg; auto).
    assert (B0 : 0 <= b) by (apply inject_nonneg; auto).
    assert (E1 : term i * t <= weight P n * (b * u)).
    { unfold term. destruct (lt 0 (x k i)) eqn:X.
      - assert (L : on_class P T n i (fun r => mul (quo (weight P n) (weight P k)) (mul (x k i) (t_takes T k i r))) * t
                    <= mul (quo (weight P n) (weight P k)) (mul (x k i) a)).
        { unfold on_class. rewrite RO. destruct (least_some M (t_takes T n i)
            (fun r => mul (quo (weight P n) (weight P k)) (mul (x k i) (t_takes T k i r))) (fst p) A C1) as [w E].
          rewrite E. apply least_fits in E.
          - destruct E as [_ E]. apply E; auto.
          - intros r Hr. rewrite !mul_eq, quo_eq. apply prod_nonneg; [apply quotient_nonneg; lra|].
            bools. apply prod_nonneg; [lra|]. rewrite (takes_is _ _ _ _ R) by auto. apply takes_nonneg; auto. }
        rewrite !mul_eq, quo_eq in L.
        assert (L2 : weight P n / weight P k * (x k i * a) == weight P n * (x k i * a / weight P k)) by (field; lra).
        rewrite L2 in L. pose proof (prod_le_l _ _ (weight P n) D2 ltac:(lra)). lra.
      - pose proof (prod_nonneg b u B0 H2). pose proof (prod_nonneg (weight P n) (b * u) ltac:(lra) H3). lra. }
    assert (E2 : term i * s <= v * b * d).
    { apply Qmult_le_r with (z := t); auto.
      pose proof (prod_le _ _ s E1 ltac:(lra)) as E3.
      pose proof (prod_le_l _ _ b C2 B0) as E4.
      apply Qle_trans with (term i * t * s); [lra|].
      apply Qle_trans with (weight P n * (b * u) * s); [lra|].
      apply Qle_trans with (b * (u * (weight P n * s))); [lra|].
      apply Qle_trans with (b * (v * d * t)); lra. }
    assert (E5 : term i * (s / d) == term i * s / d) by (field; lra). rewrite E5.
    apply quotient_le; auto. }
  assert (Sum : sum K term * (s / d) <= s).
  { rewrite <- sum_scale_r.
    rewrite (sum_ext K _ (fun i => if existsb (Nat.eqb i) (on h k) then term i * (s / d) else 0)).
    - apply Qle_trans with (inject_Z (products h n k (on h k))).
      + apply products_sum; [intros; apply Up; auto|].
        intros i I. apply Pos; auto. apply Nat.ltb_lt, H4. auto.
      + unfold s. rewrite <- Zle_Qle. auto.
    - intros i Hi. destruct (existsb (Nat.eqb i) (on h k)) eqn:E; [reflexivity|]. rewrite (Out i Hi E). ring. }
  unfold worth_of. rewrite rsum_eq. fold term.
  change (sum K term <= d).
  assert (E : sum K term == sum K term * (s / d) * (d / s)) by (field; lra). rewrite E.
  assert (DS : 0 <= d / s) by (apply quotient_nonneg; lra).
  pose proof (prod_le _ _ (d / s) Sum DS) as G. assert (E2 : s * (d / s) == d) by (field; lra). lra.
Qed.
End Quick.

Theorem check_envy_sound h m n k : check_envy P T h m n k = true ->
  least_eps (fun eps => envy_free P eps x) m.
Proof.
  unfold check_envy. intros H. bools. rewrite users_all_iff in H. apply Nat.ltb_lt in H5. apply Nat.ltb_lt in H4.
  apply negb_true_iff, Nat.eqb_neq in H3.
  assert (I : forall a b eps, user P a -> user P b ->
    content P eps x a (fun i r => weight P a / weight P b * (x b i * takes P b i r)) <->
    at_most P a (worth_of P T a b) <= tasks P x a + eps * g P a).
  { intros a b eps Ua Ub. assert (Ha : (a < N)%nat) by apply Ua. assert (Hb : (b < N)%nat) by apply Ub.
    change (fun i r => weight P a / weight P b * (x b i * takes P b i r)) with (bundle a b).
    rewrite content_iff by (auto; intros; apply bundle_nonneg; auto).
    pose proof (worth_of_eq a b Ha Hb) as E. unfold at_most.
    destruct (limit P a) as [l|]; [|rewrite E; reflexivity].
    pose proof (smaller_ext l (worth_of P T a b) l (best P T a (bundle a b)) (Qeq_refl l) E) as E'.
    rewrite E'. reflexivity. }
  split.
  - intros a b Ua Ub Ne. apply I; auto. specialize (H a Ua). unfold envy_of in H.
    assert (Ha : (a < N)%nat) by apply Ua. assert (Hb : (b < N)%nat) by apply Ub.
    assert (D : at_most P a (worth_of P T a b) <= due T m a); [|rewrite due_eq in D by auto; lra].
    apply orb_true_iff in H. destruct H as [H|H].
    + apply has_iff in H. destruct H as (l & L & H). unfold at_most. rewrite L. minmax; lra.
    + rewrite all_iff in H. specialize (H b Hb). unfold check_pair in H.
      destruct (Nat.eqb a b) eqn:E; [apply Nat.eqb_eq in E; contradiction|].
      destruct (user_is P stated_x T placed R b Ub) as [_ Ab]. rewrite Ab in H. simpl in H.
      assert (V : worth_of P T a b <= due T m a).
      { destruct (_ && Z.leb _ _) eqn:Q; [|apply le_iff; auto].
        apply andb_true_iff in Q. destruct Q as [Q1 Q2]. apply andb_true_iff in Q1. destruct Q1.
        apply (quick_sound h); auto. }
      unfold at_most. destruct (limit P a); [minmax|]; lra.
  - intros eps A. assert (Un : user P n) by (eapply is_user; eauto). assert (Uk : user P k) by (eapply is_user; eauto).
    specialize (A n k Un Uk H3). apply I in A; auto. rewrite H0, due_eq in A by auto.
    apply (below _ _ (g P n)); [apply user_g; auto|lra].
Qed.
Theorem check_no_pair_sound : check_no_pair P T = true -> forall eps, envy_free P eps x.
Proof.
  unfold check_no_pair. intros H eps n k Un Uk Ne. rewrite users_all_iff in H. specialize (H n Un).
  rewrite all_iff in H. destruct (user_is P stated_x T placed R k Uk) as [Hk Ak]. specialize (H k Hk).
  rewrite Ak in H. apply Nat.eqb_eq in H. contradiction.
Qed.
End Sound.
