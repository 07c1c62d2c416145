(** Gives problems without an answer. In the first problem, three users share two resources. No rational allocation is
    proportionally fair within 0. Two of the users need one resource each. The third user needs both resources, and
    twice as much of the second one. It would have (3 - sqrt 3) / 6 tasks. In the second problem, two resources are
    bottlenecks, and classes have them in different proportions. No allocation is bottleneck fair. *)
From Coq Require Import ZArith QArith Qfield Arith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Arithmetic Checker Soundness.
Open Scope Q_scope.

Lemma no_root_in_integers n : forall p d : Z, (0 < d)%Z -> (d <= Z.of_nat n)%Z -> (p * p = 3 * (d * d))%Z -> False.
Proof.
  assert (Three : forall p d : Z, (p * p = 3 * d)%Z -> exists k, p = (3 * k)%Z).
  { intros p d E. pose proof (Z.div_mod p 3 ltac:(lia)) as D. pose proof (Z.mod_pos_bound p 3 ltac:(lia)) as B.
    set (k := (p / 3)%Z) in *. set (r := (p mod 3)%Z) in *. exists k.
    assert (C : (r * r = 3 * (d - 3 * (k * k) - 2 * (k * r)))%Z) by (rewrite D in E; lia).
    assert (r = 0 \/ r = 1 \/ r = 2)%Z as [A|[A|A]] by lia; rewrite A in *; lia. }
  induction n; intros p d D0 D1 E; [lia|]. destruct (Three p (d * d)%Z E) as (k & K).
  assert (E1 : (d * d = 3 * (k * k))%Z) by (rewrite K in E; lia). destruct (Three d (k * k)%Z E1) as (e & H).
  apply (IHn k e); [lia|lia|]. rewrite H in E1. lia.
Qed.
Lemma no_root t : ~ t * t == 3.
Proof.
  destruct t as [p d]. unfold Qeq, Qmult. cbn [Qnum Qden]. intros E.
  apply (no_root_in_integers (Pos.to_nat d) p (Zpos d)); lia.
Qed.

Definition needs (n r : nat) : Q := match n, r with 0%nat, 0%nat | 1%nat, 1%nat | 2%nat, 0%nat => 1 | 2%nat, 1%nat => 2 | _, _ => 0 end.
Definition three : problem :=
  {| users := 3; classes := 1; resources := 2; weight := fun _ => 1; gang := fun _ => 1; count := fun _ => 1; capacity := fun _ _ => 1;
     base := needs; demand := fun n _ r => needs n r; limit := fun _ => None; allowed := fun _ _ => true;
     stated := fun _ _ => None; criterion := fun _ _ => None; timed := fun _ => false;
     alone := fun n _ => match n with 2%nat => 1 # 2 | _ => 1 end |}.

(** User 2 has s tasks, and the other users have the rest of the resources. *)
Definition leaves (s : Q) (n i : nat) : Q := match n with 0%nat => 1 - s | 1%nat => 1 - 2 * s | _ => s end.
Lemma leaves_feasible s : 0 <= s -> 2 * s <= 1 -> feasible three (leaves s).
Proof.
  intros S0 S1. constructor; unfold within_limit; simpl; try exact (fun _ _ => I).
  - intros [|[|[|n]]] i Hn Hi; simpl; try lra; lia.
  - intros [|[|[|n]]] [|i] Hn Hi; try lia; unfold gamma; simpl; intros G; discriminate.
  - intros [|i] [|[|r]] Hi Hr; try lia; unfold load, full, takes; simpl; lra.
Qed.

Theorem no_exact_answer : well_formed three /\ forall x, feasible three x -> ~ proportional three (fun _ _ => 1) 1 0 x.
Proof.
  split; [apply check_well_formed_sound; vm_compute; reflexivity|]. intros x X [Pos O].
  assert (User : forall n, (n < 3)%nat -> user three n).
  { intros [|[|[|n]]] Hn; try lia; split; auto. }
  assert (V : forall y n, value three (fun _ _ => 1) y n == y n 0%nat) by (intros; unfold value; simpl; ring).
  pose proof (Pos 0%nat (User 0%nat ltac:(lia))) as A0. pose proof (Pos 1%nat (User 1%nat ltac:(lia))) as B0.
  pose proof (Pos 2%nat (User 2%nat ltac:(lia))) as C0. rewrite V in A0, B0, C0.
  pose proof (f_rows three x X 0%nat 0%nat ltac:(simpl; lia) ltac:(simpl; lia)) as R0.
  pose proof (f_rows three x X 0%nat 1%nat ltac:(simpl; lia) ltac:(simpl; lia)) as R1.
  unfold load, full, takes in R0, R1. simpl in R0, R1.
  set (a := x 0%nat 0%nat) in *. set (b := x 1%nat 0%nat) in *. set (c := x 2%nat 0%nat) in *.
  assert (G : forall s, 0 <= s -> 2 * s <= 1 -> (1 - s - a) / a + (1 - 2 * s - b) / b + (s - c) / c <= 0).
  { intros s S0 S1. specialize (O (leaves s) (leaves_feasible s S0 S1)). cbv zeta in O. unfold value in O. simpl in O.
    fold a b c in O.
    assert (E : (1 - s - a) / a + (1 - 2 * s - b) / b + (s - c) / c ==
      0 + 1 / ((0 + 1 * a) * 1) * (0 + 1 * (1 - s) - (0 + 1 * a)) + 1 / ((0 + 1 * b) * 1) * (0 + 1 * (1 - 2 * s) - (0 + 1 * b)) +
      1 / ((0 + 1 * c) * 1) * (0 + 1 * s - (0 + 1 * c))) by (field; repeat split; lra).
    rewrite E. rewrite Qmult_0_l in O. exact O. }
  (* no capacity is left *)
  assert (Ea : a == 1 - c /\ b == 1 - 2 * c).
  { pose proof (G c ltac:(lra) ltac:(lra)) as L. assert (Z : (c - c) / c == 0) by (field; lra). rewrite Z in L.
    assert (L1 : 0 <= (1 - c - a) / a) by (apply quotient_nonneg; lra).
    assert (L2 : 0 <= (1 - 2 * c - b) / b) by (apply quotient_nonneg; lra).
    assert (Z1 : (1 - c - a) / a == 0) by lra. assert (Z2 : (1 - 2 * c - b) / b == 0) by lra.
    assert (Q1 : 1 - c - a == (1 - c - a) / a * a) by (field; lra). assert (Q2 : 1 - 2 * c - b == (1 - 2 * c - b) / b * b) by (field; lra).
    rewrite Z1 in Q1. rewrite Z2 in Q2. split; lra. }
  destruct Ea as [Ea Eb].
  (* the welfare does not grow in any direction *)
  set (D := / c - / a - 2 * / b).
  assert (H : forall s, 0 <= s -> 2 * s <= 1 -> (s - c) * D <= 0).
  { intros s S0 S1. specialize (G s S0 S1).
    assert (E : (s - c) * D == (c - s) / a + 2 * (c - s) / b + (s - c) / c) by (unfold D; field; repeat split; lra).
    assert (E1 : (1 - s - a) / a == (c - s) / a) by (apply Qmult_comp; [lra|reflexivity]).
    assert (E2 : (1 - 2 * s - b) / b == 2 * (c - s) / b) by (apply Qmult_comp; [lra|reflexivity]).
    rewrite E, <- E1, <- E2. exact G. }
  pose proof (H 0 ltac:(lra) ltac:(lra)) as H0. pose proof (H (1 # 2) ltac:(lra) ltac:(lra)) as H1.
  assert (D0 : D == 0).
  { destruct (Q_dec D 0) as [[L|L]|L]; auto; exfalso.
    - assert (0 < c * - D) by (apply Qmult_lt_0_compat; lra). lra.
    - assert (0 < ((1 # 2) - c) * D) by (apply Qmult_lt_0_compat; lra). lra. }
  apply (no_root (6 * c - 3)).
  assert (E : a * b - b * c - 2 * (a * c) == D * (a * b * c)) by (unfold D; field; repeat split; lra).
  rewrite D0 in E. rewrite Ea, Eb in E. lra.
Qed.

(** * Two bottlenecks

    The classes are (1, 2) and (2, 1). A task of any user takes all of its class. User 0 is barred from the second
    class. Max-min fairness of the first resource gives user 0 the whole first class, that of the second resource
    three quarters of it. *)
Definition holds_of (i r : nat) : Q := match i, r with 0%nat, 0%nat | 1%nat, 1%nat => 1 | 0%nat, 1%nat | 1%nat, 0%nat => 2 | _, _ => 0 end.
Definition two : problem :=
  {| users := 2; classes := 2; resources := 2; weight := fun _ => 1; gang := fun _ => 1; count := fun _ => 1; capacity := holds_of;
     base := fun _ _ => 1; demand := fun _ i r => holds_of i r; limit := fun _ => None;
     allowed := fun n i => match n, i with 0%nat, 1%nat => false | _, _ => true end;
     stated := fun _ _ => None; criterion := fun _ _ => None; timed := fun _ => false; alone := fun _ _ => 1 |}.
Ltac each := repeat match goal with
  | H : (?n < users two)%nat |- _ => change (n < 2)%nat in H
  | H : (?n < classes two)%nat |- _ => change (n < 2)%nat in H
  | H : (?n < resources two)%nat |- _ => change (n < 2)%nat in H
  | H : (?n < 2)%nat |- _ => destruct n as [|[|n]]; [clear H|clear H|exfalso; lia]
  end.
Lemma both_are_bottlenecks r : (r < 2)%nat -> is_bottleneck two OnEveryClass r.
Proof.
  intros Hr. split; [exact Hr|]. split; [destruct r as [|[|r]]; [reflexivity|reflexivity|lia]|]. split; [reflexivity|].
  intros n i [Hn _] Hi _. unfold dominates. each; simpl; (split; [reflexivity|split; [reflexivity|]]); intros h Hh _; each; simpl; discriminate.
Qed.
(** User 0 has the fraction a of the first class, and user 1 the rest. *)
Definition parts (a : Q) (n i : nat) : Q := match n, i with 0%nat, 0%nat => a | 1%nat, 0%nat => 1 - a | 1%nat, 1%nat => 1 | _, _ => 0 end.
Lemma parts_feasible a : 0 <= a -> a <= 1 -> feasible two (parts a).
Proof.
  intros A0 A1. constructor; unfold within_limit; try exact (fun _ _ => I).
  - intros n i Hn Hi. each; simpl; lra.
  - intros n i Hn Hi G. each; simpl in *; try reflexivity; discriminate.
  - intros i r Hi Hr. each; unfold load, full, takes; simpl; lra.
Qed.
Lemma most_alone r n most : (r < 2)%nat -> (n < 2)%nat ->
  most == sum 2 (fun i => worth two (Resource r) n i * gamma two n i) / 1 -> is_most two (worth two (Resource r)) n most.
Proof.
  intros Hr Hn E. split.
  - intros z Z _. rewrite E. unfold Qdiv. change (weight two n) with 1. change (/ 1) with 1. apply prod_le; [|lra]. apply sum_le. intros i Hi. apply prod_le_l.
    + pose proof (r_fits two n _ z Z i 0%nat Hi ltac:(simpl; lia)) as F. pose proof (r_can two n _ z Z i Hi) as C.
      unfold gamma, full, takes in *. each; simpl in *; try lra; rewrite C by reflexivity; lra.
    + each; simpl; unfold Qle; simpl; lia.
  - exists (gamma two n). split; [|split; [exact I|rewrite E; reflexivity]]. constructor.
    + intros i Hi. unfold gamma. each; simpl; lra.
    + intros i Hi G. exact G.
    + intros i r' Hi Hr'. unfold gamma, full, takes. each; simpl; lra.
Qed.

Theorem no_answer_for_two_bottlenecks : well_formed two /\ forall x, feasible two x -> ~ bottleneck_fair two OnEveryClass 0 x.
Proof.
  split; [apply check_well_formed_sound; vm_compute; reflexivity|]. intros x X B.
  assert (U : forall n, (n < 2)%nat -> user two n) by (intros n Hn; split; [exact Hn|each; reflexivity]).
  pose proof (f_rows two x X 0%nat 0%nat ltac:(simpl; lia) ltac:(simpl; lia)) as R0.
  pose proof (f_rows two x X 1%nat 1%nat ltac:(simpl; lia) ltac:(simpl; lia)) as R1.
  pose proof (f_nonneg two x X 0%nat 1%nat ltac:(simpl; lia) ltac:(simpl; lia)) as N0.
  pose proof (f_nonneg two x X 1%nat 0%nat ltac:(simpl; lia) ltac:(simpl; lia)) as N1.
  unfold load, full, takes in R0, R1. simpl in R0, R1.
  pose proof (B 0%nat (both_are_bottlenecks 0 ltac:(lia)) 0%nat (parts 1) (1 # 3) (1 # 3) (U 0%nat ltac:(lia))
    (parts_feasible 1 ltac:(lra) ltac:(lra)) (most_alone 0 0 (1 # 3) ltac:(lia) ltac:(lia) ltac:(reflexivity)) ltac:(reflexivity)) as A.
  assert (A0 : (1 # 3) - share two (worth two (Resource 0)) x 0%nat <= 0 * (1 # 3)).
  { apply A; [vm_compute; discriminate|]. intros m [Hm _] Ne. each; [contradiction|].
    assert (S : share two (worth two (Resource 0)) (parts 1) 1%nat == 2 # 3) by reflexivity. rewrite S. minmax; lra. }
  pose proof (B 1%nat (both_are_bottlenecks 1 ltac:(lia)) 1%nat (parts (3 # 4)) (1 # 2) 1 (U 1%nat ltac:(lia))
    (parts_feasible (3 # 4) ltac:(lra) ltac:(lra)) (most_alone 1 1 1 ltac:(lia) ltac:(lia) ltac:(reflexivity)) ltac:(reflexivity)) as C.
  assert (C0 : (1 # 2) - share two (worth two (Resource 1)) x 1%nat <= 0 * 1).
  { apply C; [vm_compute; discriminate|]. intros m [Hm _] Ne. each; [|contradiction].
    assert (S : share two (worth two (Resource 1)) (parts (3 # 4)) 0%nat == 1 # 2) by reflexivity. rewrite S. minmax; lra. }
  assert (S0 : share two (worth two (Resource 0)) x 0%nat == (1 # 3) * x 0%nat 0%nat + (2 # 3) * x 0%nat 1%nat).
  { unfold share. simpl. unfold total. simpl. field. }
  assert (S1 : share two (worth two (Resource 1)) x 1%nat == (2 # 3) * x 1%nat 0%nat + (1 # 3) * x 1%nat 1%nat).
  { unfold share. simpl. unfold total. simpl. field. }
  assert (Z : x 0%nat 1%nat == 0) by (apply (f_can two x X); simpl; [lia|lia|reflexivity]).
  rewrite S0, Z in A0. rewrite S1 in C0. lra.
Qed.
