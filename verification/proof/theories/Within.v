(** Defines the allocations that are possible if groups have limits (docs/axioms.md, within limits of groups). Each
    limit is one more row, over the amounts of a resource that the users below a group hold, or take on some classes. *)
From Coq Require Import QArith Qreduction Qfield Arith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Arithmetic Checker Repair Soundness Bundle Prices Certificate Groups.
Open Scope Q_scope.

Section On.
Variable P : problem.
Variable G : grouping.
Notation N := (users P). Notation K := (classes P). Notation M := (resources P). Notation V := (groups G).

(** In a limit on the whole cluster a task counts by its base demand. *)
Definition bars : list bar :=
  flat_map (fun v => flat_map (fun r => match ceiling G v r with
    | Some most => {| b_group := v; b_resource := r; b_most := most; b_takes := fun n _ => base P n r |} :: nil | None => nil end) (seq 0 M)) (seq 0 V) ++ bars_on P G.
(** The allocations y with which x is compared. They keep every limit that x keeps. If x exceeds a limit, they take no
    more of it than x does. *)
Definition within (x y : allocation) : Prop :=
  feasible P y /\ forall b, In b bars -> taken P G b y <= larger (b_most b) (taken P G b x).

(** * Programs

    A price vector has the prices of limits as the prices of one additional class. *)
Variable T : tables.
Record limit_row := { place : nat; of_bar : bar; top : Q }.
Section Rows.
Variable top_of : bar -> Q.
Fixpoint rows_from (k : nat) (l : list bar) : list limit_row :=
  match l with nil => nil | b :: l => {| place := k; of_bar := b; top := top_of b |} :: rows_from (S k) l end.
End Rows.
Definition price_of (p : prices) (w : limit_row) : Q := on_row p K (place w).
Definition cost (p : prices) (w : limit_row) (n i : nat) : Q :=
  if below_bar G (of_bar w) n then mul (price_of p w) (b_takes (of_bar w) n i) else 0.
Definition charge (l : list limit_row) (p : prices) (n i : nat) : Q := fold_right (fun w s => add (cost p w n i) s) 0 l.
Definition paid (l : list limit_row) (p : prices) : Q := fold_right (fun w s => add (mul (price_of p w) (top w)) s) 0 l.
Definition bars_user (l : list limit_row) (n i : nat) : bool :=
  existsb (fun w => eqq (top w) 0 && below_bar G (of_bar w) n && lt 0 (b_takes (of_bar w) n i)) l.
Section Scope.
(** Whether a user needs no prices on classes from which a limit of 0 bars the user *)
Variable bare : bool.
Definition scope_of (l : list limit_row) : scope := {|
  sc_prices := fun counted a p =>
    forallb (fun w => le 0 (price_of p w)) l &&
    let dear := filter (fun w => lt 0 (price_of p w)) l in
    let shut := filter (fun w => bare && eqq (top w) 0) l in
    check_prices P T counted (fun n i => if bars_user shut n i then 0 else sub (a n i) (charge dear p n i)) p;
  sc_bound := fun p => add (bound P T p) (paid l p);
  sc_keeps := fun y => forallb (fun w => le (rtaken P G (of_bar w) y) (top w)) l;
  sc_open := fun n => any K (fun i => runs_on T n i && negb (bars_user l n i)) |}.
End Scope.
(** The scope of the filling: the allocations within the limits on classes *)
Definition rows_on : list limit_row := rows_from b_most 0 (bars_on P G).
Definition scope_on : scope := scope_of true rows_on.
Definition scope_within : scope := scope_of false (rows_from (fun b => larger (b_most b) (rtaken P G b (t_x T))) 0 bars).

(** * Soundness *)
Hypothesis W : well_formed P.
Variable stated_x : allocation.
Variable placed : bool.
Hypothesis R : right P stated_x T placed.

Lemma bar_takes b n i : In b bars -> (n < N)%nat -> (i < K)%nat -> 0 <= b_takes b n i.
Proof.
  unfold bars. intros I Hn Hi. apply in_app_or in I. destruct I as [I|I].
  - apply in_flat_map in I. destruct I as (v & _ & I). apply in_flat_map in I. destruct I as (r & Hr & I). apply in_seq in Hr.
    destruct (ceiling G v r); [|contradiction]. destruct I as [<-|[]]. simpl. apply (base_nonneg P W); lia.
  - apply in_map_iff in I. destruct I as (o & <- & I). apply filter_In in I. destruct I as [_ I]. apply Nat.ltb_lt in I. simpl.
    destruct (o_on o i); [apply (demand_nonneg P W); auto|lra].
Qed.
Lemma rows_in f l : forall k w, In w (rows_from f k l) -> In (of_bar w) l /\ top w = f (of_bar w).
Proof.
  induction l as [|b l IH]; simpl; intros k w I; [contradiction|]. destruct I as [<-|I]; [auto|]. destruct (IH (S k) w I). auto.
Qed.
Lemma rows_all f l b : In b l -> forall k, exists w, In w (rows_from f k l) /\ of_bar w = b.
Proof.
  induction l as [|c l IH]; simpl; intros I k; [contradiction|]. destruct I as [<-|I]; [eexists; split; [left; reflexivity|reflexivity]|].
  destruct (IH I (S k)) as (w & A & E). eauto.
Qed.
Lemma charged l p y : sum N (fun n => sum K (fun i => charge l p n i * y n i)) ==
  fold_right (fun w s => price_of p w * taken P G (of_bar w) y + s) 0 l.
Proof.
  induction l as [|w l IH]; simpl.
  - apply sum_zero. intros n _. apply sum_zero. intros. ring.
  - rewrite <- IH. unfold taken. rewrite <- sum_scale, <- sum_add. apply sum_ext. intros n _.
    rewrite (sum_ext K _ (fun i => cost p w n i * y n i + charge l p n i * y n i)) by (intros; rewrite add_eq; ring).
    rewrite sum_add. apply Qplus_comp; [|reflexivity]. unfold cost. destruct (below_bar G (of_bar w) n).
    + rewrite <- sum_scale. apply sum_ext. intros. rewrite mul_eq. ring.
    + rewrite sum_zero by (intros; ring). ring.
Qed.
Lemma charge_nonneg l p n i : (n < N)%nat -> (i < K)%nat -> (forall w, In w l -> In (of_bar w) bars /\ 0 <= price_of p w) ->
  0 <= charge l p n i.
Proof.
  intros Hn Hi. induction l as [|w l IH]; simpl; intros A; [lra|]. rewrite add_eq.
  assert (0 <= charge l p n i) by (apply IH; intros; apply A; auto). destruct (A w ltac:(auto)) as [B C].
  assert (0 <= cost p w n i); [|lra]. unfold cost. destruct (below_bar G (of_bar w) n); [|lra].
  rewrite mul_eq. apply prod_nonneg; [exact C|apply bar_takes; auto].
Qed.

(** If a limit of 0 bars a user from a class, the user has no tasks there. *)
Lemma shut_zero l y n i : (n < N)%nat -> (i < K)%nat -> feasible P y ->
  (forall w, In w l -> In (of_bar w) bars /\ taken P G (of_bar w) y <= top w) -> bars_user l n i = true -> y n i == 0.
Proof.
  intros Hn Hi Y A Bu. unfold bars_user in Bu. apply existsb_exists in Bu. destruct Bu as (w & I & Bu).
  rewrite !andb_true_iff in Bu. destruct Bu as [[B1 B2] B3]. apply eqq_iff in B1. apply lt_iff in B3.
  destruct (A w I) as [I' Kp]. rewrite B1 in Kp.
  assert (Nn : forall m j, (m < N)%nat -> (j < K)%nat -> 0 <= y m j * b_takes (of_bar w) m j).
  { intros m j Hm Hj. apply prod_nonneg; [apply (f_nonneg P y Y); auto|apply bar_takes; auto]. }
  assert (L1 : sum K (fun j => y n j * b_takes (of_bar w) n j) <= taken P G (of_bar w) y).
  { unfold taken. apply Qle_trans with ((fun m => if below_bar G (of_bar w) m then sum K (fun j => y m j * b_takes (of_bar w) m j) else 0) n).
    - cbv beta. rewrite B2. lra.
    - apply (sum_term N (fun m => if below_bar G (of_bar w) m then sum K (fun j => y m j * b_takes (of_bar w) m j) else 0)); auto.
      intros m Hm. destruct (below_bar G (of_bar w) m); [|lra]. apply sum_nonneg. auto. }
  assert (L2 : y n i * b_takes (of_bar w) n i <= sum K (fun j => y n j * b_takes (of_bar w) n j)).
  { apply (sum_term K (fun j => y n j * b_takes (of_bar w) n j)); auto. }
  pose proof (f_nonneg P y Y n i Hn Hi) as Y0. apply Qle_antisym; [|exact Y0]. apply Qnot_lt_le. intros Lt.
  assert (0 < y n i * b_takes (of_bar w) n i) by (apply Qmult_lt_0_compat; auto). lra.
Qed.

(** Weak duality, with the payments for limits *)
Section Right.
Variable bare : bool.
Variable f : bar -> Q.
Variable l : list bar.
Hypothesis L : forall b, In b l -> In b bars.
Theorem scope_right : right_scope P (fun y => feasible P y /\ forall b, In b l -> taken P G b y <= f b) (scope_of bare (rows_from f 0 l)).
Proof.
  set (rows := rows_from f 0 l). constructor.
  - intros y Y. apply Y.
  - intros counted a p y C [Y Kp] Z. simpl in C |- *. apply andb_true_iff in C. destruct C as [S C]. rewrite forallb_forall in S.
    set (dear := filter (fun w => lt 0 (price_of p w)) rows) in *.
    assert (Dn : forall w, In w dear -> In (of_bar w) bars /\ 0 <= price_of p w).
    { intros w I. apply filter_In in I. destruct I as [I _]. split; [apply L; apply (rows_in f l 0 w I)|apply le_iff; auto]. }
    set (shut := filter (fun w => bare && eqq (top w) 0) rows) in *.
    assert (Sh : forall n i, (n < N)%nat -> (i < K)%nat -> bars_user shut n i = true -> y n i == 0).
    { intros n i Hn Hi. apply shut_zero; auto. intros w I. apply filter_In in I. destruct I as [I _].
      destruct (rows_in f l 0 w I) as [I' ->]. auto. }
    pose proof (bound_sound P W T stated_x placed R counted _ p y C Y) as Bd.
    assert (B : sum N (fun n => sum K (fun i => (if bars_user shut n i then 0 else sub (a n i) (charge dear p n i)) * y n i)) <= bound P T p).
    { apply Bd. intros n i Hn Hi Cn. specialize (Z n i Hn Hi Cn). destruct (bars_user shut n i); [lra|]. rewrite sub_eq.
      pose proof (prod_nonneg _ _ (charge_nonneg dear p n i Hn Hi Dn) (f_nonneg P y Y n i Hn Hi)). lra. }
    assert (E : sum N (fun n => sum K (fun i => (if bars_user shut n i then 0 else sub (a n i) (charge dear p n i)) * y n i)) +
        sum N (fun n => sum K (fun i => charge dear p n i * y n i)) == sum N (fun n => sum K (fun i => a n i * y n i))).
    { rewrite <- sum_add. apply sum_ext. intros n Hn. rewrite <- sum_add. apply sum_ext. intros i Hi.
      destruct (bars_user shut n i) eqn:Bu; [rewrite (Sh n i Hn Hi Bu)|rewrite sub_eq]; ring. }
    assert (D : sum N (fun n => sum K (fun i => charge dear p n i * y n i)) <= paid rows p).
    { rewrite charged. unfold dear, paid. assert (Al : forall w, In w rows -> 0 <= price_of p w /\ taken P G (of_bar w) y <= top w).
      { intros w I. split; [apply le_iff; auto|]. destruct (rows_in f l 0 w I) as [I' ->]. auto. }
      clear - Al. induction rows as [|w ws IH]; simpl; [lra|]. rewrite add_eq, mul_eq. destruct (Al w ltac:(left; reflexivity)) as [A B].
      assert (IH' : fold_right (fun w s => price_of p w * taken P G (of_bar w) y + s) 0 (filter (fun w => lt 0 (price_of p w)) ws) <=
        fold_right (fun w s => add (mul (price_of p w) (top w)) s) 0 ws) by (apply IH; intros v I; apply Al; right; exact I).
      pose proof (prod_le_l _ _ _ B A) as C. destruct (lt 0 (price_of p w)) eqn:Lt; simpl; [lra|].
      apply lt_false in Lt. assert (Z : price_of p w == 0) by lra. rewrite Z in *. lra. }
    rewrite add_eq. lra.
  - intros y Y Kp. simpl in Kp. rewrite forallb_forall in Kp. split; [exact Y|]. intros b I.
    destruct (rows_all f l b I 0) as (w & Iw & E). specialize (Kp w Iw). apply le_iff in Kp.
    rewrite (rtaken_eq P G), E in Kp. destruct (rows_in f l 0 w Iw) as [_ Et]. rewrite Et, E in Kp. exact Kp.
Qed.
End Right.
Theorem scope_within_right : right_scope P (within (t_x T)) scope_within.
Proof.
  destruct (scope_right false (fun b => larger (b_most b) (rtaken P G b (t_x T))) bars ltac:(auto)) as [A B C].
  assert (E : forall y, within (t_x T) y <-> feasible P y /\ forall b, In b bars -> taken P G b y <= larger (b_most b) (rtaken P G b (t_x T))).
  { intros y. unfold within. split; intros [Y O]; (split; [exact Y|]); intros b I; specialize (O b I);
      (eapply Qle_trans; [exact O|]); apply Qle_lteq; right; (apply larger_ext; [reflexivity|]);
      [symmetry|]; apply (rtaken_eq P G). }
  constructor.
  - intros y Y. apply Y.
  - intros counted a p y Cp Y Z. apply (B counted); auto. apply E. exact Y.
  - intros y Y Kp. apply E. apply C; auto.
Qed.
Lemma bars_of_on b : In b (bars_on P G) -> In b bars.
Proof. intros I. apply in_or_app. right. exact I. Qed.
Theorem scope_on_right : right_scope P (placeable P G) scope_on.
Proof. exact (scope_right true b_most (bars_on P G) bars_of_on). Qed.
(** If the scope allows no tasks of a user, the user has no tasks. *)
Lemma closed_none y n : placeable P G y -> (n < N)%nat -> sc_open scope_on n = false -> tasks P y n == 0.
Proof.
  intros [Y Kp] Hn O. apply sum_zero. intros i Hi. destruct (runs_on T n i) eqn:Ro.
  - apply (shut_zero rows_on); auto.
    + intros w I. destruct (rows_in _ _ _ w I) as [I' ->]. split; [apply bars_of_on|]; auto.
    + destruct (bars_user rows_on n i) eqn:Bu; auto. rewrite <- not_true_iff_false in O. exfalso. apply O. simpl. apply any_iff.
      exists i. split; [exact Hi|]. rewrite Ro, Bu. reflexivity.
  - rewrite (runs_on_eq P stated_x T placed R) in Ro by auto. apply lt_false in Ro. pose proof (gamma_nonneg P W n i Hn Hi).
    apply (f_can P y Y); auto. lra.
Qed.
End On.
