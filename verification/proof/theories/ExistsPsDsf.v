(** Applies Theorem A to problems in the form of Spec.v. Classes may be divided or shared by time, and users may be
    barred from classes. An allocation that is PS-DSF within 0 always exists. If all classes are shared by time and the
    tasks of no user are limited, the allocation is also proportionally fair within 0. *)
From Coq Require Import QArith Qfield Arith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Arithmetic Repair Filled Market TheoremA TheoremAClasses.
Open Scope Q_scope.

Section On.
Variable P : problem.
Notation N := (users P). Notation K := (classes P). Notation M := (resources P).
Hypothesis W : well_formed P.

(** The rows of Spec.v become the resources of Theorem A. The amounts that a task takes of rows become its demand. *)
Definition as_market : TheoremA.market := {|
  m_users := N; m_classes := K; m_resources := M; m_weight := weight P; m_room := full P; m_demand := takes P;
  m_limit := limit P; m_gamma := gamma P |}.
Lemma as_market_well_formed : market_well_formed as_market.
Proof.
  constructor; simpl; intros.
  - apply (weight_pos P W); auto.
  - apply full_nonneg; auto.
  - apply takes_nonneg; auto.
  - apply (limit_nonneg P W n); auto.
  - apply gamma_nonneg; auto.
Qed.
Lemma as_market_gamma : gamma_of_resources as_market.
Proof.
  intros n i Hn Hi. simpl in *. pose proof (gamma_nonneg P W n i Hn Hi). destruct (Qlt_le_dec 0 (gamma P n i)) as [G|G]; [right|left; lra].
  split; [intros r Hr; apply gamma_fits; auto|]. destruct (gamma_tight P W n i Hn Hi G) as (r & Hr & D & _ & E). exists r. auto.
Qed.

Lemma market_answer x : TheoremA.ps_dsf as_market x -> feasible P x /\ Spec.ps_dsf P 0 x.
Proof.
  intros [H L]. simpl in *.
  assert (F : feasible P x).
  { constructor.
    - intros n i Hn Hi. destruct (H i Hi) as [Fo _]. apply (fo_nonneg _ _ _ Fo); auto.
    - intros n i Hn Hi G. destruct (H i Hi) as [Fo _]. apply (fo_gamma _ _ _ Fo); auto.
    - intros i r Hi Hr. destruct (H i Hi) as [Fo _]. apply (fo_room _ _ _ Fo); auto.
    - intros n Hn. unfold within_limit. destruct (limit P n) as [T|] eqn:E; auto. apply (L n T Hn E). }
  split; [exact F|]. intros n i [Hn A] Hi G. destruct (H i Hi) as [_ B]. destruct (B n Hn G) as [Ha|(r & [R1 R2 R3 R4])].
  - left. unfold has_all in Ha. simpl in Ha. destruct (limit P n) as [T|]; [|contradiction]. exists T. split; [auto|].
    change (all_tasks as_market x n) with (tasks P x n) in Ha. lra.
  - right. exists r. simpl in *. split; [auto|]. split; [auto|]. unfold lacks.
    assert (Z : slack P x i r + sum N (fun m => if Nat.eqb m n then 0 else ahead P x n m i * takes P m i r) <= 0).
    { assert (S : sum N (fun m => if Nat.eqb m n then 0 else ahead P x n m i * takes P m i r) <= 0).
      { rewrite <- (sum_zero N (fun _ => 0)) by reflexivity. apply sum_le. intros m Hm. destruct (Nat.eqb m n); [lra|].
        pose proof (takes_nonneg P W m i r Hm Hi R1) as D0. pose proof (f_nonneg P x F m i Hm Hi) as X0.
        destruct (Qlt_le_dec 0 (x m i * takes P m i r)) as [Pos|Non].
        - assert (Gm : 0 < gamma P m i).
          { pose proof (gamma_nonneg P W m i Hm Hi). destruct (Qlt_le_dec 0 (gamma P m i)); auto.
            rewrite (f_can P x F m i Hm Hi) in Pos by lra. lra. }
          specialize (R4 m Hm Pos). unfold level in R4. simpl in R4.
          change (all_tasks as_market x) with (tasks P x) in R4.
          pose proof (weight_pos P W m Hm) as Wm. pose proof (weight_pos P W n Hn) as Wn.
          assert (Sm : 0 < gamma P m i * weight P m) by (apply Qmult_lt_0_compat; auto).
          assert (Sn : 0 < gamma P n i * weight P n) by (apply Qmult_lt_0_compat; auto).
          pose proof (prod_le _ _ _ R4 (Qlt_le_weak _ _ Sm)) as Le.
          assert (E1 : tasks P x m / (gamma P m i * weight P m) * (gamma P m i * weight P m) == tasks P x m) by (field; split; lra).
          assert (E2 : tasks P x n / (gamma P n i * weight P n) * (gamma P m i * weight P m) ==
            tasks P x n * (weight P m * gamma P m i) / (weight P n * gamma P n i)) by (field; split; lra).
          rewrite E1, E2 in Le.
          assert (Ah : ahead P x n m i <= 0).
          { unfold ahead. revert Le. generalize (tasks P x n * (weight P m * gamma P m i) / (weight P n * gamma P n i)). intros q Le. minmax; lra. }
          pose proof (prod_le _ _ _ Ah D0). lra.
        - assert (Ah : ahead P x n m i <= x m i) by (unfold ahead; minmax; lra). pose proof (prod_le _ _ _ Ah D0). lra. }
      change (sum N (fun m => x m i * takes P m i r)) with (load P x i r) in R2. unfold slack. lra. }
    unfold Qdiv. pose proof (Qinv_lt_0_compat _ R3) as I. pose proof (prod_le _ _ _ Z (Qlt_le_weak _ _ I)). lra.
Qed.

(** A PS-DSF allocation always exists, on all classes together, in rationals. *)
Theorem ps_dsf_always_exists : exists x, feasible P x /\ Spec.ps_dsf P 0 x.
Proof.
  destruct (theorem_A as_market as_market_well_formed as_market_gamma) as (x & X). exists x. apply market_answer. exact X.
Qed.

(** All classes are shared by time. *)
Hypothesis Timed : forall i, (i < K)%nat -> timed P i = true.
Hypothesis Unlimited : forall n, (n < N)%nat -> limit P n = None.
Theorem fair_shares_of_time_exist : exists x, feasible P x /\ Spec.ps_dsf P 0 x /\ proportional P (fun _ _ => 1) 1 0 x.
Proof.
  destruct (theorem_A as_market as_market_well_formed as_market_gamma) as (x & X). destruct (market_answer x X) as [F O].
  exists x. split; [auto|]. split; [auto|]. apply (ps_dsf_is_proportional P W Timed x F O Unlimited).
  (* A class that n may use is full. Some user has a part of it, and its level is not higher. *)
  intros n U. pose proof U as [Hn A]. destruct (runs_somewhere P n U) as (i & Hi & G).
  destruct X as [H _]. simpl in H. destruct (H i Hi) as [_ B]. destruct (B n Hn G) as [Ha|(r & [R1 R2 R3 R4])].
  { unfold has_all in Ha. simpl in Ha. rewrite Unlimited in Ha by auto. contradiction. }
  simpl in *. assert (r = 0%nat) as -> by (unfold takes in R3; rewrite Timed in R3 by auto; destruct r; [auto|lra]).
  assert (Fu : full P i 0 == 1) by (unfold full; rewrite Timed by auto; reflexivity). rewrite Fu in R2.
  destruct (any N (fun m => lt 0 (x m i * takes P m i 0))) eqn:E.
  - apply any_iff in E. destruct E as (m & Hm & E). apply lt_iff in E. specialize (R4 m Hm E). unfold level in R4. simpl in R4.
    change (all_tasks as_market x) with (tasks P x) in R4.
    pose proof (f_nonneg P x F m i Hm Hi) as X0. pose proof (takes_nonneg P W m i 0 Hm Hi R1) as D0.
    assert (Xm : 0 < x m i) by (destruct (Qlt_le_dec 0 (x m i)) as [|C]; auto; pose proof (prod_le _ _ _ C D0); lra).
    assert (Gm : 0 < gamma P m i).
    { pose proof (gamma_nonneg P W m i Hm Hi). destruct (Qlt_le_dec 0 (gamma P m i)); auto.
      rewrite (f_can P x F m i Hm Hi) in Xm by lra. lra. }
    assert (Tm : 0 < tasks P x m).
    { apply Qlt_le_trans with (1 := Xm). unfold tasks. apply (sum_term K (x m)); auto. intros. apply (f_nonneg P x F); auto. }
    assert (Sm : 0 < gamma P m i * weight P m) by (apply Qmult_lt_0_compat; auto; apply (weight_pos P W); auto).
    assert (Sn : 0 < gamma P n i * weight P n) by (apply Qmult_lt_0_compat; auto; apply (weight_pos P W); auto).
    assert (Lm : 0 < tasks P x m / (gamma P m i * weight P m)) by (apply Qlt_shift_div_l; lra).
    apply Qnot_le_lt. intros C. pose proof (Qinv_lt_0_compat _ Sn) as I. pose proof (prod_le _ _ _ C (Qlt_le_weak _ _ I)). unfold Qdiv in *. lra.
  - exfalso. assert (S : sum N (fun m => x m i * takes P m i 0) <= 0); [|lra].
    rewrite <- (sum_zero N (fun _ => 0)) by reflexivity. apply sum_le. intros m Hm. apply Qnot_lt_le. intros C.
    rewrite <- not_true_iff_false in E. apply E. apply any_iff. exists m. split; auto. apply lt_iff. auto.
Qed.
End On.
