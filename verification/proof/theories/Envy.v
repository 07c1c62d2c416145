(** Decides envy-freeness: for every user, the bundle of another user is worth no more than its own tasks. *)
From Coq Require Import QArith Qreduction Qfield Arith ZArith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Arithmetic Checker Repair Soundness Bundle.
Open Scope Q_scope.

(** * Programs *)
Section Programs.
Variable P : problem.
Variable T : tables.
Notation N := (users P). Notation K := (classes P). Notation M := (resources P).
Notation x := (t_x T).
Notation on_class := (on_class P T). Notation at_most := (at_most P). Notation due := (due T).
Notation users_all := (users_all P T).

(** The number of tasks that n could run with the bundle of k, scaled by the ratio of their weights *)
Definition worth_of (n k : nat) : Q :=
  let s := quo (weight P n) (weight P k) in
  rsum K (fun i => if lt 0 (x k i) then on_class n i (fun r => mul s (mul (x k i) (t_takes T k i r))) else 0).

(** Hints that decide most pairs of users in whole numbers. The bundle of k, divided by the weight of k, has at most
    [held k i r] grains of row r. [rate n i] lists rows, each with an upper bound on the worth of a grain to n, in units
    of [due m n] / [scale]. The hints are checked once for every user, and false hints are refused. *)
Record hints := {
  grain : nat -> nat -> Q; held : nat -> nat -> nat -> Z; on : nat -> list nat;
  rate : nat -> nat -> list (nat * Z); scale : Z }.
Variable h : hints.

Definition check_held : bool :=
  Z.ltb 0 (scale h) &&
  all K (fun i => all M (fun r => le 0 (grain h i r))) &&
  all N (fun k => forallb (fun i => Nat.ltb i K) (on h k)) &&
  all N (fun k => all K (fun i =>
    if existsb (Nat.eqb i) (on h k)
    then all M (fun r => Z.leb 0 (held h k i r) &&
      le (quo (mul (x k i) (t_takes T k i r)) (weight P k)) (mul (inject_Z (held h k i r)) (grain h i r)))
    else le (x k i) 0)).
Definition check_rate (d : Q) (n : nat) : bool :=
  lt 0 d && all K (fun i =>
    match rate h n i with
    | nil => negb (runs_on T n i)
    | l => forallb (fun v => Nat.ltb (fst v) M && Z.leb 0 (snd v) && lt 0 (t_takes T n i (fst v)) &&
        le (mul (grain h i (fst v)) (mul (weight P n) (inject_Z (scale h))))
           (mul (mul (inject_Z (snd v)) d) (t_takes T n i (fst v)))) l
    end).
Fixpoint least_product (l : list (nat * Z)) (b : nat -> Z) : Z :=
  match l with
  | nil => 0%Z
  | (r, v) :: nil => (v * b r)%Z
  | (r, v) :: l' => Z.min (v * b r) (least_product l' b)
  end.
Fixpoint products (n k : nat) (l : list nat) : Z :=
  match l with
  | nil => 0%Z
  | i :: l' => (least_product (rate h n i) (held h k i) + products n k l')%Z
  end.
Definition check_pair (d : Q) (quick : bool) (n k : nat) : bool :=
  if Nat.eqb n k then true
  else if negb (is_active T k) then true
  else if quick && Z.leb (products n k (on h k)) (scale h) then true
  else le (worth_of n k) d.
Definition envy_of (m : Q) (quick : bool) (n : nat) : bool :=
  let d := due m n in
  has P n d || (let q := quick && check_rate d n in all N (check_pair d q n)).

(** No user has a margin below m. User n has exactly the margin m towards user k. *)
Definition check_envy (m : Q) (n k : nat) : bool :=
  (let quick := check_held in users_all (envy_of m quick)) &&
  Nat.ltb n N && Nat.ltb k N && negb (Nat.eqb n k) && is_active T n && is_active T k &&
  eqq (at_most n (worth_of n k)) (due m n).
(** There are no two active users, so there is no pair to compare. *)
Definition check_no_pair : bool :=
  users_all (fun n => all N (fun k => if is_active T k then Nat.eqb n k else true)).
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
Notation users_all_iff := (users_all_iff P T stated_x placed R).
Notation on_class_runs := (on_class_runs P W T stated_x placed R).
Notation best_eq := (best_eq P T).
Notation content_iff := (content_iff P W T stated_x placed R).
Notation due_eq := (due_eq P T stated_x placed R).

Definition bundle (n k i r : nat) : Q := weight P n / weight P k * (x k i * takes P k i r).
Lemma bundle_nonneg n k i r : (n < N)%nat -> (k < N)%nat -> (i < K)%nat -> (r < M)%nat -> 0 <= bundle n k i r.
Proof.
  intros. unfold bundle. apply prod_nonneg.
  - apply quotient_nonneg; apply Qlt_le_weak, (weight_pos P W); auto.
  - apply prod_nonneg; [apply (f_nonneg P x F)|apply takes_nonneg]; auto.
Qed.
Lemma worth_of_eq n k : (n < N)%nat -> (k < N)%nat -> worth_of P T n k == best P T n (bundle n k).
Proof.
  intros Hn Hk. unfold worth_of. rewrite best_eq, rsum_eq. apply sum_ext. intros i Hi.
  destruct (lt 0 (x k i)) eqn:X.
  - apply on_class_ext. intros r Hr. unfold bundle. rewrite !mul_eq, quo_eq, (takes_is _ _ _ _ R) by auto. reflexivity.
  - bools. pose proof (f_nonneg P x F k i Hk Hi). assert (Z : x k i == 0) by lra.
    destruct (on_class_runs n i (bundle n k i) Hn Hi) as (A & B & C).
    { intros. apply bundle_nonneg; auto. }
    destruct (Qlt_le_dec 0 (gamma P n i)) as [G|G].
    + destruct (gamma_tight P W n i Hn Hi G) as (r & Hr & D & _).
      specialize (C r Hr). unfold bundle in C at 2. rewrite Z in C.
      assert (C' : on_class P T n i (bundle n k i) * takes P n i r <= 0) by lra.
      apply Qle_antisym; [|apply Qnot_lt_le; intro C2].
      * auto.
      * assert (0 < on_class P T n i (bundle n k i) * takes P n i r) by (apply Qmult_lt_0_compat; auto). lra.
    + pose proof (gamma_nonneg P W n i Hn Hi). rewrite B; lra.
Qed.

Section Quick.
Variable h : hints.
Lemma least_product_sound l b v : l <> nil ->
  (forall p, In p l -> v <= inject_Z (snd p * b (fst p))) -> v <= inject_Z (least_product l b).
Proof.
  induction l as [|[r w] l IH]; [congruence|]. intros _ H. simpl. destruct l as [|q l].
  - apply (H (r, w)). left. auto.
  - destruct (Z.min_spec (w * b r) (least_product (q :: l) b)) as [[_ E]|[_ E]]; rewrite E.
    + apply (H (r, w)). left. auto.
    + apply IH; [congruence|]. intros p Hp. apply H. right. auto.
Qed.
Lemma products_sum n k l u : (forall i, (i < K)%nat -> In i l -> u i <= inject_Z (least_product (rate h n i) (held h k i))) ->
  (forall i, In i l -> (0 <= least_product (rate h n i) (held h k i))%Z) ->
  sum K (fun i => if existsb (Nat.eqb i) l then u i else 0) <= inject_Z (products h n k l).
Proof.
  induction l as [|a l IH]; intros A B; simpl products.
  - simpl. rewrite sum_zero by reflexivity. apply Qle_refl.
  - rewrite inject_Z_plus.
    assert (I : sum K (fun i => if existsb (Nat.eqb i) l then u i else 0) <= inject_Z (products h n k l)).
    { apply IH; intros; [apply A|apply B]; simpl; auto. }
    set (la := inject_Z (least_product (rate h n a) (held h k a))) in *.
    assert (L0 : 0 <= la).
    { unfold la. change 0 with (inject_Z 0). rewrite <- Zle_Qle. apply B. left. auto. }
    assert (C : sum K (fun i => if existsb (Nat.eqb i) (a :: l) then u i else 0) <=
                sum K (fun i => if Nat.eqb i a then la else 0) +
                sum K (fun i => if existsb (Nat.eqb i) l then u i else 0)).
    { rewrite <- sum_add. apply sum_le. intros i Hi. simpl. destruct (Nat.eqb i a) eqn:E; simpl.
      - apply Nat.eqb_eq in E. subst. specialize (A a Hi (or_introl eq_refl)). fold la in A.
        destruct (existsb (Nat.eqb a) l); lra.
      - lra. }
    assert (D : sum K (fun i => if Nat.eqb i a then la else 0) <= la).
    { destruct (lt_dec a K).
      - rewrite (sum_single K _ a); auto.
        + rewrite Nat.eqb_refl. lra.
        + intros j Hj Ne. apply Nat.eqb_neq in Ne. rewrite Ne. reflexivity.
      - rewrite sum_zero; [lra|]. intros j Hj. destruct (Nat.eqb j a) eqn:E; [|reflexivity].
        apply Nat.eqb_eq in E. lia. }
    lra.
Qed.

Lemma inject_nonneg z : (0 <= z)%Z -> 0 <= inject_Z z.
Proof. intros. change 0 with (inject_Z 0). rewrite <- Zle_Qle. auto. Qed.
Lemma least_product_nonneg l b : (forall p, In p l -> (0 <= snd p * b (fst p))%Z) -> (0 <= least_product l b)%Z.
Proof.
  induction l as [|[r w] l IH]; intros H; simpl; [lia|]. destruct l as [|q l].
  - apply (H (r, w)). left. auto.
  - apply Z.min_glb.
    + apply (H (r, w)). left. auto.
    + apply IH. intros p Hp. apply H. right. auto.
Qed.

Lemma quick_sound d n k : (n < N)%nat -> (k < N)%nat ->
  check_held P T h = true -> check_rate P T h d n = true ->
  Z.leb (products h n k (on h k)) (scale h) = true -> worth_of P T n k <= d.
Proof.
  intros Hn Hk H C Q. unfold check_held in H. unfold check_rate in C.
  apply andb_true_iff in H. destruct H as [H H0]. apply andb_true_iff in H. destruct H as [H H4].
  apply andb_true_iff in H. destruct H as [H H2]. apply andb_true_iff in C. destruct C as [D0 H1]. bools.
  apply Z.leb_le in Q. apply Z.ltb_lt in H. specialize (H4 k Hk). rewrite forallb_forall in H4.
  specialize (H0 k Hk). bools. pose proof (weight_pos P W n Hn) as Wn. pose proof (weight_pos P W k Hk) as Wk.
  set (s := inject_Z (scale h)) in *.
  assert (S0 : 0 < s). { unfold s. change 0 with (inject_Z 0). rewrite <- Zlt_Qlt. auto. }
  set (term := fun i => if lt 0 (x k i)
    then on_class P T n i (fun r => mul (quo (weight P n) (weight P k)) (mul (x k i) (t_takes T k i r))) else 0).
  assert (Bn : forall i, (i < K)%nat -> existsb (Nat.eqb i) (on h k) = true ->
    forall r, (r < M)%nat -> (0 <= held h k i r)%Z /\
      x k i * t_takes T k i r / weight P k <= inject_Z (held h k i r) * grain h i r).
  { intros i Hi E r Hr. specialize (H0 i Hi). rewrite E in H0. bools. specialize (H0 r Hr).
    apply andb_true_iff in H0. destruct H0 as [Z1 Z2]. bools.
    rewrite quo_eq, !mul_eq in Z2. split; auto. apply Z.leb_le. auto. }
  assert (Rn : forall i, (i < K)%nat -> forall p, In p (rate h n i) -> (fst p < M)%nat /\ (0 <= snd p)%Z /\
    0 < t_takes T n i (fst p) /\
    grain h i (fst p) * (weight P n * s) <= inject_Z (snd p) * d * t_takes T n i (fst p)).
  { intros i Hi p Hp. specialize (H1 i Hi). destruct (rate h n i) as [|q l] eqn:E; [contradiction|].
    rewrite forallb_forall in H1. specialize (H1 p Hp).
    apply andb_true_iff in H1. destruct H1 as [H1 Z4]. apply andb_true_iff in H1. destruct H1 as [H1 Z3].
    apply andb_true_iff in H1. destruct H1 as [Z1 Z2]. bools. rewrite !mul_eq in Z4.
    apply Nat.ltb_lt in Z1. apply Z.leb_le in Z2. auto. }
  assert (Out : forall i, (i < K)%nat -> existsb (Nat.eqb i) (on h k) = false -> term i == 0).
  { intros i Hi E. specialize (H0 i Hi). rewrite E in H0. bools. unfold term.
    destruct (lt 0 (x k i)) eqn:X; bools; lra. }
  assert (In' : forall i, (i < K)%nat -> In i (on h k) -> existsb (Nat.eqb i) (on h k) = true).
  { intros i Hi I. apply existsb_exists. exists i. split; auto. apply Nat.eqb_refl. }
  assert (Pos : forall i, (i < K)%nat -> In i (on h k) -> (0 <= least_product (rate h n i) (held h k i))%Z).
  { intros i Hi I. apply least_product_nonneg. intros p Hp. destruct (Rn i Hi p Hp) as (A & B & _).
    apply Z.mul_nonneg_nonneg; auto. apply Bn; auto. }
  assert (Up : forall i, (i < K)%nat -> In i (on h k) ->
    term i * (s / d) <= inject_Z (least_product (rate h n i) (held h k i))).
  { intros i Hi I. assert (SD : 0 < s / d). { apply Qlt_shift_div_l; lra. }
    destruct (runs_on T n i) eqn:RO.
    2:{ unfold term, on_class. rewrite RO. pose proof (inject_nonneg _ (Pos i Hi I)).
        destruct (lt 0 (x k i)); lra. }
    apply least_product_sound.
    { specialize (H1 i Hi). destruct (rate h n i); [rewrite RO in H1; discriminate|congruence]. }
    intros p Hp. destruct (Rn i Hi p Hp) as (A & B & C1 & C2).
    destruct (Bn i Hi (In' i Hi I) (fst p) A) as [D1 D2].
    specialize (H2 i Hi). bools. specialize (H2 (fst p) A). bools.
    set (t := t_takes T n i (fst p)) in *. set (a := t_takes T k i (fst p)) in *.
    set (u := grain h i (fst p)) in *. rewrite inject_Z_mult.
    set (v := inject_Z (snd p)) in *. set (b := inject_Z (held h k i (fst p))) in *.
    assert (V0 : 0 <= v) by (apply inject_nonneg; auto).
    assert (B0 : 0 <= b) by (apply inject_nonneg; auto).
    assert (E1 : term i * t <= weight P n * (b * u)).
    { unfold term. destruct (lt 0 (x k i)) eqn:X.
      - assert (L : on_class P T n i (fun r => mul (quo (weight P n) (weight P k)) (mul (x k i) (t_takes T k i r))) * t
                    <= mul (quo (weight P n) (weight P k)) (mul (x k i) a)).
        { unfold on_class. rewrite RO. destruct (least_some M (t_takes T n i)
            (fun r => mul (quo (weight P n) (weight P k)) (mul (x k i) (t_takes T k i r))) (fst p) A C1) as [w E].
          rewrite E. apply least_fits in E.
          - destruct E as [_ E]. apply E; auto.
          - intros r Hr. rewrite !mul_eq, quo_eq. apply prod_nonneg; [apply quotient_nonneg; lra|].
            bools. apply prod_nonneg; [lra|]. rewrite (takes_is _ _ _ _ R) by auto. apply takes_nonneg; auto. }
        rewrite !mul_eq, quo_eq in L.
        assert (L2 : weight P n / weight P k * (x k i * a) == weight P n * (x k i * a / weight P k)) by (field; lra).
        rewrite L2 in L. pose proof (prod_le_l _ _ (weight P n) D2 ltac:(lra)). lra.
      - pose proof (prod_nonneg b u B0 H2). pose proof (prod_nonneg (weight P n) (b * u) ltac:(lra) H3). lra. }
    assert (E2 : term i * s <= v * b * d).
    { apply Qmult_le_r with (z := t); auto.
      pose proof (prod_le _ _ s E1 ltac:(lra)) as E3.
      pose proof (prod_le_l _ _ b C2 B0) as E4.
      apply Qle_trans with (term i * t * s); [lra|].
      apply Qle_trans with (weight P n * (b * u) * s); [lra|].
      apply Qle_trans with (b * (u * (weight P n * s))); [lra|].
      apply Qle_trans with (b * (v * d * t)); lra. }
    assert (E5 : term i * (s / d) == term i * s / d) by (field; lra). rewrite E5.
    apply quotient_le; auto. }
  assert (Sum : sum K term * (s / d) <= s).
  { rewrite <- sum_scale_r.
    rewrite (sum_ext K _ (fun i => if existsb (Nat.eqb i) (on h k) then term i * (s / d) else 0)).
    - apply Qle_trans with (inject_Z (products h n k (on h k))).
      + apply products_sum; [intros; apply Up; auto|].
        intros i I. apply Pos; auto. apply Nat.ltb_lt, H4. auto.
      + unfold s. rewrite <- Zle_Qle. auto.
    - intros i Hi. destruct (existsb (Nat.eqb i) (on h k)) eqn:E; [reflexivity|]. rewrite (Out i Hi E). ring. }
  unfold worth_of. rewrite rsum_eq. fold term.
  change (sum K term <= d).
  assert (E : sum K term == sum K term * (s / d) * (d / s)) by (field; lra). rewrite E.
  assert (DS : 0 <= d / s) by (apply quotient_nonneg; lra).
  pose proof (prod_le _ _ (d / s) Sum DS) as G. assert (E2 : s * (d / s) == d) by (field; lra). lra.
Qed.
End Quick.

Theorem check_envy_sound h m n k : check_envy P T h m n k = true ->
  least_eps (fun eps => envy_free P eps x) m.
Proof.
  unfold check_envy. intros H. bools. rewrite users_all_iff in H. apply Nat.ltb_lt in H5. apply Nat.ltb_lt in H4.
  apply negb_true_iff, Nat.eqb_neq in H3.
  assert (I : forall a b eps, user P a -> user P b ->
    content P eps x a (fun i r => weight P a / weight P b * (x b i * takes P b i r)) <->
    at_most P a (worth_of P T a b) <= tasks P x a + eps * g P a).
  { intros a b eps Ua Ub. assert (Ha : (a < N)%nat) by apply Ua. assert (Hb : (b < N)%nat) by apply Ub.
    change (fun i r => weight P a / weight P b * (x b i * takes P b i r)) with (bundle a b).
    rewrite content_iff by (auto; intros; apply bundle_nonneg; auto).
    pose proof (worth_of_eq a b Ha Hb) as E. unfold at_most.
    destruct (limit P a) as [l|]; [|rewrite E; reflexivity].
    pose proof (smaller_ext l (worth_of P T a b) l (best P T a (bundle a b)) (Qeq_refl l) E) as E'.
    rewrite E'. reflexivity. }
  split.
  - intros a b Ua Ub Ne. apply I; auto. specialize (H a Ua). unfold envy_of in H.
    assert (Ha : (a < N)%nat) by apply Ua. assert (Hb : (b < N)%nat) by apply Ub.
    assert (D : at_most P a (worth_of P T a b) <= due T m a); [|rewrite due_eq in D by auto; lra].
    apply orb_true_iff in H. destruct H as [H|H].
    + apply has_iff in H. destruct H as (l & L & H). unfold at_most. rewrite L. minmax; lra.
    + rewrite all_iff in H. specialize (H b Hb). unfold check_pair in H.
      destruct (Nat.eqb a b) eqn:E; [apply Nat.eqb_eq in E; contradiction|].
      destruct (user_is P stated_x T placed R b Ub) as [_ Ab]. rewrite Ab in H. simpl in H.
      assert (V : worth_of P T a b <= due T m a).
      { destruct (_ && Z.leb _ _) eqn:Q; [|apply le_iff; auto].
        apply andb_true_iff in Q. destruct Q as [Q1 Q2]. apply andb_true_iff in Q1. destruct Q1.
        apply (quick_sound h); auto. }
      unfold at_most. destruct (limit P a); [minmax|]; lra.
  - intros eps A. assert (Un : user P n) by (eapply is_user; eauto). assert (Uk : user P k) by (eapply is_user; eauto).
    specialize (A n k Un Uk H3). apply I in A; auto. rewrite H0, due_eq in A by auto.
    apply (below _ _ (g P n)); [apply user_g; auto|lra].
Qed.
Theorem check_no_pair_sound : check_no_pair P T = true -> forall eps, envy_free P eps x.
Proof.
  unfold check_no_pair. intros H eps n k Un Uk Ne. rewrite users_all_iff in H. specialize (H n Un).
  rewrite all_iff in H. destruct (user_is P stated_x T placed R k Uk) as [Hk Ak]. specialize (H k Hk).
  rewrite Ak in H. apply Nat.eqb_eq in H. contradiction.
Qed.
End Sound.
