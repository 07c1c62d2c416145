(** Defines the named shares and the bottleneck axioms, and proves that the max-min axiom means what its name says. *)
From Coq Require Import QArith Qreduction Qfield Arith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Arithmetic Checker Repair Soundness Bundle Prices MaxMin.
Open Scope Q_scope.

(** * Programs *)
Section Programs.
Variable P : problem.
Variable T : tables.
Notation N := (users P). Notation K := (classes P). Notation M := (resources P).

Definition rtotal (r : nat) : Q := rsum K (fun i => mul (count P i) (capacity P i r)).
(** [totals] is a table of [rtotal]. *)
Variable totals : nat -> Q.
Definition check_totals : bool := all M (fun r => eqq (totals r) (rtotal r)).
(** The worth of a task, which the reader computes by this function. For all shares but [Generic] and [Resource], it is
    the same on all classes. *)
Definition worth_at (s : named) (n i : nat) : Q :=
  match s with
  | Drfh => greatest M (fun r => quo (base P n r) (totals r))
  | Cdrf => quo 1 (rsum K (gamma P n))
  | Tsf => quo 1 (rsum K (alone P n))
  | Asset => rsum M (fun r => quo (base P n r) (totals r))
  | Generic => match criterion P n i with Some u => u | None => 0 end
  | Resource r => quo (demand P n i r) (totals r)
  end.
Definition same_on (f : nat -> Q) (v : Q) : bool := all K (fun i => eqq (f i) v).
Definition check_worth (s : named) (u : nat -> nat -> Q) : bool :=
  check_totals && all N (fun n =>
    match s with
    | Generic | Resource _ => all K (fun i => eqq (u n i) (worth_at s n i))
    | _ => same_on (u n) (worth_at s n 0)
    end) &&
  match s with Resource r => Nat.ltb r M | _ => true end.
Definition check_defined (s : named) (u : nat -> nat -> Q) : bool :=
  match s with
  | Resource r => lt 0 (totals r)
  | Cdrf => all N (fun n => all K (fun i => allowed P n i))
  | _ => all N (fun n => if is_active T n then all K (fun i => if runs_on T n i then lt 0 (u n i) else true) else true)
  end.

Definition dominates_all (d c : nat -> Q) (r : nat) : bool :=
  lt 0 (d r) && lt 0 (c r) && all M (fun h => if lt 0 (c h) then le (quo (d h) (c h)) (quo (d r) (c r)) else true).
Definition bottleneck_at (k : bottleneck) (r : nat) : bool :=
  lt 0 (totals r) &&
  all N (fun n => all K (fun i => match stated P n i with None => true | Some _ => false end)) &&
  match k with
  | OnEveryClass => all N (fun n => if is_active T n then all K (fun i =>
      if runs_on T n i then dominates_all (demand P n i) (capacity P i) r else true) else true)
  | OfTheCluster => all N (fun n => if is_active T n then dominates_all (base P n) totals r else true)
  | Single => Nat.eqb M 1
  end.
Variable B : scope.
Definition check_bottlenecks (k : bottleneck) (m : Q) (proofs : nat -> alone_proof * list level) : bool :=
  check_totals && any M (bottleneck_at k) &&
  all M (fun r => if bottleneck_at k r
    then check_worth (Resource r) (u (fst (proofs r))) && check_levels P T B (fst (proofs r)) m (snd (proofs r))
    else true).
Definition check_fallen (k : bottleneck) (m : Q) (r : nat) (A : alone_proof) (n : nat) (y : allocation) : bool :=
  bottleneck_at k r && check_worth (Resource r) (u A) && check_rise P T B A m n y.
Definition check_no_bottleneck (k : bottleneck) : bool := check_totals && negb (any M (bottleneck_at k)).
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
Variable totals : nat -> Q.
Hypothesis TO : check_totals P totals = true.

Lemma totals_is r : (r < M)%nat -> totals r == total P r.
Proof.
  intros Hr. unfold check_totals in TO. rewrite all_iff in TO. specialize (TO r Hr). bools.
  rewrite TO. unfold rtotal, total. rewrite rsum_eq. apply sum_ext. intros. apply mul_eq.
Qed.
Lemma worth_at_eq s n i : match s with Resource r => (r < M)%nat | _ => True end ->
  worth_at P totals s n i == worth P s n i.
Proof.
  intros H. destruct s; simpl; try reflexivity.
  - apply greatest_ext. intros. rewrite quo_eq, totals_is by auto. reflexivity.
  - rewrite quo_eq, rsum_eq. unfold Qdiv. ring.
  - rewrite quo_eq, rsum_eq. unfold Qdiv. ring.
  - rewrite rsum_eq. apply sum_ext. intros. rewrite quo_eq, totals_is by auto. reflexivity.
  - rewrite quo_eq, totals_is by auto. reflexivity.
Qed.
Lemma check_worth_sound s u : check_worth P totals s u = true ->
  (forall n i, (n < N)%nat -> (i < K)%nat -> u n i == worth P s n i) /\
  match s with Resource r => (r < M)%nat | _ => True end.
Proof.
  unfold check_worth. intros H. apply andb_true_iff in H. destruct H as [H B]. apply andb_true_iff in H.
  destruct H as [_ H]. bools.
  assert (Hr : match s with Resource r => (r < M)%nat | _ => True end) by (destruct s; auto; apply Nat.ltb_lt; auto).
  split; auto. intros n i Hn Hi. rewrite <- worth_at_eq by auto. specialize (H n Hn).
  destruct s; unfold same_on in H; bools; specialize (H i Hi); bools; rewrite H; reflexivity.
Qed.

Lemma share_worth u v y n : (forall i, (i < K)%nat -> u n i == v n i) -> share P u y n == share P v y n.
Proof.
  intros E. unfold share. rewrite (sum_ext K _ (fun i => v n i * y n i)); [reflexivity|].
  intros. rewrite E by auto. reflexivity.
Qed.
Lemma is_most_ext u v n b : (forall i, (i < K)%nat -> u n i == v n i) -> is_most P u n b -> is_most P v n b.
Proof.
  intros E [A (z & B & C & D)].
  assert (S : forall w : nat -> Q, sum K (fun i => u n i * w i) == sum K (fun i => v n i * w i)).
  { intros. apply sum_ext. intros. rewrite E by auto. reflexivity. }
  split.
  - intros w Hw L. rewrite <- S. apply A; auto.
  - exists z. repeat split; auto; try apply B. rewrite <- S. auto.
Qed.
Lemma max_min_ext possible u v eps : (forall n i, (n < N)%nat -> (i < K)%nat -> u n i == v n i) ->
  max_min_among P possible u eps x -> max_min_among P possible v eps x.
Proof.
  intros E O n y L b U Y Mn Mp HL HK. assert (Hn : (n < N)%nat) by apply U.
  rewrite <- (share_worth u v) by auto. apply (O n y L b); auto.
  - apply (is_most_ext v u); auto. intros. symmetry. auto.
  - rewrite (share_worth u v) by auto. auto.
  - intros k Uk Ne. specialize (HK k Uk Ne). assert (Hk : (k < N)%nat) by apply Uk.
    rewrite (share_worth u v y k) by auto.
    rewrite (smaller_ext (share P u x k) L (share P v x k) L); auto; [apply share_worth; auto|reflexivity].
Qed.

Theorem check_defined_sound s u : check_worth P totals s u = true -> check_defined P T totals s u = true -> defined P s.
Proof.
  intros C H. destruct (check_worth_sound s u C) as [E Hr]. unfold check_defined in H. unfold defined.
  destruct s; bools.
  1,3,4,5: intros n i U Hi G; rewrite <- E by (auto; apply U);
    destruct (user_is P stated_x T placed R n U) as [Hn An]; specialize (H n Hn); rewrite An in H; bools;
    specialize (H i Hi); rewrite (runs_on_eq P stated_x T placed R) in H by auto; apply lt_iff in G;
    rewrite G in H; bools; auto.
  - intros n i Hn Hi. specialize (H n Hn). bools. auto.
  - split; auto. rewrite <- totals_is; auto.
Qed.
(** If a share is not defined, the checker detects this. *)
Theorem check_undefined_sound s u : check_worth P totals s u = true -> check_defined P T totals s u = false -> ~ defined P s.
Proof.
  intros C H D. rewrite <- not_true_iff_false in H. apply H. destruct (check_worth_sound s u C) as [E Hr].
  unfold check_defined. unfold defined in D.
  destruct s.
  1,3,4,5: apply all_iff; intros n Hn; destruct (is_active T n) eqn:An; auto; apply all_iff; intros i Hi;
    destruct (runs_on T n i) eqn:G; auto; apply lt_iff; rewrite E by auto;
    rewrite (runs_on_eq P stated_x T placed R) in G by auto; apply lt_iff in G;
    apply D; auto; eapply is_user; eauto.
  - apply all_iff. intros n Hn. apply all_iff. intros i Hi. auto.
  - apply lt_iff. rewrite totals_is by auto. apply D.
Qed.

Lemma dominates_iff d c c' r : (forall h, (h < M)%nat -> c h == c' h) -> (r < M)%nat ->
  dominates_all P d c r = true <-> dominates P d c' r.
Proof.
  intros E Hr. unfold dominates_all, dominates. split.
  - intros H. bools. rewrite <- E by auto. repeat split; auto. intros h Hh C. specialize (H0 h Hh).
    rewrite <- E in C by auto. apply lt_iff in C. rewrite C in H0. bools. rewrite !quo_eq, !E in H0 by auto. auto.
  - intros (A & B & C). rewrite !andb_true_iff. repeat split.
    + apply lt_iff; auto.
    + apply lt_iff. rewrite E by auto. auto.
    + apply all_iff. intros h Hh. destruct (lt 0 (c h)) eqn:D; auto. bools. apply le_iff.
      rewrite !quo_eq, !E by auto. apply C; auto. rewrite <- E by auto. auto.
Qed.
Theorem bottleneck_at_iff k r : (r < M)%nat -> bottleneck_at P T totals k r = true <-> is_bottleneck P k r.
Proof.
  intros Hr. unfold bottleneck_at, is_bottleneck.
  rewrite !andb_true_iff, lt_iff, totals_is by auto.
  assert (S : all N (fun n => all K (fun i => match stated P n i with None => true | Some _ => false end)) = true <->
    forall n i, (n < N)%nat -> (i < K)%nat -> stated P n i = None).
  { rewrite all_iff. split.
    - intros H n i Hn Hi. specialize (H n Hn). rewrite all_iff in H. specialize (H i Hi). destruct (stated P n i); congruence.
    - intros H n Hn. apply all_iff. intros i Hi. rewrite H; auto. }
  rewrite S.
  assert (B : match k with
    | OnEveryClass => all N (fun n => if is_active T n then all K (fun i =>
        if runs_on T n i then dominates_all P (demand P n i) (capacity P i) r else true) else true)
    | OfTheCluster => all N (fun n => if is_active T n then dominates_all P (base P n) totals r else true)
    | Single => Nat.eqb M 1 end = true <->
    match k with
    | OnEveryClass => forall n i, user P n -> (i < K)%nat -> 0 < gamma P n i -> dominates P (demand P n i) (capacity P i) r
    | OfTheCluster => forall n, user P n -> dominates P (base P n) (total P) r
    | Single => M = 1%nat end).
  { destruct k.
    - rewrite all_iff. split.
      + intros H n i U Hi G. destruct (user_is P stated_x T placed R n U) as [Hn An]. specialize (H n Hn).
        rewrite An in H. rewrite all_iff in H. specialize (H i Hi). rewrite (runs_on_eq P stated_x T placed R) in H by auto.
        apply lt_iff in G. rewrite G in H. eapply dominates_iff; eauto. reflexivity.
      + intros H n Hn. destruct (is_active T n) eqn:An; auto. apply all_iff. intros i Hi.
        destruct (runs_on T n i) eqn:G; auto. rewrite (runs_on_eq P stated_x T placed R) in G by auto. apply lt_iff in G.
        apply (dominates_iff _ _ (capacity P i)); auto; [reflexivity|]. apply H; auto. eapply is_user; eauto.
    - rewrite all_iff. split.
      + intros H n U. destruct (user_is P stated_x T placed R n U) as [Hn An]. specialize (H n Hn).
        rewrite An in H. apply (dominates_iff _ totals); auto. apply totals_is.
      + intros H n Hn. destruct (is_active T n) eqn:An; auto.
        apply (dominates_iff _ totals (total P)); auto; [apply totals_is|]. apply H. eapply is_user; eauto.
    - apply Nat.eqb_eq. }
  rewrite B. split; [intros [[? ?] ?]|intros (? & ? & ? & ?)]; auto.
Qed.

Variable possible : allocation -> Prop.
Variable B : scope.
Hypothesis RB : right_scope P possible B.
Theorem check_bottlenecks_sound k m proofs : check_bottlenecks P T totals B k m proofs = true ->
  (exists r, is_bottleneck P k r) /\ bottleneck_fair_among P possible k (- m) x.
Proof.
  unfold check_bottlenecks. intros H. apply andb_true_iff in H. destruct H as [H H0]. apply andb_true_iff in H.
  destruct H as [_ H]. bools. split.
  - apply any_iff in H. destruct H as (r & Hr & H). exists r. apply bottleneck_at_iff; auto.
  - intros r Br. assert (Hr : (r < M)%nat) by apply Br. specialize (H0 r Hr).
    apply bottleneck_at_iff in Br; auto. rewrite Br in H0. apply andb_true_iff in H0.
    destruct H0 as [H0 H1]. destruct (check_worth_sound _ _ H0) as [E _].
    assert (SH : check_shares P T (fst (proofs r)) = true) by (unfold check_levels in H1; bools; auto).
    apply (max_min_ext _ (u (fst (proofs r)))); auto.
    apply (check_levels_sound P W T stated_x placed R F possible B RB _ SH m (snd (proofs r))). auto.
Qed.
Theorem check_fallen_sound k m r A n y : check_fallen P T totals B k m r A n y = true ->
  forall eps, bottleneck_fair_among P possible k eps x -> - m <= eps.
Proof.
  unfold check_fallen. intros H eps O. bools. destruct (check_worth_sound _ _ H1) as [E Hr].
  apply bottleneck_at_iff in H; auto. specialize (O r H).
  apply (check_rise_sound P W T stated_x placed R possible B RB A m n y H0 eps).
  apply (max_min_ext _ (worth P (Resource r))); auto. intros. symmetry. auto.
Qed.
Theorem check_no_bottleneck_sound k : check_no_bottleneck P T totals k = true -> forall r, ~ is_bottleneck P k r.
Proof.
  unfold check_no_bottleneck. intros H r Br. bools. apply negb_true_iff in H0. rewrite <- not_true_iff_false in H0.
  apply H0. apply any_iff. exists r. assert (Hr : (r < M)%nat) by apply Br. split; auto. apply bottleneck_at_iff; auto.
Qed.
End Sound.
