(** Defines the users that grow in hierarchical filling (docs/groups.md, section 9), and their rates. Both depend on the
    amounts that nodes hold now, and on the users that may grow. All arithmetic uses [add], [mul], [sub] and [quo],
    which reduce their results. *)
From Coq Require Import QArith Qreduction Arith Bool List Lia.
From Evenhand Require Import Spec Arithmetic Groups.
Open Scope Q_scope.

(** The nodes of the tree of groups and users: the root, group v, user n *)
Inductive node := Root | Team (v : nat) | One (n : nat).

(** The data that do not change during the filling *)
Record facts := {
  line_of : nat -> list nat;                (* the groups above a user, the lowest group first *)
  asked : nat -> nat -> Q;                  (* base demands, for resources that exist *)
  weight_of : node -> Q;                    (* the weight; 1 if it is 0 *)
  weighs_nothing : node -> bool;
  priority_of : node -> Q;
  keep : nat -> nat -> Q;                   (* K_v *)
  pledged : nat -> nat -> option Q;             (* G_v, for resources that exist *)
  most_of : nat -> nat -> option Q;         (* the limit of a group *)
  whole : nat -> Q;                         (* C_r *)
  whole_kept : nat -> bool;                 (* whether an amount of the resource is kept back *)
  surplus : bool;                           (* whether a share counts only the use above the guarantee *)
  times : nat -> Q;                         (* multipliers *)
  kin : nat -> nat;                         (* a number; the amounts of resources with the same number are added up *)
  over : node -> nat -> Q;                  (* the divisor of a share; it is ignored if it is 0 or less *)
  shut : bool;                              (* a group of weight 0 gets nothing beyond its guarantee *)
  all_tasks : nat -> option Q }.
(** The amounts U that nodes use, and the amounts X of the tasks that run below them *)
Record stock := { used : node -> nat -> Q; running : node -> nat -> Q }.

Definition lsum (l : list Q) : Q := fold_right add 0 l.
Definition some_of {A} (l : list A) : bool := match l with nil => false | _ => true end.
Definition is_top (a : option nat) : bool := match a with None => true | Some _ => false end.

Section On.
Variable G : grouping.
Variables N M : nat.
Notation V := (groups G).

Definition kids (p : node) : list node :=
  match p with
  | Root => map Team (filter (fun v => is_top (parent G v)) (seq 0 V)) ++ map One (filter (fun n => is_top (group_of G n)) (seq 0 N))
  | Team v => map Team (filter (child G v) (seq 0 V)) ++ map One (filter (fun n => belongs G n v) (seq 0 N))
  | One _ => nil
  end.

Section Sight.
Variable F : facts.
Variable H : stock.

Definition under (c : node) (n : nat) : bool :=
  match c with Root => true | Team v => existsb (Nat.eqb v) (line_of F n) | One m => Nat.eqb n m end.
(** The groups below c on the path to n *)
Fixpoint upto (v : nat) (l : list nat) : list nat :=
  match l with nil => nil | w :: l => if Nat.eqb w v then nil else w :: upto v l end.
Definition between (c : node) (n : nat) : list nat :=
  match c with Root => line_of F n | Team v => upto v (line_of F n) | One _ => nil end.
(** If n uses more, c uses more: no group between them has unused amounts that are kept back for it. *)
Definition grows (c : node) (n r : nat) : bool :=
  forallb (fun v => le (keep F v r) (used H (Team v) r)) (between c n).
Definition asks_for (n r : nat) : bool := lt 0 (asked F n r).
Definition promised_to (c : node) (r : nat) : option Q := match c with Team v => pledged F v r | _ => None end.
Definition is_below (n : nat) (c : node) : bool :=
  existsb (fun r => asks_for n r && match promised_to c r with Some _ => true | None => false end) (seq 0 M) &&
  forallb (fun r => if asks_for n r then match promised_to c r with
    | Some g => negb (le g (used H c r)) || negb (grows c n r) && lt 0 g | None => true end else true) (seq 0 M).

(** [clear]: user n does not have all its tasks yet, and no node above it is at its limit of a resource of which n would
    use more. If groups of weight 0 get nothing beyond their guarantee, n is still below the guarantee of each such
    group above it. *)
Definition below_mark (c : node) (n r : nat) (mark : option Q) : bool :=
  match mark with Some q => negb (grows c n r && le q (used H c r)) | None => true end.
Definition clear (t : nat -> Q) (n : nat) : bool :=
  match all_tasks F n with Some all => negb (le all (t n)) | None => true end &&
  forallb (fun v => negb (shut F && weighs_nothing F (Team v) && negb (is_below n (Team v))) &&
    forallb (fun r => if asks_for n r then below_mark (Team v) n r (most_of F v r) else true) (seq 0 M)) (line_of F n) &&
  forallb (fun r => if asks_for n r && whole_kept F r then below_mark Root n r (Some (whole F r)) else true) (seq 0 M).

(** The level of a node is the largest of some terms. The terms of [Share] are shares, one for each family. The terms of
    [Below] compare use with a guarantee. [Held] and [HeldBelow] compare held amounts with the cluster, or with a
    guarantee. They decide between children whose level does not rise. *)
Inductive level_kind := Share | Below | Held | HeldBelow.
Definition extra (c : node) (r : nat) : Q :=
  sub (used H c r) (if surplus F then or0 (promised_to c r) else 0).
Definition value (k : level_kind) (c : node) (i : nat) : Q :=
  match k with
  | Share => quo (lsum (map (fun r => if Nat.eqb (kin F r) i then quo (mul (times F r) (larger 0 (extra c r))) (over F c i) else 0) (seq 0 M)))
      (weight_of F c)
  | Below => quo (used H c i) (or0 (promised_to c i))
  | Held => quo (running H c i) (mul (whole F i) (weight_of F c))
  | HeldBelow => quo (running H c i) (or0 (promised_to c i))
  end.
(** The rate at which a term rises if tasks are added at these rates *)
Notation rates := (list (nat * Q)).
Definition used_faster (l : rates) (c : node) (r : nat) : Q :=
  lsum (map (fun p => if grows c (fst p) r then mul (snd p) (asked F (fst p) r) else 0) l).
Definition held_faster (l : rates) (r : nat) : Q := lsum (map (fun p => mul (snd p) (asked F (fst p) r)) l).
Definition faster (k : level_kind) (l : rates) (c : node) (i : nat) : Q :=
  match k with
  | Share => quo (lsum (map (fun r => if Nat.eqb (kin F r) i && le 0 (extra c r)
      then quo (mul (times F r) (used_faster l c r)) (over F c i) else 0) (seq 0 M))) (weight_of F c)
  | Below => quo (used_faster l c i) (or0 (promised_to c i))
  | Held => quo (held_faster l i) (mul (whole F i) (weight_of F c))
  | HeldBelow => quo (held_faster l i) (or0 (promised_to c i))
  end.
(** The terms of a level for resources that these users ask for, or whose terms grow *)
Definition terms (k : level_kind) (l : rates) (asking : list nat) (c : node) : list nat :=
  filter (fun i => match k with
    | Share => lt 0 (over F c i)
    | Below => existsb (fun n => asks_for n i) asking && lt 0 (or0 (promised_to c i))
    | Held => lt 0 (whole F i) && lt 0 (held_faster l i)
    | HeldBelow => lt 0 (or0 (promised_to c i)) && lt 0 (held_faster l i)
    end) (seq 0 M).
(** The largest term of c is not above the largest term of d. If a node has no term, its largest term is 0. *)
Definition no_higher (k : level_kind) (c : node) (of_c : list nat) (d : node) (of_d : list nat) : bool :=
  forallb (fun i => le (value k c i) 0 || existsb (fun j => le (value k c i) (value k d j)) of_d) of_c.
(** The rate of the largest term. If several terms are the largest, it is the largest rate of these terms. *)
Definition pace (k : level_kind) (l : rates) (c : node) (of_c : list nat) : Q :=
  fold_right larger 0 (map (faster k l c) (filter (fun i => forallb (fun j => le (value k c j) (value k c i)) of_c) of_c)).

(** [of_node]: the users of S below k. [first]: the users of [of_node] that are below the guarantee of k. [goes]: the
    users that grow if k grows. *)
Definition of_node (S : list nat) (k : node) : list nat := filter (under k) S.
Definition first (S : list nat) (k : node) : list nat := filter (fun n => is_below n k) (of_node S k).
Definition goes (S : list nat) (k : node) : list nat := if some_of (first S k) then first S k else of_node S k.
Definition kind_of (S : list nat) (k : node) : level_kind := if some_of (first S k) then Below else Share.
Definition line_kind (S : list nat) (k : node) : level_kind := if some_of (first S k) then HeldBelow else Held.
Definition terms_of (S : list nat) (k : node) : list nat := terms (kind_of S k) nil (first S k) k.
(** Siblings are ordered by a key. The key of k is not above the key of j. *)
Definition key_le (S : list nat) (k j : node) : bool :=
  match some_of (first S k), some_of (first S j) with
  | true, true => no_higher Below k (terms_of S k) j (terms_of S j)
  | true, false => true
  | false, true => false
  | false, false =>
      if eqq (priority_of F k) (priority_of F j)
      then if Bool.eqb (weighs_nothing F k) (weighs_nothing F j) then no_higher Share k (terms_of S k) j (terms_of S j)
           else weighs_nothing F j
      else lt (priority_of F j) (priority_of F k)
  end.
Definition slower (q : Q) (l : rates) : rates := map (fun p => (fst p, quo (snd p) q)) l.
Definition candidates (S : list nat) (c : node) : list node := filter (fun k => some_of (of_node S k)) (kids c).
Definition lowest (S : list nat) (c : node) : list node :=
  filter (fun k => forallb (key_le S k) (candidates S c)) (candidates S c).
Definition speed (S : list nat) (p : node * rates) : Q := pace (kind_of S (fst p)) (snd p) (fst p) (terms_of S (fst p)).
Definition line_terms (S : list nat) (p : node * rates) : list nat := terms (line_kind S (fst p)) (snd p) nil (fst p).
Definition line_le (S : list nat) (p q : node * rates) : bool :=
  no_higher (line_kind S (fst p)) (fst p) (line_terms S p) (fst q) (line_terms S q).
Definition line_speed (S : list nat) (p : node * rates) : Q := pace (line_kind S (fst p)) (snd p) (fst p) (line_terms S p).
Definition together (S : list nat) (all : list (node * rates)) : rates :=
  let flat := filter (fun p => eqq (speed S p) 0) all in
  if some_of flat
  then flat_map (fun p => slower (line_speed S p) (snd p)) (filter (fun p => forallb (line_le S p) flat) flat)
  else flat_map (fun p => slower (speed S p) (snd p)) all.
(** The rates at which the users S below c grow *)
Fixpoint turn (depth : nat) (c : node) (S : list nat) : rates :=
  match c, depth with
  | One n, _ => (n, 1) :: nil
  | _, O => nil
  | _, S d => together S (map (fun k => (k, turn d k (goes S k))) (lowest S c))
  end.
End Sight.

Definition rate (l : list (nat * Q)) (n : nat) : Q := lsum (map (fun p => if Nat.eqb (fst p) n then snd p else 0) l).

(** The amounts that nodes use and hold when the users have these tasks *)
Fixpoint in_use (F : facts) (depth : nat) (t : nat -> Q) (c : node) (r : nat) : Q :=
  match c, depth with
  | One n, _ => mul (t n) (asked F n r)
  | _, O => 0
  | _, S d => lsum (map (fun k => match k with Team v => larger (in_use F d t k r) (keep F v r) | _ => in_use F d t k r end) (kids c))
  end.
Fixpoint runs_of (F : facts) (depth : nat) (t : nat -> Q) (c : node) (r : nat) : Q :=
  match c, depth with
  | One n, _ => mul (t n) (asked F n r)
  | _, O => 0
  | _, S d => lsum (map (fun k => runs_of F d t k r) (kids c))
  end.
Definition holding (F : facts) (t : nat -> Q) : stock := {| used := in_use F (S V) t; running := runs_of F (S V) t |}.

(** * The data that determine the rates *)
Definition is_node (c : node) : Prop := match c with Root => True | Team v => (v < V)%nat | One n => (n < N)%nat end.
Lemma kids_nodes p k : In k (kids p) -> is_node k.
Proof.
  destruct p as [|v|n]; simpl; try contradiction; intros I; apply in_app_or in I; destruct I as [I|I]; apply in_map_iff in I;
    destruct I as (w & <- & I); apply filter_In in I; destruct I as [I _]; apply in_seq in I; simpl; lia.
Qed.
Record same_facts (F F' : facts) : Prop := {
  s_line : forall n, (n < N)%nat -> line_of F n = line_of F' n /\ forall v, In v (line_of F n) -> (v < V)%nat;
  s_asked : forall n r, (n < N)%nat -> (r < M)%nat -> asked F n r = asked F' n r;
  s_node : forall c, is_node c -> weight_of F c = weight_of F' c /\ weighs_nothing F c = weighs_nothing F' c /\
    priority_of F c = priority_of F' c /\ forall i, (i < M)%nat -> over F c i = over F' c i;
  s_group : forall v r, (v < V)%nat -> (r < M)%nat ->
    keep F v r = keep F' v r /\ pledged F v r = pledged F' v r /\ most_of F v r = most_of F' v r;
  s_resource : forall r, (r < M)%nat -> whole F r = whole F' r /\ whole_kept F r = whole_kept F' r /\
    times F r = times F' r /\ kin F r = kin F' r;
  s_flags : surplus F = surplus F' /\ shut F = shut F';
  s_tasks : forall n, (n < N)%nat -> all_tasks F n = all_tasks F' n }.
(** All comparisons have the same results. *)
Record likewise (F : facts) (H : stock) (F' : facts) (H' : stock) : Prop := {
  a_keep : forall v r, (v < V)%nat -> (r < M)%nat -> le (keep F v r) (used H (Team v) r) = le (keep F v r) (used H' (Team v) r);
  a_due : forall v r q, (v < V)%nat -> (r < M)%nat -> pledged F v r = Some q -> le q (used H (Team v) r) = le q (used H' (Team v) r);
  a_most : forall v r q, (v < V)%nat -> (r < M)%nat -> most_of F v r = Some q -> le q (used H (Team v) r) = le q (used H' (Team v) r);
  a_whole : forall r, (r < M)%nat -> le (whole F r) (used H Root r) = le (whole F r) (used H' Root r);
  a_extra : forall c r, is_node c -> (r < M)%nat -> le 0 (extra F H c r) = le 0 (extra F' H' c r);
  a_zero : forall k c i, is_node c -> (i < M)%nat -> le (value F H k c i) 0 = le (value F' H' k c i) 0;
  a_value : forall p k c d i j, In c (kids p) -> In d (kids p) -> (i < M)%nat -> (j < M)%nat ->
    le (value F H k c i) (value F H k d j) = le (value F' H' k c i) (value F' H' k d j) }.

Lemma forallb_same {A} (f g : A -> bool) l : (forall a, In a l -> f a = g a) -> forallb f l = forallb g l.
Proof. induction l; simpl; intros E; auto. rewrite E, IHl; auto. Qed.
Lemma existsb_same {A} (f g : A -> bool) l : (forall a, In a l -> f a = g a) -> existsb f l = existsb g l.
Proof. induction l; simpl; intros E; auto. rewrite E, IHl; auto. Qed.
Lemma flat_map_same {A B} (f g : A -> list B) l : (forall a, In a l -> f a = g a) -> flat_map f l = flat_map g l.
Proof. induction l; simpl; intros E; auto. rewrite E, IHl; auto. Qed.
Lemma upto_in v l w : In w (upto v l) -> In w l.
Proof. induction l; simpl; auto. destruct (Nat.eqb a v); simpl; intuition. Qed.
Lemma in_range r : In r (seq 0 M) -> (r < M)%nat.
Proof. intros I. apply in_seq in I. lia. Qed.

Section Same.
Variables F F' : facts.
Variables H H' : stock.
Hypothesis SF : same_facts F F'.
Hypothesis A : likewise F H F' H'.
Definition users_below (S : list nat) : Prop := forall n, In n S -> (n < N)%nat.
Definition users_of (l : list (nat * Q)) : Prop := forall p, In p l -> (fst p < N)%nat.

Lemma under_same c n : (n < N)%nat -> under F c n = under F' c n.
Proof. intros Hn. destruct c; simpl; auto. rewrite (proj1 (s_line _ _ SF n Hn)). reflexivity. Qed.
Lemma between_same c n : (n < N)%nat -> between F c n = between F' c n.
Proof. intros Hn. destruct c; simpl; auto; rewrite (proj1 (s_line _ _ SF n Hn)); reflexivity. Qed.
Lemma between_in c n v : (n < N)%nat -> In v (between F c n) -> (v < V)%nat.
Proof.
  intros Hn I. apply (proj2 (s_line _ _ SF n Hn)). destruct c; simpl in I; auto; [|contradiction]. eapply upto_in; eauto.
Qed.
Lemma grows_same c n r : (n < N)%nat -> (r < M)%nat -> grows F H c n r = grows F' H' c n r.
Proof.
  intros Hn Hr. unfold grows. rewrite <- between_same by auto. apply forallb_same. intros v I.
  pose proof (between_in c n v Hn I) as Hv. rewrite (a_keep _ _ _ _ A v r Hv Hr).
  destruct (s_group _ _ SF v r Hv Hr) as [-> _]. reflexivity.
Qed.
Lemma asks_same n r : (n < N)%nat -> (r < M)%nat -> asks_for F n r = asks_for F' n r.
Proof. intros Hn Hr. unfold asks_for. rewrite (s_asked _ _ SF n r Hn Hr). reflexivity. Qed.
Lemma promised_same c r : is_node c -> (r < M)%nat -> promised_to F c r = promised_to F' c r.
Proof. intros C Hr. destruct c; simpl; auto. apply (s_group _ _ SF v r C Hr). Qed.
Lemma is_below_same n c : (n < N)%nat -> is_node c -> is_below F H n c = is_below F' H' n c.
Proof.
  intros Hn C. unfold is_below. f_equal.
  - apply existsb_same. intros r I. apply in_range in I. rewrite asks_same, promised_same by auto. reflexivity.
  - apply forallb_same. intros r I. apply in_range in I. rewrite asks_same, (promised_same c) by auto.
    destruct (asks_for F' n r); auto. destruct (promised_to F' c r) as [q|] eqn:E; auto.
    rewrite grows_same by auto. f_equal. f_equal. destruct c as [|v|m]; simpl in E; try discriminate.
    simpl in C. destruct (s_group _ _ SF v r C I) as (_ & Ed & _). rewrite <- Ed in E. apply (a_due _ _ _ _ A v r q C I E).
Qed.
Lemma clear_same t t' n : (n < N)%nat ->
  (forall q, all_tasks F n = Some q -> le q (t n) = le q (t' n)) -> clear F H t n = clear F' H' t' n.
Proof.
  intros Hn Et. unfold clear. destruct (s_line _ _ SF n Hn) as [Ln Lv]. rewrite <- (s_tasks _ _ SF n Hn), <- Ln. f_equal; [f_equal|].
  - destruct (all_tasks F n); auto. rewrite (Et q); auto.
  - apply forallb_same. intros v I. specialize (Lv v I). assert (Cv : is_node (Team v)) by exact Lv.
    destruct (s_node _ _ SF (Team v) Cv) as (_ & E2 & _ & _). destruct (s_flags _ _ SF) as [_ E3].
    rewrite E2, E3, (is_below_same n (Team v)) by auto. f_equal.
    apply forallb_same. intros r Ir. apply in_range in Ir. rewrite asks_same by auto. destruct (asks_for F' n r); auto.
    destruct (s_group _ _ SF v r Lv Ir) as (_ & _ & Em). unfold below_mark. rewrite <- Em. destruct (most_of F v r) eqn:E; auto.
    rewrite grows_same, (a_most _ _ _ _ A v r q Lv Ir E) by auto. reflexivity.
  - apply forallb_same. intros r I. apply in_range in I. destruct (s_resource _ _ SF r I) as (E1 & E2 & _).
    rewrite asks_same by auto. rewrite <- E2. destruct (asks_for F' n r && whole_kept F r); auto. unfold below_mark.
    rewrite <- E1, grows_same, (a_whole _ _ _ _ A r I) by auto. reflexivity.
Qed.

Lemma faster_parts l c r : users_of l -> (r < M)%nat ->
  used_faster F H l c r = used_faster F' H' l c r /\ held_faster F l r = held_faster F' l r.
Proof.
  intros L Hr. unfold used_faster, held_faster. split; f_equal; apply map_ext_in; intros p I; specialize (L p I);
    rewrite (s_asked _ _ SF (fst p) r L Hr); [rewrite grows_same by auto|]; reflexivity.
Qed.
Lemma faster_same k l c i : users_of l -> is_node c -> (i < M)%nat -> faster F H k l c i = faster F' H' k l c i.
Proof.
  intros L C Hi. destruct (faster_parts l c i L Hi) as [E1 E2]. destruct (s_node _ _ SF c C) as (Ew & _ & _ & Eo).
  destruct (s_resource _ _ SF i Hi) as (Ei & _).
  destruct k; simpl; rewrite ?E1, ?E2, ?Ew, ?Ei, ?(promised_same c) by auto; try reflexivity.
  f_equal. f_equal. apply map_ext_in. intros r I. apply in_range in I. destruct (s_resource _ _ SF r I) as (_ & _ & Et & Ek).
  destruct (faster_parts l c r L I) as [E3 _]. rewrite Ek, Et, E3, Eo, (a_extra _ _ _ _ A c r C I) by auto. reflexivity.
Qed.
Lemma terms_same k l asking c : users_of l -> users_below asking -> is_node c -> terms F k l asking c = terms F' k l asking c.
Proof.
  intros L As C. apply filter_ext_in. intros i I. apply in_range in I. destruct (faster_parts l c i L I) as [_ E2].
  destruct (s_node _ _ SF c C) as (_ & _ & _ & Eo). destruct (s_resource _ _ SF i I) as (Ei & _).
  destruct k; rewrite ?Eo, ?E2, ?Ei, ?(promised_same c) by auto; try reflexivity. f_equal.
  apply existsb_same. intros n In. apply asks_same; auto.
Qed.
Lemma terms_in k l asking c i : In i (terms F k l asking c) -> (i < M)%nat.
Proof. intros I. apply filter_In in I. apply in_range. tauto. Qed.
Lemma no_higher_same p k c a d b : In c (kids p) -> In d (kids p) -> (forall i, In i a -> (i < M)%nat) -> (forall i, In i b -> (i < M)%nat) ->
  no_higher F H k c a d b = no_higher F' H' k c a d b.
Proof.
  intros C D Ia Ib. unfold no_higher. apply forallb_same. intros i I. specialize (Ia i I).
  rewrite (a_zero _ _ _ _ A) by (auto; eapply kids_nodes; eauto). f_equal. apply existsb_same. intros j J.
  apply (a_value _ _ _ _ A p); auto.
Qed.
Lemma pace_same p k l c a : In c (kids p) -> users_of l -> (forall i, In i a -> (i < M)%nat) -> pace F H k l c a = pace F' H' k l c a.
Proof.
  intros C L Ia. unfold pace. f_equal.
  rewrite (filter_ext_in _ (fun i => forallb (fun j => le (value F' H' k c j) (value F' H' k c i)) a)).
  - apply map_ext_in. intros i I. apply filter_In in I. apply faster_same; auto; [eapply kids_nodes; eauto|apply Ia; tauto].
  - intros i I. apply forallb_same. intros j J. apply (a_value _ _ _ _ A p); auto.
Qed.

Section Of.
Variable S : list nat.
Hypothesis US : users_below S.
Lemma of_node_same k : of_node F S k = of_node F' S k.
Proof. apply filter_ext_in. intros n I. apply under_same. auto. Qed.
Lemma of_node_users k : users_below (of_node F S k).
Proof. intros n I. apply filter_In in I. apply US. tauto. Qed.
Lemma first_same k : is_node k -> first F H S k = first F' H' S k.
Proof.
  intros C. unfold first. rewrite <- of_node_same. apply filter_ext_in. intros n I. apply is_below_same; auto.
  apply (of_node_users k n I).
Qed.
Lemma first_users k : users_below (first F H S k).
Proof. intros n I. apply filter_In in I. apply (of_node_users k). tauto. Qed.
Lemma goes_same k : is_node k -> goes F H S k = goes F' H' S k.
Proof. intros C. unfold goes. rewrite <- first_same, <- of_node_same by auto. reflexivity. Qed.
Lemma goes_users k : users_below (goes F H S k).
Proof. unfold goes. destruct (some_of (first F H S k)); [apply first_users|apply of_node_users]. Qed.
Lemma terms_of_same k : is_node k -> terms_of F H S k = terms_of F' H' S k.
Proof.
  intros C. unfold terms_of, kind_of. rewrite <- first_same by auto. apply terms_same; auto; [intros p []|apply first_users].
Qed.
Lemma terms_of_in k i : In i (terms_of F H S k) -> (i < M)%nat.
Proof. apply terms_in. Qed.
Lemma key_le_same p k j : In k (kids p) -> In j (kids p) -> key_le F H S k j = key_le F' H' S k j.
Proof.
  intros K J. assert (Ck := kids_nodes _ _ K). assert (Cj := kids_nodes _ _ J). unfold key_le.
  rewrite <- !first_same, <- !terms_of_same by auto.
  destruct (s_node _ _ SF k Ck) as (_ & E1 & E2 & _). destruct (s_node _ _ SF j Cj) as (_ & E3 & E4 & _).
  rewrite E1, E2, E3, E4. rewrite !(no_higher_same p) by (auto; intros i; apply terms_of_in). reflexivity.
Qed.
Lemma candidates_same c : candidates F S c = candidates F' S c.
Proof. apply filter_ext_in. intros k _. rewrite of_node_same. reflexivity. Qed.
Lemma candidates_in c k : In k (candidates F S c) -> In k (kids c).
Proof. intros I. apply filter_In in I. tauto. Qed.
Lemma lowest_same c : lowest F H S c = lowest F' H' S c.
Proof.
  unfold lowest. rewrite <- candidates_same. apply filter_ext_in. intros k I. apply forallb_same. intros j J.
  apply (key_le_same c); apply candidates_in; auto.
Qed.
Lemma lowest_in c k : In k (lowest F H S c) -> In k (kids c).
Proof. intros I. apply filter_In in I. apply candidates_in. tauto. Qed.
Lemma together_same p all : (forall q, In q all -> In (fst q) (kids p) /\ users_of (snd q)) ->
  together F H S all = together F' H' S all.
Proof.
  intros Al.
  assert (Sp : forall q, In q all -> speed F H S q = speed F' H' S q).
  { intros q I. destruct (Al q I) as [K L]. assert (C := kids_nodes _ _ K). unfold speed, kind_of.
    rewrite <- first_same, <- terms_of_same by auto. apply (pace_same p); auto. intros i. apply terms_of_in. }
  assert (Lt : forall q, In q all -> line_terms F H S q = line_terms F' H' S q).
  { intros q I. destruct (Al q I) as [K L]. assert (C := kids_nodes _ _ K). unfold line_terms, line_kind.
    rewrite <- first_same by auto. apply terms_same; auto. intros n []. }
  unfold together. rewrite (filter_ext_in (fun q => eqq (speed F H S q) 0) (fun q => eqq (speed F' H' S q) 0)) by
    (intros q I; rewrite Sp; auto).
  set (flat := filter (fun q => eqq (speed F' H' S q) 0) all).
  assert (Fl : forall q, In q flat -> In q all) by (intros q I; apply filter_In in I; tauto).
  destruct (some_of flat).
  - rewrite (filter_ext_in _ (fun q => forallb (line_le F' H' S q) flat)).
    + apply flat_map_same. intros q I. apply filter_In in I. destruct I as [I _]. apply Fl in I. destruct (Al q I) as [K L].
      assert (C := kids_nodes _ _ K). unfold line_speed, line_kind. rewrite <- Lt, <- first_same by auto.
      rewrite (pace_same p); auto. intros i. apply terms_in.
    + intros q I. apply forallb_same. intros r J. apply Fl in I, J. destruct (Al q I) as [K L]. destruct (Al r J) as [K' L'].
      assert (C := kids_nodes _ _ K). unfold line_le, line_kind. rewrite <- !Lt, <- first_same by auto.
      apply (no_higher_same p); auto; intros i; apply terms_in.
  - apply flat_map_same. intros q I. rewrite Sp; auto.
Qed.
End Of.

Lemma turn_users d : forall c S, is_node c -> users_below S -> users_of (turn F H d c S).
Proof.
  induction d; intros c S C US p I.
  - destruct c; simpl in I; try contradiction. destruct I as [<-|[]]. exact C.
  - assert (All : forall q, In q (map (fun k => (k, turn F H d k (goes F H S k))) (lowest F H S c)) -> users_of (snd q)).
    { intros q Iq. apply in_map_iff in Iq. destruct Iq as (k & <- & K). simpl. apply IHd; [|apply goes_users; auto].
      eapply kids_nodes. eapply lowest_in; eauto. }
    assert (Sl : forall q l, users_of l -> users_of (slower q l)).
    { intros q l L s Is. apply in_map_iff in Is. destruct Is as (s' & <- & Is). simpl. apply L. auto. }
    destruct c as [|v|n].
    3:{ simpl in I. destruct I as [<-|[]]. exact C. }
    all: cbn [turn] in I; unfold together in I;
      match type of I with In _ (if ?b then _ else _) => destruct b end; apply in_flat_map in I; destruct I as (q & Iq & I);
      repeat (apply filter_In in Iq; destruct Iq as [Iq _]); exact (Sl _ _ (All q Iq) p I).
Qed.
Theorem turn_same d : forall c S, is_node c -> users_below S -> turn F H d c S = turn F' H' d c S.
Proof.
  induction d; intros c S C US; [destruct c; reflexivity|].
  assert (E : together F H S (map (fun k => (k, turn F H d k (goes F H S k))) (lowest F H S c)) =
    together F' H' S (map (fun k => (k, turn F' H' d k (goes F' H' S k))) (lowest F' H' S c))).
  { rewrite <- lowest_same by auto.
    assert (Em : map (fun k => (k, turn F' H' d k (goes F' H' S k))) (lowest F H S c) =
      map (fun k => (k, turn F H d k (goes F H S k))) (lowest F H S c)).
    { apply map_ext_in. intros k K. apply lowest_in in K. assert (Ck := kids_nodes _ _ K). rewrite <- goes_same by auto.
      rewrite IHd; auto. apply goes_users; auto. }
    rewrite Em. apply (together_same S US c). intros q I. apply in_map_iff in I. destruct I as (k & <- & K). simpl.
    apply lowest_in in K. split; auto. apply turn_users; [eapply kids_nodes; eauto|apply goes_users; auto]. }
  destruct c; auto; exact E.
Qed.
End Same.
End On.
