(** Proves the second half of Theorem A on one class: water filling reaches a point that meets Theorem 1. The levels of
    all users rise together. If a resource becomes full, every user that demands it stops, and the resource is its
    bottleneck. *)
From Coq Require Import QArith Qfield Arith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Checker Soundness TheoremA TheoremC.
Import ListNotations.
Open Scope Q_scope.

Definition clamp (c y : Q) : Q := if le y 0 then 0 else if le c y then c else y.
Lemma clamp_cases c y : 0 <= c ->
  (y <= 0 /\ clamp c y = 0) \/ (0 < y /\ c <= y /\ clamp c y = c) \/ (0 < y /\ y < c /\ clamp c y = y).
Proof.
  intros C. unfold clamp. destruct (le y 0) eqn:A; [left; bools; auto|].
  assert (0 < y) by (apply Qnot_le_lt; intros B; apply le_iff in B; congruence).
  destruct (le c y) eqn:E; [right; left; bools; auto|]. right; right. repeat split; auto.
  apply Qnot_le_lt. intros B. apply le_iff in B. congruence.
Qed.
Lemma clamp_le c y z : 0 <= c -> y <= z -> clamp c y <= clamp c z.
Proof.
  intros C L. destruct (clamp_cases c y C) as [[? E]|[(? & ? & E)|(? & ? & E)]],
    (clamp_cases c z C) as [[? F]|[(? & ? & F)|(? & ? & F)]]; rewrite E, F; lra.
Qed.
Ltac cases_of_clamp c y C := destruct (clamp_cases c y C) as [[? ->]|[(? & ? & ->)|(? & ? & ->)]]; lra.
Lemma clamp_low c y : 0 <= c -> y <= 0 -> clamp c y == 0.
Proof. intros C ?. cases_of_clamp c y C. Qed.
Lemma clamp_middle c y : 0 <= y -> y <= c -> clamp c y == y.
Proof. intros ? ?. assert (C : 0 <= c) by lra. cases_of_clamp c y C. Qed.
Lemma clamp_high c y : 0 <= c -> c <= y -> clamp c y == c.
Proof. intros C ?. cases_of_clamp c y C. Qed.
Lemma clamp_affine c lo hi th : 0 <= c -> lo <= hi -> 0 <= th -> th <= 1 ->
  (0 <= lo \/ hi <= 0) -> (c <= lo \/ hi <= c) ->
  clamp c (lo + th * (hi - lo)) == clamp c lo + th * (clamp c hi - clamp c lo).
Proof.
  intros C L T0 T1 Z B. pose proof (prod_nonneg th (hi - lo) T0 ltac:(lra)) as P1.
  pose proof (prod_nonneg (1 - th) (hi - lo) ltac:(lra) ltac:(lra)) as P2.
  destruct Z as [Z|Z].
  - destruct B as [B|B].
    + rewrite !clamp_high by lra. ring.
    + rewrite !clamp_middle by lra. ring.
  - rewrite !clamp_low by lra. ring.
Qed.

Lemma number_less n (f h : nat -> bool) k : (forall j, (j < n)%nat -> f j = true -> h j = true) ->
  (k < n)%nat -> f k = false -> h k = true -> (number n f < number n h)%nat.
Proof.
  assert (Le : forall m, (forall j, (j < m)%nat -> f j = true -> h j = true) -> (number m f <= number m h)%nat).
  { induction m; intros I; simpl; [lia|]. assert (number m f <= number m h)%nat by (apply IHm; intros; apply I; auto).
    specialize (I m ltac:(lia)). destruct (f m); [rewrite I by reflexivity|destruct (h m)]; lia. }
  induction n; intros I Hk Fk Gk; [lia|]. simpl. destruct (Nat.eq_dec k n) as [->|Ne].
  - rewrite Fk, Gk. assert (number n f <= number n h)%nat by (apply Le; intros; apply I; auto). lia.
  - assert (number n f < number n h)%nat by (apply IHn; auto; lia).
    specialize (I n ltac:(lia)). destruct (f n); [rewrite I by reflexivity|destruct (h n)]; lia.
Qed.

Section On.
Variable P : market.
Notation N := (m_users P). Notation K := (m_classes P). Notation M := (m_resources P).
Hypothesis W : market_well_formed P.
Variable i : nat.
Hypothesis Hi : (i < K)%nat.
(** A user that can run on the class demands some resource there. *)
Hypothesis Demands : forall n, (n < N)%nat -> 0 < m_gamma P n i -> exists r, (r < M)%nat /\ 0 < m_demand P n i r.
Variable x : nat -> nat -> Q.

Notation d := (fun n r => m_demand P n i r).
Definition a_ (n : nat) : Q := elsewhere P x i n.
Definition g_ (n : nat) : Q := m_gamma P n i * m_weight P n.
Definition able (n : nat) : bool := lt 0 (m_gamma P n i).
(** A number of tasks of n that is larger than fits on the class *)
Definition too_many (n : nat) : Q := 1 + sum M (fun r => m_room P i r / m_demand P n i r).
Definition cap (n : nat) : Q :=
  match m_limit P n with
  | Some T => let c := T - a_ n in
      if le c 0 then 0 else if le (too_many n) c then too_many n else c
  | None => too_many n
  end.
Definition rise (n : nat) (t : Q) : Q := if able n then clamp (cap n) (g_ n * t - a_ n) else 0.

Lemma dn n r : (n < N)%nat -> (r < M)%nat -> 0 <= m_demand P n i r.
Proof. intros. apply (mw_demand P W); auto. Qed.
Lemma quotient_room n r : (n < N)%nat -> (r < M)%nat -> 0 <= m_room P i r / m_demand P n i r.
Proof.
  intros Hn Hr. unfold Qdiv. apply prod_nonneg; [apply (mw_room P W); auto|]. apply Qinv_le_0_compat, dn; auto.
Qed.
Lemma too_many_pos n : (n < N)%nat -> 0 < too_many n.
Proof.
  intros Hn. unfold too_many. assert (0 <= sum M (fun r => m_room P i r / m_demand P n i r)); [|lra].
  apply sum_nonneg. intros r Hr. apply quotient_room; auto.
Qed.
Lemma too_many_room n r : (n < N)%nat -> (r < M)%nat -> 0 < m_demand P n i r ->
  m_room P i r < too_many n * m_demand P n i r.
Proof.
  intros Hn Hr D.
  assert (T : m_room P i r / m_demand P n i r <= sum M (fun r => m_room P i r / m_demand P n i r)).
  { apply (sum_term M (fun r => m_room P i r / m_demand P n i r)); auto. intros. apply quotient_room; auto. }
  assert (L : m_room P i r / m_demand P n i r < too_many n) by (unfold too_many; lra).
  pose proof (Qmult_lt_compat_r _ _ _ D L) as B.
  setoid_replace (m_room P i r / m_demand P n i r * m_demand P n i r) with (m_room P i r) in B by (field; lra).
  exact B.
Qed.
Lemma cap_nonneg n : (n < N)%nat -> 0 <= cap n.
Proof.
  intros Hn. pose proof (too_many_pos n Hn). unfold cap. destruct (m_limit P n) as [T|]; [|lra].
  destruct (le (T - a_ n) 0) eqn:A; [lra|]. destruct (le (too_many n) (T - a_ n)); [lra|].
  apply Qlt_le_weak, Qnot_le_lt. intros B. apply le_iff in B. congruence.
Qed.
Lemma g_pos n : (n < N)%nat -> able n = true -> 0 < g_ n.
Proof. intros Hn A. apply lt_iff in A. apply Qmult_lt_0_compat; auto. apply (mw_weight P W); auto. Qed.

Lemma rise_nonneg n t : (n < N)%nat -> 0 <= rise n t.
Proof.
  intros Hn. unfold rise. destruct (able n); [|lra]. pose proof (cap_nonneg n Hn) as C.
  destruct (clamp_cases (cap n) (g_ n * t - a_ n) C) as [[? E]|[(? & ? & E)|(? & ? & E)]]; rewrite E; lra.
Qed.
Lemma rise_le n s t : (n < N)%nat -> s <= t -> rise n s <= rise n t.
Proof.
  intros Hn L. unfold rise. destruct (able n) eqn:A; [|lra]. apply clamp_le; [apply cap_nonneg; auto|].
  pose proof (g_pos n Hn A) as G. pose proof (prod_le_l _ _ (g_ n) L). lra.
Qed.
(** If a user has some tasks, its level is at most t. *)
Lemma rise_level n t : (n < N)%nat -> 0 < rise n t -> a_ n + rise n t <= g_ n * t.
Proof.
  intros Hn R. unfold rise in *. destruct (able n); [|lra].
  destruct (clamp_cases (cap n) (g_ n * t - a_ n) (cap_nonneg n Hn)) as [[? E]|[(? & ? & E)|(? & ? & E)]];
    rewrite E in *; lra.
Qed.
(** If a user is not at its cap, its level is at least t. *)
Lemma rise_or_cap n t : (n < N)%nat -> able n = true -> rise n t == cap n \/ g_ n * t <= a_ n + rise n t.
Proof.
  intros Hn A. unfold rise. rewrite A.
  destruct (clamp_cases (cap n) (g_ n * t - a_ n) (cap_nonneg n Hn)) as [[? E]|[(? & ? & E)|(? & ? & E)]];
    rewrite E; [right; lra|left; reflexivity|right; lra].
Qed.

(** * The levels at which a resource is full *)
Section Load.
Variables (frozen : nat -> bool) (fixed : nat -> Q).
Definition val (n : nat) (t : Q) : Q := if frozen n then fixed n else rise n t.
Definition load_at (r : nat) (t : Q) : Q := sum N (fun n => val n t * m_demand P n i r).

Lemma load_le r s t : (r < M)%nat -> s <= t -> load_at r s <= load_at r t.
Proof.
  intros Hr L. apply sum_le. intros n Hn. apply prod_le; [|apply dn; auto].
  unfold val. destruct (frozen n); [lra|]. apply rise_le; auto.
Qed.

Definition bend (b : Q) (n : nat) : Prop := b == a_ n / g_ n \/ b == (cap n + a_ n) / g_ n.

Lemma rise_affine n lo hi th : (n < N)%nat -> lo <= hi -> 0 <= th -> th <= 1 ->
  (able n = true -> forall b, bend b n -> ~ (lo < b /\ b < hi)) ->
  rise n (lo + th * (hi - lo)) == rise n lo + th * (rise n hi - rise n lo).
Proof.
  intros Hn L T0 T1 No. unfold rise. destruct (able n) eqn:A; [|ring]. specialize (No eq_refl).
  pose proof (g_pos n Hn A) as G.
  assert (E : g_ n * (lo + th * (hi - lo)) - a_ n ==
    (g_ n * lo - a_ n) + th * ((g_ n * hi - a_ n) - (g_ n * lo - a_ n))) by ring.
  assert (Cc : forall y z, y == z -> clamp (cap n) y == clamp (cap n) z).
  { intros y z F. pose proof (cap_nonneg n Hn). apply Qle_antisym; apply clamp_le; auto; lra. }
  rewrite (Cc _ _ E).
  assert (Side : forall v, ~ (lo < v / g_ n /\ v / g_ n < hi) -> v <= g_ n * lo \/ g_ n * hi <= v).
  { intros v B. destruct (Qlt_le_dec lo (v / g_ n)) as [B1|B1].
    - right. destruct (Qlt_le_dec (v / g_ n) hi) as [B2|B2]; [exfalso; auto|].
      pose proof (prod_le_l _ _ (g_ n) B2) as X. setoid_replace (g_ n * (v / g_ n)) with v in X by (field; lra).
      apply X. lra.
    - left. pose proof (prod_le_l _ _ (g_ n) B1) as X. setoid_replace (g_ n * (v / g_ n)) with v in X by (field; lra).
      apply X. lra. }
  pose proof (prod_le_l _ _ (g_ n) L) as Gl.
  apply clamp_affine; auto; [apply cap_nonneg; auto|lra| |].
  - destruct (Side (a_ n)); [apply No; left; reflexivity|left; lra|right; lra].
  - destruct (Side (cap n + a_ n)); [apply No; right; reflexivity|left; lra|right; lra].
Qed.

(** Loads take all values between two loads, because they are linear between their breakpoints. *)
Lemma between bends r : forall lo hi R, lo <= hi -> load_at r lo <= R -> R <= load_at r hi ->
  (forall n b, (n < N)%nat -> able n = true -> bend b n -> lo < b -> b < hi -> exists c, In c bends /\ b == c) ->
  exists t, lo <= t /\ t <= hi /\ load_at r t == R.
Proof.
  induction bends as [|c bends IH]; intros lo hi R L Lo Up B.
  - destruct (Qlt_le_dec (load_at r lo) (load_at r hi)) as [S|S].
    2:{ exists lo. repeat split; lra. }
    set (th := (R - load_at r lo) / (load_at r hi - load_at r lo)).
    assert (T0 : 0 <= th) by (unfold th, Qdiv; apply prod_nonneg; [lra|apply Qinv_le_0_compat; lra]).
    assert (T1 : th <= 1) by (unfold th; apply Qle_shift_div_r; lra).
    pose proof (prod_nonneg th (hi - lo) T0 ltac:(lra)). pose proof (prod_nonneg (1 - th) (hi - lo) ltac:(lra) ltac:(lra)).
    exists (lo + th * (hi - lo)). split; [lra|]. split; [lra|].
    assert (E : load_at r (lo + th * (hi - lo)) == load_at r lo + th * (load_at r hi - load_at r lo)).
    { unfold load_at.
      rewrite (sum_ext N _ (fun n => val n lo * m_demand P n i r +
        th * (val n hi * m_demand P n i r + (-1) * (val n lo * m_demand P n i r)))).
      - rewrite sum_add, sum_scale, sum_add, sum_scale. ring.
      - intros n Hn. unfold val. destruct (frozen n); [ring|]. rewrite rise_affine; auto; [ring|].
        intros A b Be [B1 B2]. destruct (B n b Hn A Be B1 B2) as (c & [] & _). }
    rewrite E. unfold th. field. lra.
  - destruct (Qlt_le_dec lo c) as [C1|C1]; [destruct (Qlt_le_dec c hi) as [C2|C2]|].
    + destruct (Qlt_le_dec R (load_at r c)) as [D|D].
      * destruct (IH lo c R) as (t & T1 & T2 & T3); try lra.
        -- intros n b Hn A Be B1 B2. destruct (B n b Hn A Be B1) as (e & [<-|I] & E); [lra|lra|eauto].
        -- exists t. repeat split; lra.
      * destruct (IH c hi R) as (t & T1 & T2 & T3); try lra.
        -- intros n b Hn A Be B1 B2. destruct (B n b Hn A Be) as (e & [<-|I] & E); [lra|lra|lra|eauto].
        -- exists t. repeat split; lra.
    + apply IH; auto. intros n b Hn A Be B1 B2. destruct (B n b Hn A Be B1 B2) as (e & [<-|I] & E); [lra|eauto].
    + apply IH; auto. intros n b Hn A Be B1 B2. destruct (B n b Hn A Be B1 B2) as (e & [<-|I] & E); [lra|eauto].
Qed.

Lemma full_at r lo hi R : lo <= hi -> load_at r lo <= R -> R <= load_at r hi ->
  exists t, lo <= t /\ t <= hi /\ load_at r t == R.
Proof.
  intros L Lo Up.
  apply (between (flat_map (fun n => [a_ n / g_ n; (cap n + a_ n) / g_ n]) (seq 0 N))); auto.
  intros n b Hn _ [B|B] _ _; eexists; (split; [apply in_flat_map; exists n; split; [apply in_seq; lia|]|exact B]).
  - left. reflexivity.
  - right. left. reflexivity.
Qed.

(** The first resource that becomes full while the level rises to hi *)
Lemma first_full hi : forall m lo, (m <= M)%nat -> lo <= hi -> (forall r, (r < M)%nat -> load_at r lo <= m_room P i r) ->
  exists t, lo <= t /\ t <= hi /\ (forall r, (r < m)%nat -> load_at r t <= m_room P i r) /\
    (t == hi \/ exists r, (r < m)%nat /\ load_at r t == m_room P i r /\ m_room P i r < load_at r hi).
Proof.
  induction m; intros lo Hm L Lo.
  - exists hi. repeat split; [lra|lra|intros; lia|left; reflexivity].
  - destruct (IHm lo ltac:(lia) L Lo) as (t & T1 & T2 & T3 & T4).
    destruct (Qlt_le_dec (m_room P i m) (load_at m t)) as [B|B].
    + destruct (full_at m lo t (m_room P i m)) as (s & S1 & S2 & S3); [exact T1|apply Lo; lia|lra|].
      exists s. split; [lra|]. split; [lra|]. split.
      * intros r Hr. destruct (Nat.eq_dec r m) as [->|]; [lra|].
        eapply Qle_trans; [apply (load_le r s t); auto; lia|apply T3; lia].
      * right. exists m. split; [lia|]. split; [auto|]. eapply Qlt_le_trans; [exact B|]. apply load_le; auto.
    + exists t. split; [lra|]. split; [lra|]. split.
      * intros r Hr. destruct (Nat.eq_dec r m) as [->|]; [auto|]. apply T3. lia.
      * destruct T4 as [T4|(r & Hr & T4)]; [left; auto|right; exists r; split; [lia|auto]].
Qed.
End Load.

(** If the tasks of a user fit, the user is not at a cap that only stands for more tasks than fit. *)
Lemma at_cap_has_all n v : (n < N)%nat -> able n = true -> v == cap n ->
  (forall r, (r < M)%nat -> v * m_demand P n i r <= m_room P i r) ->
  exists T, m_limit P n = Some T /\ T <= a_ n + v.
Proof.
  intros Hn A V F. apply lt_iff in A. destruct (Demands n Hn A) as (r & Hr & D).
  pose proof (too_many_room n r Hn Hr D) as B. specialize (F r Hr). rewrite V in *. unfold cap in *.
  destruct (m_limit P n) as [T|]; [|lra]. exists T. split; auto.
  destruct (le (T - a_ n) 0) eqn:E; [bools; lra|]. destruct (le (too_many n) (T - a_ n)); lra.
Qed.

(** * Filling *)
Record filling (frozen : nat -> bool) (fixed : nat -> Q) (t : Q) : Prop := {
  w_fits : forall r, (r < M)%nat -> load_at frozen fixed r t <= m_room P i r;
  w_rise : forall n, (n < N)%nat -> frozen n = true -> exists s, s <= t /\ fixed n == rise n s;
  w_stop : forall n, (n < N)%nat -> frozen n = true -> able n = true ->
    (exists T, m_limit P n = Some T /\ T <= a_ n + fixed n) \/
    exists r, (r < M)%nat /\ 0 < m_demand P n i r /\
      (forall m, (m < N)%nat -> 0 < m_demand P m i r -> frozen m = true) /\
      sum N (fun m => fixed m * m_demand P m i r) == m_room P i r /\
      forall m, (m < N)%nat -> 0 < fixed m * m_demand P m i r ->
        (a_ m + fixed m) * g_ n <= (a_ n + fixed n) * g_ m }.

Lemma load_term frozen fixed r t n : (n < N)%nat -> (r < M)%nat ->
  (forall m, (m < N)%nat -> frozen m = true -> exists s, s <= t /\ fixed m == rise m s) ->
  val frozen fixed n t * m_demand P n i r <= load_at frozen fixed r t.
Proof.
  intros Hn Hr F. unfold load_at. apply (sum_term N (fun n => val frozen fixed n t * m_demand P n i r)); auto.
  intros m Hm. apply prod_nonneg; [|apply dn; auto]. unfold val. destruct (frozen m) eqn:E; [|apply rise_nonneg; auto].
  destruct (F m Hm E) as (s & _ & Es). rewrite Es. apply rise_nonneg; auto.
Qed.

(** Filling ends when every user is frozen or at its cap. *)
Definition done (v : nat -> Q) : Prop :=
  (forall r, (r < M)%nat -> sum N (fun n => v n * m_demand P n i r) <= m_room P i r) /\
  forall n, (n < N)%nat -> (exists s, v n == rise n s) /\ (able n = true ->
    (exists T, m_limit P n = Some T /\ T <= a_ n + v n) \/
    exists r, (r < M)%nat /\ 0 < m_demand P n i r /\ sum N (fun m => v m * m_demand P m i r) == m_room P i r /\
      forall m, (m < N)%nat -> 0 < v m * m_demand P m i r -> (a_ m + v m) * g_ n <= (a_ n + v n) * g_ m).

Lemma some_top frozen : exists hi, forall n, (n < N)%nat -> frozen n = false -> able n = true ->
  cap n + a_ n <= g_ n * hi.
Proof.
  assert (E : forall m, exists hi, forall n, (n < m)%nat -> (n < N)%nat -> frozen n = false -> able n = true ->
    cap n + a_ n <= g_ n * hi).
  { induction m as [|m (hi & IH)]; [exists 0; intros; lia|].
    destruct (Qlt_le_dec hi ((cap m + a_ m) / g_ m)) as [C|C].
    - exists ((cap m + a_ m) / g_ m). intros n Hn Hn' F A. pose proof (g_pos n Hn' A) as G.
      destruct (Nat.eq_dec n m) as [->|].
      + setoid_replace (g_ m * ((cap m + a_ m) / g_ m)) with (cap m + a_ m) by (field; lra). lra.
      + specialize (IH n ltac:(lia) Hn' F A). pose proof (prod_le_l hi ((cap m + a_ m) / g_ m) (g_ n) ltac:(lra)). lra.
    - exists hi. intros n Hn Hn' F A. destruct (Nat.eq_dec n m) as [->|]; [|apply IH; auto; lia].
      pose proof (g_pos m Hn' A) as G. pose proof (prod_le_l _ _ (g_ m) C) as X.
      setoid_replace (g_ m * ((cap m + a_ m) / g_ m)) with (cap m + a_ m) in X by (field; lra). lra. }
  destruct (E N) as (hi & H). exists hi. auto.
Qed.

Lemma at_top n hi : (n < N)%nat -> able n = true -> cap n + a_ n <= g_ n * hi -> rise n hi == cap n.
Proof.
  intros Hn A L. unfold rise. rewrite A. pose proof (cap_nonneg n Hn) as C.
  destruct (clamp_cases (cap n) (g_ n * hi - a_ n) C) as [[? E]|[(? & ? & E)|(? & ? & E)]]; rewrite E; lra.
Qed.

Lemma fill m : forall frozen fixed t, number N (fun n => negb (frozen n)) = m -> filling frozen fixed t ->
  exists v, done v.
Proof.
  induction m as [m IH] using lt_wf_ind. intros frozen fixed t Nm F.
  destruct (some_top frozen) as (hi0 & Top0).
  set (hi := if le t hi0 then hi0 else t).
  assert (Thi : t <= hi).
  { unfold hi. destruct (le t hi0) eqn:E; [bools; lra|lra]. }
  assert (Top : forall n, (n < N)%nat -> frozen n = false -> able n = true -> cap n + a_ n <= g_ n * hi).
  { intros n Hn Fr A. specialize (Top0 n Hn Fr A). pose proof (g_pos n Hn A).
    assert (hi0 <= hi).
    { unfold hi. destruct (le t hi0) eqn:E; [lra|]. apply Qlt_le_weak, Qnot_le_lt. intros B.
      apply le_iff in B. congruence. }
    pose proof (prod_le_l hi0 hi (g_ n) H0 ltac:(lra)). lra. }
  destruct (first_full frozen fixed hi M t ltac:(lia) Thi (w_fits _ _ _ F)) as (u & U1 & U2 & Fits & E).
  (* the tasks of all users at the level u *)
  set (fixed' := fun n => val frozen fixed n u).
  assert (Rise : forall n, (n < N)%nat -> exists s, s <= u /\ fixed' n == rise n s).
  { intros n Hn. unfold fixed', val. destruct (frozen n) eqn:Fr.
    - destruct (w_rise _ _ _ F n Hn Fr) as (s & S1 & S2). exists s. split; [lra|auto].
    - exists u. split; [lra|reflexivity]. }
  assert (One : forall n r, (n < N)%nat -> (r < M)%nat -> fixed' n * m_demand P n i r <= m_room P i r).
  { intros n r Hn Hr. eapply Qle_trans; [|apply (Fits r Hr)]. apply load_term; auto.
    intros k Hk Fr. destruct (w_rise _ _ _ F k Hk Fr) as (s & S1 & S2). exists s. split; [lra|auto]. }
  assert (Old : forall n r, (forall k, (k < N)%nat -> 0 < m_demand P k i r -> frozen k = true) -> (r < M)%nat ->
    (n < N)%nat -> fixed' n * m_demand P n i r == fixed n * m_demand P n i r).
  { intros n r A Hr Hn. unfold fixed', val. destruct (frozen n) eqn:Fr; [reflexivity|].
    assert (m_demand P n i r == 0).
    { pose proof (dn n r Hn Hr). destruct (Qlt_le_dec 0 (m_demand P n i r)) as [D|D]; [|lra].
      rewrite (A n Hn D) in Fr. discriminate. }
    rewrite H. ring. }
  assert (Stopped : forall n, (n < N)%nat -> frozen n = true -> able n = true ->
    (exists T, m_limit P n = Some T /\ T <= a_ n + fixed' n) \/
    exists r, (r < M)%nat /\ 0 < m_demand P n i r /\
      (forall m, (m < N)%nat -> 0 < m_demand P m i r -> frozen m = true) /\
      sum N (fun m => fixed' m * m_demand P m i r) == m_room P i r /\
      forall m, (m < N)%nat -> 0 < fixed' m * m_demand P m i r ->
        (a_ m + fixed' m) * g_ n <= (a_ n + fixed' n) * g_ m).
  { intros n Hn Fr A. assert (En : fixed' n = fixed n) by (unfold fixed', val; rewrite Fr; reflexivity).
    rewrite En. destruct (w_stop _ _ _ F n Hn Fr A) as [S|(r & Hr & D & All & S & Lev)]; [left; auto|right].
    exists r. split; [auto|]. split; [auto|]. split; [auto|]. split.
    - rewrite <- S. apply sum_ext. intros k Hk. apply Old; auto.
    - intros k Hk Pk. rewrite (Old k r All Hr Hk) in Pk.
      assert (Fk : frozen k = true).
      { apply All; auto. pose proof (dn k r Hk Hr). destruct (Qlt_le_dec 0 (m_demand P k i r)) as [X|X]; auto.
        assert (Z : m_demand P k i r == 0) by lra. rewrite Z in Pk. lra. }
      assert (Ek : fixed' k = fixed k) by (unfold fixed', val; rewrite Fk; reflexivity). rewrite Ek. apply Lev; auto. }
  destruct E as [E|(r & Hr & Full & More)].
  - (* every user is at its cap, or frozen *)
    exists fixed'. split; [exact Fits|]. intros n Hn. split.
    { destruct (Rise n Hn) as (s & _ & Es). exists s. exact Es. }
    intros A. destruct (frozen n) eqn:Fr.
    + destruct (Stopped n Hn Fr A) as [S|(r & Hr & D & _ & S & Lev)]; [left; auto|right]. exists r. auto.
    + left. apply at_cap_has_all; auto. unfold fixed', val. rewrite Fr.
      specialize (Top n Hn Fr A). apply at_top; auto. rewrite E. exact Top.
  - set (frozen' := fun n => frozen n || lt 0 (m_demand P n i r)).
    assert (Some_ : exists k, (k < N)%nat /\ frozen k = false /\ 0 < m_demand P k i r).
    { destruct (any N (fun k => negb (frozen k) && lt 0 (m_demand P k i r))) eqn:X.
      - apply any_iff in X. destruct X as (k & Hk & X). bools. apply negb_true_iff in H. eauto.
      - exfalso. assert (L : load_at frozen fixed r hi == load_at frozen fixed r u); [|lra].
        apply sum_ext. intros k Hk. unfold val. destruct (frozen k) eqn:Fr; [reflexivity|].
        assert (Z : m_demand P k i r == 0).
        { pose proof (dn k r Hk Hr). destruct (Qlt_le_dec 0 (m_demand P k i r)) as [D|D]; [|lra].
          assert (any N (fun k => negb (frozen k) && lt 0 (m_demand P k i r)) = true); [|congruence].
          apply any_iff. exists k. split; auto. rewrite Fr. simpl. apply lt_iff. auto. }
        rewrite Z. ring. }
    destruct Some_ as (k & Hk & Fk & Dk).
    apply (IH (number N (fun n => negb (frozen' n)))) with (frozen := frozen') (fixed := fixed') (t := u); auto.
    + rewrite <- Nm. apply (number_less N _ _ k); auto.
      * intros j _. unfold frozen'. destruct (frozen j); simpl; auto.
      * unfold frozen'. apply lt_iff in Dk. rewrite Dk, orb_true_r. reflexivity.
      * rewrite Fk. reflexivity.
    + assert (Val : forall n, (n < N)%nat -> val frozen' fixed' n u == fixed' n).
      { intros n Hn. unfold val at 1. destruct (frozen' n) eqn:Fr; [reflexivity|]. unfold fixed', val.
        unfold frozen' in Fr. apply orb_false_iff in Fr. destruct Fr as [-> _]. reflexivity. }
      constructor.
      * intros r' Hr'. eapply Qle_trans; [|apply (Fits r' Hr')]. apply sum_le. intros n Hn.
        rewrite (Val n Hn). unfold fixed'. lra.
      * intros n Hn _. apply Rise; auto.
      * intros n Hn Fr A. destruct (frozen n) eqn:Fo.
        -- destruct (Stopped n Hn Fo A) as [S|(r' & Hr' & D & All & S & Lev)]; [left; auto|right].
           exists r'. repeat split; auto. intros j Hj Dj. unfold frozen'. rewrite (All j Hj Dj). reflexivity.
        -- unfold frozen' in Fr. rewrite Fo in Fr. simpl in Fr. apply lt_iff in Fr.
           assert (En : fixed' n = rise n u) by (unfold fixed', val; rewrite Fo; reflexivity).
           destruct (rise_or_cap n u Hn A) as [C|C].
           ++ left. apply at_cap_has_all; auto. rewrite En. exact C.
           ++ right. exists r. repeat split; auto.
              ** intros j Hj Dj. unfold frozen'. apply lt_iff in Dj. rewrite Dj, orb_true_r. reflexivity.
              ** intros j Hj Pj. destruct (Rise j Hj) as (s & S1 & S2).
                 assert (Pos : 0 < fixed' j).
                 { apply Qnot_le_lt. intros B. pose proof (prod_le _ _ _ B (dn j r Hj Hr)). lra. }
                 assert (Aj : able j = true).
                 { destruct (able j) eqn:X; auto. rewrite S2 in Pos. unfold rise in Pos. rewrite X in Pos. lra. }
                 pose proof (g_pos j Hj Aj) as Gj. pose proof (g_pos n Hn A) as Gn.
                 assert (Lj : a_ j + fixed' j <= g_ j * u).
                 { rewrite S2 in *. pose proof (rise_level j s Hj Pos). pose proof (prod_le_l _ _ (g_ j) S1). lra. }
                 assert (L1 : (a_ j + fixed' j) * g_ n <= g_ j * u * g_ n) by (apply prod_le; lra).
                 assert (L2 : g_ n * u * g_ j <= (a_ n + fixed' n) * g_ j) by (apply prod_le; rewrite ?En; lra).
                 lra.
Qed.

(** * The point *)
Definition on_class (v : nat -> Q) : nat -> nat -> Q := fun n h => if Nat.eqb h i then v n else x n h.

Lemma elsewhere_on_class v n : elsewhere P (on_class v) i n == elsewhere P x i n.
Proof.
  apply sum_ext. intros h Hh. unfold on_class. destruct (Nat.eqb h i); reflexivity.
Qed.

Theorem a_point_on_a_class : exists v, meets P i (on_class v).
Proof.
  destruct (fill _ (fun n => negb (able n)) (fun _ => 0)
    (- sum N (fun n => if able n then (if le 0 (a_ n) then 0 else - (a_ n) / g_ n) else 0)) eq_refl) as (v & Fits & V).
  { set (t := - sum N _).
    assert (T : forall n, (n < N)%nat -> able n = true -> g_ n * t <= a_ n).
    { intros n Hn A. pose proof (g_pos n Hn A) as G.
      assert (Nonneg : forall k, (k < N)%nat -> 0 <= (if able k then (if le 0 (a_ k) then 0 else - (a_ k) / g_ k) else 0)).
      { intros k Hk. destruct (able k) eqn:Ak; [|lra]. destruct (le 0 (a_ k)) eqn:E; [lra|].
        unfold Qdiv. apply prod_nonneg; [|apply Qinv_le_0_compat; pose proof (g_pos k Hk Ak); lra].
        assert (a_ k < 0) by (apply Qnot_le_lt; intros B; apply le_iff in B; congruence). lra. }
      pose proof (sum_term N _ n Nonneg Hn) as S. cbv beta in S. rewrite A in S. fold t in S.
      assert (S' : (if le 0 (a_ n) then 0 else - (a_ n) / g_ n) <= - t) by (unfold t; lra). clear S.
      destruct (le 0 (a_ n)) eqn:E.
      - bools. pose proof (prod_nonneg (g_ n) (- t) ltac:(lra) S'). lra.
      - pose proof (prod_le_l _ _ (g_ n) S') as X. setoid_replace (g_ n * (- (a_ n) / g_ n)) with (- (a_ n)) in X
          by (field; lra). lra. }
    assert (Zero : forall n, (n < N)%nat -> rise n t == 0).
    { intros n Hn. unfold rise. destruct (able n) eqn:A; [|reflexivity]. specialize (T n Hn A).
      destruct (clamp_cases (cap n) (g_ n * t - a_ n) (cap_nonneg n Hn)) as [[? E]|[(? & ? & E)|(? & ? & E)]]; rewrite E; lra. }
    constructor.
    - intros r Hr. unfold load_at. rewrite sum_zero; [apply (mw_room P W); auto|]. intros n Hn. unfold val.
      destruct (negb (able n)); [ring|]. rewrite (Zero n Hn). ring.
    - intros n Hn A. exists t. split; [lra|]. symmetry. apply Zero; auto.
    - intros n Hn A B. rewrite B in A. discriminate. }
  exists v.
  assert (Eq : forall n, on_class v n i = v n) by (intros n; unfold on_class; rewrite Nat.eqb_refl; reflexivity).
  assert (Tasks : forall n, all_tasks P (on_class v) n == a_ n + v n).
  { intros n. rewrite (tasks_split P (on_class v) i n Hi), elsewhere_on_class, Eq. reflexivity. }
  split; [constructor|].
  - intros n Hn. rewrite Eq. destruct (V n Hn) as ((s & E) & _). rewrite E. apply rise_nonneg; auto.
  - intros n Hn G. rewrite Eq. destruct (V n Hn) as ((s & E) & _). rewrite E. unfold rise.
    destruct (able n) eqn:A; [|reflexivity]. apply lt_iff in A. lra.
  - intros r Hr. rewrite (sum_ext N _ (fun n => v n * m_demand P n i r)); [apply Fits; auto|].
    intros n Hn. rewrite Eq. reflexivity.
  - intros n T Hn L. rewrite Eq, Tasks. destruct (V n Hn) as ((s & E) & _). rewrite E. unfold rise.
    destruct (able n) eqn:A; [|left; lra].
    pose proof (cap_nonneg n Hn) as C0.
    assert (Cl : clamp (cap n) (g_ n * s - a_ n) <= cap n).
    { destruct (clamp_cases (cap n) (g_ n * s - a_ n) C0) as [[? F]|[(? & ? & F)|(? & ? & F)]]; rewrite F; lra. }
    unfold cap in Cl at 2. rewrite L in Cl.
    destruct (le (T - a_ n) 0) eqn:B; [left; exact Cl|right].
    destruct (le (too_many n) (T - a_ n)) eqn:B2; bools; lra.
  - intros n Hn G. destruct (V n Hn) as (_ & S). assert (A : able n = true) by (apply lt_iff; auto).
    destruct (S A) as [(T & L & Hs)|(r & Hr & D & Full & Lev)].
    + left. unfold has_all. rewrite L, Tasks. exact Hs.
    + right. exists r. constructor; auto.
      * rewrite <- Full. apply sum_ext. intros m Hm. rewrite Eq. reflexivity.
      * intros m Hm Pm. rewrite Eq in Pm. specialize (Lev m Hm Pm).
        assert (Am : able m = true).
        { destruct (able m) eqn:X; auto. destruct (V m Hm) as ((s & E) & _). rewrite E in Pm. unfold rise in Pm.
          rewrite X in Pm. lra. }
        unfold level. rewrite !Tasks. fold (g_ m) (g_ n).
        pose proof (g_pos m Hm Am) as Gm. pose proof (g_pos n Hn A) as Gn.
        apply Qle_shift_div_r; auto.
        setoid_replace ((a_ n + v n) / g_ n * g_ m) with ((a_ n + v n) * g_ m / g_ n) by (field; lra).
        apply Qle_shift_div_l; auto.
Qed.

(** There is exactly one point: any other point with the same tasks on the other classes is equal to it. *)
Corollary exactly_one_point_on_a_class : exists v, meets P i (on_class v) /\
  forall y, meets P i y -> (forall n, (n < N)%nat -> elsewhere P y i n == elsewhere P x i n) ->
  forall n, (n < N)%nat -> y n i == v n.
Proof.
  destruct a_point_on_a_class as (v & V). exists v. split; auto. intros y Y Same n Hn.
  assert (Eq : on_class v n i = v n) by (unfold on_class; rewrite Nat.eqb_refl; reflexivity). rewrite <- Eq.
  apply (one_point_on_a_class P W i Hi); auto. intros m Hm. rewrite elsewhere_on_class. auto.
Qed.
End On.
Print Assumptions exactly_one_point_on_a_class.
