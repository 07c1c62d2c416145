(** States and decides the axioms that compare groups by the tasks of their own users: group sharing incentive and group
    envy-freeness (docs/axioms.md, parties). The statements come first. *)
From Coq Require Import QArith Qreduction Qfield Arith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Arithmetic Checker Repair Soundness Bundle Prices Certificate Groups.
Open Scope Q_scope.

(** The quantities by which siblings are compared. [group_weight]: the weights of groups. [plain]: shares are dominant
    shares, by usage over the cluster, and every user has the same demand on all classes. The other fields define any
    other share. Resources whose amounts are added up have the same [family]. *)
Inductive measured := OfCluster | OfLendable | OfGuarantee.
Record siblings := { group_weight : nat -> Q; plain : bool; priority : nat -> Q; of_surplus : bool; measure : measured;
  multiplier : nat -> Q; family : nat -> nat }.

Section On.
Variable P : problem.
Variable G : grouping.
Variable Sib : siblings.
Notation N := (users P). Notation K := (classes P). Notation M := (resources P). Notation V := (groups G).

(** A party is a group, or a user that is in no group. Party k is group k if k < V, and otherwise user k - V. *)
Definition stands_alone (n : nat) : bool := match group_of G n with None => true | Some _ => false end.
Definition member (k n : nat) : bool := active P n &&
  (if Nat.ltb k V then existsb (Nat.eqb k) (above G n) else Nat.eqb k (V + n) && stands_alone n).
Definition is_party (k : nat) : bool := any N (member k).
Definition party_weight (k : nat) : Q := if Nat.ltb k V then group_weight Sib k else weight P (k - V).
Definition stands_in (k : nat) : option nat := if Nat.ltb k V then parent G k else None.
Definition same_place (a b : option nat) : bool :=
  match a, b with Some a, Some b => Nat.eqb a b | None, None => true | _, _ => false end.

(** The sum of the weights of all users and groups directly below u. A group counts if it has an active user below
    it. *)
Definition weights_in (u : option nat) : Q :=
  sum N (fun n => if active P n && same_place (group_of G n) u then weight P n else 0) +
  sum V (fun v => if is_party v && same_place (parent G v) u then group_weight Sib v else 0).
(** The fraction of the cluster that belongs to a group, computed level by level *)
Fixpoint part_of (depth v : nat) : Q :=
  match depth with
  | O => 0
  | S d => group_weight Sib v / weights_in (parent G v) * match parent G v with None => 1 | Some u => part_of d u end
  end.
Definition own_part (k : nat) : Q := if Nat.ltb k V then part_of V k else weight P (k - V) / weights_in None.

Variable x : allocation.
(** Within the amounts R of every row, every user of party k could have its tasks and z times the tasks that it would
    have alone. If this exceeds all tasks of the user, all its tasks count. The second definition says that some user
    lacks at least that many tasks. *)
Definition could_have (k : nat) (R : nat -> nat -> Q) (z : Q) : Prop := exists y : allocation,
  (forall n i, (n < N)%nat -> (i < K)%nat -> member k n = true -> 0 <= y n i /\ (gamma P n i == 0 -> y n i == 0)) /\
  (forall i r, (i < K)%nat -> (r < M)%nat -> sum N (fun n => if member k n then y n i * takes P n i r else 0) <= R i r) /\
  forall n, (n < N)%nat -> member k n = true ->
    within_limit P n (tasks P y n) /\ at_most P n (tasks P x n + z * g P n) <= tasks P y n.
Definition lacks_so_much (k : nat) (z : Q) : Prop :=
  exists n, (n < N)%nat /\ member k n = true /\ within_limit P n (tasks P x n + z * g P n).
Definition gains_at_most (k : nat) (R : nat -> nat -> Q) (eps : Q) : Prop :=
  forall z, could_have k R z -> lacks_so_much k z -> z <= eps.

(** No party gains more than eps from its own fraction of the cluster. *)
Definition own_rows (k i r : nat) : Q := own_part k * full P i r.
Definition group_sharing_incentive (eps : Q) : Prop :=
  forall k, (k < V + N)%nat -> is_party k = true -> gains_at_most k (own_rows k) eps.
(** No party gains more than eps from the holdings of a sibling, scaled by the ratio of their weights. *)
Definition holds_rows (h i r : nat) : Q := sum N (fun n => if member h n then x n i * takes P n i r else 0).
Definition rows_of (k h i r : nat) : Q := party_weight k / party_weight h * holds_rows h i r.
Definition are_compared (k h : nat) : Prop :=
  (k < V + N)%nat /\ (h < V + N)%nat /\ is_party k = true /\ is_party h = true /\ k <> h /\
  stands_in k = stands_in h /\ 0 < party_weight k /\ 0 < party_weight h.
Definition group_envy_free (eps : Q) : Prop :=
  forall k h, are_compared k h -> gains_at_most k (rows_of k h) eps.

(** * Programs *)

Record party_tables := { t_members : nat -> list nat; t_holds : nat -> nat -> nat -> Q; t_part : nat -> Q }.
Record party_proof := { on_tasks : nat -> Q; party_prices : prices }.

Variable T : tables.
Variable H : group_tables.
Variable A : party_tables.
Fixpoint lsum (l : list nat) (f : nat -> Q) : Q := match l with nil => 0 | n :: l => add (f n) (lsum l f) end.

Definition t_member (k n : nat) : bool := is_active T n &&
  (if Nat.ltb k V then existsb (Nat.eqb k) (t_above H n) else Nat.eqb k (V + n) && stands_alone n).
Definition make_members (k : nat) : list nat := filter (t_member k) (seq 0 N).
Definition somebody (k : nat) : bool := match t_members A k with nil => false | _ => true end.
Definition make_holds (h i r : nat) : Q := lsum (t_members A h) (fun n => mul (t_x T n i) (t_takes T n i r)).
Definition rweights_in (u : option nat) : Q :=
  add (rsum N (fun n => if is_active T n && same_place (group_of G n) u then weight P n else 0))
      (rsum V (fun v => if somebody v && same_place (parent G v) u then group_weight Sib v else 0)).
Fixpoint rpart_of (depth v : nat) : Q :=
  match depth with
  | O => 0
  | S d => mul (quo (group_weight Sib v) (rweights_in (parent G v))) (match parent G v with None => 1 | Some u => rpart_of d u end)
  end.
Definition make_part (k : nat) : Q := if Nat.ltb k V then rpart_of V k else quo (weight P (k - V)) (rweights_in None).
Definition check_party_tables : bool :=
  all (V + N) (fun k => same_list (t_members A k) (make_members k)) &&
  all (V + N) (fun k => all K (fun i => all M (fun r => eqq (t_holds A k i r) (make_holds k i r)))) &&
  all (V + N) (fun k => if somebody k then eqq (t_part A k) (make_part k) else true).

Definition t_compared (k h : nat) : bool :=
  somebody k && somebody h && negb (Nat.eqb k h) && same_place (stands_in k) (stands_in h) &&
  lt 0 (party_weight k) && lt 0 (party_weight h).
(** The amounts with which party k is compared: its own fraction (then h = k), or the holdings of party h *)
Definition t_rows (envy : bool) (k h i r : nat) : Q :=
  if envy then mul (quo (party_weight k) (party_weight h)) (t_holds A h i r) else mul (t_part A k) (t_full T i r).

(** The tasks of n, plus eps times the tasks that n would have alone *)
Definition risen (eps : Q) (n : nat) : Q := add (t_tasks T n) (mul eps (t_g T n)).
Definition has_more (eps : Q) (n : nat) : bool := match limit P n with Some t => lt (risen eps n) t | None => true end.
Definition has_all (eps : Q) (n : nat) : bool := match limit P n with Some t => le t (risen eps n) | None => false end.
Definition has_just (eps : Q) (n : nat) : bool := match limit P n with Some t => eqq t (risen eps n) | None => false end.
Definition check_party_proof (k : nat) (f : party_proof) : bool :=
  all K (fun i => all M (fun r => le 0 (on_row (party_prices f) i r))) &&
  forallb (fun n => le 0 (on_tasks f n) &&
    match limit P n with Some _ => le 0 (on_user (party_prices f) n) | None => eqq (on_user (party_prices f) n) 0 end &&
    (if lt 0 (on_tasks f n) then all K (fun i => if runs_on T n i
      then le (on_tasks f n) (add (rsum M (fun r => mul (on_row (party_prices f) i r) (t_takes T n i r))) (on_user (party_prices f) n))
      else true) else true)) (t_members A k).
Definition party_bound (k : nat) (R : nat -> nat -> Q) (f : party_proof) : Q :=
  add (rsum K (fun i => rsum M (fun r => mul (on_row (party_prices f) i r) (R i r))))
      (lsum (t_members A k) (fun n => match limit P n with Some t => mul (on_user (party_prices f) n) t | None => 0 end)).
Definition floors (k : nat) (eps : Q) (f : party_proof) : Q :=
  lsum (t_members A k) (fun n => mul (on_tasks f n) (at_most P n (risen eps n))).
Definition grows (k : nat) (eps : Q) (f : party_proof) : bool :=
  existsb (fun n => lt 0 (on_tasks f n) && has_more eps n) (t_members A k).
Definition shows (k : nat) (R : nat -> nat -> Q) (eps : Q) (f : party_proof) : bool :=
  check_party_proof k f &&
  (lt (party_bound k R f) (floors k eps f) || le (party_bound k R f) (floors k eps f) && grows k eps f || forallb (has_all eps) (t_members A k)).
(** The gain that the prices bound is exactly eps. *)
Definition shows_just (k : nat) (R : nat -> nat -> Q) (eps : Q) (f : party_proof) : bool :=
  eqq (party_bound k R f) (floors k eps f) && grows k eps f ||
  forallb (has_all eps) (t_members A k) && existsb (has_just eps) (t_members A k) && le (floors k eps f) (party_bound k R f).

Definition of_pairs (envy : bool) (f : nat -> nat -> bool) : bool :=
  all (V + N) (fun k => if envy then all (V + N) (fun h => if t_compared k h then f k h else true)
    else if somebody k then f k k else true).
Definition check_parties (envy : bool) (m : Q) (f : nat -> nat -> party_proof) : bool :=
  of_pairs envy (fun k h => shows k (t_rows envy k h) (- m) (f k h)) &&
  negb (of_pairs envy (fun k h => negb (shows_just k (t_rows envy k h) (- m) (f k h)))).
Definition check_no_parties (envy : bool) : bool := of_pairs envy (fun _ _ => false).

(** The allocation y proves that party k gains exactly that much. *)
Definition check_party_gains (envy : bool) (m : Q) (k h : nat) (y : allocation) : bool :=
  Nat.ltb k (V + N) && Nat.ltb h (V + N) && (if envy then t_compared k h else somebody k && Nat.eqb k h) && lt m 0 &&
  (let in_k := t_member k in
   all N (fun n => all K (fun i => eqq (y n i) 0 || in_k n && lt 0 (y n i) && runs_on T n i))) &&
  all K (fun i => all M (fun r => le (lsum (t_members A k) (fun n => mul (y n i) (t_takes T n i r))) (t_rows envy k h i r))) &&
  (let has n := rsum K (y n) in
   let is_filled n := match limit P n with Some t => eqq t (has n) | None => false end in
   forallb (fun n => match limit P n with Some t => le (has n) t | None => true end &&
     (is_filled n || le (risen (- m) n) (has n))) (t_members A k) &&
   (existsb (fun n => negb (is_filled n) && eqq (has n) (risen (- m) n)) (t_members A k) ||
    forallb is_filled (t_members A k) && forallb (has_all (- m)) (t_members A k) && existsb (has_just (- m)) (t_members A k))).

(** * Soundness *)
Hypothesis W : well_formed P.
Variable stated_x : allocation.
Variable placed : bool.
Hypothesis R : right P stated_x T placed.
Hypothesis X : x = t_x T.
Hypothesis C : check_group_tables P G T H = true.
Hypothesis CA : check_party_tables = true.

Lemma same_place_iff a b : same_place a b = true <-> a = b.
Proof.
  destruct a, b; simpl; split; intros E; try discriminate; auto.
  - apply Nat.eqb_eq in E. congruence.
  - inversion E. apply Nat.eqb_refl.
Qed.
Lemma same_list_eq a b : same_list a b = true -> a = b.
Proof.
  revert b. induction a; intros [|c b]; simpl; try discriminate; auto. intros E. apply andb_true_iff in E.
  destruct E as [E F]. apply Nat.eqb_eq in E. rewrite E, (IHa b); auto.
Qed.
Lemma member_is k n : (n < N)%nat -> t_member k n = member k n.
Proof.
  intros Hn. unfold t_member, member. rewrite (is_active_eq P stated_x T placed R) by auto.
  rewrite (above_is P G T H C) by auto. reflexivity.
Qed.
Lemma members_is k : (k < V + N)%nat -> t_members A k = filter (member k) (seq 0 N).
Proof.
  intros Hk. unfold check_party_tables in CA. rewrite !andb_true_iff, !all_iff in CA. destruct CA as [[B _] _].
  rewrite (same_list_eq _ _ (B k Hk)). unfold make_members. apply filter_ext_in. intros n I. apply in_seq in I.
  apply member_is. lia.
Qed.
Lemma in_members k n : (k < V + N)%nat -> In n (t_members A k) <-> (n < N)%nat /\ member k n = true.
Proof. intros Hk. rewrite members_is, filter_In, in_seq by auto. split; intros [B D]; split; auto; lia. Qed.
Lemma somebody_is k : (k < V + N)%nat -> somebody k = is_party k.
Proof.
  intros Hk. unfold somebody, is_party. pose proof (fun n => in_members k n Hk) as I. destruct (t_members A k) as [|n l] eqn:E.
  - symmetry. apply not_true_iff_false. intros Q. apply any_iff in Q. destruct Q as (n & Hn & Q).
    assert (F : In n nil) by (apply I; auto). destruct F.
  - symmetry. apply any_iff. exists n. apply I. left. auto.
Qed.
Lemma lsum_filter l f p : lsum (filter p l) f == fold_right (fun n s => (if p n then f n else 0) + s) 0 l.
Proof.
  induction l as [|n l IH]; simpl; [reflexivity|]. destruct (p n); simpl; [rewrite add_eq|]; rewrite IH; [reflexivity|ring].
Qed.
Lemma fold_sum n f : fold_right (fun k s => f k + s) 0 (seq 0 n) == sum n f.
Proof.
  induction n; [reflexivity|]. rewrite seq_S, fold_right_app. simpl.
  assert (E : forall l c, fold_right (fun k s => f k + s) c l == fold_right (fun k s => f k + s) 0 l + c).
  { induction l as [|k l IH]; simpl; intros c; [ring|]. rewrite IH. ring. }
  rewrite E, IHn. ring.
Qed.
Lemma lsum_is k f h : (k < V + N)%nat -> (forall n, (n < N)%nat -> member k n = true -> f n == h n) ->
  lsum (t_members A k) f == sum N (fun n => if member k n then h n else 0).
Proof.
  intros Hk E. rewrite members_is by auto. rewrite lsum_filter, (fold_sum N (fun n => if member k n then f n else 0)).
  apply sum_ext. intros n Hn. destruct (member k n) eqn:Q; [auto|reflexivity].
Qed.
Lemma member_user k n : (n < N)%nat -> member k n = true -> user P n.
Proof. intros Hn Q. unfold member in Q. apply andb_true_iff in Q. split; tauto. Qed.
Lemma holds_is h i r : (h < V + N)%nat -> (i < K)%nat -> (r < M)%nat -> t_holds A h i r == holds_rows h i r.
Proof.
  intros Hh Hi Hr. pose proof CA as Q. unfold check_party_tables in Q. rewrite !andb_true_iff, !all_iff in Q.
  destruct Q as [[_ Q] _]. specialize (Q h Hh). rewrite all_iff in Q. specialize (Q i Hi). rewrite all_iff in Q.
  specialize (Q r Hr). apply eqq_iff in Q. rewrite Q. apply lsum_is; auto. intros n Hn _.
  rewrite mul_eq, (takes_is _ _ _ _ R), X by auto. reflexivity.
Qed.
Lemma weights_in_is u : rweights_in u == weights_in u.
Proof.
  unfold rweights_in, weights_in. rewrite add_eq, !rsum_eq. apply Qplus_comp; apply sum_ext; intros k Hk.
  - rewrite (is_active_eq P stated_x T placed R) by auto. reflexivity.
  - rewrite somebody_is by lia. reflexivity.
Qed.
Lemma part_of_is d v : rpart_of d v == part_of d v.
Proof.
  revert v. induction d; simpl; intros v; [reflexivity|]. rewrite mul_eq, quo_eq, weights_in_is.
  destruct (parent G v); [rewrite IHd|]; reflexivity.
Qed.
Lemma part_is k : (k < V + N)%nat -> is_party k = true -> t_part A k == own_part k.
Proof.
  intros Hk Pk. pose proof CA as Q. unfold check_party_tables in Q. rewrite !andb_true_iff, !all_iff in Q.
  destruct Q as [_ Q]. specialize (Q k Hk). rewrite somebody_is, Pk in Q by auto. apply eqq_iff in Q. rewrite Q.
  unfold make_part, own_part. destruct (Nat.ltb k V); [apply part_of_is|]. rewrite quo_eq, weights_in_is. reflexivity.
Qed.
Lemma compared_iff k h : (k < V + N)%nat -> (h < V + N)%nat -> t_compared k h = true <-> are_compared k h.
Proof.
  intros Hk Hh. unfold t_compared, are_compared.
  rewrite !andb_true_iff, negb_true_iff, Nat.eqb_neq, same_place_iff, !lt_iff, !somebody_is by auto. tauto.
Qed.

Lemma risen_is eps n : (n < N)%nat -> risen eps n == tasks P x n + eps * g P n.
Proof. intros Hn. unfold risen. rewrite add_eq, mul_eq, (tasks_is _ _ _ _ R), (g_is _ _ _ _ R), X by auto. reflexivity. Qed.
Lemma at_most_ext n a b : a == b -> at_most P n a == at_most P n b.
Proof. intros E. unfold at_most. destruct (limit P n); [apply smaller_ext; [reflexivity|auto]|auto]. Qed.
Lemma at_most_le n a b : a <= b -> at_most P n a <= at_most P n b.
Proof. intros E. unfold at_most. destruct (limit P n); [minmax; lra|auto]. Qed.

(** Weak duality within the amounts of a party *)
Lemma shows_sound k Rt Rs eps f : (k < V + N)%nat ->
  (forall i r, (i < K)%nat -> (r < M)%nat -> Rt i r == Rs i r) -> shows k Rt eps f = true -> gains_at_most k Rs eps.
Proof.
  intros Hk Er Sh z (y & Y1 & Y2 & Y3) (n0 & Hn0 & M0 & L0). unfold shows in Sh. apply andb_true_iff in Sh.
  destruct Sh as [Ck Sh]. unfold check_party_proof in Ck. apply andb_true_iff in Ck. destruct Ck as [Cp Cu].
  rewrite all_iff in Cp. rewrite forallb_forall in Cu. apply Qnot_lt_le. intros Z.
  assert (G0 : forall n, (n < N)%nat -> member k n = true -> 0 < g P n).
  { intros n Hn Mn. apply user_g. eapply member_user; eauto. }
  apply orb_true_iff in Sh. destruct Sh as [Sh|Sh].
  2:{ rewrite forallb_forall in Sh. specialize (Sh n0 ltac:(apply in_members; auto)). unfold has_all in Sh.
      unfold within_limit in L0. destruct (limit P n0) as [t|]; [|discriminate]. apply le_iff in Sh.
      rewrite risen_is in Sh by auto. specialize (G0 n0 Hn0 M0).
      assert (eps * g P n0 < z * g P n0) by (apply Qmult_lt_compat_r; auto). lra. }
  set (l := on_tasks f) in *. set (p := on_row (party_prices f)) in *. set (q := on_user (party_prices f)) in *.
  assert (P0 : forall i r, (i < K)%nat -> (r < M)%nat -> 0 <= p i r).
  { intros i r Hi Hr. specialize (Cp i Hi). rewrite all_iff in Cp. apply le_iff. auto. }
  assert (U : forall n, (n < N)%nat -> member k n = true -> 0 <= l n /\ 0 <= q n /\ (limit P n = None -> q n == 0) /\
    forall i, (i < K)%nat -> 0 < l n -> 0 < gamma P n i -> l n <= sum M (fun r => p i r * takes P n i r) + q n).
  { intros n Hn Mn. specialize (Cu n ltac:(apply in_members; auto)). rewrite !andb_true_iff in Cu.
    destruct Cu as [[Ul Uq] Ui]. apply le_iff in Ul. fold l in Ul, Ui. fold q in Uq, Ui.
    assert (Q : 0 <= q n /\ (limit P n = None -> q n == 0)).
    { destruct (limit P n); bools; split; auto; [discriminate|rewrite Uq; lra]. }
    split; [auto|]. split; [tauto|]. split; [tauto|]. intros i Hi Lp Gp. apply lt_iff in Lp. rewrite Lp in Ui.
    rewrite all_iff in Ui. specialize (Ui i Hi). rewrite (runs_on_eq P stated_x T placed R) in Ui by auto.
    apply lt_iff in Gp. rewrite Gp in Ui. apply le_iff in Ui. rewrite add_eq, rsum_eq in Ui.
    rewrite (sum_ext M _ (fun r => p i r * takes P n i r)) in Ui; auto.
    intros r Hr. rewrite mul_eq, (takes_is _ _ _ _ R) by auto. reflexivity. }
  (* The prices pay for the holdings of y, ... *)
  assert (D : sum N (fun n => if member k n then l n * tasks P y n else 0) <= party_bound k Rt f).
  { unfold party_bound. fold p q. rewrite add_eq, rsum_eq.
    assert (E0 : lsum (t_members A k) (fun n => match limit P n with Some t => mul (q n) t | None => 0 end) ==
      sum N (fun n => if member k n then match limit P n with Some t => q n * t | None => 0 end else 0)).
    { apply lsum_is; auto. intros n _ _. destruct (limit P n); [apply mul_eq|reflexivity]. }
    rewrite E0.
    assert (E : sum K (fun i => rsum M (fun r => mul (p i r) (Rt i r))) == sum K (fun i => sum M (fun r => p i r * Rs i r))).
    { apply sum_ext. intros i Hi. rewrite rsum_eq. apply sum_ext. intros r Hr. rewrite mul_eq, Er by auto. reflexivity. }
    rewrite E.
    apply Qle_trans with (sum N (fun n => (if member k n then sum K (fun i => sum M (fun r => p i r * (y n i * takes P n i r))) else 0) +
      (if member k n then q n * tasks P y n else 0))).
    - apply sum_le. intros n Hn. destruct (member k n) eqn:Mn; [|lra]. destruct (U n Hn Mn) as (Ul & Uq & _ & Ui).
      unfold tasks. rewrite <- !sum_scale, <- sum_add. apply sum_le. intros i Hi. destruct (Y1 n i Hn Hi Mn) as [Y0 Yg].
      assert (C0 : 0 <= sum M (fun r => p i r * (y n i * takes P n i r))).
      { apply sum_nonneg. intros r Hr. apply prod_nonneg; auto. apply prod_nonneg; auto. apply takes_nonneg; auto. }
      pose proof (prod_nonneg _ _ Uq Y0) as C1.
      destruct (Qlt_le_dec 0 (l n)) as [Lp|Ln].
      2:{ assert (Zl : l n == 0) by lra. rewrite Zl. lra. }
      destruct (Qlt_le_dec 0 (gamma P n i)) as [Gp|Gn].
      + specialize (Ui i Hi Lp Gp). pose proof (prod_le _ _ (y n i) Ui Y0) as Q.
        rewrite (sum_ext M (fun r => p i r * (y n i * takes P n i r)) (fun r => p i r * takes P n i r * y n i)) by (intros; ring).
        rewrite sum_scale_r. lra.
      + pose proof (gamma_nonneg P W n i Hn Hi). assert (Yz : y n i == 0) by (apply Yg; lra).
        assert (Q : l n * y n i == 0) by (rewrite Yz; ring). lra.
    - rewrite sum_add.
      assert (D1 : sum N (fun n => if member k n then sum K (fun i => sum M (fun r => p i r * (y n i * takes P n i r))) else 0) <=
        sum K (fun i => sum M (fun r => p i r * Rs i r))).
      { rewrite (sum_ext N _ (fun n => sum K (fun i => sum M (fun r => p i r * (if member k n then y n i * takes P n i r else 0))))).
        - rewrite sum_swap. apply sum_le. intros i Hi. rewrite sum_swap. apply sum_le. intros r Hr. rewrite sum_scale.
          apply prod_le_l; auto.
        - intros n Hn. destruct (member k n); [reflexivity|]. symmetry. apply sum_zero. intros. apply sum_zero. intros. ring. }
      assert (D2 : sum N (fun n => if member k n then q n * tasks P y n else 0) <=
        sum N (fun n => if member k n then match limit P n with Some t => q n * t | None => 0 end else 0)).
      { apply sum_le. intros n Hn. destruct (member k n) eqn:Mn; [|lra]. destruct (U n Hn Mn) as (_ & Uq & Un & _).
        destruct (Y3 n Hn Mn) as [Lt _]. unfold within_limit in Lt. destruct (limit P n); [apply prod_le_l; auto|].
        rewrite Un by auto. lra. }
      lra. }
  (* ... but the tasks that a greater gain needs are worth more. *)
  assert (Fl : floors k eps f == sum N (fun n => if member k n then l n * at_most P n (tasks P x n + eps * g P n) else 0)).
  { unfold floors. apply lsum_is; auto. intros n Hn _. rewrite mul_eq. fold l. rewrite (at_most_ext n _ _ (risen_is eps n Hn)).
    reflexivity. }
  assert (Less : forall n, (n < N)%nat -> member k n = true ->
    l n * at_most P n (tasks P x n + eps * g P n) <= l n * tasks P y n).
  { intros n Hn Mn. destruct (U n Hn Mn) as (Ul & _). destruct (Y3 n Hn Mn) as [_ L]. apply prod_le_l; auto.
    apply Qle_trans with (2 := L). apply at_most_le. specialize (G0 n Hn Mn).
    assert (eps * g P n <= z * g P n) by (apply prod_le; lra). lra. }
  assert (All : sum N (fun n => if member k n then l n * at_most P n (tasks P x n + eps * g P n) else 0) <=
    sum N (fun n => if member k n then l n * tasks P y n else 0)).
  { apply sum_le. intros n Hn. destruct (member k n) eqn:Mn; [apply Less; auto|lra]. }
  apply orb_true_iff in Sh. destruct Sh as [Bo|Sh]; [apply lt_iff in Bo; lra|].
  apply andb_true_iff in Sh. destruct Sh as [Bo Gr]. apply le_iff in Bo.
  unfold grows in Gr. apply existsb_exists in Gr. destruct Gr as (n1 & I1 & Gr). apply in_members in I1; auto.
  destruct I1 as [Hn1 M1]. apply andb_true_iff in Gr. destruct Gr as [Lp Hm]. apply lt_iff in Lp. fold l in Lp.
  assert (Strict : l n1 * at_most P n1 (tasks P x n1 + eps * g P n1) < l n1 * tasks P y n1).
  { apply Qmult_lt_l; auto. destruct (Y3 n1 Hn1 M1) as [_ L]. apply Qlt_le_trans with (2 := L). specialize (G0 n1 Hn1 M1).
    assert (eps * g P n1 < z * g P n1) by (apply Qmult_lt_compat_r; auto). unfold has_more in Hm. unfold at_most.
    destruct (limit P n1); [|lra]. apply lt_iff in Hm. rewrite risen_is in Hm by auto. minmax; lra. }
  assert (Sum : sum N (fun n => (if member k n then l n * tasks P y n else 0) +
      -(1) * (if member k n then l n * at_most P n (tasks P x n + eps * g P n) else 0)) <= 0).
  { rewrite sum_add, sum_scale, <- Fl. lra. }
  pose proof (sum_term N (fun n => (if member k n then l n * tasks P y n else 0) +
    -(1) * (if member k n then l n * at_most P n (tasks P x n + eps * g P n) else 0)) n1) as Q. cbv beta in Q.
  rewrite M1 in Q. assert (Pos : l n1 * tasks P y n1 + -(1) * (l n1 * at_most P n1 (tasks P x n1 + eps * g P n1)) <= 0).
  { apply Qle_trans with (2 := Sum). apply Q; auto. intros n Hn. destruct (member k n) eqn:Mn; [|lra].
    specialize (Less n Hn Mn). lra. }
  lra.
Qed.

Lemma rows_is (envy : bool) k h i r : (k < V + N)%nat -> (h < V + N)%nat -> is_party k = true -> (i < K)%nat -> (r < M)%nat ->
  t_rows envy k h i r == (if envy then rows_of k h else own_rows k) i r.
Proof.
  intros Hk Hh Pk Hi Hr. unfold t_rows. destruct envy.
  - unfold rows_of. rewrite mul_eq, quo_eq, holds_is by auto. reflexivity.
  - unfold own_rows. rewrite mul_eq, part_is, (full_is _ _ _ _ R) by auto. reflexivity.
Qed.
Definition party_axiom (envy : bool) (eps : Q) : Prop := if envy then group_envy_free eps else group_sharing_incentive eps.
Lemma of_pairs_sound (envy : bool) (f : nat -> nat -> bool) eps :
  (forall k h, (k < V + N)%nat -> (h < V + N)%nat -> is_party k = true -> f k h = true ->
    gains_at_most k (if envy then rows_of k h else own_rows k) eps) ->
  of_pairs envy f = true -> party_axiom envy eps.
Proof.
  intros Sd Q. unfold of_pairs in Q. rewrite all_iff in Q. destruct envy.
  - intros k h Co. assert (B1 : (k < V + N)%nat) by apply Co. assert (B2 : (h < V + N)%nat) by apply Co.
    specialize (Q k B1). rewrite all_iff in Q. specialize (Q h B2). apply Sd; auto; [apply Co|].
    apply (compared_iff k h B1 B2) in Co. rewrite Co in Q. exact Q.
  - intros k Hk Pk. specialize (Q k Hk). rewrite somebody_is, Pk in Q by auto. exact (Sd k k Hk Hk Pk Q).
Qed.
Theorem check_parties_sound envy m f : check_parties envy m f = true -> party_axiom envy (- m).
Proof.
  unfold check_parties. intros Q. apply andb_true_iff in Q. destruct Q as [Q _]. revert Q. apply of_pairs_sound.
  intros k h Hk Hh Pk Q. apply (shows_sound k (t_rows envy k h) _ (- m) (f k h) Hk); [|exact Q].
  intros. apply rows_is; auto.
Qed.
Theorem check_no_parties_sound envy : check_no_parties envy = true -> forall eps, party_axiom envy eps.
Proof. unfold check_no_parties. intros Q eps. revert Q. apply of_pairs_sound. discriminate. Qed.

Theorem check_party_gains_sound envy m k h y : check_party_gains envy m k h y = true ->
  forall eps, party_axiom envy eps -> - m <= eps.
Proof.
  unfold check_party_gains. rewrite !andb_true_iff, !Nat.ltb_lt, !all_iff. intros [[[[[[Hk Hh] Co] Ng] En] Ro] [Fi Ti]] eps O.
  apply lt_iff in Ng. rewrite forallb_forall in Fi.
  assert (Pk : is_party k = true).
  { rewrite <- somebody_is by auto. destruct envy; [unfold t_compared in Co|]; rewrite !andb_true_iff in Co; tauto. }
  assert (Cg : could_have k (if envy then rows_of k h else own_rows k) (- m)).
  { exists y. split; [|split].
    - intros n i Hn Hi Mn. specialize (En n Hn). rewrite all_iff in En. specialize (En i Hi). apply orb_true_iff in En.
      destruct En as [E|E]; [apply eqq_iff in E; rewrite E; split; [lra|reflexivity]|].
      rewrite !andb_true_iff in E. destruct E as [[_ Ey] Er]. apply lt_iff in Ey.
      rewrite (runs_on_eq P stated_x T placed R) in Er by auto. apply lt_iff in Er. split; [lra|]. intros G0. lra.
    - intros i r Hi Hr. specialize (Ro i Hi). rewrite all_iff in Ro. specialize (Ro r Hr). apply le_iff in Ro.
      rewrite rows_is in Ro by auto. apply Qle_trans with (2 := Ro). apply Qle_lteq. right. symmetry. apply lsum_is; auto.
      intros n Hn _. rewrite mul_eq, (takes_is _ _ _ _ R) by auto. reflexivity.
    - intros n Hn Mn. specialize (Fi n ltac:(apply in_members; auto)). apply andb_true_iff in Fi. destruct Fi as [F1 F2].
      assert (Tk : rsum K (y n) == tasks P y n) by apply rsum_eq. split.
      + unfold within_limit. destruct (limit P n); auto. apply le_iff in F1. rewrite <- Tk. exact F1.
      + unfold at_most. apply orb_true_iff in F2. destruct F2 as [F2|F2].
        * destruct (limit P n) as [t|]; [|discriminate]. apply eqq_iff in F2. rewrite <- Tk, <- F2. minmax; lra.
        * apply le_iff in F2. rewrite risen_is, Tk in F2 by auto. destruct (limit P n); [minmax; lra|lra]. }
  assert (Lk : lacks_so_much k (- m)).
  { apply orb_true_iff in Ti. destruct Ti as [Ti|Ti].
    - apply existsb_exists in Ti. destruct Ti as (n & I & Ti). apply in_members in I; auto. destruct I as [Hn Mn].
      apply andb_true_iff in Ti. destruct Ti as [_ Ti]. apply eqq_iff in Ti. exists n. split; [auto|]. split; [auto|].
      specialize (Fi n ltac:(apply in_members; auto)). apply andb_true_iff in Fi. destruct Fi as [F1 _].
      unfold within_limit. destruct (limit P n); auto. apply le_iff in F1. rewrite <- risen_is, <- Ti by auto. exact F1.
    - apply andb_true_iff in Ti. destruct Ti as [_ Ti]. apply existsb_exists in Ti. destruct Ti as (n & I & Ti).
      apply in_members in I; auto. destruct I as [Hn Mn]. exists n. split; [auto|]. split; [auto|]. unfold has_just in Ti.
      unfold within_limit. destruct (limit P n); auto. apply eqq_iff in Ti. rewrite Ti, risen_is by auto. lra. }
  destruct envy; simpl in O, Cg.
  - apply (O k h); auto. apply compared_iff; auto.
  - apply (O k); auto.
Qed.
End On.
