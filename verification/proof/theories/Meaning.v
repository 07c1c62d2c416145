(** Proves that the axioms within 0 mean what their names say, and that valid claims do not contradict each other. *)
From Coq Require Import QArith Qabs Qfield Arith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Arithmetic Checker Repair Soundness Bundle Prices MaxMin.
Open Scope Q_scope.

(** If the tolerance is the same, an axiom cannot both hold and be violated. *)
Theorem no_contradiction axiom tolerance m k : holds axiom tolerance m -> violated axiom tolerance k -> False.
Proof. intros [A B] [C D]. specialize (D _ B). lra. Qed.

Section On.
Variable P : problem.
Notation N := (users P). Notation K := (classes P). Notation M := (resources P).
Hypothesis W : well_formed P.

(** The repair does not change a feasible allocation. *)
Theorem repaired_same x : feasible P x ->
  forall n i, (n < N)%nat -> (i < K)%nat -> repaired P x n i == x n i.
Proof.
  intros F.
  assert (Kp : forall n i, (n < N)%nat -> (i < K)%nat -> kept P x n i == x n i).
  { intros n i Hn Hi. unfold kept, counts. pose proof (f_nonneg P x F n i Hn Hi).
    destruct (active P n) eqn:A; [|simpl; symmetry; apply (inactive_entry P W x n i); auto].
    pose proof (gamma_nonneg P W n i Hn Hi).
    destruct (lt 0 (gamma P n i)) eqn:G; simpl; bools; [|symmetry; apply (f_can P x F); auto; lra].
    destruct (lt 0 (x n i)) eqn:X; bools; lra. }
  assert (Ct : forall n i, (n < N)%nat -> (i < K)%nat -> cut P x n i == x n i).
  { intros n i Hn Hi. unfold cut. pose proof (f_limit P x F n Hn) as L. unfold within_limit in L.
    assert (E : tasks P (kept P x) n == tasks P x n) by (apply sum_ext; intros; apply Kp; auto).
    destruct (limit P n) as [T|]; [|apply Kp; auto].
    destruct (lt T (tasks P (kept P x) n)) eqn:D; [bools; lra|apply Kp; auto]. }
  intros n i Hn Hi. unfold repaired. rewrite Ct by auto.
  assert (C : crowd P (cut P x) i == 1).
  { unfold crowd. assert (G : greatest M (fun r => load P (cut P x) i r / full P i r) <= 1).
    { assert (B : forall k, (k <= M)%nat -> greatest k (fun r => load P (cut P x) i r / full P i r) <= 1).
      { induction k; simpl; intros Hk; [lra|].
        assert (greatest k (fun r => load P (cut P x) i r / full P i r) <= 1) by (apply IHk; lia).
        assert (load P (cut P x) i k / full P i k <= 1).
        { pose proof (full_nonneg P W i k Hi ltac:(lia)). pose proof (f_rows P x F i k Hi ltac:(lia)) as R.
          rewrite (load_ext P (cut P x) x i k Hi ltac:(intros; apply Ct; auto)).
          destruct (Qlt_le_dec 0 (full P i k)); [apply quotient_le; lra|].
          assert (Z : full P i k == 0) by lra. rewrite Z. unfold Qdiv. change (/ 0) with 0. lra. }
        minmax; lra. }
      apply B. lia. }
    minmax; lra. }
  rewrite C. field.
Qed.

(** Pareto optimality: if no user loses in another feasible allocation, no user gains. *)
Theorem pareto_optimal_exact x : feasible P x -> pareto_optimal P 0 x ->
  forall y, feasible P y -> (forall n, (n < N)%nat -> tasks P x n <= tasks P y n) ->
  forall n, (n < N)%nat -> tasks P y n == tasks P x n.
Proof.
  intros F O y Y D n Hn. specialize (O y Y ltac:(intros k U; apply D; apply U)).
  destruct (active P n) eqn:A.
  2:{ rewrite (inactive_tasks P W y n), (inactive_tasks P W x n); auto. reflexivity. }
  assert (Pos : forall k, (k < N)%nat -> 0 <= if active P k then (tasks P y k - tasks P x k) / g P k else 0).
  { intros k Hk. destruct (active P k) eqn:B; [|lra]. apply active_pos in B. specialize (D k Hk).
    apply quotient_nonneg; lra. }
  pose proof (sum_term N _ n Pos Hn) as S. cbv beta in S. rewrite A in S. apply active_pos in A.
  specialize (D n Hn). destruct (Qlt_le_dec (tasks P x n) (tasks P y n)) as [L|L]; [|lra]. exfalso.
  assert (0 < (tasks P y n - tasks P x n) / g P n) by (apply Qlt_shift_div_l; lra). lra.
Qed.

(** PS-DSF, as in Theorem 1 of its paper. Every user has all its tasks, or it has a bottleneck on every class where it
    can run. A bottleneck is a full row that the user uses, and in which no user with a part of it has a higher
    level. *)
Definition level_at (x : allocation) (n i : nat) : Q := tasks P x n / (weight P n * gamma P n i).
Theorem ps_dsf_exact x : feasible P x -> ps_dsf P 0 x ->
  forall n i, user P n -> (i < K)%nat -> 0 < gamma P n i ->
    (exists T, limit P n = Some T /\ tasks P x n == T) \/
    exists r, (r < M)%nat /\ 0 < takes P n i r /\ load P x i r == full P i r /\
      forall m, (m < N)%nat -> 0 < x m i * takes P m i r -> level_at x m i <= level_at x n i.
Proof.
  intros F O n i U Hi G. assert (Hn : (n < N)%nat) by apply U.
  destruct (O n i U Hi G) as [(T & L & E)|(r & Hr & Tp & L)].
  - left. exists T. split; auto. pose proof (f_limit P x F n Hn) as C. unfold within_limit in C. rewrite L in C. lra.
  - right. exists r. split; auto. split; auto. unfold lacks in L.
    set (h := fun m => if Nat.eqb m n then 0 else ahead P x n m i * takes P m i r) in *.
    assert (H0 : forall m, (m < N)%nat -> 0 <= h m).
    { intros m Hm. unfold h. destruct (Nat.eqb m n); [lra|]. pose proof (f_nonneg P x F m i Hm Hi).
      apply prod_nonneg; [|apply takes_nonneg; auto]. unfold ahead. minmax; lra. }
    assert (Sl : 0 <= slack P x i r) by (unfold slack; pose proof (f_rows P x F i r Hi Hr); lra).
    assert (Z : slack P x i r + sum N h <= 0).
    { apply Qnot_lt_le. intro C. assert (0 < (slack P x i r + sum N h) / takes P n i r) by (apply Qlt_shift_div_l; lra). lra. }
    assert (Sh : 0 <= sum N h) by (apply sum_nonneg; auto).
    split; [unfold slack in *; lra|]. intros m Hm Pos.
    destruct (Nat.eq_dec m n) as [->|Ne]; [lra|].
    pose proof (sum_term N h m H0 Hm) as T1. apply Nat.eqb_neq in Ne.
    pose proof (f_nonneg P x F m i Hm Hi) as X0. pose proof (takes_nonneg P W m i r Hm Hi Hr) as D0.
    pose proof (weight_pos P W n Hn) as Wn. pose proof (weight_pos P W m Hm) as Wm.
    assert (Xp : 0 < x m i).
    { destruct (Qlt_le_dec 0 (x m i)); auto. assert (E : x m i == 0) by lra. rewrite E in Pos. lra. }
    assert (Dp : 0 < takes P m i r).
    { destruct (Qlt_le_dec 0 (takes P m i r)); auto. assert (E : takes P m i r == 0) by lra. rewrite E in Pos. lra. }
    assert (Gm : 0 < gamma P m i).
    { pose proof (gamma_nonneg P W m i Hm Hi). destruct (Qlt_le_dec 0 (gamma P m i)); auto.
      rewrite (f_can P x F m i Hm Hi) in Xp; lra. }
    assert (A : 0 < weight P m * gamma P m i) by (apply Qmult_lt_0_compat; auto).
    assert (B : 0 < weight P n * gamma P n i) by (apply Qmult_lt_0_compat; auto).
    unfold level_at. apply Qnot_lt_le. intro C.
    assert (D : tasks P x m - tasks P x n * (weight P m * gamma P m i) / (weight P n * gamma P n i) ==
      (tasks P x m / (weight P m * gamma P m i) - tasks P x n / (weight P n * gamma P n i)) * (weight P m * gamma P m i))
      by (field; repeat split; lra).
    assert (E : 0 < (tasks P x m / (weight P m * gamma P m i) - tasks P x n / (weight P n * gamma P n i)) *
        (weight P m * gamma P m i))
      by (apply Qmult_lt_0_compat; lra).
    assert (V : 0 < ahead P x n m i) by (unfold ahead; minmax; lra).
    pose proof (Qmult_lt_0_compat _ _ V Dp) as Hp.
    assert (Hm' : h m == ahead P x n m i * takes P m i r)
      by (unfold h; rewrite Ne; reflexivity).
    lra.
Qed.

(** Max-min fairness: if a user has a larger share in another feasible allocation, some user whose share was no larger
    loses. *)
Definition no_larger_share (u : nat -> nat -> Q) (x : allocation) : Prop :=
  forall y, feasible P y -> forall n, user P n -> share P u x n < share P u y n ->
  exists m, user P m /\ share P u x m <= share P u x n /\ share P u y m < share P u x m.

(** A mixture of two feasible allocations is feasible. *)
Definition mix (t : Q) (x y : allocation) (n i : nat) : Q := x n i + t * (y n i - x n i).
Lemma sum_mix k t f h : sum k (fun j => f j + t * (h j - f j)) == sum k f + t * (sum k h - sum k f).
Proof. rewrite sum_add, sum_scale. rewrite (sum_ext k (fun j => h j - f j) (fun j => h j + (-1) * f j)) by (intros; ring).
  rewrite sum_add, sum_scale. ring. Qed.
Lemma mix_le t a b c : 0 <= t -> t <= 1 -> a <= c -> b <= c -> a + t * (b - a) <= c.
Proof. intros. pose proof (prod_le_l b c t H2 H). pose proof (prod_le_l a c (1 - t) H1 ltac:(lra)). lra. Qed.
Lemma mix_ge t a b c : 0 <= t -> t <= 1 -> c <= a -> c <= b -> c <= a + t * (b - a).
Proof. intros. pose proof (prod_le_l c b t H2 H). pose proof (prod_le_l c a (1 - t) H1 ltac:(lra)). lra. Qed.
Lemma mix_feasible t x y : 0 <= t -> t <= 1 -> feasible P x -> feasible P y -> feasible P (mix t x y).
Proof.
  intros T0 T1 X Y. constructor.
  - intros. apply mix_ge; auto; [apply (f_nonneg P x X)|apply (f_nonneg P y Y)]; auto.
  - intros. unfold mix. rewrite (f_can P x X), (f_can P y Y) by auto. ring.
  - intros i r Hi Hr. unfold load, mix.
    rewrite (sum_ext N _ (fun n => x n i * takes P n i r + t * (y n i * takes P n i r - x n i * takes P n i r)))
      by (intros; ring).
    rewrite sum_mix. apply mix_le; auto; [apply (f_rows P x X)|apply (f_rows P y Y)]; auto.
  - intros n Hn. unfold within_limit, tasks, mix. pose proof (f_limit P x X n Hn) as A. pose proof (f_limit P y Y n Hn) as B.
    unfold within_limit, tasks in *. destruct (limit P n); auto. rewrite sum_mix. apply mix_le; auto.
Qed.
Lemma share_mix u t x y n : (n < N)%nat -> share P u (mix t x y) n == share P u x n + t * (share P u y n - share P u x n).
Proof.
  intros Hn. pose proof (weight_pos P W n Hn). unfold share, mix.
  rewrite (sum_ext K _ (fun i => u n i * x n i + t * (u n i * y n i - u n i * x n i))) by (intros; ring).
  rewrite sum_mix. field. lra.
Qed.
(** There is a fraction t > 0 of the step along which all numbers a that are above c stay above c + t d. There are
    finitely many numbers. *)
Lemma small_step k (p : nat -> bool) (a b : nat -> Q) c d : (forall j, (j < k)%nat -> p j = true -> c < a j) ->
  exists t, 0 < t /\ t <= 1 /\ forall j, (j < k)%nat -> p j = true -> c + t * d <= a j + t * (b j - a j).
Proof.
  induction k; intros H.
  - exists 1. repeat split; try lra. intros; lia.
  - destruct IHk as (t & T0 & T1 & T2); [intros; apply H; auto; lia|].
    destruct (p k) eqn:Pk.
    2:{ exists t. repeat split; auto. intros j Hj Pj. destruct (Nat.eq_dec j k); [congruence|]. apply T2; auto; lia. }
    pose proof H as Above. specialize (H k ltac:(lia) Pk).
    (* with e = d - (b - a), the inequality to prove is t e <= a - c *)
    destruct (Qlt_le_dec 0 (d - (b k - a k))) as [E|E].
    + set (s := (a k - c) / (d - (b k - a k))).
      assert (S0 : 0 < s) by (apply Qlt_shift_div_l; lra).
      assert (S1 : s * (d - (b k - a k)) == a k - c) by (unfold s; field; lra).
      exists (smaller t s). assert (M0 : 0 < smaller t s) by (minmax; lra). assert (M1 : smaller t s <= t) by (minmax; lra).
      assert (M2 : smaller t s <= s) by (minmax; lra). repeat split; auto; [lra|]. intros j Hj Pj.
      destruct (Nat.eq_dec j k) as [->|Ne].
      * pose proof (prod_le _ _ (d - (b k - a k)) M2 ltac:(lra)). lra.
      * specialize (T2 j ltac:(lia) Pj).
        assert (Mix : smaller t s * (d - (b j - a j)) <= a j - c).
        { destruct (Qlt_le_dec 0 (d - (b j - a j))) as [G|G].
          - pose proof (prod_le _ _ (d - (b j - a j)) M1 ltac:(lra)). lra.
          - assert (c < a j).
            { apply Above; auto; lia. }
            pose proof (prod_nonneg (smaller t s) (- (d - (b j - a j))) ltac:(lra) ltac:(lra)). lra. }
        lra.
    + exists t. repeat split; auto. intros j Hj Pj. destruct (Nat.eq_dec j k) as [->|Ne].
      * pose proof (prod_nonneg t (- (d - (b k - a k))) ltac:(lra) ltac:(lra)). lra.
      * apply T2; auto; lia.
Qed.

(** The max-min axiom is this definition, if the shares of users alone are correct. *)
Theorem max_min_exact u x : feasible P x -> (forall n i, (n < N)%nat -> (i < K)%nat -> 0 <= u n i) ->
  (forall n, user P n -> exists most, is_most P u n most) -> max_min P u 0 x -> no_larger_share u x.
Proof.
  intros F U0 Most O y Y n Un Gain. assert (Hn : (n < N)%nat) by apply Un.
  destruct (any N (fun m => active P m && le (share P u x m) (share P u x n) && lt (share P u y m) (share P u x m))) eqn:E.
  { apply any_iff in E. destruct E as (m & Hm & E). bools. exists m. repeat split; auto. }
  exfalso.
  assert (Keep : forall m, user P m -> share P u x m <= share P u x n -> share P u x m <= share P u y m).
  { intros m Um Le. apply Qnot_lt_le. intro C. rewrite <- not_true_iff_false in E. apply E. apply any_iff.
    exists m. split; [apply Um|]. destruct Um as [_ Am]. rewrite Am. apply le_iff in Le. rewrite Le. apply lt_iff in C. auto. }
  destruct (small_step N (fun m => active P m && lt (share P u x n) (share P u x m)) (share P u x) (share P u y)
    (share P u x n) (share P u y n - share P u x n)) as (t & T0 & T1 & T2).
  { intros j Hj Pj. bools. auto. }
  set (z := mix t x y). assert (Fz : feasible P z) by (apply mix_feasible; auto; lra).
  destruct (Most n Un) as (most & Mn).
  set (L := share P u x n + t * (share P u y n - share P u x n)).
  assert (Lz : share P u z n == L) by (apply share_mix; auto).
  assert (Step : 0 < t * (share P u y n - share P u x n)) by (apply Qmult_lt_0_compat; lra).
  assert (Mp : 0 < most).
  { destruct Mn as [A _]. assert (Ry : runs P n (full P) (y n)).
    { constructor.
      - intros. apply (f_nonneg P y Y); auto.
      - intros. apply (f_can P y Y); auto.
      - intros i r Hi Hr. pose proof (f_rows P y Y i r Hi Hr) as R. unfold load in R.
        assert (y n i * takes P n i r <= sum N (fun m => y m i * takes P m i r)); [|lra].
        apply (sum_term N (fun m => y m i * takes P m i r)); auto. intros.
        apply prod_nonneg; [apply (f_nonneg P y Y)|apply takes_nonneg]; auto. }
    specialize (A (y n) Ry (f_limit P y Y n Hn)). cbv beta zeta in A. fold (share P u y n) in A.
    assert (0 <= share P u x n); [|lra]. unfold share. pose proof (weight_pos P W n Hn).
    apply quotient_nonneg; [|lra]. apply sum_nonneg. intros i Hi. apply prod_nonneg; auto. apply (f_nonneg P x F); auto. }
  assert (D : L - share P u x n <= 0 * most); [|unfold L in D; lra].
  apply (O n z L most); auto; [lra|]. intros m Um Ne. assert (Hm : (m < N)%nat) by apply Um.
  pose proof (share_mix u t x y m Hm) as Sm. fold z in Sm. destruct (Qlt_le_dec (share P u x n) (share P u x m)) as [A|A].
  - assert (B : L <= share P u x m + t * (share P u y m - share P u x m)).
    { apply T2; auto. destruct Um as [_ Am]. rewrite Am. apply lt_iff in A. auto. }
    minmax; lra.
  - specialize (Keep m Um A). pose proof (prod_nonneg t (share P u y m - share P u x m) ltac:(lra) ltac:(lra)).
    minmax; lra.
Qed.

(** A finite set that is not empty has a least element. *)
Lemma argmin n (p : nat -> bool) (f : nat -> Q) : (exists k, (k < n)%nat /\ p k = true) ->
  exists a, (a < n)%nat /\ p a = true /\ forall b, (b < n)%nat -> p b = true -> f a <= f b.
Proof.
  induction n; intros (k & Hk & Pk); [lia|]. destruct (any n p) eqn:E.
  - apply any_iff in E. destruct (IHn E) as (a & Ha & Pa & Min).
    destruct (p n) eqn:Pn; [destruct (Qlt_le_dec (f n) (f a))|].
    + exists n. repeat split; auto. intros b Hb Pb. destruct (Nat.eq_dec b n) as [->|]; [lra|].
      assert (f a <= f b) by (apply Min; auto; lia). lra.
    + exists a. repeat split; auto. intros b Hb Pb. destruct (Nat.eq_dec b n) as [->|]; auto. apply Min; auto; lia.
    + exists a. repeat split; auto. intros b Hb Pb. destruct (Nat.eq_dec b n) as [->|]; [congruence|]. apply Min; auto; lia.
  - assert (None_ : forall b, (b < n)%nat -> p b = true -> False).
    { intros b Hb Pb. rewrite <- not_true_iff_false in E. apply E. apply any_iff. exists b. auto. }
    exists k. repeat split; auto. intros b Hb Pb.
    assert (b = k); [|subst; lra]. destruct (Nat.eq_dec b n), (Nat.eq_dec k n); try lia; exfalso.
    + apply (None_ k); auto; lia.
    + apply (None_ b); auto; lia.
    + apply (None_ b); auto; lia.
Qed.
(** All max-min allocations have the same shares. *)
Theorem max_min_unique u x y : feasible P x -> feasible P y -> no_larger_share u x -> no_larger_share u y ->
  forall n, user P n -> share P u x n == share P u y n.
Proof.
  intros Fx Fy Mx My n Un. set (a := share P u x). set (b := share P u y).
  destruct (eqq (a n) (b n)) eqn:E; [apply eqq_iff; auto|]. exfalso.
  destruct (argmin N (fun m => active P m && negb (eqq (a m) (b m))) (fun m => smaller (a m) (b m)))
    as (k & Hk & Pk & Min).
  { exists n. destruct Un as [Hn An]. rewrite An, E. auto. }
  apply andb_true_iff in Pk. destruct Pk as [Ak Dk]. apply negb_true_iff in Dk. rewrite <- not_true_iff_false, eqq_iff in Dk.
  assert (Least : forall m, user P m -> ~ a m == b m -> smaller (a k) (b k) <= smaller (a m) (b m)).
  { intros m [Hm Am] D. apply Min; auto. rewrite Am. apply andb_true_iff. split; auto. apply negb_true_iff.
    rewrite <- not_true_iff_false, eqq_iff. auto. }
  assert (Uk : user P k) by (split; auto).
  destruct (Q_dec (a k) (b k)) as [[L|L]|L]; [| |contradiction].
  - destruct (Mx y Fy k Uk L) as (m & Um & A & B). fold (a m) (a k) (b m) in A, B.
    specialize (Least m Um ltac:(lra)). minmax; lra.
  - destruct (My x Fx k Uk L) as (m & Um & A & B). fold (a m) (b k) (b m) in A, B.
    specialize (Least m Um ltac:(lra)). minmax; lra.
Qed.
End On.
