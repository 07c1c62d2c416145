(** Proves that Theorem C is sharp (docs/theory.md, section 6). For J types, greedy does not always earn a larger
    fraction of a plan than 1 - (1 - 1/J)^J. On the instance of the theory, greedy takes one type after another, but one
    job of each type on every server would serve all jobs. *)
From Coq Require Import QArith Qround Qfield Arith ZArith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Checker Soundness Reservation ReservationTree ReservationOptimum ReservationRun
  ReservationGreedy ReservationRatio TheoremC.
Import ListNotations.
Open Scope Q_scope.

(** * Three types or more *)
Section Family.
Variable J : nat.                     (* J + 1 types *)
Hypothesis J2 : (2 <= J)%nat.
Notation types_ := (S J).
Definition a : Q := 1 - 1 / q (S J).

Definition family : reservation := {|
  types := S J; rows := S J; pools := 1;
  size := fun j r => if Nat.eqb j J then (if Nat.eqb r J then 1 else q J)
                     else if Nat.eqb r j || Nat.eqb r J then 1 else 0;
  room := fun _ _ => q (S J);
  listed := None;
  reward := fun j => if Nat.eqb j J then power a J else power a j / q (S J);
  load := fun _ => 1;
  servers := fun _ => 1 |}.
Notation R := family.
Notation A := (fluid family).

Lemma qJ : 0 < q (S J). Proof. rewrite q_succ. pose proof (q_nonneg J). lra. Qed.
Lemma a_eq : a * q (S J) == q J. Proof. unfold a. pose proof qJ. rewrite q_succ in *. field. lra. Qed.
Lemma a_nonneg : 0 <= a.
Proof. pose proof a_eq. pose proof qJ. pose proof (q_nonneg J). destruct (Qlt_le_dec a 0) as [L|L]; auto.
  assert (0 < (- a) * q (S J)) by (apply Qmult_lt_0_compat; lra). lra. Qed.
Lemma a_le_one : a <= 1.
Proof. unfold a. assert (0 <= 1 / q (S J)); [|lra]. pose proof qJ.
  unfold Qdiv. apply prod_nonneg; [lra|apply Qinv_le_0_compat; lra]. Qed.
Lemma power_split n : power a n == power a (S n) + power a n / q (S J).
Proof. simpl. unfold a. pose proof qJ. field. lra. Qed.

Lemma family_well_formed : well_formed R.
Proof.
  pose proof qJ. pose proof a_nonneg. constructor; simpl; intros; auto; try lra.
  - destruct (Nat.eqb j J), (Nat.eqb r J), (Nat.eqb r j); simpl; try lra; apply q_nonneg.
  - destruct (Nat.eqb j J); [apply power_nonneg; auto|]. unfold Qdiv.
    apply prod_nonneg; [apply power_nonneg; auto|apply Qinv_le_0_compat; lra].
Qed.

(** The rows of a configuration. The last row counts every job. Row r counts the jobs of type r, and J times those of
    the last type. *)
Definition jobs_up_to (n : nat) (k : configuration) : Q := sum n (fun j => inject_Z (k j)).
Lemma last_row k : sum (S J) (fun j => size R j J * inject_Z (k j)) == jobs_up_to (S J) k.
Proof.
  apply sum_ext. intros j Hj. simpl. rewrite Nat.eqb_refl, orb_true_r. destruct (Nat.eqb j J); ring.
Qed.
Lemma other_row k r : (r < J)%nat ->
  sum (S J) (fun j => size R j r * inject_Z (k j)) == inject_Z (k r) + q J * inject_Z (k J).
Proof.
  intros Hr. simpl sum.
  rewrite (sum_ext J _ (fun j => if Nat.eqb r j then inject_Z (k j) else 0)).
  2:{ intros j Hj. simpl. destruct (Nat.eqb_spec j J), (Nat.eqb_spec r J); try lia. rewrite orb_false_r.
      destruct (Nat.eqb r j); ring. }
  rewrite (ReservationOptimum.sum_single J (fun j => inject_Z (k j)) r Hr).
  simpl. rewrite Nat.eqb_refl. destruct (Nat.eqb_spec r J); [lia|]. ring.
Qed.
Lemma fits_family s k : fits R s k <-> (forall j, (j < S J)%nat -> (0 <= k j)%Z) /\
  jobs_up_to (S J) k <= q (S J) /\ forall r, (r < J)%nat -> inject_Z (k r) + q J * inject_Z (k J) <= q (S J).
Proof.
  unfold fits. simpl listed. cbv iota. split; intros [K F]; (split; [exact K|]).
  - split.
    + rewrite <- last_row. apply (F J). simpl. lia.
    + intros r Hr. rewrite <- other_row by auto. apply (F r). simpl. lia.
  - destruct F as [F1 F2]. intros r Hr. simpl in Hr. destruct (Nat.eq_dec r J) as [->|D].
    + change (types R) with (S J). rewrite last_row. exact F1.
    + change (types R) with (S J). rewrite other_row by lia. apply F2. lia.
Qed.

(** The sum of the rewards of the types from i to n - 1 *)
Definition from (i n : nat) : Q := sum n (fun j => if Nat.leb i j then power a j / q (S J) else 0).
Lemma from_eq i n : (i <= n)%nat -> from i n == power a i - power a n.
Proof.
  unfold from. induction n; intros L; simpl.
  - replace i with O by lia. simpl. ring.
  - destruct (Nat.leb_spec i n).
    + rewrite IHn by auto. pose proof (power_split n) as P. simpl in P. lra.
    + replace i with (S n) by lia. rewrite sum_zero.
      * simpl. ring.
      * intros j Hj. destruct (Nat.leb_spec (S n) j); [lia|reflexivity].
Qed.
Lemma power_decreasing i j : (i <= j)%nat -> power a j <= power a i.
Proof.
  pose proof a_nonneg. pose proof a_le_one. induction 1 as [|j L IH]; [lra|]. simpl.
  pose proof (prod_le _ _ _ H0 (power_nonneg a j H)). lra.
Qed.

Definition open_from (i : nat) : nat -> bool := fun j => Nat.leb i j.
Definition many (i : nat) : configuration := fun j => if Nat.eqb j i then Z.of_nat (S J) else 0%Z.

Lemma sum_one n i v : (i < n)%nat -> sum n (fun j => if Nat.eqb j i then v else 0) == v.
Proof.
  intros Hi. rewrite (sum_ext n _ (fun j => if Nat.eqb i j then v else 0)).
  - apply (ReservationOptimum.sum_single n (fun _ => v) i Hi).
  - intros j _. rewrite Nat.eqb_sym. reflexivity.
Qed.

Lemma count_split k : jobs_up_to (S J) k == jobs_up_to J k + inject_Z (k J). Proof. reflexivity. Qed.
Lemma int_nonneg z : (0 <= z)%Z -> 0 <= inject_Z z.
Proof. intros. change 0 with (inject_Z 0). rewrite <- Zle_Qle. auto. Qed.
Lemma q_J : 2 <= q J. Proof. unfold q. change 2 with (inject_Z 2). rewrite <- Zle_Qle. lia. Qed.

(** While the types from i on are open, no configuration is worth more than J + 1 jobs of type i. *)
Lemma worth_from i k : (i < J)%nat -> fits R 0 k -> uses R (open_from i) k -> worth R (reward R) k <= power a i.
Proof.
  intros Hi F U. apply fits_family in F. destruct F as (K & F1 & F2).
  assert (E : worth R (reward R) k == sum J (fun j => if Nat.leb i j then power a j / q (S J) * inject_Z (k j) else 0)
    + power a J * inject_Z (k J)).
  { unfold worth. change (types R) with (S J). simpl sum. apply Qplus_comp.
    - apply sum_ext. intros j Hj. simpl. destruct (Nat.eqb_spec j J); [lia|].
      destruct (Nat.leb_spec i j); [reflexivity|]. rewrite (U j); [|simpl; lia|].
      + change (inject_Z 0) with 0. ring.
      + unfold open_from. apply Nat.leb_gt. auto.
    - simpl. rewrite Nat.eqb_refl. reflexivity. }
  rewrite E. clear E. pose proof qJ as QJ. pose proof q_J as Q2. pose proof a_nonneg as A0.
  assert (Inv : 0 <= / q (S J)) by (apply Qinv_le_0_compat; lra).
  destruct (Z_lt_le_dec 0 (k J)) as [P|P].
  - (* at most one job of the last type, and then at most one job of each other type *)
    assert (KJ : k J = 1%Z).
    { assert (k J < 2)%Z; [|lia]. apply Z.lt_nge. intros B. specialize (F2 i Hi). specialize (K i ltac:(lia)).
      apply int_nonneg in K. rewrite q_succ in F2. rewrite Zle_Qle in B. change (inject_Z 2) with 2 in B.
      pose proof (prod_le_l _ _ _ B (q_nonneg J)). lra. }
    rewrite KJ in *. change (inject_Z 1) with 1 in *.
    apply Qle_trans with (from i J + power a J); [|rewrite from_eq by lia; lra].
    apply Qplus_le_compat; [|lra]. apply sum_le. intros j Hj. destruct (Nat.leb_spec i j); [|lra].
    specialize (F2 j Hj). rewrite q_succ in F2. assert (L : inject_Z (k j) <= 1) by lra.
    apply Qle_trans with (power a j / q (S J) * 1); [|lra]. apply prod_le_l; auto.
    unfold Qdiv. apply prod_nonneg; auto. apply power_nonneg; auto.
  - assert (KJ : k J = 0%Z) by (specialize (K J ltac:(lia)); lia). rewrite count_split, KJ in F1.
    rewrite KJ. change (inject_Z 0) with 0 in *.
    assert (L : sum J (fun j => if Nat.leb i j then power a j / q (S J) * inject_Z (k j) else 0) <=
      sum J (fun j => power a i / q (S J) * inject_Z (k j))).
    { apply sum_le. intros j Hj. pose proof (int_nonneg _ (K j ltac:(lia))) as Kj.
      assert (Pi : 0 <= power a i / q (S J)) by (unfold Qdiv; apply prod_nonneg; auto; apply power_nonneg; auto).
      destruct (Nat.leb_spec i j).
      - apply prod_le; auto. unfold Qdiv. apply prod_le; auto. apply power_decreasing; auto.
      - pose proof (prod_nonneg _ _ Pi Kj). lra. }
    rewrite sum_scale in L. fold (jobs_up_to J k) in L.
    assert (Pi : 0 <= power a i / q (S J)) by (unfold Qdiv; apply prod_nonneg; auto; apply power_nonneg; auto).
    assert (F1' : jobs_up_to J k <= q (S J)) by lra.
    pose proof (prod_le_l _ _ _ F1' Pi) as B.
    setoid_replace (power a i / q (S J) * q (S J)) with (power a i) in B by (field; lra). lra.
Qed.

Lemma worth_many i : (i < J)%nat -> worth R (reward R) (many i) == power a i.
Proof.
  intros Hi. unfold worth. change (types R) with (S J).
  rewrite (sum_ext (S J) _ (fun j => if Nat.eqb j i then power a i else 0)); [apply sum_one; lia|].
  intros j Hj. unfold many. simpl reward. destruct (Nat.eqb_spec j i) as [->|D].
  - destruct (Nat.eqb_spec i J); [lia|]. fold (q (S J)). pose proof qJ. field. lra.
  - change (inject_Z 0) with 0. ring.
Qed.

Lemma first_many i : (i < J)%nat -> first R 0 (open_from i) (many i).
Proof.
  intros Hi. assert (QJ := qJ). constructor.
  - apply fits_family. split; [|split].
    + intros j _. unfold many. destruct (Nat.eqb j i); lia.
    + unfold jobs_up_to. rewrite (sum_ext (S J) _ (fun j => if Nat.eqb j i then q (S J) else 0)).
      * rewrite sum_one by lia. lra.
      * intros j _. unfold many, q. destruct (Nat.eqb j i); reflexivity.
    + intros r Hr. unfold many. destruct (Nat.eqb_spec J i); [lia|].
      change (inject_Z 0) with 0. destruct (Nat.eqb r i); [fold (q (S J))|change (inject_Z 0) with 0]; lra.
  - intros j Hj O. unfold many. unfold open_from in O. apply Nat.leb_gt in O.
    destruct (Nat.eqb_spec j i); [lia|reflexivity].
  - intros k F U B. pose proof (worth_from i k Hi F U) as L. pose proof (worth_many i Hi) as E.
    destruct B as [B|[_ (j & Hj & D & Eq)]]; [lra|]. simpl in Hj.
    apply fits_family in F. destruct F as (K & F1 & F2).
    unfold many in D. destruct (Nat.eqb_spec j i) as [->|Ne].
    + pose proof (F2 i Hi) as G. pose proof (int_nonneg _ (K J ltac:(lia))) as KJ.
      pose proof (prod_nonneg _ _ (q_nonneg J) KJ). rewrite Zlt_Qlt in D. fold (q (S J)) in D. lra.
    + destruct (lt_dec j i) as [Lt|Ge].
      * rewrite (U j Hj) in D; [lia|]. unfold open_from. apply Nat.leb_gt. auto.
      * assert (Ki : inject_Z (k i) == q (S J)).
        { rewrite (Eq i) by lia. unfold many. rewrite Nat.eqb_refl. reflexivity. }
        assert (T : inject_Z (k i) + inject_Z (k j) <= jobs_up_to (S J) k).
        { unfold jobs_up_to.
          apply Qle_trans with (sum (S J) (fun h => (if Nat.eqb h i then inject_Z (k i) else 0) +
            (if Nat.eqb h j then inject_Z (k j) else 0))).
          - rewrite sum_add, !sum_one by lia. lra.
          - apply sum_le. intros h Hh. pose proof (int_nonneg _ (K h Hh)).
            destruct (Nat.eqb_spec h i), (Nat.eqb_spec h j); subst; try lia; lra. }
        rewrite Zlt_Qlt in D. change (inject_Z 0) with 0 in D. lra.
Qed.

(** If only the last type is open, a server takes one job of this type. *)
Lemma first_last : first R 0 (open_from J) (single J).
Proof.
  pose proof q_J as Q2. pose proof qJ as QJ.
  assert (Last : forall k, fits R 0 k -> uses R (open_from J) k ->
    (k J <= 1)%Z /\ forall j, (j < J)%nat -> k j = 0%Z).
  { intros k F U. apply fits_family in F. destruct F as (K & _ & F2). split.
    - assert (k J < 2)%Z; [|lia]. apply Z.lt_nge. intros B. specialize (F2 0%nat ltac:(lia)).
      pose proof (int_nonneg _ (K 0%nat ltac:(lia))). rewrite Zle_Qle in B. change (inject_Z 2) with 2 in B.
      pose proof (prod_le_l _ _ _ B (q_nonneg J)). rewrite q_succ in F2. lra.
    - intros j Hj. apply U; [simpl; lia|]. unfold open_from. apply Nat.leb_gt. auto. }
  constructor.
  - apply fits_family. split; [|split].
    + intros j _. unfold single. destruct (Nat.eqb j J); lia.
    + unfold jobs_up_to. rewrite (sum_ext (S J) _ (fun j => if Nat.eqb j J then 1 else 0)).
      * rewrite sum_one by lia. rewrite q_succ. lra.
      * intros j _. unfold single. destruct (Nat.eqb j J); reflexivity.
    + intros r Hr. unfold single. rewrite Nat.eqb_refl. destruct (Nat.eqb_spec r J); [lia|].
      change (inject_Z 0) with 0. change (inject_Z 1) with 1. rewrite q_succ. lra.
  - intros j Hj O. unfold open_from in O. apply Nat.leb_gt in O. unfold single.
    destruct (Nat.eqb_spec j J); [lia|reflexivity].
  - intros k F U B. destruct (Last k F U) as [L Z].
    assert (Le : forall j, (j < S J)%nat -> (k j <= single J j)%Z).
    { intros j Hj. unfold single. destruct (Nat.eqb_spec j J) as [->|]; [exact L|]. rewrite Z by lia. lia. }
    destruct B as [B|[_ (j & Hj & D & _)]].
    + assert (W : worth R (reward R) k <= worth R (reward R) (single J)); [|lra].
      apply sum_le. intros j Hj. apply prod_le_l; [|apply (reward_nonneg R family_well_formed); auto].
      rewrite <- Zle_Qle. apply Le. exact Hj.
    + specialize (Le j Hj). lia.
Qed.

Definition left_from (i : nat) : nat -> Q := fun j => if Nat.ltb j i then 0 else 1.
Definition left_last : nat -> Q := fun j => if Nat.ltb j J then 0 else a.
Definition rest (i : nat) : Q := 1 - q i / q (S J).

Lemma run_from m : forall i, (i + m = J)%nat ->
  exists steps o l, fills R A 0 (open_from i) (left_from i) (rest i) steps o l /\ as_much R l left_last.
Proof.
  pose proof qJ as QJ. induction m; intros i E.
  - assert (i = J) as -> by lia.
    assert (Rest : rest J == 1 / q (S J)) by (unfold rest; rewrite q_succ in *; field; lra).
    assert (Pos : 0 < rest J).
    { rewrite Rest. unfold Qdiv. rewrite Qmult_1_l. apply Qinv_lt_0_compat. auto. }
    assert (Small : rest J < 1).
    { unfold rest. assert (0 < q J / q (S J)); [|lra]. unfold Qdiv. apply Qmult_lt_0_compat.
      - pose proof q_J. lra.
      - apply Qinv_lt_0_compat. auto. }
    eexists. exists (open_from J), (after (left_from J) (single J) (rest J)). split.
    + apply ends; auto; [apply first_last| |].
      * exists J. simpl. split; [lia|]. unfold single. rewrite Nat.eqb_refl. lia.
      * intros h (Hh & K & O). unfold single in K, O. destruct (Nat.eqb_spec h J) as [->|]; [|lia].
        unfold left_from in O. rewrite Nat.ltb_irrefl in O. change (inject_Z 1) with 1 in O. lra.
    + intros j Hj. simpl in Hj. unfold left_last, left_from, single, after.
      destruct (Nat.ltb_spec j J).
      * destruct (Nat.eqb_spec j J); [lia|]. change (inject_Z 0) with 0. destruct (le _ 0) eqn:L; [reflexivity|].
        exfalso. assert (le (0 - rest J * 0) 0 = true) by (apply le_iff; lra). congruence.
      * assert (j = J) as -> by lia. rewrite Nat.eqb_refl. change (inject_Z 1) with 1.
        destruct (le _ 0) eqn:L; [apply le_iff in L; lra|]. rewrite Rest. unfold a. field. lra.
  - assert (Hi : (i < J)%nat) by lia.
    destruct (IHm (S i) ltac:(lia)) as (steps & o & l & G & El).
    assert (T : 0 < 1 / q (S J)) by (unfold Qdiv; rewrite Qmult_1_l; apply Qinv_lt_0_compat; auto).
    assert (Out : forall t h, runs_out R (left_from i) (many i) t h -> h = i /\ 1 / q (S J) <= t).
    { intros t h (Hh & K & O). unfold many in K, O. destruct (Nat.eqb_spec h i) as [->|]; [|lia]. split; auto.
      unfold left_from in O. rewrite Nat.ltb_irrefl in O. fold (q (S J)) in O.
      apply Qle_shift_div_r; auto. }
    assert (Rest : rest i - 1 / q (S J) == rest (S i)) by (unfold rest; rewrite (q_succ i); field; lra).
    assert (R0 : 0 <= rest (S i)).
    { unfold rest. assert (q (S i) / q (S J) <= 1); [|lra]. apply Qle_shift_div_r; auto. rewrite Qmult_1_l.
      unfold q. rewrite <- Zle_Qle. lia. }
    assert (El2 : as_much R (left_from (S i)) (after (left_from i) (many i) (1 / q (S J)))).
    { intros j Hj. unfold after, left_from, many.
      destruct (Nat.eqb_spec j i) as [->|D].
      - rewrite Nat.ltb_irrefl. destruct (Nat.ltb_spec i (S i)); [|lia]. fold (q (S J)).
        destruct (le _ 0) eqn:L; [reflexivity|]. exfalso.
        assert (le (1 - 1 / q (S J) * q (S J)) 0 = true); [|congruence].
        apply le_iff. assert (1 / q (S J) * q (S J) == 1) by (field; lra). lra.
      - change (inject_Z 0) with 0. destruct (Nat.ltb_spec j (S i)), (Nat.ltb_spec j i); try lia.
        + destruct (le _ 0); [reflexivity|ring].
        + destruct (le _ 0) eqn:L; [apply le_iff in L; lra|ring]. }
    destruct (fills_as R A _ _ _ _ _ _ _ G (close (open_from i) i) (after (left_from i) (many i) (1 / q (S J)))
      (rest i - 1 / q (S J))) as (steps' & o' & l' & G' & _ & El'); auto.
    + intros j _. unfold close, open_from. destruct (Nat.eqb_spec j i) as [->|D].
      * apply Nat.leb_gt. lia.
      * destruct (Nat.leb_spec (S i) j), (Nat.leb_spec i j); auto; lia.
    + symmetry. exact Rest.
    + eexists. exists o', l'. split.
      * apply exhausts with (j := i); [| | | | | | | |exact G'].
        -- lra.
        -- apply first_many; auto.
        -- exact I.
        -- lra.
        -- lra.
        -- repeat split; [simpl; lia|unfold many; rewrite Nat.eqb_refl; lia|].
           unfold many, left_from. rewrite Nat.eqb_refl, Nat.ltb_irrefl. fold (q (S J)). apply Qle_lteq. right.
           field. lra.
        -- intros h Hh B. destruct (Out _ _ B) as [-> _]. lia.
        -- intros t' h _ L B. destruct (Out _ _ B) as [_ B']. lra.
      * intros j Hj. rewrite <- (El' j Hj). apply El. auto.
Qed.

Lemma family_greedy : greedy_earns R A (1 - power a (S J)).
Proof.
  pose proof qJ as QJ.
  destruct (run_from J 0 eq_refl) as (steps & o & l & G & El).
  destruct (fills_as R A _ _ _ _ _ _ _ G (fun _ => true) (jobs A) (portion A 0)) as (steps' & o' & l' & G' & _ & El').
  - intros j _. reflexivity.
  - intros j _. unfold left_from. reflexivity.
  - unfold rest. simpl. unfold all_servers. simpl. change (q 0) with 0. field. lra.
  - exists (steps' ++ []), l'. split.
    + eapply next; [simpl; lia|exact G'|]. apply no_more.
    + unfold earns. change (types R) with (S J). simpl sum.
      rewrite (sum_ext J _ (fun j => if Nat.leb 0 j then power a j / q (S J) else 0)).
      2:{ intros j Hj. rewrite <- (El' j), (El j) by (simpl; lia). unfold left_last. simpl.
          destruct (Nat.ltb_spec j J); [|lia]. destruct (Nat.eqb_spec j J); [lia|]. ring. }
      fold (from 0 J). rewrite from_eq by lia. rewrite <- (El' J), (El J) by (simpl; lia).
      unfold left_last. rewrite Nat.ltb_irrefl. simpl. rewrite Nat.eqb_refl. ring.
Qed.

(** One job of each type on every server *)
Lemma family_plan : some_plan_earns R A 1.
Proof.
  pose proof qJ as QJ. pose proof q_J as Q2.
  exists {| parts := 1; pool := fun _ => O; conf := fun _ _ => 1%Z; part := fun _ => 1 |}, (fun _ => 1). split.
  - constructor; simpl; intros; auto; try lra.
    + apply fits_family. split; [intros; lia|split].
      * unfold jobs_up_to. change (inject_Z 1) with 1. apply Qle_lteq. right. clear.
        induction (S J) as [|n IH]; [reflexivity|]. simpl sum. rewrite IH, q_succ. reflexivity.
      * intros r Hr. change (inject_Z 1) with 1. rewrite q_succ. lra.
    + split; [lra|exact I].
    + replace s with O by lia. simpl. unfold all_servers. simpl. apply Qle_lteq. right. field.
    + repeat split; try lra. change (inject_Z 1) with 1. lra.
  - unfold earns. change (types R) with (S J). simpl sum.
    rewrite (sum_ext J _ (fun j => if Nat.leb 0 j then power a j / q (S J) else 0)).
    2:{ intros j Hj. simpl. destruct (Nat.eqb_spec j J); [lia|]. ring. }
    fold (from 0 J). rewrite from_eq by lia. simpl. rewrite Nat.eqb_refl. ring.
Qed.
End Family.

(** * One type, and two *)
Definition one_type : reservation := {|
  types := 1; rows := 1; pools := 1; size := fun _ _ => 1; room := fun _ _ => 1; listed := None;
  reward := fun _ => 1; load := fun _ => 1; servers := fun _ => 1 |}.
Definition two_types : reservation := {|
  types := 2; rows := 2; pools := 1;
  size := fun j r => match j, r with O, S _ => 0 | _, _ => 1 end;
  room := fun _ r => match r with O => 2 | _ => 1 end; listed := None;
  reward := fun _ => 1 # 2; load := fun _ => 1; servers := fun _ => 1 |}.

Definition one_step : list stated := [
  {| stated_step := {| at_pool := 0; takes := fun _ => 1%Z; given := 1; exhausted := Some 0%nat |};
     why := Trees (fun _ => 1) 1 (Leaf (fun _ => 1)) (Leaf (fun _ => 1)) |}].
Definition two_steps : list stated := [
  {| stated_step := {| at_pool := 0; takes := fun j => match j with O => 2%Z | _ => 0%Z end; given := 1 # 2;
       exhausted := Some 0%nat |};
     why := let m r := match r with O => 1 # 2 | _ => 0 end in
       Trees (fun _ => 1) (1 # 2) (Leaf m) (Split 0 2 (Leaf m) (Leaf m)) |};
  {| stated_step := {| at_pool := 0; takes := single 1; given := 1 # 2; exhausted := None |};
     why := let m r := match r with O => 0 | _ => 1 # 2 end in Trees (fun _ => 1) (1 # 2) (Leaf m) (Leaf m) |}].
Definition everything : assignment :=
  {| parts := 1; pool := fun _ => O; conf := fun _ _ => 1%Z; part := fun _ => 1 |}.

(** * No larger fraction *)
Theorem theorem_C_is_sharp J : (1 <= J)%nat -> exists R, well_formed R /\ types R = J /\ pools R = 1%nat /\
  some_plan_earns R (fluid R) 1 /\ greedy_earns R (fluid R) (1 - power (1 - 1 / q J) J).
Proof.
  intros L. destruct J as [|[|[|J]]]; [lia| | |].
  - exists one_type. split; [apply check_reservation_sound; reflexivity|]. repeat split.
    + exists everything, (fun _ => 1). split; [apply check_serves_sound; reflexivity|reflexivity].
    + destruct (check_greedy_sound one_type (fluid one_type) one_step 1 eq_refl) as (s & l & G & E).
      exists s, l. split; auto.
  - exists two_types. split; [apply check_reservation_sound; reflexivity|]. repeat split.
    + exists everything, (fun _ => 1). split; [apply check_serves_sound; reflexivity|reflexivity].
    + destruct (check_greedy_sound two_types (fluid two_types) two_steps (3 # 4) eq_refl) as (s & l & G & E).
      exists s, l. split; auto.
  - exists (family (S (S J))). split; [apply family_well_formed; lia|]. repeat split.
    + apply family_plan. lia.
    + apply family_greedy. lia.
Qed.

(** Greedy therefore earns the fraction r of every plan, on every instance with J types, if and only if r <= 1 - (1 -
    1/J)^J. *)
Corollary the_infimum_over_all_instances J r : (1 <= J)%nat ->
  (forall R, well_formed R -> types R = J -> pools R = 1%nat -> greedy_earns_at_least R (fluid R) r) <->
  r <= 1 - power (1 - 1 / q J) J.
Proof.
  intros L. split.
  - intros H. destruct (theorem_C_is_sharp J L) as (R & W & T & One & (X & Y & V & E) & G).
    specialize (H R W T One _ G X Y V). rewrite E in H. lra.
  - intros Le R W T One g G X Y V. pose proof (theorem_C R W One g G X Y V) as C. rewrite T in C.
    pose proof (earns_nonneg R W X Y V) as P. pose proof (prod_le _ _ _ Le P). lra.
Qed.

Print Assumptions theorem_C_is_sharp.
Print Assumptions the_infimum_over_all_instances.
