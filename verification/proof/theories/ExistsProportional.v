(** Proves that for every alpha > 0 and every gap eps > 0 there is an allocation that is alpha fair within eps, with a
    certificate. The slope U^-alpha is replaced by a step function. The ends of the steps have a constant ratio and are
    q-th powers of rationals, where q is the denominator of alpha. So the slope is rational at the ends. Welfare with
    these slopes is a minimum of lines, and therefore has an optimum. *)
From Coq Require Import QArith Qreduction Qround Qfield Arith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Arithmetic Checker Repair Soundness Bundle Prices Alpha Meaning Duality Programme.
From Evenhand Require Import Roots Exists ExistsMaxMin ExistsLevels ExistsConcave.
Import ListNotations.
Open Scope Q_scope.

(** * Powers *)
Lemma power_mul a b n : power (a * b) n == power a n * power b n.
Proof. induction n; simpl; [ring|]. rewrite IHn. ring. Qed.
Lemma power_one n : power 1 n == 1.
Proof. induction n; simpl; [reflexivity|]. rewrite IHn. ring. Qed.
Lemma power_swap a m n : power (power a m) n == power (power a n) m.
Proof.
  induction n; simpl; [symmetry; apply power_one|]. rewrite IHn, power_mul. reflexivity.
Qed.
Lemma power_inv a n : 0 < a -> power (/ a) n == / power a n.
Proof.
  intros A. induction n; [simpl; field; lra|]. simpl. rewrite IHn. pose proof (power_pos a n A). field. split; lra.
Qed.
Lemma power_ge_one a n : 1 <= a -> 1 <= power a n.
Proof. intros A. rewrite <- (power_one n). apply power_le; lra. Qed.
Lemma power_above a n : 1 <= a -> (0 < n)%nat -> a <= power a n.
Proof.
  intros A Hn. destruct n; [lia|]. simpl. pose proof (power_ge_one a n A) as L.
  pose proof (prod_le_l _ _ a L ltac:(lra)). lra.
Qed.
Lemma power_below a n : 0 < a -> a <= 1 -> (0 < n)%nat -> power a n <= a.
Proof.
  intros A B Hn. destruct n; [lia|]. simpl. assert (L : power a n <= 1).
  { rewrite <- (power_one n). apply power_le; auto. }
  pose proof (prod_le_l _ _ a L ltac:(lra)). lra.
Qed.
Lemma some_root k eps : 0 < eps -> exists r, 1 < r /\ power r k <= 1 + eps.
Proof.
  revert eps. induction k; intros eps E; [exists 2; simpl; split; lra|].
  destruct (IHk (eps / 2)) as (r & R1 & R2); [apply Qlt_shift_div_l; lra|]. set (e := eps / 2) in *.
  assert (E2 : eps == 2 * e) by (unfold e; field). set (d := smaller (r - 1) (e / (1 + e))).
  assert (D1 : d <= r - 1) by (unfold d; minmax; lra). assert (D2 : d <= e / (1 + e)) by (unfold d; minmax; lra).
  assert (D0 : 0 < d). { assert (0 < e / (1 + e)) by (apply Qlt_shift_div_l; lra). unfold d. minmax; lra. }
  exists (1 + d). split; [lra|]. simpl.
  assert (L : power (1 + d) k <= 1 + e) by (apply Qle_trans with (2 := R2); apply power_le; lra).
  pose proof (prod_le_l _ _ (1 + d) L ltac:(lra)) as L1. pose proof (prod_le _ _ (1 + e) D2 ltac:(lra)) as L2.
  assert (Q : e / (1 + e) * (1 + e) == e) by (field; lra). lra.
Qed.
Lemma grows r a : 1 < r -> exists j, a <= power r j.
Proof.
  intros R. assert (B : forall j, 1 + inject_Z (Z.of_nat j) * (r - 1) <= power r j).
  { induction j.
    - change (inject_Z (Z.of_nat 0)) with 0. simpl. lra.
    - rewrite Nat2Z.inj_succ. unfold Z.succ. rewrite inject_Z_plus. simpl power.
      pose proof (prod_le_l _ _ r IHj ltac:(lra)) as L.
      assert (S : 0 <= inject_Z (Z.of_nat j)) by (change 0 with (inject_Z 0); rewrite <- Zle_Qle; lia).
      pose proof (prod_nonneg _ _ S (prod_nonneg (r - 1) (r - 1) ltac:(lra) ltac:(lra))). change (inject_Z 1) with 1. lra. }
  exists (Z.to_nat (Qceiling (a / (r - 1)))). apply Qle_trans with (2 := B _).
  assert (C : a / (r - 1) <= inject_Z (Z.of_nat (Z.to_nat (Qceiling (a / (r - 1)))))).
  { apply Qle_trans with (1 := Qle_ceiling _). rewrite <- Zle_Qle. lia. }
  pose proof (prod_le _ _ (r - 1) C ltac:(lra)) as L. assert (Q : a / (r - 1) * (r - 1) == a) by (field; lra). lra.
Qed.

Section On.
Variable P : problem.
Notation N := (users P). Notation K := (classes P). Notation M := (resources P).
Hypothesis W : well_formed P.
Variable u : nat -> nat -> Q.
Hypothesis U0 : forall n i, (n < N)%nat -> (i < K)%nat -> 0 <= u n i.
(** Every active user can have a positive worth. *)
Hypothesis U1 : forall n, user P n -> exists i, (i < K)%nat /\ 0 < gamma P n i /\ 0 < u n i.
Notation val := (value P u).

Lemma value_nonneg y n : feasible P y -> (n < N)%nat -> 0 <= val y n.
Proof. intros Y Hn. apply sum_nonneg. intros i Hi. apply prod_nonneg; auto. apply (f_nonneg P y Y); auto. Qed.
Definition most_of (n : nat) : Q := sum K (fun i => u n i * gamma P n i).
Lemma value_at_most y n : feasible P y -> (n < N)%nat -> val y n <= most_of n.
Proof. intros Y Hn. apply sum_le. intros i Hi. apply prod_le_l; auto. apply at_most_alone; auto. Qed.
Lemma most_nonneg n : (n < N)%nat -> 0 <= most_of n.
Proof. intros Hn. apply sum_nonneg. intros i Hi. apply prod_nonneg; auto. apply gamma_nonneg; auto. Qed.

(** All users can have the same fraction of their worth alone at the same time. *)
Lemma all_have : exists y, feasible P y /\ forall n, user P n -> 0 < val y n.
Proof.
  set (total := sum N (fun _ => 1)). assert (T0 : forall n, (n < N)%nat -> 1 <= total).
  { intros n Hn. apply (sum_term N (fun _ => 1) n); auto. intros; lra. }
  set (h := fun n i => gamma P n i * (g P n / sum K (gamma P n))).
  assert (H0 : forall n, (n < N)%nat -> 0 <= g P n / sum K (gamma P n) /\ g P n / sum K (gamma P n) <= 1).
  { intros n Hn. pose proof (g_nonneg P W n Hn) as G0. pose proof (g_gamma P n) as G1. split; [apply quotient_nonneg; lra|].
    destruct (Qlt_le_dec 0 (sum K (gamma P n))) as [S|S]; [apply quotient_le; lra|].
    assert (Z : g P n == 0) by lra. rewrite Z. unfold Qdiv. lra. }
  assert (Hh : forall n i, (n < N)%nat -> (i < K)%nat -> 0 <= h n i /\ h n i <= gamma P n i).
  { intros n i Hn Hi. destruct (H0 n Hn) as [A B]. pose proof (gamma_nonneg P W n i Hn Hi) as G. unfold h.
    pose proof (prod_nonneg _ _ G A). pose proof (prod_le_l _ _ _ B G). lra. }
  exists (fun n i => / total * h n i).
  assert (I0 : forall n, (n < N)%nat -> 0 < / total /\ / total <= 1).
  { intros n Hn. specialize (T0 n Hn). split; [apply Qinv_lt_0_compat; lra|].
    setoid_replace (/ total) with (1 / total) by (field; lra). apply quotient_le; lra. }
  split; [constructor|].
  - intros n i Hn Hi. destruct (I0 n Hn), (Hh n i Hn Hi). apply prod_nonneg; lra.
  - intros n i Hn Hi G. unfold h. rewrite G. ring.
  - intros i r Hi Hr. unfold load.
    apply Qle_trans with (sum N (fun n => full P i r * / total)).
    + apply sum_le. intros n Hn. destruct (I0 n Hn) as [Ia _]. destruct (Hh n i Hn Hi) as [_ Hb].
      pose proof (prod_le _ _ _ Hb (takes_nonneg P W n i r Hn Hi Hr)) as A. pose proof (gamma_fits P W n i r Hn Hi Hr) as B.
      pose proof (prod_le (h n i * takes P n i r) (full P i r) (/ total) ltac:(lra) ltac:(lra)). lra.
    + destruct (Nat.eq_dec N 0) as [E|E]; [rewrite E; simpl; apply full_nonneg; auto|].
      specialize (T0 O ltac:(lia)). rewrite (sum_ext N _ (fun n => full P i r * / total * 1)) by (intros; ring).
      rewrite sum_scale. fold total. setoid_replace (full P i r * / total * total) with (full P i r) by (field; lra). lra.
  - intros n Hn. unfold within_limit. destruct (limit P n) as [T|] eqn:L; auto. unfold tasks. rewrite sum_scale.
    destruct (I0 n Hn) as [Ia Ib]. pose proof (g_nonneg P W n Hn) as G0.
    assert (E : sum K (h n) <= g P n).
    { unfold h. rewrite sum_scale_r. destruct (Qlt_le_dec 0 (sum K (gamma P n))) as [S|S].
      - setoid_replace (sum K (gamma P n) * (g P n / sum K (gamma P n))) with (g P n) by (field; lra). lra.
      - pose proof (g_gamma P n). assert (Z : g P n == 0) by lra. rewrite Z. unfold Qdiv. lra. }
    assert (E0 : 0 <= sum K (h n)) by (apply sum_nonneg; intros; apply Hh; auto).
    pose proof (prod_le _ _ _ Ib E0). pose proof (g_limit P n T L). lra.
  - intros n U. assert (Hn : (n < N)%nat) by apply U. destruct (U1 n U) as (i & Hi & G & Ui).
    destruct (I0 n Hn) as [Ia _].
    assert (Pos : 0 < u n i * (/ total * h n i)).
    { apply Qmult_lt_0_compat; auto. apply Qmult_lt_0_compat; auto. apply Qmult_lt_0_compat; auto.
      destruct U as [_ A]. apply active_pos in A. pose proof (g_gamma P n) as Gg.
      apply Qlt_shift_div_l; [apply Qlt_le_trans with (1 := A); exact Gg|rewrite Qmult_0_l; exact A]. }
    apply Qlt_le_trans with (1 := Pos). apply (sum_term K (fun i => u n i * (/ total * h n i))); auto. intros j Hj.
    apply prod_nonneg; auto. destruct (Hh n j Hn Hj). apply prod_nonneg; lra.
Qed.
Lemma least_pos (f : nat -> Q) : (forall n, user P n -> 0 < f n) -> exists e, 0 < e /\ forall n, user P n -> e <= f n.
Proof.
  intros H. assert (G : forall k, (k <= N)%nat -> exists e, 0 < e /\ forall n, (n < k)%nat -> active P n = true -> e <= f n).
  { induction k; intros Hk; [exists 1; split; [lra|intros; lia]|]. destruct IHk as (e & E & L); [lia|].
    destruct (active P k) eqn:A.
    - assert (Pos : 0 < f k) by (apply H; split; [lia|exact A]). exists (smaller e (f k)). split; [minmax; lra|]. intros n Hn An.
      destruct (Nat.eq_dec n k) as [->|]; [minmax; lra|]. specialize (L n ltac:(lia) An). minmax; lra.
    - exists e. split; auto. intros n Hn An. destruct (Nat.eq_dec n k) as [->|]; [congruence|]. apply L; auto; lia. }
  destruct (G N (le_n N)) as (e & E & L). exists e. split; auto. intros n [Hn An]. auto.
Qed.

(** * Steps *)
Variables s q : nat.
Hypothesis S0 : (0 < s)%nat.
Hypothesis Q0 : (0 < q)%nat.

Section Steps.
Variables h0 ratio : Q.
Hypothesis H0 : 0 < h0.
Hypothesis R0 : 1 < ratio.
Definition step (j : nat) : Q := h0 * power ratio j.
Definition from (j : nat) : Q := power (step j) q.
Definition slope (j : nat) : Q := / power (step j) s.
Fixpoint cut (j : nat) : Q := match j with O => 0 | S k => cut k + (slope k - slope (S k)) * from (S k) end.
Lemma step_pos j : 0 < step j.
Proof. apply Qmult_lt_0_compat; auto. apply power_pos. lra. Qed.
Lemma step_next j : step (S j) == ratio * step j.
Proof. unfold step. simpl. ring. Qed.
Lemma step_le j k : (j <= k)%nat -> step j <= step k.
Proof.
  induction 1 as [|k _ IH]; [lra|]. apply Qle_trans with (1 := IH). rewrite step_next. pose proof (step_pos k).
  pose proof (prod_le 1 ratio (step k) ltac:(lra) ltac:(lra)). lra.
Qed.
Lemma slope_pos j : 0 < slope j.
Proof. apply Qinv_lt_0_compat, power_pos, step_pos. Qed.
Lemma slope_next j : slope j == power ratio s * slope (S j).
Proof.
  unfold slope. rewrite (power_ext _ _ s (step_next j)), power_mul.
  pose proof (power_pos (step j) s (step_pos j)). pose proof (power_pos ratio s ltac:(lra)). field. split; lra.
Qed.
Lemma slope_less j : slope (S j) < slope j.
Proof.
  rewrite (slope_next j). pose proof (slope_pos (S j)) as A.
  assert (1 < power ratio s).
  { destruct s; [lia|]. simpl. pose proof (power_ge_one ratio n ltac:(lra)) as B. pose proof (prod_le_l _ _ ratio B ltac:(lra)). lra. }
  pose proof (Qmult_lt_compat_r _ _ _ A H). lra.
Qed.
(** If a line attains the minimum at v, the step of this line contains v. *)
Lemma least_line J v j : (j <= J)%nat -> line cut slope j v == worth_of J cut slope v ->
  (j = O \/ from j <= v) /\ (j = J \/ v <= from (S j)).
Proof.
  intros Hj E.
  assert (Next : forall k, line cut slope (S k) v - line cut slope k v == (slope k - slope (S k)) * (from (S k) - v)).
  { intros k. unfold line. simpl cut. ring. }
  split.
  - destruct j as [|j]; [auto|]. right. pose proof (lowest_le J (fun k => line cut slope k v) j ltac:(lia)) as L.
    unfold worth_of in E. cbv beta in L. rewrite <- E in L. specialize (Next j). pose proof (slope_less j).
    apply Qnot_lt_le. intros C. assert (0 < (slope j - slope (S j)) * (from (S j) - v)) by (apply Qmult_lt_0_compat; lra). lra.
  - destruct (Nat.eq_dec j J) as [->|Ne]; [auto|]. right.
    pose proof (lowest_le J (fun k => line cut slope k v) (S j) ltac:(lia)) as L.
    unfold worth_of in E. cbv beta in L. rewrite <- E in L. specialize (Next j). pose proof (slope_less j).
    apply Qnot_lt_le. intros C. assert (0 < (slope j - slope (S j)) * (v - from (S j))) by (apply Qmult_lt_0_compat; lra). lra.
Qed.
(** On a step, w / v^alpha is between the slopes at its ends. *)
Lemma step_encloses j w v : 0 < w -> from j <= v -> v <= from (S j) -> encloses s q w v (w * slope (S j)) (w * slope j).
Proof.
  intros Wp L R. pose proof (step_pos j) as S1. pose proof (step_pos (S j)) as S2.
  pose proof (slope_pos j) as P1. pose proof (slope_pos (S j)) as P2.
  assert (F0 : 0 < from j) by (apply power_pos; auto).
  assert (E : forall k, power (slope k) q * power (from k) s == 1).
  { intros k. unfold slope, from. pose proof (step_pos k) as Sk. rewrite power_inv by (apply power_pos; auto).
    rewrite (power_swap (step k) q s). pose proof (power_pos (power (step k) s) q (power_pos _ s Sk)). field. lra. }
  pose proof (power_pos w q Wp) as Wq.
  split; [apply Qmult_lt_0_compat; auto|]. split; [apply Qmult_lt_0_compat; auto|]. rewrite !power_mul. split.
  - assert (A : power v s <= power (from (S j)) s) by (apply power_le; lra).
    pose proof (prod_le_l _ _ (power w q * power (slope (S j)) q) A) as B.
    assert (0 <= power w q * power (slope (S j)) q) by (apply prod_nonneg; [lra|apply Qlt_le_weak, power_pos; auto]).
    specialize (B H). specialize (E (S j)).
    assert (Z : power w q * power (slope (S j)) q * power (from (S j)) s == power w q) by (rewrite <- Qmult_assoc, E; ring).
    lra.
  - assert (A : power (from j) s <= power v s) by (apply power_le; lra).
    pose proof (prod_le_l _ _ (power w q * power (slope j) q) A) as B.
    assert (0 <= power w q * power (slope j) q) by (apply prod_nonneg; [lra|apply Qlt_le_weak, power_pos; auto]).
    specialize (B H). specialize (E j).
    assert (Z : power w q * power (slope j) q * power (from j) s == power w q) by (rewrite <- Qmult_assoc, E; ring).
    lra.
Qed.
End Steps.

(** * The allocation *)
Theorem nearly_fair_exists eps : 0 < eps -> exists x lo hi, feasible P x /\
  (forall n, user P n -> 0 < val x n /\ encloses s q (weight P n) (val x n) (lo n) (hi n)) /\
  forall y, feasible P y -> sum N (fun n => if active P n then hi n * val y n else 0) <=
    (1 + eps) * sum N (fun n => if active P n then lo n * val x n else 0).
Proof.
  intros E.
  (* the ratio of the ends of a step *)
  destruct (some_root 3 eps E) as (r3 & R3 & R3').
  destruct (some_root s (r3 - 1) ltac:(lra)) as (ratio & R1 & Rs). set (r := power ratio s) in *.
  assert (Rle : r <= r3) by lra. assert (Rge : 1 <= r) by (apply power_ge_one; lra).
  assert (Rcube : r * r * r <= 1 + eps).
  { apply Qle_trans with (2 := R3'). simpl. pose proof (power_le r r3 3 ltac:(lra) Rle) as L. simpl in L. lra. }
  (* the start of the steps *)
  destruct all_have as (y0 & Y0 & Y1). destruct (least_pos (val y0) Y1) as (k & K0 & K1).
  destruct (least_pos (weight P)) as (w & W0 & W1). { intros n U. apply (weight_pos P W). apply U. }
  set (theta := smaller k 1). assert (Th0 : 0 < theta) by (unfold theta; minmax; lra).
  assert (Thq : power theta q <= k).
  { apply Qle_trans with theta; [|unfold theta; minmax; lra]. apply power_below; auto. unfold theta. minmax; lra. }
  set (steep := / power (theta * / ratio) s). assert (Ir : 0 < / ratio) by (apply Qinv_lt_0_compat; lra).
  assert (Tr : 0 < theta * / ratio) by (apply Qmult_lt_0_compat; auto).
  assert (St0 : 0 < steep) by (apply Qinv_lt_0_compat, power_pos; auto).
  set (c := sum N (fun n => weight P n * steep * most_of n)).
  assert (Cpos : forall n, (n < N)%nat -> 0 <= weight P n * steep * most_of n).
  { intros n Hn. pose proof (weight_pos P W n Hn). apply prod_nonneg; [apply prod_nonneg; lra|apply most_nonneg; auto]. }
  assert (C0 : 0 <= c) by (apply sum_nonneg; auto).
  set (start := w * k / (2 * (c + 1))).
  assert (Start0 : 0 < start) by (apply Qlt_shift_div_l; [lra|]; pose proof (Qmult_lt_0_compat _ _ W0 K0); lra).
  set (h0 := smaller (smaller 1 (k / 2)) start).
  assert (K2 : 0 < k / 2) by (apply Qlt_shift_div_l; lra).
  assert (Hh : 0 < h0 /\ h0 <= 1 /\ h0 <= k / 2 /\ h0 <= start) by (unfold h0; minmax; repeat split; lra).
  destruct Hh as (Hh0 & Hh1 & Hh2 & Hh3).
  (* the end of the steps *)
  destruct (grows ratio (larger 1 (sum N most_of) / h0) R1) as (J & Jl).
  set (sl := slope h0 ratio). set (cu := cut h0 ratio). set (fr := from h0 ratio).
  assert (End : forall n, (n < N)%nat -> most_of n <= fr (S J)).
  { intros n Hn. assert (A : larger 1 (sum N most_of) <= step h0 ratio J).
    { unfold step. pose proof (prod_le_l _ _ h0 Jl ltac:(lra)) as L.
      assert (Z : h0 * (larger 1 (sum N most_of) / h0) == larger 1 (sum N most_of)) by (field; lra). lra. }
    pose proof (step_le h0 ratio Hh0 R1 J (S J) ltac:(lia)) as B.
    pose proof (sum_term N most_of n most_nonneg Hn) as D.
    assert (F : 1 <= step h0 ratio (S J)) by (minmax; lra).
    pose proof (power_above _ q F Q0) as G. unfold fr, from. minmax; lra. }
  destruct (best_welfare_exists P W u J cu sl) as (x & X & Best).
  { apply Qlt_le_weak, slope_pos; auto. }
  { intros n i [Hn _] Hi. auto. }
  (* the worth of every user is on a step *)
  assert (From0 : fr O <= k / 2).
  { unfold fr, from. apply Qle_trans with (step h0 ratio 0); [apply power_below; auto; unfold step; simpl; lra|].
    unfold step. simpl. lra. }
  assert (Has : forall n, user P n -> fr O <= val x n).
  { intros n U. apply Qnot_lt_le. intros Low. assert (Hn : (n < N)%nat) by apply U.
    destruct (best_welfare_slopes P W u J cu sl x y0 X Best Y0) as (at_ & At & Sum).
    assert (Term : forall m, (m < N)%nat -> - (weight P m * steep * most_of m) <=
      if active P m then weight P m * sl (at_ m) * (val y0 m - val x m) else 0).
    { intros m Hm. specialize (Cpos m Hm). destruct (active P m) eqn:Am; [|lra].
      destruct (At m Hm) as [Aj Al]. pose proof (weight_pos P W m Hm) as Wm.
      pose proof (slope_pos h0 ratio Hh0 R1 (at_ m)) as Sp. fold sl in Sp.
      destruct (Qlt_le_dec (val y0 m) (val x m)) as [L|L].
      2:{ assert (0 <= weight P m * sl (at_ m) * (val y0 m - val x m)) by (apply prod_nonneg; [apply prod_nonneg|]; lra). lra. }
      pose proof (K1 m (conj Hm Am)) as Ky. pose proof (value_at_most x m X Hm) as Vm. pose proof (value_nonneg y0 m Y0 Hm) as Vy.
      assert (Up : val x m <= fr (S (at_ m))).
      { destruct (least_line h0 ratio Hh0 R1 J (val x m) (at_ m) Aj Al) as [_ [B|B]]; [|exact B].
        rewrite B. apply Qle_trans with (1 := Vm). apply End. auto. }
      assert (Sx : theta <= step h0 ratio (S (at_ m))).
      { apply Qnot_lt_le. intros C. pose proof (step_pos h0 ratio Hh0 R1 (S (at_ m))) as Spos.
        pose proof (power_le _ _ q Spos (Qlt_le_weak _ _ C)) as D. unfold fr, from in Up. lra. }
      assert (Sy : theta * / ratio <= step h0 ratio (at_ m)).
      { pose proof (step_next h0 ratio (at_ m)) as Nx. rewrite Nx in Sx. pose proof (prod_le _ _ (/ ratio) Sx ltac:(lra)) as D.
        assert (Z : ratio * step h0 ratio (at_ m) * / ratio == step h0 ratio (at_ m)) by (field; lra). lra. }
      assert (Ss : sl (at_ m) <= steep).
      { unfold sl, slope, steep. pose proof (power_le _ _ s Tr Sy) as D. pose proof (power_pos _ s Tr) as D0.
        apply Qle_shift_inv_l; [exact D0|]. rewrite Qmult_comm.
        assert (B : power (theta * / ratio) s / power (step h0 ratio (at_ m)) s <= 1) by (apply quotient_le; lra). exact B. }
      assert (A1 : weight P m * sl (at_ m) <= weight P m * steep) by (apply prod_le_l; lra).
      assert (A2 : weight P m * sl (at_ m) * (val x m - val y0 m) <= weight P m * steep * (val x m - val y0 m)) by (apply prod_le; lra).
      assert (A3 : weight P m * steep * (val x m - val y0 m) <= weight P m * steep * most_of m).
      { apply prod_le_l; [lra|]. apply prod_nonneg; lra. }
      lra. }
    destruct (At n Hn) as [Aj Al]. destruct (least_line h0 ratio Hh0 R1 J (val x n) (at_ n) Aj Al) as [Bl _].
    assert (A0 : at_ n = O).
    { destruct Bl as [Bl|Bl]; [exact Bl|]. exfalso. fold fr in Bl.
      assert (fr O <= fr (at_ n)); [|lra]. apply power_le; [apply step_pos; auto|]. apply step_le; auto. lia. }
    assert (Split : - c + (weight P n * sl O * (k / 2)) <=
      sum N (fun m => if active P m then weight P m * sl (at_ m) * (val y0 m - val x m) else 0)).
    { unfold c. rewrite <- (sum_of_n P n (fun _ => weight P n * sl O * (k / 2)) Hn).
      setoid_replace (- sum N (fun m => weight P m * steep * most_of m)) with (-(1) * sum N (fun m => weight P m * steep * most_of m)) by ring.
      rewrite <- sum_scale, <- sum_add. apply sum_le. intros m Hm. specialize (Term m Hm). unfold of_n.
      destruct (Nat.eqb_spec m n) as [->|Ne]; [|lra]. specialize (Cpos n Hn). destruct U as [_ An]. rewrite An in *. rewrite A0.
      pose proof (K1 n (conj Hn An)) as Ky. pose proof (weight_pos P W n Hn) as Wn.
      pose proof (slope_pos h0 ratio Hh0 R1 O) as Sp. fold sl in Sp.
      assert (D : weight P n * sl O * (k / 2) <= weight P n * sl O * (val y0 n - val x n)).
      { apply prod_le_l; [|apply prod_nonneg; lra]. assert (k == 2 * (k / 2)) by (field). lra. }
      lra. }
    assert (Big : c + 1 <= weight P n * sl O * (k / 2)).
    { assert (S1 : / h0 <= sl O).
      { unfold sl, slope. assert (A : power (step h0 ratio 0) s <= h0).
        { apply Qle_trans with (step h0 ratio 0); [apply power_below; auto; unfold step; simpl; lra|]. unfold step. simpl. lra. }
        pose proof (power_pos _ s (step_pos h0 ratio Hh0 R1 O)) as B.
        apply Qle_shift_inv_l; [exact B|]. rewrite Qmult_comm. apply (quotient_le _ h0 1); lra. }
      assert (I0 : 0 < / h0) by (apply Qinv_lt_0_compat; auto).
      pose proof (W1 n U) as Wn. assert (A1 : w * / h0 <= weight P n * sl O).
      { apply Qle_trans with (weight P n * / h0); [apply prod_le; lra|apply prod_le_l; lra]. }
      pose proof (prod_le _ _ (k / 2) A1 ltac:(lra)) as A2.
      assert (A3 : (c + 1) * h0 <= w * (k / 2)).
      { pose proof (prod_le_l _ _ (c + 1) Hh3 ltac:(lra)) as Z. unfold start in Z.
        assert (Z' : (c + 1) * (w * k / (2 * (c + 1))) == w * (k / 2)) by (field; lra). lra. }
      pose proof (prod_le _ _ (/ h0) A3 ltac:(lra)) as A4.
      assert (Z : (c + 1) * h0 * / h0 == c + 1) by (field; lra). lra. }
    lra. }
  (* the slopes at these steps *)
  destruct (best_welfare_slopes P W u J cu sl x x X Best X) as (at_ & At & _).
  assert (Cell : forall (b : nat -> nat) n, user P n -> (b n <= J)%nat /\ line cu sl (b n) (val x n) == worth_of J cu sl (val x n) ->
    encloses s q (weight P n) (val x n) (weight P n * sl (S (b n))) (weight P n * sl (b n))).
  { intros b n U [Bj Bl]. assert (Hn : (n < N)%nat) by apply U.
    destruct (least_line h0 ratio Hh0 R1 J (val x n) (b n) Bj Bl) as [A B].
    apply step_encloses; auto; [apply (weight_pos P W); auto| |].
    - destruct A as [A|A]; [rewrite A; apply Has; auto|exact A].
    - destruct B as [B|B]; [rewrite B; apply Qle_trans with (1 := value_at_most x n X Hn); apply End; auto|exact B]. }
  assert (Vpos : forall n, user P n -> 0 < val x n).
  { intros n U. apply Qlt_le_trans with (2 := Has n U). apply power_pos, step_pos; auto. }
  exists x, (fun n => weight P n * sl (S (at_ n))), (fun n => weight P n * sl (at_ n)). split; [auto|]. split.
  { intros n U. split; [auto|]. apply Cell; auto. apply At. apply U. }
  intros y Y. destruct (best_welfare_slopes P W u J cu sl x y X Best Y) as (by_ & By & Sum).
  assert (Ratio : forall j, sl j == r * sl (S j)) by (intros; apply slope_next; auto).
  assert (Near : forall n, user P n -> weight P n * sl (S (at_ n)) <= weight P n * sl (by_ n) /\
    weight P n * sl (by_ n) <= r * (r * (weight P n * sl (S (at_ n))))).
  { intros n U. assert (Hn : (n < N)%nat) by apply U. pose proof (Cell at_ n U (At n Hn)) as Ea. pose proof (Cell by_ n U (By n Hn)) as Eb.
    split; [apply (enclosed s q (weight P n) (val x n) _ _ _ _ Q0 (Vpos n U) Ea Eb)|].
    pose proof (enclosed s q (weight P n) (val x n) _ _ _ _ Q0 (Vpos n U) Eb Ea) as L.
    pose proof (Ratio (by_ n)) as Rb. pose proof (Ratio (at_ n)) as Ra. pose proof (prod_le_l _ _ r L ltac:(lra)) as L'.
    rewrite Ra in L'. rewrite Rb. lra. }
  assert (L1 : sum N (fun n => if active P n then weight P n * sl (at_ n) * val y n else 0) <=
    r * sum N (fun n => if active P n then weight P n * sl (by_ n) * val y n else 0)).
  { rewrite <- sum_scale. apply sum_le. intros n Hn. destruct (active P n) eqn:A; [|lra]. destruct (Near n (conj Hn A)) as [L _].
    pose proof (value_nonneg y n Y Hn) as Vy. pose proof (prod_le _ _ _ L Vy) as L'. pose proof (prod_le_l _ _ r L' ltac:(lra)).
    pose proof (Ratio (at_ n)) as Ra. rewrite Ra. lra. }
  assert (L2 : sum N (fun n => if active P n then weight P n * sl (by_ n) * val y n else 0) <=
    sum N (fun n => if active P n then weight P n * sl (by_ n) * val x n else 0)).
  { rewrite (sum_ext N (fun n => if active P n then weight P n * sl (by_ n) * (val y n - val x n) else 0)
      (fun n => (if active P n then weight P n * sl (by_ n) * val y n else 0) +
        -(1) * (if active P n then weight P n * sl (by_ n) * val x n else 0))) in Sum by (intros n _; destruct (active P n); ring).
    rewrite sum_add, sum_scale in Sum. lra. }
  assert (L3 : sum N (fun n => if active P n then weight P n * sl (by_ n) * val x n else 0) <=
    r * (r * sum N (fun n => if active P n then weight P n * sl (S (at_ n)) * val x n else 0))).
  { rewrite <- !sum_scale. apply sum_le. intros n Hn. destruct (active P n) eqn:A; [|lra]. destruct (Near n (conj Hn A)) as [_ L].
    pose proof (value_nonneg x n X Hn) as Vx. pose proof (prod_le _ _ _ L Vx). lra. }
  set (spent := sum N (fun n => if active P n then weight P n * sl (S (at_ n)) * val x n else 0)) in *.
  assert (Sp : 0 <= spent).
  { apply sum_nonneg. intros n Hn. destruct (active P n); [|lra]. pose proof (weight_pos P W n Hn).
    pose proof (slope_pos h0 ratio Hh0 R1 (S (at_ n))) as Spos. fold sl in Spos.
    apply prod_nonneg; [apply prod_nonneg; lra|apply value_nonneg; auto]. }
  apply Qle_trans with (r * r * r * spent); [|apply prod_le; auto].
  pose proof (prod_le_l _ _ r (Qle_trans _ _ _ L2 L3) ltac:(lra)). lra.
Qed.
End On.
