(** Proves Theorem A on all classes together. Given the tasks of every user, water filling proposes a point for every
    class (TheoremAWater.v). If no proposal changes the tasks, every user has a bottleneck on every class. The proof
    uses a grid over the tasks of users. The label of a grid point is an entry that the proposals would increase. By
    Sperner.v some cell has all labels, and in this cell the proposals change almost nothing. All conditions are
    conjunctions and disjunctions of inequalities, so a rational point meets them exactly (Closure.v). The proof needs
    no continuity, because the point of a class is unique (TheoremA.v). *)
From Coq Require Import QArith Qabs Qround Qfield Arith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Arithmetic TheoremA TheoremAWater Duality Closure Sperner ExistsLevels.
Import ListNotations.
Open Scope Q_scope.

Lemma choices_of_list (A B : Type) (dec : forall a b : A, {a = b} + {a <> b}) (b0 : B) (R : A -> B -> Prop) l :
  (forall a, In a l -> exists b, R a b) -> exists f, forall a, In a l -> R a (f a).
Proof.
  induction l as [|a l IH]; intros H; [exists (fun _ => b0); intros a []|]. destruct IH as (f & F); [intros; apply H; right; auto|].
  destruct (H a (or_introl eq_refl)) as (b & Hb). exists (fun c => if dec c a then b else f c). intros c I.
  destruct (dec c a) as [->|Ne]; auto. destruct I as [E|I]; [congruence|auto].
Qed.
Lemma find_first f n : match find f (seq 0 n) with
  | Some a => (a < n)%nat /\ f a = true /\ forall c, (c < a)%nat -> f c = false
  | None => forall c, (c < n)%nat -> f c = false end.
Proof.
  assert (G : forall s, match find f (seq s n) with
    | Some a => (s <= a < s + n)%nat /\ f a = true /\ forall c, (s <= c < a)%nat -> f c = false
    | None => forall c, (s <= c < s + n)%nat -> f c = false end).
  { induction n; intros s; simpl; [intros; lia|]. destruct (f s) eqn:E.
    - repeat split; auto; try lia; intros; lia.
    - specialize (IHn (S s)). destruct (find f (seq (S s) n)) as [a|].
      + destruct IHn as (A & B & C). repeat split; auto; try lia. intros c Hc. destruct (Nat.eq_dec c s) as [->|]; auto. apply C. lia.
      + intros c Hc. destruct (Nat.eq_dec c s) as [->|]; auto. apply IHn. lia. }
  specialize (G 0%nat). destruct (find f (seq 0 n)).
  - destruct G as (A & B & C). repeat split; auto; [lia|]. intros. apply C. lia.
  - intros. apply G. lia.
Qed.

Section On.
Variable P : market.
Notation N := (m_users P). Notation K := (m_classes P). Notation M := (m_resources P).
Hypothesis W : market_well_formed P.
Hypothesis Ga : gamma_of_resources P.
Notation D := (N * K)%nat.
Notation V := (D * S (S D))%nat.

(** The tasks of n on each class: y on class i, and v on all other classes *)
Definition mixed (i : nat) (v y : nat -> nat -> Q) (n h : nat) : Q := if Nat.eqb h i then y n h else v n h.
Lemma meets_ext i x y : (i < K)%nat -> (forall n h, (n < N)%nat -> (h < K)%nat -> x n h == y n h) -> meets P i x -> meets P i y.
Proof.
  intros Hi E [[A B C F] G].
  assert (T : forall n, (n < N)%nat -> all_tasks P x n == all_tasks P y n) by (intros n Hn; apply sum_ext; intros; apply E; auto).
  assert (Lv : forall n, (n < N)%nat -> level P x i n == level P y i n) by (intros n Hn; unfold level; rewrite T by auto; reflexivity).
  assert (Ld : forall r, sum N (fun n => x n i * m_demand P n i r) == sum N (fun n => y n i * m_demand P n i r)).
  { intros r. apply sum_ext. intros n Hn. rewrite E by auto. reflexivity. }
  split; [constructor|].
  - intros n Hn. rewrite <- E by auto. auto.
  - intros n Hn Z. rewrite <- E by auto. auto.
  - intros r Hr. rewrite <- Ld. auto.
  - intros n L Hn HL. rewrite <- E, <- T by auto. auto.
  - intros n Hn Gn. destruct (G n Hn Gn) as [H|(r & [R1 R2 R3 R4])].
    + left. unfold has_all in *. destruct (m_limit P n); auto. rewrite <- T by auto. exact H.
    + right. exists r. constructor; auto; [rewrite <- Ld; exact R2|]. intros m Hm Pm. rewrite <- !Lv by auto. apply R4; auto.
      rewrite E by auto. exact Pm.
Qed.

(** * The conditions as inequalities

    The variables are the tasks v of every user, and 1 + D proposals. A proposal states the tasks that every class would
    give. *)
Definition at_ (n i : nat) : nat := (n * K + i)%nat.
Definition of_copy (l a : nat) : nat := (D * S l + a)%nat.
Definition base (z : nat -> Q) (n i : nat) : Q := z (at_ n i).
Definition copy (z : nat -> Q) (l n i : nat) : Q := z (of_copy l (at_ n i)).
Lemma at_less n i : (n < N)%nat -> (i < K)%nat -> (at_ n i < D)%nat.
Proof. unfold at_. nia. Qed.
Lemma base_less a : (a < D)%nat -> (a < V)%nat.
Proof. nia. Qed.
Lemma copy_less l a : (l <= D)%nat -> (a < D)%nat -> (of_copy l a < V)%nat.
Proof. unfold of_copy. nia. Qed.

Definition it (k j : nat) : Q := if Nat.eqb j k then 1 else 0.
Definition own (l i n : nat) : nat -> Q := it (of_copy l (at_ n i)).
Definition total (l i n : nat) (j : nat) : Q := sum K (fun h => if Nat.eqb h i then own l i n j else it (at_ n h) j).
Definition at_most (c : nat -> Q) (q : Q) : formula := Holds {| coef := c; most := q |}.
Arguments at_most : simpl never.
Lemma at_it k z : (k < V)%nat -> at_point V (it k) z == z k.
Proof.
  intros Hk. unfold at_point. rewrite (sum_single V _ k); auto.
  - unfold it. rewrite Nat.eqb_refl. ring.
  - intros j _ Ne. unfold it. apply Nat.eqb_neq in Ne. rewrite Ne. ring.
Qed.
Lemma at_own l i n z : (l <= D)%nat -> (n < N)%nat -> (i < K)%nat -> at_point V (own l i n) z == copy z l n i.
Proof. intros. unfold own, copy. apply (at_it (of_copy l (at_ n i)) z). apply copy_less; auto. apply at_less; auto. Qed.
Lemma at_total l i n z : (l <= D)%nat -> (n < N)%nat -> (i < K)%nat ->
  at_point V (total l i n) z == all_tasks P (mixed i (base z) (copy z l)) n.
Proof.
  intros Hl Hn Hi. unfold at_point, total, all_tasks.
  rewrite (sum_ext V _ (fun j => sum K (fun h => (if Nat.eqb h i then own l i n j else it (at_ n h) j) * z j)))
    by (intros j _; rewrite sum_scale_r; reflexivity).
  rewrite sum_swap. apply sum_ext. intros h Hh. unfold mixed. destruct (Nat.eqb_spec h i) as [->|].
  - apply (at_own l i n z); auto.
  - apply (at_it (at_ n h) z). apply base_less, at_less; auto.
Qed.
Definition used (l i r : nat) (j : nat) : Q := sum N (fun n => own l i n j * m_demand P n i r).
Lemma at_used l i r z : (l <= D)%nat -> (i < K)%nat ->
  at_point V (used l i r) z == sum N (fun n => copy z l n i * m_demand P n i r).
Proof.
  intros Hl Hi. unfold at_point, used.
  rewrite (sum_ext V _ (fun j => sum N (fun n => own l i n j * z j * m_demand P n i r))).
  - rewrite sum_swap. apply sum_ext. intros n Hn. rewrite sum_scale_r. rewrite <- (at_own l i n z) by auto. reflexivity.
  - intros j _. rewrite <- sum_scale_r. apply sum_ext. intros. ring.
Qed.
Lemma at_minus c z : at_point V (fun j => - c j) z == - at_point V c z.
Proof. unfold at_point. rewrite (sum_ext V _ (fun j => -(1) * (c j * z j))) by (intros; ring). rewrite sum_scale. ring. Qed.
Lemma at_difference c d s t z : at_point V (fun j => s * c j - t * d j) z == s * at_point V c z - t * at_point V d z.
Proof.
  unfold at_point. rewrite (sum_ext V _ (fun j => s * (c j * z j) + - t * (d j * z j))) by (intros; ring).
  rewrite sum_add, !sum_scale. ring.
Qed.

Definition per_level (i n : nat) : Q := / (m_gamma P n i * m_weight P n).
Definition holds_less (l i n m r : nat) : formula :=
  if lt 0 (m_demand P m i r)
  then Or (at_most (own l i m) 0)
    (at_most (fun j => per_level i m * total l i m j - per_level i n * total l i n j) 0)
  else Yes.
Definition is_bottleneck (l i n r : nat) : formula :=
  if lt 0 (m_demand P n i r)
  then And (at_most (fun j => - used l i r j) (- m_room P i r)) (all_of N (fun m => holds_less l i n m r)) else No.
Definition answered (l i n : nat) : formula :=
  if lt 0 (m_gamma P n i)
  then Or (match m_limit P n with Some T => at_most (fun j => - total l i n j) (- T) | None => No end)
    (any_of M (is_bottleneck l i n))
  else Yes.
Definition allowed (l i n : nat) : formula :=
  And (And (at_most (fun j => - own l i n j) 0) (if eqq (m_gamma P n i) 0 then at_most (own l i n) 0 else Yes))
    (match m_limit P n with Some T => Or (at_most (own l i n) 0) (at_most (total l i n) T) | None => Yes end).
Definition meets_f (l i : nat) : formula :=
  And (And (all_of N (allowed l i)) (all_of M (fun r => at_most (used l i r) (m_room P i r)))) (all_of N (answered l i)).

Lemma sat_at_most c q z : sat V 0 z (at_most c q) <-> at_point V c z <= q.
Proof. unfold at_most. simpl. split; intros; lra. Qed.
Lemma sat_and f h z : sat V 0 z (And f h) <-> sat V 0 z f /\ sat V 0 z h.
Proof. reflexivity. Qed.
Lemma sat_or f h z : sat V 0 z (Or f h) <-> sat V 0 z f \/ sat V 0 z h.
Proof. reflexivity. Qed.
Lemma meets_iff l i z : (l <= D)%nat -> (i < K)%nat -> sat V 0 z (meets_f l i) <-> meets P i (mixed i (base z) (copy z l)).
Proof.
  intros Hl Hi. set (x := mixed i (base z) (copy z l)).
  assert (Own : forall n, x n i = copy z l n i) by (intros; unfold x, mixed; rewrite Nat.eqb_refl; reflexivity).
  assert (Ao : forall n, (n < N)%nat -> at_point V (own l i n) z == x n i) by (intros; rewrite Own; apply at_own; auto).
  assert (At : forall n, (n < N)%nat -> at_point V (total l i n) z == all_tasks P x n) by (intros; apply at_total; auto).
  assert (Au : forall r, at_point V (used l i r) z == sum N (fun n => x n i * m_demand P n i r)).
  { intros r. rewrite at_used by auto. apply sum_ext. intros. rewrite Own. reflexivity. }
  assert (Al : forall n m r, (n < N)%nat -> (m < N)%nat -> (r < M)%nat -> (0 <= x m i) ->
    sat V 0 z (holds_less l i n m r) <-> (0 < x m i * m_demand P m i r -> level P x i m <= level P x i n)).
  { intros n m r Hn Hm Hr X0. unfold holds_less. pose proof (mw_demand P W m i r Hm Hi Hr) as D0.
    destruct (lt 0 (m_demand P m i r)) eqn:E.
    - apply lt_iff in E. rewrite sat_or, !sat_at_most, at_difference, !At, Ao by auto.
      assert (Lv : forall k, level P x i k == per_level i k * all_tasks P x k) by (intros; unfold level, per_level, Qdiv; ring).
      rewrite !Lv. split.
      + intros [A|A] B; [|lra]. exfalso. pose proof (prod_le _ _ _ A D0). lra.
      + intros H. destruct (Qlt_le_dec 0 (x m i)) as [G|G]; [right|left; auto].
        assert (0 < x m i * m_demand P m i r) by (apply Qmult_lt_0_compat; auto). specialize (H H0). lra.
    - apply lt_false in E. split; [intros _ B|intros _; exact I]. assert (Z : m_demand P m i r == 0) by lra. rewrite Z in B. lra. }
  unfold meets_f. rewrite !sat_and, !sat_all. split.
  - intros [[A R] S].
    assert (A' : forall n, (n < N)%nat -> 0 <= x n i /\ (m_gamma P n i == 0 -> x n i <= 0) /\
      forall T, m_limit P n = Some T -> x n i <= 0 \/ all_tasks P x n <= T).
    { intros n Hn. specialize (A n Hn). unfold allowed in A. rewrite !sat_and in A. destruct A as [[A1 A2] A3].
      rewrite sat_at_most in A1. rewrite at_minus, Ao in A1 by auto. split; [lra|]. split.
      - intros Z. destruct (eqq (m_gamma P n i) 0) eqn:E; [|rewrite <- not_true_iff_false, eqq_iff in E; contradiction].
        rewrite sat_at_most in A2. rewrite Ao in A2 by auto. exact A2.
      - intros T L. rewrite L in A3. rewrite sat_or in A3. rewrite !sat_at_most, At, Ao in A3 by auto. exact A3. }
    split; [constructor|].
    + intros n Hn. apply A'; auto.
    + intros n Hn Z. destruct (A' n Hn) as (X & Y & _). specialize (Y Z). lra.
    + intros r Hr. specialize (R r Hr). rewrite sat_at_most in R. rewrite Au in R. exact R.
    + intros n T Hn L. destruct (A' n Hn) as (_ & _ & Y). auto.
    + intros n Hn G. specialize (S n Hn). unfold answered in S. apply lt_iff in G. rewrite G, sat_or in S.
      destruct S as [S|S].
      * left. unfold has_all. destruct (m_limit P n) as [T|]; [|contradiction]. rewrite sat_at_most in S.
        rewrite at_minus, At in S by auto. lra.
      * right. apply sat_any in S. destruct S as (r & Hr & S). exists r. unfold is_bottleneck in S.
        destruct (lt 0 (m_demand P n i r)) eqn:Dn; [|contradiction]. apply lt_iff in Dn. rewrite sat_and in S. destruct S as [S1 S2].
        rewrite sat_at_most in S1. rewrite at_minus, Au in S1. rewrite sat_all in S2. specialize (R r Hr). rewrite sat_at_most in R. rewrite Au in R.
        constructor; auto; [lra|]. intros m Hm. apply Al; auto. apply A'; auto.
  - intros [[F1 F2 F3 F4] S]. split; [split|].
    + intros n Hn. unfold allowed. rewrite !sat_and. split; [split|].
      * apply sat_at_most. rewrite at_minus, Ao by auto. specialize (F1 n Hn). lra.
      * destruct (eqq (m_gamma P n i) 0) eqn:E; [|exact I]. apply eqq_iff in E. apply sat_at_most. rewrite Ao, F2 by auto. lra.
      * destruct (m_limit P n) as [T|] eqn:L; [rewrite sat_or|exact I]. rewrite !sat_at_most, At, Ao by auto. auto.
    + intros r Hr. apply sat_at_most. rewrite Au. auto.
    + intros n Hn. unfold answered. destruct (lt 0 (m_gamma P n i)) eqn:G; [rewrite sat_or|exact I]. apply lt_iff in G.
      destruct (S n Hn G) as [H|(r & [R1 R2 R3 R4])].
      * left. unfold has_all in H. destruct (m_limit P n) as [T|]; [|contradiction]. apply sat_at_most.
        rewrite at_minus, At by auto. lra.
      * right. apply sat_any. exists r. split; auto. unfold is_bottleneck. apply lt_iff in R3. rewrite R3, sat_and. split.
        -- apply sat_at_most. rewrite at_minus, Au. lra.
        -- apply sat_all. intros m Hm. apply Al; auto.
Qed.

(** Proposal l gives entry l no less than v, and the last proposal gives no entry more than v. *)
Definition label_f (l : nat) : formula :=
  if Nat.eqb l D then all_of D (fun a => at_most (fun j => 1 * it (of_copy l a) j - 1 * it a j) 0)
  else at_most (fun j => 1 * it l j - 1 * it (of_copy l l) j) 0.
Definition proposal (l : nat) : formula := And (all_of K (meets_f l)) (label_f l).
Definition proposals : formula := all_of (S D) proposal.

Lemma proposals_meet z : sat V 0 z proposals -> (forall i, (i < K)%nat -> meets P i (base z)).
Proof.
  intros S. unfold proposals in S. rewrite sat_all in S.
  assert (Me : forall l i, (l <= D)%nat -> (i < K)%nat -> meets P i (mixed i (base z) (copy z l))).
  { intros l i Hl Hi. specialize (S l ltac:(lia)). unfold proposal in S. rewrite sat_and, sat_all in S. apply meets_iff; auto. apply S; auto. }
  assert (Same : forall l n i, (l <= D)%nat -> (n < N)%nat -> (i < K)%nat -> copy z l n i == copy z D n i).
  { intros l n i Hl Hn Hi.
    pose proof (one_point_on_a_class P W i Hi _ _ (Me l i Hl Hi) (Me D i (le_n D) Hi)) as O.
    assert (E : mixed i (base z) (copy z l) n i == mixed i (base z) (copy z D) n i).
    { apply O; auto. intros m Hm. apply sum_ext. intros h Hh. unfold mixed. destruct (Nat.eqb h i); reflexivity. }
    unfold mixed in E. rewrite Nat.eqb_refl in E. exact E. }
  assert (Eq : forall n i, (n < N)%nat -> (i < K)%nat -> base z n i == copy z D n i).
  { intros n i Hn Hi. pose proof (at_less n i Hn Hi) as Ha. set (a := at_ n i) in *.
    pose proof (S a ltac:(lia)) as A. pose proof (S D ltac:(lia)) as B. unfold proposal in A, B. rewrite sat_and in A, B.
    destruct A as [_ A], B as [_ B]. unfold label_f in A, B.
    replace (Nat.eqb a D) with false in A by (symmetry; apply Nat.eqb_neq; lia). rewrite Nat.eqb_refl, sat_all in B.
    specialize (B a Ha). rewrite sat_at_most in A, B. rewrite at_difference, !at_it in A, B; try apply copy_less; try apply base_less; auto; try lia.
    specialize (Same a n i ltac:(lia) Hn Hi). unfold copy, base in *. fold a in Same |- *. lra. }
  intros i Hi. apply (meets_ext i (mixed i (base z) (copy z D))); auto. intros n h Hn Hh. unfold mixed.
  destruct (Nat.eqb h i); [symmetry; apply Eq; auto|reflexivity].
Qed.

(** * A grid, and a cell with all labels *)
Lemma proposal_exists v : exists y, forall i, (i < K)%nat -> meets P i (mixed i v y).
Proof.
  destruct (choices (nat -> Q) (fun _ => 0) (fun i y => meets P i (on_class i v y)) K) as (y & Y).
  { intros i Hi. apply (a_point_on_a_class P W i Hi).
    intros n Hn G. destruct (Ga n i Hn Hi) as [Z|[_ (r & Hr & Dr & _)]]; [lra|]. exists r. auto. }
  exists (fun n i => y i n). intros i Hi. apply (meets_ext i (on_class i v (y i))); auto.
  intros n h _ _. unfold on_class, mixed. destruct (Nat.eqb_spec h i) as [->|]; reflexivity.
Qed.
Lemma proposal_bounds v y i n : (i < K)%nat -> (n < N)%nat -> meets P i (mixed i v y) -> 0 <= y n i /\ y n i <= m_gamma P n i.
Proof.
  intros Hi Hn [[A B C _] _]. unfold mixed in A, B, C. rewrite Nat.eqb_refl in A, B, C.
  split; auto. destruct (Ga n i Hn Hi) as [Z|[_ (r & Hr & Dr & E)]]; [rewrite B; auto; lra|].
  specialize (C r Hr). apply Qnot_lt_le. intros L. assert (T : y n i * m_demand P n i r <= m_room P i r).
  { apply Qle_trans with (2 := C).
    apply (sum_term N (fun m => y m i * m_demand P m i r)); auto. intros m Hm. apply prod_nonneg; [|apply (mw_demand P W)]; auto. }
  assert (0 < (y n i - m_gamma P n i) * m_demand P n i r) by (apply Qmult_lt_0_compat; lra). lra.
Qed.

Definition top : Q := sum N (fun n => sum K (fun i => m_gamma P n i)).
Lemma gamma_top n i : (n < N)%nat -> (i < K)%nat -> m_gamma P n i <= top.
Proof.
  intros Hn Hi. apply Qle_trans with (sum K (fun i => m_gamma P n i)).
  - apply (sum_term K (fun i => m_gamma P n i)); auto. intros. apply (mw_gamma P W); auto.
  - apply (sum_term N (fun n => sum K (fun i => m_gamma P n i))); auto. intros. apply sum_nonneg. intros. apply (mw_gamma P W); auto.
Qed.
Lemma top_nonneg : 0 <= top.
Proof. apply sum_nonneg. intros. apply sum_nonneg. intros. apply (mw_gamma P W); auto. Qed.
Lemma at_div n i : (i < K)%nat -> (at_ n i / K = n)%nat /\ (at_ n i mod K = i)%nat.
Proof.
  intros Hi. unfold at_. rewrite Nat.div_add_l, Nat.div_small, Nat.add_0_r by lia.
  replace (n * K + i)%nat with (i + n * K)%nat by lia. rewrite Nat.mod_add, Nat.mod_small by lia. auto.
Qed.
Lemma at_all a : (a < D)%nat -> exists n i, (n < N)%nat /\ (i < K)%nat /\ at_ n i = a.
Proof.
  intros Ha. assert (K <> 0)%nat by (intros E; rewrite E, Nat.mul_0_r in Ha; lia). exists (a / K)%nat, (a mod K)%nat.
  split; [apply Nat.div_lt_upper_bound; lia|]. split; [apply Nat.mod_upper_bound; auto|]. unfold at_. rewrite (Nat.div_mod a K) at 3 by auto. lia.
Qed.

Section Grid.
Variable p : nat.
Hypothesis P0 : (0 < p)%nat.
Hypothesis D0 : (0 < D)%nat.
Definition number (w : nat) : Q := inject_Z (Z.of_nat w).
Definition mesh : Q := (top + 2) / number p.
Definition point (w : nat) : Q := -(1) + mesh * number w.
Lemma number_pos : 0 < number p.
Proof. unfold number. change 0 with (inject_Z 0). rewrite <- Zlt_Qlt. lia. Qed.
Lemma mesh_nonneg : 0 <= mesh.
Proof. pose proof number_pos. pose proof top_nonneg. apply quotient_nonneg; lra. Qed.
Lemma point_zero : point 0 == -(1).
Proof. unfold point, number. change (inject_Z (Z.of_nat 0)) with 0. ring. Qed.
Lemma point_top : point p == top + 1.
Proof. pose proof number_pos. unfold point, mesh. field. lra. Qed.
Lemma point_next w : point (S w) == point w + mesh.
Proof. unfold point, number. rewrite Nat2Z.inj_succ. unfold Z.succ. rewrite inject_Z_plus. change (inject_Z 1) with 1. ring. Qed.

Variable f : list nat -> nat -> Q.
Definition given (t : list nat) (n i : nat) : Q := point (nth (at_ n i) t 0%nat).
Definition gives (t : list nat) (n i : nat) : Q := f t (at_ n i).
Hypothesis Gives : forall t, In t (tuples D (seq 0 (S p))) -> forall i, (i < K)%nat -> meets P i (mixed i (given t) (gives t)).
(** The label of a point is the first entry that is on the lower border or that the proposal increases. The label is D
    if there is no such entry. *)
Definition label_of (t : list nat) : nat :=
  match find (fun a => Nat.eqb (nth a t 0%nat) 0) (seq 0 D) with
  | Some a => a
  | None => match find (fun a => lt (point (nth a t 0%nat)) (f t a)) (seq 0 D) with Some a => a | None => D end
  end.
Definition listed (v : nat -> nat) : list nat := map v (seq 0 D).
Lemma nth_listed v c : (c < D)%nat -> nth c (listed v) 0%nat = v c.
Proof. intros Hc. apply nth_map_seq. exact Hc. Qed.
Lemma listed_in v : on_grid D p v -> In (listed v) (tuples D (seq 0 (S p))).
Proof.
  intros G. apply in_tuples. split; [unfold listed; rewrite map_length, seq_length; reflexivity|].
  intros a I. apply in_map_iff in I. destruct I as (c & <- & I). apply in_seq in I. specialize (G c ltac:(lia)). apply in_seq. lia.
Qed.
Lemma given_bounds t a : In t (tuples D (seq 0 (S p))) -> (a < D)%nat -> 0 <= f t a /\ f t a <= top.
Proof.
  intros I Ha. destruct (at_all a Ha) as (n & i & Hn & Hi & <-).
  destruct (proposal_bounds (given t) (gives t) i n Hi Hn (Gives t I i Hi)) as [A B]. pose proof (gamma_top n i Hn Hi).
  unfold gives in A, B. split; lra.
Qed.
Lemma label_spec t : In t (tuples D (seq 0 (S p))) ->
  ((label_of t < D)%nat /\ point (nth (label_of t) t 0%nat) <= f t (label_of t) /\
    (nth (label_of t) t 0%nat = p -> False)) \/
  (label_of t = D /\ forall a, (a < D)%nat -> f t a <= point (nth a t 0%nat)).
Proof.
  intros I. unfold label_of.
  pose proof (find_first (fun a => Nat.eqb (nth a t 0%nat) 0) D) as F1.
  destruct (find (fun a => Nat.eqb (nth a t 0%nat) 0) (seq 0 D)) as [a|].
  - left. destruct F1 as (A & B & _). apply Nat.eqb_eq in B. rewrite B. split; [auto|]. destruct (given_bounds t a I A).
    pose proof point_zero. split; [lra|lia].
  - pose proof (find_first (fun a => lt (point (nth a t 0%nat)) (f t a)) D) as F2.
    destruct (find (fun a => lt (point (nth a t 0%nat)) (f t a)) (seq 0 D)) as [a|].
    + left. destruct F2 as (A & B & _). apply lt_iff in B. split; [auto|]. split; [lra|]. intros E. rewrite E in B.
      destruct (given_bounds t a I A). pose proof point_top. lra.
    + right. split; [reflexivity|]. intros a Ha. specialize (F2 a Ha). apply lt_false in F2. exact F2.
Qed.

Lemma nearly_met e : steepness V proposals * mesh <= e -> exists z, sat V e z proposals.
Proof.
  intros St. set (lab := fun v => label_of (listed v)).
  assert (Ext : forall v w, (forall c, (c < D)%nat -> v c = w c) -> lab v = lab w).
  { intros v w E. unfold lab. f_equal. apply map_ext_in. intros c I. apply in_seq in I. apply E. lia. }
  destruct (some_cell_has_all_labels D p D0 P0 lab Ext) as (b & s & Va & All).
  { intros v G. unfold lab. destruct (label_spec _ (listed_in v G)) as [[A _]|[A _]]; lia. }
  { intros v c G Hc Z. unfold lab. pose proof (find_first (fun a => Nat.eqb (nth a (listed v) 0%nat) 0) D) as F1. unfold label_of.
    destruct (find (fun a => Nat.eqb (nth a (listed v) 0%nat) 0) (seq 0 D)) as [a|].
    - destruct F1 as (A & B & C). apply Nat.eqb_eq in B. rewrite nth_listed in B by auto. split; [|exact B].
      destruct (Nat.le_gt_cases a c) as [|L]; auto. specialize (C c L). apply Nat.eqb_neq in C. rewrite nth_listed in C by auto. contradiction.
    - specialize (F1 c Hc). apply Nat.eqb_neq in F1. rewrite nth_listed in F1 by auto. contradiction. }
  { intros v c G Hc Z E. unfold lab in E. destruct (label_spec _ (listed_in v G)) as [(A & _ & B)|[A _]]; [|lia].
    apply B. rewrite E, nth_listed by auto. exact Z. }
  destruct (choices nat O (fun l j => (j <= D)%nat /\ lab (vertex b s j) = l) (S D)) as (j & J).
  { intros l Hl. apply All. lia. }
  set (w := fun l => vertex b s (j l)). set (t := fun l => listed (w l)).
  assert (Gw : forall l, on_grid D p (w l)) by (intros l; apply (vertex_grid D p D0 P0 b s D (j l) Va)).
  assert (Tw : forall l, In (t l) (tuples D (seq 0 (S p)))) by (intros l; apply listed_in; auto).
  set (z := fun k => if Nat.ltb k D then point (nth k b 0%nat) else f (t (k / D - 1)%nat) (k mod D)%nat).
  assert (Zc : forall l a, (a < D)%nat -> z (of_copy l a) = f (t l) a).
  { intros l a Ha. unfold z, of_copy. replace (Nat.ltb (D * S l + a) D) with false by (symmetry; apply Nat.ltb_ge; nia).
    replace (D * S l + a)%nat with (S l * D + a)%nat by lia. rewrite Nat.div_add_l, Nat.div_small, Nat.add_0_r by lia.
    replace (S l * D + a)%nat with (a + S l * D)%nat by lia. rewrite Nat.mod_add, Nat.mod_small by lia.
    replace (S l - 1)%nat with l by lia. reflexivity. }
  exists z. unfold proposals. apply sat_all. intros l Hl.
  set (y := fun k => if Nat.ltb k D then point (w l k) else z k).
  apply (sat_near V (proposal l) e z y mesh mesh_nonneg).
  - intros k Hk. pose proof mesh_nonneg. unfold y. destruct (Nat.ltb_spec k D) as [L|L]; [|split; lra].
    unfold z. replace (Nat.ltb k D) with true by (symmetry; apply Nat.ltb_lt; auto). unfold w, vertex, Sperner.one.
    destruct (in_dec Nat.eq_dec k (firstn (j l) s)).
    + rewrite Nat.add_1_r. pose proof (point_next (nth k b 0%nat)). split; lra.
    + rewrite Nat.add_0_r. split; lra.
  - assert (Yc : forall a, (a < D)%nat -> y (of_copy l a) = f (t l) a).
    { intros a Ha. unfold y. replace (Nat.ltb (of_copy l a) D) with false by (symmetry; apply Nat.ltb_ge; unfold of_copy; nia). apply Zc. auto. }
    assert (Yb : forall a, (a < D)%nat -> y a = point (nth a (t l) 0%nat)).
    { intros a Ha. unfold y. replace (Nat.ltb a D) with true by (symmetry; apply Nat.ltb_lt; auto). unfold t. rewrite nth_listed by auto. reflexivity. }
    unfold proposal. apply sat_and. split.
    + apply sat_all. intros i Hi. apply meets_iff; [lia|auto|]. apply (meets_ext i (mixed i (given (t l)) (gives (t l)))); [auto| |apply Gives; auto].
      intros n h Hn Hh. pose proof (at_less n h Hn Hh) as Ha. unfold mixed, given, gives, base, copy.
      destruct (Nat.eqb h i); [rewrite Yc by auto|rewrite Yb by auto]; reflexivity.
    + destruct (J l Hl) as [_ Lab]. unfold lab in Lab. fold (w l) in Lab. fold (t l) in Lab. unfold label_f.
      destruct (label_spec (t l) (Tw l)) as [(A & B & _)|[A B]]; rewrite Lab in A.
      * rewrite Lab in B. replace (Nat.eqb l D) with false by (symmetry; apply Nat.eqb_neq; lia). rewrite sat_at_most, at_difference, !at_it;
          [|apply copy_less; lia|apply base_less; lia]. rewrite Yc, Yb by auto. lra.
      * rewrite A, Nat.eqb_refl. apply sat_all. intros a Ha. rewrite sat_at_most, at_difference, !at_it;
          [|apply base_less; lia|apply copy_less; lia]. rewrite <- A, Yc, Yb by auto. specialize (B a Ha). lra.
  - apply Qle_trans with (2 := St). apply prod_le; [|apply mesh_nonneg]. apply (steepness_all V (S D) proposal). lia.
Qed.
End Grid.

Theorem ps_dsf_exists : exists x, ps_dsf P x.
Proof.
  assert (Limit : forall x, (forall i, (i < K)%nat -> meets P i x) -> ps_dsf P x).
  { intros x H. constructor; auto. intros n T Hn L. destruct (any K (fun i => lt 0 (x n i))) eqn:E.
    - apply any_iff in E. destruct E as (i & Hi & E). apply lt_iff in E. destruct (H i Hi) as [F _].
      destruct (fo_limit P i x F n T Hn L); [lra|auto].
    - assert (Z : all_tasks P x n <= 0).
      { unfold all_tasks. rewrite <- (sum_zero K (fun _ => 0)) by reflexivity. apply sum_le. intros i Hi. apply Qnot_lt_le. intros C.
        rewrite <- not_true_iff_false in E. apply E. apply any_iff. exists i. split; auto. apply lt_iff. auto. }
      pose proof (mw_limit P W n T Hn L). lra. }
  destruct (Nat.eq_dec D 0) as [E|E].
  - destruct (proposal_exists (fun _ _ => 0)) as (y & Y). exists y. apply Limit. intros i Hi.
    apply (meets_ext i (mixed i (fun _ _ => 0) y)); auto. intros n h Hn Hh. exfalso. nia.
  - destruct (closure V proposals) as (z & S).
    + intros e E0. set (q := steepness V proposals * (top + 2) / e).
      set (p := S (Z.to_nat (Qceiling q))).
      assert (Pq : q <= number p).
      { apply Qle_trans with (1 := Qle_ceiling q). unfold number, p. rewrite <- Zle_Qle. lia. }
      destruct (choices_of_list (list nat) (nat -> Q) (list_eq_dec Nat.eq_dec) (fun _ => 0)
        (fun t y => forall i, (i < K)%nat -> meets P i (mixed i (given p t) (fun n i => y (at_ n i))))
        (tuples D (seq 0 (S p)))) as (f & F).
      { intros t _. destruct (proposal_exists (given p t)) as (y & Y). exists (fun a => y (a / K)%nat (a mod K)%nat). intros i Hi.
        apply (meets_ext i (mixed i (given p t) y)); auto. intros n h _ Hh. unfold mixed. destruct (at_div n h Hh) as [-> ->]. reflexivity. }
      apply (nearly_met p ltac:(unfold p; lia) ltac:(lia) f F). unfold mesh. clear f F. pose proof (number_pos p ltac:(unfold p; lia) ltac:(lia)) as Np.
      generalize dependent (number p). intros m Pq Np. assert (Q : steepness V proposals * ((top + 2) / m) == q * e / m).
      { unfold q. field. split; lra. }
      rewrite Q. apply quotient_le; auto. rewrite (Qmult_comm e). apply prod_le; auto. lra.
    + exists (base z). apply Limit. apply proposals_meet. exact S.
Qed.
End On.

Theorem theorem_A : existence.
Proof. intros P W G. apply (ps_dsf_exists P W G). Qed.
