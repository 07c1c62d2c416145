(** Proves that every linear programme has an optimum, no feasible point, or an objective without bound. Each case has
    evidence that the checker accepts. *)
From Coq Require Import QArith Qreduction Qfield Arith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Arithmetic Duality LinearProgramme.
Import ListNotations.
Open Scope Q_scope.

(** The least product of a price and a value within bounds is at least v. *)
Definition at_least (b : bounds) (p v : Q) : Prop := exists m, least_product b p = Some m /\ v <= m.
Definition not_empty (b : bounds) : Prop := check_empty b = false.

Lemma is_zero_iff q : is_zero q = true <-> q == 0.
Proof.
  split; [apply is_zero_eq|]. destruct q as [[|p|p] d]; unfold Qeq, is_zero; simpl; intros H; [reflexivity|discriminate|discriminate].
Qed.
Lemma is_zero_false q : is_zero q = false <-> ~ q == 0.
Proof. rewrite <- is_zero_iff. destruct (is_zero q); split; congruence. Qed.
(** The three cases of the sign of a price *)
Lemma at_least_iff b p v : at_least b p v <->
  (p == 0 /\ v <= 0) \/
  (0 < p /\ exists l, LinearProgramme.lower b = Some l /\ v <= p * l) \/
  (p < 0 /\ exists u, LinearProgramme.upper b = Some u /\ v <= p * u).
Proof.
  unfold at_least, least_product. destruct (is_zero p) eqn:Z.
  - apply is_zero_iff in Z. split.
    + intros (m & E & L). inversion E; subst. left. auto.
    + intros [[_ L]|[[S _]|[S _]]]; [|lra|lra]. exists 0. auto.
  - apply is_zero_false in Z. destruct (lt 0 p) eqn:S; bools.
    + split.
      * intros (m & E & L). right. left. split; auto. destruct (LinearProgramme.lower b) as [l|]; [injection E as <-|discriminate].
        rewrite mul_eq in L. eauto.
      * intros [[A _]|[[_ (l & E & L)]|[A _]]]; [contradiction| |lra]. rewrite E. exists (mul p l). split; [reflexivity|rewrite mul_eq; auto].
    + assert (N : p < 0) by (apply Qnot_le_lt; intros G; apply Z; lra). split.
      * intros (m & E & L). right. right. split; auto. destruct (LinearProgramme.upper b) as [u|]; [injection E as <-|discriminate].
        rewrite mul_eq in L. eauto.
      * intros [[A _]|[[A _]|[_ (u & E & L)]]]; [contradiction|lra|]. rewrite E. exists (mul p u). split; [reflexivity|rewrite mul_eq; auto].
Qed.
Lemma at_least_same b p p' v v' : p == p' -> v' <= v -> at_least b p v -> at_least b p' v'.
Proof.
  rewrite !at_least_iff. intros E L [[A B]|[[A (l & F & B)]|[A (u & F & B)]]].
  - left. split; lra.
  - right. left. split; [lra|]. exists l. split; auto. rewrite <- E. lra.
  - right. right. split; [lra|]. exists u. split; auto. rewrite <- E. lra.
Qed.
Lemma at_least_zero b : at_least b 0 0.
Proof. apply at_least_iff. left. split; lra. Qed.
Lemma at_least_times b t p v : 0 <= t -> at_least b p v -> at_least b (t * p) (t * v).
Proof.
  intros T H. destruct (Qlt_le_dec 0 t) as [P|P].
  - rewrite at_least_iff in H. apply at_least_iff.
    assert (M : forall a c, a <= c -> t * a <= t * c) by (intros; apply prod_le_l; lra).
    assert (S : forall a, 0 < a -> 0 < t * a).
    { intros a A. pose proof (Qmult_lt_compat_r 0 t a A P). lra. }
    destruct H as [[A B]|[[A (l & F & B)]|[A (u & F & B)]]].
    + left. split; [rewrite A; ring|]. specialize (M _ _ B). lra.
    + right. left. split; [auto|]. exists l. split; auto. specialize (M _ _ B). lra.
    + right. right. split; [specialize (S (- p) ltac:(lra)); lra|]. exists u. split; auto. specialize (M _ _ B). lra.
  - assert (Z : t == 0) by lra. apply (at_least_same b 0 _ 0); [rewrite Z; ring|rewrite Z; lra|apply at_least_zero].
Qed.
Lemma at_least_plus b p q v w : not_empty b -> at_least b p v -> at_least b q w -> at_least b (p + q) (v + w).
Proof.
  unfold not_empty, check_empty. intros N. rewrite !at_least_iff.
  intros [[A B]|[[A (l & F & B)]|[A (u & F & B)]]] [[C D]|[[C (l' & G & D)]|[C (u' & G & D)]]].
  - left. split; lra.
  - right. left. split; [lra|]. exists l'. split; auto. rewrite A. lra.
  - right. right. split; [lra|]. exists u'. split; auto. rewrite A. lra.
  - right. left. split; [lra|]. exists l. split; auto. rewrite C. lra.
  - right. left. split; [lra|]. exists l. split; auto. rewrite F in G. inversion G; subst. lra.
  - rewrite F, G in N. bools. destruct (Qlt_le_dec 0 (p + q)) as [P|P].
    + right. left. split; [auto|]. exists l. split; auto. pose proof (prod_le_l _ _ (- q) N ltac:(lra)). lra.
    + pose proof (prod_le_l _ _ p N ltac:(lra)) as X. destruct (Qlt_le_dec (p + q) 0) as [R|R].
      * right. right. split; [auto|]. exists u'. split; auto. lra.
      * left. split; [lra|]. assert (E : q == - p) by lra. rewrite E in D. lra.
  - right. right. split; [lra|]. exists u. split; auto. rewrite C. lra.
  - rewrite F, G in N. bools. destruct (Qlt_le_dec 0 (p + q)) as [P|P].
    + right. left. split; [auto|]. exists l'. split; auto. pose proof (prod_le_l _ _ (- p) N ltac:(lra)). lra.
    + pose proof (prod_le_l _ _ q N ltac:(lra)) as X. destruct (Qlt_le_dec (p + q) 0) as [R|R].
      * right. right. split; [auto|]. exists u. split; auto. lra.
      * left. split; [lra|]. assert (E : p == - q) by lra. rewrite E in B. lra.
  - right. right. split; [lra|]. exists u. split; auto. rewrite F in G. inversion G; subst. lra.
Qed.

Lemma total_complete f g n : (forall k, (k < n)%nat -> exists w, f k = Some w /\ g k <= w) ->
  forall a, exists v, total a n f = Some v /\ a + sum n g <= v.
Proof.
  induction n as [|n IH]; simpl; intros H a; [exists a; split; [auto|lra]|].
  destruct (H n ltac:(lia)) as (w & E & L). rewrite E.
  destruct (IH ltac:(intros; apply H; lia) (if is_zero w then a else add a w)) as (v & V & B).
  exists v. split; auto. destruct (is_zero w) eqn:Z; [apply is_zero_eq in Z; lra|]. rewrite add_eq in B. lra.
Qed.

Section On.
Variable P : programme.
Notation M := (rows P). Notation N := (columns P).

Lemma check_point_complete x : feasible P x -> check_point P x = true.
Proof.
  intros [R C]. unfold check_point. cbv zeta. apply andb_true_iff. split; apply all_iff; intros k Hk; apply check_inside_iff; auto.
  eapply inside_same; [symmetry; apply activities_eq; exact Hk|]. auto.
Qed.

(** * The programme as inequalities *)

Definition unit_at (j k : nat) : Q := if Nat.eqb k j then 1 else 0.
Definition of_bounds (f : nat -> Q) (b : bounds) : list row :=
  match LinearProgramme.lower b with Some l => [{| coef := fun j => - f j; most := - l |}] | None => [] end ++
  match LinearProgramme.upper b with Some u => [{| coef := f; most := u |}] | None => [] end.
Definition all_rows : list row :=
  flat_map (fun i => of_bounds (coefficient P i) (row_bounds P i)) (seq 0 M) ++
  flat_map (fun j => of_bounds (unit_at j) (column_bounds P j)) (seq 0 N).
Lemma all_rows_in d : In d all_rows <->
  (exists i, (i < M)%nat /\ In d (of_bounds (coefficient P i) (row_bounds P i))) \/
  (exists j, (j < N)%nat /\ In d (of_bounds (unit_at j) (column_bounds P j))).
Proof.
  unfold all_rows. rewrite in_app_iff, !in_flat_map.
  split; (intros [(k & K & I)|(k & K & I)]; [left|right]; exists k; split; auto); rewrite in_seq in *; lia.
Qed.
Lemma at_minus n f z : at_point n (fun j => - f j) z == - at_point n f z.
Proof.
  unfold at_point. rewrite (sum_ext n _ (fun j => -(1) * (f j * z j))) by (intros; ring). rewrite sum_scale. ring.
Qed.
Lemma of_bounds_in f b d : In d (of_bounds f b) <->
  (exists l, LinearProgramme.lower b = Some l /\ d = {| coef := fun j => - f j; most := - l |}) \/
  (exists u, LinearProgramme.upper b = Some u /\ d = {| coef := f; most := u |}).
Proof.
  unfold of_bounds. rewrite in_app_iff.
  destruct (LinearProgramme.lower b) as [l|], (LinearProgramme.upper b) as [u|]; simpl;
    (split; [intros [H|H]|intros [(k & E & F)|(k & E & F)]]);
    try (destruct H as [<-|H]); try tauto; try discriminate; try (inversion E; subst); eauto.
Qed.
Lemma solves_bounds f b z :
  (forall d, In d (of_bounds f b) -> at_point N (coef d) z <= most d) <-> inside b (at_point N f z).
Proof.
  unfold inside. split.
  - intros H. split.
    + destruct (LinearProgramme.lower b) as [l|] eqn:E; auto.
      specialize (H _ (proj2 (of_bounds_in f b _) (or_introl (ex_intro _ l (conj E eq_refl))))). simpl in H. rewrite at_minus in H. lra.
    + destruct (LinearProgramme.upper b) as [u|] eqn:E; auto.
      exact (H _ (proj2 (of_bounds_in f b _) (or_intror (ex_intro _ u (conj E eq_refl))))).
  - intros [L U] d I. apply of_bounds_in in I. destruct I as [(l & E & ->)|(u & E & ->)]; rewrite E in *; simpl; auto.
    rewrite at_minus. lra.
Qed.
Lemma at_unit j z : (j < N)%nat -> at_point N (unit_at j) z == z j.
Proof.
  intros H. unfold at_point, unit_at. rewrite (sum_single N _ j H).
  - rewrite Nat.eqb_refl. ring.
  - intros k _ K. destruct (Nat.eqb_spec k j); [congruence|ring].
Qed.
Lemma solves_iff z : solves N z all_rows <-> feasible P z.
Proof.
  unfold solves, feasible. split.
  - intros H. split.
    + intros i Hi. apply (solves_bounds (coefficient P i)). intros d I. apply H. apply all_rows_in. left. eauto.
    + intros j Hj. eapply inside_same; [apply at_unit; exact Hj|]. apply solves_bounds. intros d I. apply H.
      apply all_rows_in. right. eauto.
  - intros [R C] d I. apply all_rows_in in I. destruct I as [(i & Hi & I)|(j & Hj & I)].
    + revert d I. apply solves_bounds. apply R. exact Hi.
    + revert d I. apply solves_bounds. eapply inside_same; [symmetry; apply at_unit; exact Hj|]. auto.
Qed.

(** * Prices of implied inequalities *)

Hypothesis rows_not_empty : forall i, (i < M)%nat -> not_empty (row_bounds P i).
Hypothesis columns_not_empty : forall j, (j < N)%nat -> not_empty (column_bounds P j).

(** Prices y of rows and w of columns prove the inequality d. *)
Definition priced (d : row) : Prop := exists y w f g,
  (forall j, (j < N)%nat -> coef d j == - (sum M (fun i => y i * coefficient P i j) + w j)) /\
  (forall i, (i < M)%nat -> at_least (row_bounds P i) (y i) (f i)) /\
  (forall j, (j < N)%nat -> at_least (column_bounds P j) (w j) (g j)) /\
  - most d <= sum M f + sum N g.

Lemma sum_none n (f : nat -> Q) : sum n (fun i => 0 * f i) == 0.
Proof. apply sum_zero. intros. ring. Qed.
Lemma sum_unit n k a (f : nat -> Q) : (k < n)%nat -> sum n (fun i => (if Nat.eqb i k then a else 0) * f i) == a * f k.
Proof.
  intros H. rewrite (sum_single n _ k H).
  - rewrite Nat.eqb_refl. ring.
  - intros j _ J. destruct (Nat.eqb_spec j k); [congruence|ring].
Qed.
Lemma sum_unit_one n k a : (k < n)%nat -> sum n (fun i => if Nat.eqb i k then a else 0) == a.
Proof.
  intros H. rewrite (sum_single n _ k H).
  - rewrite Nat.eqb_refl. ring.
  - intros j _ J. destruct (Nat.eqb_spec j k); [congruence|ring].
Qed.
Lemma at_least_unit (b : nat -> bounds) k a v i : at_least (b k) a v ->
  at_least (b i) (if Nat.eqb i k then a else 0) (if Nat.eqb i k then v else 0).
Proof. intros H. destruct (Nat.eqb_spec i k); [subst; auto|apply at_least_zero]. Qed.
Lemma at_least_lower b l : LinearProgramme.lower b = Some l -> at_least b 1 l.
Proof. intros E. apply at_least_iff. right. left. split; [lra|]. exists l. split; auto. lra. Qed.
Lemma at_least_upper b u : LinearProgramme.upper b = Some u -> at_least b (-(1)) (- u).
Proof. intros E. apply at_least_iff. right. right. split; [lra|]. exists u. split; auto. lra. Qed.

Lemma priced_row i a v : (i < M)%nat -> at_least (row_bounds P i) a v ->
  priced {| coef := fun j => - (a * coefficient P i j); most := - v |}.
Proof.
  intros Hi L. exists (fun k => if Nat.eqb k i then a else 0), (fun _ => 0), (fun k => if Nat.eqb k i then v else 0), (fun _ => 0).
  split; [|split; [|split]]; simpl.
  - intros j _. rewrite (sum_unit M i a (fun i => coefficient P i j)) by exact Hi. ring.
  - intros k _. apply at_least_unit. exact L.
  - intros j _. apply at_least_zero.
  - rewrite sum_unit_one by exact Hi. rewrite sum_zero by reflexivity. lra.
Qed.
Lemma priced_column j a v : (j < N)%nat -> at_least (column_bounds P j) a v ->
  priced {| coef := fun k => - (a * unit_at j k); most := - v |}.
Proof.
  intros Hj L. exists (fun _ => 0), (fun k => if Nat.eqb k j then a else 0), (fun _ => 0), (fun k => if Nat.eqb k j then v else 0).
  split; [|split; [|split]]; simpl.
  - intros k _. rewrite sum_none. unfold unit_at. destruct (Nat.eqb k j); ring.
  - intros k _. apply at_least_zero.
  - intros k _. apply at_least_unit. exact L.
  - rewrite sum_unit_one by exact Hj. rewrite sum_zero by reflexivity. lra.
Qed.
Lemma priced_same d e : (forall j, coef d j == coef e j) -> most d == most e -> priced d -> priced e.
Proof.
  intros C E (y & w & f & g & A & B & D & L). exists y, w, f, g. split; [|split; [auto|split; [auto|lra]]].
  intros j Hj. rewrite <- C. auto.
Qed.
Lemma follows_priced d : follows all_rows d -> priced d.
Proof.
  induction 1 as [|d I|d e _ (y & w & f & g & A & B & C & L) _ (y' & w' & f' & g' & A' & B' & C' & L')
    |t d T _ (y & w & f & g & A & B & C & L)].
  - exists (fun _ => 0), (fun _ => 0), (fun _ => 0), (fun _ => 0). simpl.
    split; [intros; rewrite sum_none; ring|]. split; [intros; apply at_least_zero|]. split; [intros; apply at_least_zero|].
    rewrite !sum_zero by reflexivity. lra.
  - apply all_rows_in in I. destruct I as [(i & Hi & I)|(j & Hj & I)]; apply of_bounds_in in I; destruct I as [(l & E & ->)|(u & E & ->)].
    + eapply priced_same; [| |apply (priced_row i 1 l Hi); apply at_least_lower; exact E]; simpl; intros; ring.
    + eapply priced_same; [| |apply (priced_row i (-(1)) (- u) Hi); apply at_least_upper; exact E]; simpl; intros; ring.
    + eapply priced_same; [| |apply (priced_column j 1 l Hj); apply at_least_lower; exact E]; simpl; intros; ring.
    + eapply priced_same; [| |apply (priced_column j (-(1)) (- u) Hj); apply at_least_upper; exact E]; simpl; intros; ring.
  - exists (fun i => y i + y' i), (fun j => w j + w' j), (fun i => f i + f' i), (fun j => g j + g' j).
    split; [|split; [|split]]; simpl.
    + intros j Hj. rewrite A, A' by exact Hj.
      rewrite (sum_ext M (fun i => (y i + y' i) * _) (fun i => y i * coefficient P i j + y' i * coefficient P i j)) by (intros; ring).
      rewrite sum_add. ring.
    + intros i Hi. apply at_least_plus; auto.
    + intros j Hj. apply at_least_plus; auto.
    + rewrite !sum_add. lra.
  - exists (fun i => t * y i), (fun j => t * w j), (fun i => t * f i), (fun j => t * g j).
    split; [|split; [|split]]; simpl.
    + intros j Hj. rewrite A by exact Hj.
      rewrite (sum_ext M (fun i => t * y i * _) (fun i => t * (y i * coefficient P i j))) by (intros; ring).
      rewrite sum_scale. ring.
    + intros i Hi. apply at_least_times; auto.
    + intros j Hj. apply at_least_times; auto.
    + rewrite !sum_scale. pose proof (prod_le_l _ _ t L T). lra.
Qed.

(** The bound on the objective that these prices prove *)
Lemma bound_of c d : follows all_rows d -> (forall j, (j < N)%nat -> coef d j == - c j) ->
  exists y v, bound P c y = Some v /\ - most d <= v.
Proof.
  intros F E. destruct (follows_priced d F) as (y & w & f & g & A & B & C & L). exists y. unfold bound.
  destruct (total_complete (fun i => least_product (row_bounds P i) (y i)) f M B 0) as (a & -> & La).
  destruct (total_complete (fun j => least_product (column_bounds P j) (reduced P (c j) y (entries P j))) g N) with (a := a) as (v & V & Lv).
  - intros j Hj. apply (at_least_same _ (w j) _ (g j)); [|lra|auto]. rewrite reduced_eq.
    pose proof (A j Hj) as X. rewrite (E j Hj) in X. unfold coefficient in X. lra.
  - exists v. split; auto. lra.
Qed.

(** * The evidence *)

Definition least_cost (j : nat) : Q := minimised P (cost P j).
Lemma cost_at z : at_point N least_cost z == minimised P (sum N (fun j => cost P j * z j)).
Proof. apply minimised_sum. Qed.

Lemma no_point_is_shown d : follows all_rows d -> (forall j, (j < N)%nat -> coef d j == 0) -> most d < 0 ->
  exists e, judge_programme P e = true.
Proof.
  intros F Z Neg. destruct (bound_of (fun _ => 0) d F) as (y & v & B & L).
  { intros j Hj. rewrite Z by exact Hj. ring. }
  exists (Infeasible y). simpl. unfold check_infeasible. rewrite B. apply lt_iff. lra.
Qed.

Lemma optimum_is_shown x : feasible P x -> (forall z, feasible P z -> at_point N least_cost x <= at_point N least_cost z) ->
  exists e, judge_programme P e = true.
Proof.
  intros F Best. set (v := - at_point N least_cost x).
  destruct (duality N all_rows (fun j => - least_cost j) v) as (d & Fd & Ed & Md).
  - exists x. apply solves_iff. exact F.
  - intros z Z. apply solves_iff in Z. rewrite at_minus. specialize (Best z Z). unfold v. lra.
  - destruct (bound_of least_cost d Fd Ed) as (y & b & B & L).
    exists (Optimal x y (add (constant P) (cost_of P x))). simpl. unfold check_optimal. cbv zeta.
    rewrite (check_point_complete x F). simpl.
    replace (eqq _ _) with true by (symmetry; apply eqq_iff; reflexivity). simpl.
    change (fun j => minimised P (cost P j)) with least_cost. rewrite B. apply eqq_iff.
    pose proof (bound_sound P _ _ _ _ B F) as U. fold (at_point N least_cost x) in U.
    assert (E : minimised P (cost_of P x) == at_point N least_cost x).
    { rewrite cost_at. unfold minimised. destruct (is_maximised P); rewrite cost_of_eq; reflexivity. }
    rewrite E. unfold v in *. lra.
Qed.

(** If a point may move without end in a direction, the direction solves the inequalities with all limits set to 0. *)
Definition homogeneous (d : row) : row := {| coef := coef d; most := 0 |}.
Definition improving : row := {| coef := least_cost; most := -(1) |}.
Definition ray_rows : list row := improving :: map homogeneous all_rows.
Lemma direction_of b f r : (forall d, In d (of_bounds f b) -> at_point N (coef d) r <= 0) -> check_direction b (at_point N f r) = true.
Proof.
  intros H. unfold check_direction. apply orb_true_iff. destruct (is_zero _) eqn:Z; [left; auto|right].
  apply is_zero_false in Z. destruct (lt 0 (at_point N f r)) eqn:S; bools.
  - destruct (LinearProgramme.upper b) as [u|] eqn:E; auto.
    specialize (H _ (proj2 (of_bounds_in f b _) (or_intror (ex_intro _ u (conj E eq_refl))))). simpl in H. lra.
  - destruct (LinearProgramme.lower b) as [l|] eqn:E; auto.
    specialize (H _ (proj2 (of_bounds_in f b _) (or_introl (ex_intro _ l (conj E eq_refl))))). simpl in H.
    rewrite at_minus in H. exfalso. apply Z. lra.
Qed.
Lemma check_direction_same b v w : v == w -> check_direction b v = check_direction b w.
Proof.
  intros E. unfold check_direction. rewrite (lt_ext 0 v 0 w) by (auto; reflexivity).
  replace (is_zero v) with (is_zero w); auto.
  destruct (is_zero v) eqn:A, (is_zero w) eqn:B; auto; rewrite ?is_zero_iff, ?is_zero_false in *; exfalso; [apply B|apply A]; lra.
Qed.
Lemma ray_is_accepted r : solves N r ray_rows -> check_ray P r = true /\ at_point N least_cost r <= -(1).
Proof.
  intros S. split.
  - assert (H : forall d, In d all_rows -> at_point N (coef d) r <= 0).
    { intros d I. apply (S (homogeneous d)). right. apply in_map. exact I. }
    unfold check_ray. cbv zeta. apply andb_true_iff. split; apply all_iff; intros k Hk.
    + rewrite (check_direction_same _ _ (at_point N (coefficient P k) r)) by (apply activities_eq; exact Hk).
      apply direction_of. intros d I. apply H. apply all_rows_in. left. eauto.
    + rewrite (check_direction_same _ _ (at_point N (unit_at k) r)) by (symmetry; apply at_unit; exact Hk).
      apply direction_of. intros d I. apply H. apply all_rows_in. right. eauto.
  - apply (S improving). left. reflexivity.
Qed.
Lemma ray_follows d : follows ray_rows d -> exists u e, 0 <= u /\ follows all_rows e /\
  (forall j, coef d j == u * least_cost j + coef e j) /\ most d == - u.
Proof.
  induction 1 as [|d [<-|I]|d e _ (u & f & U & F & E & L) _ (u' & f' & U' & F' & E' & L')|t d T _ (u & f & U & F & E & L)].
  - exists 0, nothing. split; [lra|]. split; [constructor 1|]. simpl. split; intros; ring.
  - exists 1, nothing. split; [lra|]. split; [constructor 1|]. simpl. split; intros; ring.
  - apply in_map_iff in I. destruct I as (f & <- & I). exists 0, f. split; [lra|]. split; [constructor 2; auto|].
    simpl. split; intros; ring.
  - exists (u + u'), (both f f'). split; [lra|]. split; [constructor 3; auto|]. simpl.
    split; [intros; rewrite E, E'; ring|rewrite L, L'; ring].
  - exists (t * u), (times t f). split; [apply prod_nonneg; auto|]. split; [constructor 4; auto|]. simpl.
    split; [intros; rewrite E; ring|rewrite L; ring].
Qed.

Lemma with_bounds : exists e, judge_programme P e = true.
Proof.
  destruct (farkas N all_rows) as [(x & S)|(d & F & Z & Neg)]; [|eapply no_point_is_shown; eauto].
  pose proof (proj1 (solves_iff x) S) as Fx.
  destruct (farkas N ray_rows) as [(r & R)|(d & F & Z & Neg)].
  - destruct (ray_is_accepted r R) as [Ch Imp]. exists (Unbounded x r). simpl. unfold check_unbounded.
    rewrite (check_point_complete x Fx), Ch. simpl. apply lt_iff.
    assert (E : minimised P (cost_of P r) == at_point N least_cost r).
    { rewrite cost_at. unfold minimised. destruct (is_maximised P); rewrite cost_of_eq; reflexivity. }
    lra.
  - destruct (ray_follows d F) as (u & e & U & Fe & E & L). assert (Up : 0 < u) by lra.
    assert (I0 : 0 <= / u) by (apply Qinv_le_0_compat; lra).
    destruct (attained N all_rows (fun j => - least_cost j)) as (z & Sz & Best).
    + exists x. exact S.
    + exists (/ u * most e). intros z Sz. pose proof (follows_holds N all_rows z e Sz Fe) as H.
      assert (X : at_point N (coef e) z == u * at_point N (fun j => - least_cost j) z).
      { unfold at_point. rewrite <- sum_scale. apply sum_ext. intros j Hj.
        pose proof (Z j Hj) as Zj. rewrite E in Zj. assert (Y : coef e j == - (u * least_cost j)) by lra. rewrite Y. ring. }
      rewrite X in H. pose proof (prod_le_l _ _ _ H I0) as Y.
      assert (Q : / u * (u * at_point N (fun j => - least_cost j) z) == at_point N (fun j => - least_cost j) z) by (field; lra).
      lra.
    + apply (optimum_is_shown z); [apply solves_iff; exact Sz|]. intros w W. apply solves_iff in W.
      specialize (Best w W). rewrite !at_minus in Best. lra.
Qed.
End On.

Theorem linear_evidence_exists P : exists e, judge_programme P e = true.
Proof.
  destruct (any (rows P) (fun i => check_empty (row_bounds P i))) eqn:R.
  { apply any_iff in R. destruct R as (i & Hi & E). exists (EmptyRow i). simpl. unfold check_empty_row.
    rewrite E, andb_true_r. apply Nat.ltb_lt. exact Hi. }
  destruct (any (columns P) (fun j => check_empty (column_bounds P j))) eqn:C.
  { apply any_iff in C. destruct C as (j & Hj & E). exists (EmptyColumn j). simpl. unfold check_empty_column.
    rewrite E, andb_true_r. apply Nat.ltb_lt. exact Hj. }
  assert (None_ : forall n f, any n f = false -> forall k, (k < n)%nat -> f k = false).
  { intros n f A k Hk. destruct (f k) eqn:E; auto. assert (any n f = true) by (apply any_iff; eauto). congruence. }
  apply with_bounds; intros k Hk; unfold not_empty; [apply (None_ _ _ R k Hk)|apply (None_ _ _ C k Hk)].
Qed.

(** Exactly one of the statements is true (the other half is [statements_exclude_each_other]). *)
Theorem one_statement_is_true P : (exists x v, is_optimum P x v) \/ has_no_feasible_point P \/ is_unbounded P.
Proof.
  destruct (linear_evidence_exists P) as (e & J). apply judge_programme_sound in J. destruct e; simpl in J; eauto.
Qed.
