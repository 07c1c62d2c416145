(** Defines hierarchical filling (docs/groups.md, section 9) as a process. All users start with no tasks. Their tasks
    grow at the rates of Turn.v until no user may grow. This file states the axiom `tree` with groups, and proves that
    the process has at most one end. *)
From Coq Require Import QArith Qabs Qreduction Qfield Arith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Arithmetic Groups Parties Turn.
Open Scope Q_scope.

Section On.
Variable P : problem.
Variable G : grouping.
Variable Sib : siblings.
Notation N := (users P). Notation K := (classes P). Notation M := (resources P). Notation V := (groups G).

(** * The data of the problem *)
Definition is_there (r : nat) : bool := lt 0 (total P r).
Definition reduced (q : option Q) : option Q := match q with Some q => Some (Qred q) | None => None end.
Definition stands_below (c : node) : option nat := match c with Root => None | Team v => parent G v | One n => group_of G n end.
(** The amount of the cluster that the children of a node can borrow *)
Fixpoint lendable (depth : nat) (p : option nat) (r : nat) : Q :=
  match depth with
  | O => 0
  | S d =>
      let kept := lsum (map (fun v => if match p with None => is_top (parent G v) | Some u => child G u v end
        then kept_for G v r else 0) (seq 0 V)) in
      match p with
      | None => sub (total P r) kept
      | Some v => let most := add (lendable d (parent G v) r) (kept_for G v r) in
          sub (match ceiling G v r with Some l => smaller most l | None => most end) kept
      end
  end.
Definition share_over (c : node) (f : nat) : Q :=
  let of_kin whole := lsum (map (fun r => if is_there r && Nat.eqb (family Sib r) f then whole r else 0) (seq 0 M)) in
  match measure Sib with
  | OfCluster => of_kin (total P)
  | OfLendable => of_kin (lendable (S V) (stands_below c))
  | OfGuarantee =>
      let promised := of_kin (fun r => match c with Team v => or0 (promise G v r) | _ => 0 end) in
      if negb (of_surplus Sib) && eqq promised 0 then of_kin (total P) else promised
  end.
Definition the_facts : facts := {|
  line_of := above G;
  asked := fun n r => if is_there r then Qred (base P n r) else 0;
  weight_of := fun c => match c with Root => 1 | Team v => if eqq (group_weight Sib v) 0 then 1 else Qred (group_weight Sib v)
    | One n => Qred (weight P n) end;
  weighs_nothing := fun c => match c with Team v => eqq (group_weight Sib v) 0 | _ => false end;
  priority_of := fun c => match c with Team v => priority Sib v | _ => 0 end;
  keep := fun v r => Qred (kept_for G v r);
  pledged := fun v r => if is_there r then reduced (promise G v r) else None;
  most_of := fun v r => if is_there r then reduced (ceiling G v r) else None;
  whole := fun r => Qred (total P r);
  whole_kept := fun r => any V (fun v => is_top (parent G v) && lt 0 (kept_for G v r));
  surplus := of_surplus Sib;
  times := fun r => Qred (multiplier Sib r);
  kin := fun r => if is_there r then family Sib r else M;
  over := fun c f => Qred (share_over c f);
  shut := never G;
  all_tasks := fun n => reduced (limit P n) |}.

(** * The process *)
Definition held_at (t : nat -> Q) : stock := holding G N the_facts t.
(** User n has room: it can have more tasks while all other users keep theirs. *)
Definition has_room (t : nat -> Q) (n : nat) : Prop :=
  exists y, placeable P G y /\ (forall m, user P m -> m <> n -> t m <= tasks P y m) /\ t n < tasks P y n.
Definition may (t : nat -> Q) (n : nat) : Prop := user P n /\ clear M the_facts (held_at t) t n = true /\ has_room t n.
(** The rates if users have the tasks t *)
Definition is_direction (t rho : nat -> Q) : Prop := exists f : nat -> bool,
  (forall n, (n < N)%nat -> f n = true <-> may t n) /\
  forall n, (n < N)%nat -> rho n == rate (turn G N M the_facts (held_at t) (S V) Root (filter f (seq 0 N))) n.
(** [stretch]: the rates stay the same for some length of time, and tasks grow at these rates. *)
Definition along (t rho : nat -> Q) (s : Q) (n : nat) : Q := t n + s * rho n.
Definition stretch (t rho : nat -> Q) (len : Q) : Prop :=
  0 < len /\ forall s, 0 <= s -> s < len -> is_direction (along t rho s) rho.
Definition same_tasks (t u : nat -> Q) : Prop := forall n, (n < N)%nat -> t n == u n.
Inductive run : (nat -> Q) -> (nat -> Q) -> Prop :=
| Stop t u : same_tasks t u -> run t u
| Go t rho len u e : stretch t rho len -> same_tasks u (along t rho len) -> run u e -> run t e.
(** Every user has the tasks that it has at the end of the filling, when no user may grow. *)
Definition is_end (e : nat -> Q) : Prop := (exists z, (forall n, (n < N)%nat -> z n == 0) /\ run z e) /\ forall n, ~ may e n.
Definition filled_by_turns (eps : Q) (x : allocation) : Prop :=
  a_forest P G /\ exists e, is_end e /\ forall n, user P n -> Qabs (tasks P x n - e n) <= eps * g P n.

(** * The process has at most one end *)
Lemma lsum_ext {A} (f h : A -> Q) l : (forall a, In a l -> f a == h a) -> lsum (map f l) == lsum (map h l).
Proof. induction l; simpl; intros E; [reflexivity|]. rewrite !add_eq, E, IHl by auto. reflexivity. Qed.
Lemma le_ext a b c d : a == c -> b == d -> le a b = le c d.
Proof. intros A B. unfold le. rewrite A, B. reflexivity. Qed.
Lemma mul_same a b c d : a == c -> b == d -> mul a b = mul c d.
Proof. intros A B. unfold mul. apply Qred_complete. rewrite A, B. reflexivity. Qed.

Lemma uses_same F t u d : same_tasks t u -> forall c r, is_node G N c -> in_use G N F d t c r = in_use G N F d u c r.
Proof.
  intros E. induction d; intros c r C; (destruct c as [|v|n]; [| |cbn [in_use]; apply mul_same; [apply E; exact C|reflexivity]]);
    cbn [in_use]; auto; f_equal; apply map_ext_in; intros k I; apply (kids_nodes G N) in I; rewrite (IHd k r I); reflexivity.
Qed.
Lemma runs_same F t u d : same_tasks t u -> forall c r, is_node G N c -> runs_of G N F d t c r = runs_of G N F d u c r.
Proof.
  intros E. induction d; intros c r C; (destruct c as [|v|n]; [| |cbn [runs_of]; apply mul_same; [apply E; exact C|reflexivity]]);
    cbn [runs_of]; auto; f_equal; apply map_ext_in; intros k I; apply (kids_nodes G N) in I; rewrite (IHd k r I); reflexivity.
Qed.
(** The rates depend only on the amounts that nodes use and hold. *)
Definition same_holds (H H' : stock) : Prop := forall c r, is_node G N c -> (r < M)%nat ->
  used H c r == used H' c r /\ running H c r == running H' c r.
Section Alike.
Variables F F' : facts.
Hypothesis SF : same_facts G N M F F'.
Lemma uses_facts d t c r : is_node G N c -> (r < M)%nat ->
  in_use G N F d t c r = in_use G N F' d t c r /\ runs_of G N F d t c r = runs_of G N F' d t c r.
Proof.
  revert c. induction d; intros c C Hr; (destruct c as [|v|n]; [| |cbn [in_use runs_of]; rewrite (s_asked _ _ _ _ _ SF n r C Hr); auto]);
    cbn [in_use runs_of]; auto; split; f_equal; apply map_ext_in; intros k I; apply (kids_nodes G N) in I;
    destruct (IHd k I Hr) as [A B]; auto; rewrite A; destruct k as [|w|m]; auto;
    rewrite (proj1 (s_group _ _ _ _ _ SF w r I Hr)); auto.
Qed.
Lemma extra_ext H H' c r : same_holds H H' -> is_node G N c -> (r < M)%nat -> extra F H c r == extra F' H' c r.
Proof.
  intros E C Hr. unfold extra. rewrite !sub_eq, (proj1 (E c r C Hr)), (proj1 (s_flags _ _ _ _ _ SF)).
  rewrite (promised_same G N M F F' SF) by auto. reflexivity.
Qed.
Lemma value_ext H H' k c i : same_holds H H' -> is_node G N c -> (i < M)%nat -> value M F H k c i == value M F' H' k c i.
Proof.
  intros E C Hi. destruct (E c i C Hi) as [E1 E2]. destruct (s_node _ _ _ _ _ SF c C) as (Ew & _ & _ & Eo).
  destruct (s_resource _ _ _ _ _ SF i Hi) as (Ei & _).
  destruct k; simpl; rewrite !quo_eq, ?mul_eq, ?E1, ?E2, ?Ew, ?Ei, ?(promised_same G N M F F' SF c) by auto; try reflexivity.
  apply Qmult_comp; [|reflexivity]. apply lsum_ext. intros r I. apply in_range in I.
  destruct (s_resource _ _ _ _ _ SF r I) as (_ & _ & Et & Ek). rewrite Ek, Et, Eo by auto.
  destruct (Nat.eqb (kin F' r) i); [|reflexivity]. rewrite !quo_eq, !mul_eq.
  rewrite (larger_ext 0 (extra F H c r) 0 (extra F' H' c r)); [reflexivity|reflexivity|apply extra_ext; auto].
Qed.
Lemma likewise_ext H H' : same_holds H H' -> likewise G N M F H F' H'.
Proof.
  intros E. constructor.
  - intros v r Hv Hr. apply le_ext; [reflexivity|]. apply (E (Team v) r Hv Hr).
  - intros v r q Hv Hr _. apply le_ext; [reflexivity|]. apply (E (Team v) r Hv Hr).
  - intros v r q Hv Hr _. apply le_ext; [reflexivity|]. apply (E (Team v) r Hv Hr).
  - intros r Hr. apply le_ext; [reflexivity|]. apply (E Root r I Hr).
  - intros c r C Hr. apply le_ext; [reflexivity|]. apply extra_ext; auto.
  - intros k c i C Hi. apply le_ext; [|reflexivity]. apply value_ext; auto.
  - intros p k c d i j C D Hi Hj. apply (kids_nodes G N) in C, D. apply le_ext; apply value_ext; auto.
Qed.
End Alike.
Lemma stands_line d w v : (forall u, w = Some u -> (u < V)%nat) -> (forall u p, (u < V)%nat -> parent G u = Some p -> (p < V)%nat) ->
  In v (line G d w) -> (v < V)%nat.
Proof.
  revert w. induction d; simpl; intros w Hw Up I; [contradiction|]. destruct w as [w|]; simpl in I; [|contradiction].
  destruct I as [->|I]; [auto|]. apply (IHd (parent G w)); auto. intros u E. eapply Up; eauto.
Qed.
Hypothesis Fo : a_forest P G.
Lemma above_below n v : (n < N)%nat -> In v (above G n) -> (v < V)%nat.
Proof.
  intros Hn. destruct Fo as [F1 F2]. apply stands_line; [intros u E; eapply F2; eauto|].
  intros w p Hw E. specialize (F1 w Hw). destruct V as [|d] eqn:EV; [lia|]. simpl in F1. rewrite E in F1.
  apply andb_true_iff in F1. destruct F1 as [F1 _]. apply Nat.ltb_lt in F1. lia.
Qed.
Lemma facts_refl F : (forall n, (n < N)%nat -> line_of F n = above G n) -> same_facts G N M F F.
Proof. intros L. constructor; auto 6. intros n Hn. split; auto. intros v. rewrite L by auto. apply (above_below n v Hn). Qed.
Lemma the_facts_refl : same_facts G N M the_facts the_facts.
Proof. apply facts_refl. reflexivity. Qed.

Lemma likewise_at t u : same_tasks t u -> likewise G N M the_facts (held_at t) the_facts (held_at u).
Proof.
  intros E. apply likewise_ext; [apply the_facts_refl|]. intros c r C Hr. unfold held_at, holding. cbn [used running].
  rewrite (uses_same _ t u), (runs_same _ t u) by auto. split; reflexivity.
Qed.
Lemma may_same t u n : same_tasks t u -> may t n -> may u n.
Proof.
  intros E (U & C & y & Y & O & L). assert (Hn : (n < N)%nat) by apply U. split; [auto|]. split.
  - rewrite <- C. symmetry. apply (clear_same G N M _ _ _ _ the_facts_refl (likewise_at t u E)); auto.
    intros q _. apply le_ext; [reflexivity|apply E; auto].
  - exists y. split; [auto|]. split; [|rewrite <- (E n Hn); auto].
    intros m Um Ne. rewrite <- (E m) by apply Um. auto.
Qed.
Lemma same_sym t u : same_tasks t u -> same_tasks u t.
Proof. intros E n Hn. symmetry. auto. Qed.
Lemma same_trans t u v : same_tasks t u -> same_tasks u v -> same_tasks t v.
Proof. intros A B n Hn. rewrite (A n Hn). auto. Qed.
Lemma users_filtered f : users_below N (filter f (seq 0 N)).
Proof. intros n I. apply filter_In in I. destruct I as [I _]. apply in_seq in I. lia. Qed.
Lemma direction_unique t u rho sig : same_tasks t u -> is_direction t rho -> is_direction u sig -> same_tasks rho sig.
Proof.
  intros E (f & Ff & R) (h & Fh & S) n Hn. rewrite R, S by auto.
  assert (Ef : filter f (seq 0 N) = filter h (seq 0 N)).
  { apply filter_ext_in. intros m I. apply in_seq in I. assert (Hm : (m < N)%nat) by lia.
    destruct (f m) eqn:A; destruct (h m) eqn:B; auto.
    - apply Ff in A; auto. apply (may_same t u) in A; auto. apply Fh in A; auto. congruence.
    - apply Fh in B; auto. apply (may_same u t) in B; [|apply same_sym; auto]. apply Ff in B; auto. congruence. }
  rewrite Ef, (turn_same G N M _ _ _ _ the_facts_refl (likewise_at t u E)); [reflexivity|exact I|apply users_filtered].
Qed.
Lemma direction_same t u rho sig : same_tasks t u -> same_tasks rho sig -> is_direction t rho -> is_direction u sig.
Proof.
  intros E Er (f & Ff & R). exists f. split.
  - intros n Hn. rewrite (Ff n Hn). split; apply may_same; auto. apply same_sym. auto.
  - intros n Hn. rewrite <- (Er n Hn), R by auto.
    rewrite (turn_same G N M _ _ _ _ the_facts_refl (likewise_at t u E)); [reflexivity|exact I|apply users_filtered].
Qed.
Lemma along_same t u rho sig s : same_tasks t u -> same_tasks rho sig -> same_tasks (along t rho s) (along u sig s).
Proof. intros A B n Hn. unfold along. rewrite (A n Hn), (B n Hn). reflexivity. Qed.
Lemma stretch_same t u rho sig len : same_tasks t u -> same_tasks rho sig -> stretch t rho len -> stretch u sig len.
Proof.
  intros A B [L S]. split; auto. intros s S0 S1. apply (direction_same (along t rho s) _ rho); auto. apply along_same; auto.
Qed.
(** The rest of a stretch *)
Lemma stretch_rest t rho len d u : stretch t rho len -> 0 < d -> d < len -> same_tasks u (along t rho d) -> stretch u rho (len - d).
Proof.
  intros [L S] D0 D1 E. split; [lra|]. intros s S0 S1. apply (direction_same (along t rho (d + s)) _ rho).
  - intros n Hn. unfold along. rewrite (E n Hn). unfold along. ring.
  - intros n _. reflexivity.
  - apply S; lra.
Qed.
Lemma stretch_start t rho len : stretch t rho len -> is_direction t rho.
Proof.
  intros [L S]. apply (direction_same (along t rho 0) _ rho); [|intros n _; reflexivity|apply S; lra].
  intros n Hn. unfold along. ring.
Qed.
Definition still (e : nat -> Q) : Prop := forall n, ~ may e n.
Lemma still_rests e rho len : still e -> stretch e rho len -> forall n, (n < N)%nat -> rho n == 0.
Proof.
  intros St S n Hn. apply stretch_start in S. destruct S as (f & Ff & R). rewrite R by auto.
  assert (E : filter f (seq 0 N) = nil).
  { destruct (filter f (seq 0 N)) as [|m l] eqn:E; auto. exfalso. assert (I : In m (filter f (seq 0 N))) by (rewrite E; left; auto).
    apply filter_In in I. destruct I as [I A]. apply in_seq in I. apply Ff in A; [|lia]. exact (St m A). }
  rewrite E. cbn [turn]. unfold lowest, candidates.
  assert (El : forall l, filter (fun k => some_of (of_node the_facts nil k)) l = nil) by (induction l; auto).
  rewrite El. reflexivity.
Qed.
Lemma still_same t u : same_tasks t u -> still t -> still u.
Proof. intros E S n A. apply (may_same u t) in A; [exact (S n A)|apply same_sym; auto]. Qed.
Lemma run_same t u e : run t e -> same_tasks t u -> run u e.
Proof.
  intros R E. destruct R as [t e A|t rho len v e S A R].
  - apply Stop. apply same_trans with t; auto. apply same_sym. auto.
  - apply (Go u rho len v e); auto; [apply (stretch_same t u rho rho); auto; intros n _; reflexivity|].
    apply same_trans with (along t rho len); auto. apply along_same; auto. intros n _. reflexivity.
Qed.
Lemma still_run t e : run t e -> still t -> same_tasks t e.
Proof.
  intros R. induction R as [t e A|t rho len u e S A R IH]; intros St; auto.
  assert (E : same_tasks t u).
  { intros n Hn. rewrite (A n Hn). unfold along. rewrite (still_rests t rho len St S n Hn). ring. }
  apply same_trans with u; auto. apply IH. apply (still_same t u); auto.
Qed.
Lemma one_end t e : run t e -> still e -> forall u e', run u e' -> still e' -> same_tasks t u -> same_tasks e e'.
Proof.
  intros R. induction R as [t e A|t rho len v e S A R IH]; intros St u e' R' St' E.
  - assert (Su : still u) by (apply (still_same e u); auto; apply same_trans with t; auto; apply same_sym; auto).
    apply same_trans with t; [apply same_sym; auto|]. apply same_trans with u; auto. apply still_run; auto.
  - revert t rho len S A E. induction R' as [u e' B|u sig len' v' e' S' B R' IH']; intros t rho len S A E.
    + assert (Su : still t).
      { apply (still_same e' t); auto. apply same_trans with u; apply same_sym; auto. }
      apply (IH St e' e' (Stop e' e' (fun n _ => Qeq_refl (e' n))) St').
      intros n Hn. rewrite (A n Hn). unfold along. rewrite (still_rests t rho len Su S n Hn), (E n Hn), (B n Hn). ring.
    + assert (Er : same_tasks rho sig).
      { apply (direction_unique t u); auto; eapply stretch_start; eauto. }
      destruct (Q_dec len len') as [[Lt|Gt]|Eq].
      * (* the second run continues after the first one *)
        apply (IH St v e'); auto; [|intros n _; reflexivity].
        assert (Ev : same_tasks v (along u sig len)) by (apply same_trans with (along t rho len); auto; apply along_same; auto).
        apply (Go v sig (len' - len) v' e').
        -- apply (stretch_rest u sig len' len v); auto. apply S.
        -- intros n Hn. rewrite (B n Hn). unfold along. rewrite (Ev n Hn). unfold along. ring.
        -- exact R'.
      * assert (Ev : same_tasks v' (along t rho len')).
        { apply same_trans with (along u sig len'); auto. apply along_same; [apply same_sym; auto|apply same_sym; auto]. }
        apply (IH' St' v' rho (len - len')); auto; [| |intros n _; reflexivity].
        -- apply (stretch_rest t rho len len' v'); auto. apply S'.
        -- intros n Hn. rewrite (A n Hn). unfold along. rewrite (Ev n Hn). unfold along. ring.
      * apply (IH St v' e'); auto. apply same_trans with (along t rho len); auto. apply same_trans with (along u sig len').
        -- intros n Hn. unfold along. rewrite (E n Hn), (Er n Hn), Eq. reflexivity.
        -- apply same_sym. auto.
Qed.
Theorem end_unique e e' : is_end e -> is_end e' -> same_tasks e e'.
Proof.
  intros [(z & Z & R) S] [(z' & Z' & R') S']. apply (one_end z e R S z' e' R' S').
  intros n Hn. rewrite (Z n Hn), (Z' n Hn). reflexivity.
Qed.
End On.
