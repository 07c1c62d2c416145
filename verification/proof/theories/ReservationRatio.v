(** Decides ratio certificates: the reward of greedy, an interval that contains the optimum, and the ratio of both. *)
From Coq Require Import QArith Qround Qreduction Qfield Arith ZArith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Checker Soundness Reservation ReservationTree ReservationOptimum ReservationRun
  ReservationGreedy.
Import ListNotations.
Open Scope Q_scope.

(** The statement about the fluid model or about whole servers: the steps and the reward of greedy, and the optimum *)
Record account := { steps : list stated; reward_of_greedy : Q; optimum_of : optimum }.

Record certificate := {
  of_fluid : account;
  ratio : option Q;                       (* None: no plan earns a positive reward *)
  of_whole : option (account * Q) }.      (* with the unit of the rewards *)

Section On.
Variable R : reservation.
Notation J := (types R). Notation M := (rows R).

(** * The claims of a certificate *)
Definition account_holds (A : amount) (a : account) : Prop :=
  greedy_earns R A (reward_of_greedy a) /\
  the_optimum_is_between R A (reached (optimum_of a)) (at_most (optimum_of a)).

Definition claims (c : certificate) : Prop :=
  account_holds (fluid R) (of_fluid c) /\
  match ratio c with
  | Some r => greedy_earns_at_least R (fluid R) r
  | None => no_plan_earns_more_than R (fluid R) 0
  end /\
  match of_whole c with
  | Some (a, _) => account_holds (in_whole_servers R) a
  | None => True
  end.

(** * The checker *)
Definition check_reservation : bool :=
  all J (fun j => all M (fun r => le 0 (size R j r)) && le 0 (reward R j) && le 0 (load R j)) &&
  all (pools R) (fun s => all M (fun r => le 0 (room R s r)) && lt 0 (servers R s)) &&
  match listed R with
  | Some [] => false
  | Some l => forallb (fun c => all J (fun j => Z.leb 0 (c j))) l
  | None => true
  end.

Lemma check_reservation_sound : check_reservation = true -> well_formed R.
Proof.
  unfold check_reservation. intros H. apply andb_true_iff in H. destruct H as [H L].
  apply andb_true_iff in H. destruct H as [H P]. rewrite all_iff in H, P. constructor.
  - intros j r Hj Hr. specialize (H j Hj). apply andb_true_iff in H. destruct H as [H _].
    apply andb_true_iff in H. destruct H as [H _]. rewrite all_iff in H. apply le_iff. auto.
  - intros s r Hs Hr. specialize (P s Hs). apply andb_true_iff in P. destruct P as [P _].
    rewrite all_iff in P. apply le_iff. auto.
  - destruct (listed R) as [[|c l]|]; [discriminate| |exact I]. split; [exists c; left; reflexivity|].
    intros d Id j Hj. rewrite forallb_forall in L. specialize (L d Id). rewrite all_iff in L.
    apply Z.leb_le. auto.
  - intros j Hj. specialize (H j Hj). bools. auto.
  - intros j Hj. specialize (H j Hj). bools. auto.
  - intros s Hs. specialize (P s Hs). bools. auto.
Qed.

Definition check_account (A : amount) (unit : Q) (a : account) : bool :=
  check_greedy R A (steps a) (reward_of_greedy a) && check_optimum R A unit (optimum_of a).

Definition check_ratio (c : certificate) : bool :=
  check_reservation && check_account (fluid R) 1 (of_fluid c) &&
  (let g := reward_of_greedy (of_fluid c) in let b := at_most (optimum_of (of_fluid c)) in
   match ratio c with
   | Some r => negb (eqq b 0) && le 0 r && eqq (mul r b) g
   | None => eqq b 0
   end) &&
  match of_whole c with
  | Some (a, unit) => check_account (in_whole_servers R) unit a
  | None => true
  end.

Lemma check_account_sound A unit a : check_account A unit a = true -> account_holds A a.
Proof.
  unfold check_account. intros H. bools. split; [eapply check_greedy_sound|eapply check_optimum_sound]; eauto.
Qed.

Theorem check_ratio_sound c : check_ratio c = true -> well_formed R /\ claims c.
Proof.
  unfold check_ratio. intros H. apply andb_true_iff in H. destruct H as [H Wh].
  apply andb_true_iff in H. destruct H as [H Ra]. apply andb_true_iff in H. destruct H as [W F].
  apply check_reservation_sound in W. apply check_account_sound in F. split; [exact W|]. split; [exact F|]. split.
  - destruct F as [G [_ B]]. cbv zeta in Ra. destruct (ratio c) as [r|].
    + bools. rewrite mul_eq in H0. intros g' G' X Y V.
      rewrite (greedy_earns_once R _ W g' _ G' G), <- H0.
      apply prod_le_l; auto. apply (B X Y V).
    + bools. intros X Y V. specialize (B X Y V). lra.
  - destruct (of_whole c) as [[a unit]|]; [|exact I]. eapply check_account_sound; eauto.
Qed.
End On.
Print Assumptions check_ratio_sound.
