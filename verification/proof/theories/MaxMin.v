(** Decides max-min fairness of a share by prices. Also decides by how much some user could rise. *)
From Coq Require Import QArith Qreduction Qfield Arith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Arithmetic Checker Repair Soundness Bundle Prices.
Open Scope Q_scope.

(** One level of a max-min proof: multipliers of shares, and prices. [base_level] is at most the level of every user
    that the proof covers. With it, most of these levels need no sum of their own. *)
Record level := { covers : list nat; on_share : nat -> Q; at_prices : prices; base_level : Q }.

(** * Programs *)
Section Programs.
Variable P : problem.
Variable T : tables.
Notation N := (users P). Notation K := (classes P). Notation M := (resources P).
Notation x := (t_x T). Notation g := (t_g T).
Variable B : scope.
Notation check_prices := (sc_prices B). Notation bound := (sc_bound B).

(** The shares that users would have alone. [u] is the worth of tasks. [most n] is the share of n alone. The tasks
    [best_z n] attain it. The multiplier [tight n] of the limit of n proves that no other tasks give a larger share.
    [have n] is the share of n in the allocation. *)
Record alone_proof := { u : nat -> nat -> Q; most : nat -> Q; best_z : nat -> nat -> Q; tight : nat -> Q;
  have : nat -> Q }.
Variable A : alone_proof.

Definition share_of (y : allocation) (n : nat) : Q :=
  quo (rsum K (fun i => mul (u A n i) (y n i))) (weight P n).
Definition check_alone_share (n : nat) : bool :=
  all K (fun i => le 0 (best_z A n i) && le (best_z A n i) (t_gamma T n i)) &&
  (match limit P n with Some l => le (rsum K (best_z A n)) l && le 0 (tight A n) | None => eqq (tight A n) 0 end) &&
  eqq (most A n) (share_of (best_z A) n) &&
  le (add (rsum K (fun i => mul (t_gamma T n i) (larger 0 (sub (u A n i) (tight A n)))))
          (match limit P n with Some l => mul (tight A n) l | None => 0 end))
     (mul (most A n) (weight P n)).
Definition check_shares : bool :=
  all N (fun n => if is_active T n then check_alone_share n else true) &&
  all N (fun n => eqq (have A n) (share_of x n)).

(** The curve sum_k l_k min(U_k, L), in which the term of n is l_n L *)
Definition curve (l : nat -> Q) (L : Q) : Q := rsum N (fun k => mul (l k) (smaller (have A k) L)).
Definition own (l : nat -> Q) (L : Q) (n : nat) : Q := mul (l n) (sub L (smaller (have A n) L)).
Definition level_of (m : Q) (n : nat) : Q := sub (have A n) (mul m (most A n)).
Definition covered (v : level) (b c : Q) (m : Q) (n : nat) : bool :=
  let L := level_of m n in
  lt 0 (on_share v n) &&
  ((le (base_level v) L && le b (add c (mul (on_share v n) (sub L (smaller (have A n) (base_level v)))))) ||
   le b (add (curve (on_share v) L) (own (on_share v) L n))).
Definition is_tight (v : level) (b c : Q) (m : Q) (n : nat) : bool :=
  let L := level_of m n in
  negb (le (base_level v) L && lt b (add c (mul (on_share v n) (sub L (smaller (have A n) (base_level v)))))) &&
  eqq b (add (curve (on_share v) L) (own (on_share v) L n)).
Definition check_level (m : Q) (v : level) : bool :=
  all N (fun n => le 0 (on_share v n)) &&
  check_prices (fun n => lt 0 (on_share v n)) (fun n i => quo (mul (on_share v n) (u A n i)) (weight P n)) (at_prices v) &&
  (let b := bound (at_prices v) in let c := curve (on_share v) (base_level v) in
   forallb (fun n => Nat.ltb n N && lt (have A n) (most A n) && covered v b c m n) (covers v)).
Definition level_tight (m : Q) (v : level) : bool :=
  let b := bound (at_prices v) in let c := curve (on_share v) (base_level v) in
  existsb (is_tight v b c m) (covers v).
(** Exactly one level covers every user that has less than it would have alone. *)
Definition check_levels (m : Q) (vs : list level) : bool :=
  check_shares && le m 0 && forallb (check_level m) vs &&
  all N (fun n => if is_active T n && lt (have A n) (most A n) then
    Nat.eqb 1 (length (filter (Nat.eqb n) (flat_map covers vs))) else true).

(** User n rises to the level that m determines, and every user that loses keeps at least this level. *)
Definition check_rise (m : Q) (n : nat) (y : allocation) : bool :=
  let L := level_of m n in
  check_shares && check_feasible P T y && sc_keeps B y && Nat.ltb n N && is_active T n && lt m 0 && lt 0 (most A n) &&
  le L (share_of y n) &&
  all N (fun k => if is_active T k && negb (Nat.eqb k n) then le (smaller (have A k) L) (share_of y k) else true) &&
  (eqq L (share_of y n) ||
   any N (fun k => is_active T k && lt (share_of y k) (have A k) && eqq L (share_of y k))).

(** No user would have a positive share, even alone. *)
Definition check_unwanted : bool := check_shares && users_all P T (fun n => le (most A n) 0).

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
Variable possible : allocation -> Prop.
Variable B : scope.
Hypothesis RB : right_scope P possible B.

Section Shares.
Variable A : alone_proof.
Hypothesis SH : check_shares P T A = true.

Lemma share_of_eq y n : share_of P A y n == share P (u A) y n.
Proof.
  unfold share_of, share. rewrite quo_eq, rsum_eq.
  rewrite (sum_ext K _ (fun i => u A n i * y n i)); [reflexivity|]. intros. apply mul_eq.
Qed.
Lemma have_is n : (n < N)%nat -> have A n == share P (u A) x n.
Proof. intros Hn. unfold check_shares in SH. bools. specialize (H0 n Hn). bools. rewrite H0. apply share_of_eq. Qed.

Lemma most_is n : user P n -> is_most P (u A) n (most A n).
Proof.
  intros U. assert (Hn : (n < N)%nat) by apply U. pose proof (weight_pos P W n Hn) as Wn.
  destruct (user_is P stated_x T placed R n U) as [_ An]. unfold check_shares in SH. bools.
  specialize (H n Hn). rewrite An in H. unfold check_alone_share in H. bools.
  rewrite add_eq, rsum_eq, mul_eq in H1.
  assert (Eg : sum K (fun i => mul (t_gamma T n i) (larger 0 (sub (u A n i) (tight A n)))) ==
               sum K (fun i => gamma P n i * larger 0 (u A n i - tight A n))).
  { apply sum_ext. intros i Hi. rewrite mul_eq, (gamma_is _ _ _ _ R) by auto.
    rewrite (larger_ext 0 (sub (u A n i) (tight A n)) 0 (u A n i - tight A n)); [reflexivity|reflexivity|apply sub_eq]. }
  rewrite Eg in H1. unfold is_most. split.
  - intros z Z L. apply quotient_le; auto.
    assert (Zg : forall i, (i < K)%nat -> z i <= gamma P n i).
    { intros i Hi. pose proof (gamma_nonneg P W n i Hn Hi).
      destruct (Qlt_le_dec 0 (gamma P n i)) as [G|G]; [|rewrite (r_can P n _ z Z i Hi); lra].
      destruct (gamma_tight P W n i Hn Hi G) as (r & Hr & D & _ & E).
      pose proof (r_fits P n _ z Z i r Hi Hr) as Ft. apply Qnot_lt_le. intro C.
      assert (0 < (z i - gamma P n i) * takes P n i r) by (apply Qmult_lt_0_compat; lra). lra. }
    assert (S1 : sum K (fun i => u A n i * z i) <=
                 sum K (fun i => gamma P n i * larger 0 (u A n i - tight A n)) + tight A n * sum K z).
    { rewrite <- sum_scale, <- sum_add. apply sum_le. intros i Hi.
      pose proof (r_nonneg P n _ z Z i Hi) as Z0. specialize (Zg i Hi).
      assert (L0 : 0 <= larger 0 (u A n i - tight A n)) by (minmax; lra).
      assert (L1 : u A n i - tight A n <= larger 0 (u A n i - tight A n)) by (minmax; lra).
      pose proof (prod_le _ _ _ Zg L0) as C1. pose proof (prod_le _ _ (z i) L1 Z0). lra. }
    unfold within_limit in L. destruct (limit P n) as [l|]; bools.
    + pose proof (prod_le_l _ _ (tight A n) L ltac:(assumption)) as C. rewrite mul_eq in H1. lra.
    + rewrite H3 in S1. lra.
  - assert (Bz : forall i, (i < K)%nat -> 0 <= best_z A n i /\ best_z A n i <= gamma P n i).
    { intros i Hi. specialize (H i Hi). bools. rewrite (gamma_is _ _ _ _ R) in H4 by auto. auto. }
    exists (best_z A n). split; [|split].
    + constructor.
      * intros. apply Bz; auto.
      * intros i Hi G. destruct (Bz i Hi). lra.
      * intros i r Hi Hr. destruct (Bz i Hi) as [_ Bg]. pose proof (gamma_fits P W n i r Hn Hi Hr).
        pose proof (prod_le _ _ _ Bg (takes_nonneg P W n i r Hn Hi Hr)). lra.
    + unfold within_limit. destruct (limit P n); auto. bools. rewrite <- rsum_eq. auto.
    + rewrite H2, share_of_eq. unfold share. reflexivity.
Qed.
Lemma most_unique n a b : is_most P (u A) n a -> is_most P (u A) n b -> a == b.
Proof.
  intros [A1 (z & A2 & A3 & A4)] [B1 (w & B2 & B3 & B4)].
  specialize (A1 w B2 B3). specialize (B1 z A2 A3). cbv beta zeta in *. lra.
Qed.
Lemma share_at_most y n : user P n -> feasible P y -> share P (u A) y n <= most A n.
Proof.
  intros U Y. assert (Hn : (n < N)%nat) by apply U. destruct (most_is n U) as [M1 _]. apply M1.
  - constructor.
    + intros. apply (f_nonneg P y Y); auto.
    + intros. apply (f_can P y Y); auto.
    + intros i r Hi Hr. pose proof (f_rows P y Y i r Hi Hr) as L. unfold load in L.
      assert (y n i * takes P n i r <= sum N (fun m => y m i * takes P m i r)); [|lra].
      apply (sum_term N (fun m => y m i * takes P m i r)); auto. intros.
      apply prod_nonneg; [apply (f_nonneg P y Y)|apply takes_nonneg]; auto.
  - apply (f_limit P y Y); auto.
Qed.

(** The sum over k of l_k min(U_k, L), in which the term of n is l_n L *)
Definition reach (l : nat -> Q) (L : Q) (n : nat) : Q :=
  sum N (fun k => if Nat.eqb k n then l k * L else l k * smaller (share P (u A) x k) L).
Lemma reach_eq l L n : (n < N)%nat ->
  add (curve P A l L) (own A l L n) == reach l L n.
Proof.
  intros Hn. unfold curve, own, reach. rewrite add_eq, rsum_eq, mul_eq, sub_eq.
  rewrite (sum_ext N (fun k => if Nat.eqb k n then l k * L else l k * smaller (share P (u A) x k) L)
    (fun k => mul (l k) (smaller (have A k) L) + (if Nat.eqb k n then l n * (L - smaller (have A n) L) else 0))).
  - rewrite sum_add, (sum_single N (fun k => if Nat.eqb k n then l n * (L - smaller (have A n) L) else 0) n);
      [rewrite Nat.eqb_refl; reflexivity|auto|].
    intros j _ Ne. apply Nat.eqb_neq in Ne. rewrite Ne. reflexivity.
  - intros k Hk. rewrite mul_eq. destruct (Nat.eqb k n) eqn:E.
    + apply Nat.eqb_eq in E. subst. ring.
    + rewrite (smaller_ext (share P (u A) x k) L (have A k) L); [ring|symmetry; apply have_is; auto|reflexivity].
Qed.
Lemma reach_quick l L n b : (n < N)%nat -> (forall k, (k < N)%nat -> 0 <= l k) -> b <= L ->
  add (curve P A l b) (mul (l n) (sub L (smaller (have A n) b))) <= reach l L n.
Proof.
  intros Hn Hl Hb. rewrite <- reach_eq by auto. unfold curve, own. rewrite !add_eq, !rsum_eq, !mul_eq, !sub_eq.
  assert (S : sum N (fun k => mul (l k) (smaller (have A k) b) +
      (if Nat.eqb k n then l n * (smaller (have A n) L - smaller (have A n) b) else 0))
     <= sum N (fun k => mul (l k) (smaller (have A k) L))).
  { apply sum_le. intros k Hk. rewrite !mul_eq. destruct (Nat.eqb k n) eqn:E.
    - apply Nat.eqb_eq in E. subst. lra.
    - assert (smaller (have A k) b <= smaller (have A k) L) by (minmax; lra).
      pose proof (prod_le_l _ _ (l k) H (Hl k Hk)). lra. }
  rewrite sum_add, (sum_single N (fun k => if Nat.eqb k n then _ else 0) n), Nat.eqb_refl in S; auto.
  - lra.
  - intros j _ Ne. apply Nat.eqb_neq in Ne. rewrite Ne. reflexivity.
Qed.

Lemma level_of_eq m n : (n < N)%nat -> level_of A m n == share P (u A) x n - m * most A n.
Proof. intros Hn. unfold level_of. rewrite sub_eq, mul_eq, have_is by auto. reflexivity. Qed.

Lemma share_inactive y n : feasible P y -> (n < N)%nat -> active P n = false -> share P (u A) y n == 0.
Proof.
  intros Y Hn An. unfold share. rewrite sum_zero; [unfold Qdiv; ring|].
  intros i Hi. rewrite (inactive_entry P W y n i) by auto. ring.
Qed.

(** A level bounds the rise of the users that it covers. *)
Lemma check_level_sound m v n : check_level P B A m v = true -> In n (covers v) ->
  forall y L, possible y -> L <= share P (u A) y n ->
    (forall k, user P k -> k <> n -> smaller (share P (u A) x k) L <= share P (u A) y k) ->
    L <= share P (u A) x n - m * most A n.
Proof.
  unfold check_level. intros H I y L Y0 HL HK. pose proof (sc_feasible _ _ _ RB y Y0) as Y. bools. rewrite forallb_forall in H0. specialize (H0 n I).
  apply andb_true_iff in H0. destruct H0 as [H0 Cov]. apply andb_true_iff in H0. destruct H0 as [Hn _].
  apply Nat.ltb_lt in Hn. unfold covered in Cov. apply andb_true_iff in Cov. destruct Cov as [Ln Cov]. bools.
  set (l := on_share v) in *.
  assert (Hl : forall k, (k < N)%nat -> 0 <= l k) by (intros; apply le_iff; auto).
  assert (Bd : sum N (fun k => l k * share P (u A) y k) <= sc_bound B (at_prices v)).
  { rewrite (sum_ext N _ (fun k => sum K (fun i => quo (mul (l k) (u A k i)) (weight P k) * y k i))).
    - apply (sc_duality _ _ _ RB (fun k => lt 0 (l k)) (fun k i => quo (mul (l k) (u A k i)) (weight P k))); auto.
      intros k i Hk Hi E. bools. specialize (Hl k Hk). assert (Z : l k == 0) by lra.
      rewrite quo_eq, mul_eq, Z. unfold Qdiv. lra.
    - intros k Hk. unfold share. pose proof (weight_pos P W k Hk). 
      rewrite (sum_ext K (fun i => quo (mul (l k) (u A k i)) (weight P k) * y k i)
        (fun i => u A k i * y k i * (l k / weight P k))).
      + rewrite sum_scale_r. field. lra.
      + intros. rewrite quo_eq, mul_eq. field. lra. }
  set (L0 := level_of A m n) in *. pose proof (level_of_eq m n Hn) as E0. fold L0 in E0.
  assert (Rb : sc_bound B (at_prices v) <= reach l L0 n).
  { apply orb_true_iff in Cov. destruct Cov as [C|C]; bools.
    - pose proof (reach_quick l L0 n (base_level v) Hn Hl ltac:(assumption)). lra.
    - rewrite reach_eq in C by auto. auto. }
  apply Qnot_lt_le. intro C. rewrite <- E0 in C.
  assert (S : reach l L0 n + (l n * (L - L0)) <= sum N (fun k => l k * share P (u A) y k)).
  { unfold reach.
    assert (S : sum N (fun k => (if Nat.eqb k n then l k * L0 else l k * smaller (share P (u A) x k) L0) +
        (if Nat.eqb k n then l n * (L - L0) else 0)) <= sum N (fun k => l k * share P (u A) y k)).
    { apply sum_le. intros k Hk. destruct (Nat.eqb k n) eqn:E.
      - apply Nat.eqb_eq in E. subst k. pose proof (prod_le_l _ _ (l n) HL (Hl n Hk)). lra.
      - apply Nat.eqb_neq in E.
        assert (D : smaller (share P (u A) x k) L0 <= share P (u A) y k).
        { destruct (active P k) eqn:Ak.
          - assert (Uk : user P k) by (split; auto). specialize (HK k Uk E). minmax; lra.
          - pose proof (share_inactive y k Y Hk Ak). pose proof (share_inactive x k F Hk Ak). minmax; lra. }
        pose proof (prod_le_l _ _ (l k) D (Hl k Hk)). lra. }
    rewrite sum_add, (sum_single N (fun k => if Nat.eqb k n then l n * (L - L0) else 0) n), Nat.eqb_refl in S; auto.
    intros j _ Ne. apply Nat.eqb_neq in Ne. rewrite Ne. reflexivity. }
  assert (0 < l n * (L - L0)) by (apply Qmult_lt_0_compat; lra). lra.
Qed.

Theorem check_levels_sound m vs : check_levels P T B A m vs = true -> max_min_among P possible (u A) (- m) x.
Proof.
  unfold check_levels. intros H n y L best U Y Mn Mp HL HK. bools.
  assert (Hn : (n < N)%nat) by apply U.
  assert (E : best == most A n) by (apply (most_unique n); auto; apply most_is; auto). rewrite E in *.
  destruct (user_is P stated_x T placed R n U) as [_ An]. specialize (H0 n Hn).
  rewrite An, andb_true_l in H0. destruct (lt (have A n) (most A n)) eqn:C.
  - apply Nat.eqb_eq in H0.
    assert (I : In n (flat_map covers vs)).
    { destruct (filter (Nat.eqb n) (flat_map covers vs)) as [|a l] eqn:Fl; [discriminate|].
      assert (I : In a (filter (Nat.eqb n) (flat_map covers vs))) by (rewrite Fl; left; auto).
      apply filter_In in I. destruct I as [I Eq]. apply Nat.eqb_eq in Eq. subst. auto. }
    apply in_flat_map in I. destruct I as (v & Hv & I). rewrite forallb_forall in H1.
    pose proof (check_level_sound m v n (H1 v Hv) I y L Y HL HK). lra.
  - bools. rewrite have_is in C by auto. pose proof (share_at_most y n U (sc_feasible _ _ _ RB y Y)).
    assert (0 <= - m * most A n) by (apply prod_nonneg; lra). lra.
Qed.
End Shares.

Theorem check_rise_sound A m n y : check_rise P T B A m n y = true ->
  forall eps, max_min_among P possible (u A) eps x -> - m <= eps.
Proof.
  unfold check_rise. intros H eps O. apply andb_true_iff in H. destruct H as [H _]. bools.
  apply (check_feasible_sound P stated_x T placed R) in H7. apply (sc_kept _ _ _ RB) in H6; auto. apply Nat.ltb_lt in H5.
  assert (U : user P n) by (eapply is_user; eauto).
  pose proof (level_of_eq A H m n H5) as E. set (L := level_of A m n) in *.
  apply (below eps (- m) (most A n)); auto.
  assert (D : L - share P (u A) x n <= eps * most A n).
  { apply (O n y L (most A n)); auto.
    - apply most_is; auto.
    - rewrite share_of_eq in H1. auto.
    - intros k Uk Ne. destruct (user_is P stated_x T placed R k Uk) as [Hk Ak]. specialize (H0 k Hk).
      apply Nat.eqb_neq in Ne. rewrite Ak, Ne in H0. simpl in H0. bools. rewrite share_of_eq in H0.
      rewrite (smaller_ext (share P (u A) x k) L (have A k) L); auto; [symmetry; apply have_is; auto|reflexivity]. }
  lra.
Qed.


Theorem check_unwanted_sound A : check_unwanted P T A = true -> forall eps, max_min_among P possible (u A) eps x.
Proof.
  unfold check_unwanted. rewrite andb_true_iff, (users_all_iff P T stated_x placed R). intros [SH Uw].
  intros eps n y L top U Y [_ (z & Z1 & Z2 & Z3)] Pos _ _. exfalso.
  destruct (most_is A SH n U) as [Up _]. specialize (Up z Z1 Z2). specialize (Uw n U). apply le_iff in Uw. lra.
Qed.
End Sound.
