(** Proves that `ps-dsf-tdm` has an answer. If all classes are shared by time, with or without limits on tasks, a
    rational allocation is proportionally fair within 0 (docs/theory.md, section 4, Fact 5). The conditions are linear
    in the prices p of classes and q of tasks, the worth r of a task, and the amount b that each user spends on each
    class. Approximate answers come arbitrarily close to them. The spending does not determine the use of classes whose
    price is 0, so x states the use. *)
From Coq Require Import QArith Qfield Arith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Arithmetic Repair Filled Market Duality Programme Exists ExistsFair Closure.
Open Scope Q_scope.

Section On.
Variable P : problem.
Notation N := (users P). Notation K := (classes P). Notation M := (resources P).
Hypothesis W : well_formed P.
Hypothesis Timed : forall i, (i < K)%nat -> timed P i = true.

Definition able (n i : nat) : bool := active P n && lt 0 (gamma P n i).
Lemma able_iff n i : able n i = true <-> active P n = true /\ 0 < gamma P n i.
Proof. unfold able. rewrite andb_true_iff, lt_iff. reflexivity. Qed.
Definition where_able (f : nat -> nat -> Q) (n i : nat) : Q := if able n i then f n i else 0.
Definition cost (p : nat -> Q) (n i : nat) : Q := / gamma P n i * p i.
(** The conditions of an answer, up to e *)
Record priced (e : Q) (p q r : nat -> Q) (b x : nat -> nat -> Q) : Prop := {
  c_p : forall i, (i < K)%nat -> - p i <= e;
  c_class : forall i, (i < K)%nat ->
    sum N (fun n => where_able b n i) - p i <= e /\ p i - sum N (fun n => where_able b n i) <= e /\
    sum N (fun n => where_able (fun n i => / gamma P n i * x n i) n i) - 1 <= e;
  c_user : forall n, user P n -> - q n <= e /\ weight P n / g P n - r n <= e;
  c_able : forall n i, (n < N)%nat -> (i < K)%nat -> able n i = true ->
    - b n i <= e /\ - x n i <= e /\ r n - cost p n i - q n <= e /\
    (b n i <= e \/ cost p n i + q n - r n <= e) /\ (x n i <= e \/ cost p n i + q n - r n <= e);
  c_limit : forall n T, user P n -> limit P n = Some T ->
    sum K (where_able b n) - weight P n + T * q n <= e /\ weight P n - sum K (where_able b n) - T * q n <= e /\
    sum K (where_able x n) - T <= e /\ weight P n - T * r n <= e /\
    (q n <= e \/ T * r n - weight P n <= e) /\ (q n <= e \/ T - sum K (where_able x n) <= e);
  c_unlimited : forall n, user P n -> limit P n = None ->
    sum K (where_able b n) - weight P n <= e /\ weight P n - sum K (where_able b n) <= e /\ q n <= e }.

Lemma priced_ext e p q r b x p' q' r' b' x' : (forall i, (i < K)%nat -> p' i = p i) -> (forall n, (n < N)%nat -> q' n = q n) ->
  (forall n, (n < N)%nat -> r' n = r n) -> (forall n i, (n < N)%nat -> (i < K)%nat -> b' n i = b n i) ->
  (forall n i, (n < N)%nat -> (i < K)%nat -> x' n i = x n i) -> priced e p q r b x -> priced e p' q' r' b' x'.
Proof.
  intros Hp Hq Hr Hb Hx [A B C D E F].
  assert (S1 : forall i, (i < K)%nat -> sum N (fun n => where_able b' n i) == sum N (fun n => where_able b n i)).
  { intros i Hi. apply sum_ext. intros n Hn. unfold where_able. rewrite Hb by auto. reflexivity. }
  assert (S2 : forall i, (i < K)%nat -> sum N (fun n => where_able (fun n i => / gamma P n i * x' n i) n i) ==
    sum N (fun n => where_able (fun n i => / gamma P n i * x n i) n i)).
  { intros i Hi. apply sum_ext. intros n Hn. unfold where_able. rewrite Hx by auto. reflexivity. }
  assert (S3 : forall n, (n < N)%nat -> sum K (where_able b' n) == sum K (where_able b n)).
  { intros n Hn. apply sum_ext. intros i Hi. unfold where_able. rewrite Hb by auto. reflexivity. }
  assert (S4 : forall n, (n < N)%nat -> sum K (where_able x' n) == sum K (where_able x n)).
  { intros n Hn. apply sum_ext. intros i Hi. unfold where_able. rewrite Hx by auto. reflexivity. }
  constructor.
  - intros i Hi. rewrite Hp by auto. auto.
  - intros i Hi. rewrite S1, S2, Hp by auto. auto.
  - intros n U. rewrite Hq, Hr by apply U. auto.
  - intros n i Hn Hi Ab. unfold cost. rewrite Hb, Hx, Hp, Hq, Hr by auto. apply D; auto.
  - intros n T U L. rewrite S3, S4, Hq, Hr by apply U. apply E; auto.
  - intros n U L. rewrite S3, Hq by apply U. apply F; auto.
Qed.

(** ** The conditions as a formula of Closure.v *)
Notation V := (K + (N + (N + (N * K + N * K))))%nat.
Definition vp (i : nat) : nat := i.
Definition vq (n : nat) : nat := (K + n)%nat.
Definition vr (n : nat) : nat := (K + (N + n))%nat.
Definition vb (n i : nat) : nat := (K + (N + (N + (n * K + i))))%nat.
Definition vx (n i : nat) : nat := (K + (N + (N + (N * K + (n * K + i)))))%nat.
Definition minus (a b : term) : term := Plus a (Times (-(1)) b).
Definition t_able (v : nat -> nat -> nat) (f : nat -> nat -> Q) (n i : nat) : term :=
  if able n i then Times (f n i) (Var (v n i)) else Const 0.
Definition on_class (f : nat -> nat -> Q) v i : term := Sum N (fun n => t_able v f n i).
Definition on_user v n : term := Sum K (t_able v (fun _ _ => 1) n).
Definition t_cost (n i : nat) : term := Times (/ gamma P n i) (Var (vp i)).
Definition neg (a : term) : formula := negative a.
Definition f_class (i : nat) : formula :=
  And (neg (Times (-(1)) (Var (vp i))))
  (And (neg (minus (on_class (fun _ _ => 1) vb i) (Var (vp i))))
  (And (neg (minus (Var (vp i)) (on_class (fun _ _ => 1) vb i)))
    (neg (minus (on_class (fun n i => / gamma P n i) vx i) (Const 1))))).
Definition f_able (n i : nat) : formula :=
  if able n i then
    let gap := minus (Plus (t_cost n i) (Var (vq n))) (Var (vr n)) in
    And (neg (Times (-(1)) (Var (vb n i)))) (And (neg (Times (-(1)) (Var (vx n i))))
    (And (neg (minus (minus (Var (vr n)) (t_cost n i)) (Var (vq n))))
    (And (Or (neg (Var (vb n i))) (neg gap)) (Or (neg (Var (vx n i))) (neg gap)))))
  else Yes.
Definition f_bound (n : nat) : formula :=
  match limit P n with
  | Some T =>
    And (neg (Plus (minus (on_user vb n) (Const (weight P n))) (Times T (Var (vq n)))))
    (And (neg (minus (minus (Const (weight P n)) (on_user vb n)) (Times T (Var (vq n)))))
    (And (neg (minus (on_user vx n) (Const T)))
    (And (neg (minus (Const (weight P n)) (Times T (Var (vr n)))))
    (And (Or (neg (Var (vq n))) (neg (minus (Times T (Var (vr n))) (Const (weight P n)))))
      (Or (neg (Var (vq n))) (neg (minus (Const T) (on_user vx n))))))))
  | None =>
    And (neg (minus (on_user vb n) (Const (weight P n))))
    (And (neg (minus (Const (weight P n)) (on_user vb n))) (neg (Var (vq n))))
  end.
Definition f_user (n : nat) : formula :=
  if active P n then
    And (And (neg (Times (-(1)) (Var (vq n)))) (neg (minus (Const (weight P n / g P n)) (Var (vr n)))))
    (And (all_of K (f_able n)) (f_bound n))
  else Yes.
Definition conditions : formula := And (all_of K f_class) (all_of N f_user).

Lemma over_p i : (i < K)%nat -> (vp i < V)%nat. Proof. unfold vp. lia. Qed.
Lemma over_q n : (n < N)%nat -> (vq n < V)%nat. Proof. unfold vq. lia. Qed.
Lemma over_r n : (n < N)%nat -> (vr n < V)%nat. Proof. unfold vr. lia. Qed.
Lemma over_b n i : (n < N)%nat -> (i < K)%nat -> (vb n i < V)%nat. Proof. unfold vb. nia. Qed.
Lemma over_x n i : (n < N)%nat -> (i < K)%nat -> (vx n i < V)%nat. Proof. unfold vx. nia. Qed.
Lemma over_class f v i : (i < K)%nat -> (forall n, (n < N)%nat -> (v n i < V)%nat) -> over V (on_class f v i).
Proof. intros Hi H n Hn. unfold t_able. destruct (able n i); simpl; auto. Qed.
Lemma over_user v n : (n < N)%nat -> (forall i, (i < K)%nat -> (v n i < V)%nat) -> over V (on_user v n).
Proof. intros Hn H i Hi. unfold t_able. destruct (able n i); simpl; auto. Qed.

Section Sat.
Variables (e : Q) (z : nat -> Q).
Let p i := z (vp i).
Let q n := z (vq n).
Let r n := z (vr n).
Let b n i := z (vb n i).
Let x n i := z (vx n i).
Lemma at_class f v i : value_at z (on_class f v i) == sum N (fun n => where_able (fun n i => f n i * z (v n i)) n i).
Proof. simpl. apply sum_ext. intros n _. unfold t_able, where_able. destruct (able n i); simpl; reflexivity. Qed.
Lemma at_class_b i : value_at z (on_class (fun _ _ => 1) vb i) == sum N (fun n => where_able b n i).
Proof. rewrite at_class. apply sum_ext. intros n _. unfold where_able. destruct (able n i); [unfold b; ring|reflexivity]. Qed.
Lemma at_user v n : value_at z (on_user v n) == sum K (where_able (fun n i => z (v n i)) n).
Proof. simpl. apply sum_ext. intros i _. unfold t_able, where_able. destruct (able n i); simpl; [ring|reflexivity]. Qed.
Lemma neg_iff a c : over V a -> value_at z a == c -> sat V e z (neg a) <-> c <= e.
Proof. intros O E. unfold neg. rewrite sat_negative by auto. rewrite E. reflexivity. Qed.

Ltac overs := simpl over; repeat split; auto using over_p, over_q, over_r, over_b, over_x;
  try (apply over_class; auto; intros; auto using over_b, over_x); try (apply over_user; auto; intros; auto using over_b, over_x).
Lemma class_iff i : (i < K)%nat -> sat V e z (f_class i) <-> (- p i <= e /\
  sum N (fun n => where_able b n i) - p i <= e /\ p i - sum N (fun n => where_able b n i) <= e /\
  sum N (fun n => where_able (fun n i => / gamma P n i * x n i) n i) - 1 <= e).
Proof.
  intros Hi. unfold f_class. cbn [sat].
  rewrite (neg_iff (Times (-(1)) (Var (vp i))) (- p i)); [|overs|simpl; unfold p; ring].
  rewrite (neg_iff (minus (on_class (fun _ _ => 1) vb i) (Var (vp i))) (sum N (fun n => where_able b n i) - p i));
    [|overs|unfold minus; cbn [value_at]; rewrite at_class_b; unfold p; ring].
  rewrite (neg_iff (minus (Var (vp i)) (on_class (fun _ _ => 1) vb i)) (p i - sum N (fun n => where_able b n i)));
    [|overs|unfold minus; cbn [value_at]; rewrite at_class_b; unfold p; ring].
  rewrite (neg_iff (minus (on_class (fun n i => / gamma P n i) vx i) (Const 1))
    (sum N (fun n => where_able (fun n i => / gamma P n i * x n i) n i) - 1));
    [|overs|unfold minus; cbn [value_at]; rewrite at_class; unfold x; ring].
  reflexivity.
Qed.
Lemma able_sat n i : (n < N)%nat -> (i < K)%nat -> able n i = true -> sat V e z (f_able n i) <->
  (- b n i <= e /\ - x n i <= e /\ r n - cost p n i - q n <= e /\
    (b n i <= e \/ cost p n i + q n - r n <= e) /\ (x n i <= e \/ cost p n i + q n - r n <= e)).
Proof.
  intros Hn Hi A. unfold f_able. rewrite A. cbv zeta. cbn [sat].
  rewrite (neg_iff (Times (-(1)) (Var (vb n i))) (- b n i)); [|overs|simpl; unfold b; ring].
  rewrite (neg_iff (Times (-(1)) (Var (vx n i))) (- x n i)); [|overs|simpl; unfold x; ring].
  rewrite (neg_iff (minus (minus (Var (vr n)) (t_cost n i)) (Var (vq n))) (r n - cost p n i - q n));
    [|overs|simpl; unfold r, q, cost, p; ring].
  rewrite (neg_iff (Var (vb n i)) (b n i)); [|overs|reflexivity].
  rewrite (neg_iff (Var (vx n i)) (x n i)); [|overs|reflexivity].
  rewrite (neg_iff (minus (Plus (t_cost n i) (Var (vq n))) (Var (vr n))) (cost p n i + q n - r n));
    [|overs|simpl; unfold r, q, cost, p; ring].
  reflexivity.
Qed.
Lemma limit_iff n : user P n -> sat V e z (f_bound n) <->
  match limit P n with
  | Some T => sum K (where_able b n) - weight P n + T * q n <= e /\ weight P n - sum K (where_able b n) - T * q n <= e /\
    sum K (where_able x n) - T <= e /\ weight P n - T * r n <= e /\
    (q n <= e \/ T * r n - weight P n <= e) /\ (q n <= e \/ T - sum K (where_able x n) <= e)
  | None => sum K (where_able b n) - weight P n <= e /\ weight P n - sum K (where_able b n) <= e /\ q n <= e
  end.
Proof.
  intros [Hn _]. unfold f_bound. destruct (limit P n) as [T|]; cbn [sat].
  - rewrite (neg_iff (Plus (minus (on_user vb n) (Const (weight P n))) (Times T (Var (vq n)))) (sum K (where_able b n) - weight P n + T * q n));
      [|overs|unfold minus; cbn [value_at]; rewrite at_user; unfold b, q; ring].
    rewrite (neg_iff (minus (minus (Const (weight P n)) (on_user vb n)) (Times T (Var (vq n)))) (weight P n - sum K (where_able b n) - T * q n));
      [|overs|unfold minus; cbn [value_at]; rewrite at_user; unfold b, q; ring].
    rewrite (neg_iff (minus (on_user vx n) (Const T)) (sum K (where_able x n) - T));
      [|overs|unfold minus; cbn [value_at]; rewrite at_user; unfold x; ring].
    rewrite (neg_iff (minus (Const (weight P n)) (Times T (Var (vr n)))) (weight P n - T * r n)); [|overs|simpl; unfold r; ring].
    rewrite (neg_iff (Var (vq n)) (q n)); [|overs|reflexivity].
    rewrite (neg_iff (minus (Times T (Var (vr n))) (Const (weight P n))) (T * r n - weight P n)); [|overs|simpl; unfold r; ring].
    rewrite (neg_iff (minus (Const T) (on_user vx n)) (T - sum K (where_able x n)));
      [|overs|unfold minus; cbn [value_at]; rewrite at_user; unfold x; ring].
    reflexivity.
  - rewrite (neg_iff (minus (on_user vb n) (Const (weight P n))) (sum K (where_able b n) - weight P n));
      [|overs|unfold minus; cbn [value_at]; rewrite at_user; unfold b; ring].
    rewrite (neg_iff (minus (Const (weight P n)) (on_user vb n)) (weight P n - sum K (where_able b n)));
      [|overs|unfold minus; cbn [value_at]; rewrite at_user; unfold b; ring].
    rewrite (neg_iff (Var (vq n)) (q n)); [|overs|reflexivity]. reflexivity.
Qed.
Lemma conditions_iff : sat V e z conditions <-> priced e p q r b x.
Proof.
  unfold conditions. change (sat V e z (And ?f ?h)) with (sat V e z f /\ sat V e z h). rewrite !sat_all.
  assert (U : forall n, (n < N)%nat -> sat V e z (f_user n) <-> (active P n = true ->
    (- q n <= e /\ weight P n / g P n - r n <= e) /\ (forall i, (i < K)%nat -> sat V e z (f_able n i)) /\ sat V e z (f_bound n))).
  { intros n Hn. unfold f_user. destruct (active P n); [|simpl; split; auto; discriminate]. cbn [sat]. rewrite sat_all.
    rewrite (neg_iff (Times (-(1)) (Var (vq n))) (- q n)); [|overs|simpl; unfold q; ring].
    rewrite (neg_iff (minus (Const (weight P n / g P n)) (Var (vr n))) (weight P n / g P n - r n)); [|overs|simpl; unfold r; ring].
    split; auto. }
  split.
  - intros [C D]. constructor.
    + intros i Hi. apply (class_iff i Hi). auto.
    + intros i Hi. apply (class_iff i Hi). auto.
    + intros n [Hn A]. apply (U n Hn); auto.
    + intros n i Hn Hi A. pose proof A as A'. apply able_iff in A'. apply (able_sat n i Hn Hi A). apply (U n Hn); auto. apply A'.
    + intros n T [Hn A] L. pose proof (limit_iff n (conj Hn A)) as I. rewrite L in I. apply I. apply (U n Hn); auto.
    + intros n [Hn A] L. pose proof (limit_iff n (conj Hn A)) as I. rewrite L in I. apply I. apply (U n Hn); auto.
  - intros [A B C D E F]. split.
    + intros i Hi. apply (class_iff i Hi). split; auto.
    + intros n Hn. apply (U n Hn). intros Ac. split; [apply C; split; auto|]. split.
      * intros i Hi. destruct (able n i) eqn:Ab; [apply (able_sat n i Hn Hi Ab); auto|]. unfold f_able. rewrite Ab. exact I.
      * apply (limit_iff n (conj Hn Ac)). destruct (limit P n) as [T|] eqn:L; [apply (E n T)|apply F]; auto; split; auto.
Qed.
End Sat.

(** ** An exact solution is a market *)
Lemma able_user n i : (n < N)%nat -> able n i = true -> user P n /\ 0 < gamma P n i.
Proof. intros Hn A. apply able_iff in A. destruct A as [A G]. split; [split; auto|exact G]. Qed.
Lemma able_gamma n i : user P n -> 0 < gamma P n i -> able n i = true.
Proof. intros [_ A] G. apply able_iff. auto. Qed.

Section Exact.
Variables (p q r : nat -> Q) (b x : nat -> nat -> Q).
Hypothesis C : priced 0 p q r b x.
Definition bought (n i : nat) : Q := where_able (fun n i => if lt 0 (p i) then b n i * gamma P n i / p i else x n i) n i.
Definition extra (n : nat) : Q := if active P n then q n else 0.

Lemma r_pos n : user P n -> 0 < r n.
Proof.
  intros U. destruct (c_user _ _ _ _ _ _ C n U) as [_ R]. pose proof (weight_pos P W n ltac:(apply U)) as Wn. pose proof (unit_pos P n U) as G.
  assert (0 < weight P n / g P n) by (apply Qlt_shift_div_l; lra). lra.
Qed.
Lemma p_nonneg i : (i < K)%nat -> 0 <= p i.
Proof. intros Hi. pose proof (c_p _ _ _ _ _ _ C i Hi). lra. Qed.
Lemma cost_pos n i : 0 < gamma P n i -> 0 < p i -> 0 < cost p n i.
Proof. intros G Pp. apply Qmult_lt_0_compat; auto. apply Qinv_lt_0_compat; auto. Qed.
(** Every user has w / r tasks, within its limit. *)
Lemma bought_tasks n : user P n -> tasks P bought n * r n == weight P n /\ within_limit P n (tasks P bought n).
Proof.
  intros U. assert (Hn : (n < N)%nat) by apply U. pose proof (r_pos n U) as R0.
  destruct (c_user _ _ _ _ _ _ C n U) as [Qn _].
  assert (B0 : forall i, (i < K)%nat -> 0 <= where_able b n i).
  { intros i Hi. unfold where_able. destruct (able n i) eqn:A; [|lra]. destruct (c_able _ _ _ _ _ _ C n i Hn Hi A) as (B & _). lra. }
  destruct (Qlt_le_dec 0 (r n - q n)) as [Pos|Non].
  - (* every class has a positive price *)
    assert (E : forall i, (i < K)%nat -> bought n i * (r n - q n) == where_able b n i).
    { intros i Hi. unfold bought, where_able. destruct (able n i) eqn:A; [|ring].
      destruct (able_user n i Hn A) as [_ G]. destruct (c_able _ _ _ _ _ _ C n i Hn Hi A) as (B & _ & L & H & _).
      assert (Cp : 0 < cost p n i) by lra. pose proof (p_nonneg i Hi) as P0.
      assert (Pp : 0 < p i).
      { destruct (Qlt_le_dec 0 (p i)); auto. exfalso. unfold cost in Cp. assert (Z : p i == 0) by lra. rewrite Z in Cp. lra. }
      assert (Lt : lt 0 (p i) = true) by (apply lt_iff; auto). rewrite Lt.
      assert (Ec : cost p n i * gamma P n i == p i) by (unfold cost; field; lra).
      destruct H as [H|H].
      - assert (Z : b n i == 0) by lra. rewrite Z. unfold Qdiv. ring.
      - assert (D : r n - q n == cost p n i) by lra. rewrite D. rewrite <- Ec at 1. field. split; lra. }
    assert (S : tasks P bought n * (r n - q n) == sum K (where_able b n)).
    { unfold tasks. rewrite <- sum_scale_r. apply sum_ext. exact E. }
    destruct (limit P n) as [T|] eqn:L; unfold within_limit; rewrite L.
    + destruct (c_limit _ _ _ _ _ _ C n T U L) as (L1 & L2 & _ & L4 & L5 & _).
      assert (Eb : sum K (where_able b n) == weight P n - T * q n) by lra. rewrite Eb in S.
      destruct L5 as [Z|Z].
      * assert (Z0 : q n == 0) by lra. rewrite Z0 in S. assert (E1 : tasks P bought n * r n == weight P n) by lra. split; [exact E1|].
        apply Qnot_lt_le. intros Lt. pose proof (Qmult_lt_compat_r _ _ _ R0 Lt). lra.
      * assert (Ew : weight P n == T * r n) by lra. assert (Et : tasks P bought n == T).
        { assert (Z1 : (tasks P bought n - T) * (r n - q n) == 0) by lra. apply Qmult_integral in Z1. destruct Z1; lra. }
        split; [rewrite Et; lra|lra].
    + destruct (c_unlimited _ _ _ _ _ _ C n U L) as (L1 & L2 & L3). split; auto. assert (Z0 : q n == 0) by lra. rewrite Z0 in S. lra.
  - (* only classes whose price is 0 are used *)
    destruct (limit P n) as [T|] eqn:L; unfold within_limit; rewrite L.
    2:{ destruct (c_unlimited _ _ _ _ _ _ C n U L) as (_ & _ & L3). lra. }
    destruct (c_limit _ _ _ _ _ _ C n T U L) as (L1 & L2 & L3 & L4 & L5 & L6).
    assert (Ew : weight P n == T * r n) by (destruct L5; lra).
    assert (Ex : sum K (where_able x n) == T) by (destruct L6; lra).
    assert (T0 : 0 <= T) by (apply (limit_nonneg P W n T); auto).
    pose proof (prod_nonneg T (q n - r n) T0 ltac:(lra)) as Tq.
    assert (Sb : sum K (where_able b n) <= 0) by lra.
    assert (Et : tasks P bought n == T).
    { rewrite <- Ex. unfold tasks. apply sum_ext. intros i Hi. unfold bought, where_able. destruct (able n i) eqn:A; [|reflexivity].
      destruct (able_user n i Hn A) as [_ G]. destruct (c_able _ _ _ _ _ _ C n i Hn Hi A) as (B & X & _ & _ & H).
      destruct (lt 0 (p i)) eqn:Pp; [|reflexivity]. apply lt_iff in Pp. pose proof (cost_pos n i G Pp).
      assert (Zx : x n i == 0) by (destruct H; lra).
      pose proof (sum_term K (where_able b n) i B0 Hi) as St. unfold where_able at 1 in St. rewrite A in St.
      assert (Zb : b n i == 0) by lra. rewrite Zx, Zb. unfold Qdiv. ring. }
    rewrite Et. split; lra.
Qed.
Lemma bought_nonneg n i : (n < N)%nat -> (i < K)%nat -> 0 <= bought n i.
Proof.
  intros Hn Hi. unfold bought, where_able. destruct (able n i) eqn:A; [|lra]. destruct (able_user n i Hn A) as [_ G].
  destruct (c_able _ _ _ _ _ _ C n i Hn Hi A) as (B & X & _). destruct (lt 0 (p i)) eqn:Pp; [|lra]. apply lt_iff in Pp.
  apply quotient_nonneg; [apply prod_nonneg|]; lra.
Qed.
Lemma bought_feasible : feasible P bought.
Proof.
  constructor.
  - apply bought_nonneg.
  - intros n i Hn Hi G. unfold bought, where_able. destruct (able n i) eqn:A; [|reflexivity].
    destruct (able_user n i Hn A) as [_ G']. lra.
  - intros i r' Hi Hr. unfold load, full, takes. rewrite Timed by auto. destruct r' as [|r'].
    2:{ rewrite sum_zero by (intros; ring). lra. }
    destruct (c_class _ _ _ _ _ _ C i Hi) as (C1 & C2 & C3). pose proof (p_nonneg i Hi) as P0.
    destruct (lt 0 (p i)) eqn:Pp.
    + apply lt_iff in Pp. rewrite (sum_ext N _ (fun n => where_able b n i * / p i)).
      * rewrite sum_scale_r. assert (E : sum N (fun n => where_able b n i) == p i) by lra. rewrite E, Qmult_inv_r; lra.
      * intros n Hn. unfold bought, where_able. destruct (able n i) eqn:A; [|ring]. destruct (able_user n i Hn A) as [_ G].
        apply lt_iff in Pp. rewrite Pp. apply lt_iff in Pp. field. split; lra.
    + rewrite (sum_ext N _ (fun n => where_able (fun n i => / gamma P n i * x n i) n i)); [lra|].
      intros n Hn. unfold bought, where_able. rewrite Pp. destruct (able n i); ring.
  - intros n Hn. destruct (active P n) eqn:A; [apply bought_tasks; split; auto|].
    assert (Z : tasks P bought n == 0).
    { apply sum_zero. intros i _. unfold bought, where_able, able. rewrite A. reflexivity. }
    unfold within_limit. destruct (limit P n) as [T|] eqn:L; auto. pose proof (limit_nonneg P W n T Hn L). lra.
Qed.
Lemma bought_market : market P bought p extra.
Proof.
  assert (Has : forall n, user P n -> 0 < tasks P bought n).
  { intros n U. destruct (bought_tasks n U) as [E _]. pose proof (r_pos n U) as R0. pose proof (weight_pos P W n ltac:(apply U)).
    apply Qnot_le_lt. intros Le. pose proof (prod_le _ _ _ Le (Qlt_le_weak _ _ R0)). lra. }
  constructor.
  - exact Has.
  - apply p_nonneg.
  - intros n Hn. unfold extra. destruct (active P n) eqn:A; [|split; [lra|reflexivity]].
    destruct (c_user _ _ _ _ _ _ C n (conj Hn A)) as [Qn _]. split; [lra|]. intros L.
    destruct (c_unlimited _ _ _ _ _ _ C n (conj Hn A) L) as (_ & _ & Z). lra.
  - intros n i U Hi G. assert (Hn : (n < N)%nat) by apply U. destruct (bought_tasks n U) as [E _].
    destruct (c_able _ _ _ _ _ _ C n i Hn Hi (able_gamma n i U G)) as (_ & _ & L & _). unfold extra. destruct U as [_ A]. rewrite A.
    specialize (Has n (conj Hn A)). unfold cost in L.
    pose proof (prod_le (r n) (p i * / gamma P n i + q n) (tasks P bought n) ltac:(lra) ltac:(lra)). lra.
  - assert (L1 : sum K p <= sum K (fun i => sum N (fun n => where_able b n i))).
    { apply sum_le. intros i Hi. destruct (c_class _ _ _ _ _ _ C i Hi) as (_ & L & _). lra. }
    rewrite <- (sum_swap N K) in L1.
    assert (L2 : sum N (fun n => sum K (fun i => where_able b n i) + match limit P n with Some t => extra n * t | None => 0 end) <=
      sum N (fun n => if active P n then weight P n else 0)).
    { apply sum_le. intros n Hn. unfold extra. destruct (active P n) eqn:A.
      - destruct (limit P n) as [T|] eqn:L.
        + destruct (c_limit _ _ _ _ _ _ C n T (conj Hn A) L) as (H & _). change (fun i => where_able b n i) with (where_able b n). lra.
        + destruct (c_unlimited _ _ _ _ _ _ C n (conj Hn A) L) as (H & _). change (fun i => where_able b n i) with (where_able b n). lra.
      - rewrite sum_zero; [destruct (limit P n); lra|]. intros i _. unfold where_able, able. rewrite A. reflexivity. }
    rewrite sum_add in L2. lra.
Qed.
End Exact.

(** ** An allocation that is fair within a small gap nearly meets the conditions *)
Definition all_weights : Q := sum N (fun n => if active P n then weight P n else 0).
(** No price of a task is above this multiple of the sum of all payments. *)
Definition dearest : Q :=
  sum N (fun n => sum K (fun i => where_able (fun n i => / gamma P n i) n i)) +
  sum N (fun n => if active P n then match limit P n with Some T => / T | None => 0 end else 0).
Lemma limit_pos n T : user P n -> limit P n = Some T -> 0 < T.
Proof. intros U L. pose proof (unit_pos P n U). pose proof (g_limit P n T L). lra. Qed.

Lemma nearly_priced eta e x : feasible P x -> proportional P (fun _ _ => 1) 1 eta x -> 0 < e -> 0 <= eta -> eta <= 1 ->
  2 * (eta * all_weights) <= e -> eta * all_weights * (1 + 2 * all_weights * dearest) <= e * e ->
  exists p q r b, priced e p q r b x.
Proof.
  intros F O E0 Eta0 Eta1 E1 E2. pose proof O as [Pos _].
  destruct (proportional_prices_exist P W x (fun _ _ => 1) 1 eta O) as (pp & q & Pr & Cost & Paid).
  assert (Vt : forall n, value P (fun _ _ => 1) x n == tasks P x n) by (intros; apply sum_ext; intros; ring).
  assert (U0 : forall n, user P n -> 0 < tasks P x n) by (intros n U; rewrite <- Vt; auto).
  set (w := all_weights) in *. set (omega := eta * w) in *.
  set (p := fun i => pp i 0%nat). set (r := fun n => weight P n / tasks P x n). set (b := fun n i => cost p n i * x n i).
  exists p, q, r, b.
  assert (M0 : (0 < M)%nat) by apply (some_resource P W).
  assert (P0 : forall i, (i < K)%nat -> 0 <= p i) by (intros; apply (of_rows P pp q Pr); auto).
  assert (Q0 : forall n, (n < N)%nat -> 0 <= q n) by (intros n Hn; apply (of_users P pp q Pr n Hn)).
  assert (Qn : forall n, (n < N)%nat -> limit P n = None -> q n == 0) by (intros n Hn; apply (of_users P pp q Pr n Hn)).
  assert (W0 : 0 <= w).
  { apply sum_nonneg. intros n Hn. destruct (active P n); [|lra]. pose proof (weight_pos P W n Hn). lra. }
  assert (O0 : 0 <= omega) by (apply prod_nonneg; auto).
  (* the prices of the single row of each class *)
  assert (Co : forall n i, (n < N)%nat -> (i < K)%nat -> able n i = true -> r n <= cost p n i + q n).
  { intros n i Hn Hi A. destruct (able_user n i Hn A) as [U G]. specialize (Cost n i U Hi G). unfold price_of in Cost.
    assert (E : sum M (fun r => pp i r * takes P n i r) == cost p n i).
    { rewrite (sum_single M _ 0%nat M0); [unfold takes, cost, p; rewrite Timed by auto; ring|].
      intros h _ Ne. unfold takes. rewrite Timed by auto. destruct h; [lia|ring]. }
    rewrite E in Cost. apply Qle_trans with (2 := Cost). unfold r. simpl. rewrite Vt. specialize (U0 n U).
    setoid_replace (weight P n / (tasks P x n * 1) * 1) with (weight P n / tasks P x n) by (field; lra). lra. }
  set (limits := sum N (fun n => match limit P n with Some T => q n * T | None => 0 end)).
  assert (Pd : sum K p + limits <= w + omega).
  { unfold paid in Paid. assert (E : sum K (fun i => sum M (fun r => pp i r * full P i r)) == sum K p).
    { apply sum_ext. intros i Hi. rewrite (sum_single M _ 0%nat M0); [unfold full, p; rewrite Timed by auto; ring|].
      intros h _ Ne. unfold full. rewrite Timed by auto. destruct h; [lia|ring]. }
    rewrite E in Paid. fold limits in Paid. apply Qle_trans with (1 := Paid).
    assert (Es : sum N (fun n => if active P n then weight P n / power (value P (fun _ _ => 1) x n) 1 * value P (fun _ _ => 1) x n else 0) == w).
    { apply sum_ext. intros n Hn. destruct (active P n) eqn:A; [|reflexivity]. specialize (U0 n (conj Hn A)). simpl. rewrite Vt. field. lra. }
    rewrite Es. unfold omega. lra. }
  assert (Lim0 : forall n, (n < N)%nat -> 0 <= match limit P n with Some T => q n * T | None => 0 end).
  { intros n Hn. destruct (limit P n) as [T|] eqn:L; [|lra]. apply prod_nonneg; auto. apply (limit_nonneg P W n T); auto. }
  assert (Limits0 : 0 <= limits) by (apply sum_nonneg; auto).
  assert (Sp0 : 0 <= sum K p) by (apply sum_nonneg; auto).
  assert (Omw : omega <= w) by (unfold omega; pose proof (prod_le _ _ w Eta1 W0); lra).
  (* the gaps are nonnegative and add up to omega *)
  set (gap := fun n i => where_able (fun n i => (cost p n i + q n - r n) * x n i) n i).
  set (idle := fun i => p i * (1 - sum N (fun n => where_able (fun n i => / gamma P n i * x n i) n i))).
  set (unused := fun n => match limit P n with Some T => q n * (T - tasks P x n) | None => 0 end).
  assert (Able : forall n i, (n < N)%nat -> (i < K)%nat -> able n i = false -> x n i == 0).
  { intros n i Hn Hi A. destruct (active P n) eqn:Ac; [|apply (inactive_entry P W x n i); auto].
    apply (f_can P x F); auto. pose proof (gamma_nonneg P W n i Hn Hi). unfold able in A. rewrite Ac in A. simpl in A. apply lt_false in A. lra. }
  assert (Tk : forall n, (n < N)%nat -> sum K (where_able x n) == tasks P x n).
  { intros n Hn. apply sum_ext. intros i Hi. unfold where_able. destruct (able n i) eqn:A; [reflexivity|]. rewrite Able by auto. reflexivity. }
  assert (Gap0 : forall n i, (n < N)%nat -> (i < K)%nat -> 0 <= gap n i).
  { intros n i Hn Hi. unfold gap, where_able. destruct (able n i) eqn:A; [|lra]. specialize (Co n i Hn Hi A).
    apply prod_nonneg; [lra|apply (f_nonneg P x F); auto]. }
  assert (Row : forall i, (i < K)%nat -> sum N (fun n => where_able (fun n i => / gamma P n i * x n i) n i) <= 1).
  { intros i Hi. pose proof (f_rows P x F i 0%nat Hi M0) as L. unfold load, full, takes in L. rewrite Timed in L by auto.
    apply Qle_trans with (2 := L). apply sum_le. intros n Hn. unfold where_able. destruct (able n i) eqn:A; [lra|]. rewrite Able by auto. lra. }
  assert (Idle0 : forall i, (i < K)%nat -> 0 <= idle i).
  { intros i Hi. unfold idle. specialize (Row i Hi). apply prod_nonneg; auto. lra. }
  assert (Unused0 : forall n, (n < N)%nat -> 0 <= unused n).
  { intros n Hn. unfold unused. pose proof (f_limit P x F n Hn) as L. unfold within_limit in L. destruct (limit P n) as [T|]; [|lra].
    apply prod_nonneg; auto. lra. }
  assert (All : sum N (fun n => sum K (gap n)) + sum K idle + sum N unused <= omega).
  { assert (G : sum N (fun n => sum K (gap n)) ==
      sum N (fun n => sum K (fun i => where_able (fun n i => cost p n i * x n i) n i)) + sum N (fun n => q n * tasks P x n) + -(1) * w).
    { unfold w, all_weights. rewrite <- sum_scale, <- !sum_add. apply sum_ext. intros n Hn.
      assert (S : sum K (gap n) == sum K (fun i => where_able (fun n i => cost p n i * x n i) n i) + (q n - r n) * sum K (where_able x n)).
      { rewrite <- sum_scale, <- sum_add. apply sum_ext. intros i _. unfold gap, where_able. destruct (able n i); ring. }
      rewrite S, Tk by auto. destruct (active P n) eqn:A.
      - specialize (U0 n (conj Hn A)). unfold r. field. lra.
      - rewrite (inactive_tasks P W x n) by auto. ring. }
    assert (I : sum K idle == sum K p + -(1) * sum N (fun n => sum K (fun i => where_able (fun n i => cost p n i * x n i) n i))).
    { rewrite (sum_swap N K), <- sum_scale, <- sum_add. apply sum_ext. intros i _. unfold idle.
      assert (S : sum N (fun n => where_able (fun n i => cost p n i * x n i) n i) == p i * sum N (fun n => where_able (fun n i => / gamma P n i * x n i) n i)).
      { rewrite <- sum_scale. apply sum_ext. intros n _. unfold where_able, cost. destruct (able n i); ring. }
      rewrite S. ring. }
    assert (Un : sum N unused == limits + -(1) * sum N (fun n => q n * tasks P x n)).
    { unfold limits. rewrite <- sum_scale, <- sum_add. apply sum_ext. intros n Hn. unfold unused. destruct (limit P n) as [T|] eqn:L; [ring|].
      rewrite Qn by auto. ring. }
    rewrite G, I, Un. lra. }
  assert (SG : forall n i, (n < N)%nat -> (i < K)%nat -> gap n i <= omega).
  { intros n i Hn Hi. pose proof (sum_term K (gap n) i ltac:(auto) Hi).
    pose proof (sum_term N (fun n => sum K (gap n)) n ltac:(intros; apply sum_nonneg; auto) Hn) as S2. cbv beta in S2.
    pose proof (sum_nonneg K idle Idle0). pose proof (sum_nonneg N unused Unused0). lra. }
  assert (SGn : forall n, (n < N)%nat -> 0 <= sum K (gap n) /\ sum K (gap n) <= omega).
  { intros n Hn. split; [apply sum_nonneg; auto|]. 
    pose proof (sum_term N (fun n => sum K (gap n)) n ltac:(intros; apply sum_nonneg; auto) Hn) as S2. cbv beta in S2.
    pose proof (sum_nonneg K idle Idle0). pose proof (sum_nonneg N unused Unused0). lra. }
  assert (SI : forall i, (i < K)%nat -> idle i <= omega).
  { intros i Hi. pose proof (sum_term K idle i Idle0 Hi). pose proof (sum_nonneg N unused Unused0).
    pose proof (sum_nonneg N (fun n => sum K (gap n)) ltac:(intros; apply sum_nonneg; auto)). lra. }
  assert (SU : forall n, (n < N)%nat -> unused n <= omega).
  { intros n Hn. pose proof (sum_term N unused n Unused0 Hn). pose proof (sum_nonneg K idle Idle0).
    pose proof (sum_nonneg N (fun n => sum K (gap n)) ltac:(intros; apply sum_nonneg; auto)). lra. }
  (* upper bounds on prices *)
  assert (D1 : forall n i, (n < N)%nat -> (i < K)%nat -> 0 <= where_able (fun n i => / gamma P n i) n i).
  { intros n i Hn Hi. unfold where_able. destruct (able n i) eqn:A; [|lra]. destruct (able_user n i Hn A) as [_ G].
    apply Qinv_le_0_compat. lra. }
  assert (D2 : forall n, (n < N)%nat -> 0 <= if active P n then match limit P n with Some T => / T | None => 0 end else 0).
  { intros n Hn. destruct (active P n) eqn:A; [|lra]. destruct (limit P n) as [T|] eqn:L; [|lra].
    apply Qinv_le_0_compat. pose proof (limit_pos n T (conj Hn A) L). lra. }
  assert (S1 : forall n i, (n < N)%nat -> (i < K)%nat -> able n i = true -> / gamma P n i <=
    sum N (fun n => sum K (fun i => where_able (fun n i => / gamma P n i) n i))).
  { intros n i Hn Hi A. pose proof (sum_term K (fun i => where_able (fun n i => / gamma P n i) n i) i ltac:(auto) Hi) as T1.
    pose proof (sum_term N (fun n => sum K (fun i => where_able (fun n i => / gamma P n i) n i)) n
      ltac:(intros; apply sum_nonneg; auto) Hn) as T2. cbv beta in T1, T2. unfold where_able at 1 in T1. rewrite A in T1. lra. }
  assert (S2 : forall n T, user P n -> limit P n = Some T -> / T <=
    sum N (fun n => if active P n then match limit P n with Some T => / T | None => 0 end else 0)).
  { intros n T [Hn A] L. pose proof (sum_term N _ n D2 Hn) as T1. cbv beta in T1. rewrite A, L in T1. exact T1. }
  assert (Z1 : 0 <= sum N (fun n => sum K (fun i => where_able (fun n i => / gamma P n i) n i)))
    by (apply sum_nonneg; intros; apply sum_nonneg; auto).
  assert (Z2 : 0 <= sum N (fun n => if active P n then match limit P n with Some T => / T | None => 0 end else 0)) by (apply sum_nonneg; auto).
  assert (De : dearest == sum N (fun n => sum K (fun i => where_able (fun n i => / gamma P n i) n i)) +
    sum N (fun n => if active P n then match limit P n with Some T => / T | None => 0 end else 0)) by reflexivity.
  set (d1 := sum N (fun n => sum K (fun i => where_able (fun n i => / gamma P n i) n i))) in *.
  set (d2 := sum N (fun n => if active P n then match limit P n with Some T => / T | None => 0 end else 0)) in *.
  assert (Pi : forall i, (i < K)%nat -> p i <= 2 * w).
  { intros i Hi. pose proof (sum_term K p i P0 Hi). lra. }
  assert (Cb : forall n i, (n < N)%nat -> (i < K)%nat -> able n i = true -> 0 <= cost p n i /\ cost p n i <= 2 * w * d1).
  { intros n i Hn Hi A. destruct (able_user n i Hn A) as [_ G]. assert (I0 : 0 <= / gamma P n i) by (apply Qinv_le_0_compat; lra).
    unfold cost. split; [apply prod_nonneg; auto|].
    pose proof (prod_le_l _ _ _ (Pi i Hi) I0) as A1. pose proof (prod_le _ _ (2 * w) (S1 n i Hn Hi A) ltac:(lra)). lra. }
  assert (Dw : 0 <= 2 * w * d1) by (apply prod_nonneg; lra). assert (Dw2 : 0 <= 2 * w * d2) by (apply prod_nonneg; lra).
  assert (Small : forall c, 0 <= c -> c <= 1 + 2 * w * dearest -> c * omega <= e * e).
  { intros c C0 C1. apply Qle_trans with (2 := E2). rewrite (Qmult_comm omega). apply prod_le; auto. }
  (* only one of the two factors can be above e *)
  assert (Either : forall c s t, 0 <= c -> c <= 1 + 2 * w * dearest -> 0 <= t -> s * t <= omega -> s <= e \/ c * t <= e).
  { intros c s t C0 C1 T0 H. destruct (Qlt_le_dec e s) as [L|L]; [right|left; auto].
    pose proof (prod_le e s t ltac:(lra) T0) as A1. pose proof (prod_le_l (e * t) omega c ltac:(lra) C0) as A2.
    pose proof (Small c C0 C1) as A3. apply Qnot_lt_le. intros B. pose proof (Qmult_lt_compat_r _ _ _ E0 B). lra. }
  assert (Dd : 2 * w * dearest == 2 * w * d1 + 2 * w * d2) by (rewrite De; ring).
  assert (Rb : forall n T, user P n -> limit P n = Some T -> 0 <= r n /\ r n <= 2 * w * dearest).
  { intros n T U L. assert (Hn : (n < N)%nat) by apply U. split.
    - unfold r. specialize (U0 n U). pose proof (weight_pos P W n Hn). apply quotient_nonneg; lra.
    - destruct (runs_somewhere P n U) as (i & Hi & G). pose proof (able_gamma n i U G) as A.
      pose proof (Co n i Hn Hi A). destruct (Cb n i Hn Hi A) as [_ C2]. pose proof (limit_pos n T U L) as T0.
      pose proof (sum_term N _ n Lim0 Hn) as St. cbv beta in St. rewrite L in St. fold limits in St.
      assert (I0 : 0 <= / T) by (apply Qinv_le_0_compat; lra).
      pose proof (prod_le (q n * T) (2 * w) (/ T) ltac:(lra) I0) as A1. pose proof (prod_le_l _ _ (2 * w) (S2 n T U L) ltac:(lra)) as A2.
      assert (Eq : q n * T * / T == q n) by (field; lra). lra. }
  assert (Bp : forall i, sum N (fun n => where_able b n i) == p i - idle i).
  { intros i. unfold idle. assert (S : sum N (fun n => where_able b n i) == p i * sum N (fun n => where_able (fun n i => / gamma P n i * x n i) n i)).
    { rewrite <- sum_scale. apply sum_ext. intros n _. unfold where_able, b, cost. destruct (able n i); ring. }
    rewrite S. ring. }
  assert (Bn : forall n, user P n -> sum K (where_able b n) == weight P n - q n * tasks P x n + sum K (gap n)).
  { intros n U. assert (Hn : (n < N)%nat) by apply U.
    assert (S : sum K (gap n) == sum K (where_able b n) + (q n - r n) * sum K (where_able x n)).
    { rewrite <- sum_scale, <- sum_add. apply sum_ext. intros i _. unfold gap, where_able, b. destruct (able n i); ring. }
    rewrite S, Tk by auto. specialize (U0 n U). unfold r. field. lra. }
  constructor.
  - intros i Hi. specialize (P0 i Hi). lra.
  - intros i Hi. rewrite Bp. specialize (SI i Hi). specialize (Idle0 i Hi). specialize (Row i Hi). repeat split; lra.
  - intros n U. assert (Hn : (n < N)%nat) by apply U. specialize (Q0 n Hn). split; [lra|]. unfold r.
    pose proof (tasks_at_most P W x n F Hn) as G. specialize (U0 n U). pose proof (weight_pos P W n Hn) as Wn.
    assert (L : weight P n / g P n <= weight P n / tasks P x n).
    { apply quotient_le; [lra|]. assert (Eq : weight P n / tasks P x n * g P n == weight P n * g P n / tasks P x n) by (field; lra).
      rewrite Eq. apply le_quotient; auto. apply prod_le_l; lra. }
    lra.
  - intros n i Hn Hi A. pose proof (f_nonneg P x F n i Hn Hi) as X0. destruct (Cb n i Hn Hi A) as [C1 C2]. pose proof (Co n i Hn Hi A) as C3.
    pose proof (SG n i Hn Hi) as G. unfold gap, where_able in G. rewrite A in G.
    split; [unfold b; pose proof (prod_nonneg _ _ C1 X0); lra|]. split; [lra|]. split; [lra|]. split.
    + destruct (Either (cost p n i) _ _ C1 ltac:(lra) X0 G); [right; auto|left; auto].
    + destruct (Either 1 _ _ ltac:(lra) ltac:(lra) X0 G); [right; auto|left; lra].
  - intros n T U L. assert (Hn : (n < N)%nat) by apply U. destruct (SGn n Hn) as [G1 G2]. pose proof (Unused0 n Hn) as N1. pose proof (SU n Hn) as N2.
    unfold unused in N1, N2. rewrite L in N1, N2. rewrite (Bn n U), Tk by auto. pose proof (f_limit P x F n Hn) as Li. unfold within_limit in Li. rewrite L in Li.
    destruct (Rb n T U L) as [R0 R1]. specialize (U0 n U). assert (Er : r n * tasks P x n == weight P n) by (unfold r; field; lra).
    pose proof (prod_nonneg (r n) (T - tasks P x n) R0 ltac:(lra)) as Rt.
    split; [lra|]. split; [lra|]. split; [lra|]. split; [lra|]. split.
    + destruct (Either (r n) (q n) (T - tasks P x n) R0 ltac:(lra) ltac:(lra) N2); [left; auto|right; lra].
    + destruct (Either 1 (q n) (T - tasks P x n) ltac:(lra) ltac:(lra) ltac:(lra) N2); [left; auto|right; lra].
  - intros n U L. assert (Hn : (n < N)%nat) by apply U. destruct (SGn n Hn) as [G1 G2]. rewrite (Bn n U). rewrite (Qn n Hn L). repeat split; lra.
Qed.

(** The optimum of Fact 5, with limits, and prices that prove it *)
Theorem ps_dsf_tdm_exists : exists x p q, feasible P x /\ market P x p q /\ proportional P (fun _ _ => 1) 1 0 x.
Proof.
  destruct (closure (K + (N + (N + (N * K + N * K))))%nat conditions) as (z & S).
  - intros e E0. set (w := all_weights). set (c := 1 + 2 * w * dearest).
    assert (W0 : 0 <= w).
    { apply sum_nonneg. intros n Hn. destruct (active P n); [|lra]. pose proof (weight_pos P W n Hn). lra. }
    assert (D0 : 0 <= dearest).
    { unfold dearest. assert (0 <= sum N (fun n => sum K (fun i => where_able (fun n i => / gamma P n i) n i))).
      { apply sum_nonneg. intros n Hn. apply sum_nonneg. intros i Hi. unfold where_able. destruct (able n i) eqn:A; [|lra].
        destruct (able_user n i Hn A) as [_ G]. apply Qinv_le_0_compat. lra. }
      assert (0 <= sum N (fun n => if active P n then match limit P n with Some T => / T | None => 0 end else 0)).
      { apply sum_nonneg. intros n Hn. destruct (active P n) eqn:A; [|lra]. destruct (limit P n) as [T|] eqn:L; [|lra].
        apply Qinv_le_0_compat. pose proof (limit_pos n T (conj Hn A) L). lra. }
      lra. }
    assert (C1 : 1 <= c) by (unfold c; pose proof (prod_nonneg (2 * w) dearest ltac:(lra) D0); lra).
    assert (Cw : 0 < c * (w + 1)) by (apply Qmult_lt_0_compat; lra).
    set (eta := smaller 1 (smaller (e / (2 * (w + 1))) (e * e / (c * (w + 1))))).
    assert (Ee : 0 < e * e) by (apply Qmult_lt_0_compat; auto).
    assert (A1 : 0 < e / (2 * (w + 1))) by (apply Qlt_shift_div_l; lra).
    assert (A2 : 0 < e * e / (c * (w + 1))) by (apply Qlt_shift_div_l; lra).
    assert (Eta : 0 < eta /\ eta <= 1 /\ eta <= e / (2 * (w + 1)) /\ eta <= e * e / (c * (w + 1))) by (unfold eta; minmax; repeat split; lra).
    destruct Eta as (T0 & T1 & T2 & T3).
    destruct (proportional_of_tasks_exists P 1 eta W ltac:(lia) T0) as (x & F & O).
    destruct (nearly_priced eta e x F O E0) as (p & q & r & b & C); [lra|auto| | |].
    + fold w. pose proof (prod_le _ _ (2 * (w + 1)) T2 ltac:(lra)) as B.
      assert (Eq : e / (2 * (w + 1)) * (2 * (w + 1)) == e) by (field; lra). lra.
    + fold w. fold c. pose proof (prod_le _ _ (c * (w + 1)) T3 ltac:(lra)) as B.
      assert (Eq : e * e / (c * (w + 1)) * (c * (w + 1)) == e * e) by (field; split; lra).
      pose proof (prod_nonneg eta c ltac:(lra) ltac:(lra)). lra.
    + set (h := fun k => if Nat.ltb k (N * K) then b (k / K)%nat (k mod K)%nat else x ((k - N * K) / K)%nat ((k - N * K) mod K)%nat).
      exists (fun k => if Nat.ltb k K then p k else if Nat.ltb (k - K) N then q (k - K)%nat
        else if Nat.ltb (k - K - N) N then r (k - K - N)%nat else h (k - K - N - N)%nat).
      assert (Split : forall n i, (i < K)%nat -> ((n * K + i) / K = n)%nat /\ ((n * K + i) mod K = i)%nat).
      { intros n i Hi. rewrite Nat.div_add_l, Nat.div_small, Nat.add_0_r by lia. split; [reflexivity|].
        replace (n * K + i)%nat with (i + n * K)%nat by lia. rewrite Nat.mod_add, Nat.mod_small by lia. reflexivity. }
      assert (Less : forall a c, (a < c)%nat -> Nat.ltb a c = true) by (intros; apply Nat.ltb_lt; auto).
      assert (More : forall a c, (c <= a)%nat -> Nat.ltb a c = false) by (intros; apply Nat.ltb_ge; auto).
      apply conditions_iff. apply (priced_ext e p q r b x); auto.
      * intros i Hi. unfold vp. rewrite Less by auto. reflexivity.
      * intros n Hn. unfold vq. rewrite More by lia. rewrite Less by lia. f_equal. lia.
      * intros n Hn. unfold vr. rewrite More by lia. rewrite More by lia. rewrite Less by lia. f_equal. lia.
      * intros n i Hn Hi. unfold vb. rewrite More by lia. rewrite More by lia. rewrite More by lia.
        replace (K + (N + (N + (n * K + i))) - K - N - N)%nat with (n * K + i)%nat by lia. unfold h.
        rewrite Less by nia. destruct (Split n i Hi) as [-> ->]. reflexivity.
      * intros n i Hn Hi. unfold vx. rewrite More by lia. rewrite More by lia. rewrite More by lia.
        replace (K + (N + (N + (N * K + (n * K + i)))) - K - N - N)%nat with (N * K + (n * K + i))%nat by lia. unfold h.
        rewrite More by lia. replace (N * K + (n * K + i) - N * K)%nat with (n * K + i)%nat by lia.
        destruct (Split n i Hi) as [-> ->]. reflexivity.
  - apply conditions_iff in S.
    pose proof (bought_market _ _ _ _ _ S) as Mk. pose proof (bought_feasible _ _ _ _ _ S) as F.
    eexists _, _, _. split; [exact F|]. split; [exact Mk|]. apply (market_is_proportional P W Timed _ _ _ Mk).
Qed.
End On.
