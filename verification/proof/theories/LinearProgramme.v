(** States and decides three claims about a linear programme: a point is an optimum, no point is feasible, or the
    objective has no bound. A reader who trusts Coq needs the definitions before the first program. The values of points
    are rational. *)
From Coq Require Import QArith Qreduction Qfield Arith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Arithmetic.
Import ListNotations.
Open Scope Q_scope.

(** * Statements *)

(** Bounds of a row or a column; None: no bound *)
Record bounds := { lower : option Q; upper : option Q }.
Definition inside (b : bounds) (v : Q) : Prop :=
  match lower b with Some l => l <= v | None => True end /\
  match upper b with Some u => v <= u | None => True end.

(** Rows and columns are numbered from 0. *)
Record programme := {
  rows : nat; columns : nat;
  is_maximised : bool;
  constant : Q;                         (* a constant that is added to the objective *)
  cost : nat -> Q;                      (* by column, in the stated objective *)
  entries : nat -> list (nat * Q);      (* by column: rows, each with its coefficient *)
  row_bounds : nat -> bounds; column_bounds : nat -> bounds }.

(** The sum of all entries that name row i *)
Fixpoint of_row (i : nat) (l : list (nat * Q)) : Q :=
  match l with [] => 0 | (k, a) :: l => (if Nat.eqb k i then a else 0) + of_row i l end.

Section On.
Variable P : programme.

Definition coefficient (i j : nat) : Q := of_row i (entries P j).
Definition activity (x : nat -> Q) (i : nat) : Q := sum (columns P) (fun j => coefficient i j * x j).
Definition objective (x : nat -> Q) : Q := constant P + sum (columns P) (fun j => cost P j * x j).
Definition feasible (x : nat -> Q) : Prop :=
  (forall i, (i < rows P)%nat -> inside (row_bounds P i) (activity x i)) /\
  (forall j, (j < columns P)%nat -> inside (column_bounds P j) (x j)).

(** The point x is feasible with the objective v, and no feasible point is better. *)
Definition is_optimum (x : nat -> Q) (v : Q) : Prop :=
  feasible x /\ objective x == v /\
  forall z, feasible z -> if is_maximised P then objective z <= v else v <= objective z.
Definition has_no_feasible_point : Prop := forall z, ~ feasible z.
(** For every number M, some feasible point has an objective beyond M. *)
Definition is_unbounded : Prop :=
  forall M, exists z, feasible z /\ if is_maximised P then M < objective z else objective z < M.

(** * Programs: values of rows *)

(** A table of numbers by index. It is a binary tree whose branches are the binary digits of the index, the last digit
    first. *)
Inductive table := Empty | Value (v : Q) | Fork (even odd : table).
Definition is_even (i : nat) : bool := Nat.eqb (Nat.div2 i + Nat.div2 i) i.
Fixpoint value_at (depth i : nat) (t : table) : Q :=
  match depth, t with
  | O, Value v => v
  | S d, Fork l r => value_at d (Nat.div2 i) (if is_even i then l else r)
  | _, _ => 0
  end.
Fixpoint add_at (depth i : nat) (v : Q) (t : table) : table :=
  match depth with
  | O => match t with Value w => Value (add w v) | _ => Value (Qred v) end
  | S d =>
    match t with
    | Fork l r => if is_even i then Fork (add_at d (Nat.div2 i) v l) r else Fork l (add_at d (Nat.div2 i) v r)
    | _ => if is_even i then Fork (add_at d (Nat.div2 i) v Empty) Empty else Fork Empty (add_at d (Nat.div2 i) v Empty)
    end
  end.

Lemma halves i : i = (Nat.div2 i + Nat.div2 i + if is_even i then 0 else 1)%nat.
Proof.
  unfold is_even. pose proof (Nat.div2_odd i) as H. destruct (Nat.odd i); simpl in H; destruct (Nat.eqb_spec (Nat.div2 i + Nat.div2 i) i); lia.
Qed.
Lemma value_of_empty d i : value_at d i Empty = 0.
Proof. destruct d; reflexivity. Qed.
Lemma value_of_value d i v : value_at (S d) i (Value v) = 0.
Proof. reflexivity. Qed.

Lemma add_at_eq d : forall i k v t, (i < 2 ^ d)%nat -> (k < 2 ^ d)%nat ->
  value_at d k (add_at d i v t) == value_at d k t + (if Nat.eqb i k then v else 0).
Proof.
  induction d as [|d IH]; intros i k v t Hi Hk.
  - simpl in Hi, Hk. assert (i = 0%nat) by lia. assert (k = 0%nat) by lia. subst. simpl.
    destruct t; simpl; rewrite ?add_eq, ?Qred_correct; ring.
  - assert (D : (2 ^ S d = 2 ^ d + 2 ^ d)%nat) by (simpl; lia).
    pose proof (halves i) as Ei. pose proof (halves k) as Ek.
    assert (Bi : (Nat.div2 i < 2 ^ d)%nat) by lia. assert (Bk : (Nat.div2 k < 2 ^ d)%nat) by lia.
    assert (Eq : Nat.eqb i k = Bool.eqb (is_even i) (is_even k) && Nat.eqb (Nat.div2 i) (Nat.div2 k)).
    { destruct (is_even i), (is_even k); simpl;
        destruct (Nat.eqb_spec i k), (Nat.eqb_spec (Nat.div2 i) (Nat.div2 k)); try reflexivity; exfalso; lia. }
    rewrite Eq. clear Eq Ei Ek D Hi Hk.
    destruct t as [|w|l r]; simpl; destruct (is_even i), (is_even k); simpl;
      rewrite ?IH, ?value_of_empty by assumption; ring.
Qed.

Definition is_zero (q : Q) : bool := match Qnum q with Z0 => true | _ => false end.
Lemma is_zero_eq q : is_zero q = true -> q == 0.
Proof. destruct q as [[|p|p] d]; simpl; try discriminate. reflexivity. Qed.

Definition depth : nat := S (Nat.log2 (rows P)).
Lemma depth_bound i : (i < rows P)%nat -> (i < 2 ^ depth)%nat.
Proof. intros H. unfold depth. pose proof (Nat.log2_spec (rows P) ltac:(lia)). lia. Qed.

(** Adds the entries of a column, each multiplied by the value of the column. *)
Fixpoint add_entries (d : nat) (x : Q) (l : list (nat * Q)) (t : table) : table :=
  match l with
  | [] => t
  | (i, a) :: l => add_entries d x l (if Nat.ltb i (rows P) then add_at d i (mul a x) t else t)
  end.
Fixpoint add_columns (d n : nat) (x : nat -> Q) (t : table) : table :=
  match n with
  | O => t
  | S j => add_columns d j x (if is_zero (x j) then t else add_entries d (x j) (entries P j) t)
  end.
Definition activities (d : nat) (x : nat -> Q) : table := add_columns d (columns P) x Empty.

Lemma add_entries_eq x l : forall t i, (i < rows P)%nat ->
  value_at depth i (add_entries depth x l t) == value_at depth i t + of_row i l * x.
Proof.
  induction l as [|[k a] l IH]; intros t i Hi; cbn [add_entries of_row]; [ring|].
  rewrite IH by exact Hi. destruct (Nat.ltb_spec k (rows P)).
  - rewrite add_at_eq by (apply depth_bound; assumption). destruct (Nat.eqb k i); rewrite ?mul_eq; ring.
  - destruct (Nat.eqb_spec k i); [lia|ring].
Qed.
Lemma add_columns_eq x n : forall t i, (i < rows P)%nat ->
  value_at depth i (add_columns depth n x t) == value_at depth i t + sum n (fun j => coefficient i j * x j).
Proof.
  induction n as [|n IH]; intros t i Hi; cbn [add_columns sum]; [ring|].
  rewrite IH by exact Hi. destruct (is_zero (x n)) eqn:E.
  - apply is_zero_eq in E. rewrite E. ring.
  - rewrite add_entries_eq by exact Hi. unfold coefficient. ring.
Qed.
Lemma activities_eq x i : (i < rows P)%nat -> value_at depth i (activities depth x) == activity x i.
Proof. intros Hi. unfold activities. rewrite add_columns_eq, value_of_empty by exact Hi. unfold activity. ring. Qed.

(** * Programs: feasible points *)

Definition check_inside (b : bounds) (v : Q) : bool :=
  match lower b with Some l => le l v | None => true end && match upper b with Some u => le v u | None => true end.
Lemma check_inside_iff b v : check_inside b v = true <-> inside b v.
Proof.
  unfold check_inside, inside. rewrite andb_true_iff. destruct (lower b), (upper b); rewrite ?le_iff; tauto.
Qed.
Lemma inside_same b v w : v == w -> inside b v -> inside b w.
Proof. unfold inside. intros E [L U]. destruct (lower b), (upper b); split; auto; lra. Qed.

Definition check_point (x : nat -> Q) : bool :=
  (let d := depth in let t := activities d x in all (rows P) (fun i => check_inside (row_bounds P i) (value_at d i t))) &&
  all (columns P) (fun j => check_inside (column_bounds P j) (x j)).
Theorem check_point_sound x : check_point x = true -> feasible x.
Proof.
  unfold check_point, feasible. cbv zeta. intros H. bools. split.
  - intros i Hi. eapply inside_same; [apply activities_eq; exact Hi|]. apply check_inside_iff. auto.
  - intros j Hj. apply check_inside_iff. auto.
Qed.

(** The sum of the costs at a point, without the constant *)
Definition cost_of (x : nat -> Q) : Q := rsum (columns P) (fun j => mul (cost P j) (x j)).
Lemma cost_of_eq x : cost_of x == sum (columns P) (fun j => cost P j * x j).
Proof. unfold cost_of. rewrite rsum_eq. apply sum_ext. intros. apply mul_eq. Qed.

(** * Programs: bounds from prices *)

(** The least product of a price and a value within bounds; None if the product has no lower bound *)
Definition least_product (b : bounds) (p : Q) : option Q :=
  if is_zero p then Some 0
  else if lt 0 p then match lower b with Some l => Some (mul p l) | None => None end
  else match upper b with Some u => Some (mul p u) | None => None end.
Lemma least_product_sound b p v z : least_product b p = Some v -> inside b z -> v <= p * z.
Proof.
  unfold least_product, inside. intros H [L U]. destruct (is_zero p) eqn:E.
  - inversion H; subst. apply is_zero_eq in E. rewrite E. lra.
  - destruct (lt 0 p) eqn:S; bools.
    + destruct (lower b) as [l|]; inversion H; subst. rewrite mul_eq. apply prod_le_l; lra.
    + destruct (upper b) as [u|]; inversion H; subst. rewrite mul_eq.
      pose proof (prod_le_l z u (- p) U ltac:(lra)). lra.
Qed.

(** The sum of a and all values; None if one of them is missing *)
Fixpoint total (a : Q) (n : nat) (f : nat -> option Q) : option Q :=
  match n with
  | O => Some a
  | S k => match f k with Some v => total (if is_zero v then a else add a v) k f | None => None end
  end.
Lemma total_sound f g n : forall a v, total a n f = Some v ->
  (forall k w, (k < n)%nat -> f k = Some w -> w <= g k) -> v <= a + sum n g.
Proof.
  induction n as [|n IH]; simpl; intros a v H G; [inversion H; lra|].
  destruct (f n) as [w|] eqn:E; [|discriminate].
  assert (W : w <= g n) by (apply G; auto).
  pose proof (IH _ _ H ltac:(intros; apply G; auto)) as B.
  destruct (is_zero w) eqn:Z; [apply is_zero_eq in Z; lra|]. rewrite add_eq in B. lra.
Qed.

(** The cost c minus the prices of the entries *)
Fixpoint reduced (c : Q) (y : nat -> Q) (l : list (nat * Q)) : Q :=
  match l with
  | [] => c
  | (i, a) :: l =>
    reduced (if Nat.ltb i (rows P) then let p := y i in if is_zero p then c else sub c (mul a p) else c) y l
  end.
Lemma of_one_row n k a y : sum n (fun i => y i * (if Nat.eqb k i then a else 0)) == if Nat.ltb k n then a * y k else 0.
Proof.
  destruct (Nat.ltb_spec k n) as [H|H].
  - rewrite (sum_single n _ k H).
    + rewrite Nat.eqb_refl. ring.
    + intros j _ Hj. destruct (Nat.eqb_spec k j); [congruence|ring].
  - apply sum_zero. intros i Hi. destruct (Nat.eqb_spec k i); [lia|ring].
Qed.
Lemma reduced_eq y l : forall c, reduced c y l == c - sum (rows P) (fun i => y i * of_row i l).
Proof.
  induction l as [|[k a] l IH]; intros c; cbn [reduced of_row].
  - rewrite (sum_zero (rows P)); [ring|]. intros. ring.
  - assert (S : sum (rows P) (fun i => y i * ((if Nat.eqb k i then a else 0) + of_row i l)) ==
      sum (rows P) (fun i => y i * (if Nat.eqb k i then a else 0)) + sum (rows P) (fun i => y i * of_row i l)).
    { rewrite <- sum_add. apply sum_ext. intros. ring. }
    rewrite IH, S, of_one_row. cbv zeta. destruct (Nat.ltb k (rows P)); [|ring].
    destruct (is_zero (y k)) eqn:E; [apply is_zero_eq in E; rewrite E; ring|]. rewrite sub_eq, mul_eq. ring.
Qed.

(** The bound that prices of rows prove for the sum of costs c over all feasible points *)
Definition bound (c y : nat -> Q) : option Q :=
  match total 0 (rows P) (fun i => least_product (row_bounds P i) (y i)) with
  | Some a => total a (columns P) (fun j => least_product (column_bounds P j) (reduced (c j) y (entries P j)))
  | None => None
  end.
Theorem bound_sound c y v z : bound c y = Some v -> feasible z -> v <= sum (columns P) (fun j => c j * z j).
Proof.
  unfold bound. intros H [R C].
  destruct (total 0 (rows P) _) as [a|] eqn:E; [|discriminate].
  apply (total_sound _ (fun i => y i * activity z i)) in E.
  2: { intros i w Hi L. eapply least_product_sound; eauto. }
  apply (total_sound _ (fun j => reduced (c j) y (entries P j) * z j)) in H.
  2: { intros j w Hj L. eapply least_product_sound; eauto. }
  assert (T : sum (rows P) (fun i => y i * activity z i) ==
    sum (columns P) (fun j => sum (rows P) (fun i => y i * coefficient i j) * z j)).
  { transitivity (sum (rows P) (fun i => sum (columns P) (fun j => y i * coefficient i j * z j))).
    - apply sum_ext. intros i _. unfold activity. rewrite <- sum_scale. apply sum_ext. intros. ring.
    - rewrite sum_swap. apply sum_ext. intros j _. rewrite <- sum_scale_r. reflexivity. }
  assert (D : sum (columns P) (fun j => reduced (c j) y (entries P j) * z j) +
      sum (columns P) (fun j => sum (rows P) (fun i => y i * coefficient i j) * z j) ==
    sum (columns P) (fun j => c j * z j)).
  { rewrite <- sum_add. apply sum_ext. intros j _. rewrite reduced_eq. unfold coefficient. ring. }
  lra.
Qed.

(** * Programs: the three statements *)

(** The costs of the minimised programme *)
Definition minimised (q : Q) : Q := if is_maximised P then Qopp q else q.
Lemma minimised_sum n c x : sum n (fun j => minimised (c j) * x j) == minimised (sum n (fun j => c j * x j)).
Proof.
  unfold minimised. destruct (is_maximised P); [|reflexivity].
  induction n as [|n IH]; simpl; [reflexivity|]. rewrite IH. ring.
Qed.

Definition check_optimal (x y : nat -> Q) (v : Q) : bool :=
  check_point x &&
  (let w := cost_of x in
   eqq (add (constant P) w) v &&
   match bound (fun j => minimised (cost P j)) y with Some b => eqq b (minimised w) | None => false end).
Theorem check_optimal_sound x y v : check_optimal x y v = true -> is_optimum x v.
Proof.
  unfold check_optimal, is_optimum. cbv zeta. intros H. bools.
  destruct (bound _ y) as [b|] eqn:E; [|discriminate]. bools.
  rewrite add_eq, cost_of_eq in H0.
  split; [apply check_point_sound; assumption|]. split; [exact H0|].
  intros z Z. pose proof (bound_sound _ _ _ _ E Z) as B. rewrite minimised_sum in B.
  unfold minimised, objective in *. destruct (is_maximised P); rewrite cost_of_eq in H1; lra.
Qed.

Definition check_infeasible (y : nat -> Q) : bool :=
  match bound (fun _ => 0) y with Some b => lt 0 b | None => false end.
Theorem check_infeasible_sound y : check_infeasible y = true -> has_no_feasible_point.
Proof.
  unfold check_infeasible. intros H z Z. destruct (bound _ y) as [b|] eqn:E; [|discriminate]. bools.
  pose proof (bound_sound _ _ _ _ E Z) as B. rewrite (sum_zero (columns P)) in B by (intros; ring). lra.
Qed.

Definition check_empty (b : bounds) : bool :=
  match lower b, upper b with Some l, Some u => lt u l | _, _ => false end.
Lemma check_empty_none b v : check_empty b = true -> ~ inside b v.
Proof.
  unfold check_empty, inside. intros H [L U]. destruct (lower b), (upper b); try discriminate. bools. lra.
Qed.
Definition check_empty_row (i : nat) : bool := Nat.ltb i (rows P) && check_empty (row_bounds P i).
Definition check_empty_column (j : nat) : bool := Nat.ltb j (columns P) && check_empty (column_bounds P j).
Theorem check_empty_row_sound i : check_empty_row i = true -> has_no_feasible_point.
Proof.
  unfold check_empty_row. intros H z [R _]. bools. apply Nat.ltb_lt in H.
  eapply check_empty_none; [eassumption|]. apply R. assumption.
Qed.
Theorem check_empty_column_sound j : check_empty_column j = true -> has_no_feasible_point.
Proof.
  unfold check_empty_column. intros H z [_ C]. bools. apply Nat.ltb_lt in H.
  eapply check_empty_none; [eassumption|]. apply C. assumption.
Qed.

(** Whether bounds allow a point to move in a direction without end *)
Definition check_direction (b : bounds) (d : Q) : bool :=
  is_zero d ||
  if lt 0 d then match upper b with Some _ => false | None => true end
  else match lower b with Some _ => false | None => true end.
Lemma check_direction_sound b d v t : check_direction b d = true -> inside b v -> 0 <= t -> inside b (v + t * d).
Proof.
  unfold check_direction, inside. intros H [L U] T. apply orb_true_iff in H. destruct H as [H|H].
  - apply is_zero_eq in H. assert (E : v + t * d == v) by (rewrite H; ring).
    destruct (lower b), (upper b); split; auto; lra.
  - destruct (lt 0 d) eqn:S; bools.
    + destruct (upper b); [discriminate|]. pose proof (prod_nonneg t d T ltac:(lra)).
      destruct (lower b); split; auto; lra.
    + destruct (lower b); [discriminate|]. pose proof (prod_nonneg t (- d) T ltac:(lra)).
      destruct (upper b); split; auto; lra.
Qed.

Definition check_ray (r : nat -> Q) : bool :=
  (let d := depth in let t := activities d r in all (rows P) (fun i => check_direction (row_bounds P i) (value_at d i t))) &&
  all (columns P) (fun j => check_direction (column_bounds P j) (r j)).
Lemma check_ray_sound r x t : check_ray r = true -> feasible x -> 0 <= t -> feasible (fun j => x j + t * r j).
Proof.
  unfold check_ray. cbv zeta. intros H [R C] T. bools. split.
  - intros i Hi.
    apply (inside_same _ (activity x i + t * value_at depth i (activities depth r))).
    + rewrite activities_eq by exact Hi. unfold activity. rewrite <- sum_scale, <- sum_add.
      apply sum_ext. intros. ring.
    + apply check_direction_sound; auto.
  - intros j Hj. apply check_direction_sound; auto.
Qed.

Definition check_unbounded (x r : nat -> Q) : bool :=
  check_point x && check_ray r && lt (minimised (cost_of r)) 0.
Theorem check_unbounded_sound x r : check_unbounded x r = true -> is_unbounded.
Proof.
  unfold check_unbounded. intros H M. bools. apply check_point_sound in H.
  set (d := minimised (cost_of r)) in *. set (s := minimised (objective x - M)).
  set (t := larger 0 (s / - d) + 1).
  assert (T : 0 <= t /\ s < t * - d).
  { unfold t. assert (Q : s == s / - d * - d) by (field; lra). clearbody d s. split; [minmax; lra|].
    assert (L : s / - d <= larger 0 (s / - d)) by (minmax; lra).
    pose proof (prod_le _ _ (- d) L ltac:(lra)). lra. }
  destruct T as [T Far]. exists (fun j => x j + t * r j). split; [apply check_ray_sound; auto|].
  assert (O : objective (fun j => x j + t * r j) == objective x + t * cost_of r).
  { unfold objective. rewrite cost_of_eq, <- sum_scale, <- Qplus_assoc, <- sum_add. 
    apply Qplus_comp; [reflexivity|]. apply sum_ext. intros. ring. }
  clearbody t. unfold minimised in *. subst d s. destruct (is_maximised P); lra.
Qed.

(** * A certificate *)

Inductive evidence :=
| Optimal (x y : nat -> Q) (v : Q)
| Infeasible (y : nat -> Q)
| EmptyRow (i : nat)
| EmptyColumn (j : nat)
| Unbounded (x ray : nat -> Q).
Definition judge_programme (e : evidence) : bool :=
  match e with
  | Optimal x y v => check_optimal x y v
  | Infeasible y => check_infeasible y
  | EmptyRow i => check_empty_row i
  | EmptyColumn j => check_empty_column j
  | Unbounded x r => check_unbounded x r
  end.
Definition states (e : evidence) : Prop :=
  match e with
  | Optimal x _ v => is_optimum x v
  | Infeasible _ | EmptyRow _ | EmptyColumn _ => has_no_feasible_point
  | Unbounded _ _ => is_unbounded
  end.
Theorem judge_programme_sound e : judge_programme e = true -> states e.
Proof.
  destruct e; simpl.
  - apply check_optimal_sound.
  - apply check_infeasible_sound.
  - apply check_empty_row_sound.
  - apply check_empty_column_sound.
  - apply check_unbounded_sound.
Qed.

(** At most one of the statements is true of a programme. If the first is true, the optimum is a single number. *)
Theorem statements_exclude_each_other x v :
  is_optimum x v -> ~ has_no_feasible_point /\ ~ is_unbounded /\ forall z w, is_optimum z w -> w == v.
Proof.
  intros (F & V & B). repeat split.
  - intros N. exact (N x F).
  - intros U. destruct (U v) as (z & Z & W). specialize (B z Z). destruct (is_maximised P); lra.
  - intros z w (Z & W & C). specialize (B z Z). specialize (C x F). destruct (is_maximised P); lra.
Qed.
Theorem unbounded_is_feasible : is_unbounded -> ~ has_no_feasible_point.
Proof. intros U N. destruct (U 0) as (z & Z & _). exact (N z Z). Qed.

End On.

Print Assumptions judge_programme_sound.
