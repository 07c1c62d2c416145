(** Proves Theorem B (docs/theory.md, section 4): if the time of the servers is shared, PS-DSF is strategy-proof in
    bundles. Suppose that a user misreports its demand (the same on all classes), its number of tasks or its classes,
    and then receives the bundles that it declared. It never runs more of its true tasks than with the truth.

    Prices define the allocation. The conditions below are the conditions of Karush, Kuhn and Tucker for the maximum of
    the sum of w_n log x_n, within the time of the classes and x_n <= T_n. The theory defines the allocation by this
    maximum (Fact 5). *)
From Coq Require Import QArith Qfield Arith Bool Lia Lqa Setoid.
From Evenhand Require Import Spec Checker Soundness TheoremA.
Open Scope Q_scope.

Section Times.
Variables (N K : nat).                  (* users, classes *)

Record declared := {
  of_weight : nat -> Q;                 (* w_n *)
  of_limit : nat -> option Q;           (* T_n; None: unlimited *)
  of_gamma : nat -> nat -> Q }.         (* tasks of n with all of class i; 0 if n cannot run there *)

(** User n has the fraction z n i of the time of class i. *)
Definition runs_tasks (D : declared) (z : nat -> nat -> Q) (n : nat) : Q := sum K (fun i => z n i * of_gamma D n i).

(** p i is the price of the time of class i. q n is the price of a task of n on its cheapest class. *)
Record priced (D : declared) (z : nat -> nat -> Q) (p q : nat -> Q) : Prop := {
  t_time : forall n i, (n < N)%nat -> (i < K)%nat -> 0 <= z n i;
  t_gamma : forall n i, (n < N)%nat -> (i < K)%nat -> of_gamma D n i == 0 -> z n i == 0;
  t_full : forall i, (i < K)%nat -> sum N (fun n => z n i) <= 1;
  t_limit : forall n T, (n < N)%nat -> of_limit D n = Some T -> runs_tasks D z n <= T;
  t_price : forall i, (i < K)%nat -> 0 <= p i;
  t_sold : forall i, (i < K)%nat -> 0 < p i -> sum N (fun n => z n i) == 1;
  t_task : forall n, (n < N)%nat -> 0 <= q n;
  t_cheapest : forall n i, (n < N)%nat -> (i < K)%nat -> 0 < of_gamma D n i -> q n * of_gamma D n i <= p i;
  t_bought : forall n i, (n < N)%nat -> (i < K)%nat -> 0 < z n i -> q n * of_gamma D n i == p i;
  t_budget : forall n, (n < N)%nat -> q n * runs_tasks D z n <= of_weight D n;
  t_spent : forall n i, (n < N)%nat -> (i < K)%nat -> 0 < of_gamma D n i ->
    (exists T, of_limit D n = Some T /\ runs_tasks D z n == T) \/ q n * runs_tasks D z n == of_weight D n }.

Definition ps_dsf_tdm (D : declared) (z : nat -> nat -> Q) : Prop := exists p q, priced D z p q.

(** Weights are positive, and numbers of tasks are not negative. *)
Definition proper (D : declared) : Prop :=
  (forall n, (n < N)%nat -> 0 < of_weight D n) /\
  (forall n i, (n < N)%nat -> (i < K)%nat -> 0 <= of_gamma D n i).

(** The axiom. A class where an unsatisfied user may run is full. No user that has some of the class has a higher level
    x_n/(gamma_ni w_n) than this user. Levels are compared without division. *)
Definition satisfied_user (D : declared) (z : nat -> nat -> Q) (n : nat) : Prop :=
  exists T, of_limit D n = Some T /\ runs_tasks D z n == T.
Theorem meets_theorem_2 D z : proper D -> ps_dsf_tdm D z ->
  forall n i, (n < N)%nat -> (i < K)%nat -> 0 < of_gamma D n i -> ~ satisfied_user D z n ->
  sum N (fun m => z m i) == 1 /\
  forall m, (m < N)%nat -> 0 < z m i ->
    runs_tasks D z m * (of_gamma D n i * of_weight D n) <= runs_tasks D z n * (of_gamma D m i * of_weight D m).
Proof.
  intros [Wp Gp] (p & q & E) n i Hn Hi P U.
  destruct (t_spent _ _ _ _ E n i Hn Hi P) as [S|S]; [contradiction|].
  pose proof (Wp n Hn) as Wn. pose proof (t_cheapest _ _ _ _ E n i Hn Hi P) as C.
  pose proof (t_task _ _ _ _ E n Hn) as Q0.
  assert (Q : 0 < q n).
  { destruct (Qlt_le_dec 0 (q n)); auto. assert (O : q n == 0) by lra. rewrite O in S. lra. }
  assert (Pi : 0 < p i) by (pose proof (Qmult_lt_0_compat _ _ Q P); lra).
  split; [apply (t_sold _ _ _ _ E); auto|]. intros m Hm Z.
  assert (Rn : 0 <= runs_tasks D z n).
  { apply sum_nonneg. intros j Hj. apply prod_nonneg; [apply (t_time _ _ _ _ E)|apply Gp]; auto. }
  assert (Rm : 0 <= runs_tasks D z m).
  { apply sum_nonneg. intros j Hj. apply prod_nonneg; [apply (t_time _ _ _ _ E)|apply Gp]; auto. }
  pose proof (t_bought _ _ _ _ E m i Hm Hi Z) as B. pose proof (t_budget _ _ _ _ E m Hm) as Bu.
  (* w_n gamma_ni <= p_i x_n, and p_i x_m <= w_m gamma_mi *)
  pose proof (prod_le _ _ _ C Rn) as L1. pose proof (prod_le _ _ _ Bu (Gp m i Hm Hi)) as L2.
  assert (L1' : of_weight D n * of_gamma D n i <= p i * runs_tasks D z n) by (rewrite <- S; lra).
  assert (L2' : p i * runs_tasks D z m <= of_weight D m * of_gamma D m i) by (rewrite <- B; lra).
  pose proof (prod_le _ _ _ L1' Rm) as X1. pose proof (prod_le _ _ _ L2' Rn) as X2. lra.
Qed.

(** * A lie, scaled to true tasks *)
Section Lie.
Variables (D D' : declared) (l : nat).
Hypothesis Hl : (l < N)%nat.
Hypotheses (G : proper D) (G' : proper D').
Hypothesis Weights : forall n, (n < N)%nat -> of_weight D' n == of_weight D n.
Hypothesis Limits : forall n, (n < N)%nat -> n <> l -> of_limit D' n = of_limit D n.
Hypothesis Others : forall n i, (n < N)%nat -> (i < K)%nat -> n <> l -> of_gamma D' n i == of_gamma D n i.
(** On each class where the liar can run, it declares no more tasks than fit. *)
Hypothesis Less : forall i, (i < K)%nat -> 0 < of_gamma D l i -> of_gamma D' l i <= of_gamma D l i.

Variables (z z' : nat -> nat -> Q) (p q p' q' : nat -> Q).
Hypotheses (E : priced D z p q) (E' : priced D' z' p' q').

Definition cheaper (i : nat) : bool := lt (p' i) (p i).
(** The value of a user's holdings on the classes that became cheaper, at the old prices *)
Definition worth_of (y : nat -> nat -> Q) (n : nat) : Q := sum K (fun i => if cheaper i then p i * y n i else 0).

Lemma gamma_pos n i : (n < N)%nat -> (i < K)%nat -> 0 < z n i -> 0 < of_gamma D n i.
Proof.
  intros Hn Hi Z. destruct G as [_ P]. specialize (P n i Hn Hi). destruct (Qlt_le_dec 0 (of_gamma D n i)); auto.
  assert (O : of_gamma D n i == 0) by lra. rewrite (t_gamma _ _ _ _ E n i Hn Hi O) in Z. lra.
Qed.
Lemma gamma_pos' n i : (n < N)%nat -> (i < K)%nat -> 0 < z' n i -> 0 < of_gamma D' n i.
Proof.
  intros Hn Hi Z. destruct G' as [_ P]. specialize (P n i Hn Hi). destruct (Qlt_le_dec 0 (of_gamma D' n i)); auto.
  assert (O : of_gamma D' n i == 0) by lra. rewrite (t_gamma _ _ _ _ E' n i Hn Hi O) in Z. lra.
Qed.
Lemma runs_nonneg n : (n < N)%nat -> 0 <= runs_tasks D z n.
Proof.
  intros Hn. apply sum_nonneg. intros i Hi. apply prod_nonneg; [apply (t_time _ _ _ _ E)|apply G]; auto.
Qed.
Lemma runs_nonneg' n : (n < N)%nat -> 0 <= runs_tasks D' z' n.
Proof.
  intros Hn. apply sum_nonneg. intros i Hi. apply prod_nonneg; [apply (t_time _ _ _ _ E')|apply G']; auto.
Qed.

(** The value of a user's holdings is the value of its tasks. *)
Lemma spent n : (n < N)%nat -> sum K (fun i => p i * z n i) == q n * runs_tasks D z n.
Proof.
  intros Hn. unfold runs_tasks. rewrite <- sum_scale. apply sum_ext. intros i Hi.
  destruct (Qlt_le_dec 0 (z n i)) as [Z|Z].
  - rewrite <- (t_bought _ _ _ _ E n i Hn Hi Z). ring.
  - pose proof (t_time _ _ _ _ E n i Hn Hi). assert (O : z n i == 0) by lra. rewrite O. ring.
Qed.
Lemma worth_of_spent n : (n < N)%nat -> worth_of z n <= q n * runs_tasks D z n.
Proof.
  intros Hn. rewrite <- spent by auto. apply sum_le. intros i Hi.
  pose proof (prod_nonneg _ _ (t_price _ _ _ _ E i Hi) (t_time _ _ _ _ E n i Hn Hi)). destruct (cheaper i); lra.
Qed.
Lemma worth_of_nonneg n : (n < N)%nat -> 0 <= worth_of z' n.
Proof.
  intros Hn. apply sum_nonneg. intros i Hi.
  pose proof (prod_nonneg _ _ (t_price _ _ _ _ E i Hi) (t_time _ _ _ _ E' n i Hn Hi)). destruct (cheaper i); lra.
Qed.

(** The other users take at least as much of the cheaper classes as before. *)
Lemma others_take n : (n < N)%nat -> n <> l -> worth_of z n <= worth_of z' n.
Proof.
  intros Hn Nl. destruct (any K (fun i => if cheaper i then lt 0 (z n i) else false)) eqn:A.
  2:{ apply Qle_trans with 0; [|apply worth_of_nonneg; auto]. unfold worth_of. rewrite sum_zero; [lra|].
      intros i Hi. destruct (cheaper i) eqn:C; [|reflexivity].
      assert (O : z n i == 0).
      { pose proof (t_time _ _ _ _ E n i Hn Hi). destruct (Qlt_le_dec 0 (z n i)) as [Z|Z]; [|lra]. exfalso.
        assert (B : any K (fun i => if cheaper i then lt 0 (z n i) else false) = true); [|congruence].
        apply any_iff. exists i. rewrite C. split; auto. apply lt_iff. auto. }
      rewrite O. ring. }
  apply any_iff in A. destruct A as (i0 & H0 & A). destruct (cheaper i0) eqn:C0; [|discriminate].
  unfold cheaper in C0. apply lt_iff in A. apply lt_iff in C0.
  pose proof (gamma_pos n i0 Hn H0 A) as P0.
  pose proof (t_bought _ _ _ _ E n i0 Hn H0 A) as B0.
  pose proof (t_cheapest _ _ _ _ E' n i0 Hn H0) as B0'. rewrite (Others n i0 Hn H0 Nl) in B0'. specialize (B0' P0).
  assert (Q : q' n < q n).
  { apply Qnot_le_lt. intros L. pose proof (prod_le _ _ (of_gamma D n i0) L). lra. }
  pose proof (t_task _ _ _ _ E' n Hn) as Q0.
  (* n has time only on these classes *)
  assert (Only : forall i, (i < K)%nat -> 0 < z' n i -> cheaper i = true).
  { intros i Hi Z. pose proof (gamma_pos' n i Hn Hi Z) as P. pose proof (t_bought _ _ _ _ E' n i Hn Hi Z) as B.
    rewrite (Others n i Hn Hi Nl) in P, B. pose proof (t_cheapest _ _ _ _ E n i Hn Hi P).
    apply lt_iff. pose proof (Qmult_lt_compat_r _ _ _ P Q). lra. }
  (* and n has no fewer tasks *)
  assert (More : runs_tasks D z n <= runs_tasks D' z' n).
  { destruct (t_spent _ _ _ _ E' n i0 Hn H0) as [(T & ET & A')|S'].
    - rewrite (Others n i0 Hn H0 Nl). auto.
    - rewrite (Limits n Hn Nl) in ET. pose proof (t_limit _ _ _ _ E n T Hn ET). lra.
    - rewrite (Weights n Hn) in S'. pose proof (t_budget _ _ _ _ E n Hn). pose proof (runs_nonneg' n Hn) as R.
      apply Qnot_lt_le. intros L. assert (Qn : 0 < q n) by lra.
      assert (q n * runs_tasks D' z' n < q n * runs_tasks D z n) by (apply Qmult_lt_l; auto).
      assert (q' n * runs_tasks D' z' n <= q n * runs_tasks D' z' n) by (apply prod_le; lra). lra. }
  apply Qle_trans with (1 := worth_of_spent n Hn).
  apply Qle_trans with (q n * runs_tasks D' z' n).
  { apply prod_le_l; auto. apply (t_task _ _ _ _ E n Hn). }
  unfold runs_tasks. rewrite <- sum_scale. apply sum_le. intros i Hi.
  pose proof (t_time _ _ _ _ E' n i Hn Hi) as Z.
  destruct (Qlt_le_dec 0 (z' n i)) as [Zp|Zn].
  - rewrite (Only i Hi Zp). pose proof (gamma_pos' n i Hn Hi Zp) as P. rewrite (Others n i Hn Hi Nl) in *.
    pose proof (prod_le _ _ _ (t_cheapest _ _ _ _ E n i Hn Hi P) Z). lra.
  - assert (O : z' n i == 0) by lra. destruct (cheaper i); rewrite O; lra.
Qed.

(** So the value of the liar's holdings of these classes is at most the value before. *)
Lemma liar_takes : worth_of z' l <= worth_of z l.
Proof.
  apply Qnot_lt_le. intros L.
  assert (S : sum N (fun n => worth_of z' n) <= sum N (fun n => worth_of z n)).
  { unfold worth_of. rewrite sum_swap, (sum_swap N K (fun n i => if cheaper i then p i * z n i else 0)).
    apply sum_le. intros i Hi. destruct (cheaper i) eqn:C; [|rewrite !sum_zero by reflexivity; lra].
    rewrite !sum_scale. apply prod_le_l; [|apply (t_price _ _ _ _ E i Hi)].
    unfold cheaper in C. apply lt_iff in C. pose proof (t_price _ _ _ _ E' i Hi).
    rewrite (t_sold _ _ _ _ E i Hi) by lra. apply (t_full _ _ _ _ E' i Hi). }
  destruct (sum_negative N (fun n => worth_of z' n - worth_of z n) l) as (m & Hm & B); auto; [|lra|].
  - rewrite (sum_ext N _ (fun n => worth_of z' n + (-1) * worth_of z n)) by (intros; ring).
    pose proof (sum_add N (fun n => worth_of z' n) (fun n => (-1) * worth_of z n)).
    pose proof (sum_scale N (-1) (fun n => worth_of z n)). cbv beta in *. lra.
  - simpl in B. destruct (Nat.eq_dec m l) as [->|Ne]; [lra|]. pose proof (others_take m Hm Ne). lra.
Qed.

(** The liar's tasks on classes where it can truly run *)
Definition useful : Q := sum K (fun i => if lt 0 (of_gamma D l i) then z' l i * of_gamma D' l i else 0).

Theorem no_more_useful_tasks u :
  u <= useful -> (forall T, of_limit D l = Some T -> u <= T) -> u <= runs_tasks D z l.
Proof.
  intros U T. destruct G as [Wp Gp]. destruct G' as [_ Gp'].
  destruct (any K (fun i => lt 0 (of_gamma D l i))) eqn:A.
  2:{ assert (useful == 0).
      { apply sum_zero. intros i Hi. destruct (lt 0 (of_gamma D l i)) eqn:C; [|reflexivity]. exfalso.
        assert (any K (fun i => lt 0 (of_gamma D l i)) = true) by (apply any_iff; eauto). congruence. }
      pose proof (runs_nonneg l Hl). lra. }
  apply any_iff in A. destruct A as (i1 & H1 & A). apply lt_iff in A.
  destruct (t_spent _ _ _ _ E l i1 Hl H1 A) as [(T0 & ET & S)|S]; [specialize (T T0 ET); lra|].
  pose proof (Wp l Hl) as Wl. pose proof (t_task _ _ _ _ E l Hl) as Q0. pose proof (runs_nonneg l Hl) as R0.
  assert (Q : 0 < q l).
  { destruct (Qlt_le_dec 0 (q l)); auto. assert (O : q l == 0) by lra. rewrite O in S. lra. }
  apply Qle_trans with (1 := U). apply (Qmult_le_l _ _ (q l)); auto.
  destruct (any K (fun i => lt 0 (of_gamma D l i) && negb (cheaper i) && lt 0 (z' l i))) eqn:B.
  - apply any_iff in B. destruct B as (i & Hi & B). bools. apply negb_true_iff in H2. unfold cheaper in H2. bools.
    pose proof (gamma_pos' l i Hl Hi H0) as P. pose proof (t_bought _ _ _ _ E' l i Hl Hi H0) as Bo.
    pose proof (t_cheapest _ _ _ _ E l i Hl Hi H) as C. pose proof (Less i Hi H) as Le.
    pose proof (prod_le_l _ _ _ Le Q0) as C'.
    assert (Q' : q l <= q' l).
    { apply Qnot_lt_le. intros L. pose proof (Qmult_lt_compat_r _ _ _ P L). lra. }
    pose proof (t_budget _ _ _ _ E' l Hl) as Bu. rewrite (Weights l Hl) in Bu.
    assert (V : useful <= runs_tasks D' z' l).
    { apply sum_le. intros j Hj. pose proof (prod_nonneg _ _ (t_time _ _ _ _ E' l j Hl Hj) (Gp' l j Hl Hj)).
      destruct (lt 0 (of_gamma D l j)); lra. }
    pose proof (prod_le _ _ _ Q' (runs_nonneg' l Hl)). pose proof (prod_le_l _ _ _ V Q0). lra.
  - apply Qle_trans with (worth_of z' l).
    2:{ pose proof liar_takes. pose proof (worth_of_spent l Hl). lra. }
    unfold useful. rewrite <- sum_scale. apply sum_le. intros i Hi.
    pose proof (t_time _ _ _ _ E' l i Hl Hi) as Z. pose proof (prod_nonneg _ _ (t_price _ _ _ _ E i Hi) Z) as PZ.
    destruct (lt 0 (of_gamma D l i)) eqn:Us; [|destruct (cheaper i); lra].
    destruct (cheaper i) eqn:C.
    + apply lt_iff in Us. pose proof (prod_le_l _ _ _ (Less i Hi Us) Q0) as L1.
      pose proof (t_cheapest _ _ _ _ E l i Hl Hi Us) as L2.
      assert (L : q l * of_gamma D' l i <= p i) by lra. pose proof (prod_le _ _ _ L Z). lra.
    + destruct (Qlt_le_dec 0 (z' l i)) as [Zp|Zn].
      * exfalso. assert (X : any K (fun i => lt 0 (of_gamma D l i) && negb (cheaper i) && lt 0 (z' l i)) = true);
          [|congruence]. apply any_iff. exists i. split; auto. rewrite Us, C. simpl. apply lt_iff. auto.
      * assert (O : z' l i == 0) by lra. rewrite O. lra.
Qed.
End Lie.

(** * Bundles *)

(** The declared bundle, in units that contain one true task. The allocation does not depend on the size of a task of a
    user. *)
Definition scaled (D : declared) (l : nat) (c : Q) : declared := {|
  of_weight := of_weight D;
  of_limit := fun n => if Nat.eqb n l then option_map (fun T => c * T) (of_limit D n) else of_limit D n;
  of_gamma := fun n i => if Nat.eqb n l then c * of_gamma D n i else of_gamma D n i |}.

Lemma scaled_runs D l c z n :
  runs_tasks (scaled D l c) z n == (if Nat.eqb n l then c * runs_tasks D z n else runs_tasks D z n).
Proof.
  unfold runs_tasks, scaled. simpl. destruct (Nat.eqb n l); [|reflexivity].
  rewrite <- sum_scale. apply sum_ext. intros. ring.
Qed.

Lemma scaled_priced D l c z p q : 0 < c -> priced D z p q ->
  priced (scaled D l c) z p (fun n => if Nat.eqb n l then q n / c else q n).
Proof.
  intros C E.
  assert (Gamma : forall n i, (if Nat.eqb n l then q n / c else q n) * of_gamma (scaled D l c) n i ==
    q n * of_gamma D n i).
  { intros n i. simpl. destruct (Nat.eqb n l); [field; lra|reflexivity]. }
  assert (Runs : forall n, (if Nat.eqb n l then q n / c else q n) * runs_tasks (scaled D l c) z n ==
    q n * runs_tasks D z n).
  { intros n. rewrite scaled_runs. destruct (Nat.eqb n l); [field; lra|reflexivity]. }
  assert (Pos : forall n i, 0 < of_gamma (scaled D l c) n i -> 0 < of_gamma D n i).
  { intros n i. simpl. destruct (Nat.eqb n l); auto. intros H. destruct (Qlt_le_dec 0 (of_gamma D n i)); auto.
    pose proof (prod_le_l _ _ c q0). lra. }
  constructor.
  - apply (t_time _ _ _ _ E).
  - intros n i Hn Hi O. apply (t_gamma _ _ _ _ E); auto. simpl in O. destruct (Nat.eqb n l); auto.
    destruct (Qmult_integral _ _ O); auto. lra.
  - apply (t_full _ _ _ _ E).
  - intros n T Hn L. rewrite scaled_runs. simpl in L. destruct (Nat.eqb n l); [|apply (t_limit _ _ _ _ E); auto].
    destruct (of_limit D n) as [T0|] eqn:F; [|discriminate]. simpl in L. injection L as <-.
    apply prod_le_l; [apply (t_limit _ _ _ _ E); auto|lra].
  - apply (t_price _ _ _ _ E).
  - apply (t_sold _ _ _ _ E).
  - intros n Hn. pose proof (t_task _ _ _ _ E n Hn). destruct (Nat.eqb n l); auto.
    unfold Qdiv. apply prod_nonneg; auto. apply Qinv_le_0_compat. lra.
  - intros n i Hn Hi P. rewrite Gamma. apply (t_cheapest _ _ _ _ E); auto.
  - intros n i Hn Hi Z. rewrite Gamma. apply (t_bought _ _ _ _ E); auto.
  - intros n Hn. rewrite Runs. apply (t_budget _ _ _ _ E); auto.
  - intros n i Hn Hi P. destruct (t_spent _ _ _ _ E n i Hn Hi (Pos n i P)) as [(T & L & A)|A].
    + left. simpl. rewrite L. simpl. destruct (Nat.eqb n l) eqn:F.
      * exists (c * T). split; auto. rewrite scaled_runs, F, A. reflexivity.
      * exists T. split; auto. rewrite scaled_runs, F. auto.
    + right. rewrite Runs. auto.
Qed.

Variable M : nat.                       (* resources *)

(** The truth D and the declarations D' differ only in user l. The true demand of l is d on all classes, and l declares
    d'. Class i has the capacity [room i r]. *)
Theorem strategy_proof_in_bundles (D D' : declared) (l : nat) (d d' : nat -> Q) (room : nat -> nat -> Q) :
  (l < N)%nat -> proper D -> proper D' ->
  (forall n, (n < N)%nat -> of_weight D' n == of_weight D n) ->
  (forall n, (n < N)%nat -> n <> l -> of_limit D' n = of_limit D n) ->
  (forall n i, (n < N)%nat -> (i < K)%nat -> n <> l -> of_gamma D' n i == of_gamma D n i) ->
  (forall r, (r < M)%nat -> 0 <= d r /\ 0 <= d' r) ->
  (* with all of a class that it may use, the scarcest of the resources that it demands is used up; *)
  (forall i, (i < K)%nat -> 0 < of_gamma D l i ->
    exists r, (r < M)%nat /\ 0 < d r /\ of_gamma D l i * d r == room i r) ->
  (* the tasks that it is declared to run with all of a class fit; *)
  (forall i r, (i < K)%nat -> (r < M)%nat -> of_gamma D' l i * d' r <= room i r) ->
  forall z z', ps_dsf_tdm D z -> ps_dsf_tdm D' z' ->
  (* with the bundles that it declared it runs y i true tasks on each class i, and at most T_l in total. *)
  forall y,
  (forall i, (i < K)%nat -> 0 <= y i) ->
  (forall i, (i < K)%nat -> of_gamma D l i == 0 -> y i == 0) ->
  (forall i r, (i < K)%nat -> (r < M)%nat -> y i * d r <= z' l i * of_gamma D' l i * d' r) ->
  (forall T, of_limit D l = Some T -> sum K y <= T) ->
  sum K y <= runs_tasks D z l.
Proof.
  intros Hl G G' Wt Lt Ot Dn Tight Fits z z' (p & q & E) (p' & q' & E') y Y0 Yg Yb Yt.
  destruct (any M (fun r => lt 0 (d r))) eqn:A.
  2:{ assert (Z : sum K y == 0); [|pose proof (runs_nonneg D G z p q E l Hl); lra].
      apply sum_zero. intros i Hi. apply Yg; auto. destruct G as [_ Gp]. specialize (Gp l i Hl Hi).
      destruct (Qlt_le_dec 0 (of_gamma D l i)) as [P|P]; [|lra]. exfalso.
      destruct (Tight i Hi P) as (r & Hr & Dr & _).
      assert (any M (fun r => lt 0 (d r)) = true); [|congruence]. apply any_iff. exists r. split; auto. apply lt_iff. auto. }
  apply any_iff in A. destruct A as (r1 & H1 & A).
  destruct (some_least (fun r => lt 0 (d r)) (fun r => d' r / d r) M r1 H1 A) as (r0 & H0 & P0 & Least).
  apply lt_iff in P0. set (c := d' r0 / d r0).
  assert (C : forall r, (r < M)%nat -> c * d r <= d' r).
  { intros r Hr. destruct (Dn r Hr) as [Dr Dr']. destruct (Qlt_le_dec 0 (d r)) as [P|P].
    - assert (L : c <= d' r / d r) by (apply Least; auto; apply lt_iff; auto).
      pose proof (prod_le _ _ _ L Dr) as B. setoid_replace (d' r / d r * d r) with (d' r) in B by (field; lra). auto.
    - assert (O : d r == 0) by lra. rewrite O. lra. }
  assert (C0 : c * d r0 == d' r0) by (unfold c; field; lra).
  assert (Yc : forall i, (i < K)%nat -> y i <= z' l i * (c * of_gamma D' l i)).
  { intros i Hi. specialize (Yb i r0 Hi H0). rewrite <- C0 in Yb.
    apply (Qmult_le_r _ _ (d r0)); auto. lra. }
  assert (Cn : 0 <= c).
  { unfold c, Qdiv. apply prod_nonneg; [apply Dn; auto|]. apply Qinv_le_0_compat. lra. }
  destruct (Qlt_le_dec 0 c) as [Cp|Cz].
  2:{ assert (O : c == 0) by lra. assert (Z : sum K y <= 0); [|pose proof (runs_nonneg D G z p q E l Hl); lra].
      rewrite <- (sum_zero K (fun _ => 0)) by reflexivity. apply sum_le. intros i Hi.
      specialize (Yc i Hi). rewrite O in Yc. lra. }
  pose proof (scaled_priced D' l c z' p' q' Cp E') as E2.
  assert (Eqb : forall n, n <> l -> Nat.eqb n l = false) by (intros; apply Nat.eqb_neq; auto).
  eapply (no_more_useful_tasks D (scaled D' l c) l Hl G) with (z := z) (z' := z'); [| | | | |exact E|exact E2| |exact Yt].
  - destruct G' as [Wp Gp]. split; [exact Wp|]. intros n i Hn Hi. simpl. specialize (Gp n i Hn Hi).
    destruct (Nat.eqb n l); auto. apply prod_nonneg; auto.
  - exact Wt.
  - intros n Hn Nl. simpl. rewrite (Eqb n Nl). auto.
  - intros n i Hn Hi Nl. simpl. rewrite (Eqb n Nl). auto.
  - intros i Hi P. simpl. rewrite Nat.eqb_refl. destruct (Tight i Hi P) as (r & Hr & Dr & T).
    apply (Qmult_le_r _ _ (d r)); auto. rewrite T. apply Qle_trans with (2 := Fits i r Hi Hr).
    destruct G' as [_ Gp]. pose proof (prod_le_l _ _ _ (C r Hr) (Gp l i Hl Hi)). lra.
  - apply sum_le. intros i Hi. simpl. rewrite Nat.eqb_refl. destruct G as [_ Gp]. specialize (Gp l i Hl Hi).
    destruct (lt 0 (of_gamma D l i)) eqn:Us; [apply Yc; auto|]. apply lt_false in Us.
    rewrite (Yg i Hi); lra.
Qed.
End Times.
Print Assumptions strategy_proof_in_bundles.
Print Assumptions meets_theorem_2.
