(** States and decides work conservation if groups keep capacity back (docs/axioms.md). No user could run more tasks in
    the free capacity, within the limits and the kept capacity of the groups above it. *)
From Coq Require Import QArith Qround Qreduction Qfield Arith ZArith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Arithmetic Checker Repair Soundness Bundle Answered Placed Certificate Groups.
Open Scope Q_scope.

Section On.
Variable P : problem.
Variable G : grouping.
Notation N := (users P). Notation K := (classes P). Notation M := (resources P). Notation V := (groups G).

(** The tables of use, promises and kept amounts *)
Definition the_tables (x : allocation) : group_tables := {| t_use := use P G x; t_promise := promise G; t_kept_back := kept_for G;
  t_total := total P; t_above := above G; t_taken := fun _ => 0; t_owed := fun _ _ => 0 |}.
Section Tables.
Variable H : group_tables.
Variable tasks_of : nat -> Q.
Definition root_use (r : nat) : Q :=
  add (rsum N (fun n => if on_top (group_of G n) then mul (tasks_of n) (base P n r) else 0))
      (rsum V (fun v => if on_top (parent G v) then larger (t_use H v r) (t_kept_back H v r) else 0)).
Definition root_keeps (r : nat) : bool := any V (fun v => on_top (parent G v) && lt 0 (t_kept_back H v r)).
(** The number of further tasks of n that a bound [mark] on resource r leaves. Further tasks first use the unused
    amounts that are kept back for the groups below ([before]). *)
Definition leaves (mark used before : Q) (n r : nat) : Q := quo (add (larger 0 (sub mark used)) before) (base P n r).
Definition is_shut (v : nat) : bool := never G && negb (priced G v).
(** All bounds above n: limits of groups; guarantees of groups that get nothing beyond them; and the capacity of the
    root, for each resource of which an amount is kept back. A guarantee leaves nothing if it is 0, or if it names no
    resource that n demands. *)
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
(** No bound prevents z more tasks of n. *)
Definition not_stopped (x : allocation) (n : nat) (z : Q) : Prop := Forall (fun b => z <= b) (bounds_above (the_tables x) (tasks P x) n).
(** The amount of a row that is free for n. On a class, it is at most the amount that the limits on classes leave. *)
Definition free_to (held : nat -> bar -> Q) (sl : nat -> nat -> Q) (tk : nat -> nat -> nat -> Q) (n i r : nat) : Q :=
  match left_on P G held n i with Some q => smaller (sl i r) (mul q (tk n i r)) | None => sl i r end.
(** The limits on classes leave room for k i more tasks of n on each class i. Each limit counts all these tasks
    together. *)
Definition within_bars (x : allocation) (n : nat) (k : nat -> Q) : Prop :=
  forall b, In b (bars_on P G) -> below_bar G b n = true ->
    sum K (fun i => k i * b_takes b n i) <= larger 0 (b_most b - taken P G b x).
Definition conserving_of_groups (placing_ : option placing) (eps : Q) (x : allocation) : Prop :=
  a_forest P G /\ match placing_ with
  | None => forall n z, user P n -> runs P n (free_to (held_in P G x) (slack P x) (takes P) n) z -> within_limit P n (tasks P x n + sum K z) ->
      not_stopped x n (sum K z) -> sum K z <= eps * g P n
  | Some l => 0 <= eps /\ forall n k, user P n -> within_limit P n (tasks P x n + gang P n) -> has_places P l n k ->
      within_bars x n k -> not_stopped x n (gang P n) -> 1 <= eps
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
(** Whether [need] tasks of n fit on the first i classes, with at most [most] tasks on each class, within the amounts
    that the limits on classes leave. The search tries all numbers of tasks on the last class, the largest number
    first. *)
Section Fill.
Variable n : nat.
Variable most : nat -> Q.
Definition leave (j : nat) (c : Q) (left : list (bar * Q)) : list (bar * Q) :=
  map (fun bl => (fst bl, sub (snd bl) (mul c (b_takes (fst bl) n j)))) left.
Definition none_below (left : list (bar * Q)) : bool := forallb (fun bl => le 0 (snd bl)) left.
Fixpoint fill (i : nat) (need : Q) (left : list (bar * Q)) : bool :=
  match i with
  | O => eqq need 0
  | S j => le need (rsum i most) && any (S (Z.to_nat (Qfloor (smaller (most j) need)))) (fun c =>
      let c := inject_Z (Z.of_nat c) in let left := leave j c left in none_below left && fill j (sub need c) left)
  end.
End Fill.
Definition bars_of (n : nat) : list (bar * Q) :=
  map (fun kb => (snd kb, larger 0 (sub (b_most (snd kb)) (held (fst kb) (snd kb)))))
    (filter (fun kb => below_bar G (snd kb) n) (numbered 0 (bars_on P G))).
Definition gang_fits (n : nat) : bool :=
  let l := map (most_on P T L F n) (seq 0 K) in fill n (fun i => nth i l 0) K (gang P n) (bars_of n).
Definition waits_free (n : nat) : bool := is_pending P T n && forallb (fun b => le (gang P n) b) (bounds n) && gang_fits n.
Definition check_none_waits (m : Q) : bool := eqq m 0 && users_all P T (fun n => negb (waits_free n)).
Definition check_one_waits (m : Q) : bool := eqq m (-1) && any N (fun n => is_active T n && waits_free n).

End On.

(** ** Equal data have equal bounds. *)
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

Lemma not_stopped_ext P G x n z z' : z == z' -> not_stopped P G x n z -> not_stopped P G x n z'.
Proof. intros E. unfold not_stopped. apply Forall_impl. intros b A. rewrite <- E. exact A. Qed.

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
(** The search is complete: if the tasks fit, it returns true. *)
Lemma leave_in bl n j c l : In bl (leave n j c l) <-> exists q, In (fst bl, q) l /\ snd bl = sub q (mul c (b_takes (fst bl) n j)).
Proof.
  unfold leave. rewrite in_map_iff. split.
  - intros ([b q] & <- & I). exists q. auto.
  - intros (q & I & E). exists (fst bl, q). split; [|exact I]. simpl. rewrite <- E. destruct bl; reflexivity.
Qed.
Lemma fill_iff n most : forall i need left, (forall j, (j < i)%nat -> whole (most j) /\ 0 <= most j) ->
  (forall bl j, In bl left -> (j < i)%nat -> 0 <= b_takes (fst bl) n j) -> (forall bl, In bl left -> 0 <= snd bl) ->
  fill n most i need left = true <-> exists k, sum i k == need /\ (forall j, (j < i)%nat -> whole (k j) /\ 0 <= k j /\ k j <= most j) /\
    forall bl, In bl left -> sum i (fun j => k j * b_takes (fst bl) n j) <= snd bl.
Proof.
  induction i as [|i IH]; intros need left Mo Ta Le.
  - simpl. rewrite eqq_iff. split.
    + intros E. exists (fun _ => 0). split; [symmetry; exact E|]. split; [intros; lia|exact Le].
    + intros (k & E & _). symmetry. exact E.
  - assert (Step : forall c, none_below (leave n i c left) = true <->
      forall bl, In bl left -> c * b_takes (fst bl) n i <= snd bl).
    { intros c. unfold none_below. rewrite forallb_forall. split; intros A.
      - intros bl I. specialize (A (fst bl, sub (snd bl) (mul c (b_takes (fst bl) n i)))). simpl in A.
        assert (J : In (fst bl, sub (snd bl) (mul c (b_takes (fst bl) n i))) (leave n i c left)).
        { apply leave_in. exists (snd bl). simpl. split; [destruct bl; exact I|reflexivity]. }
        specialize (A J). apply le_iff in A. rewrite sub_eq, mul_eq in A. lra.
      - intros bl I. apply leave_in in I. destruct I as (q & I & E). apply le_iff. rewrite E, sub_eq, mul_eq.
        specialize (A (fst bl, q) I). simpl in A. lra. }
    cbn [fill]. rewrite andb_true_iff, le_iff, rsum_eq, any_iff.
    assert (Mi : forall j, (j < i)%nat -> whole (most j) /\ 0 <= most j) by (intros; apply Mo; lia).
    assert (Ti : forall c bl j, In bl (leave n i c left) -> (j < i)%nat -> 0 <= b_takes (fst bl) n j).
    { intros c bl j I Hj. apply leave_in in I. destruct I as (q & I & _). apply (Ta (fst bl, q)); [exact I|lia]. }
    assert (Li : forall c, none_below (leave n i c left) = true -> forall bl, In bl (leave n i c left) -> 0 <= snd bl).
    { intros c A bl I. unfold none_below in A. rewrite forallb_forall in A. apply le_iff. auto. }
    destruct (Mo i ltac:(lia)) as [Wm M0]. split.
    + intros [_ (c & Hc & A)]. cbv zeta in A. apply andb_true_iff in A. destruct A as [A B].
      pose proof (proj1 (Step _) A) as St. apply (IH _ _ Mi (Ti _) (Li _ A)) in B. destruct B as (k & Ek & Ak & Bk).
      set (q := inject_Z (Z.of_nat c)) in *.
      assert (Q0 : 0 <= q) by (unfold q; change 0 with (inject_Z 0); rewrite <- Zle_Qle; lia).
      assert (Qm : q <= most i).
      { destruct (Nat.eq_dec c 0) as [->|Nz]; [exact M0|].
        assert (Zc : (Z.of_nat c <= Qfloor (smaller (most i) need))%Z) by lia.
        apply Qle_trans with (inject_Z (Qfloor (smaller (most i) need))); [unfold q; rewrite <- Zle_Qle; exact Zc|].
        apply Qle_trans with (1 := Qfloor_le _). minmax; lra. }
      exists (fun j => if Nat.eqb j i then q else k j).
      assert (Ext : forall f : nat -> QArith_base.Q, sum i (fun j => (if Nat.eqb j i then q else k j) * f j) == sum i (fun j => k j * f j)).
      { intros f. apply sum_ext. intros j Hj. destruct (Nat.eqb_spec j i); [lia|reflexivity]. }
      split; [|split].
      * simpl. rewrite Nat.eqb_refl, (sum_ext i _ k); [rewrite Ek, sub_eq; ring|]. intros j Hj. destruct (Nat.eqb_spec j i); [lia|reflexivity].
      * intros j Hj. destruct (Nat.eqb_spec j i) as [->|Ne]; [|apply Ak; lia]. split; [exists (Z.of_nat c); reflexivity|]. split; [exact Q0|exact Qm].
      * intros bl I. simpl. rewrite Nat.eqb_refl, Ext.
        assert (J : In (fst bl, sub (snd bl) (mul q (b_takes (fst bl) n i))) (leave n i q left)).
        { apply leave_in. exists (snd bl). simpl. split; [destruct bl; exact I|reflexivity]. }
        specialize (Bk _ J). cbn [fst snd] in Bk. rewrite sub_eq, mul_eq in Bk. lra.
    + intros (k & Ek & Ak & Bk). simpl in Ek. destruct (Ak i ltac:(lia)) as ([z Ez] & K0 & Km).
      assert (Rest : 0 <= sum i k) by (apply sum_nonneg; intros j Hj; apply Ak; lia).
      assert (Z0 : (0 <= z)%Z) by (rewrite Ez in K0; change 0 with (inject_Z 0) in K0; rewrite <- Zle_Qle in K0; exact K0).
      split.
      * rewrite <- Ek. apply (sum_le (S i) k most). intros j Hj. apply Ak. exact Hj.
      * exists (Z.to_nat z). assert (Eq : inject_Z (Z.of_nat (Z.to_nat z)) == k i) by (rewrite Z2Nat.id, Ez by exact Z0; reflexivity).
        split.
        { assert (Zf : (z <= Qfloor (smaller (most i) need))%Z).
          { assert (A : inject_Z z <= smaller (most i) need) by (rewrite <- Ez; minmax; lra).
            apply Qfloor_resp_le in A. rewrite Qfloor_Z in A. exact A. }
          lia. }
        cbv zeta. set (q := inject_Z (Z.of_nat (Z.to_nat z))) in *.
        assert (Nb : none_below (leave n i q left) = true).
        { apply Step. intros bl I. specialize (Bk bl I). simpl in Bk. rewrite Eq.
          assert (0 <= sum i (fun j => k j * b_takes (fst bl) n j)); [|lra]. apply sum_nonneg. intros j Hj.
          apply prod_nonneg; [apply Ak; lia|apply Ta; auto; lia]. }
        apply andb_true_iff. split; [exact Nb|]. apply (IH _ _ Mi (Ti _) (Li _ Nb)). exists k. split; [|split].
        { rewrite sub_eq, Eq, <- Ek. ring. }
        { intros j Hj. apply Ak. lia. }
        { intros bl I. apply leave_in in I. destruct I as (r & I & E). rewrite E, sub_eq, mul_eq, Eq.
          specialize (Bk (fst bl, r) I). simpl in Bk. lra. }
Qed.
Lemma fill_ext n most most' : forall i need left, (forall j, (j < i)%nat -> most j = most' j) -> fill n most i need left = fill n most' i need left.
Proof.
  assert (Sums : forall i a, (forall j, (j < i)%nat -> most j = most' j) -> rsum_from a i most = rsum_from a i most').
  { induction i as [|i IHs]; simpl; intros a A; [reflexivity|]. rewrite A by lia. apply IHs. intros. apply A. lia. }
  assert (Anys : forall m f h, (forall c, f c = h c) -> any m f = any m h).
  { induction m as [|m IHm]; simpl; intros f h A; [reflexivity|]. rewrite A, (IHm f h A). reflexivity. }
  induction i as [|i IH]; intros need left A; [reflexivity|]. cbn [fill]. unfold rsum. rewrite (Sums (S i) 0 A), (A i) by lia. f_equal.
  apply Anys. intros c. f_equal. apply IH. intros. apply A. lia.
Qed.
Lemma bars_of_in n b q : (n < N)%nat -> In (b, q) (bars_of P G H n) -> In b (bars_on P G) /\ below_bar G b n = true /\
  q == larger 0 (b_most b - taken P G b x).
Proof.
  intros Hn I. unfold bars_of in I. apply in_map_iff in I. destruct I as (kb & E & I). apply filter_In in I. destruct I as [I Bl].
  injection E as <- <-. split; [apply (numbered_in _ _ _ I)|]. split; [exact Bl|]. apply larger_ext; [reflexivity|].
  rewrite sub_eq. unfold t_held. rewrite (taken_is P G T H C kb I). reflexivity.
Qed.
Lemma bars_of_all n b : In b (bars_on P G) -> below_bar G b n = true -> exists q, In (b, q) (bars_of P G H n).
Proof.
  intros I Bl. destruct (numbered_all _ b I 0%nat) as [j J].
  exists (larger 0 (sub (b_most b) (t_held H j b))). unfold bars_of. apply in_map_iff. exists (j, b). split; [reflexivity|].
  apply filter_In. auto.
Qed.
Lemma gang_fits_iff n : (n < N)%nat -> gang_fits P G T H L F n = true <->
  exists k, has_places P L n k /\ within_bars P G x n k.
Proof.
  intros Hn. unfold gang_fits. cbv zeta.
  rewrite (fill_ext n _ (most_on P T L F n)).
  2:{ intros j Hj. rewrite (nth_indep _ 0 (most_on P T L F n 0%nat)) by (rewrite map_length, seq_length; exact Hj).
      rewrite map_nth, seq_nth by exact Hj. reflexivity. }
  rewrite fill_iff.
  - split; intros (k & A).
    + destruct A as (Ek & Ak & Bk). exists k. split; [apply (has_places_iff P W T stated_x placed R L F Cl PS n k Hn); auto|].
      intros b I Bl. destruct (bars_of_all n b I Bl) as [q J]. specialize (Bk (b, q) J). simpl in Bk.
      apply bars_of_in in J; auto. destruct J as (_ & _ & E). rewrite <- E. exact Bk.
    + destruct A as [A B]. apply (has_places_iff P W T stated_x placed R L F Cl PS n k Hn) in A. destruct A as [Ek Ak].
      exists k. split; [exact Ek|]. split; [exact Ak|]. intros [b q] J. simpl. apply bars_of_in in J; auto.
      destruct J as (I & Bl & E). rewrite E. apply B; auto.
  - intros j Hj. apply (most_on_whole P W T stated_x placed R L F Cl PS n j Hn Hj).
  - intros [b q] j J Hj. simpl. apply bars_of_in in J; auto. destruct J as (I & _). unfold bars_on in I.
    apply in_map_iff in I. destruct I as (o & <- & I). simpl. destruct (o_on o j); [|lra]. apply filter_In in I.
    destruct I as [_ I]. apply Nat.ltb_lt in I. apply (demand_nonneg P W); auto.
  - intros [b q] J. simpl. apply bars_of_in in J; auto. destruct J as (_ & _ & E). rewrite E. minmax; lra.
Qed.
Lemma waits_free_iff n : (n < N)%nat -> waits_free n = true <->
  within_limit P n (tasks P x n + gang P n) /\ (exists k, has_places P L n k /\ within_bars P G x n k) /\ not_stopped x n (gang P n).
Proof.
  intros Hn. unfold Stopped.waits_free.
  rewrite !andb_true_iff, (is_pending_iff P T stated_x placed R n Hn), (gang_fits_iff n Hn), not_stopped_iff by auto.
  rewrite forallb_forall, Forall_forall. assert (E : (forall b, In b (bounds n) -> le (gang P n) b = true) <->
    forall b, In b (bounds n) -> gang P n <= b) by (split; intros A b I; apply le_iff; auto).
  rewrite E. tauto.
Qed.
Theorem check_none_waits_sound m : check_none_waits m = true -> conserving_of_groups (Some L) (- m) x.
Proof.
  unfold check_none_waits. intros A. apply andb_true_iff in A. destruct A as [A B]. apply eqq_iff in A.
  rewrite (users_all_iff P T stated_x placed R) in B. split; [exact (forest P G T H C)|]. split; [lra|]. intros n k U Wi Pl Lo St. exfalso. specialize (B n U).
  apply negb_true_iff in B. rewrite <- not_true_iff_false in B. apply B. apply waits_free_iff; [apply U|]. eauto.
Qed.
Theorem check_one_waits_sound m : check_one_waits m = true -> forall eps, conserving_of_groups (Some L) eps x -> - m <= eps.
Proof.
  unfold check_one_waits. intros A eps [_ [_ O]]. apply andb_true_iff in A. destruct A as [E A]. apply eqq_iff in E.
  apply any_iff in A. destruct A as (n & Hn & A). apply andb_true_iff in A. destruct A as [Ac A].
  apply waits_free_iff in A; auto. destruct A as (B & (k & D & Lo) & St).
  specialize (O n k (is_user P stated_x T placed R n Hn Ac) B D Lo St). lra.
Qed.
End Sound.
