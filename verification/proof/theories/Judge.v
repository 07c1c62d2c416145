(** Gives the single answer to every claim of a certificate: proven, refused or not covered. The checkers decide which
    claims are proven and which claims are not covered. The reader only has to state the claims correctly. The evidence
    that it reads decides nothing by itself. *)
From Coq Require Import QArith Arith Bool List Lia Lqa.
From Evenhand Require Import Spec Arithmetic Checker Repair Soundness Bundle Envy Limits Prices MaxMin Alpha
  Answered Named Placed UpToOne WholeOptimal Certificate Groups Within Parties Stopped Filled Roots Turn Process Follow.
Open Scope Q_scope.

(** The axioms by name. [Another]: an axiom that Spec.v does not state *)
Inductive axiom_name :=
| OfFeasible | OfIntegerFeasible | OfNonWasteful | OfWorkConserving | OfParetoOptimal | OfIntegerParetoOptimal
| OfEnvyFree | OfEf1 | OfSharingIncentive | OfBottleneck (k : bottleneck) | OfMaxMin (s : named) | OfNjc | OfPsDsf
| OfProportional (s : option named) (alpha : nat) | OfRoot (s : option named) (alpha root : nat) | OfLimits | OfGuarantees
| OfGroupSharing | OfGroupEnvy | OfTree | Another.
(** [says]: the axiom holds, is violated, or does not apply ([None]). *)
Record statement := { about : axiom_name; says : option bool; margin : option Q }.

Section On.
Variable P : problem.
Variable stated_x : allocation.
Variable placing_ : option placing.
Variable G : grouping.
Variable Sib : siblings.

(** Groups hold capacity back if a group has a limit, states an amount that it lends, or gets nothing beyond its
    guarantee. *)
Definition has_limits : bool :=
  any (groups G) (fun v => any (resources P) (fun r => match ceiling G v r with Some _ => true | None => false end)) ||
  match limits_on G with nil => false | _ => true end.
Definition hold_back : bool := has_limits || any (groups G) (fun v =>
  any (resources P) (fun r => match lends G v r with Some _ => true | None => false end) || never G && negb (priced G v)).
Definition tree_applies : bool := all (classes P) (fun i => negb (timed P i)).
(** If shares are dominant shares and there are no groups, the filling is the max-min fair allocation. *)
Definition is_level : bool := Nat.eqb (groups G) 0 && plain Sib.
(** If groups have limits, an axiom that compares x with all feasible allocations compares it only with those that keep
    the limits. The axiom does not apply if capacity is kept back, or if time is shared. *)
Definition compares (a : axiom_name) : bool :=
  match a with
  | OfParetoOptimal | OfIntegerParetoOptimal | OfMaxMin _ | OfBottleneck _ | OfProportional _ _ | OfRoot _ _ _ => true | _ => false
  end.
Definition comparable : Prop := about_groups P G /\ forall v r, (v < groups G)%nat -> (r < resources P)%nat -> kept_for G v r == 0.
Definition among (a : axiom_name) : bool := compares a && has_limits.
Definition possible (x : allocation) : allocation -> Prop := if has_limits then within P G x else feasible P.
Definition covered (a : axiom_name) : bool := match a with Another => false | _ => true end.

Definition axiom_of (a : axiom_name) (x : allocation) (eps : Q) : Prop :=
  match a with
  | OfFeasible => stated_within P stated_x placing_ eps
  | OfIntegerFeasible => integer_feasible P (the_placing P stated_x placing_) eps stated_x
  | OfWorkConserving => if hold_back then conserving_of_groups P G placing_ eps x else conserving P placing_ eps x
  | OfParetoOptimal => pareto_optimal_among P (possible x) eps x
  | OfIntegerParetoOptimal => integer_pareto_optimal_among P (possible x) eps x
  | OfEnvyFree => envy_free P eps x
  | OfEf1 => ef1 P eps x
  | OfSharingIncentive => sharing_incentive P eps x
  | OfBottleneck k => bottleneck_fair_among P (possible x) k eps x
  | OfMaxMin s => max_min_among P (possible x) (worth P s) eps x
  | OfNjc => no_justified_complaints P eps x
  | OfPsDsf => ps_dsf P eps x
  | OfProportional s a => proportional_among P (possible x) (worth_of_tasks P s) a eps x
  | OfRoot s a q => alpha_fair_among P (possible x) (worth_of_tasks P s) a q eps x
  | OfGroupSharing => group_sharing_incentive P G Sib x eps
  | OfGroupEnvy => group_envy_free P G Sib x eps
  | OfTree => if is_level then filled P eps x else filled_by_turns P G Sib eps x
  | OfLimits => limits_kept P G eps x
  | OfGuarantees => guarantees_kept P G eps x
  | OfNonWasteful | Another => True
  end.
Definition fits_problem (a : axiom_name) (x : allocation) : Prop :=
  match a with
  | OfIntegerFeasible => on_single_servers P stated_x placing_
  | OfEf1 | OfIntegerParetoOptimal => whole_tasks P placing_ x
  | OfBottleneck k => exists r, is_bottleneck P k r
  | OfMaxMin s | OfProportional (Some s) _ | OfRoot (Some s) _ _ => defined P s
  | OfLimits | OfGuarantees | OfGroupSharing | OfGroupEnvy => about_groups P G
  | OfWorkConserving => hold_back = true -> about_groups P G
  | OfTree => tree_applies = true /\ defined P Drfh
  | _ => True
  end.
Definition applies (a : axiom_name) (x : allocation) : Prop := fits_problem a x /\ (among a = true -> comparable).
(** The tolerance does not excuse an excess if tasks are on single servers. *)
Definition excused (tolerance : Q) (a : axiom_name) : Q :=
  match a with OfFeasible | OfIntegerFeasible => of_limits placing_ tolerance | _ => tolerance end.

(** A claim that an axiom holds or is violated has a margin, with two exceptions. No user or limit exists to which the
    axiom applies, or no eps is large enough. Every claim requires that the axiom applies to the problem. *)
Definition is_true (tolerance : Q) (x : allocation) (st : statement) : Prop :=
  covered (about st) = true /\
  match says st, margin st with
  | None, None => ~ applies (about st) x
  | Some true, None => applies (about st) x /\ ((forall eps, axiom_of (about st) x eps) \/ forall n, ~ user P n)
  | Some true, Some m => applies (about st) x /\ holds (axiom_of (about st) x) (excused tolerance (about st)) m
  | Some false, Some m => applies (about st) x /\ violated (axiom_of (about st) x) (excused tolerance (about st)) m
  | Some false, None => applies (about st) x /\ forall eps, ~ axiom_of (about st) x eps
  | None, Some _ => False
  end.

(** * The program *)
Inductive party_claim := Compared (envy : bool) (f : nat -> nat -> party_proof)
| Gains (envy : bool) (k h : nat) (y : allocation) | NoParties (envy : bool).
Inductive filling_claim := Ends (F : filling) | Turns (v : nat -> nat -> Q) (E : following) | NotFilled (v : nat -> nat -> Q) | NobodyFilled.
Inductive root_claim := RootPrices (v : roots) (p : prices) | RootBetter (v : roots) (y : allocation)
| RootNothing (v : worths) (n : nat) | RootUndefined (v : nat -> nat -> Q) | RootIdle.
Inductive evidence := OfProblem (c : claim) | OfGroups (c : group_claim) | OfParties (c : party_claim)
| OfFilling (c : filling_claim) | OfRoots (c : root_claim) | OfStops | NotComparable.
Inductive answer := Proven | Refused | NotCovered.

Definition same_named (a b : named) : bool :=
  match a, b with
  | Drfh, Drfh | Cdrf, Cdrf | Tsf, Tsf | Asset, Asset | Generic, Generic => true
  | Resource r, Resource q => Nat.eqb r q
  | _, _ => false
  end.
Definition same_share (a b : option named) : bool :=
  match a, b with Some a, Some b => same_named a b | None, None => true | _, _ => false end.
Definition same_kind (a b : bottleneck) : bool :=
  match a, b with
  | OnEveryClass, OnEveryClass | OfTheCluster, OfTheCluster | Single, Single => true | _, _ => false end.

(** The four forms in which a claim is stated *)
Inductive shape := Inapplicable | Vacuous | Hopeless | Measured.
Definition shape_of (c : claim) : shape :=
  match c with
  | Undefined _ _ | NoBottleneck _ | NotWhole | NotSingle => Inapplicable
  | NoPair | NoPair1 | NoLimit | NoBound | Idle | IdleWhole | IdleShare _ _ | IdleBottleneck _ | Unwanted _ _
  | UnwantedBottleneck _ _ => Vacuous
  | Nothing _ _ _ _ => Hopeless
  | _ => Measured
  end.
Definition is_stated (s : shape) (st : statement) : bool :=
  match s, says st, margin st with
  | Inapplicable, None, None | Vacuous, Some true, None | Hopeless, Some false, None | Measured, Some _, Some _ => true
  | _, _, _ => false
  end.
(** The claim is about the axiom a. *)
Definition is_of (a : axiom_name) (c : claim) : bool :=
  match a, c with
  | OfFeasible, (Feasible | NoBound) | OfIntegerFeasible, (Integer | NoLimit | NotSingle) | OfNonWasteful, NonWasteful
  | OfParetoOptimal, (Pareto _ _ | Dominated _ | Idle)
  | OfIntegerParetoOptimal, (WholePrices _ _ | BetterPlacing _ _ _ | IdleWhole | NotWhole)
  | OfEnvyFree, (Envy _ _ _ | NoPair) | OfEf1, (Ef1 _ _ _ | NoPair1 | NotWhole)
  | OfSharingIncentive, (Sharing | Idle) | OfNjc, (Njc | Idle) | OfPsDsf, (PsDsf _ | Idle)
  | OfProportional None _, Idle => true
  | OfBottleneck k, (Bottlenecks b _ | Fallen b _ _ _ _ | NoBottleneck b | IdleBottleneck b | UnwantedBottleneck b _) =>
      same_kind k b
  | OfMaxMin s, (MaxMin t _ _ | Rise t _ _ _ | Undefined t _ | IdleShare t _ | Unwanted t _) => same_named s t
  | OfProportional (Some s) _, (Undefined t _ | IdleShare t _) => same_named s t
  | OfProportional s a, (Proportional t _ b _ | Better t _ b _ | Nothing t _ b _) => same_share s t && Nat.eqb a b
  | OfWorkConserving, Conserving => negb hold_back
  | OfWorkConserving, Idle => negb hold_back || check_about P G
  | _, _ => false
  end.
Definition is_of_groups (st : statement) (c : group_claim) : bool :=
  match about st, c, says st, margin st with
  | OfLimits, Limited, Some _, Some _ | OfGuarantees, Guaranteed, Some _, Some _
  | OfLimits, Unlimited, Some true, None
  | (OfLimits | OfGroupSharing | OfGroupEnvy), NotAbout, None, None | OfGuarantees, NotAbout, None, None => true
  | OfGuarantees, Nobody, Some true, None => check_about P G
  | _, _, _, _ => false
  end.

Variable T : tables.
Variable totals : nat -> Q.
Variable places_ : places.
Variable H : group_tables.
Variable A : party_tables.

Definition is_of_parties (st : statement) (envy : bool) : bool :=
  match about st with OfGroupSharing => negb envy | OfGroupEnvy => envy | _ => false end.
Definition check_party_claim (tolerance : Q) (st : statement) (c : party_claim) (h : bool) (m : Q) : bool :=
  check_about P G && check_party_tables P G Sib T H A &&
  match c, says st, margin st with
  | Compared envy f, Some true, Some _ => is_of_parties st envy && verdict true false tolerance h m && check_parties P G Sib T A envy m f
  | Gains envy k l y, Some false, Some _ =>
      is_of_parties st envy && verdict false true tolerance h m && check_party_gains P G Sib T H A envy m k l y
  | NoParties envy, Some true, None => is_of_parties st envy && check_no_parties P G Sib A envy
  | _, _, _ => false
  end.
Definition check_filling_claim (tolerance : Q) (st : statement) (c : filling_claim) (h : bool) (m : Q) : bool :=
  match about st, c, says st, margin st with
  | OfTree, Ends F, Some _, Some _ => is_level && tree_applies && verdict true true tolerance h m && check_filled P T totals F m
  | OfTree, Turns v E, Some _, Some _ => negb is_level && tree_applies && verdict true true tolerance h m &&
      check_worth P totals Drfh v && check_defined P T totals Drfh v && check_turns P G Sib T E m
  | OfTree, NotFilled v, None, None => negb tree_applies || check_worth P totals Drfh v && negb (check_defined P T totals Drfh v)
  | OfTree, NobodyFilled, Some true, None => tree_applies && check_nobody P T
  | _, _, _, _ => false
  end.
Definition the_scope : scope := if has_limits then scope_within P G T else everywhere P T.
Definition check_root_claim (tolerance : Q) (st : statement) (c : root_claim) (h : bool) (m : Q) : bool :=
  match about st, c, says st, margin st with
  | OfRoot s a q, RootPrices v p, Some true, Some _ => verdict true false tolerance h m &&
      check_worth_tasks P T totals s (r_u v) && check_root_prices P T the_scope v a q p m
  | OfRoot s a q, RootBetter v y, Some false, Some _ => verdict false true tolerance h m &&
      check_worth_tasks P T totals s (r_u v) && check_root_better P T the_scope v a q y m
  (* For a whole alpha, rationals enclose numbers that are too long. *)
  | OfProportional s a, RootPrices v p, Some true, Some _ => verdict true false tolerance h m &&
      check_worth_tasks P T totals s (r_u v) && check_root_prices P T the_scope v a 1 p m
  | OfProportional s a, RootBetter v y, Some false, Some _ => verdict false true tolerance h m &&
      check_worth_tasks P T totals s (r_u v) && check_root_better P T the_scope v a 1 y m
  | OfRoot s a q, RootNothing v n, Some false, None => check_worth_tasks P T totals s (v_u v) && check_nothing P T the_scope v n
  | OfRoot s a q, RootUndefined v, None, None =>
      match s with Some s => check_worth P totals s v && negb (check_defined P T totals s v) | None => false end
  | OfRoot s _ _, RootIdle, Some true, None => check_nobody P T &&
      match s with None | Some (Drfh | Tsf | Asset | Generic) => true | _ => false end
  | _, _, _, _ => false
  end.

Definition check_stops (tolerance : Q) (st : statement) (h : bool) (m : Q) : bool :=
  hold_back &&
  match about st, says st, margin st with
  | OfWorkConserving, Some _, Some _ => check_about P G && match placing_ with
      | None => verdict true true tolerance h m && check_stopped P G T H m
      | Some l => verdict true false tolerance h m && check_none_waits P G T H l places_ m && negb (check_nobody P T) ||
          verdict false true tolerance h m && check_one_waits P G T H l places_ m
      end
  | OfWorkConserving, None, None => negb (check_about P G)
  | _, _, _ => false
  end.

Definition check_comparable : bool :=
  check_about P G && all (groups G) (fun v => all (resources P) (fun r => eqq (t_kept_back H v r) 0)).
(** The axiom compares x only within the limits of groups, and it applies. *)
Definition check_among (st : statement) : bool :=
  negb (among (about st)) || check_group_tables P G T H && check_comparable || match says st with None => true | _ => false end.
Definition check_not_comparable (st : statement) : bool :=
  among (about st) && negb check_comparable && match says st, margin st with None, None => true | _, _ => false end.

(** If [only_limits] is true, the allocation may be infeasible, and only its feasibility is judged. *)
Definition is_allowed (only_limits : bool) (a : axiom_name) : bool :=
  negb only_limits || match a with OfFeasible | OfIntegerFeasible => true | _ => false end.
Definition judge (tolerance : Q) (only_limits : bool) (st : statement) (e : evidence) : answer :=
  if negb (covered (about st)) then NotCovered else
  let h := match says st with Some b => b | None => false end in
  let m := match margin st with Some m => m | None => 0 end in
  if is_allowed only_limits (about st) && check_among st &&
    match e with
    | OfProblem c => is_of (about st) c && is_stated (shape_of c) st &&
        check_claim P stated_x placing_ T totals places_ the_scope tolerance c h m
    | OfGroups c => is_of_groups st c && check_group_tables P G T H && check_group_claim P G T H tolerance c h m
    | OfParties c => check_group_tables P G T H && check_party_claim tolerance st c h m
    | OfFilling c => check_filling_claim tolerance st c h m
    | OfRoots c => check_root_claim tolerance st c h m
    | OfStops => check_group_tables P G T H && check_stops tolerance st h m
    | NotComparable => check_group_tables P G T H && check_not_comparable st
    end
  then Proven else Refused.

(** * Soundness *)
Lemma same_named_iff a b : same_named a b = true -> a = b.
Proof. destruct a, b; simpl; try discriminate; auto. intros E. apply Nat.eqb_eq in E. congruence. Qed.
Lemma same_kind_iff a b : same_kind a b = true -> a = b.
Proof. destruct a, b; simpl; try discriminate; auto. Qed.
Lemma same_share_iff a b : same_share a b = true -> a = b.
Proof. destruct a, b; simpl; try discriminate; auto. intros E. f_equal. apply same_named_iff. auto. Qed.

Lemma check_comparable_iff : check_group_tables P G T H = true -> check_comparable = true <-> comparable.
Proof.
  intros Gt. unfold check_comparable, comparable. rewrite andb_true_iff, check_about_iff, all_iff. split; intros [Ab Kp]; (split; [exact Ab|]).
  - intros v r Hv Hr. specialize (Kp v Hv). rewrite all_iff in Kp. specialize (Kp r Hr). apply eqq_iff in Kp.
    rewrite <- (kept_is P G T H Gt) by auto. exact Kp.
  - intros v Hv. apply all_iff. intros r Hr. apply eqq_iff. rewrite (kept_is P G T H Gt) by auto. auto.
Qed.

Theorem judge_sound tolerance only_limits st e :
  check_case P stated_x placing_ T totals places_ tolerance only_limits = true ->
  judge tolerance only_limits st e = Proven -> is_true tolerance (t_x T) st.
Proof.
  intros C J. unfold judge in J. destruct (covered (about st)) eqn:Cov; [|discriminate]. cbn [negb] in J.
  match type of J with (if ?b then _ else _) = _ => destruct b eqn:E; [|discriminate] end. clear J.
  rewrite !andb_true_iff in E. destruct E as [[Al Am] E]. split; [exact Cov|].
  destruct st as [a sa ma]. simpl in *.
  assert (Co : sa <> None -> among a = true -> comparable).
  { intros Ne A1. unfold check_among in Am. cbn [about says] in Am. rewrite A1 in Am. cbn [negb orb] in Am.
    apply orb_true_iff in Am. destruct Am as [Am|Am]; [|destruct sa; congruence]. apply andb_true_iff in Am. destruct Am as [Gt Am].
    apply check_comparable_iff; auto. }
  assert (RS : right_scope P (possible (t_x T)) the_scope).
  { pose proof (case_sound P stated_x placing_ T totals places_ tolerance only_limits C) as [W _].
    assert (R : right P stated_x T (is_placed placing_)).
    { unfold check_case in C. rewrite !andb_true_iff in C. apply check_tables_sound. tauto. }
    unfold possible, the_scope. destruct has_limits; [eapply scope_within_right|eapply everywhere_right]; eauto. }
  cut (match sa, ma with
    | None, None => ~ (fits_problem a (t_x T) /\ (among a = true -> comparable))
    | Some true, None => fits_problem a (t_x T) /\ ((forall eps, axiom_of a (t_x T) eps) \/ forall n, ~ user P n)
    | Some true, Some m => fits_problem a (t_x T) /\ holds (axiom_of a (t_x T)) (excused tolerance a) m
    | Some false, Some m => fits_problem a (t_x T) /\ violated (axiom_of a (t_x T)) (excused tolerance a) m
    | Some false, None => fits_problem a (t_x T) /\ forall eps, ~ axiom_of a (t_x T) eps
    | None, Some _ => False
    end).
  { unfold applies. clear - Co. intros Mn. destruct sa as [[|]|]; [specialize (Co ltac:(discriminate))..|]; destruct ma; tauto. }
  set (h := match sa with Some b => b | None => false end) in *.
  set (m := match ma with Some m => m | None => 0 end) in *.
  destruct e as [c|c|c|c|c| |].
  - rewrite !andb_true_iff in E. destruct E as [[O Sh] Ck].
    assert (Ab : is_about_limits c = true \/ only_limits = false).
    { unfold is_allowed in Al. destruct only_limits; [left|right; reflexivity]. simpl in Al.
      destruct a; try discriminate; destruct c; simpl in O; try discriminate; reflexivity. }
    pose proof (claim_sound P stated_x placing_ (possible (t_x T)) T totals places_ the_scope tolerance only_limits c h m RS C Ck Ab) as M.
    assert (Worth : forall s v, check_worth_tasks P T totals (Some s) v = true -> defined P s).
    { intros s v Wt. unfold check_worth_tasks in Wt. apply andb_true_iff in Wt. destruct Wt as [W1 W2].
      unfold check_case in C. rewrite !andb_true_iff in C. destruct C as [[[[[[[_ TB] TO] _] _] _] _] _].
      eapply check_defined_sound; eauto. apply check_tables_sound. exact TB. }
    destruct c; simpl in Sh; unfold is_stated in Sh; simpl in Sh; destruct sa as [[|]|], ma as [q|]; try discriminate Sh;
      clear Sh; subst h m; cbv beta iota in *;
      destruct a; simpl in O; try discriminate O;
      repeat match goal with
      | s : option named |- _ => destruct s
      end; simpl in O; try discriminate O;
      rewrite ?andb_true_iff, ?Nat.eqb_eq in O;
      repeat match goal with
      | X : _ /\ _ |- _ => destruct X
      | X : same_named _ _ = true |- _ => apply same_named_iff in X; subst
      | X : same_kind _ _ = true |- _ => apply same_kind_iff in X; subst
      | X : @eq nat _ _ |- _ => subst
      end;
      try (apply negb_true_iff in O; assert (Ax : axiom_of OfWorkConserving = fun y eps => conserving P placing_ eps y)
          by (unfold axiom_of; rewrite O; reflexivity);
        cbn [about says margin]; rewrite Ax; split; [cbn [fits_problem]; congruence|exact M]);
      simpl in M |- *; unfold excused, tolerance_of in *; try tauto;
      try (split; [intros Hb; rewrite Hb in O; simpl in O; apply check_about_iff in O; exact O|right; exact M]);
      unfold check_claim in Ck; rewrite ?andb_true_iff in Ck.
    + destruct Ck as [V E]. apply eqq_iff in E. unfold verdict in V. simpl in V. apply le_iff in V.
      split; [exact I|]. split; [exact V|exact I].
    + destruct Ck as [V _]. discriminate V.
    + intros [[r B] _]. exact (M r B).
    + split; [apply (Worth n (v_u v)); tauto|exact M].
    + split; [apply (Worth n (v_u v)); tauto|exact M].
    + split; [apply (Worth n (v_u v)); tauto|exact M].
    + split; [apply (Worth n (v_u v)); tauto|exact M].
    + split; [apply (Worth n0 (v_u v)); tauto|exact M].
  - rewrite !andb_true_iff in E. destruct E as [[O Gt] Ck].
    assert (M : group_meaning P G T tolerance c h m).
    { apply (group_claim_sound P G T H stated_x (is_placed placing_)); auto.
      unfold check_case in C. rewrite !andb_true_iff in C. apply check_tables_sound. tauto. }
    unfold is_of_groups in O. simpl in O.
    destruct a; try discriminate O; destruct c; try discriminate O; destruct sa as [[|]|]; try discriminate O;
      destruct ma as [q|]; try discriminate O; try (destruct promises; try discriminate O);
      subst h m; simpl in M |- *; try (apply check_about_iff in O); tauto.
  - rewrite andb_true_iff in E. destruct E as [Gt Ck].
    assert (R : right P stated_x T (is_placed placing_)).
    { unfold check_case in C. rewrite !andb_true_iff in C. apply check_tables_sound. tauto. }
    assert (W : well_formed P) by apply (case_sound _ _ _ _ _ _ _ _ C).
    unfold check_party_claim in Ck. rewrite !andb_true_iff in Ck. destruct Ck as [[Ab Pt] Ck].
    apply check_about_iff in Ab. simpl in Ck.
    pose proof (fun envy m f => check_parties_sound P G Sib (t_x T) T H A W stated_x (is_placed placing_) R eq_refl Gt Pt envy m f) as S1.
    pose proof (fun envy m k l y => check_party_gains_sound P G Sib (t_x T) T H A stated_x (is_placed placing_) R eq_refl Gt Pt envy m k l y) as S2.
    pose proof (fun envy => check_no_parties_sound P G Sib (t_x T) T H A stated_x (is_placed placing_) R Gt Pt envy) as S3.
    destruct c as [envy f|envy k l y|envy]; destruct sa as [[|]|]; try discriminate Ck; destruct ma as [q|]; try discriminate Ck;
      subst h m; rewrite ?andb_true_iff in Ck; unfold is_of_parties in Ck; simpl in Ck.
    + destruct Ck as [[O V] Ck]. specialize (S1 envy q f Ck).
      destruct a, envy; try discriminate O; simpl in S1 |- *; (split; [exact Ab|]); unfold excused;
        (split; [apply le_iff; exact V|exact S1]).
    + destruct Ck as [[O V] Ck]. pose proof (S2 envy q k l y Ck) as S.
      destruct a, envy; try discriminate O; simpl in S |- *; (split; [exact Ab|]); unfold excused;
        (split; [apply lt_iff; exact V|exact S]).
    + destruct Ck as [O Ck]. specialize (S3 envy Ck).
      destruct a, envy; try discriminate O; simpl in S3 |- *; (split; [exact Ab|left; auto]).
  - unfold check_filling_claim in E. simpl in E.
    unfold check_case in C. rewrite !andb_true_iff in C. destruct C as [[[[[[[Wf TB] TO] _] _] _] _] _].
    apply check_well_formed_sound in Wf. pose proof (check_tables_sound P stated_x T (is_placed placing_) TB) as R.
    destruct a; try discriminate E. destruct c as [F|v E'|v|]; destruct sa as [[|]|]; try discriminate E; destruct ma as [q|];
      try discriminate E; subst h m; rewrite ?andb_true_iff in E; cbn [about says margin fits_problem axiom_of].
    1, 2: destruct E as [[[Lv Ta] V] E]; destruct (check_filled_sound P T totals Wf stated_x (is_placed placing_) R TO F q E) as [S1 S2];
      destruct (ended P T totals Wf stated_x (is_placed placing_) R TO F q E) as (_ & _ & De & _); (split; [split; [exact Ta|exact De]|]);
      apply (verdict_iff (axiom_of OfTree (t_x T)) true true _ _ _ V); intros _; unfold axiom_of; rewrite Lv; [exact S1|exact S2].
    1, 2: destruct E as [[[[[Lv Ta] V] Wo] De] E]; apply negb_true_iff in Lv;
      destruct (check_turns_sound P G Sib T Wf stated_x (is_placed placing_) R E' q E) as [S1 S2];
      (split; [split; [exact Ta|eapply check_defined_sound; eauto]|]);
      apply (verdict_iff (axiom_of OfTree (t_x T)) true true _ _ _ V); intros _; unfold axiom_of; rewrite Lv; [exact S1|exact S2].
    + intros [[Ta De] _]. apply orb_true_iff in E. destruct E as [E|E]; [apply negb_true_iff in E; congruence|].
      apply andb_true_iff in E. destruct E as [B D]. apply negb_true_iff in D.
      exact (check_undefined_sound P T stated_x (is_placed placing_) R totals TO Drfh v B D De).
    + destruct E as [Ta E].
      assert (Nb : forall n, ~ user P n).
      { intros n U. destruct (user_is P stated_x T (is_placed placing_) R n U) as [Hn An].
        unfold check_nobody in E. rewrite all_iff in E. specialize (E n Hn). rewrite An in E. discriminate. }
      split; [|right; exact Nb]. split; [exact Ta|]. intros n i U. destruct (Nb n U).
  - unfold check_root_claim in E. simpl in E.
    unfold check_case in C. rewrite !andb_true_iff in C. destruct C as [[[[[[[Wf TB] TO] _] _] _] _] _].
    apply check_well_formed_sound in Wf. pose proof (check_tables_sound P stated_x T (is_placed placing_) TB) as R.
    assert (Tasks1 : forall s v, check_worth_tasks P T totals s v = true ->
      forall n i, (n < users P)%nat -> (i < classes P)%nat -> v n i == worth_of_tasks P s n i).
    { intros s v Hs n i Hn Hi. unfold check_worth_tasks in Hs. destruct s as [s|].
      - apply andb_true_iff in Hs. apply (check_worth_sound P totals TO s v); tauto.
      - rewrite all_iff in Hs. specialize (Hs n Hn). rewrite all_iff in Hs. apply eqq_iff. auto. }
    assert (Def : forall s v, check_worth_tasks P T totals s v = true -> match s with Some s => defined P s | None => True end).
    { intros [s|] v Hs; [|exact I]. unfold check_worth_tasks in Hs. apply andb_true_iff in Hs. destruct Hs.
      eapply check_defined_sound; eauto. }
    assert (Nobody : check_nobody P T = true -> forall n, ~ user P n).
    { intros Nb n U. destruct (user_is P stated_x T (is_placed placing_) R n U) as [Hn An].
      unfold check_nobody in Nb. rewrite all_iff in Nb. specialize (Nb n Hn). rewrite An in Nb. discriminate. }
    destruct a as [| | | | | | | | |k|s| | |s al|s al rt| | | | | |]; try discriminate E;
      destruct c as [v p|v y|v n|v|]; destruct sa as [[|]|]; try discriminate E; destruct ma as [q|];
      try discriminate E; subst h m; rewrite ?andb_true_iff in E; simpl; unfold excused.
    + destruct E as [[V Wt] E]. split; [apply (Def s _ Wt)|]. apply (verdict_iff _ true false _ _ _ V); [|discriminate]. intros _.
      pose proof (check_root_prices_sound P T the_scope v Wf stated_x (is_placed placing_) R al 1 _ RS p q E) as O.
      assert (Q0 : 0 <= - q).
      { unfold check_root_prices in E. rewrite !andb_true_iff in E. destruct E as [[_ E] _]. apply le_iff in E. lra. }
      apply (whole_alpha P Wf); auto. apply (alpha_ext P _ (r_u v)); [apply (Tasks1 s _ Wt)|exact O].
    + destruct E as [[V Wt] E]. split; [apply (Def s _ Wt)|]. apply (verdict_iff _ false true _ _ _ V); [discriminate|].
      intros _ eps O. destruct (Qlt_le_dec eps 0) as [Ng|Ps].
      * pose proof (proportional_more P Wf _ _ _ eps 0 _ ltac:(lra) O) as O'.
        apply (alpha_whole P Wf) in O'; [|lra]. apply (alpha_ext P _ _ (r_u v)) in O'; [|intros; symmetry; apply (Tasks1 s _ Wt); auto].
        pose proof (check_root_better_sound P T the_scope v stated_x (is_placed placing_) R al 1 _ RS y q E 0 O').
        unfold check_root_better in E. rewrite !andb_true_iff in E. destruct E as [[_ E] _]. apply lt_iff in E. lra.
      * apply (check_root_better_sound P T the_scope v stated_x (is_placed placing_) R al 1 _ RS y q E).
        apply (alpha_ext P _ (worth_of_tasks P s)); [intros; symmetry; apply (Tasks1 s _ Wt); auto|]. apply (alpha_whole P Wf); auto.
    + destruct E as [[V Wt] E]. split; [apply (Def s _ Wt)|]. apply (verdict_iff _ true false _ _ _ V); [|discriminate]. intros _.
      pose proof (check_root_prices_sound P T the_scope v Wf stated_x (is_placed placing_) R al rt _ RS p q E) as O.
      apply (alpha_ext P _ (r_u v)); [apply (Tasks1 s _ Wt)|exact O].
    + destruct E as [[V Wt] E]. split; [apply (Def s _ Wt)|]. apply (verdict_iff _ false true _ _ _ V); [discriminate|].
      intros _ eps O. apply (check_root_better_sound P T the_scope v stated_x (is_placed placing_) R al rt _ RS y q E).
      apply (alpha_ext P _ (worth_of_tasks P s)); [intros; symmetry; apply (Tasks1 s _ Wt); auto|exact O].
    + destruct E as [Wt E]. split; [apply (Def s _ Wt)|]. intros eps O.
      apply (check_root_nothing_sound P T the_scope stated_x (is_placed placing_) R al rt (possible (t_x T)) n v E eps).
      apply (alpha_ext P _ (worth_of_tasks P s)); [intros; symmetry; apply (Tasks1 s _ Wt); auto|exact O].
    + destruct s as [s|]; [|discriminate E]. rewrite andb_true_iff in E. destruct E as [B D]. apply negb_true_iff in D.
      intros [O _]. exact (check_undefined_sound P T stated_x (is_placed placing_) R totals TO s v B D O).
    + destruct E as [E Kn]. pose proof (Nobody E) as Nb. split; [|right; exact Nb].
      destruct s as [[]|]; try discriminate Kn; try exact I; intros n i U; destruct (Nb n U).
  - apply andb_true_iff in E. destruct E as [Gt E]. unfold check_stops in E. simpl in E. apply andb_true_iff in E. destruct E as [Hb E].
    destruct (case_sound _ _ _ _ _ _ _ _ C) as (W & _ & PL & F0 & _). unfold check_case in C.
    rewrite !andb_true_iff in C. destruct C as [[[[[[[_ TB] _] _] PS] _] _] _].
    pose proof (check_tables_sound P stated_x T (is_placed placing_) TB) as R. pose proof (p_class _ _ _ PL) as Cl.
    destruct a; try discriminate E.
    assert (Fx : feasible P (t_x T)).
    { apply F0. destruct only_limits; [discriminate Al|auto]. }
    assert (Ax : axiom_of OfWorkConserving = fun y eps => conserving_of_groups P G placing_ eps y)
      by (unfold axiom_of; rewrite Hb; reflexivity).
    cbn [about says margin]. rewrite Ax. destruct sa as [sb|]; destruct ma as [q|]; try discriminate E; try (destruct sb; discriminate E).
    + subst h m. cbv beta iota in E. apply andb_true_iff in E. destruct E as [Ab E]. apply check_about_iff in Ab.
      unfold the_placing in PS, Cl. unfold excused. destruct placing_ as [l|].
      * pose proof (fun E => check_none_waits_sound P G T H l places_ W stated_x _ R Gt Cl PS q E) as S1.
        pose proof (fun E => check_one_waits_sound P G T H l places_ W stated_x _ R Gt Cl PS q E) as S2.
        apply orb_true_iff in E. rewrite !andb_true_iff in E.
        assert (V : if sb then holds (fun eps => conserving_of_groups P G (Some l) eps (t_x T)) tolerance q
          else violated (fun eps => conserving_of_groups P G (Some l) eps (t_x T)) tolerance q).
        { destruct E as [[[V E] _]|[V E]]; unfold verdict in V; destruct sb; try discriminate V; simpl in V.
          - apply le_iff in V. split; auto.
          - apply lt_iff in V. split; auto. }
        destruct sb; (split; [intros _; exact Ab|exact V]).
      * apply andb_true_iff in E. destruct E as [V E].
        destruct (check_stopped_sound P G T H W stated_x _ R Gt Fx q E) as [S1 S2].
        assert (V' : if sb then holds (fun eps => conserving_of_groups P G None eps (t_x T)) tolerance q
          else violated (fun eps => conserving_of_groups P G None eps (t_x T)) tolerance q)
          by (apply (verdict_iff _ true true _ _ _ V); auto).
        destruct sb; (split; [intros _; exact Ab|exact V']).
    + cbn [fits_problem]. intros [Ab _]. specialize (Ab Hb). apply check_about_iff in Ab. rewrite Ab in E. discriminate.
  - apply andb_true_iff in E. destruct E as [Gt E]. unfold check_not_comparable in E. cbn [about says margin] in E.
    rewrite !andb_true_iff, negb_true_iff in E. destruct E as [[E1 E3] E4]. destruct sa, ma; try discriminate E4.
    cbn [about says margin]. intros [_ Cm]. specialize (Cm E1). apply (check_comparable_iff Gt) in Cm. congruence.
Qed.
End On.
