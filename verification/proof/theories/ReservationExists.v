(** Proves that greedy always has a run. So a statement about all runs of greedy is a statement about at least one
    run. *)
From Coq Require Import QArith Qround Qfield Arith ZArith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Checker Soundness Reservation ReservationTree ReservationOptimum ReservationRun
  ReservationGreedy TheoremA TheoremC.
Import ListNotations.
Open Scope Q_scope.

Section On.
Variable R : reservation.
Hypothesis W : well_formed R.
Notation J := (types R). Notation M := (rows R).

(** If a type had no demand, infinitely many of its jobs would fit on a server. This cannot happen if configurations are
    listed. *)
Definition types_demand : Prop := match listed R with
  | Some _ => True
  | None => forall j, (j < J)%nat -> exists r, (r < M)%nat /\ 0 < size R j r end.
Hypothesis D : types_demand.

(** * The order of configurations is total, and a server has finitely many configurations. *)
Lemma before_dec k k' : before R k k' \/ ~ before R k k'.
Proof.
  unfold before. destruct (Q_dec (worth R (reward R) k) (worth R (reward R) k')) as [[L|L]|E].
  - right. intros [B|[B _]]; lra.
  - left. left. exact L.
  - destruct (first_difference k k' J) as [Eq|(j & Hj & Ne & Eq)].
    + right. intros [B|[_ (j & Hj & B & _)]]; [lra|]. rewrite (Eq j Hj) in B. lia.
    + destruct (Z_lt_le_dec (k' j) (k j)) as [L|L].
      * left. right. split; auto. exists j. auto.
      * right. intros [B|[_ (i & Hi & B & Eq')]]; [lra|].
        destruct (lt_eq_lt_dec i j) as [[C|C]|C].
        -- rewrite (Eq i C) in B. lia.
        -- subst. lia.
        -- apply Ne. apply Eq'. exact C.
Qed.

Lemma before_trans a b c : before R a b -> before R b c -> before R a c.
Proof.
  intros [B|[B (i & Hi & Di & Ei)]] [C|[C (j & Hj & Dj & Ej)]]; try (left; lra).
  right. split; [lra|]. destruct (lt_eq_lt_dec i j) as [[L|L]|L].
  - exists i. split; [exact Hi|]. split; [rewrite <- (Ej i L); exact Di|].
    intros h Hh. rewrite (Ei h Hh). apply Ej. lia.
  - subst. exists j. split; [exact Hj|]. split; [lia|]. intros h Hh. rewrite (Ei h Hh). auto.
  - exists j. split; [exact Hj|]. split; [rewrite (Ei j L); exact Dj|].
    intros h Hh. rewrite (Ei h) by lia. auto.
Qed.

Lemma before_irreflexive k : ~ before R k k.
Proof. intros [B|[_ (j & _ & B & _)]]; [lra|lia]. Qed.

Lemma before_as_held a b c : as_held R a b -> before R a c -> before R b c.
Proof.
  intros E. pose proof (worth_as_held R (reward R) a b E) as We. intros [B|[B (j & Hj & Dj & Ej)]].
  - left. lra.
  - right. split; [lra|]. exists j. split; [exact Hj|]. rewrite <- (E j Hj). split; [exact Dj|].
    intros h Hh. rewrite <- (E h) by lia. auto.
Qed.

Lemma best_of (good : configuration -> bool) l : (exists c, In c l /\ good c = true) ->
  exists c, In c l /\ good c = true /\ forall c', In c' l -> good c' = true -> ~ before R c' c.
Proof.
  induction l as [|c0 l IH]; intros (c & I & G); [destruct I|].
  destruct (existsb good l) eqn:E.
  - apply existsb_exists in E. destruct (IH E) as (b & Ib & Gb & Nb).
    destruct (good c0) eqn:G0.
    + destruct (before_dec c0 b) as [B|B].
      * exists c0. split; [left; auto|]. split; auto. intros c' [<-|I'] G'; [apply before_irreflexive|].
        intros B'. apply (Nb c' I' G'). eapply before_trans; eauto.
      * exists b. split; [right; auto|]. split; auto. intros c' [<-|I'] G'; auto.
    + exists b. split; [right; auto|]. split; auto. intros c' [<-|I'] G'; [congruence|auto].
  - assert (N : forall c', In c' l -> good c' = true -> False).
    { intros c' I' G'. assert (existsb good l = true) by (apply existsb_exists; eauto). congruence. }
    destruct I as [<-|I]; [|exfalso; eauto]. exists c0. split; [left; auto|]. split; auto.
    intros c' [<-|I'] G'; [apply before_irreflexive|exfalso; eauto].
Qed.

(** All configurations of n types with at most b jobs of each *)
Fixpoint box (n b : nat) : list configuration :=
  match n with
  | O => [fun _ => 0%Z]
  | S n => flat_map (fun k => map (fun v => set k n (Z.of_nat v)) (seq 0 (S b))) (box n b)
  end.
Lemma box_has n b k : (forall j, (j < n)%nat -> (0 <= k j <= Z.of_nat b)%Z) ->
  exists c, In c (box n b) /\ forall j, (j < n)%nat -> c j = k j.
Proof.
  induction n; intros B.
  - exists (fun _ => 0%Z). split; [left; auto|]. intros; lia.
  - destruct IHn as (c & I & E); [intros; apply B; lia|].
    exists (set c n (Z.of_nat (Z.to_nat (k n)))). split.
    + simpl box. apply in_flat_map. exists c. split; auto.
      apply (in_map (fun v => set c n (Z.of_nat v)) (seq 0 (S b)) (Z.to_nat (k n))). apply in_seq. specialize (B n ltac:(lia)). lia.
    + intros j Hj. unfold set. destruct (Nat.eqb_spec j n) as [->|Ne]; [specialize (B n ltac:(lia)); lia|].
      apply E. lia.
Qed.

Lemma common_bound (P : nat -> nat -> Prop) n : (forall j b b', (b <= b')%nat -> P j b -> P j b') ->
  (forall j, (j < n)%nat -> exists b, P j b) -> exists b, forall j, (j < n)%nat -> P j b.
Proof.
  intros Mono. induction n; intros E; [exists O; intros; lia|].
  destruct IHn as (b & B); [intros; apply E; lia|]. destruct (E n ltac:(lia)) as (c & C).
  exists (Nat.max b c). intros j Hj. destruct (Nat.eq_dec j n) as [->|Ne].
  - apply (Mono n c); [lia|exact C].
  - apply (Mono j b); [lia|apply B; lia].
Qed.

Lemma bounded s : (s < pools R)%nat ->
  exists b, forall j, (j < J)%nat -> forall k, fits R s k -> (k j <= Z.of_nat b)%Z.
Proof.
  intros Hs. apply (common_bound (fun j b => forall k, fits R s k -> (k j <= Z.of_nat b)%Z)).
  { intros j b b' L B k F. specialize (B k F). lia. }
  intros j Hj. unfold types_demand in D. unfold fits. destruct (listed R) as [l|] eqn:E.
  - assert (X : exists b, forall c, In c l -> (c j <= Z.of_nat b)%Z).
    { clear. induction l as [|c l (b & IH)]; [exists O; intros c []|].
      exists (Nat.max b (Z.to_nat (c j))). intros c' [<-|I]; [lia|]. specialize (IH c' I). lia. }
    destruct X as (b & B). exists b. intros k [_ (c & I & C)]. specialize (B c I). specialize (C j Hj). lia.
  - destruct (D j Hj) as (r & Hr & P). exists (Z.to_nat (Qfloor (room R s r / size R j r))). intros k [K F].
    specialize (F r Hr).
    assert (T : size R j r * inject_Z (k j) <= sum J (fun j => size R j r * inject_Z (k j))).
    { apply (sum_term J (fun j => size R j r * inject_Z (k j))); auto. intros h Hh.
      apply prod_nonneg; [apply (size_nonneg R W); auto|]. change 0 with (inject_Z 0). rewrite <- Zle_Qle. auto. }
    assert (L : (k j <= Qfloor (room R s r / size R j r))%Z).
    { apply floor_le. apply Qle_shift_div_l; auto. lra. }
    specialize (K j Hj). lia.
Qed.

Lemma empty_fits s : (s < pools R)%nat -> fits R s (fun _ => 0%Z).
Proof.
  intros Hs. split; [intros; lia|]. pose proof (listed_nonneg R W) as Ls. destruct (listed R) as [l|].
  - destruct Ls as ((c & I) & N). exists c. split; auto.
  - intros r Hr. rewrite sum_zero; [apply (room_nonneg R W); auto|]. intros j _. change (inject_Z 0) with 0. ring.
Qed.

Theorem first_exists s open : (s < pools R)%nat -> exists k, first R s open k.
Proof.
  intros Hs. destruct (bounded s Hs) as (b & B).
  set (good := fun k => check_fits R s k && all J (fun j => open j || Z.eqb (k j) 0)).
  assert (Good : forall k, good k = true <-> fits R s k /\ uses R open k).
  { intros k. unfold good. rewrite andb_true_iff, check_fits_iff, all_iff. apply and_iff_compat_l.
    split; intros U j Hj; [intros O|]; specialize (U j Hj).
    - rewrite O in U. apply Z.eqb_eq. exact U.
    - destruct (open j); auto. apply Z.eqb_eq. auto. }
  assert (As : forall k c, as_held R k c -> good k = true -> good c = true).
  { intros k c E G. apply Good in G. destruct G as [F U]. apply Good. split.
    - apply (fits_less R W s k); auto. intros j Hj. rewrite <- (E j Hj). destruct F as [F _]. specialize (F j Hj). lia.
    - intros j Hj O. rewrite <- (E j Hj). auto. }
  assert (Has : forall k, good k = true -> exists c, In c (box J b) /\ as_held R k c).
  { intros k G. apply Good in G. destruct G as [F U]. destruct (box_has J b k) as (c & I & E).
    - intros j Hj. split; [apply F; auto|apply (B j Hj k F)].
    - exists c. split; auto. intros j Hj. symmetry. auto. }
  destruct (best_of good (box J b)) as (k & I & G & N).
  { assert (G0 : good (fun _ => 0%Z) = true).
    { apply Good. split; [apply empty_fits; auto|]. intros j _ _. reflexivity. }
    destruct (Has _ G0) as (c & I & E). exists c. split; auto. eapply As; eauto. }
  exists k. pose proof G as G'. apply Good in G'. destruct G' as [F U]. constructor; auto.
  intros k' F' U' Be. assert (Gk : good k' = true) by (apply Good; auto).
  destruct (Has k' Gk) as (c & Ic & E). apply (N c Ic); [eapply As; eauto|eapply before_as_held; eauto].
Qed.

(** If a job of an open type fits, the first configuration is not empty. *)
Lemma first_holds s open k j : first R s open k -> (j < J)%nat -> open j = true -> fits R s (single j) ->
  exists i, (i < J)%nat /\ (0 < k i)%Z.
Proof.
  intros F Hj O S. destruct (any J (fun i => Z.ltb 0 (k i))) eqn:A.
  - apply any_iff in A. destruct A as (i & Hi & A). apply Z.ltb_lt in A. eauto.
  - exfalso. assert (Z0 : forall i, (i < J)%nat -> k i = 0%Z).
    { intros i Hi. pose proof (first_fits R s open k F) as [K _]. specialize (K i Hi).
      destruct (Z_lt_le_dec 0 (k i)); [|lia].
      assert (any J (fun i => Z.ltb 0 (k i)) = true) by (apply any_iff; exists i; split; auto; apply Z.ltb_lt; auto).
      congruence. }
    assert (Wk : worth R (reward R) k == 0).
    { apply sum_zero. intros i Hi. rewrite (Z0 i Hi). change (inject_Z 0) with 0. ring. }
    assert (Ws : 0 <= worth R (reward R) (single j)).
    { apply sum_nonneg. intros i Hi. apply prod_nonneg; [apply (reward_nonneg R W); auto|].
      change 0 with (inject_Z 0). rewrite <- Zle_Qle. unfold single. destruct (Nat.eqb i j); lia. }
    apply (first_none R s open k F (single j) S).
    + intros i Hi Oi. unfold single. destruct (Nat.eqb_spec i j); [congruence|reflexivity].
    + destruct (Qlt_le_dec 0 (worth R (reward R) (single j))); [left; lra|]. right. split; [lra|].
      exists j. split; auto. unfold single. rewrite Nat.eqb_refl, (Z0 j Hj). split; [lia|].
      intros h Hh. destruct (Nat.eqb_spec h j); [lia|]. symmetry. apply Z0. lia.
Qed.

(** * Filling a pool *)
Variable A : amount.

(** The number of servers after which no job of type j is left *)
Definition needed (left : nat -> Q) (k : configuration) (j : nat) : Q :=
  if whole A then inject_Z (Qceiling (left j / inject_Z (k j))) else left j / inject_Z (k j).

Lemma pos_jobs (k : configuration) j : (0 < k j)%Z -> 0 < inject_Z (k j).
Proof. intros. change 0 with (inject_Z 0). rewrite <- Zlt_Qlt. auto. Qed.
Lemma needed_possible left k j : possible A (needed left k j).
Proof. unfold possible, needed. destruct (whole A); auto. eexists. reflexivity. Qed.
Lemma needed_enough left k j : (0 < k j)%Z -> left j <= needed left k j * inject_Z (k j).
Proof.
  intros K. apply pos_jobs in K.
  assert (L : left j / inject_Z (k j) <= needed left k j).
  { unfold needed. destruct (whole A); [apply Qle_ceiling|lra]. }
  pose proof (prod_le _ _ (inject_Z (k j)) L) as B.
  setoid_replace (left j / inject_Z (k j) * inject_Z (k j)) with (left j) in B by (field; lra). apply B. lra.
Qed.
Lemma needed_least left k j t : (0 < k j)%Z -> possible A t -> left j <= t * inject_Z (k j) -> needed left k j <= t.
Proof.
  intros K P L. apply pos_jobs in K.
  assert (B : left j / inject_Z (k j) <= t) by (apply Qle_shift_div_r; auto).
  unfold needed, possible in *. destruct (whole A); auto. destruct P as (z & E).
  rewrite E, <- Zle_Qle, <- (Qceiling_Z z). apply Qceiling_resp_le. rewrite <- E. exact B.
Qed.
Lemma needed_nonneg left k j : (0 < k j)%Z -> 0 <= left j -> 0 <= needed left k j.
Proof.
  intros K L. apply Qnot_lt_le. intros B. pose proof (needed_enough left k j K). apply pos_jobs in K.
  assert (0 < (- needed left k j) * inject_Z (k j)) by (apply Qmult_lt_0_compat; lra). lra.
Qed.

Lemma lowest (p : nat -> bool) n j : (j < n)%nat -> p j = true ->
  exists i, (i < n)%nat /\ p i = true /\ forall h, (h < i)%nat -> p h = false.
Proof.
  revert j. induction n; intros j Hj P; [lia|]. destruct (any n p) eqn:A0.
  - apply any_iff in A0. destruct A0 as (h & Hh & Ph). destruct (IHn h Hh Ph) as (i & Hi & Pi & L).
    exists i. repeat split; auto.
  - assert (N : forall h, (h < n)%nat -> p h = false).
    { intros h Hh. destruct (p h) eqn:E; auto. assert (any n p = true) by (apply any_iff; eauto). congruence. }
    exists n. repeat split; auto. destruct (Nat.eq_dec j n); [subst; auto|]. rewrite N in P by lia. discriminate.
Qed.

Lemma fills_exists s : (s < pools R)%nat -> forall m open left n, number J open = m ->
  (forall j, (j < J)%nat -> 0 <= left j) -> possible A n ->
  exists steps o l, fills R A s open left n steps o l /\ forall j, (j < J)%nat -> 0 <= l j.
Proof.
  intros Hs. induction m as [m IH] using lt_wf_ind. intros open left n Nm L Pn.
  destruct (Qlt_le_dec 0 n) as [N|N]; [|exists [], open, left; split; auto; apply full; auto].
  destruct (some_fits R s open) eqn:S.
  2:{ exists [], open, left. split; auto. apply useless. intros j Hj O F.
      assert (X : some_fits R s open = true); [|congruence]. apply any_iff. exists j. rewrite O. split; auto.
      apply check_fits_iff. auto. }
  apply any_iff in S. destruct S as (j0 & H0 & S). destruct (open j0) eqn:O0; [|discriminate].
  apply check_fits_iff in S. destruct (first_exists s open Hs) as (k & F).
  destruct (first_holds s open k j0 F H0 O0 S) as (i & Hi & Ki).
  destruct (some_least (fun j => Z.ltb 0 (k j)) (needed left k) J i Hi) as (a & Ha & Ka & Least).
  { apply Z.ltb_lt. auto. }
  apply Z.ltb_lt in Ka. set (t := needed left k a) in *.
  assert (Min : forall t' h, possible A t' -> runs_out R left k t' h -> t <= t').
  { intros t' h P (Hh & K & O). eapply Qle_trans; [apply (Least h Hh); apply Z.ltb_lt; auto|].
    apply needed_least; auto. }
  destruct (Qlt_le_dec n t) as [Nt|Nt].
  - eexists. exists open, (after left k n). split; [|intros; apply after_nonneg].
    apply ends; eauto. intros h B. specialize (Min n h Pn B). lra.
  - destruct (lowest (check_out left k t) J a Ha) as (j & Hj & Oj & Low).
    { apply (check_out_iff R left k t a Ha). repeat split; auto. apply needed_enough; auto. }
    apply (check_out_iff R left k t j Hj) in Oj.
    assert (Opn : open j = true).
    { destruct (open j) eqn:E; auto. pose proof (first_uses R s open k F j Hj E). destruct Oj as (_ & K & _). lia. }
    destruct (IH (number J (close open j))) with (open := close open j) (left := after left k t) (n := n - t)
      as (steps & o & l & G & Lo); auto.
    + rewrite <- Nm, (number_close J open j Hj Opn). lia.
    + intros; apply after_nonneg.
    + pose proof (needed_possible left k a : possible A t) as Pt. unfold possible in *. destruct (whole A); auto.
      destruct Pn as (x & Ex), Pt as (y & Ey). exists (x - y)%Z. unfold Z.sub.
      rewrite inject_Z_plus, inject_Z_opp, Ex, Ey. reflexivity.
    + eexists. exists o, l. split; [|exact Lo]. apply exhausts with (j := j); [auto|exact F| | |auto|exact Oj| | |exact G].
      * apply needed_possible.
      * apply needed_nonneg; auto.
      * exact Nt.
      * intros h Hh B. assert (Hj' : (h < J)%nat) by lia.
        apply (check_out_iff R left k t h Hj') in B. rewrite (Low h Hh) in B. discriminate.
      * intros t' h P Lt B. specialize (Min t' h P B). lra.
Qed.

Lemma greedy_from_exists todo : forall s open left, (s + todo)%nat = pools R -> (forall j, (j < J)%nat -> 0 <= left j) ->
  (forall s, (s < pools R)%nat -> possible A (portion A s)) ->
  exists steps l, greedy_from R A s open left steps l.
Proof.
  induction todo; intros s open left E L P.
  - exists [], left. replace s with (pools R) by lia. apply no_more.
  - assert (Hs : (s < pools R)%nat) by lia.
    destruct (fills_exists s Hs _ open left (portion A s) eq_refl L (P s Hs)) as (st & o & l & F & Lo).
    destruct (IHtodo (S s) o l ltac:(lia) Lo P) as (more & l' & G).
    exists (st ++ more), l'. eapply next; eauto.
Qed.

Theorem greedy_always_earns : (forall j, (j < J)%nat -> 0 <= jobs A j) ->
  (forall s, (s < pools R)%nat -> possible A (portion A s)) -> exists g, greedy_earns R A g.
Proof.
  intros L P. destruct (greedy_from_exists (pools R) 0 (fun _ => true) (jobs A) eq_refl L P) as (st & l & G).
  exists (earns R (fun j => jobs A j - l j)), st, l. split; [exact G|reflexivity].
Qed.
End On.

Corollary greedy_earns_in_the_fluid_limit R : well_formed R -> types_demand R ->
  exists g, greedy_earns R (fluid R) g.
Proof. intros W D. apply greedy_always_earns; auto; [apply (load_nonneg R W)|]. intros s _. exact I. Qed.

Corollary greedy_earns_with_whole_servers R : well_formed R -> types_demand R ->
  (forall s, (s < pools R)%nat -> exists z, servers R s == inject_Z z) ->
  exists g, greedy_earns R (in_whole_servers R) g.
Proof.
  intros W D P. apply greedy_always_earns; auto. intros j Hj.
  change (inject_Z 0 <= inject_Z (Qfloor (load R j * all_servers R))). rewrite <- Zle_Qle. apply floor_le.
  apply prod_nonneg; [apply (load_nonneg R W); auto|]. apply sum_nonneg. intros s Hs.
  apply Qlt_le_weak, (servers_pos R W). auto.
Qed.

Print Assumptions greedy_earns_in_the_fluid_limit.
Print Assumptions greedy_earns_with_whole_servers.
