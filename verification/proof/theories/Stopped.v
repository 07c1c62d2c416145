(** Work conservation where groups hold something back (docs/axioms.md): nobody could run more in what is free, and of what
    the groups above it leave. *)
From Coq Require Import QArith Qreduction Qfield Arith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Arithmetic Checker Repair Soundness Bundle Answered Placed Certificate Groups.
Open Scope Q_scope.

Section On.
Variable P : problem.
Variable G : grouping.
Notation N := (users P). Notation K := (classes P). Notation M := (resources P). Notation V := (groups G).

(** What is used, promised, kept back *)
Definition the_tables (x : allocation) : group_tables := {| t_use := use P G x; t_promise := promise G; t_kept_back := kept_for G;
  t_total := total P; t_above := above G; t_taken := fun _ => 0; t_owed := fun _ _ => 0 |}.
Section Tables.
Variable H : group_tables.
Variable tasks_of : nat -> Q.
Definition root_use (r : nat) : Q :=
  add (rsum N (fun n => if on_top (group_of G n) then mul (tasks_of n) (base P n r) else 0))
      (rsum V (fun v => if on_top (parent G v) then larger (t_use H v r) (t_kept_back H v r) else 0)).
Definition root_keeps (r : nat) : bool := any V (fun v => on_top (parent G v) && lt 0 (t_kept_back H v r)).
(** How many tasks more of n a bound on r leaves that is reached at [mark]: what is kept back below and not used comes
    first. *)
Definition leaves (mark used before : Q) (n r : nat) : Q := quo (add (larger 0 (sub mark used)) before) (base P n r).
Definition is_shut (v : nat) : bool := never G && negb (priced G v).
(** Of every bound above n: limits, guarantees of groups that get nothing else, and of the root its capacity where something
    of it is kept back. A guarantee of 0, or none of what n asks for, leaves nothing. *)
Definition bounds_above (n : nat) : list Q :=
  flat_map (fun v => (if is_shut v && negb (t_names P H n v) then 0 :: nil else nil) ++
    flat_map (fun r => if t_asks P H n r then
      let left mark := leaves mark (t_use H v r) (t_before H r v (t_above H n)) n r in
      match ceiling G v r with Some l => left l :: nil | None => nil end ++
      match t_promise H v r with Some g => if is_shut v then (if eqq g 0 then 0 else left g) :: nil else nil | None => nil end
      else nil) (seq 0 M)) (t_above H n) ++
  flat_map (fun r => if t_asks P H n r && root_keeps r
    then leaves (t_total H r) (root_use r) (t_before H r V (t_above H n)) n r :: nil else nil) (seq 0 M).
End Tables.
(** Nothing stops n before it has z tasks more. *)
Definition not_stopped (x : allocation) (n : nat) (z : Q) : Prop := Forall (fun b => z <= b) (bounds_above (the_tables x) (tasks P x) n).
(** What is free to n: no more on a class than limits on classes leave it there *)
Definition free_to (held : nat -> bar -> Q) (sl : nat -> nat -> Q) (tk : nat -> nat -> nat -> Q) (n i r : nat) : Q :=
  match left_on P G held n i with Some q => smaller (sl i r) (mul q (tk n i r)) | None => sl i r end.
Definition conserving_of_groups (placing_ : option placing) (eps : Q) (x : allocation) : Prop :=
  a_forest P G /\ match placing_ with
  | None => forall n z, user P n -> runs P n (free_to (held_in P G x) (slack P x) (takes P) n) z -> within_limit P n (tasks P x n + sum K z) ->
      not_stopped x n (sum K z) -> sum K z <= eps * g P n
  | Some l => 0 <= eps /\ forall n i, user P n -> within_limit P n (tasks P x n + 1) -> has_place P l n i ->
      no_more (left_on P G (held_in P G x) n i) 1 -> not_stopped x n 1 -> 1 <= eps
  end.

(** * Programs *)
Variable T : tables.
Variable H : group_tables.
Notation bounds n := (bounds_above H (t_tasks T) n).
Notation held := (t_held H).
Definition room_to (n : nat) : Q :=
  let v := best P T n (free_to held (t_slack T) (t_takes T) n) in
  match limit P n with Some l => smaller (sub l (t_tasks T n)) v | None => v end.
Definition least_room (n : nat) : Q := fold_right smaller (room_to n) (bounds n).
Definition check_stopped (m : Q) : bool :=
  users_all P T (fun n => le (least_room n) (- mul m (t_g T n))) && any N (fun n => is_active T n && eqq (least_room n) (- mul m (t_g T n))).
Variable L : placing.
Variable F : places.
Definition place_to (n i : nat) : bool :=
  a_place P T L F n i && match left_on P G held n i with Some q => le 1 q | None => true end.
Definition waits_free (n : nat) : bool := is_pending P T n && any K (place_to n) && forallb (fun b => le 1 b) (bounds n).
Definition check_none_waits (m : Q) : bool := eqq m 0 && users_all P T (fun n => negb (waits_free n)).
Definition check_one_waits (m : Q) : bool := eqq m (-1) && any N (fun n => is_active T n && waits_free n).

End On.

(** ** Bounds of what is the same are the same. *)
Section Both.
Variables P Q : problem.
Variable G : grouping.
Variables H H' : group_tables.
Variables tk tk' : nat -> QArith_base.Q.
Notation N := (users P). Notation M := (resources P). Notation V := (groups G).
Hypothesis eu : users P = users Q.
Hypothesis er : resources P = resources Q.
Hypothesis Eb : forall n r, (n < N)%nat -> (r < M)%nat -> base P n r == base Q n r.
Hypothesis Eu : forall v r, (v < V)%nat -> (r < M)%nat -> t_use H v r == t_use H' v r.
Hypothesis Ep : forall v r, (v < V)%nat -> (r < M)%nat -> alike (t_promise H v r) (t_promise H' v r).
Hypothesis Ek : forall v r, (v < V)%nat -> (r < M)%nat -> t_kept_back H v r == t_kept_back H' v r.
Hypothesis Et : forall r, (r < M)%nat -> t_total H r == t_total H' r.
Hypothesis Ea : forall n, (n < N)%nat -> t_above H n = t_above H' n /\ forall v, In v (t_above H n) -> (v < V)%nat.
Hypothesis Es : forall n, (n < N)%nat -> tk n == tk' n.

Lemma flat_map_both {A} (R2 : QArith_base.Q -> QArith_base.Q -> Prop) (f h : A -> list QArith_base.Q) l :
  (forall a, In a l -> Forall2 R2 (f a) (h a)) -> Forall2 R2 (flat_map f l) (flat_map h l).
Proof. induction l; simpl; intros E; [constructor|]. apply Forall2_app; auto. Qed.
Lemma before_both r v l : (r < M)%nat -> (forall c, In c l -> (c < V)%nat) -> t_before H r v l == t_before H' r v l.
Proof.
  intros Hr. induction l as [|c l IH]; simpl; intros I; [reflexivity|]. destruct (Nat.eqb c v); [reflexivity|].
  rewrite !add_eq, IH by auto. apply Qplus_comp; [|reflexivity]. apply larger_ext; [reflexivity|].
  rewrite !sub_eq, Ek, Eu by auto. reflexivity.
Qed.
Lemma root_both r : (r < M)%nat -> root_use P G H tk r == root_use Q G H' tk' r /\ root_keeps G H r = root_keeps G H' r.
Proof.
  intros Hr. split.
  - unfold root_use. rewrite <- eu, !add_eq, !rsum_eq. apply Qplus_comp; apply sum_ext; intros k Hk.
    + destruct (on_top _); [|reflexivity]. rewrite !mul_eq, Es, Eb by auto. reflexivity.
    + destruct (on_top _); [|reflexivity]. apply larger_ext; auto.
  - unfold root_keeps. assert (E : forall k, (k <= V)%nat -> any k (fun v => on_top (parent G v) && lt 0 (t_kept_back H v r)) =
      any k (fun v => on_top (parent G v) && lt 0 (t_kept_back H' v r))).
    { induction k; simpl; intros Hk; auto. rewrite (lt_ext 0 (t_kept_back H k r) 0 (t_kept_back H' k r)), IHk by
        (try lia; try reflexivity; apply Ek; lia). reflexivity. }
    apply E. lia.
Qed.
Lemma leaves_both m m' u u' b b' n r : (n < N)%nat -> (r < M)%nat -> m == m' -> u == u' -> b == b' ->
  leaves P m u b n r == leaves Q m' u' b' n r.
Proof.
  intros Hn Hr E1 E2 E3. unfold leaves. rewrite !quo_eq, !add_eq, E3, Eb by auto.
  rewrite (larger_ext 0 (sub m u) 0 (sub m' u')); [reflexivity|reflexivity|rewrite !sub_eq, E1, E2; reflexivity].
Qed.
Lemma bounds_both n : (n < N)%nat -> Forall2 Qeq (bounds_above P G H tk n) (bounds_above Q G H' tk' n).
Proof.
  intros Hn. destruct (Ea n Hn) as [Ab Ain].
  assert (As : forall r, (r < M)%nat -> t_asks P H n r = t_asks Q H' n r).
  { intros r Hr. unfold t_asks. rewrite (lt_ext 0 (base P n r) 0 (base Q n r)), (lt_ext 0 (t_total H r) 0 (t_total H' r)); auto; reflexivity. }
  assert (Nm : forall v, (v < V)%nat -> t_names P H n v = t_names Q H' n v).
  { intros v Hv. unfold t_names. rewrite <- er. assert (E : forall k, (k <= M)%nat ->
      any k (fun r => t_asks P H n r && match t_promise H v r with Some _ => true | None => false end) =
      any k (fun r => t_asks Q H' n r && match t_promise H' v r with Some _ => true | None => false end)).
    { induction k; simpl; intros Hk; auto. rewrite As, IHk by lia. pose proof (Ep v k Hv ltac:(lia)) as E.
      destruct (t_promise H v k), (t_promise H' v k); simpl in E; try tauto; reflexivity. }
    apply E. lia. }
  unfold bounds_above. rewrite <- er, <- Ab. apply Forall2_app.
  - apply flat_map_both. intros v I. pose proof (Ain v I) as Hv. rewrite Nm by auto. apply Forall2_app.
    + destruct (is_shut G v && negb (t_names Q H' n v)); repeat constructor.
    + apply flat_map_both. intros r Ir. apply in_seq in Ir. assert (Hr : (r < M)%nat) by lia. rewrite As by auto.
      destruct (t_asks Q H' n r); [|constructor]. cbv zeta.
      assert (E : forall m m', m == m' -> leaves P m (t_use H v r) (t_before H r v (t_above H n)) n r ==
        leaves Q m' (t_use H' v r) (t_before H' r v (t_above H n)) n r).
      { intros m m' Em. apply leaves_both; auto. apply before_both; auto. }
      apply Forall2_app.
      * destruct (ceiling G v r); repeat constructor. apply E. reflexivity.
      * pose proof (Ep v r Hv Hr) as Pr. destruct (t_promise H v r) as [q|], (t_promise H' v r) as [q'|]; simpl in Pr; try tauto; [|constructor].
        destruct (is_shut G v); [|constructor]. repeat constructor.
        destruct (eqq q 0) eqn:Z1, (eqq q' 0) eqn:Z2; try reflexivity.
        -- apply eqq_iff in Z1. assert (eqq q' 0 = true) by (apply eqq_iff; lra). congruence.
        -- apply eqq_iff in Z2. assert (eqq q 0 = true) by (apply eqq_iff; lra). congruence.
        -- apply E. exact Pr.
  - apply flat_map_both. intros r Ir. apply in_seq in Ir. assert (Hr : (r < M)%nat) by lia.
    destruct (root_both r Hr) as [E1 E2]. rewrite As, E2 by auto.
    destruct (t_asks Q H' n r && root_keeps G H' r); repeat constructor.
    apply leaves_both; auto. apply before_both; auto.
Qed.
Lemma below_both n z : (n < N)%nat -> Forall (fun b => z <= b) (bounds_above P G H tk n) <-> Forall (fun b => z <= b) (bounds_above Q G H' tk' n).
Proof.
  intros Hn. pose proof (bounds_both n Hn) as B. revert B. generalize (bounds_above P G H tk n) (bounds_above Q G H' tk' n).
  intros l l' B. induction B as [|a b l l' E B IH]; [split; constructor|].
  split; intros A; inversion A; subst; constructor; try (apply IH; assumption); lra.
Qed.
End Both.

Section Sound.
Variable P : problem.
Variable G : grouping.
Notation N := (users P). Notation K := (classes P). Notation M := (resources P). Notation V := (groups G).
Variable T : tables.
Variable H : group_tables.
Variable L : placing.
Variable F : places.
Notation bounds n := (bounds_above P G H (t_tasks T) n).
Notation the_tables := (the_tables P G).
Notation not_stopped := (not_stopped P G).
Notation conserving_of_groups := (conserving_of_groups P G).
Notation least_room := (least_room P G T H).
Notation waits_free := (waits_free P G T H L F).
Notation bounds_above := (bounds_above P G).
Notation room_to := (room_to P G T H).
Notation root_keeps := (root_keeps G).
Notation is_shut := (is_shut G).
Notation leaves := (leaves P).
Notation check_stopped := (check_stopped P G T H).
Notation check_none_waits := (check_none_waits P G T H L F).
Notation check_one_waits := (check_one_waits P G T H L F).
(** ** Soundness *)
Hypothesis W : well_formed P.
Variable stated_x : allocation.
Variable placed : bool.
Hypothesis R : right P stated_x T placed.
Hypothesis C : check_group_tables P G T H = true.
Notation x := (t_x T).
Notation true_bounds n := (bounds_above (the_tables x) (tasks P x) n).

Lemma bounds_nonneg n b : In b (bounds n) -> 0 <= b.
Proof.
  assert (Bf : forall r v l, 0 <= t_before H r v l).
  { intros r v l. induction l as [|c l IH]; simpl; [lra|]. destruct (Nat.eqb c v); [lra|]. rewrite add_eq. minmax; lra. }
  assert (Lv : forall mark u r v l, t_asks P H n r = true -> 0 <= leaves mark u (t_before H r v l) n r).
  { intros mark u r v l A. unfold t_asks in A. apply andb_true_iff in A. destruct A as [A _]. apply lt_iff in A.
    unfold Stopped.leaves. rewrite quo_eq, add_eq. specialize (Bf r v l). apply quotient_nonneg; [minmax; lra|lra]. }
  unfold Stopped.bounds_above. intros I. apply in_app_or in I. destruct I as [I|I]; apply in_flat_map in I; destruct I as (a & _ & I).
  - apply in_app_or in I. destruct I as [I|I].
    + destruct (_ && _); [|contradiction]. destruct I as [<-|[]]. lra.
    + apply in_flat_map in I. destruct I as (r & _ & I). destruct (t_asks P H n r) eqn:A; [|contradiction]. cbv zeta in I.
      apply in_app_or in I. destruct I as [I|I].
      * destruct (ceiling G a r); [|contradiction]. destruct I as [<-|[]]. auto.
      * destruct (t_promise H a r); [|contradiction]. destruct (is_shut a); [|contradiction]. destruct I as [<-|[]].
        destruct (eqq q 0); [lra|auto].
  - destruct (t_asks P H n a) eqn:A; [|contradiction]. simpl in I. destruct (root_keeps H a); [|contradiction].
    destruct I as [<-|[]]. auto.
Qed.
Lemma not_stopped_iff n z : (n < N)%nat -> not_stopped x n z <-> Forall (fun b => z <= b) (bounds n).
Proof.
  intros Hn. symmetry. apply (below_both P P G H (the_tables x)); auto; intros.
  - reflexivity.
  - apply (use_is P G T H C); auto.
  - apply (promise_is P G T H C); auto.
  - apply (kept_is P G T H C); auto.
  - apply (total_is P G T H C); auto.
  - rewrite (above_is P G T H C) by auto. split; [reflexivity|]. intros v. apply (above_in P G T H C n0 v). auto.
  - apply (tasks_is _ _ _ _ R); auto.
Qed.

Hypothesis Fx : feasible P x.
Lemma least_room_iff n z : z <= least_room n <-> z <= room_to n /\ Forall (fun b => z <= b) (bounds n).
Proof.
  unfold least_room. induction (bounds n) as [|b l IH]; simpl; [split; [intros; split; auto|tauto]|].
  split.
  - intros A. assert (A1 : z <= b /\ z <= fold_right smaller (room_to n) l) by (minmax; lra). destruct A1 as [A1 A2].
    apply IH in A2. destruct A2. split; auto.
  - intros [A B]. inversion B; subst. assert (z <= fold_right smaller (room_to n) l) by (apply IH; auto). minmax; lra.
Qed.
Lemma free_iff n eps : user P n ->
  (forall z, runs P n (free_to P G (held_in P G x) (slack P x) (takes P) n) z -> within_limit P n (tasks P x n + sum K z) -> not_stopped x n (sum K z) -> sum K z <= eps * g P n) <->
  least_room n <= eps * g P n.
Proof.
  intros U. assert (Hn : (n < N)%nat) by apply U.
  set (fr := free_to P G (t_held H) (t_slack T) (t_takes T) n).
  assert (B : forall i r, (i < K)%nat -> (r < M)%nat -> 0 <= fr i r).
  { intros. unfold fr, free_to. assert (S0 : 0 <= t_slack T i r).
    { rewrite (slack_is _ _ _ _ R) by auto. unfold slack. pose proof (f_rows P x Fx i r H0 H1). lra. }
    pose proof (left_nonneg P G (t_held H) n i) as L0. destruct (left_on P G (t_held H) n i) as [q|]; [|exact S0]. simpl in L0.
    assert (0 <= mul q (t_takes T n i r)); [|minmax; lra]. rewrite mul_eq, (takes_is _ _ _ _ R) by auto.
    apply prod_nonneg; [exact L0|apply takes_nonneg; auto]. }
  assert (E : forall i r, (i < K)%nat -> (r < M)%nat -> fr i r == free_to P G (held_in P G x) (slack P x) (takes P) n i r).
  { intros. unfold fr, free_to.
    pose proof (left_on_ext P G (t_held H) (held_in P G x) n i (fun kb I => taken_is P G T H C kb I)) as L0.
    destruct (left_on P G (t_held H) n i), (left_on P G (held_in P G x) n i); simpl in L0; try tauto.
    - apply smaller_ext; [apply (slack_is _ _ _ _ R); auto|]. rewrite !mul_eq, L0, (takes_is _ _ _ _ R) by auto. reflexivity.
    - apply (slack_is _ _ _ _ R); auto. }
  pose proof (best_nonneg P W T stated_x placed R n fr Hn B) as V0.
  pose proof (f_limit P x Fx n Hn) as Lx. unfold within_limit in Lx.
  assert (Rm : 0 <= room_to n).
  { unfold Stopped.room_to. fold fr. cbv zeta. destruct (limit P n) as [l|]; auto. rewrite <- (tasks_is _ _ _ _ R) in Lx by auto.
    pose proof (sub_eq l (t_tasks T n)). minmax; lra. }
  assert (Nn : 0 <= least_room n).
  { apply least_room_iff. split; auto. apply Forall_forall. intros b. apply bounds_nonneg. }
  destruct (proj1 (least_room_iff n (least_room n)) (Qle_refl _)) as [L1 L2].
  assert (Lb : least_room n <= best P T n fr).
  { unfold Stopped.room_to in L1. fold fr in L1. cbv zeta in L1. destruct (limit P n) as [l|]; [minmax; lra|auto]. }
  split.
  - intros A. destruct (best_runs P W T stated_x placed R n fr (least_room n) Hn B Nn Lb) as (z & Z1 & Z2).
    rewrite <- Z2. apply A.
    + constructor; [apply (r_nonneg _ _ _ _ Z1)|apply (r_can _ _ _ _ Z1)|].
      intros. rewrite <- E by auto. apply (r_fits _ _ _ _ Z1); auto.
    + unfold within_limit. unfold Stopped.room_to in L1. fold fr in L1. cbv zeta in L1. destruct (limit P n) as [l|]; auto.
      rewrite Z2, <- (tasks_is _ _ _ _ R) by auto. pose proof (sub_eq l (t_tasks T n)). minmax; lra.
    + apply not_stopped_iff; auto. rewrite Forall_forall in L2 |- *. intros b I. specialize (L2 b I). lra.
  - intros A z Z Lz St. apply Qle_trans with (2 := A). apply least_room_iff. apply not_stopped_iff in St; auto. split; auto.
    assert (Z' : runs P n fr z).
    { constructor; [apply (r_nonneg _ _ _ _ Z)|apply (r_can _ _ _ _ Z)|].
      intros. rewrite E by auto. apply (r_fits _ _ _ _ Z); auto. }
    pose proof (best_most P W T stated_x placed R n fr z Hn Z') as Bm. unfold Stopped.room_to, within_limit in *. fold fr. cbv zeta.
    destruct (limit P n) as [l|]; [|auto]. rewrite <- (tasks_is _ _ _ _ R) in Lz by auto.
    pose proof (sub_eq l (t_tasks T n)). minmax; lra.
Qed.
Theorem check_stopped_sound m : check_stopped m = true -> least_eps (fun eps => conserving_of_groups None eps x) m.
Proof.
  unfold Stopped.check_stopped. intros A. apply andb_true_iff in A. destruct A as [A B]. rewrite (users_all_iff P T stated_x placed R) in A.
  apply any_iff in B. destruct B as (k & Hk & B). apply andb_true_iff in B. destruct B as [Ak B]. apply eqq_iff in B.
  assert (Eg : forall n, (n < N)%nat -> - mul m (t_g T n) == - m * g P n).
  { intros n Hn. rewrite mul_eq, (g_is _ _ _ _ R) by auto. ring. }
  split.
  - split; [exact (forest P G T H C)|]. intros n z U. apply (free_iff n (- m) U). rewrite <- Eg by apply U. apply le_iff. auto.
  - intros eps [_ O]. assert (U : user P k) by (eapply is_user; eauto). pose proof (proj1 (free_iff k eps U) (fun z => O k z U)) as D.
    rewrite B, Eg in D by auto. apply (below eps (- m) (g P k)); [apply user_g; auto|exact D].
Qed.
Hypothesis Cl : forall s, (s < servers L)%nat -> (class_of L s < K)%nat.
Hypothesis PS : check_places P T L F = true.
Lemma waits_free_iff n : (n < N)%nat -> waits_free n = true <->
  within_limit P n (tasks P x n + 1) /\ (exists i, has_place P L n i /\ no_more (left_on P G (held_in P G x) n i) 1) /\ not_stopped x n 1.
Proof.
  intros Hn. unfold Stopped.waits_free. rewrite !andb_true_iff, (is_pending_iff P T stated_x placed R n Hn), any_iff, not_stopped_iff by auto.
  rewrite forallb_forall, Forall_forall.
  assert (Lo : forall i, no_more (left_on P G (held_in P G x) n i) 1 <-> match left_on P G (t_held H) n i with Some q => le 1 q | None => true end = true).
  { intros i. pose proof (left_on_ext P G (t_held H) (held_in P G x) n i (fun kb I => taken_is P G T H C kb I)) as L0.
    rewrite <- (no_more_ext _ _ 1 L0). destruct (left_on P G (t_held H) n i); simpl; [symmetry; apply le_iff|tauto]. }
  split.
  - intros [[A (i & Hi & B)] D]. split; [exact A|]. unfold Stopped.place_to in B. apply andb_true_iff in B. destruct B as [B1 B2]. split.
    + exists i. split; [apply (a_place_iff P T stated_x placed R L F Cl PS n i Hn Hi); exact B1|apply Lo; exact B2].
    + intros b I. apply le_iff. auto.
  - intros (A & (i & B1 & B2) & D). assert (Hi : (i < K)%nat) by apply B1. split; [split; [exact A|]|].
    + exists i. split; [exact Hi|]. unfold Stopped.place_to. apply andb_true_iff.
      split; [apply (a_place_iff P T stated_x placed R L F Cl PS n i Hn Hi); exact B1|apply Lo; exact B2].
    + intros b I. apply le_iff. auto.
Qed.
Theorem check_none_waits_sound m : check_none_waits m = true -> conserving_of_groups (Some L) (- m) x.
Proof.
  unfold check_none_waits. intros A. apply andb_true_iff in A. destruct A as [A B]. apply eqq_iff in A.
  rewrite (users_all_iff P T stated_x placed R) in B. split; [exact (forest P G T H C)|]. split; [lra|]. intros n i U Wi Pl Lo St. exfalso. specialize (B n U).
  apply negb_true_iff in B. rewrite <- not_true_iff_false in B. apply B. apply waits_free_iff; [apply U|]. eauto.
Qed.
Theorem check_one_waits_sound m : check_one_waits m = true -> forall eps, conserving_of_groups (Some L) eps x -> - m <= eps.
Proof.
  unfold check_one_waits. intros A eps [_ [_ O]]. apply andb_true_iff in A. destruct A as [E A]. apply eqq_iff in E.
  apply any_iff in A. destruct A as (n & Hn & A). apply andb_true_iff in A. destruct A as [Ac A].
  apply waits_free_iff in A; auto. destruct A as (B & (i & D & Lo) & St).
  specialize (O n i (is_user P stated_x T placed R n Hn Ac) B D Lo St). lra.
Qed.
End Sound.
