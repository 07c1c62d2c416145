(** Decides worst-load certificates. They claim that greedy earns at least a fraction of the optimum under any load. *)
From Coq Require Import QArith Qround Qreduction Qfield Arith ZArith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Checker Soundness Reservation ReservationTree ReservationOptimum ReservationRun
  ReservationGreedy ReservationRatio TheoremC TheoremCPools.
Import ListNotations.
Open Scope Q_scope.

(** The prices of one claim. The claim is about all loads under which types run out in one order. *)
Record claim_prices := { c_load : nat -> Q; c_slot : nat -> Q; c_server : Q; c_proof : pricing }.
(** [Whatever]: the prices prove the claim for every order that starts like this. [Next]: the tree continues with the
    type that runs out next. *)
Inductive claim :=
| Nothing
| Whatever (p : claim_prices)
| Next (p : claim_prices) (by_type : nat -> claim).
(** The first configuration of a set of open types, with its proof *)
Record first_of := { f_open : nat -> bool; f_takes : configuration; f_why : first_proof }.

Section On.
Variable R : reservation.
Notation J := (types R).
Variable part : Q.
Variable firsts : list first_of.

Definition same_open (a b : nat -> bool) : bool := all J (fun j => Bool.eqb (a j) (b j)).
Definition first_for (open : nat -> bool) : option configuration :=
  option_map f_takes (find (fun f => same_open (f_open f) open) firsts).
(** A number of jobs of type j that fit on a server alone *)
Variable most : nat -> Z.
Definition alone (j : nat) : configuration := fun h => if Nat.eqb h j then most j else 0%Z.

Definition check_prices_of (open : nat -> bool) (hist : list configuration) (p : claim_prices) : bool :=
  all J (fun j => le 0 (c_load p j) && le 0 (c_slot p j) &&
    le (mul part (reward R j)) (add (c_load p j) (c_slot p j)) && (if open j then eqq (c_load p j) 0 else true)) &&
  le 0 (c_server p) &&
  forallb (fun k => le (add (c_server p) (rworth R (c_load p) k)) (rworth R (reward R) k)) hist &&
  check_pricing R 0 (c_slot p) (c_server p) (c_proof p).

Definition some_open (open : nat -> bool) : bool := any J open.

(** [hist]: the first configurations so far, the latest one first *)
Fixpoint check_claim_of (open : nat -> bool) (hist : list configuration) (c : claim) : bool :=
  match c with
  | Nothing => false
  | Whatever p =>
      check_prices_of open hist p &&
      all J (fun j => if open j then le (c_server p) (mul (reward R j) (inject_Z (most j))) else true)
  | Next p by_type =>
      match first_for open with
      | Some k =>
          check_prices_of open hist p && le (c_server p) (rworth R (reward R) k) &&
          all J (fun j => if Z.ltb 0 (k j)
            then negb (some_open (close open j)) || check_claim_of (close open j) (k :: hist) (by_type j)
            else true)
      | None => false
      end
  end.

Definition check_firsts : bool :=
  forallb (fun f => check_first R 0 (f_open f) (f_takes f) (f_why f)) firsts &&
  all J (fun j => Z.ltb 0 (most j) && check_fits R 0 (alone j)).

Definition check_worst_load (c : claim) : bool :=
  check_reservation R && Nat.eqb (pools R) 1 && le part 1 && check_firsts &&
  (negb (some_open (fun _ => true)) || check_claim_of (fun _ => true) [] c).

(** * Soundness *)
Hypothesis W : well_formed R.
Hypothesis One : pools R = 1%nat.
Hypothesis P1 : part <= 1.
Hypothesis Firsts : check_firsts = true.

Lemma first_for_sound open k : first_for open = Some k -> first R 0 open k.
Proof.
  unfold first_for. intros E. destruct (find _ firsts) as [f|] eqn:F; [|discriminate]. injection E as <-.
  apply find_some in F. destruct F as [I S]. unfold check_firsts in Firsts. bools.
  rewrite forallb_forall in H. specialize (H f I). apply check_first_sound in H.
  apply (first_as_open R 0 (f_open f)); auto. unfold same_open in S. bools.
  intros j Hj. apply eqb_prop. auto.
Qed.
Lemma alone_fits j : (j < J)%nat -> (0 < most j)%Z /\ fits R 0 (alone j).
Proof.
  intros Hj. unfold check_firsts in Firsts. bools. specialize (H0 j Hj). bools. split.
  - apply Z.ltb_lt. auto.
  - apply check_fits_iff. auto.
Qed.
Lemma alone_worth b j : (j < J)%nat -> worth R b (alone j) == b j * inject_Z (most j).
Proof.
  intros Hj. unfold worth. rewrite (sum_ext J _ (fun h => if Nat.eqb j h then b h * inject_Z (most h) else 0)).
  - apply (ReservationOptimum.sum_single J (fun h => b h * inject_Z (most h)) j Hj).
  - intros h _. unfold alone. rewrite Nat.eqb_sym. destruct (Nat.eqb_spec j h); [subst; reflexivity|].
    change (inject_Z 0) with 0. ring.
Qed.

Variable rho : nat -> Q.
Hypothesis Rho : forall j, (j < J)%nat -> 0 <= rho j.
Notation L := (with_load R rho).
Notation A := (fluid L).

Lemma well_formed_load : well_formed L.
Proof. destruct W. constructor; auto. Qed.

Variables (X : assignment) (Y : nat -> Q).
Hypothesis V : serves L A X Y.

(** The state after some steps: servers, and their configurations *)
Fixpoint spent_servers (H : list (Q * configuration)) : Q := match H with [] => 0 | (t, _) :: H => t + spent_servers H end.
Fixpoint spent_on (j : nat) (H : list (Q * configuration)) : Q :=
  match H with [] => 0 | (t, k) :: H => t * inject_Z (k j) + spent_on j H end.
Fixpoint priced_at (b : nat -> Q) (H : list (Q * configuration)) : Q :=
  match H with [] => 0 | (t, k) :: H => t * worth R b k + priced_at b H end.

Lemma priced_sum b H : priced_at b H == sum J (fun j => b j * spent_on j H).
Proof.
  induction H as [|[t k] H IH]; simpl.
  - symmetry. apply sum_zero. intros. ring.
  - rewrite IH. unfold worth. rewrite <- sum_scale, <- sum_add. apply sum_ext. intros. ring.
Qed.

Record so_far (open : nat -> bool) (left : nat -> Q) (n : Q) (H : list (Q * configuration)) : Prop := {
  sf_way : on_the_way L open left;
  sf_time : spent_servers H + n == 1;
  sf_nonneg : Forall (fun s => 0 <= fst s) H;
  sf_jobs : forall j, (j < J)%nat -> rho j == left j + spent_on j H }.

Lemma gain_so_far open left n H : so_far open left n H -> gain L rho left == priced_at (reward R) H.
Proof.
  intros S. rewrite priced_sum. unfold gain, earns. apply sum_ext. intros j Hj. simpl.
  rewrite (sf_jobs _ _ _ _ S j Hj). ring.
Qed.

(** The prices of a claim give an upper bound on the reward of every plan. *)
Lemma claim_bounds open left n H p : so_far open left n H -> 0 <= n ->
  check_prices_of open (map snd H) p = true -> part * earns L Y <= gain L rho left + n * c_server p.
Proof.
  intros S N C. unfold check_prices_of in C. apply andb_true_iff in C. destruct C as [C Pr].
  apply andb_true_iff in C. destruct C as [C Hi]. apply andb_true_iff in C. destruct C as [C Sv].
  apply le_iff in Sv. rewrite all_iff in C.
  assert (C' : forall j, (j < J)%nat -> 0 <= c_load p j /\ 0 <= c_slot p j /\
    part * reward R j <= c_load p j + c_slot p j /\ (open j = true -> c_load p j == 0)).
  { intros j Hj. specialize (C j Hj). apply andb_true_iff in C. destruct C as [C Z].
    apply andb_true_iff in C. destruct C as [C D]. apply andb_true_iff in C. destruct C as [C0 C1].
    apply le_iff in C0, C1, D. rewrite mul_eq, add_eq in D. repeat split; auto.
    intros O. rewrite O in Z. apply eqq_iff. auto. }
  (* The bound of the prices for another problem, in which each reward is multiplied by [part] *)
  set (Rp := {| types := J; rows := rows R; pools := pools R; size := size R; room := room R; listed := listed R;
    reward := fun j => part * reward R j; load := rho; servers := servers R |}).
  assert (Vp : serves Rp (fluid Rp) X Y).
  { destruct V as [a b c d e]. constructor; auto. }
  assert (B : no_plan_earns_more_than Rp (fluid Rp) (total_price Rp (fluid Rp) (c_load p) (fun _ => c_server p))).
  { apply (check_prices_sound Rp (fluid Rp) (c_load p) (c_slot p) (fun _ => c_server p) (fun _ => c_proof p)).
    unfold check_prices. apply andb_true_iff. split; apply all_iff.
    - intros j Hj. destruct (C' j Hj) as (a & b & c & _). rewrite !andb_true_iff, !le_iff, add_eq. simpl. auto.
    - intros s Hs. simpl in Hs. rewrite One in Hs. replace s with O by lia. apply andb_true_iff. split; [apply le_iff; auto|].
      exact Pr. }
  specialize (B X Y Vp). unfold total_price in B. rewrite add_eq, !rsum_eq, !(sum_ext _ _ _ (fun j _ => mul_eq _ _)) in B.
  assert (E : earns Rp Y == part * earns L Y).
  { unfold earns. simpl. rewrite <- sum_scale. apply sum_ext. intros. ring. }
  assert (Srv : sum (pools Rp) (fun s => c_server p * portion (fluid Rp) s) == c_server p).
  { simpl. rewrite One. simpl. unfold all_servers. simpl. rewrite One. simpl.
    pose proof (servers_pos R W 0) as P. rewrite One in P. specialize (P ltac:(lia)). field. lra. }
  assert (Ld : sum (types Rp) (fun j => c_load p j * jobs (fluid Rp) j) == priced_at (c_load p) H).
  { rewrite priced_sum. simpl. apply sum_ext. intros j Hj. rewrite (sf_jobs _ _ _ _ S j Hj).
    destruct (open j) eqn:O.
    - destruct (C' j Hj) as (_ & _ & _ & Z). rewrite (Z O). ring.
    - rewrite (w_closed _ _ _ (sf_way _ _ _ _ S) j Hj O). ring. }
  rewrite E, Srv, Ld in B. rewrite (gain_so_far _ _ _ _ S).
  assert (Hist : priced_at (c_load p) H + spent_servers H * c_server p <= priced_at (reward R) H).
  { pose proof (sf_nonneg _ _ _ _ S) as Nn. clear - Hi Nn. induction H as [|[t k] H IH]; simpl; [lra|].
    simpl in Hi. apply andb_true_iff in Hi. destruct Hi as [Hk Hi]. apply le_iff in Hk.
    rewrite add_eq, !rworth_eq in Hk. inversion Nn. simpl in *. specialize (IH Hi H3).
    pose proof (prod_le_l _ _ t Hk H2). lra. }
  pose proof (sf_time _ _ _ _ S) as T.
  assert (Sp : spent_servers H * c_server p + n * c_server p == c_server p).
  { setoid_replace (c_server p) with ((spent_servers H + n) * c_server p) at 3; [ring|]. rewrite T. ring. }
  lra.
Qed.

Lemma all_served l : (forall j, (j < J)%nat -> l j == 0) -> part * earns L Y <= gain L rho l.
Proof.
  intros Z. assert (E : earns L Y <= gain L rho l).
  { unfold gain, earns. apply sum_le. intros j Hj. apply prod_le_l; [|apply (reward_nonneg R W); auto].
    destruct (s_served L A X Y V j Hj) as (_ & _ & Y1 & _). simpl in Y1. rewrite (Z j Hj). lra. }
  assert (Y0 : 0 <= earns L Y).
  { apply sum_nonneg. intros j Hj. apply prod_nonneg; [apply (reward_nonneg R W); auto|]. apply (s_served L A X Y V j Hj). }
  pose proof (prod_le _ _ _ P1 Y0). lra.
Qed.

(** If no type is open, greedy has served every job. *)
Lemma none_open open left n steps o l : fills L A 0 open left n steps o l -> on_the_way L open left -> 0 <= n ->
  some_open open = false -> part * earns L Y <= gain L rho l.
Proof.
  intros F Way N S. destruct (fills_earn L well_formed_load _ _ _ _ _ _ _ F Way N) as (Way' & Le & _).
  apply all_served. intros j Hj. apply (w_closed _ _ _ Way' j Hj). destruct (o j) eqn:O; auto.
  specialize (Le j Hj O). assert (some_open open = true) by (apply any_iff; eauto). congruence.
Qed.

(** A lower bound on the reward of every server while a type is open *)
Lemma floor_earned v open left n steps o l : fills L A 0 open left n steps o l -> on_the_way L open left -> 0 <= n ->
  (forall j, (j < J)%nat -> open j = true -> v <= reward R j * inject_Z (most j)) ->
  (forall j, (j < J)%nat -> l j == 0) \/ gain L rho left + n * v <= gain L rho l.
Proof.
  intros F Way N Fl. destruct (fills_earn L well_formed_load _ _ _ _ _ _ _ F Way N) as (Way' & Le & E).
  destruct (some_open o) eqn:S.
  - right. apply any_iff in S. destruct S as (j & Hj & O).
    specialize (E (alone j) (proj2 (alone_fits j Hj))).
    assert (U : uses L o (alone j)).
    { intros h Hh Oh. unfold alone. destruct (Nat.eqb_spec h j); [congruence|reflexivity]. }
    specialize (E U). pose proof (alone_worth (reward R) j Hj) as Wj.
    specialize (Fl j Hj (Le j Hj O)). pose proof (prod_le_l _ _ _ Fl N) as B.
    rewrite (gain_add L rho left l). change (worth L (reward L) (alone j)) with (worth R (reward R) (alone j)) in E.
    rewrite Wj in E. lra.
  - left. intros j Hj. apply (w_closed _ _ _ Way' j Hj). destruct (o j) eqn:O; auto.
    assert (some_open o = true) by (apply any_iff; eauto). congruence.
Qed.

Lemma first_load s open k : first L s open k -> first R s open k.
Proof. intros [F U N]. constructor; [exact F|exact U|exact N]. Qed.

(** For every order in which types run out *)
Lemma claims_hold open left n steps o l : fills L A 0 open left n steps o l ->
  forall H c, so_far open left n H -> 0 <= n -> check_claim_of open (map snd H) c = true ->
  part * earns L Y <= gain L rho l.
Proof.
  assert (Floor : forall open left n steps o l H p, fills L A 0 open left n steps o l -> so_far open left n H ->
    0 <= n -> check_claim_of open (map snd H) (Whatever p) = true -> part * earns L Y <= gain L rho l).
  { intros open' left' n' st o' l' H p F S N C. simpl in C. apply andb_true_iff in C. destruct C as [C Fl].
    rewrite all_iff in Fl. pose proof (claim_bounds _ _ _ _ _ S N C) as B.
    destruct (floor_earned (c_server p) _ _ _ _ _ _ F (sf_way _ _ _ _ S) N) as [Z|G].
    - intros j Hj O. specialize (Fl j Hj). rewrite O in Fl. apply le_iff in Fl. rewrite mul_eq in Fl. exact Fl.
    - apply all_served. exact Z.
    - lra. }
  induction 1 as [open left n N|open left n U|open left n k t j steps o l N F Po T Tn Out Low Least G IH
                 |open left n k N F Some_ Out]; intros H c S N0 C.
  - assert (Z : n == 0) by lra. destruct c as [|p|p by_type]; [discriminate| |].
    + apply (Floor open left n [] open left H p); auto. apply full. exact N.
    + simpl in C. destruct (first_for open); [|discriminate]. apply andb_true_iff in C. destruct C as [C _].
      apply andb_true_iff in C. destruct C as [C _]. pose proof (claim_bounds _ _ _ _ _ S N0 C) as B.
      rewrite Z in B. lra.
  - apply (none_open open left n [] open left); auto; [apply useless; exact U|apply (sf_way _ _ _ _ S)|].
    destruct (some_open open) eqn:So; auto. apply any_iff in So. destruct So as (j & Hj & O). exfalso.
    apply (U j Hj O). destruct (alone_fits j Hj) as [P Fj]. apply (fits_less L well_formed_load 0 (alone j)); auto.
    intros h Hh. unfold single, alone. destruct (Nat.eqb h j); lia.
  - destruct c as [|p|p by_type]; [discriminate| |].
    { eapply (Floor open left n _ o l H p); eauto. eapply exhausts; eauto. }
    simpl in C. destruct (first_for open) as [K|] eqn:E; [|discriminate].
    apply andb_true_iff in C. destruct C as [C Ch]. rewrite all_iff in Ch.
    assert (Ek : as_held R K k).
    { apply (first_unique R 0 open); [apply first_for_sound; exact E|apply first_load; exact F]. }
    destruct (exhausts_leaves L 0 open left k t j (sf_way _ _ _ _ S) F T Out Least) as [Lv Way].
    destruct Out as (Hj & Kj & Out). specialize (Ch j Hj). rewrite (Ek j Hj) in Ch.
    destruct (Z.ltb_spec 0 (k j)); [|lia]. apply orb_true_iff in Ch. destruct Ch as [Ch|Ch].
    + apply negb_true_iff in Ch. eapply (none_open (close open j)); eauto. lra.
    + apply (IH ((t, K) :: H) (by_type j)); [|lra|exact Ch]. constructor.
      * exact Way.
      * simpl. pose proof (sf_time _ _ _ _ S). lra.
      * constructor; [exact T|apply (sf_nonneg _ _ _ _ S)].
      * intros h Hh. simpl. rewrite (sf_jobs _ _ _ _ S h Hh), (Ek h Hh).
        rewrite after_eq by (specialize (Lv h Hh); lra). ring.
  - destruct c as [|p|p by_type]; [discriminate| |].
    { eapply (Floor open left n _ open (after left k n) H p); eauto. apply ends; auto. }
    simpl in C. destruct (first_for open) as [K|] eqn:E; [|discriminate].
    apply andb_true_iff in C. destruct C as [C _]. apply andb_true_iff in C. destruct C as [C V0].
    apply le_iff in V0. rewrite rworth_eq in V0.
    assert (Ek : as_held R K k).
    { apply (first_unique R 0 open); [apply first_for_sound; exact E|apply first_load; exact F]. }
    pose proof (claim_bounds _ _ _ _ _ S N0 C) as B.
    destruct (fills_earn L well_formed_load 0 open left n _ open (after left k n)
      (ends L A 0 open left n k N F Some_ Out) (sf_way _ _ _ _ S) N0) as (_ & _ & G).
    specialize (G k (first_fits _ _ _ _ F) (first_uses _ _ _ _ F)).
    rewrite (gain_add L rho left (after left k n)).
    change (worth L (reward L) k) with (worth R (reward R) k) in G.
    rewrite (worth_as_held R (reward R) K k Ek) in V0. pose proof (prod_le_l _ _ _ V0 N0). lra.
Qed.
End On.

Theorem check_worst_load_sound R part firsts most c : check_worst_load R part firsts most c = true ->
  well_formed R /\ pools R = 1%nat /\ whatever_the_load R part.
Proof.
  unfold check_worst_load. intros Ch. apply andb_true_iff in Ch. destruct Ch as [Ch C].
  apply andb_true_iff in Ch. destruct Ch as [Ch Fs]. apply andb_true_iff in Ch. destruct Ch as [Ch P1].
  apply andb_true_iff in Ch. destruct Ch as [W One].
  apply check_reservation_sound in W. apply Nat.eqb_eq in One. apply le_iff in P1.
  split; [exact W|]. split; [exact One|]. intros rho Rho g (steps & l & G & E) X Y V.
  pose proof (well_formed_load R W rho Rho) as WL.
  rewrite E. change (earns (with_load R rho) (fun j => jobs (fluid (with_load R rho)) j - l j))
    with (gain (with_load R rho) rho l).
  unfold greedy in G. inversion G as [? ? En|s open0 left0 a open' l' b l'' Hs F G']; subst.
  { simpl in En. rewrite One in En. discriminate. }
  inversion G' as [? ? En|? ? ? ? ? ? ? ? Hs2 F2 G2]; subst; [|simpl in Hs2; rewrite One in Hs2; lia].
  assert (Way : on_the_way (with_load R rho) (fun _ => true) (jobs (fluid (with_load R rho)))).
  { constructor; [discriminate|]. intros j Hj. simpl. split; [apply Rho; exact Hj|lra]. }
  assert (Po : portion (fluid (with_load R rho)) 0 == 1) by (apply (portion_one (with_load R rho) WL One)).
  apply orb_true_iff in C. destruct C as [C|C].
  - apply negb_true_iff in C. eapply (none_open R part W P1 rho Rho X Y V); eauto. lra.
  - eapply (claims_hold R part firsts most W One P1 Fs rho Rho X Y V _ _ _ _ _ _ F [] c); [|lra|exact C].
    constructor; auto.
    + change (0 + portion (fluid (with_load R rho)) 0 == 1). lra.
    + intros j Hj. simpl. ring.
Qed.

Definition check_reached (R : reservation) (rho : nat -> Q) (steps : list stated) (g : Q)
    (plan : assignment) (served : nat -> Q) (v part : Q) : bool :=
  let R := with_load R rho in
  all (types R) (fun j => le 0 (rho j)) && check_greedy R (fluid R) steps g &&
  check_serves R (fluid R) plan served && eqq (rearns R served) v && lt 0 v && eqq (mul part v) g.
Theorem check_reached_sound R rho steps g plan served v part :
  check_reached R rho steps g plan served v part = true -> reached_with_the_load R rho part.
Proof.
  unfold check_reached, reached_with_the_load. cbv zeta. intros H. bools. rewrite rearns_eq in H2. rewrite mul_eq in H0.
  exists g, v. split; [eapply check_greedy_sound; eauto|]. split; [|auto].
  exists plan, served. split; [apply check_serves_sound; auto|auto].
Qed.

Definition check_nothing (R : reservation) : bool :=
  check_reservation R && Nat.eqb (pools R) 1 && all (types R) (fun j => eqq (reward R j) 0).
Theorem check_nothing_sound R : check_nothing R = true -> nothing_to_earn R.
Proof.
  unfold check_nothing. intros H rho X Y V. apply andb_true_iff in H. destruct H as [_ H]. rewrite all_iff in H.
  unfold earns. rewrite sum_zero; [lra|]. intros j Hj. simpl. specialize (H j Hj). apply eqq_iff in H.
  rewrite H. ring.
Qed.

Print Assumptions check_worst_load_sound.
Print Assumptions check_nothing_sound.
Print Assumptions check_reached_sound.
