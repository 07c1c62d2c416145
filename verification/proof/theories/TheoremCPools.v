(** Proves a bound for several pools that are filled in a fixed order (docs/theory.md, section 6). Greedy earns at least
    half of the reward of any plan, and on some instance exactly half. *)
From Coq Require Import QArith Qround Qfield Arith ZArith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Checker Soundness Reservation ReservationTree ReservationOptimum ReservationRun
  ReservationGreedy ReservationRatio TheoremC ReservationExists.
Import ListNotations.
Open Scope Q_scope.

Section On.
Variable R : reservation.
Hypothesis W : well_formed R.
Notation J := (types R). Notation A := (fluid R).

Definition gain (left l : nat -> Q) : Q := earns R (fun j => left j - l j).
Definition part_of (o open : nat -> bool) : Prop := forall j, (j < J)%nat -> o j = true -> open j = true.
Lemma uses_part o open k : part_of o open -> uses R o k -> uses R open k.
Proof.
  intros Le U j Hj O. apply U; auto. destruct (o j) eqn:E; auto. rewrite (Le j Hj E) in O. discriminate.
Qed.
Lemma gain_add left l l' : gain left l' == gain left l + gain l l'.
Proof. unfold gain, earns. rewrite <- sum_add. apply sum_ext. intros. ring. Qed.

(** The reward of servers that serve no more jobs than there are *)
Lemma gain_after left k t : (forall j, (j < J)%nat -> t * inject_Z (k j) <= left j) ->
  gain left (after left k t) == t * worth R (reward R) k.
Proof.
  intros L. unfold gain, earns, worth. rewrite <- sum_scale. apply sum_ext. intros j Hj.
  rewrite after_eq by (specialize (L j Hj); lra). ring.
Qed.

Lemma first_most s open k c : first R s open k -> fits R s c -> uses R open c ->
  worth R (reward R) c <= worth R (reward R) k.
Proof. intros F Fc U. apply Qnot_lt_le. intros L. apply (first_none R s open k F c Fc U). left. exact L. Qed.

(** After the smallest number of servers at which a type runs out, the servers have served no more jobs than there
    are. *)
Lemma exhausts_leaves s open left k t j : on_the_way R open left -> first R s open k -> 0 <= t ->
  runs_out R left k t j -> (forall t' h, possible A t' -> t' < t -> ~ runs_out R left k t' h) ->
  (forall h, (h < J)%nat -> t * inject_Z (k h) <= left h) /\ on_the_way R (close open j) (after left k t).
Proof.
  intros Way F T Out Least.
  assert (K : forall h, (h < J)%nat -> (0 <= k h)%Z) by (apply (first_fits R s open k F)).
  assert (L : forall h, (h < J)%nat -> t * inject_Z (k h) <= left h).
  { intros h Hh. specialize (K h Hh). destruct (Z_lt_le_dec 0 (k h)) as [P|P].
    - apply Qnot_lt_le. intros B. pose proof (pos_jobs k h P) as P'.
      apply (Least (left h / inject_Z (k h)) h); [exact I| |].
      + apply Qlt_shift_div_r; auto.
      + repeat split; auto. apply Qle_lteq. right. field. lra.
    - replace (k h) with 0%Z by lia. change (inject_Z 0) with 0. rewrite Qmult_0_r. apply Way; auto. }
  split; [exact L|]. destruct Out as (Hj & Kj & Out). constructor.
  - intros h Hh C. unfold close in C. rewrite after_eq by (specialize (L h Hh); lra).
    destruct (Nat.eqb_spec h j) as [->|].
    + specialize (L j Hj). lra.
    + destruct Way as [Cl _]. pose proof (Cl h Hh C). specialize (L h Hh).
      assert (0 <= t * inject_Z (k h)).
      { apply prod_nonneg; auto. change 0 with (inject_Z 0). rewrite <- Zle_Qle. auto. }
      lra.
  - intros h Hh. split; [apply after_nonneg|].
    eapply Qle_trans; [apply after_le; auto; apply Way; auto|apply Way; auto].
Qed.

(** On a pool, greedy earns at least the reward that its servers would earn with any configuration of the types that
    stay open. *)
Lemma fills_earn s open left n steps o l : fills R A s open left n steps o l -> on_the_way R open left -> 0 <= n ->
  on_the_way R o l /\ part_of o open /\
  forall c, fits R s c -> uses R o c -> n * worth R (reward R) c <= gain left l.
Proof.
  assert (Same : forall y, gain y y == 0).
  { intros y. apply sum_zero. intros. ring. }
  induction 1 as [open left n N|open left n U|open left n k t j steps o l N F Po T Tn Out Low Least G IH
                 |open left n k N F Some_ Out]; intros Way N0.
  - split; [auto|]. split; [intros j _ O; auto|]. intros c _ _. rewrite Same. assert (Z : n == 0) by lra.
    rewrite Z. lra.
  - split; [auto|]. split; [intros j _ O; auto|]. intros c Fc Uc. rewrite Same.
    assert (Z : worth R (reward R) c == 0); [|rewrite Z; lra]. apply sum_zero. intros j Hj.
    assert (c j = 0%Z) as ->; [|change (inject_Z 0) with 0; ring].
    destruct (open j) eqn:O; [|apply Uc; auto].
    pose proof Fc as [K _]. specialize (K j Hj). destruct (Z_lt_le_dec 0 (c j)) as [P|P]; [|lia]. exfalso.
    apply (U j Hj O). apply (fits_less R W s c); auto. intros h Hh. unfold single.
    destruct Fc as [K' _]. specialize (K' h Hh). destruct (Nat.eqb_spec h j); subst; lia.
  - destruct (exhausts_leaves _ _ _ _ _ _ Way F T Out Least) as [L Way1].
    destruct IH as (Way' & Le & E); [exact Way1| |].
    + lra.
    + assert (Le' : part_of o open).
      { intros h Hh O. specialize (Le h Hh O). unfold close in Le. destruct (Nat.eqb h j); [discriminate|auto]. }
      split; [auto|]. split; [auto|]. intros c Fc Uc. specialize (E c Fc Uc).
      pose proof (first_most s open k c F Fc (uses_part _ _ _ Le' Uc)) as B.
      rewrite (gain_add left (after left k t) l), (gain_after left k t L).
      pose proof (prod_le_l _ _ _ B T). lra.
  - assert (K : forall h, (h < J)%nat -> (0 <= k h)%Z) by (apply (first_fits R s open k F)).
    assert (L : forall h, (h < J)%nat -> n * inject_Z (k h) <= left h).
    { intros h Hh. specialize (K h Hh). destruct (Z_lt_le_dec 0 (k h)) as [P|P].
      - apply Qlt_le_weak, Qnot_le_lt. intros B. apply (Out h). repeat split; auto.
      - replace (k h) with 0%Z by lia. change (inject_Z 0) with 0. rewrite Qmult_0_r. apply Way; auto. }
    split; [|split; [intros j _ O; auto|]].
    + constructor.
      * intros h Hh C. rewrite after_eq by (specialize (L h Hh); lra).
        rewrite (first_uses R s open k F h Hh C). destruct Way as [Cl _]. rewrite (Cl h Hh C).
        change (inject_Z 0) with 0. ring.
      * intros h Hh. split; [apply after_nonneg|].
        eapply Qle_trans; [apply after_le; auto; apply Way; auto|apply Way; auto].
    + intros c Fc Uc. rewrite (gain_after left k n L). apply prod_le_l; auto. eapply first_most; eauto.
Qed.

Lemma portions_nonneg s : (s < pools R)%nat -> 0 <= portion A s.
Proof.
  intros Hs. simpl. unfold Qdiv. apply prod_nonneg; [apply Qlt_le_weak, (servers_pos R W); auto|].
  apply Qinv_le_0_compat. apply sum_nonneg. intros h Hh. apply Qlt_le_weak, (servers_pos R W). auto.
Qed.

(** The same bound on all pools from s on. w s is the reward of some configuration of the types that are open at the
    end. *)
Lemma greedy_earns_rates s open left steps l : greedy_from R A s open left steps l -> on_the_way R open left ->
  exists o, on_the_way R o l /\ part_of o open /\
  forall w, (forall h, (h < pools R)%nat -> exists c, fits R h c /\ uses R o c /\ w h <= worth R (reward R) c) ->
  sum (pools R) (fun h => if Nat.leb s h then portion A h * w h else 0) <= gain left l.
Proof.
  induction 1 as [open left|s open left steps o1 l1 more l2 Hs F G IH]; intros Way.
  - exists open. split; [auto|]. split; [intros j _ O; auto|]. intros w _.
    unfold gain, earns. rewrite !sum_zero; [lra| |].
    + intros j _. ring.
    + intros h Hh. destruct (Nat.leb_spec (pools R) h); [lia|reflexivity].
  - destruct (fills_earn _ _ _ _ _ _ _ F Way (portions_nonneg s Hs)) as (Way1 & Le1 & E1).
    destruct (IH Way1) as (o & Way2 & Le2 & E2). exists o. split; [auto|]. split.
    { intros j Hj O. apply Le1, Le2; auto. }
    intros w Hw. specialize (E2 w Hw). destruct (Hw s Hs) as (c & Fc & Uc & Lc).
    specialize (E1 c Fc (uses_part _ _ _ Le2 Uc)).
    pose proof (prod_le_l _ _ _ Lc (portions_nonneg s Hs)).
    rewrite (gain_add left l1 l2).
    assert (Split : sum (pools R) (fun h => if Nat.leb s h then portion A h * w h else 0) ==
      sum (pools R) (fun h => (if Nat.eqb s h then portion A h * w h else 0) +
        (if Nat.leb (S s) h then portion A h * w h else 0))).
    { apply sum_ext. intros h Hh. destruct (Nat.leb_spec s h), (Nat.eqb_spec s h), (Nat.leb_spec (S s) h); try lia; ring. }
    rewrite Split, sum_add, (ReservationOptimum.sum_single (pools R) (fun h => portion A h * w h) s Hs). lra.
Qed.

Variables (X : assignment) (Y : nat -> Q).
Hypothesis V : serves R A X Y.

(** The best of the plan's configurations on pool s, without the closed types *)
Fixpoint best_rate (o : nat -> bool) (n s : nat) : Q :=
  match n with
  | O => 0
  | S n => let b := best_rate o n s in
      if Nat.eqb (pool X n) s
      then let v := worth R (reward R) (TheoremC.cut o (conf X n)) in if le b v then v else b
      else b
  end.
Lemma best_rate_most o n t : (t < n)%nat -> worth R (reward R) (TheoremC.cut o (conf X t)) <= best_rate o n (pool X t).
Proof.
  induction n; intros Ht; [lia|]. simpl. destruct (Nat.eq_dec t n) as [->|Ne].
  - rewrite Nat.eqb_refl. destruct (le _ _) eqn:E; [lra|]. apply Qlt_le_weak, Qnot_le_lt. intros B.
    apply le_iff in B. congruence.
  - specialize (IHn ltac:(lia)). destruct (Nat.eqb _ _); auto. destruct (le _ _) eqn:E; auto. apply le_iff in E. lra.
Qed.
Lemma best_rate_nonneg o n s : 0 <= best_rate o n s.
Proof.
  induction n; simpl; [lra|]. destruct (Nat.eqb _ _); auto. destruct (le _ _) eqn:E; auto. apply le_iff in E. lra.
Qed.
Lemma cut_fits o t : (t < parts X)%nat -> fits R (pool X t) (TheoremC.cut o (conf X t)).
Proof.
  intros Ht. pose proof (s_fits R A X Y V t Ht) as F. apply (fits_less R W (pool X t) (conf X t)); auto.
  intros j Hj. destruct F as [K _]. specialize (K j Hj). unfold TheoremC.cut. destruct (o j); lia.
Qed.
Lemma best_rate_of o n s : (n <= parts X)%nat -> (s < pools R)%nat ->
  exists c, fits R s c /\ uses R o c /\ best_rate o n s <= worth R (reward R) c.
Proof.
  intros Hn Hs. induction n; simpl.
  - exists (fun _ => 0%Z). split; [apply empty_fits; auto|]. split; [intros j _ _; reflexivity|].
    apply Qle_lteq. right. symmetry. apply sum_zero. intros j _. change (inject_Z 0) with 0. ring.
  - specialize (IHn ltac:(lia)). destruct (Nat.eqb_spec (pool X n) s) as [<-|]; auto.
    destruct (le _ _); auto. exists (TheoremC.cut o (conf X n)). split; [apply cut_fits; lia|].
    split; [|lra]. intros j _ O. unfold TheoremC.cut. rewrite O. reflexivity.
Qed.

Lemma half_of_the_plan steps l : greedy R A steps l -> earns R Y <= 2 * gain (jobs A) l.
Proof.
  intros G. destruct (greedy_earns_rates 0 _ _ _ _ G) as (o & [Cl Le] & _ & E).
  { constructor; [discriminate|]. intros j Hj. split; [apply (load_nonneg R W); auto|lra]. }
  specialize (E (best_rate o (parts X))). simpl Nat.leb in E. cbv iota in E.
  assert (Open : sum J (fun j => if o j then reward R j * Y j else 0) <= gain (jobs A) l).
  { eapply Qle_trans; [|apply E; intros h Hh; apply best_rate_of; auto].
    apply Qle_trans with (sum (parts X) (fun t => part X t * worth R (reward R) (TheoremC.cut o (conf X t)))).
    - rewrite (sum_ext (parts X) _ (fun t => sum J (fun j =>
        if o j then reward R j * (part X t * inject_Z (conf X t j)) else 0))).
      2:{ intros t Ht. unfold worth. rewrite <- sum_scale. apply sum_ext. intros j Hj. unfold TheoremC.cut.
          destruct (o j); [|change (inject_Z 0) with 0]; ring. }
      rewrite sum_swap. apply sum_le. intros j Hj. destruct (o j).
      + rewrite sum_scale. apply prod_le_l; [|apply (reward_nonneg R W); auto]. apply (s_served R A X Y V j Hj).
      + rewrite sum_zero; [lra|reflexivity].
    - apply Qle_trans with (sum (parts X) (fun t => sum (pools R) (fun s =>
        if Nat.eqb (pool X t) s then best_rate o (parts X) s * part X t else 0))).
      + apply sum_le. intros t Ht.
        rewrite (ReservationOptimum.sum_single (pools R) (fun s => best_rate o (parts X) s * part X t))
          by (apply (s_pool R A X Y V); auto).
        rewrite (Qmult_comm (best_rate _ _ _)). apply prod_le_l; [apply best_rate_most; auto|].
        apply (s_part R A X Y V t Ht).
      + rewrite sum_swap. apply sum_le. intros s Hs.
        rewrite (sum_ext _ _ (fun t => best_rate o (parts X) s * (if Nat.eqb (pool X t) s then part X t else 0))).
        2:{ intros. destruct (Nat.eqb _ _); ring. }
        rewrite sum_scale, (Qmult_comm (portion A s)).
        apply prod_le_l; [apply (s_portion R A X Y V); auto|apply best_rate_nonneg]. }
  assert (Closed : sum J (fun j => if o j then 0 else reward R j * Y j) <= gain (jobs A) l).
  { apply sum_le. intros j Hj. pose proof (reward_nonneg R W j Hj) as U. specialize (Le j Hj).
    destruct (o j) eqn:O.
    - apply prod_nonneg; auto. lra.
    - rewrite (Cl j Hj O) in *. apply prod_le_l; auto.
      destruct (s_served R A X Y V j Hj) as (_ & _ & Y1 & _). lra. }
  assert (S : earns R Y == sum J (fun j => if o j then reward R j * Y j else 0) +
    sum J (fun j => if o j then 0 else reward R j * Y j)).
  { rewrite <- sum_add. apply sum_ext. intros j _. destruct (o j); ring. }
  lra.
Qed.
End On.

Theorem half_on_several_pools R : well_formed R -> greedy_earns_at_least R (fluid R) (1 # 2).
Proof.
  intros W g (steps & l & G & E) X Y V. pose proof (half_of_the_plan R W X Y V steps l G) as H.
  unfold gain in H. rewrite E. lra.
Qed.

(** * No larger fraction. In the example, the first pool runs either type, and the second pool runs only the type that
    greedy runs first. *)
Definition two_pools : reservation := {|
  types := 2; rows := 2; pools := 2;
  size := fun j r => match j, r with O, S _ => 0 | _, _ => 1 end;
  room := fun s r => match s, r with S _, S _ => 0 | _, _ => 1 end; listed := None;
  reward := fun _ => 1; load := fun _ => 1 # 2; servers := fun _ => 1 |}.
Definition first_type : list stated := [
  {| stated_step := {| at_pool := 0; takes := single 0; given := 1 # 2; exhausted := Some 0%nat |};
     why := let m r := match r with O => 1 | _ => 0 end in
       Trees (fun _ => 1) 1 (Leaf m) (Split 0 1 (Leaf m) (Leaf m)) |}].
Definition each_on_its_pool : assignment :=
  {| parts := 2; pool := fun t => t; conf := fun t => single (1 - t); part := fun _ => 1 # 2 |}.

Theorem half_is_sharp : well_formed two_pools /\ some_plan_earns two_pools (fluid two_pools) 1 /\
  greedy_earns two_pools (fluid two_pools) (1 # 2).
Proof.
  split; [apply check_reservation_sound; reflexivity|]. split.
  - exists each_on_its_pool, (fun _ => 1 # 2). split; [apply check_serves_sound; reflexivity|reflexivity].
  - apply (check_greedy_sound two_pools (fluid two_pools) first_type). reflexivity.
Qed.

Print Assumptions half_on_several_pools.
Print Assumptions half_is_sharp.
