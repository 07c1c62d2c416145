(** Constructs a certificate for every max-min fair allocation. It has levels, prices, and the share that each user
    would have alone. `check_levels` accepts it with the margin 0. *)
From Coq Require Import QArith Qabs Qreduction Qfield Arith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Arithmetic Checker Repair Soundness Bundle Prices MaxMin Meaning Filled.
From Evenhand Require Import Duality Programme ExistsMaxMin.
Import ListNotations.
Open Scope Q_scope.

(** If there is a suitable value for each of finitely many indices, there is a function of suitable values. *)
Lemma choices (A : Type) (a0 : A) (R : nat -> A -> Prop) n : (forall k, (k < n)%nat -> exists a, R k a) ->
  exists f, forall k, (k < n)%nat -> R k (f k).
Proof.
  induction n; intros H; [exists (fun _ => a0); intros; lia|]. destruct IHn as (f & Hf); [intros; apply H; lia|].
  destruct (H n ltac:(lia)) as (a & Ha). exists (fun k => if Nat.eqb k n then a else f k). intros k Hk.
  destruct (Nat.eqb_spec k n) as [->|]; auto. apply Hf. lia.
Qed.

Section On.
Variable P : problem.
Notation N := (users P). Notation K := (classes P). Notation M := (resources P).
Hypothesis W : well_formed P.

(** * The tables of a feasible allocation *)
Lemma same a : eqq a a = true.
Proof. apply eqq_iff. reflexivity. Qed.
Theorem tables_exist x : feasible P x -> exists T, check_tables P x T false = true /\ right P x T false /\
  forall n i, (n < N)%nat -> (i < K)%nat -> t_x T n i == x n i.
Proof.
  intros F.
  set (gam := gamma P). set (ful := make_full P). set (tak := make_takes P). set (gg := make_g P gam).
  set (kep := make_kept P x gam gg). set (cutt := make_cut P x false gam gg kep). set (cro := make_crowd P false tak ful cutt).
  set (xx := make_x cutt cro).
  set (T := {| t_gamma := gam; t_full := ful; t_takes := tak; t_g := gg; t_weights := make_weights P gg; t_kept := kep;
    t_cut := cutt; t_crowd := cro; t_x := xx; t_tasks := make_tasks P xx; t_slack := make_slack P ful tak xx |}).
  assert (C : check_tables P x T false = true).
  { unfold check_tables, T. simpl. rewrite !andb_true_iff. repeat split;
      repeat (apply all_iff; intros); apply same. }
  exists T. split; [auto|]. pose proof (check_tables_sound P x T false C) as R. split; [auto|].
  intros n i Hn Hi. rewrite (x_is _ _ _ _ R) by auto. apply repaired_same; auto.
Qed.

(** * The share that n would have alone. It is the largest worth, by u, of tasks z up to gamma and the limit. The limit
    has a multiplier. *)
Section Alone.
Variable n : nat.
Hypothesis Hn : (n < N)%nat.
Variable c : nat -> Q.

Definition one (i j : nat) : Q := if Nat.eqb j i then 1 else 0.
Definition no_less (i : nat) : row := {| coef := fun j => - one i j; most := 0 |}.
Definition no_greater (i : nat) : row := {| coef := one i; most := gamma P n i |}.
Definition in_sum : list row := match limit P n with Some T => [{| coef := fun _ => 1; most := T |}] | None => [] end.
Definition of_one : list row := map no_less (seq 0 K) ++ map no_greater (seq 0 K) ++ in_sum.
Lemma at_one i z : (i < K)%nat -> at_point K (one i) z == z i.
Proof.
  intros Hi. unfold at_point. rewrite (sum_single K _ i); auto.
  - unfold one. rewrite Nat.eqb_refl. ring.
  - intros j _ Ne. unfold one. apply Nat.eqb_neq in Ne. rewrite Ne. ring.
Qed.
Lemma of_one_iff z : solves K z of_one <->
  (forall i, (i < K)%nat -> 0 <= z i /\ z i <= gamma P n i) /\ within_limit P n (sum K z).
Proof.
  assert (A : forall i, (i < K)%nat -> at_point K (coef (no_less i)) z == - z i).
  { intros i Hi. cbn [coef no_less]. rewrite <- (at_one i z Hi). unfold at_point.
    rewrite (sum_ext K _ (fun j => -(1) * (one i j * z j))) by (intros; ring). rewrite sum_scale. ring. }
  assert (B : forall T, at_point K (coef {| coef := fun _ => 1; most := T |}) z == sum K z).
  { intros T. apply sum_ext. intros. simpl. ring. }
  unfold of_one, in_sum, within_limit. split.
  - intros S. split.
    + intros i Hi. assert (I : In i (seq 0 K)) by (apply in_seq; lia).
      pose proof (S (no_less i) ltac:(rewrite !in_app_iff; left; apply in_map; auto)) as S1. rewrite A in S1 by auto. simpl in S1.
      pose proof (S (no_greater i) ltac:(rewrite !in_app_iff; right; left; apply in_map; auto)) as S2.
      cbn [coef no_greater most] in S2. rewrite at_one in S2 by auto. split; lra.
    + destruct (limit P n) as [T|]; auto.
      pose proof (S {| coef := fun _ => 1; most := T |} ltac:(rewrite !in_app_iff; right; right; left; auto)) as S1.
      rewrite B in S1. exact S1.
  - intros [H L] d I. rewrite !in_app_iff, !in_map_iff in I. destruct I as [(i & <- & I)|[(i & <- & I)|I]].
    + apply in_seq in I. rewrite A by lia. destruct (H i ltac:(lia)). simpl. lra.
    + apply in_seq in I. cbn [coef no_greater most]. rewrite at_one by lia. destruct (H i ltac:(lia)). lra.
    + destruct (limit P n) as [T|]; [destruct I as [<-|[]]|destruct I]. rewrite B. exact L.
Qed.
Lemma follows_one d : follows of_one d -> exists (a s : nat -> Q) (t : Q),
  (forall i, (i < K)%nat -> 0 <= a i /\ 0 <= s i /\ coef d i == a i - s i + t) /\ 0 <= t /\ (limit P n = None -> t == 0) /\
  most d == sum K (fun i => a i * gamma P n i) + match limit P n with Some T => t * T | None => 0 end.
Proof.
  assert (Z : forall T : option Q, match T with Some T => 0 * T | None => 0 end == 0) by (intros [T|]; ring).
  induction 1 as [|d I|d e _ (a & s & t & A & T0 & T1 & B) _ (a' & s' & t' & A' & T0' & T1' & B')|q d Q0 _ (a & s & t & A & T0 & T1 & B)].
  - exists (fun _ => 0), (fun _ => 0), 0. split; [intros; simpl; repeat split; try lra; ring|]. split; [lra|]. split; [reflexivity|].
    rewrite Z, sum_zero by (intros; ring). simpl. ring.
  - unfold of_one in I. rewrite !in_app_iff, !in_map_iff in I. destruct I as [(i & <- & I)|[(i & <- & I)|I]].
    + exists (fun _ => 0), (one i), 0. split; [|split; [lra|split; [reflexivity|]]].
      * intros j Hj. simpl. split; [lra|]. split; [unfold one; destruct (Nat.eqb j i); lra|ring].
      * rewrite Z, sum_zero by (intros; ring). simpl. ring.
    + apply in_seq in I. exists (one i), (fun _ => 0), 0. split; [|split; [lra|split; [reflexivity|]]].
      * intros j Hj. simpl. split; [unfold one; destruct (Nat.eqb j i); lra|]. split; [lra|ring].
      * pose proof (at_one i (gamma P n) ltac:(lia)) as E. unfold at_point in E. rewrite Z, E. simpl. ring.
    + unfold in_sum in I. destruct (limit P n) as [T|]; [destruct I as [<-|[]]|destruct I]. exists (fun _ => 0), (fun _ => 0), 1.
      split; [intros; simpl; repeat split; try lra; ring|]. split; [lra|]. split; [discriminate|].
      rewrite sum_zero by (intros; ring). simpl. ring.
  - exists (fun i => a i + a' i), (fun i => s i + s' i), (t + t'). split; [|split; [lra|split]].
    + intros i Hi. destruct (A i Hi) as (X & Y & E), (A' i Hi) as (X' & Y' & E'). simpl. rewrite E, E'. repeat split; try lra; ring.
    + intros L. rewrite T1, T1' by auto. ring.
    + simpl. rewrite B, B', (sum_ext K (fun i => (a i + a' i) * gamma P n i) (fun i => a i * gamma P n i + a' i * gamma P n i))
        by (intros; ring). rewrite sum_add. destruct (limit P n); ring.
  - exists (fun i => q * a i), (fun i => q * s i), (q * t). split; [|split; [apply prod_nonneg; auto|split]].
    + intros i Hi. destruct (A i Hi) as (X & Y & E). simpl. rewrite E. repeat split; try (apply prod_nonneg; auto); ring.
    + intros L. rewrite T1 by auto. ring.
    + simpl. rewrite B, (sum_ext K (fun i => q * a i * gamma P n i) (fun i => q * (a i * gamma P n i))) by (intros; ring).
      rewrite sum_scale. destruct (limit P n); ring.
Qed.
Lemma runs_below z : runs P n (full P) z -> forall i, (i < K)%nat -> 0 <= z i /\ z i <= gamma P n i.
Proof.
  intros Z i Hi. split; [apply (r_nonneg P n _ z Z); auto|]. pose proof (gamma_nonneg P W n i Hn Hi).
  destruct (Qlt_le_dec 0 (gamma P n i)) as [G|G]; [|rewrite (r_can P n _ z Z i Hi); lra].
  destruct (gamma_tight P W n i Hn Hi G) as (r & Hr & D & _ & E). pose proof (r_fits P n _ z Z i r Hi Hr) as Ft.
  apply Qnot_lt_le. intro C. assert (0 < (z i - gamma P n i) * takes P n i r) by (apply Qmult_lt_0_compat; lra). lra.
Qed.
Lemma best_alone : exists z t, (forall i, (i < K)%nat -> 0 <= z i /\ z i <= gamma P n i) /\ within_limit P n (sum K z) /\
  0 <= t /\ (limit P n = None -> t == 0) /\
  sum K (fun i => gamma P n i * larger 0 (c i - t)) + match limit P n with Some T => t * T | None => 0 end <=
  sum K (fun i => c i * z i).
Proof.
  assert (Z0 : solves K (fun _ => 0) of_one).
  { apply of_one_iff. split.
    - intros i Hi. split; [lra|apply gamma_nonneg; auto].
    - unfold within_limit. destruct (limit P n) as [T|] eqn:E; auto. rewrite sum_zero by reflexivity. apply (limit_nonneg P W n T); auto. }
  destruct (attained K of_one c) as (z & S & Top); [eauto| |].
  { exists (sum K (fun i => larger 0 (c i) * gamma P n i)). intros z S. apply of_one_iff in S. destruct S as [S _].
    apply sum_le. intros i Hi. destruct (S i Hi) as [Z1 Z2].
    assert (L0 : 0 <= larger 0 (c i)) by (minmax; lra). assert (L1 : c i <= larger 0 (c i)) by (minmax; lra).
    pose proof (prod_le _ _ _ L1 Z1). pose proof (prod_le_l _ _ _ Z2 L0). lra. }
  destruct (duality K of_one c (at_point K c z)) as (d & Fd & Cd & Md); [eauto|auto|].
  destruct (follows_one d Fd) as (a & s & t & A & T0 & T1 & B). apply of_one_iff in S. destruct S as [S1 S2].
  exists z, t. split; [auto|]. split; [auto|]. split; [auto|]. split; [auto|]. unfold at_point in Md.
  assert (L : sum K (fun i => gamma P n i * larger 0 (c i - t)) <= sum K (fun i => a i * gamma P n i)); [|lra].
  apply sum_le. intros i Hi. rewrite Qmult_comm. apply prod_le; [|apply gamma_nonneg; auto].
  destruct (A i Hi) as (X & Y & E). rewrite Cd in E by auto. minmax; lra.
Qed.
End Alone.

(** * The evidence *)
Variable u : nat -> nat -> Q.
Variable T : tables.
Variable stated_x : allocation.
Variable placed : bool.
Hypothesis R : right P stated_x T placed.
Notation x := (t_x T).

Theorem alone_proofs_exist : exists A, MaxMin.u A = u /\ check_shares P T A = true.
Proof.
  destruct (choices _ (fun _ => 0) (fun n z => exists t, (forall i, (i < K)%nat -> 0 <= z i /\ z i <= gamma P n i) /\
    within_limit P n (sum K z) /\ 0 <= t /\ (limit P n = None -> t == 0) /\
    sum K (fun i => gamma P n i * larger 0 (u n i - t)) + match limit P n with Some T => t * T | None => 0 end <=
    sum K (fun i => u n i * z i)) N) as (z & Z).
  { intros n Hn. apply (best_alone n Hn (u n)). }
  destruct (choices _ 0 _ N Z) as (t & TT). clear Z.
  set (A0 := {| MaxMin.u := u; MaxMin.most := fun _ => 0; best_z := z; tight := t; have := fun _ => 0 |}).
  set (A := {| MaxMin.u := u; MaxMin.most := fun n => share_of P A0 z n; best_z := z; tight := t; have := share_of P A0 x |}).
  assert (S : forall y n, share_of P A y n = share_of P A0 y n) by reflexivity.
  exists A. split; [reflexivity|]. unfold check_shares. apply andb_true_iff. split; apply all_iff; intros n Hn.
  2:{ apply same. }
  destruct (is_active T n); [|reflexivity]. destruct (TT n Hn) as (B & L & T0 & T1 & D). clear TT.
  pose proof (weight_pos P W n Hn) as Wn. unfold check_alone_share. rewrite !andb_true_iff. repeat split.
  - apply all_iff. intros i Hi. destruct (B i Hi) as [B0 B1]. apply andb_true_iff. split; apply le_iff; [exact B0|].
    rewrite (gamma_is _ _ _ _ R) by auto. exact B1.
  - unfold within_limit in L. destruct (limit P n) as [l|].
    + apply andb_true_iff. split; apply le_iff; [rewrite rsum_eq; exact L|exact T0].
    + apply eqq_iff. apply T1. reflexivity.
  - apply same.
  - apply le_iff. rewrite add_eq, rsum_eq, mul_eq.
    assert (E1 : sum K (fun i => mul (t_gamma T n i) (larger 0 (sub (MaxMin.u A n i) (tight A n)))) ==
      sum K (fun i => gamma P n i * larger 0 (u n i - t n))).
    { apply sum_ext. intros i Hi. rewrite mul_eq, (gamma_is _ _ _ _ R) by auto.
      rewrite (larger_ext 0 (sub (MaxMin.u A n i) (tight A n)) 0 (u n i - t n)); [reflexivity|reflexivity|apply sub_eq]. }
    assert (E2 : MaxMin.most A n * weight P n == sum K (fun i => u n i * z n i)).
    { simpl. unfold share_of. rewrite quo_eq, rsum_eq. simpl. rewrite (sum_ext K _ (fun i => u n i * z n i)) by (intros; apply mul_eq).
      field. lra. }
    assert (E3 : match limit P n with Some l => mul (tight A n) l | None => 0 end ==
      match limit P n with Some l => t n * l | None => 0 end).
    { destruct (limit P n); [apply mul_eq|reflexivity]. }
    rewrite E1, E2, E3. exact D.
Qed.

(** Prices in the form that the checker reads *)
Lemma bound_is p q : bound P T {| on_row := p; on_user := q |} == paid P p q.
Proof.
  unfold bound, paid. rewrite add_eq, !rsum_eq. apply Qplus_comp.
  - apply sum_ext. intros i Hi. rewrite rsum_eq. apply sum_ext. intros r Hr. simpl. rewrite mul_eq, (full_is _ _ _ _ R) by auto. reflexivity.
  - apply sum_ext. intros n Hn. simpl. destruct (limit P n); [apply mul_eq|reflexivity].
Qed.
Lemma prices_accepted counted a p q : are_prices P p q ->
  (forall n i, (n < N)%nat -> (i < K)%nat -> counted n = true -> 0 < gamma P n i -> a n i <= price_of P p q n i) ->
  check_prices P T counted a {| on_row := p; on_user := q |} = true.
Proof.
  intros A C. unfold check_prices. rewrite !andb_true_iff. repeat split.
  - apply all_iff. intros i Hi. apply all_iff. intros r Hr. apply le_iff. apply (of_rows P p q A); auto.
  - apply all_iff. intros n Hn. destruct (of_users P p q A n Hn) as [Q0 Q1]. simpl. destruct (limit P n).
    + apply le_iff. auto.
    + apply eqq_iff. auto.
  - apply all_iff. intros n Hn. destruct (counted n) eqn:Cn; auto. apply all_iff. intros i Hi.
    destruct (runs_on T n i) eqn:Ru; auto. rewrite (runs_on_eq P stated_x T placed R) in Ru by auto. apply lt_iff in Ru.
    apply le_iff. rewrite add_eq, rsum_eq. apply Qle_trans with (1 := C n i Hn Hi Cn Ru). unfold price_of. simpl.
    apply Qle_lteq. right. apply Qplus_comp; [|reflexivity]. apply sum_ext. intros r Hr.
    rewrite mul_eq, (takes_is _ _ _ _ R) by auto. reflexivity.
Qed.

Lemma once n l : NoDup l -> In n l -> length (filter (Nat.eqb n) l) = 1%nat.
Proof.
  induction 1 as [|a l Ni Nd IH]; intros I; [contradiction|]. simpl. destruct (Nat.eqb_spec n a) as [->|Ne].
  - simpl. f_equal. destruct (filter (Nat.eqb a) l) as [|b m] eqn:E; [reflexivity|]. exfalso. apply Ni.
    assert (J : In b (filter (Nat.eqb a) l)) by (rewrite E; left; reflexivity). apply filter_In in J. destruct J as [J Q].
    apply Nat.eqb_eq in Q. subst. exact J.
  - apply IH. destruct I as [->|I]; [contradiction|auto].
Qed.

(** The checker accepts the levels that prove a max-min fair allocation. *)
Theorem levels_accepted : (forall n, user P n -> shown P u x n) ->
  exists A vs, MaxMin.u A = u /\ check_levels P T (everywhere P T) A 0 vs = true.
Proof.
  intros H. destruct alone_proofs_exist as (A & Au & SH). exists A.
  assert (Ha : forall n, (n < N)%nat -> have A n == share P u x n).
  { intros n Hn. rewrite (have_is P T A SH n Hn), Au. reflexivity. }
  set (lacks := fun n => is_active T n && lt (have A n) (MaxMin.most A n)).
  assert (Ls : forall s, (forall n, In n s -> (n < N)%nat /\ lacks n = true) ->
    exists vs, flat_map covers vs = s /\ forallb (check_level P (everywhere P T) A 0) vs = true).
  { induction s as [|n s IH]; intros Is; [exists []; auto|]. destruct IH as (vs & V1 & V2); [intros; apply Is; right; auto|].
    destruct (Is n (or_introl eq_refl)) as [Hn La]. apply andb_true_iff in La. destruct La as [An Less].
    assert (U : user P n) by (eapply is_user; eauto). destruct (H n U) as (l & p & q & [B C D E G Pd]).
    exists ({| covers := [n]; on_share := l; at_prices := {| on_row := p; on_user := q |}; base_level := 0 |} :: vs).
    split; [simpl; rewrite V1; reflexivity|]. simpl. rewrite V2, andb_true_r. unfold check_level. rewrite !andb_true_iff. repeat split.
    - apply all_iff. intros k Hk. apply le_iff. apply C; auto.
    - change (sc_prices (everywhere P T)) with (check_prices P T). apply prices_accepted; auto. intros k i Hk Hi Lk Gk. apply lt_iff in Lk. simpl in Lk.
      rewrite quo_eq, mul_eq, Au. simpl. unfold Qdiv. rewrite <- Qmult_assoc. apply E; auto. apply (G k Hk Lk).
    - cbv zeta. apply forallb_forall. intros k Ik. simpl in Ik. destruct Ik as [<-|[]].
      rewrite !andb_true_iff. repeat split; [apply Nat.ltb_lt; auto|auto|]. unfold covered. apply andb_true_iff. split; [apply lt_iff; auto|].
      apply orb_true_iff. right. apply le_iff. set (v := {| covers := [n]; on_share := l; at_prices := _; base_level := 0 |}).
      change (sc_bound (everywhere P T) (at_prices v)) with (bound P T {| on_row := p; on_user := q |}). rewrite (bound_is p q). apply Qle_trans with (1 := Pd).
      assert (Lb : level_of A 0 n == have A n) by (unfold level_of; rewrite sub_eq, mul_eq; ring).
      set (b := level_of A 0 n) in *. rewrite add_eq.
      assert (E1 : curve P A (on_share v) b == sum N (fun k => l k * smaller (share P u x k) (share P u x n))).
      { unfold curve. rewrite rsum_eq. apply sum_ext. intros k Hk. rewrite mul_eq. apply Qmult_comp; [reflexivity|].
        apply smaller_ext; [apply Ha; auto|]. rewrite Lb. apply Ha. auto. }
      assert (E2 : own A (on_share v) b n == 0).
      { unfold own. rewrite mul_eq, sub_eq. assert (Sm : smaller (have A n) b == b) by (minmax; lra). rewrite Sm. ring. }
      rewrite E1, E2.
      assert (S : sum N (fun k => l k * share P u x k) <= sum N (fun k => l k * smaller (share P u x k) (share P u x n))); [|lra].
      apply sum_le. intros k Hk. destruct (Qlt_le_dec 0 (l k)) as [Lk|Lk].
      + destruct (G k Hk Lk) as [_ Le]. apply prod_le_l; [minmax; lra|lra].
      + specialize (C k Hk). assert (Z : l k == 0) by lra. rewrite Z. lra. }
  destruct (Ls (filter lacks (seq 0 N))) as (vs & V1 & V2).
  { intros n I. apply filter_In in I. destruct I as [I L]. apply in_seq in I. split; [lia|auto]. }
  exists vs. split; [auto|]. unfold check_levels. rewrite SH, V2, V1. simpl. apply all_iff. intros n Hn.
  destruct (is_active T n && lt (have A n) (MaxMin.most A n)) eqn:La; auto. rewrite once; [reflexivity| |].
  - apply NoDup_filter, seq_NoDup.
  - apply filter_In. split; [apply in_seq; lia|exact La].
Qed.
End On.

(** * Every max-min fair allocation *)
Section Answers.
Variable P : problem.
Notation N := (users P). Notation K := (classes P). Notation M := (resources P).
Hypothesis W : well_formed P.
Variable u : nat -> nat -> Q.
Hypothesis U0 : forall n i, user P n -> (i < K)%nat -> 0 < gamma P n i -> 0 <= u n i.

(** u on classes where n can run, and 0 elsewhere *)
Definition useful (n i : nat) : Q := if active P n && lt 0 (gamma P n i) then u n i else 0.
Lemma useful_nonneg n i : (n < N)%nat -> (i < K)%nat -> 0 <= useful n i.
Proof.
  intros Hn Hi. unfold useful. destruct (active P n) eqn:A; [|simpl; lra]. destruct (lt 0 (gamma P n i)) eqn:G; [|simpl; lra].
  apply lt_iff in G. simpl. apply U0; auto. split; auto.
Qed.
Lemma useful_sum n z : user P n -> (forall i, (i < K)%nat -> gamma P n i == 0 -> z i == 0) ->
  sum K (fun i => useful n i * z i) == sum K (fun i => u n i * z i).
Proof.
  intros [Hn A] Z. apply sum_ext. intros i Hi. unfold useful. rewrite A. destruct (lt 0 (gamma P n i)) eqn:G; [reflexivity|].
  apply lt_false in G. pose proof (gamma_nonneg P W n i Hn Hi). rewrite Z by (auto; lra). ring.
Qed.
Lemma useful_share y n : feasible P y -> user P n -> share P useful y n == share P u y n.
Proof.
  intros Y U. unfold share. rewrite useful_sum; [reflexivity|auto|]. intros i Hi. apply (f_can P y Y); auto. apply U.
Qed.
Lemma useful_most n b : user P n -> is_most P useful n b -> is_most P u n b.
Proof.
  intros U [A (z & B & C & D)]. split.
  - intros y Y L. rewrite <- (useful_sum n y U) by apply (r_can P n _ y Y). apply A; auto.
  - exists z. split; [auto|]. split; [auto|]. rewrite <- (useful_sum n z U) by apply (r_can P n _ z B). exact D.
Qed.
Lemma useful_max_min x : feasible P x -> max_min P u 0 x -> no_larger_share P useful x.
Proof.
  intros X H. apply (max_min_exact P W); auto.
  - intros. apply useful_nonneg; auto.
  - intros n [Hn A]. destruct (best_alone P W n Hn (useful n)) as (z & t & B & L & T0 & T1 & D).
    pose proof (weight_pos P W n Hn) as Wn. exists (sum K (fun i => useful n i * z i) / weight P n). split.
    + intros y Y Ly. pose proof (runs_below P W n Hn y Y) as By.
      assert (S : sum K (fun i => useful n i * y i) <= sum K (fun i => useful n i * z i)).
      { apply Qle_trans with (2 := D).
        apply Qle_trans with (sum K (fun i => gamma P n i * larger 0 (useful n i - t)) + t * sum K y).
        - rewrite <- sum_scale, <- sum_add. apply sum_le. intros i Hi. destruct (By i Hi) as [Y0 Y1].
          assert (L0 : 0 <= larger 0 (useful n i - t)) by (minmax; lra).
          assert (L1 : useful n i - t <= larger 0 (useful n i - t)) by (minmax; lra).
          pose proof (prod_le _ _ _ L1 Y0). pose proof (prod_le _ _ _ Y1 L0). lra.
        - unfold within_limit in Ly. destruct (limit P n) as [l|].
          + pose proof (prod_le_l _ _ t Ly T0). lra.
          + rewrite T1 by auto. lra. }
      unfold Qdiv. apply prod_le; [exact S|]. apply Qinv_le_0_compat. lra.
    + exists z. split; [|split; [exact L|reflexivity]]. constructor.
      * intros i Hi. apply B; auto.
      * intros i Hi G. destruct (B i Hi). lra.
      * intros i r Hi Hr. destruct (B i Hi) as [_ B1]. pose proof (gamma_fits P W n i r Hn Hi Hr).
        pose proof (prod_le _ _ _ B1 (takes_nonneg P W n i r Hn Hi Hr)). lra.
  - intros n y L b U Y Mo Pos HL HK. pose proof (useful_share x n X U) as Ex. pose proof (useful_share y n Y U) as Ey.
    rewrite Ex. apply (H n y L b U Y); auto; [apply useful_most; auto|lra|].
    intros m Um Ne. specialize (HK m Um Ne). pose proof (useful_share x m X Um). pose proof (useful_share y m Y Um). minmax; lra.
Qed.

Lemma shown_ext x y n : (forall k, user P k -> share P u x k == share P u y k) -> user P n -> shown P u x n -> shown P u y n.
Proof.
  intros E U (l & p & q & [A B C D G H]). exists l, p, q. constructor; auto.
  - intros k Hk L. destruct (G k Hk L) as [Uk Le]. split; auto. rewrite <- !E by auto. exact Le.
  - rewrite (sum_ext N _ (fun k => l k * share P u x k)); auto. intros k Hk. destruct (Qlt_le_dec 0 (l k)) as [L|L].
    + rewrite E by apply (G k Hk L). reflexivity.
    + specialize (B k Hk). assert (Z : l k == 0) by lra. rewrite Z. ring.
Qed.
Theorem max_min_is_shown x : feasible P x -> max_min P u 0 x -> forall n, user P n -> shown P u x n.
Proof.
  intros X H n U. destruct (filling_ends P W u U0) as (y & Y & Sh). apply (shown_ext y); auto.
  pose proof (shown_max_min P W u y Sh) as O. intros k Uk.
  rewrite <- (useful_share x), <- (useful_share y) by auto.
  apply (max_min_unique P useful y x); auto; apply useful_max_min; auto.
Qed.
End Answers.

(** * The named shares *)
Section Named.
Variable P : problem.
Notation N := (users P). Notation K := (classes P). Notation M := (resources P).
Hypothesis W : well_formed P.
Variable s : named.
Hypothesis D : defined P s.

Lemma worth_nonneg n i : user P n -> (i < K)%nat -> 0 < gamma P n i -> 0 <= worth P s n i.
Proof.
  intros U Hi G. assert (Hn : (n < N)%nat) by apply U.
  destruct s as [| | | | |r]; try (apply Qlt_le_weak, (D n i U Hi G)).
  - simpl. apply Qinv_le_0_compat. apply sum_nonneg. intros. apply gamma_nonneg; auto.
  - destruct D as [Hr T]. apply quotient_nonneg; [|lra]. apply (demand_nonneg P W); auto.
Qed.

(** A max-min fair allocation always exists. *)
Theorem max_min_exists : exists x, feasible P x /\ max_min P (worth P s) 0 x.
Proof.
  destruct (filling_ends P W (worth P s) worth_nonneg) as (x & X & Sh). exists x. split; [auto|].
  apply (shown_max_min P W (worth P s) x Sh).
Qed.
(** Every max-min fair allocation has a certificate. With any tables that are right, the checker accepts levels with the
    margin 0. *)
Theorem max_min_levels_exist T stated_x placed : right P stated_x T placed -> feasible P (t_x T) ->
  max_min P (worth P s) 0 (t_x T) -> exists A vs, u A = worth P s /\ check_levels P T (everywhere P T) A 0 vs = true.
Proof.
  intros R F O. apply (levels_accepted P W (worth P s) T stated_x placed R).
  apply (max_min_is_shown P W (worth P s) worth_nonneg); auto.
Qed.
(** There is a max-min fair allocation, and a certificate of it that the checker accepts. *)
Theorem max_min_certificate_exists : exists x T A vs, feasible P x /\ max_min P (worth P s) 0 x /\
  check_tables P x T false = true /\ u A = worth P s /\ check_levels P T (everywhere P T) A 0 vs = true.
Proof.
  destruct (filling_ends P W (worth P s) worth_nonneg) as (x & X & Sh). destruct (tables_exist P W x X) as (T & C & R & E).
  assert (Sh' : forall n, user P n -> shown P (worth P s) (t_x T) n).
  { intros n U. apply (shown_ext P (worth P s) x); auto. intros k Uk. symmetry. apply share_ext. intros i Hi. apply E; auto. apply Uk. }
  destruct (levels_accepted P W (worth P s) T x false R Sh') as (A & vs & Au & Ch). exists x, T, A, vs.
  split; [auto|]. split; [apply (shown_max_min P W (worth P s) x Sh)|]. auto.
Qed.
End Named.
(** An answer to `tree` without groups always exists. *)
Theorem filled_exists P : well_formed P -> defined P Drfh -> exists x, feasible P x /\ filled P 0 x.
Proof.
  intros W D. destruct (max_min_exists P W Drfh D) as (x & X & O). exists x. split; [auto|]. exists x. split; [auto|]. split; [auto|].
  intros n _. setoid_replace (tasks P x n - tasks P x n) with 0 by ring. simpl. lra.
Qed.
