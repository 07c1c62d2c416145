(** Proves that Theorem B is sharp (docs/proofs.md): a user that may lie about each class separately can gain. The
    machines have the capacities (2, 10) and (2, 1), and the true demands are (1, 0) and (0, 1). If user 0 tells the
    truth, it has two tasks. If it declares (10, 0) on the second machine, it can run 29/10 tasks in its bundles. No lie
    gives it more. *)
From Coq Require Import QArith Qfield Arith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Arithmetic Checker Repair Soundness Market TheoremB Truthful.
Open Scope Q_scope.

Definition pair2 (a b : Q) (i : nat) : Q := match i with O => a | S O => b | _ => 0 end.

(** User 0 demands [a] of resource 0 on the second machine. User 1 demands one of resource 1. *)
Definition machines (a : Q) : problem := {|
  users := 2; classes := 2; resources := 2;
  weight := fun _ => 1; gang := fun _ => 1; count := fun _ => 1;
  capacity := fun i => pair2 2 (pair2 10 1 i);
  base := fun n => match n with O => pair2 1 0 | _ => pair2 0 1 end;
  demand := fun n i => match n with O => pair2 (pair2 1 a i) 0 | _ => pair2 0 1 end;
  limit := fun _ => None; allowed := fun _ _ => true; stated := fun _ _ => None; criterion := fun _ _ => None;
  timed := fun _ => true;
  alone := fun n => match n with O => pair2 2 (2 / a) | _ => pair2 10 1 end |}.
Definition truth : problem := machines 1.
Definition the_lie : problem := machines 10.
Definition tasks_of_both (a b c d : Q) (n : nat) : nat -> Q := match n with O => pair2 a b | _ => pair2 c d end.
Definition honest : allocation := tasks_of_both 0 2 10 0.
Definition lied : allocation := tasks_of_both (9 # 10) (1 # 5) (11 # 2) 0.
(** The true tasks that user 0 runs in its bundles *)
Definition gained : nat -> Q := pair2 (9 # 10) 2.

Ltac each_pair := repeat match goal with
  | H : (?n < users _)%nat |- _ => change (n < 2)%nat in H
  | H : (?n < classes _)%nat |- _ => change (n < 2)%nat in H
  | H : (?n < resources _)%nat |- _ => change (n < 2)%nat in H
  | H : (?n < 2)%nat |- _ => destruct n as [|[|n]]; [clear H|clear H|exfalso; lia]
  end.
Lemma truth_well_formed : well_formed truth.
Proof. apply check_well_formed_sound. vm_compute. reflexivity. Qed.
Lemma lie_well_formed : well_formed the_lie.
Proof. apply check_well_formed_sound. vm_compute. reflexivity. Qed.

Ltac numbers := first [reflexivity | exact I | vm_compute; reflexivity | vm_compute; discriminate].
Lemma in_market P x p : well_formed P -> (forall i, (i < classes P)%nat -> timed P i = true) ->
  feasible P x -> market P x p (fun _ => 0) -> ps_dsf_answer P x.
Proof. intros W T F M. constructor; auto. apply (market_is_proportional P W T x p (fun _ => 0) M). Qed.

Lemma honest_answer : ps_dsf_answer truth honest.
Proof.
  apply (in_market truth honest (fun _ => 1)); [apply truth_well_formed|reflexivity| |]; constructor.
  - intros n i Hn Hi. each_pair; numbers.
  - intros n i Hn Hi G. each_pair; try numbers; exfalso; revert G; vm_compute; discriminate.
  - intros i r Hi Hr. each_pair; numbers.
  - intros n Hn. numbers.
  - intros n [Hn _]. each_pair; numbers.
  - intros i Hi. each_pair; numbers.
  - intros n Hn. split; [numbers|reflexivity].
  - intros n i [Hn _] Hi G. each_pair; numbers.
  - numbers.
Qed.
Lemma lied_answer : ps_dsf_answer the_lie lied.
Proof.
  apply (in_market the_lie lied (pair2 (20 # 11) (2 # 11))); [apply lie_well_formed|reflexivity| |]; constructor.
  - intros n i Hn Hi. each_pair; numbers.
  - intros n i Hn Hi G. each_pair; try numbers; exfalso; revert G; vm_compute; discriminate.
  - intros i r Hi Hr. each_pair; numbers.
  - intros n Hn. numbers.
  - intros n [Hn _]. each_pair; numbers.
  - intros i Hi. each_pair; numbers.
  - intros n Hn. split; [numbers|reflexivity].
  - intros n i [Hn _] Hi G. each_pair; numbers.
  - numbers.
Qed.
Lemma it_is_a_lie : lie truth the_lie 0.
Proof.
  constructor; try reflexivity. intros n i r Hn Hi Hr Ne. each_pair; try reflexivity; congruence.
Qed.

(** The true tasks that user 0 can run with the bundles of an answer P' x'. The bundles contain the demand that it
    declared on each class. *)
Definition runs_true (P' : problem) (x' : allocation) (y : nat -> Q) : Prop :=
  (forall i, (i < 2)%nat -> 0 <= y i) /\
  forall i r, (i < 2)%nat -> (r < 2)%nat -> y i * demand truth 0 i r <= x' 0%nat i * demand P' 0 i r.

Theorem a_lie_by_class_pays : ps_dsf_answer truth honest /\ tasks truth honest 0 == 2 /\
  lie truth the_lie 0 /\ ps_dsf_answer the_lie lied /\ runs_true the_lie lied gained /\ sum 2 gained == 29 # 10.
Proof.
  split; [apply honest_answer|]. split; [reflexivity|]. split; [apply it_is_a_lie|]. split; [apply lied_answer|].
  split; [|reflexivity]. split; [intros i Hi|intros i r Hi Hr]; each_pair; numbers.
Qed.

(** No lie gives user 0 more. Whatever it declares, the other user gets at least 11/20 of the time. *)
Theorem no_lie_pays_more P' x' y : well_formed P' -> lie truth P' 0 ->
  (forall i, (i < 2)%nat -> stated P' 0 i = None) -> ps_dsf_answer P' x' -> runs_true P' x' y -> sum 2 y <= 29 # 10.
Proof.
  intros W Lie St A [Y0 Yb].
  destruct (answer_is_priced P' W x' A) as (p & q & E). pose proof (declared_proper P' W) as [_ Gp].
  pose proof (l_users _ _ _ Lie) as EN. pose proof (l_classes _ _ _ Lie) as EK. pose proof (l_resources _ _ _ Lie) as EM.
  change (users truth) with 2%nat in EN. change (classes truth) with 2%nat in EK. change (resources truth) with 2%nat in EM.
  set (z := time_of P' x') in *.
  (* the tasks that the other user can run *)
  assert (Other : forall i, (i < 2)%nat -> gamma P' 1 i == pair2 10 1 i).
  { intros i Hi. unfold gamma. rewrite (l_allowed _ _ _ Lie) by (try exact Hi; simpl; lia). simpl.
    pose proof (alone_is P' W 1 i ltac:(lia) ltac:(lia)) as I. unfold is_alone in I.
    rewrite (l_stated _ _ _ Lie) in I by (try exact Hi; simpl; lia). simpl in I. rewrite EM in I.
    assert (C : forall r, (r < 2)%nat -> count P' i * capacity P' i r == pair2 2 (pair2 10 1 i) r).
    { intros r Hr. rewrite (l_count _ _ _ Lie), (l_capacity _ _ _ Lie) by (simpl; lia). simpl. ring. }
    assert (D : forall r, (r < 2)%nat -> demand P' 1 i r == pair2 0 1 r).
    { intros r Hr. rewrite (l_demand _ _ _ Lie) by (simpl; lia). reflexivity. }
    destruct I as [_ [(r & Hr & Dp & T)|(Bad & _)]].
    - rewrite D, C in T by auto. rewrite D in Dp by auto. destruct r as [|[|r]]; [simpl in Dp; lra| |lia]. simpl in T. lra.
    - rewrite (l_allowed _ _ _ Lie) in Bad by (try exact Hi; simpl; lia). discriminate. }
  assert (Lim : limit P' 1 = None) by (rewrite (l_limit _ _ _ Lie) by (simpl; lia); reflexivity).
  (* the bundles are within the time of user 0 *)
  assert (Has : forall i, (i < 2)%nat -> y i <= 2 * z 0%nat i).
  { intros i Hi. pose proof (Yb i 0%nat Hi ltac:(lia)) as B.
    assert (T0 : 0 <= z 0%nat i) by (apply (t_time _ _ _ _ _ _ E); lia).
    assert (D1 : demand truth 0 i 0 == 1) by (each_pair; reflexivity). rewrite D1 in B.
    apply Qle_trans with (x' 0%nat i * demand P' 0 i 0); [lra|].
    pose proof (gamma_nonneg P' W 0 i ltac:(lia) ltac:(lia)) as G0.
    destruct (Qlt_le_dec 0 (gamma P' 0 i)) as [G|G].
    - pose proof (alone_is P' W 0 i ltac:(lia) ltac:(lia)) as I. unfold is_alone in I. rewrite St in I by auto.
      rewrite EM in I. destruct I as [I _]. specialize (I 0%nat ltac:(lia)).
      rewrite (l_count _ _ _ Lie), (l_capacity _ _ _ Lie) in I by (simpl; lia).
      assert (C2 : count truth i * capacity truth i 0 == 2) by (each_pair; reflexivity). rewrite C2 in I.
      assert (Eg : gamma P' 0 i = alone P' 0 i).
      { unfold gamma in *. destruct (allowed P' 0 i); [reflexivity|lra]. }
      assert (Xz : x' 0%nat i == z 0%nat i * alone P' 0 i).
      { unfold z, time_of. rewrite <- Eg. field. lra. }
      rewrite Xz. pose proof (prod_le_l _ _ (z 0%nat i) I T0). lra.
    - assert (O : gamma P' 0 i == 0) by lra. rewrite (f_can P' x' (a_feasible _ _ A) 0 i ltac:(lia) ltac:(lia) O).
      rewrite Qmult_0_l. lra. }
  (* the time of the other user *)
  destruct E as [Et Eg Ef El Ep Es Eq Ec Eb Ebu Esp]. simpl in *. rewrite EN, EK in *.
  assert (Spent : q 1%nat * runs_tasks 2 (declared_of P') z 1 == weight P' 1).
  { destruct (Esp 1%nat 0%nat) as [(T & L & _)|S]; try lia; [rewrite Other by lia; simpl; lra| |exact S]. congruence. }
  rewrite (l_weight _ _ _ Lie) in Spent by (simpl; lia). simpl in Spent.
  unfold runs_tasks in Spent. simpl in Spent.
  pose proof (Other 0%nat ltac:(lia)) as O0. pose proof (Other 1%nat ltac:(lia)) as O1. simpl in O0, O1.
  rewrite O0, O1 in Spent.
  pose proof (Ec 1%nat 0%nat ltac:(lia) ltac:(lia)) as C0. pose proof (Ec 1%nat 1%nat ltac:(lia) ltac:(lia)) as C1.
  rewrite O0 in C0. rewrite O1 in C1. specialize (C0 ltac:(lra)). specialize (C1 ltac:(lra)).
  pose proof (Eq 1%nat ltac:(lia)) as Q0. pose proof (Eb 1%nat) as B1.
  pose proof (Ef 0%nat ltac:(lia)) as F0. pose proof (Ef 1%nat ltac:(lia)) as F1.
  pose proof (Et 1%nat 0%nat ltac:(lia) ltac:(lia)) as T10. pose proof (Et 1%nat 1%nat ltac:(lia) ltac:(lia)) as T11.
  pose proof (Et 0%nat 0%nat ltac:(lia) ltac:(lia)) as T00. pose proof (Et 0%nat 1%nat ltac:(lia) ltac:(lia)) as T01.
  simpl in *.
  assert (Time : 11 # 20 <= z 1%nat 0%nat + z 1%nat 1%nat).
  { (* all budgets add up to 2 *)
    assert (Money : p 0%nat + p 1%nat <= 2).
    { assert (Own : forall n, (n < 2)%nat -> p 0%nat * z n 0%nat + p 1%nat * z n 1%nat <= 1).
      { intros n Hn. pose proof (Ebu n Hn) as Bu. rewrite (l_weight _ _ _ Lie) in Bu by (simpl; lia). simpl in Bu.
        unfold runs_tasks in Bu. simpl in Bu. apply Qle_trans with (2 := Bu).
        assert (Each : forall i, (i < 2)%nat -> p i * z n i == q n * (z n i * gamma P' n i)).
        { intros i Hi. pose proof (Et n i ltac:(lia) ltac:(lia)) as Tz.
          destruct (Qlt_le_dec 0 (z n i)) as [Zp|Zn]; [rewrite <- (Eb n i) by (auto; lia); ring|].
          assert (O : z n i == 0) by lra. rewrite O. ring. }
        rewrite (Each 0%nat), (Each 1%nat) by lia. lra. }
      pose proof (Own 0%nat ltac:(lia)) as W0. pose proof (Own 1%nat ltac:(lia)) as W1.
      assert (All : forall i, (i < 2)%nat -> p i == p i * (z 0%nat i + z 1%nat i)).
      { intros i Hi. pose proof (Ep i ltac:(lia)) as Pi. destruct (Qlt_le_dec 0 (p i)) as [Pp|Pz].
        - pose proof (Es i ltac:(lia) Pp) as S. simpl in S.
          assert (S' : z 0%nat i + z 1%nat i == 1) by lra. rewrite S'. ring.
        - assert (O : p i == 0) by lra. rewrite O. ring. }
      rewrite (All 0%nat), (All 1%nat) by lia. lra. }
    (* a task of the other user costs at most 2/11 *)
    assert (Qm : q 1%nat <= 2 # 11) by lra.
    assert (R : 0 <= z 1%nat 0%nat * 10 + z 1%nat 1%nat) by lra.
    pose proof (prod_le _ _ (z 1%nat 0%nat * 10 + z 1%nat 1%nat) Qm R). lra. }
  pose proof (Has 0%nat ltac:(lia)). pose proof (Has 1%nat ltac:(lia)). lra.
Qed.
