(** Proves that max-min fair allocations always exist, for every share, and that levels and prices prove them. The proof
    fills in rounds: all users that still rise have the largest possible common level. Duality gives prices that show
    why the level cannot be larger. Each user with a positive multiplier in these prices stops there. At least one user
    stops in each round. *)
From Coq Require Import QArith Qreduction Qfield Arith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Arithmetic Checker Repair Soundness Bundle Prices MaxMin Meaning.
From Evenhand Require Import Duality Programme.
Import ListNotations.
Open Scope Q_scope.

Section On.
Variable P : problem.
Notation N := (users P). Notation K := (classes P). Notation M := (resources P).
Hypothesis W : well_formed P.

(** * An allocation that is nonnegative and below a feasible allocation is feasible. *)
Lemma feasible_below y z : feasible P y ->
  (forall n i, (n < N)%nat -> (i < K)%nat -> 0 <= z n i /\ z n i <= y n i) -> feasible P z.
Proof.
  intros Y B. constructor.
  - intros n i Hn Hi. apply B; auto.
  - intros n i Hn Hi G. destruct (B n i Hn Hi) as [A C]. rewrite (f_can P y Y n i Hn Hi G) in C. lra.
  - intros i r Hi Hr. apply Qle_trans with (2 := f_rows P y Y i r Hi Hr). apply sum_le. intros n Hn.
    apply prod_le; [apply B; auto|apply takes_nonneg; auto].
  - intros n Hn. pose proof (f_limit P y Y n Hn) as L. unfold within_limit in *. destruct (limit P n); auto.
    apply Qle_trans with (2 := L). apply sum_le. intros i Hi. apply B; auto.
Qed.
Lemma price_nonneg p q n i : are_prices P p q -> (n < N)%nat -> (i < K)%nat -> 0 <= price_of P p q n i.
Proof.
  intros A Hn Hi. unfold price_of. destruct (of_users P p q A n Hn) as [Q0 _].
  assert (0 <= sum M (fun r => p i r * takes P n i r)); [|lra].
  apply sum_nonneg. intros r Hr. apply prod_nonneg; [apply (of_rows P p q A)|apply takes_nonneg]; auto.
Qed.
(** Weak duality: no feasible allocation costs more than the prices pay. *)
Lemma costs_at_most p q y : are_prices P p q -> feasible P y ->
  sum N (fun n => sum K (fun i => price_of P p q n i * y n i)) <= paid P p q.
Proof.
  intros A Y.
  assert (E : sum N (fun n => sum K (fun i => price_of P p q n i * y n i)) ==
    sum K (fun i => sum M (fun r => p i r * load P y i r)) + sum N (fun n => q n * tasks P y n)).
  { assert (E1 : sum K (fun i => sum M (fun r => p i r * load P y i r)) ==
      sum N (fun n => sum K (fun i => sum M (fun r => p i r * (y n i * takes P n i r))))).
    { rewrite (sum_swap N K). apply sum_ext. intros i _. rewrite sum_swap. apply sum_ext. intros r _.
      unfold load. rewrite sum_scale. reflexivity. }
    rewrite E1, <- sum_add. apply sum_ext. intros n _. unfold tasks. rewrite <- sum_scale, <- sum_add. apply sum_ext. intros i _.
    unfold price_of. rewrite Qmult_plus_distr_l, <- sum_scale_r. apply Qplus_comp; [|reflexivity].
    apply sum_ext. intros. ring. }
  rewrite E. unfold paid.
  assert (L1 : sum K (fun i => sum M (fun r => p i r * load P y i r)) <= sum K (fun i => sum M (fun r => p i r * full P i r))).
  { apply sum_le. intros i Hi. apply sum_le. intros r Hr. apply prod_le_l; [apply (f_rows P y Y)|apply (of_rows P p q A)]; auto. }
  assert (L2 : sum N (fun n => q n * tasks P y n) <= sum N (fun n => match limit P n with Some T => q n * T | None => 0 end)).
  { apply sum_le. intros n Hn. destruct (of_users P p q A n Hn) as [Q0 Q1]. pose proof (f_limit P y Y n Hn) as L.
    unfold within_limit in L. destruct (limit P n); [apply prod_le_l; auto|]. rewrite Q1 by auto. lra. }
  lra.
Qed.
Lemma sum_positive n f : 0 < sum n f -> exists k, (k < n)%nat /\ 0 < f k.
Proof.
  induction n; simpl; intros H; [lra|]. destruct (Qlt_le_dec 0 (f n)) as [A|A]; [exists n; auto|].
  destruct IHn as (k & Hk & B); [lra|]. exists k. auto.
Qed.

(** * The shares *)
Variable u : nat -> nat -> Q.
Hypothesis U0 : forall n i, user P n -> (i < K)%nat -> 0 < gamma P n i -> 0 <= u n i.
Notation sh := (share P u).

Lemma share_nonneg y n : feasible P y -> (n < N)%nat -> 0 <= sh y n.
Proof.
  intros Y Hn. pose proof (weight_pos P W n Hn). apply quotient_nonneg; [|lra]. apply sum_nonneg. intros i Hi.
  pose proof (f_nonneg P y Y n i Hn Hi) as Y0. pose proof (gamma_nonneg P W n i Hn Hi).
  destruct (active P n) eqn:A; [|rewrite (inactive_entry P W y n i) by auto; lra].
  destruct (Qlt_le_dec 0 (gamma P n i)); [|rewrite (f_can P y Y n i) by (auto; lra); lra].
  apply prod_nonneg; auto. apply U0; auto. split; auto.
Qed.
Lemma share_ext y z n : (forall i, (i < K)%nat -> y n i == z n i) -> sh y n == sh z n.
Proof.
  intros E. unfold share. rewrite (sum_ext K _ (fun i => u n i * z n i)); [reflexivity|]. intros. rewrite E by auto. reflexivity.
Qed.
Definition weigh (c : nat -> Q) (n i : nat) : Q := c n * (u n i / weight P n).
Lemma sum_weigh c y : sum_of P (weigh c) y == sum N (fun n => c n * sh y n).
Proof.
  apply sum_ext. intros n Hn. pose proof (weight_pos P W n Hn). unfold weigh, share.
  rewrite (sum_ext K _ (fun i => u n i * y n i * (c n / weight P n))) by (intros; field; lra).
  rewrite sum_scale_r. field. lra.
Qed.
(** If user n has a share of at least t, its tasks can be lowered so that its share is exactly t. *)
Lemma lowered y n t : feasible P y -> (n < N)%nat -> 0 <= t -> t <= sh y n ->
  exists z, feasible P z /\ sh z n == t /\ forall m, m <> n -> sh z m == sh y m.
Proof.
  intros Y Hn T0 T1. destruct (Qlt_le_dec 0 (sh y n)) as [S0|S0].
  2:{ exists y. split; [auto|]. split; [lra|]. reflexivity. }
  set (c := t / sh y n). assert (C0 : 0 <= c) by (apply quotient_nonneg; lra). assert (C1 : c <= 1) by (apply quotient_le; lra).
  exists (fun m i => if Nat.eqb m n then c * y m i else y m i). split; [|split].
  - apply (feasible_below y); auto. intros m i Hm Hi. pose proof (f_nonneg P y Y m i Hm Hi) as Y0.
    destruct (Nat.eqb m n); [|lra]. pose proof (prod_nonneg _ _ C0 Y0). pose proof (prod_le _ _ _ C1 Y0). lra.
  - assert (E : sh (fun m i => if Nat.eqb m n then c * y m i else y m i) n == c * sh y n).
    { unfold share. rewrite Nat.eqb_refl, (sum_ext K _ (fun i => c * (u n i * y n i))) by (intros; ring).
      rewrite sum_scale. unfold Qdiv. ring. }
    rewrite E. unfold c. field. lra.
  - intros m Ne. apply Nat.eqb_neq in Ne. unfold share. rewrite Ne. reflexivity.
Qed.

(** * Why a level is not higher

    A proof of a level consists of multipliers l of shares, and of prices at which no share is worth more than it costs.
    It proves that user n cannot rise above v n while every user with less than v n keeps its share. In every feasible
    allocation, the sum of l_k U_k is at most the sum of l_k v_k. *)
Record limits_level (v l : nat -> Q) (p : nat -> nat -> Q) (q : nat -> Q) (n : nat) : Prop := {
  ll_prices : are_prices P p q;
  ll_nonneg : forall k, (k < N)%nat -> 0 <= l k;
  ll_own : 0 < l n;
  ll_worth : forall k i, user P k -> (i < K)%nat -> 0 < gamma P k i -> l k * (u k i / weight P k) <= price_of P p q k i;
  ll_lower : forall k, (k < N)%nat -> 0 < l k -> user P k /\ v k <= v n;
  ll_paid : paid P p q <= sum N (fun k => l k * v k) }.
Definition shown (x : allocation) (n : nat) : Prop := exists l p q, limits_level (sh x) l p q n.

Lemma limits_sum v l p q n y : limits_level v l p q n -> feasible P y ->
  sum N (fun k => l k * sh y k) <= sum N (fun k => l k * v k).
Proof.
  intros [A B C D E Pd] Y. apply Qle_trans with (2 := Pd). apply Qle_trans with (2 := costs_at_most p q y A Y).
  rewrite <- sum_weigh. apply sum_le. intros k Hk. apply sum_le. intros i Hi. unfold weigh.
  pose proof (f_nonneg P y Y k i Hk Hi) as Y0. pose proof (gamma_nonneg P W k i Hk Hi).
  destruct (active P k) eqn:Ac; [|rewrite (inactive_entry P W y k i) by auto; lra].
  destruct (Qlt_le_dec 0 (gamma P k i)); [|rewrite (f_can P y Y k i) by (auto; lra); lra].
  apply prod_le; auto. apply D; auto. split; auto.
Qed.
Lemma sum_less k f h j : (j < k)%nat -> f j < h j -> (forall m, (m < k)%nat -> f m <= h m) -> sum k f < sum k h.
Proof.
  intros Hj L A. assert (B : h j - f j <= sum k (fun m => h m - f m)).
  { apply (sum_term k (fun m => h m - f m)); auto. intros m Hm. specialize (A m Hm). lra. }
  rewrite (sum_ext k (fun m => h m - f m) (fun m => h m + -(1) * f m)) in B by (intros; ring).
  rewrite sum_add, sum_scale in B. lra.
Qed.
(** If every user has at least v, user n has exactly v. *)
Lemma no_more v l p q n y : limits_level v l p q n -> feasible P y -> (forall k, user P k -> v k <= sh y k) -> user P n ->
  sh y n == v n.
Proof.
  intros H Y A U. pose proof (A n U) as L. destruct (Qlt_le_dec (v n) (sh y n)) as [C|C]; [|lra]. exfalso.
  pose proof (limits_sum v l p q n y H Y) as S. destruct H as [_ B O _ E _].
  assert (S' : sum N (fun k => l k * v k) < sum N (fun k => l k * sh y k)); [|lra].
  apply (sum_less N _ _ n); [apply U| |].
  - rewrite (Qmult_comm _ (v n)), (Qmult_comm _ (sh y n)). apply Qmult_lt_compat_r; auto.
  - intros k Hk. specialize (B k Hk). destruct (Qlt_le_dec 0 (l k)) as [G|G].
    + destruct (E k Hk G) as [Uk _]. apply prod_le_l; auto.
    + assert (Z : l k == 0) by lra. rewrite Z. lra.
Qed.
(** If the level of every user has such a proof, no user can rise. *)
Lemma shown_max_min x : (forall n, user P n -> shown x n) -> max_min P u 0 x.
Proof.
  intros H n y L best U Y _ _ HL HK. destruct (H n U) as (l & p & q & Hl).
  apply Qnot_lt_le. intros C. pose proof (limits_sum _ _ _ _ _ y Hl Y) as S. destruct Hl as [_ B O _ E _].
  assert (S' : sum N (fun k => l k * sh x k) < sum N (fun k => l k * sh y k)); [|lra].
  apply (sum_less N _ _ n); [apply U| |].
  - rewrite (Qmult_comm _ (sh x n)), (Qmult_comm _ (sh y n)). apply Qmult_lt_compat_r; auto. lra.
  - intros k Hk. specialize (B k Hk). destruct (Qlt_le_dec 0 (l k)) as [G|G].
    + destruct (E k Hk G) as [Uk Lk]. apply prod_le_l; auto. destruct (Nat.eq_dec k n) as [->|Ne]; [lra|].
      specialize (HK k Uk Ne). minmax; lra.
    + assert (Z : l k == 0) by lra. rewrite Z. lra.
Qed.

(** * One round *)
Section Round.
Variable fixed : nat -> bool.
Variable v : nat -> Q.
Variable first : nat.
Hypothesis F0 : user P first.
Hypothesis F1 : fixed first = false.

Definition is (n m : nat) : Q := if Nat.eqb m n then 1 else 0.
Lemma sum_is n f : (n < N)%nat -> sum N (fun m => is n m * f m) == f n.
Proof.
  intros Hn. rewrite (sum_single N _ n); auto.
  - unfold is. rewrite Nat.eqb_refl. ring.
  - intros j _ Ne. unfold is. apply Nat.eqb_neq in Ne. rewrite Ne. ring.
Qed.
(** A rising user has at least the share of the first rising user. A fixed user keeps its share. *)
Definition part (k m : nat) : Q := (if fixed k then 0 else is first m) - is k m.
Definition no_lower (k : nat) : row := {| coef := flat P (weigh (part k)); most := if fixed k then - v k else 0 |}.
Definition others : list row := map no_lower (filter (active P) (seq 0 N)).
Lemma at_no_lower k z : (k < N)%nat ->
  at_point (N * K) (coef (no_lower k)) z == (if fixed k then 0 else sh (grid P z) first) - sh (grid P z) k.
Proof.
  intros Hk. cbn [coef no_lower]. rewrite sum_of_flat, sum_weigh. unfold part.
  rewrite (sum_ext N _ (fun m => (if fixed k then 0 else is first m * sh (grid P z) m) + -(1) * (is k m * sh (grid P z) m)))
    by (intros; destruct (fixed k); ring).
  rewrite sum_add, sum_scale, sum_is by auto. destruct (fixed k).
  - rewrite sum_zero by reflexivity. ring.
  - rewrite sum_is by apply F0. ring.
Qed.
Lemma share_grid y n : sh (grid P (flat P y)) n == sh y n.
Proof. apply share_ext. intros i Hi. rewrite grid_flat by auto. reflexivity. Qed.
Lemma keeps_iff y : keeps P others y <-> forall k, user P k -> if fixed k then v k <= sh y k else sh y first <= sh y k.
Proof.
  split.
  - intros Ke k [Hk A]. assert (I : In (no_lower k) others).
    { apply in_map. apply filter_In. split; auto. apply in_seq. lia. }
    specialize (Ke _ I). rewrite at_no_lower in Ke by auto. cbn [Duality.most no_lower] in Ke.
    pose proof (share_grid y k). pose proof (share_grid y first). destruct (fixed k); lra.
  - intros H c I. apply in_map_iff in I. destruct I as (k & <- & I). apply filter_In in I. destruct I as [I A].
    apply in_seq in I. assert (Hk : (k < N)%nat) by lia. rewrite at_no_lower by auto. cbn [Duality.most no_lower].
    specialize (H k (conj Hk A)). pose proof (share_grid y k). pose proof (share_grid y first). destruct (fixed k); lra.
Qed.
Lemma follows_others e : follows others e -> exists l : nat -> Q, (forall k, (k < N)%nat -> 0 <= l k) /\
  (forall k, active P k = false -> l k == 0) /\
  (forall n i, (n < N)%nat -> (i < K)%nat ->
    grid P (coef e) n i == (is first n * sum N (fun k => if fixed k then 0 else l k) - l n) * (u n i / weight P n)) /\
  Duality.most e == - sum N (fun k => if fixed k then l k * v k else 0).
Proof.
  induction 1 as [|c I|c d _ (l & A & B & C & D) _ (l' & A' & B' & C' & D')|t c T _ (l & A & B & C & D)].
  - exists (fun _ => 0). split; [intros; lra|]. split; [reflexivity|]. split.
    + intros. unfold grid. cbn [coef nothing]. rewrite sum_zero by (intros k _; destruct (fixed k); reflexivity). ring.
    + cbn [Duality.most nothing]. rewrite sum_zero by (intros k _; destruct (fixed k); ring). ring.
  - apply in_map_iff in I. destruct I as (k & <- & I). apply filter_In in I. destruct I as [I Ac]. apply in_seq in I.
    assert (Hk : (k < N)%nat) by lia. exists (is k). split; [|split; [|split]].
    + intros m _. unfold is. destruct (Nat.eqb m k); lra.
    + intros m Am. unfold is. destruct (Nat.eqb_spec m k) as [->|]; [congruence|reflexivity].
    + intros n i Hn Hi. cbn [coef no_lower]. rewrite grid_flat by auto. unfold weigh, part.
      assert (E : sum N (fun m => if fixed m then 0 else is k m) == if fixed k then 0 else 1).
      { rewrite (sum_ext N _ (fun m => is k m * (if fixed m then 0 else 1))) by (intros m _; destruct (fixed m); ring).
        rewrite sum_is by auto. reflexivity. }
      rewrite E. unfold is. destruct (fixed k), (Nat.eqb_spec n k), (Nat.eqb_spec k n); try congruence; ring.
    + cbn [Duality.most no_lower]. rewrite (sum_ext N _ (fun m => is k m * (if fixed m then v m else 0))) by
        (intros m _; destruct (fixed m); ring). rewrite sum_is by auto. destruct (fixed k); ring.
  - exists (fun n => l n + l' n). split; [|split; [|split]].
    + intros n Hn. specialize (A n Hn). specialize (A' n Hn). lra.
    + intros n An. rewrite B, B' by auto. ring.
    + intros n i Hn Hi. specialize (C n i Hn Hi). specialize (C' n i Hn Hi). unfold grid in *. cbn [coef both]. rewrite C, C'.
      rewrite (sum_ext N (fun k => if fixed k then 0 else l k + l' k)
        (fun k => (if fixed k then 0 else l k) + (if fixed k then 0 else l' k))) by (intros k _; destruct (fixed k); ring).
      rewrite sum_add. ring.
    + cbn [Duality.most both]. rewrite D, D'.
      rewrite (sum_ext N (fun k => if fixed k then (l k + l' k) * v k else 0)
        (fun k => (if fixed k then l k * v k else 0) + (if fixed k then l' k * v k else 0)))
        by (intros k _; destruct (fixed k); ring). rewrite sum_add. ring.
  - exists (fun n => t * l n). split; [|split; [|split]].
    + intros n Hn. apply prod_nonneg; auto.
    + intros n An. rewrite B by auto. ring.
    + intros n i Hn Hi. specialize (C n i Hn Hi). unfold grid in *. cbn [coef times]. rewrite C.
      rewrite (sum_ext N (fun k => if fixed k then 0 else t * l k) (fun k => t * (if fixed k then 0 else l k)))
        by (intros k _; destruct (fixed k); ring). rewrite sum_scale. ring.
    + cbn [Duality.most times]. rewrite D.
      rewrite (sum_ext N (fun k => if fixed k then t * l k * v k else 0) (fun k => t * (if fixed k then l k * v k else 0)))
        by (intros k _; destruct (fixed k); ring). rewrite sum_scale. ring.
Qed.
End Round.

(** Some users are fixed. Each fixed user has a level v that has a proof and is at most t. In y, each fixed user has at
    least v, and every other user has at least t. *)
Record stage (fixed : nat -> bool) (v : nat -> Q) (t : Q) (y : allocation) : Prop := {
  s_feasible : feasible P y;
  s_fixed : forall n, user P n -> fixed n = true -> v n <= sh y n /\ v n <= t;
  s_rising : forall n, user P n -> fixed n = false -> t <= sh y n;
  s_pos : 0 <= t;
  s_shown : forall n, user P n -> fixed n = true -> exists l p q, limits_level v l p q n /\
    forall k, (k < N)%nat -> 0 < l k -> fixed k = true }.

Lemma one_round fixed v t y first : stage fixed v t y -> user P first -> fixed first = false ->
  exists fixed' v' t' y', stage fixed' v' t' y' /\ (forall n, fixed n = true -> fixed' n = true) /\
    exists n, user P n /\ fixed n = false /\ fixed' n = true.
Proof.
  intros [Y Fx Ri T0 Sh] F0 F1. assert (Hf : (first < N)%nat) by apply F0.
  assert (Low : exists z, feasible P z /\ keeps P (others fixed v first) z /\ sh z first == t).
  { destruct (lowered y first t Y Hf T0 (Ri first F0 F1)) as (z & Z & Z1 & Z2). exists z. split; [auto|]. split; [|auto].
    apply keeps_iff; auto. intros k Uk. destruct (fixed k) eqn:E.
    - rewrite Z2 by congruence. apply Fx; auto.
    - destruct (Nat.eq_dec k first) as [->|Ne]; [lra|]. rewrite (Z2 k Ne), Z1. apply Ri; auto. }
  destruct Low as (z & Z & Kz & Ez).
  assert (So : forall w, sum_of P (weigh (is first)) w == sh w first) by (intros; rewrite sum_weigh, sum_is by auto; reflexivity).
  destruct (greatest_exists P W (others fixed v first) (weigh (is first))) as (x & X & Kx & Top); [eauto|].
  set (t' := sh x first). assert (Tt : t <= t').
  { specialize (Top z Z Kz). rewrite !So in Top. unfold t'. lra. }
  destruct (prices_exist P (others fixed v first) (weigh (is first)) t') as (p & q & e & Pr & Fe & Cost & Paid).
  { eauto. }
  { intros w Fw Kw. specialize (Top w Fw Kw). rewrite !So in Top. rewrite So. exact Top. }
  destruct (follows_others fixed v first e Fe) as (l & L0 & L1 & L2 & L3).
  rewrite (keeps_iff fixed v first F0) in Kx.
  set (R := sum N (fun k => if fixed k then 0 else l k)) in *.
  set (l' := fun k => if Nat.eqb k first then larger 0 (1 + l k - R) else l k).
  assert (L'0 : forall k, (k < N)%nat -> 0 <= l' k).
  { intros k Hk. unfold l'. destruct (Nat.eqb k first); auto. minmax; lra. }
  assert (L'1 : forall k, (k < N)%nat -> 0 < l' k -> user P k).
  { intros k Hk G. split; auto. destruct (active P k) eqn:A; auto. exfalso. unfold l' in G.
    destruct (Nat.eqb_spec k first) as [->|]; [destruct F0; congruence|]. rewrite L1 in G by auto. lra. }
  set (v' := fun k => if fixed k then v k else t').
  set (fixed' := fun k => fixed k || lt 0 (l' k)).
  assert (Sum : sum N (fun k => if fixed k then 0 else l' k) == R + (l' first - l first)).
  { unfold R. rewrite <- (sum_is first (fun _ => l' first - l first) Hf), <- sum_add. apply sum_ext. intros k _.
    unfold is, l'. rewrite Nat.eqb_refl. destruct (Nat.eqb_spec k first) as [->|]; [rewrite F1; ring|]. destruct (fixed k); ring. }
  assert (One : 1 <= sum N (fun k => if fixed k then 0 else l' k)).
  { rewrite Sum. unfold l'. rewrite Nat.eqb_refl. minmax; lra. }
  assert (New : forall n, user P n -> fixed n = false -> 0 < l' n -> limits_level v' l' p q n).
  { intros n Un Fn Ln. constructor; auto.
    - intros k i Uk Hi G. assert (Hk : (k < N)%nat) by apply Uk. specialize (Cost k i Hk Hi G). rewrite L2 in Cost by auto.
      unfold weigh in Cost. pose proof (price_nonneg p q k i Pr Hk Hi) as P0. pose proof (U0 k i Uk Hi G) as Uki.
      pose proof (weight_pos P W k Hk) as Wk. assert (Q0 : 0 <= u k i / weight P k) by (apply quotient_nonneg; lra).
      unfold l', is in *. destruct (Nat.eqb_spec k first) as [->|Ne].
      + destruct (larger_spec 0 (1 + l first - R)) as [[_ E]|[_ E]]; rewrite E; lra.
      + lra.
    - intros k Hk G. split; auto. unfold v'. rewrite Fn. destruct (fixed k) eqn:E; [|lra].
      destruct (Fx k (L'1 k Hk G) E). lra.
    - rewrite L3 in Paid.
      assert (E : sum N (fun k => l' k * v' k) ==
        sum N (fun k => if fixed k then l k * v k else 0) + t' * sum N (fun k => if fixed k then 0 else l' k)).
      { rewrite <- sum_scale, <- sum_add. apply sum_ext. intros k _. unfold v'. destruct (fixed k) eqn:E; [|ring].
        unfold l'. destruct (Nat.eqb_spec k first) as [->|]; [congruence|]. ring. }
      rewrite E. pose proof (prod_le_l _ _ t' One ltac:(lra)). lra. }
  exists fixed', v', t', x. split; [|split].
  - constructor; auto; [| | |].
    + intros n Un Fn. unfold v'. specialize (Kx n Un). destruct (fixed n) eqn:E.
      * destruct (Fx n Un E). split; [auto|lra].
      * split; [exact Kx|lra].
    + intros n Un Fn. specialize (Kx n Un). unfold fixed' in Fn. apply orb_false_iff in Fn. destruct Fn as [Fn _].
      rewrite Fn in Kx. exact Kx.
    + lra.
    + intros n Un Fn. destruct (fixed n) eqn:E.
      * destruct (Sh n Un E) as (m & p' & q' & H & Hk). exists m, p', q'. split.
        2:{ intros k Hk' G. unfold fixed'. rewrite Hk by auto. reflexivity. }
        destruct H as [A B C D E' G]. constructor; auto.
        -- intros k Hk' Gk. destruct (E' k Hk' Gk) as [Uk Lk]. split; auto. unfold v'. rewrite E, Hk by auto. exact Lk.
        -- rewrite (sum_ext N _ (fun k => m k * v k)); auto. intros k Hk'. destruct (Qlt_le_dec 0 (m k)) as [Gk|Gk].
           ++ unfold v'. rewrite Hk by auto. reflexivity.
           ++ specialize (B k Hk'). assert (Z0 : m k == 0) by lra. rewrite Z0. ring.
      * exists l', p, q. unfold fixed' in Fn. rewrite E in Fn. simpl in Fn. apply lt_iff in Fn. split; [apply New; auto|].
        intros k _ G. unfold fixed'. apply lt_iff in G. rewrite G. apply orb_true_r.
  - intros n Fn. unfold fixed'. rewrite Fn. reflexivity.
  - destruct (sum_positive N (fun k => if fixed k then 0 else l' k)) as (n & Hn & G); [lra|]. cbv beta in G.
    destruct (fixed n) eqn:E; [lra|]. exists n. split; [auto|]. split; [auto|]. unfold fixed'. apply lt_iff in G. rewrite G. apply orb_true_r.
Qed.

(** * All rounds *)
Lemma fewer (A : Type) (f h : A -> bool) l a : (forall b, h b = true -> f b = true) -> In a l -> f a = true -> h a = false ->
  (length (filter h l) < length (filter f l))%nat.
Proof.
  intros Im. assert (Le : forall m, (length (filter h m) <= length (filter f m))%nat).
  { induction m as [|b m IH]; simpl; [lia|]. destruct (h b) eqn:Hb.
    - rewrite (Im b Hb). simpl. lia.
    - destruct (f b); simpl; lia. }
  induction l as [|b l IH]; simpl; intros I Fa Ha; [contradiction|]. destruct I as [->|I].
  - rewrite Fa, Ha. specialize (Le l). simpl. lia.
  - specialize (IH I Fa Ha). destruct (h b) eqn:Hb.
    + rewrite (Im b Hb). simpl. lia.
    + destruct (f b); simpl; lia.
Qed.
Lemma all_rounds m fixed v t y : stage fixed v t y ->
  (length (filter (fun n => active P n && negb (fixed n)) (seq 0 N)) <= m)%nat ->
  exists fixed' v' t' y', stage fixed' v' t' y' /\ forall n, user P n -> fixed' n = true.
Proof.
  revert fixed v t y. induction m; intros fixed v t y S Len;
    (destruct (any N (fun n => active P n && negb (fixed n))) eqn:E;
    [|exists fixed, v, t, y; split; [auto|]; intros n [Hn A]; destruct (fixed n) eqn:Fn; auto; exfalso;
      rewrite <- not_true_iff_false in E; apply E; apply any_iff; exists n; rewrite A, Fn; auto]);
    apply any_iff in E; destruct E as (f & Hf & E); apply andb_true_iff in E; destruct E as [A E]; apply negb_true_iff in E.
  - exfalso. assert (I : In f (filter (fun n => active P n && negb (fixed n)) (seq 0 N))).
    { apply filter_In. split; [apply in_seq; lia|]. rewrite A, E. reflexivity. }
    destruct (filter _ _); [contradiction|simpl in Len; lia].
  - destruct (one_round fixed v t y f S (conj Hf A) E) as (fixed' & v' & t' & y' & S' & Im & (n & [Hn An] & Fn & Fn')).
    apply (IHm fixed' v' t' y' S').
    assert ((length (filter (fun k => active P k && negb (fixed' k)) (seq 0 N)) <
      length (filter (fun k => active P k && negb (fixed k)) (seq 0 N)))%nat); [|lia].
    apply (fewer _ _ _ _ n).
    + intros k Hk. apply andb_true_iff in Hk. destruct Hk as [Hk1 Hk2]. rewrite Hk1. apply negb_true_iff in Hk2. simpl.
      apply negb_true_iff. destruct (fixed k) eqn:Fk; auto. rewrite Im in Hk2 by auto. discriminate.
    + apply in_seq. lia.
    + rewrite An, Fn. reflexivity.
    + rewrite An, Fn'. reflexivity.
Qed.
Theorem filling_ends : exists x, feasible P x /\ forall n, user P n -> shown x n.
Proof.
  destruct (all_rounds N (fun _ => false) (fun _ => 0) 0 (fun _ _ => 0)) as (fixed & v & t & x & [X Fx _ _ Sh] & All).
  - constructor; [apply nothing_is_feasible; auto|intros; discriminate| |lra|intros; discriminate].
    intros n [Hn _] _. apply share_nonneg; auto. apply nothing_is_feasible. auto.
  - apply Nat.le_trans with (length (seq 0 N)); [|rewrite seq_length; auto].
    generalize (seq 0 N), (fun n => active P n && negb false). intros s f.
    induction s as [|a s IH]; simpl; [lia|]. destruct (f a); simpl; lia.
  - exists x. split; auto.
    assert (Eq : forall n, user P n -> sh x n == v n).
    { intros n U. destruct (Sh n U (All n U)) as (l & p & q & H & _). apply (no_more v l p q n x H X); auto.
      intros k Uk. apply Fx; auto. }
    intros n U. destruct (Sh n U (All n U)) as (l & p & q & [A B C D E G] & _). exists l, p, q. constructor; auto.
    + intros k Hk Gk. destruct (E k Hk Gk) as [Uk Lk]. split; auto. rewrite !Eq by auto. exact Lk.
    + rewrite (sum_ext N _ (fun k => l k * v k)); auto. intros k Hk. destruct (Qlt_le_dec 0 (l k)) as [Gk|Gk].
      * rewrite Eq by (apply (E k Hk Gk)). reflexivity.
      * specialize (B k Hk). assert (Z0 : l k == 0) by lra. rewrite Z0. ring.
Qed.
End On.
