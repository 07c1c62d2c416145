(** Replays greedy, and proves that the stated steps are the steps that greedy takes. *)
From Coq Require Import QArith Qround Qreduction Qfield Arith ZArith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Checker Soundness Reservation ReservationTree ReservationOptimum ReservationRun.
Import ListNotations.
Open Scope Q_scope.

(** The proof that a configuration is the first one of the open types. It has two trees. The first tree proves that no
    configuration is worth more. It is about all types, and closed types are worth nothing. The second tree is about
    configurations of the same worth. It proves that none of them has more jobs of the first type in which they differ.
    If configurations are listed, all of them are compared instead. *)
Inductive first_proof := Trees (g : nat -> Q) (unit : Q) (by_value by_order : tree) | First_listed.

(** Compares [most] and k in n types from j on. In the first type in which they differ, [most] is less than k, or they
    do not differ. *)
Fixpoint not_greater (n j : nat) (most : nat -> option Z) (k : configuration) : bool :=
  match n with
  | O => true
  | S n => match most j with
           | Some a => if Z.ltb a (k j) then true else Z.eqb a (k j) && not_greater n (S j) most k
           | None => false end
  end.
(** In the first of these types in which they differ, k is greater than k'. *)
Fixpoint greater (n j : nat) (k k' : configuration) : bool :=
  match n with
  | O => false
  | S n => if Z.ltb (k' j) (k j) then true else Z.eqb (k j) (k' j) && greater n (S j) k k'
  end.

Lemma not_greater_sound n : forall j most k k' i, not_greater n j most k = true ->
  (forall h a, (j <= h < j + n)%nat -> most h = Some a -> (k' h <= a)%Z) ->
  (j <= i < j + n)%nat -> (k i < k' i)%Z -> (forall h, (h < i)%nat -> k' h = k h) -> False.
Proof.
  induction n; intros j most k k' i H B I L E; [lia|]. simpl in H.
  destruct (most j) as [a|] eqn:F; [|discriminate]. specialize (B j a) as Bj.
  assert (Kj : (k' j <= a)%Z) by (apply Bj; auto; lia).
  destruct (Nat.eq_dec j i) as [->|N].
  - destruct (Z.ltb_spec a (k i)); [lia|]. apply andb_true_iff in H. destruct H as [H _]. apply Z.eqb_eq in H. lia.
  - assert (k' j = k j) by (apply E; lia). destruct (Z.ltb_spec a (k j)); [lia|].
    apply andb_true_iff in H. destruct H as [_ H]. apply (IHn (S j) most k k' i); auto; [|lia].
    intros h b Hh. apply B. lia.
Qed.

(** If a configuration is greater than k, it stays greater with more jobs. *)
Lemma greater_more n : forall j c k k' i, (forall h, (j <= h < j + n)%nat -> (k' h <= c h)%Z) ->
  (j <= i < j + n)%nat -> (k i < k' i)%Z -> (forall h, (h < i)%nat -> k' h = k h) -> greater n j c k = true.
Proof.
  induction n; intros j c k k' i B I L E; [lia|]. simpl.
  specialize (B j) as Bj. assert (Kj : (k' j <= c j)%Z) by (apply Bj; lia).
  destruct (Z.ltb_spec (k j) (c j)); auto. destruct (Nat.eq_dec j i) as [->|N]; [lia|].
  assert (k' j = k j) by (apply E; lia). apply andb_true_iff. split; [apply Z.eqb_eq; lia|].
  apply (IHn (S j) c k k' i); auto; [|lia]. intros h Hh. apply B. lia.
Qed.

Section On.
Variable R : reservation.
Notation J := (types R). Notation M := (rows R).

Definition cut (open : nat -> bool) (k : configuration) : configuration := fun j => if open j then k j else 0%Z.

Definition check_first (s : nat) (open : nat -> bool) (k : configuration) (p : first_proof) : bool :=
  check_fits R s k && all J (fun j => open j || Z.eqb (k j) 0) &&
  let beta := memo J (fun j => if open j then reward R j else 0) in
  let own := rworth R beta k in
  match p with
  | Trees g unit by_value by_order =>
      lt 0 unit && all J (fun j => multiple unit (beta j)) &&
      (let most := down unit own in
       walk_all R g s (fun _ => true) beta (fun v _ => Z.leb (down unit v) most) by_value) &&
      walk_all R g s open beta (fun v most => lt v own || not_greater J 0 most k) by_order
  | First_listed =>
      all J (fun j => le 0 (reward R j)) &&
      match listed R with
      | Some l => forallb (fun c => let c := cut open c in let v := rworth R beta c in
          if lt v own then true else eqq v own && negb (greater J 0 c k)) l
      | None => false
      end
  end.

Lemma worth_open (open : nat -> bool) k : uses R open k ->
  worth R (memo J (fun j => if open j then reward R j else 0)) k == worth R (reward R) k.
Proof.
  intros U. apply sum_ext. intros j Hj. rewrite memo_eq. destruct (open j) eqn:O; [reflexivity|].
  rewrite (U j Hj O). change (inject_Z 0) with 0. ring.
Qed.

Theorem check_first_sound s open k p : check_first s open k p = true -> first R s open k.
Proof.
  unfold check_first. intros H. apply andb_true_iff in H. destruct H as [H P]. bools.
  assert (U : uses R open k).
  { intros j Hj O. specialize (H0 j Hj). rewrite O in H0. apply Z.eqb_eq. exact H0. }
  constructor; [apply check_fits_iff; auto|exact U|]. intros k' F' U' B. cbv zeta in P.
  set (beta := memo J (fun j => if open j then reward R j else 0)) in *.
  assert (Own : rworth R beta k == worth R (reward R) k) by (rewrite rworth_eq; apply worth_open; auto).
  assert (Own' : worth R beta k' == worth R (reward R) k') by (apply worth_open; auto).
  destruct p as [g unit by_value by_order|].
  - apply andb_true_iff in P. destruct P as [P P2]. apply andb_true_iff in P. destruct P as [P P1]. bools.
    destruct (walk_all_sound _ _ _ _ _ _ _ P1 k' F') as (v & a & Acc & L & _).
    { intros j _ E. discriminate. }
    apply Z.leb_le in Acc.
    assert (V : worth R beta k' <= rworth R beta k) by (eapply multiple_le; eauto).
    destruct B as [B|[B (i & Hi & G & E)]]; [lra|].
    destruct (walk_all_sound _ _ _ _ _ _ _ P2 k' F' U') as (v2 & a2 & Acc2 & L2 & Most).
    apply orb_true_iff in Acc2. destruct Acc2 as [Acc2|Acc2]; [bools; lra|].
    apply (not_greater_sound J 0 a2 k k' i); auto; [|lia]. intros h b Hh. apply Most. lia.
  - bools. destruct F' as [K' F']. destruct (listed R) as [l|]; [|discriminate]. destruct F' as (c & I & C).
    rewrite forallb_forall in H2. specialize (H2 c I).
    assert (L : forall j, (j < J)%nat -> (k' j <= cut open c j)%Z).
    { intros j Hj. unfold cut. destruct (open j) eqn:O; [auto|]. rewrite (U' j Hj O). lia. }
    assert (V : worth R beta k' <= rworth R beta (cut open c)).
    { rewrite rworth_eq. apply sum_le. intros j Hj. apply prod_le_l; [rewrite <- Zle_Qle; auto|].
      unfold beta. rewrite memo_eq. destruct (open j); [|lra]. specialize (H1 j Hj). bools. auto. }
    destruct (lt (rworth R beta (cut open c)) (rworth R beta k)) eqn:Lt.
    { bools. destruct B as [B|[B _]]; lra. }
    apply andb_true_iff in H2. destruct H2 as [Eq N]. bools.
    destruct B as [B|[B (i & Hi & G & E)]]; [lra|].
    apply negb_true_iff in N. rewrite (greater_more J 0 (cut open c) k k' i) in N; auto; try lia.
    intros h Hh. apply L. lia.
Qed.

(** * The replay *)
Variable A : amount.

Record stated := { stated_step : step; why : first_proof }.

Definition check_out (left : nat -> Q) (k : configuration) (t : Q) (j : nat) : bool :=
  Z.ltb 0 (k j) && le (left j) (mul t (inject_Z (k j))).
Lemma check_out_iff left k t j : (j < J)%nat -> check_out left k t j = true <-> runs_out R left k t j.
Proof.
  intros Hj. unfold check_out, runs_out. rewrite andb_true_iff, le_iff, Z.ltb_lt, mul_eq. tauto.
Qed.

(** t is the smallest number of servers after which no job of some type is left, and j is the lowest such type. *)
Definition check_exhausts (left : nat -> Q) (k : configuration) (n t : Q) (j : nat) : bool :=
  Nat.ltb j J && check_possible A t && le 0 t && le t n && check_out left k t j &&
  all J (fun h => if Nat.ltb h j then negb (check_out left k t h) else true) &&
  all J (fun h => if Z.ltb 0 (k h)
    then if whole A then lt (mul (add t (- (1))) (inject_Z (k h))) (left h) else le (mul t (inject_Z (k h))) (left h)
    else true).

Lemma check_exhausts_sound left k n t j : check_exhausts left k n t j = true ->
  possible A t /\ 0 <= t /\ t <= n /\ runs_out R left k t j /\
  (forall h, (h < j)%nat -> ~ runs_out R left k t h) /\
  (forall t' h, possible A t' -> t' < t -> ~ runs_out R left k t' h).
Proof.
  unfold check_exhausts. intros H. bools. apply Nat.ltb_lt in H.
  repeat split; auto.
  - apply check_possible_sound. auto.
  - apply check_out_iff in H2; auto. apply H2.
  - apply check_out_iff in H2; auto. apply H2.
  - intros h Hh B. assert (Hh' : (h < J)%nat) by lia. specialize (H1 h Hh').
    destruct (Nat.ltb_spec h j); [|lia]. apply (check_out_iff left k t h Hh') in B. rewrite B in H1. discriminate.
  - intros t' h P L (Hh & K & O). specialize (H0 h Hh). destruct (Z.ltb_spec 0 (k h)); [|lia].
    assert (K' : 0 < inject_Z (k h)) by (change 0 with (inject_Z 0); rewrite <- Zlt_Qlt; auto).
    destruct (whole A) eqn:Wh; bools; rewrite mul_eq in H0.
    + rewrite add_eq in H0. apply check_possible_sound in H5.
      unfold possible in P, H5. rewrite Wh in P, H5. destruct P as (z & E), H5 as (y & F).
      assert (Z : (z <= y - 1)%Z).
      { assert (z < y)%Z; [|lia]. rewrite Zlt_Qlt, <- E, <- F. auto. }
      rewrite Zle_Qle in Z. unfold Z.sub in Z. rewrite inject_Z_plus, inject_Z_opp, <- E, <- F in Z.
      change (inject_Z 1) with 1 in Z.
      assert (t' * inject_Z (k h) <= (t + - (1)) * inject_Z (k h)) by (apply prod_le; lra). lra.
    + assert (t' * inject_Z (k h) < t * inject_Z (k h)) by (apply Qmult_lt_compat_r; auto). lra.
Qed.

Definition some_fits (s : nat) (open : nat -> bool) : bool :=
  any J (fun j => if open j then check_fits R s (single j) else false).

Fixpoint replay_pool (s : nat) (steps : list stated) (open : nat -> bool) (left : nat -> Q) (n : Q)
    : option (list stated * (nat -> bool) * (nat -> Q)) :=
  if le n 0 then Some (steps, open, left)
  else if negb (some_fits s open) then Some (steps, open, left)
  else match steps with
  | [] => None
  | st :: more =>
      let k := takes (stated_step st) in let t := given (stated_step st) in
      if Nat.eqb (at_pool (stated_step st)) s && check_first s open k (why st)
      then match exhausted (stated_step st) with
           | Some j =>
               if check_exhausts left k n t j
               then replay_pool s more (memo J (close open j)) (memo J (fun h => Qred (after left k t h))) (add n (- t))
               else None
           | None =>
               if eqq t n && any J (fun j => Z.ltb 0 (k j)) && all J (fun h => negb (check_out left k n h))
               then Some (more, open, memo J (fun h => Qred (after left k n h)))
               else None
           end
      else None
  end.

Lemma replay_pool_sound s steps : forall open left n rest o l,
  replay_pool s steps open left n = Some (rest, o, l) ->
  exists run o' l', fills R A s open left n run o' l' /\ as_open R o' o /\ as_much R l' l.
Proof.
  assert (Done : forall open left n, fills R A s open left n [] open left ->
    exists run o' l', fills R A s open left n run o' l' /\ as_open R o' open /\ as_much R l' left).
  { intros open left n F. exists [], open, left. split; [exact F|]. split; intros j _; reflexivity. }
  assert (No : forall open, negb (some_fits s open) = true ->
    forall j, (j < J)%nat -> open j = true -> ~ fits R s (single j)).
  { intros open U j Hj O F. apply negb_true_iff in U. assert (X : some_fits s open = true); [|congruence].
    apply any_iff. exists j. rewrite O. split; [exact Hj|]. apply check_fits_iff. exact F. }
  assert (Reduced : forall left k t, as_much R (after left k t) (memo J (fun h => Qred (after left k t h)))).
  { intros left k t j _. rewrite memo_eq, Qred_correct. reflexivity. }
  induction steps as [|st more IH]; intros open left n rest o l H; simpl in H.
  - destruct (le n 0) eqn:N; [inversion H; subst; apply Done, full; bools; auto|].
    destruct (negb (some_fits s open)) eqn:U; [|discriminate]. inversion H; subst. apply Done, useless.
    apply No. auto.
  - destruct (le n 0) eqn:N; [inversion H; subst; apply Done, full; bools; auto|].
    destruct (negb (some_fits s open)) eqn:U.
    { inversion H; subst. apply Done, useless. apply No. auto. }
    assert (N' : 0 < n) by (apply Qnot_le_lt; intros B; apply le_iff in B; congruence).
    destruct (Nat.eqb _ s && _) eqn:F; [|discriminate]. bools. apply check_first_sound in H1.
    destruct (exhausted (stated_step st)) as [j|].
    + destruct (check_exhausts _ _ _ _ _) eqn:E; [|discriminate].
      destruct (check_exhausts_sound _ _ _ _ _ E) as (Po & T & Tn & Out & Low & Least).
      destruct (IH _ _ _ _ _ _ H) as (run & o' & l' & G & Eo & El).
      destruct (fills_as R A _ _ _ _ _ _ _ G (close open j) (after left (takes (stated_step st)) (given (stated_step st)))
        (n - given (stated_step st))) as (run' & o2 & l2 & G2 & Eo2 & El2).
      * intros h _. apply memo_eq.
      * apply as_much_sym, Reduced.
      * rewrite add_eq. reflexivity.
      * exists ({| at_pool := s; takes := takes (stated_step st); given := given (stated_step st);
          exhausted := Some j |} :: run'), o2, l2.
        split; [apply exhausts; auto|]. split.
        -- intros h Hh. rewrite <- (Eo2 h Hh). auto.
        -- intros h Hh. rewrite <- (El2 h Hh). auto.
    + destruct (_ && all J _) eqn:E; [|discriminate]. inversion H; subst.
      apply andb_true_iff in E. destruct E as [E None_out]. apply andb_true_iff in E. destruct E as [_ Some_].
      rewrite all_iff in None_out.
      apply any_iff in Some_. destruct Some_ as (j & Hj & K). apply Z.ltb_lt in K.
      eexists. exists o, (after left (takes (stated_step st)) n). split; [apply ends; auto|].
      * exists j. auto.
      * intros h B. assert (Hh : (h < J)%nat) by apply B. specialize (None_out h Hh).
        apply (check_out_iff left (takes (stated_step st)) n h Hh) in B. rewrite B in None_out. discriminate.
      * split; [intros h _; reflexivity|apply Reduced].
Qed.

(** The replay on [todo] pools, from pool s on *)
Fixpoint replay (todo s : nat) (steps : list stated) (open : nat -> bool) (left : nat -> Q) : option (nat -> Q) :=
  match todo with
  | O => match steps with [] => Some left | _ => None end
  | S todo => match replay_pool s steps open left (portion A s) with
              | Some (rest, open, left) => replay todo (S s) rest open left
              | None => None end
  end.

Lemma replay_sound todo : forall s steps open left l, (s + todo)%nat = pools R ->
  replay todo s steps open left = Some l ->
  exists run l', greedy_from R A s open left run l' /\ as_much R l' l.
Proof.
  induction todo; intros s steps open left l E H; simpl in H.
  - destruct steps; [|discriminate]. inversion H; subst. exists [], l. split; [|intros j _; reflexivity].
    replace s with (pools R) by lia. apply no_more.
  - destruct (replay_pool s steps open left (portion A s)) as [[[rest o] l1]|] eqn:F; [|discriminate].
    destruct (replay_pool_sound _ _ _ _ _ _ _ _ F) as (run & o' & l' & G & Eo & El).
    destruct (IHtodo (S s) rest o l1 l ltac:(lia) H) as (more & l2 & G2 & El2).
    destruct (greedy_from_as R A _ _ _ _ _ G2 o' l' (as_open_sym _ _ _ Eo) (as_much_sym _ _ _ El))
      as (more' & l3 & G3 & El3).
    exists (run ++ more'), l3. split.
    + eapply next; eauto. lia.
    + intros j Hj. rewrite <- (El3 j Hj). auto.
Qed.

Definition check_greedy (steps : list stated) (g : Q) : bool :=
  match replay (pools R) 0 steps (fun _ => true) (jobs A) with
  | Some left => eqq g (rearns R (fun j => add (jobs A j) (- left j)))
  | None => false
  end.

Theorem check_greedy_sound steps g : check_greedy steps g = true -> greedy_earns R A g.
Proof.
  unfold check_greedy. intros H. destruct (replay _ _ _ _ _) as [l|] eqn:E; [|discriminate]. bools.
  destruct (replay_sound (pools R) 0 _ _ _ _ eq_refl E) as (run & left & G & El).
  exists run, left. split; auto. rewrite H, rearns_eq. apply sum_ext. intros j Hj.
  rewrite add_eq, (El j Hj). ring.
Qed.
End On.
Print Assumptions check_greedy_sound.
