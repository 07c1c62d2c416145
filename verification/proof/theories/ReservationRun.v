(** Proves that the run of greedy is unique, and depends only on the values of its data. So the reward of greedy is a
    single number. *)
From Coq Require Import QArith Qfield Arith ZArith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Checker Soundness Reservation.
Import ListNotations.
Open Scope Q_scope.

Section On.
Variable R : reservation.
Notation J := (types R). Notation M := (rows R).

(** * Functions with equal values for all types *)
Definition as_open (open open' : nat -> bool) : Prop := forall j, (j < J)%nat -> open j = open' j.
Definition as_much (left left' : nat -> Q) : Prop := forall j, (j < J)%nat -> left j == left' j.
Definition as_held (k k' : configuration) : Prop := forall j, (j < J)%nat -> k j = k' j.

Lemma worth_as_held b k k' : as_held k k' -> worth R b k == worth R b k'.
Proof. intros E. apply sum_ext. intros j Hj. rewrite (E j Hj). reflexivity. Qed.
Lemma first_as_open s open open' k : as_open open open' -> first R s open k -> first R s open' k.
Proof.
  intros E [F U N]. constructor; auto.
  - intros j Hj O. apply U; auto. rewrite (E j Hj). auto.
  - intros k' F' U'. apply N; auto. intros j Hj O. apply U'; auto. rewrite <- (E j Hj). auto.
Qed.
Lemma runs_out_as left left' k k' t t' h : as_much left left' -> as_held k k' -> t == t' ->
  runs_out R left k t h -> runs_out R left' k' t' h.
Proof.
  intros El Ek Et (Hh & K & O). repeat split; auto; rewrite <- (Ek h Hh); auto. rewrite <- (El h Hh), <- Et. auto.
Qed.
Lemma after_as left left' k k' t t' : as_much left left' -> as_held k k' -> t == t' ->
  as_much (after left k t) (after left' k' t').
Proof.
  intros El Ek Et j Hj. unfold after. rewrite (Ek j Hj).
  assert (E : left j - t * inject_Z (k' j) == left' j - t' * inject_Z (k' j)) by (rewrite (El j Hj), Et; ring).
  destruct (le (left j - _) 0) eqn:F, (le (left' j - _) 0) eqn:G; auto; try reflexivity; exfalso.
  - apply le_iff in F. rewrite E in F. apply le_iff in F. congruence.
  - apply le_iff in G. rewrite <- E in G. apply le_iff in G. congruence.
Qed.
Lemma close_as open open' j : as_open open open' -> as_open (close open j) (close open' j).
Proof. intros E h Hh. unfold close. rewrite (E h Hh). reflexivity. Qed.
Lemma held_refl k : as_held k k. Proof. intros j _. reflexivity. Qed.
Lemma as_much_sym left left' : as_much left left' -> as_much left' left.
Proof. intros E j Hj. symmetry. auto. Qed.
Lemma as_open_sym open open' : as_open open open' -> as_open open' open.
Proof. intros E j Hj. symmetry. auto. Qed.

Variable A : amount.

Theorem fills_as s open left n steps o l : fills R A s open left n steps o l ->
  forall open' left' n', as_open open open' -> as_much left left' -> n == n' ->
  exists steps' o' l', fills R A s open' left' n' steps' o' l' /\ as_open o o' /\ as_much l l'.
Proof.
  induction 1 as [open left n N|open left n U|open left n k t j steps o l N F Po T Tn Out Low Least G IH
                 |open left n k N F Some_ Out]; intros open' left' n' Eo El En.
  - exists [], open', left'. split; auto. apply full. lra.
  - exists [], open', left'. split; auto. apply useless. intros j Hj O. apply U; auto. rewrite (Eo j Hj). auto.
  - destruct (IH (close open' j) (after left' k t) (n' - t)) as (steps' & o' & l' & G' & Eo' & El').
    + apply close_as; auto.
    + apply after_as; [auto|apply held_refl|reflexivity].
    + lra.
    + exists ({| at_pool := s; takes := k; given := t; exhausted := Some j |} :: steps'), o', l'. split; auto.
      apply as_much_sym in El.
      apply exhausts; auto; try lra.
      * eapply first_as_open; eauto.
      * eapply runs_out_as; [|apply held_refl|reflexivity|exact Out]. apply as_much_sym; auto.
      * intros h Hh B. apply (Low h Hh). eapply runs_out_as; [exact El|apply held_refl|reflexivity|exact B].
      * intros t' h P L B. apply (Least t' h P L). eapply runs_out_as; [exact El|apply held_refl|reflexivity|exact B].
  - exists [{| at_pool := s; takes := k; given := n'; exhausted := None |}], open', (after left' k n').
    split; [|split; auto; apply after_as; auto; apply held_refl].
    apply ends; auto; [lra|eapply first_as_open; eauto|].
    intros h B. apply (Out h). eapply runs_out_as; [|apply held_refl| |exact B]; [apply as_much_sym; auto|lra].
Qed.

Theorem greedy_from_as s open left steps l : greedy_from R A s open left steps l ->
  forall open' left', as_open open open' -> as_much left left' ->
  exists steps' l', greedy_from R A s open' left' steps' l' /\ as_much l l'.
Proof.
  induction 1 as [open left|s open left steps o l more l' Hs F G IH]; intros open' left' Eo El.
  - exists [], left'. split; auto. apply no_more.
  - destruct (fills_as _ _ _ _ _ _ _ F open' left' (portion A s)) as (st & o2 & l2 & F2 & Eo2 & El2); auto; [lra|].
    destruct (IH o2 l2 Eo2 El2) as (st3 & l3 & G3 & El3).
    exists (st ++ st3), l3. split; auto. eapply next; eauto.
Qed.

(** * The first configuration and the run are unique. *)
Lemma first_difference (k k' : configuration) n :
  (forall j, (j < n)%nat -> k j = k' j) \/
  exists j, (j < n)%nat /\ k j <> k' j /\ forall h, (h < j)%nat -> k h = k' h.
Proof.
  induction n; [left; intros; lia|]. destruct IHn as [E|(j & Hj & D & E)].
  - destruct (Z.eq_dec (k n) (k' n)) as [F|F].
    + left. intros j Hj. destruct (Nat.eq_dec j n); [subst; auto|apply E; lia].
    + right. exists n. repeat split; auto.
  - right. exists j. repeat split; auto.
Qed.

Theorem first_unique s open k k' : first R s open k -> first R s open k' -> as_held k k'.
Proof.
  intros [F U N] [F' U' N'].
  destruct (first_difference k k' J) as [E|(j & Hj & D & E)]; auto. exfalso.
  destruct (Q_dec (worth R (reward R) k) (worth R (reward R) k')) as [[L|L]|L].
  - apply (N k' F' U'). left. auto.
  - apply (N' k F U). left. auto.
  - destruct (Z_lt_le_dec (k j) (k' j)) as [Lt|Le].
    + apply (N k' F' U'). right. split; [symmetry; auto|]. exists j. repeat split; auto.
      intros h Hh. symmetry. auto.
    + apply (N' k F U). right. split; auto. exists j. repeat split; auto. lia.
Qed.

Lemma first_unique_as s open open' k k' : as_open open open' -> first R s open k -> first R s open' k' ->
  as_held k k'.
Proof. intros E F F'. apply (first_unique s open'); auto. eapply first_as_open; eauto. Qed.

Hypothesis W : well_formed R.

Lemma fits_less s k k' : (forall j, (j < J)%nat -> (0 <= k' j <= k j)%Z) -> fits R s k -> fits R s k'.
Proof.
  intros L [K F]. split; [intros; apply L; auto|].
  destruct (listed R) as [l|].
  - destruct F as (c & I & C). exists c. split; auto. intros j Hj. specialize (C j Hj). specialize (L j Hj). lia.
  - intros r Hr. eapply Qle_trans; [|apply (F r Hr)]. apply sum_le. intros j Hj.
    apply prod_le_l; [|apply (size_nonneg R W); auto]. rewrite <- Zle_Qle. apply L; auto.
Qed.
(** If a configuration has jobs of an open type, one job of this type alone fits. *)
Lemma fits_single s open k j : first R s open k -> (j < J)%nat -> (0 < k j)%Z ->
  open j = true /\ fits R s (single j).
Proof.
  intros F Hj K. split.
  - destruct (open j) eqn:O; auto. pose proof (first_uses R s open k F j Hj O). lia.
  - apply (fits_less s k); [|apply F]. intros h Hh. unfold single.
    pose proof (first_fits R s open k F) as [Z _]. specialize (Z h Hh). destruct (Nat.eqb_spec h j); subst; lia.
Qed.

Theorem fills_unique s open left n steps o l : fills R A s open left n steps o l ->
  forall open' left' n' steps' o' l', as_open open open' -> as_much left left' -> n == n' ->
  fills R A s open' left' n' steps' o' l' -> as_open o o' /\ as_much l l'.
Proof.
  induction 1 as [open left n N|open left n U|open left n k t j steps o l N F Po T Tn Out Low Least G IH
                 |open left n k N F Some_ Out]; intros open' left' n' steps' o' l' Eo El En G';
    inversion G' as [? ? ? N'|? ? ? U'|? ? ? k' t' j' ? ? ? N' F' Po' T' Tn' Out' Low' Least' G2
                    |? ? ? k' N' F' Some_' Out']; subst; auto; try (exfalso; lra).
  - exfalso. destruct Out' as (Hj & K & _). destruct (fits_single _ _ _ _ F' Hj K) as [O S].
    apply (U j' Hj); auto. rewrite (Eo j' Hj). auto.
  - exfalso. destruct Some_' as (j' & Hj & K). destruct (fits_single _ _ _ _ F' Hj K) as [O S].
    apply (U j' Hj); auto. rewrite (Eo j' Hj). auto.
  - exfalso. destruct Out as (Hj & K & _). destruct (fits_single _ _ _ _ F Hj K) as [O S].
    apply (U' j Hj); auto. rewrite <- (Eo j Hj). auto.
  - assert (Ek : as_held k k') by (eapply first_unique_as; eauto).
    assert (Ek' : as_held k' k) by (intros h Hh; symmetry; auto).
    pose proof (as_much_sym _ _ El) as El'.
    assert (Et : t == t').
    { destruct (Q_dec t t') as [[L|L]|L]; auto; exfalso.
      - apply (Least' t j Po L). eapply runs_out_as; [exact El|exact Ek|reflexivity|exact Out].
      - apply (Least t' j' Po' L). eapply runs_out_as; [exact El'|exact Ek'|reflexivity|exact Out']. }
    assert (j = j') as <-.
    { destruct (lt_eq_lt_dec j j') as [[L|L]|L]; auto; exfalso.
      - apply (Low' j L). eapply runs_out_as; [exact El|exact Ek|exact Et|exact Out].
      - apply (Low j' L). eapply runs_out_as; [exact El'|exact Ek'|symmetry; exact Et|exact Out']. }
    eapply IH; [| | |exact G2].
    + apply close_as; auto.
    + apply after_as; auto.
    + lra.
  - exfalso. assert (Ek : as_held k k') by (eapply first_unique_as; eauto).
    pose proof (runs_out_as _ _ _ _ _ _ _ El Ek (Qeq_refl _) Out) as O.
    destruct O as (Hj & K & O). apply (Out' j). repeat split; auto. eapply Qle_trans; [exact O|].
    apply prod_le; [lra|]. change 0 with (inject_Z 0). rewrite <- Zle_Qle. lia.
  - exfalso. destruct Some_ as (j & Hj & K). destruct (fits_single _ _ _ _ F Hj K) as [O S].
    apply (U' j Hj); auto. rewrite <- (Eo j Hj). auto.
  - exfalso. pose proof (first_unique_as _ _ _ _ _ (as_open_sym _ _ Eo) F' F) as Ek.
    pose proof (runs_out_as _ _ _ _ _ _ _ (as_much_sym _ _ El) Ek (Qeq_refl _) Out') as O.
    destruct O as (Hj & K & O). apply (Out j'). repeat split; auto. eapply Qle_trans; [exact O|].
    apply prod_le; [lra|]. change 0 with (inject_Z 0). rewrite <- Zle_Qle. lia.
  - split; auto. apply after_as; auto. eapply first_unique_as; eauto.
Qed.

Lemma greedy_from_unique s open left steps l : greedy_from R A s open left steps l ->
  forall open' left' steps' l', as_open open open' -> as_much left left' ->
  greedy_from R A s open' left' steps' l' -> as_much l l'.
Proof.
  induction 1 as [open left|s open left steps o l more l2 Hs F G IH]; intros open' left' steps' l' Eo El G';
    inversion G' as [|? ? ? ? ? ? ? ? Hs' F' G2]; subst; auto; try lia.
  destruct (fills_unique _ _ _ _ _ _ _ F _ _ _ _ _ _ Eo El (Qeq_refl _) F') as [Eo' El'].
  eapply IH; eauto.
Qed.

Theorem greedy_earns_once g g' : greedy_earns R A g -> greedy_earns R A g' -> g == g'.
Proof.
  intros (steps & left & G & E) (steps' & left' & G' & E'). rewrite E, E'. apply sum_ext. intros j Hj.
  assert (L : as_much left left') by (eapply greedy_from_unique; [exact G| | |exact G']; intros ? _; reflexivity).
  rewrite (L j Hj). reflexivity.
Qed.
End On.
Print Assumptions greedy_earns_once.
