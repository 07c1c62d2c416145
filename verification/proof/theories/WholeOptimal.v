(** Decides Pareto optimality among whole tasks on single servers. *)
From Coq Require Import QArith Qreduction Qfield Arith ZArith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Arithmetic Checker Repair Soundness Bundle Prices Placed UpToOne.
Open Scope Q_scope.

(** * Programs *)
Section Programs.
Variable P : problem.
Variable T : tables.
Variable B : scope.
Notation N := (users P). Notation K := (classes P). Notation M := (resources P).

(** The gap is so small that no user can have an additional whole task. *)
Definition check_whole_prices (l : nat -> Q) (p : prices) (m : Q) : bool :=
  all N (fun n => if is_active T n then le 1 (mul (l n) (t_g T n)) else le 0 (l n)) &&
  sc_prices B (fun n => lt 0 (l n)) (fun n i => l n) p && check_all_whole P T &&
  (let gap := sub (sc_bound B p) (rsum N (fun n => if is_active T n then mul (l n) (t_tasks T n) else 0)) in
   users_all P T (fun n => lt gap (l n))) && eqq m 0.
Definition check_better_placing (l : placing) (f : places) (y : allocation) (m : Q) : bool :=
  check_placed P l y && check_places P T l f && check_fits P T l f &&
  all (servers l) (fun s => all N (fun n => nothing (on_server l s n) || is_whole (on_server l s n))) &&
  all N (fun n => match limit P n with Some t => le (rsum K (y n)) t | None => true end) &&
  all N (fun n => le (t_tasks T n) (rsum K (y n))) &&
  any N (fun n => is_active T n && lt (t_tasks T n) (rsum K (y n))) && sc_keeps B y && eqq m (-1).
End Programs.

(** * Soundness *)
Section Sound.
Variable P : problem.
Notation N := (users P). Notation K := (classes P). Notation M := (resources P).
Hypothesis W : well_formed P.

Lemma whole_add a b : whole a -> whole b -> whole (a + b).
Proof. intros [u U] [v V]. exists (u + v)%Z. rewrite inject_Z_plus, U, V. reflexivity. Qed.
Lemma whole_zero : whole 0. Proof. exists 0%Z. reflexivity. Qed.
Lemma whole_ext a b : a == b -> whole a -> whole b.
Proof. intros E [u U]. exists u. rewrite <- E. auto. Qed.
Lemma whole_sum n f : (forall k, (k < n)%nat -> whole (f k)) -> whole (sum n f).
Proof. induction n; simpl; intros H; [apply whole_zero|]. apply whole_add; [apply IHn; intros|]; apply H; lia. Qed.

Lemma whole_feasible l y : whole_placing P l y -> feasible P y.
Proof.
  intros H. pose proof (h_placed _ _ _ H) as Pl. pose proof (h_fits _ _ _ H) as Fi.
  assert (Pos : forall s n, (s < servers l)%nat -> (n < N)%nat -> 0 <= on_server l s n).
  { intros s n Hs Hn. destruct (Qeq_dec (on_server l s n) 0) as [E|E]; [lra|].
    destruct (l_can _ _ Fi s n Hs Hn E). lra. }
  constructor.
  - intros n i Hn Hi. rewrite (p_sum _ _ _ Pl n i Hn Hi). apply sum_nonneg. intros s Hs.
    destruct (Nat.eqb _ _); [auto|lra].
  - intros n i Hn Hi G. rewrite (p_sum _ _ _ Pl n i Hn Hi). apply sum_zero. intros s Hs.
    destruct (Nat.eqb (class_of l s) i) eqn:E; [|reflexivity]. apply Nat.eqb_eq in E.
    destruct (Qeq_dec (on_server l s n) 0) as [Z|Z]; auto. destruct (l_can _ _ Fi s n Hs Hn Z) as (_ & _ & D).
    rewrite E in D. lra.
  - intros i r Hi Hr. unfold load.
    rewrite (sum_ext N _ (fun n => sum (servers l) (fun s =>
      if Nat.eqb (class_of l s) i then on_server l s n * takes P n (class_of l s) r else 0))).
    2:{ intros n Hn. rewrite (p_sum _ _ _ Pl n i Hn Hi), <- sum_scale_r. apply sum_ext. intros s Hs.
        destruct (Nat.eqb (class_of l s) i) eqn:E; [apply Nat.eqb_eq in E; rewrite E; reflexivity|ring]. }
    rewrite sum_swap. pose proof (count_pos P W i Hi) as Ci. pose proof (full_nonneg P W i r Hi Hr) as Fn.
    apply Qle_trans with (sum (servers l) (fun s => (if Nat.eqb (class_of l s) i then 1 else 0) * row_of_one P i r)).
    + apply sum_le. intros s Hs. destruct (Nat.eqb (class_of l s) i) eqn:E.
      * apply Nat.eqb_eq in E. pose proof (l_rows _ _ Fi s r Hs Hr) as D. unfold free in D. rewrite E in *. lra.
      * rewrite sum_zero by reflexivity. lra.
    + rewrite sum_scale_r. pose proof (p_count _ _ _ Pl i Hi) as C. unfold listed in C.
      assert (O : 0 <= row_of_one P i r) by (unfold row_of_one; apply quotient_nonneg; lra).
      pose proof (prod_le _ _ _ C O) as D. assert (E : count P i * row_of_one P i r == full P i r).
      { unfold row_of_one. field. lra. }
      lra.
  - apply (h_limit _ _ _ H).
Qed.

Variable T : tables.
Variable stated_x : allocation.
Variable placed_ : bool.
Hypothesis R : right P stated_x T placed_.
Notation x := (t_x T).

Variable possible : allocation -> Prop.
Variable B : scope.
Hypothesis RB : right_scope P possible B.

Theorem check_whole_prices_sound l p m : check_whole_prices P T B l p m = true -> integer_pareto_optimal_among P possible (- m) x.
Proof.
  unfold check_whole_prices. intros H. apply andb_true_iff in H. destruct H as [H M0].
  apply andb_true_iff in H. destruct H as [H Room]. apply andb_true_iff in H. destruct H as [H Wh]. apply andb_true_iff in H. destruct H as [Lg Pr]. cbv zeta in Room. apply eqq_iff in M0.
  set (gap := sub (sc_bound B p) (rsum N (fun n => if is_active T n then mul (l n) (t_tasks T n) else 0))) in *.
  rewrite (users_all_iff P T stated_x placed_ R) in Room. split; [lra|].
  intros pl y Y Py D (n0 & U0 & L0). exfalso. pose proof (whole_feasible pl y Y) as Fy.
  assert (Same : forall n, user P n -> tasks P y n == tasks P x n).
  { intros n U. assert (Hn : (n < N)%nat) by apply U. destruct (Qlt_le_dec (tasks P x n) (tasks P y n)) as [L|L];
      [exfalso|specialize (D n U); lra].
    assert (One : 1 <= tasks P y n - tasks P x n).
    { assert (Wy : whole (tasks P y n)).
      { apply whole_sum. intros i Hi. apply (whole_ext _ _ (Qeq_sym _ _ (p_sum _ _ _ (h_placed _ _ _ Y) n i Hn Hi))).
        apply whole_sum. intros s Hs. destruct (Nat.eqb _ _); [apply (h_whole _ _ _ Y); auto|apply whole_zero]. }
      assert (Wx : whole (tasks P x n)).
      { apply whole_sum. intros i Hi. apply check_all_whole_iff in Wh. apply Wh; auto. }
      destruct Wy as [a A], Wx as [b B']. rewrite A, B' in *. rewrite <- Zlt_Qlt in L.
      assert (Z1 : (b + 1 <= a)%Z) by lia. rewrite Zle_Qle, inject_Z_plus in Z1. change (inject_Z 1) with 1 in Z1. lra. }
    assert (Bd : sum N (fun k => sum K (fun i => l k * y k i)) <= sc_bound B p).
    { apply (sc_duality _ _ _ RB (fun k => lt 0 (l k)) (fun k i => l k)); auto.
      intros k i Hk Hi E. bools. pose proof (f_nonneg P y Fy k i Hk Hi). specialize (Lg k Hk).
      destruct (is_active T k) eqn:Ak; bools.
      - assert (Uk : user P k) by (eapply is_user; eauto). pose proof (user_g P k Uk) as G.
        rewrite mul_eq, (g_is _ _ _ _ R) in Lg by auto. pose proof (prod_le (l k) 0 (g P k) E). lra.
      - assert (Z0 : l k == 0) by lra. rewrite Z0. lra. }
    assert (Gp : gap == sc_bound B p - sum N (fun k => if is_active T k then mul (l k) (t_tasks T k) else 0)).
    { unfold gap. rewrite sub_eq, rsum_eq. reflexivity. }
    assert (S : sum N (fun k => (if Nat.eqb k n then l n else 0) + (if is_active T k then mul (l k) (t_tasks T k) else 0)) <=
                sum N (fun k => sum K (fun i => l k * y k i))).
    { apply sum_le. intros k Hk. rewrite sum_scale. fold (tasks P y k). rewrite all_iff in Lg. specialize (Lg k Hk).
      destruct (is_active T k) eqn:Ak; bools.
      - assert (Uk : user P k) by (eapply is_user; eauto). pose proof (user_g P k Uk) as G. specialize (D k Uk).
        rewrite mul_eq, (g_is _ _ _ _ R) in Lg by auto. rewrite mul_eq, (tasks_is _ _ _ _ R) by auto.
        assert (Lk : 0 <= l k).
        { apply Qnot_lt_le. intro C. assert (0 < - l k * g P k) by (apply Qmult_lt_0_compat; lra). lra. }
        destruct (Nat.eqb k n) eqn:E.
        + apply Nat.eqb_eq in E. subst k. pose proof (prod_le_l _ _ (l n) One Lk). lra.
        + pose proof (prod_le_l _ _ (l k) D Lk). lra.
      - destruct (Nat.eqb k n) eqn:E.
        + apply Nat.eqb_eq in E. subst k. destruct (user_is P stated_x T placed_ R n U). congruence.
        + pose proof (prod_nonneg _ _ Lg (tasks_nonneg P y k Fy Hk)). lra. }
    rewrite sum_add, (sum_single N (fun k => if Nat.eqb k n then l n else 0) n), Nat.eqb_refl in S; auto.
    - specialize (Room n U). bools. lra.
    - intros j _ Ne. apply Nat.eqb_neq in Ne. rewrite Ne. reflexivity. }
  rewrite (Same n0 U0) in L0. lra.
Qed.

Theorem check_better_placing_sound l f y m : check_better_placing P T B l f y m = true ->
  forall eps, integer_pareto_optimal_among P possible eps x -> - m <= eps.
Proof.
  unfold check_better_placing. rewrite !andb_true_iff. intros [[[[[[[[A B'] C] D] F] G] S] Ke] E] eps [_ O].
  apply check_placed_sound in A. pose proof (p_class _ _ _ A) as Cl.
  assert (Fi : fits P l) by (eapply check_fits_sound; eauto). apply eqq_iff in E.
  apply any_iff in S. destruct S as (k & Hk & S). apply andb_true_iff in S. destruct S as [Ak S]. apply lt_iff in S.
  rewrite (tasks_is _ _ _ _ R), rsum_eq in S by auto.
  assert (Gain : - (-1) <= eps); [|rewrite E; exact Gain]. change (- (-1)) with 1. bools.
  assert (Wp : whole_placing P l y).
  { constructor; auto.
    + intros s n Hs Hn. specialize (D s Hs). bools. specialize (D n Hn). apply orb_true_iff in D. destruct D as [D|D].
      * apply eqq_iff in D. apply (whole_ext 0); [symmetry; auto|apply whole_zero].
      * apply is_whole_iff; auto.
    + intros n Hn. specialize (F n Hn). unfold within_limit, tasks. destruct (limit P n); auto. bools.
      rewrite <- rsum_eq. auto. }
  apply (O l y); [exact Wp|apply (sc_kept _ _ _ RB); auto; apply (whole_feasible l y Wp)| |].
  - intros n U. assert (Hn : (n < N)%nat) by apply U. specialize (G n Hn). bools.
    rewrite (tasks_is _ _ _ _ R), rsum_eq in G by auto. auto.
  - exists k. split; [eapply is_user; eauto|exact S].
Qed.
End Sound.
