(** Proves facts about linear inequalities over the rationals by the elimination of Fourier and Motzkin: Farkas' lemma,
    duality, and that a bounded linear programme attains its optimum. *)
From Coq Require Import QArith Qfield Arith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Arithmetic.
Import ListNotations.
Open Scope Q_scope.

(** The inequality sum_j coef j * z j <= most *)
Record row := { coef : nat -> Q; most : Q }.
Definition at_point (n : nat) (f z : nat -> Q) : Q := sum n (fun j => f j * z j).
Definition solves (n : nat) (z : nat -> Q) (C : list row) : Prop :=
  forall c, In c C -> at_point n (coef c) z <= most c.

(** The inequalities that are sums of nonnegative multiples of those of C *)
Definition nothing : row := {| coef := fun _ => 0; most := 0 |}.
Definition both (c d : row) : row := {| coef := fun j => coef c j + coef d j; most := most c + most d |}.
Definition times (t : Q) (c : row) : row := {| coef := fun j => t * coef c j; most := t * most c |}.
Inductive follows (C : list row) : row -> Prop :=
| of_nothing : follows C nothing
| of_one c : In c C -> follows C c
| of_both c d : follows C c -> follows C d -> follows C (both c d)
| of_times t c : 0 <= t -> follows C c -> follows C (times t c).

Lemma follows_trans C D c : (forall d, In d D -> follows C d) -> follows D c -> follows C c.
Proof. intros H. induction 1; [constructor 1|auto|constructor 3|constructor 4]; auto. Qed.
Lemma follows_free C k c : (forall d, In d C -> coef d k == 0) -> follows C c -> coef c k == 0.
Proof.
  intros H. induction 1; simpl; [reflexivity|auto| |].
  - rewrite IHfollows1, IHfollows2. reflexivity.
  - rewrite IHfollows. ring.
Qed.
Lemma at_both n c d z : at_point n (coef (both c d)) z == at_point n (coef c) z + at_point n (coef d) z.
Proof. unfold at_point. rewrite <- sum_add. apply sum_ext. intros. simpl. ring. Qed.
Lemma at_times n t c z : at_point n (coef (times t c)) z == t * at_point n (coef c) z.
Proof. unfold at_point. rewrite <- sum_scale. apply sum_ext. intros. simpl. ring. Qed.
Theorem follows_holds n C z c : solves n z C -> follows C c -> at_point n (coef c) z <= most c.
Proof.
  intros S. induction 1.
  - unfold at_point. simpl. rewrite sum_zero; [lra|]. intros. ring.
  - auto.
  - rewrite at_both. simpl. lra.
  - rewrite at_times. simpl. apply prod_le_l; auto.
Qed.

(** * Elimination *)

Definition upper (k : nat) (c : row) : bool := lt 0 (coef c k).
Definition lower (k : nat) (c : row) : bool := lt (coef c k) 0.
Definition free (k : nat) (c : row) : bool := eqq (coef c k) 0.
Definition merge (k : nat) (p q : row) : row := both (times (/ coef p k) p) (times (/ - coef q k) q).
Definition eliminate (k : nat) (C : list row) : list row :=
  filter (free k) C ++ flat_map (fun p => map (merge k p) (filter (lower k) C)) (filter (upper k) C).

Lemma eliminate_in k C c : In c (eliminate k C) ->
  (In c C /\ coef c k == 0) \/ exists p q, c = merge k p q /\ In p C /\ In q C /\ 0 < coef p k /\ coef q k < 0.
Proof.
  unfold eliminate. rewrite in_app_iff, in_flat_map. intros [H|(p & Hp & H)].
  - apply filter_In in H. destruct H as [I E]. left. split; auto. apply eqq_iff. exact E.
  - apply in_map_iff in H. destruct H as (q & <- & Hq). apply filter_In in Hp, Hq. unfold upper, lower in *.
    destruct Hp as [Ip Ep], Hq as [Iq Eq]. bools. right. exists p, q. repeat split; auto.
Qed.
Lemma merge_free k p q : 0 < coef p k -> coef q k < 0 -> coef (merge k p q) k == 0.
Proof. intros. simpl. field. split; lra. Qed.
Lemma eliminate_free k C c : In c (eliminate k C) -> coef c k == 0.
Proof.
  intros H. destruct (eliminate_in k C c H) as [[_ E]|(p & q & -> & _ & _ & Hp & Hq)]; auto. apply merge_free; auto.
Qed.
Lemma eliminate_follows k C c : In c (eliminate k C) -> follows C c.
Proof.
  intros H. destruct (eliminate_in k C c H) as [[I _]|(p & q & -> & Ip & Iq & Hp & Hq)]; [constructor 2; auto|].
  unfold merge. apply of_both; apply of_times; try (constructor 2; assumption); apply Qinv_le_0_compat; lra.
Qed.

Lemma between L U : (forall l u, In l L -> In u U -> l <= u) ->
  exists v : Q, (forall l, In l L -> l <= v) /\ (forall u, In u U -> v <= u).
Proof.
  induction L as [|l L IH]; intros H.
  - clear H. assert (E : exists v : Q, forall u, In u U -> v <= u).
    { induction U as [|u U [v V]]; [exists 0; simpl; tauto|]. exists (smaller u v). intros w [<-|I].
      - minmax; lra.
      - specialize (V w I). minmax; lra. }
    destruct E as [v V]. exists v. split; [simpl; tauto|auto].
  - destruct IH as (v & A & B); [intros; apply H; simpl; auto|]. exists (larger l v). split.
    + intros k [<-|I]; [minmax; lra|]. specialize (A k I). minmax; lra.
    + intros u I. pose proof (H l u (or_introl eq_refl) I). specialize (B u I). minmax; lra.
Qed.

Definition put (z : nat -> Q) (k : nat) (v : Q) (j : nat) : Q := if Nat.eqb j k then v else z j.
Lemma at_put n f z v : at_point (S n) f (put z n v) == at_point n f z + f n * v.
Proof.
  unfold at_point. simpl. unfold put at 2. rewrite Nat.eqb_refl. apply Qplus_comp; [|reflexivity].
  apply sum_ext. intros j Hj. unfold put. replace (Nat.eqb j n) with false; [reflexivity|].
  symmetry. apply Nat.eqb_neq. lia.
Qed.
Theorem eliminate_solves n C z : solves n z (eliminate n C) -> exists v, solves (S n) (put z n v) C.
Proof.
  intros S. set (bound := fun c => (most c - at_point n (coef c) z) / coef c n).
  destruct (between (map bound (filter (lower n) C)) (map bound (filter (upper n) C))) as (v & A & B).
  - intros l u Hl Hu. apply in_map_iff in Hl, Hu. destruct Hl as (q & <- & Hq), Hu as (p & <- & Hp).
    assert (I : In (merge n p q) (eliminate n C)).
    { unfold eliminate. apply in_or_app. right. apply in_flat_map. exists p. split; auto. apply in_map. auto. }
    apply filter_In in Hp, Hq. unfold upper, lower in *. destruct Hp as [_ Hp], Hq as [_ Hq]. bools.
    specialize (S _ I). unfold merge in S. rewrite at_both, !at_times in S. simpl in S. unfold bound.
    assert (E1 : (most p - at_point n (coef p) z) / coef p n ==
      / coef p n * most p - / coef p n * at_point n (coef p) z) by (field; lra).
    assert (E2 : (most q - at_point n (coef q) z) / coef q n ==
      - (/ - coef q n * most q - / - coef q n * at_point n (coef q) z)) by (field; lra).
    rewrite E1, E2. lra.
  - exists v. intros c I. rewrite at_put. destruct (Qlt_le_dec 0 (coef c n)) as [P|P].
    + assert (J : In (bound c) (map bound (filter (upper n) C))).
      { apply in_map. apply filter_In. split; auto. apply lt_iff. auto. }
      specialize (B _ J). unfold bound in B.
      assert (M : v * coef c n <= (most c - at_point n (coef c) z) / coef c n * coef c n) by (apply prod_le; lra).
      assert (E : (most c - at_point n (coef c) z) / coef c n * coef c n == most c - at_point n (coef c) z)
        by (field; lra).
      lra.
    + destruct (Qlt_le_dec (coef c n) 0) as [Q|Q].
      * assert (J : In (bound c) (map bound (filter (lower n) C))).
        { apply in_map. apply filter_In. split; auto. apply lt_iff. auto. }
        specialize (A _ J). unfold bound in A.
        assert (M : (most c - at_point n (coef c) z) / coef c n * - coef c n <= v * - coef c n)
          by (apply prod_le; lra).
        assert (E : (most c - at_point n (coef c) z) / coef c n * - coef c n == - (most c - at_point n (coef c) z))
          by (field; lra).
        lra.
      * assert (Z : coef c n == 0) by lra.
        assert (J : In c (eliminate n C)).
        { unfold eliminate. apply in_or_app. left. apply filter_In. split; auto. apply eqq_iff. exact Z. }
        specialize (S c J). rewrite Z. lra.
Qed.

(** * Farkas' lemma: a system of inequalities has a solution, or 0 < 0 follows from it. *)
Theorem farkas n C : (exists z, solves n z C) \/
  exists c, follows C c /\ (forall j, (j < n)%nat -> coef c j == 0) /\ most c < 0.
Proof.
  revert C. induction n; intros C.
  - destruct (existsb (fun c => lt (most c) 0) C) eqn:E.
    + apply existsb_exists in E. destruct E as (c & I & E). bools. right. exists c.
      split; [constructor 2; auto|]. split; [intros; lia|auto].
    + left. exists (fun _ => 0). intros c I. unfold at_point. simpl. apply Qnot_lt_le. intros L.
      assert (F : existsb (fun c => lt (most c) 0) C = true); [|congruence].
      apply existsb_exists. exists c. split; auto. apply lt_iff. auto.
  - destruct (IHn (eliminate n C)) as [(z & S)|(c & F & Z & M)].
    + left. destruct (eliminate_solves n C z S) as (v & V). eauto.
    + right. exists c. split; [|split; auto].
      * apply (follows_trans C (eliminate n C)); auto. intros d. apply eliminate_follows.
      * intros j Hj. destruct (Nat.eq_dec j n) as [->|]; [|apply Z; lia].
        apply (follows_free (eliminate n C)); auto. intros d. apply eliminate_free.
Qed.

(** * Duality: an upper bound on a linear function over all solutions follows from the inequalities. *)
Section Bound.
Variables (n : nat) (C : list row) (c : nat -> Q) (v : Q).
Definition spread (d : row) : row := {| coef := fun j => if Nat.eqb j n then - most d else coef d j; most := 0 |}.
Definition not_negative : row := {| coef := fun j => if Nat.eqb j n then -(1) else 0; most := 0 |}.
Definition beyond : row := {| coef := fun j => if Nat.eqb j n then v else - c j; most := -(1) |}.
Definition cone : list row := beyond :: not_negative :: map spread C.

Lemma at_last f z : at_point (S n) f z == at_point n f z + f n * z n.
Proof. reflexivity. Qed.
Lemma at_below f h z : (forall j, (j < n)%nat -> f j == h j) -> at_point n f z == at_point n h z.
Proof. intros E. apply sum_ext. intros j Hj. rewrite E by auto. reflexivity. Qed.
Lemma other j : (j < n)%nat -> Nat.eqb j n = false.
Proof. intros. apply Nat.eqb_neq. lia. Qed.

Lemma cone_follows d : follows cone d -> exists u s e, 0 <= u /\ 0 <= s /\ follows C e /\
  (forall j, (j < n)%nat -> coef d j == coef e j - u * c j) /\ coef d n == - most e - s + u * v /\ most d == - u.
Proof.
  induction 1 as [|d I|d e _ (u & s & f & U & S & F & E & L & M) _ (u' & s' & f' & U' & S' & F' & E' & L' & M')
    |t d T _ (u & s & f & U & S & F & E & L & M)].
  - exists 0, 0, nothing. split; [lra|]. split; [lra|]. split; [constructor 1|]. simpl. repeat split; intros; ring.
  - destruct I as [<-|[<-|I]].
    + exists 1, 0, nothing. split; [lra|]. split; [lra|]. split; [constructor 1|]. simpl. rewrite Nat.eqb_refl.
      split; [|split; ring]. intros j Hj. rewrite other by auto. ring.
    + exists 0, 1, nothing. split; [lra|]. split; [lra|]. split; [constructor 1|]. simpl. rewrite Nat.eqb_refl.
      split; [|split; ring]. intros j Hj. rewrite other by auto. ring.
    + apply in_map_iff in I. destruct I as (f & <- & I). exists 0, 0, f. split; [lra|]. split; [lra|].
      split; [constructor 2; auto|]. simpl. rewrite Nat.eqb_refl.
      split; [|split; ring]. intros j Hj. rewrite other by auto. ring.
  - exists (u + u'), (s + s'), (both f f'). split; [lra|]. split; [lra|]. split; [constructor 3; auto|]. simpl.
    split; [|split; [rewrite L, L'; ring|rewrite M, M'; ring]]. intros j Hj. rewrite E, E' by auto. ring.
  - exists (t * u), (t * s), (times t f). split; [apply prod_nonneg; auto|]. split; [apply prod_nonneg; auto|].
    split; [constructor 4; auto|]. simpl. split; [|split; [rewrite L; ring|rewrite M; ring]].
    intros j Hj. rewrite E by auto. ring.
Qed.

Theorem duality : (exists z, solves n z C) -> (forall z, solves n z C -> at_point n c z <= v) ->
  exists d, follows C d /\ (forall j, (j < n)%nat -> coef d j == c j) /\ most d <= v.
Proof.
  intros (z0 & S0) Up. destruct (farkas (S n) cone) as [(z & S)|(d & F & Z & M)].
  - exfalso. assert (T : 0 <= z n).
    { pose proof (S not_negative ltac:(simpl; auto)) as H. rewrite at_last in H. simpl in H. rewrite Nat.eqb_refl in H.
      rewrite (at_below _ (fun _ => 0)) in H by (intros; rewrite other by auto; reflexivity).
      unfold at_point in H. rewrite sum_zero in H by (intros; ring). lra. }
    assert (B : 1 + v * z n <= at_point n c z).
    { pose proof (S beyond ltac:(simpl; auto)) as H. rewrite at_last in H. simpl in H. rewrite Nat.eqb_refl in H.
      rewrite (at_below _ (fun j => -(1) * c j)) in H by (intros; rewrite other by auto; ring).
      assert (E : at_point n (fun j => -(1) * c j) z == -(1) * at_point n c z).
      { unfold at_point. rewrite <- sum_scale. apply sum_ext. intros. ring. }
      rewrite E in H. lra. }
    assert (In_C : forall d, In d C -> at_point n (coef d) z <= most d * z n).
    { intros d I. pose proof (S (spread d) ltac:(simpl; right; right; apply in_map; auto)) as H.
      rewrite at_last in H. simpl in H. rewrite Nat.eqb_refl in H.
      rewrite (at_below _ (coef d)) in H by (intros; rewrite other by auto; reflexivity). lra. }
    (* The new point is far from z0 in the direction of z, or it is z divided by its last coordinate. *)
    assert (Far : forall f s, at_point n f (fun j => z0 j + s * z j) == at_point n f z0 + s * at_point n f z).
    { intros f s. unfold at_point. rewrite <- sum_scale, <- sum_add. apply sum_ext. intros. ring. }
    assert (Part : forall f s, at_point n f (fun j => s * z j) == s * at_point n f z).
    { intros f s. unfold at_point. rewrite <- sum_scale. apply sum_ext. intros. ring. }
    destruct (Qlt_le_dec 0 (z n)) as [P|P].
    + assert (I0 : 0 <= / z n) by (apply Qinv_le_0_compat; lra).
      assert (S1 : solves n (fun j => / z n * z j) C).
      { intros d I. rewrite Part. specialize (In_C d I). pose proof (prod_le_l _ _ _ In_C I0) as L.
        assert (E : / z n * (most d * z n) == most d) by (field; lra). lra. }
      specialize (Up _ S1). rewrite Part in Up. pose proof (prod_le_l _ _ _ Up T) as L.
      assert (E : z n * (/ z n * at_point n c z) == at_point n c z) by (field; lra). lra.
    + assert (Z : z n == 0) by lra. pose proof (Up z0 S0) as U0. set (s := v - at_point n c z0 + 1).
      assert (S1 : solves n (fun j => z0 j + s * z j) C).
      { intros d I. rewrite Far. specialize (In_C d I). rewrite Z in In_C. specialize (S0 d I).
        assert (0 <= s) by (unfold s; lra). assert (L : at_point n (coef d) z <= 0) by lra.
        pose proof (prod_le_l _ _ s L ltac:(auto)). lra. }
      specialize (Up _ S1). rewrite Far in Up. rewrite Z in B.
      assert (0 <= s) by (unfold s; lra). assert (L : 1 <= at_point n c z) by lra.
      pose proof (prod_le_l _ _ s L ltac:(auto)). unfold s in *. lra.
  - destruct (cone_follows d F) as (u & s & e & U & Sn & Fe & E & L & Md).
    assert (Up0 : 0 < u) by lra. exists (times (/ u) e).
    assert (I0 : 0 <= / u) by (apply Qinv_le_0_compat; lra).
    split; [constructor 4; auto|]. split; simpl.
    + intros j Hj. assert (X : coef e j == u * c j).
      { pose proof (E j Hj) as X. rewrite (Z j) in X by lia. lra. }
      rewrite X. field. lra.
    + assert (X : most e <= u * v). { rewrite (Z n) in L by lia. lra. }
      pose proof (prod_le_l _ _ _ X I0) as Y. assert (Q : / u * (u * v) == v) by (field; lra). lra.
Qed.
End Bound.

(** * A linear function that is bounded on the solutions attains its greatest value. *)

(** Eliminates all variables except the first few. *)
Fixpoint project (k m : nat) (C : list row) : list row :=
  match k with O => C | S k => project k m (eliminate (m + k) C) end.
Lemma eliminate_keeps n C z : solves (S n) z C -> solves n z (eliminate n C).
Proof.
  intros S c I. pose proof (follows_holds (Datatypes.S n) C z c S (eliminate_follows n C c I)) as H.
  rewrite at_last, (eliminate_free n C c I) in H. lra.
Qed.
Lemma project_solves k m C z : solves m z (project k m C) -> exists y, solves (m + k) y C /\ forall j, (j < m)%nat -> y j = z j.
Proof.
  revert C. induction k; simpl; intros C S.
  - exists z. rewrite Nat.add_0_r. auto.
  - destruct (IHk _ S) as (y & Y & E). destruct (eliminate_solves _ _ _ Y) as (v & V). exists (put y (m + k) v).
    rewrite Nat.add_succ_r. split; auto. intros j Hj. unfold put. replace (Nat.eqb j (m + k)) with false; auto.
    symmetry. apply Nat.eqb_neq. lia.
Qed.
Lemma project_keeps k m C z : solves (m + k) z C -> solves m z (project k m C).
Proof.
  revert C. induction k; simpl; intros C S; [rewrite Nat.add_0_r in S; auto|].
  apply IHk. apply eliminate_keeps. rewrite Nat.add_succ_r in S. auto.
Qed.

Section Attained.
Variables (n : nat) (C : list row) (c : nat -> Q).
(** The value of the objective is variable 0. The variables of the programme follow it. *)
Definition later (f : nat -> Q) (j : nat) : Q := match j with O => 0 | S j => f j end.
Definition value_row : row := {| coef := fun j => match j with O => 1 | S j => - c j end; most := 0 |}.
Definition with_value : list row := value_row :: map (fun d => {| coef := later (coef d); most := most d |}) C.
Definition first (v : Q) (z : nat -> Q) (j : nat) : Q := match j with O => v | S j => z j end.

Lemma sum_first k f : sum (S k) f == f 0%nat + sum k (fun j => f (S j)).
Proof. induction k; [simpl; ring|]. change (sum (S (S k)) f) with (sum (S k) f + f (S k)). rewrite IHk. simpl. ring. Qed.
Lemma with_value_iff z : solves (1 + n) z with_value <->
  z 0%nat <= at_point n c (fun j => z (S j)) /\ solves n (fun j => z (S j)) C.
Proof.
  assert (V : at_point (1 + n) (coef value_row) z == z 0%nat - at_point n c (fun j => z (S j))).
  { unfold at_point. rewrite (sum_first n). simpl.
    rewrite (sum_ext n _ (fun j => -(1) * (c j * z (S j)))) by (intros; ring). rewrite sum_scale. ring. }
  assert (L : forall d, at_point (1 + n) (later (coef d)) z == at_point n (coef d) (fun j => z (S j))).
  { intros d. unfold at_point. rewrite (sum_first n). simpl. ring. }
  split.
  - intros S. split.
    + pose proof (S value_row (or_introl eq_refl)) as H. rewrite V in H. simpl in H. lra.
    + intros d I. rewrite <- L. apply (S {| coef := later (coef d); most := most d |}). right. apply in_map_iff. eauto.
  - intros [A B] d [<-|I]; [rewrite V; simpl; lra|]. apply in_map_iff in I. destruct I as (e & <- & I). simpl. rewrite L. auto.
Qed.

Theorem attained : (exists z, solves n z C) -> (exists v, forall z, solves n z C -> at_point n c z <= v) ->
  exists z, solves n z C /\ forall y, solves n y C -> at_point n c y <= at_point n c z.
Proof.
  intros (z0 & S0) (v & V). set (D := project n 1 with_value).
  assert (One : forall z d, at_point 1 (coef d) z == coef d 0%nat * z 0%nat) by (intros; unfold at_point; simpl; ring).
  assert (Is : forall z, solves n z C -> solves 1 (first (at_point n c z) z) D).
  { intros z S. apply project_keeps. apply with_value_iff. simpl. split; [apply Qle_refl|exact S]. }
  assert (Of : forall w, solves 1 w D -> exists z, solves n z C /\ w 0%nat <= at_point n c z).
  { intros w So. destruct (project_solves n 1 with_value w So) as (y & Y & E). apply with_value_iff in Y. destruct Y as [A B].
    exists (fun j => y (S j)). rewrite <- (E 0%nat) by lia. auto. }
  (* v is the least upper bound on the value. *)
  set (U := map (fun d => most d / coef d 0%nat) (filter (upper 0) D)).
  assert (Top : exists t, In t U /\ forall u, In u U -> t <= u).
  { assert (N : U <> nil).
    { intros E. destruct (Of (fun _ => larger (at_point n c z0) (v + 1))) as (z & S & L).
      - intros d I. rewrite One. pose proof (Is z0 S0 d I) as H. rewrite One in H. simpl in H.
        assert (P : coef d 0%nat <= 0).
        { apply Qnot_lt_le. intros P. assert (J : In (most d / coef d 0%nat) U).
          { apply in_map_iff. exists d. split; auto. apply filter_In. split; auto. apply lt_iff. auto. }
          rewrite E in J. destruct J. }
        assert (G : at_point n c z0 <= larger (at_point n c z0) (v + 1)) by (minmax; lra).
        assert (Q : 0 <= - coef d 0%nat) by lra. pose proof (prod_le_l _ _ _ G Q). lra.
      - specialize (V z S). cbv beta in L. minmax; lra. }
    clear - N. induction U as [|u U IH]; [congruence|]. destruct U as [|w U].
    - exists u. split; [left; auto|]. intros k [<-|[]]. lra.
    - destruct IH as (t & I & L); [discriminate|]. destruct (Qlt_le_dec u t) as [T|T].
      + exists u. split; [left; auto|]. intros k [<-|K]; [lra|]. specialize (L k K). lra.
      + exists t. split; [right; auto|]. intros k [<-|K]; [lra|auto]. }
  destruct Top as (t & It & Lt).
  assert (Below : forall z, solves n z C -> at_point n c z <= t).
  { intros z S. apply in_map_iff in It. destruct It as (d & <- & I). apply filter_In in I. destruct I as [I P].
    unfold upper in P. bools. pose proof (Is z S d I) as H. rewrite One in H. simpl in H.
    apply le_quotient; auto. lra. }
  destruct (Of (fun _ => t)) as (z & S & L).
  - intros d I. rewrite One. destruct (Qlt_le_dec 0 (coef d 0%nat)) as [P|P].
    + assert (J : In (most d / coef d 0%nat) U).
      { apply in_map_iff. exists d. split; auto. apply filter_In. split; auto. apply lt_iff. auto. }
      specialize (Lt _ J). pose proof (prod_le_l t _ (coef d 0%nat) Lt ltac:(lra)) as X.
      assert (E : coef d 0%nat * (most d / coef d 0%nat) == most d) by (field; lra). lra.
    + pose proof (Is z0 S0 d I) as H. rewrite One in H. simpl in H. pose proof (Below z0 S0) as G.
      assert (Q : 0 <= - coef d 0%nat) by lra. pose proof (prod_le_l _ _ _ G Q). lra.
  - exists z. split; auto. intros y Y. cbv beta in L. specialize (Below y Y). lra.
Qed.
End Attained.
