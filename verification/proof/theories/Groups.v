(** States what groups of users may hold and what they are promised (docs/theory.md, section 9), and decides these
    statements. The statements come first. They say nothing about a problem without groups. *)
From Coq Require Import QArith Qreduction Qfield Arith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Arithmetic Checker Repair Soundness Bundle Certificate.
Open Scope Q_scope.

(** A limit on some of the server classes *)
Record limit_on := { o_group : nat; o_resource : nat; o_on : nat -> bool; o_most : Q }.
Record bar := { b_group : nat; b_resource : nat; b_most : Q; b_takes : nat -> nat -> Q }.
(** Groups are numbered from 0. The root is [None], as the parent of a group or as the group of a user. *)
Record grouping := {
  groups : nat;
  parent : nat -> option nat;
  group_of : nat -> option nat;                (* the group of a user *)
  priced : nat -> bool;                        (* the weight of the group is not 0 *)
  never : bool;                                (* a group of weight 0 gets nothing beyond its guarantee *)
  states : nat -> bool;                        (* the group states a guarantee *)
  guarantee : nat -> nat -> option Q;          (* the guarantee, by resource *)
  ceiling : nat -> nat -> option Q;            (* the limit of the group, by resource *)
  lends : nat -> nat -> option Q;
  limits_on : list limit_on }.

Section On.
Variable P : problem.
Variable G : grouping.
Notation N := (users P). Notation K := (classes P). Notation M := (resources P). Notation V := (groups G).

Definition child (v c : nat) : bool := match parent G c with Some p => Nat.eqb p v | None => false end.
Definition belongs (n v : nat) : bool := match group_of G n with Some p => Nat.eqb p v | None => false end.

(** [stands depth v]: the path from v up to the root has at most [depth] groups. A recursion over a group and all groups
    below it then needs at most [depth] steps. *)
Fixpoint stands (depth v : nat) : bool :=
  match depth with O => false | S d => match parent G v with None => true | Some p => Nat.ltb p V && stands d p end end.
Definition a_forest : Prop :=
  (forall v, (v < V)%nat -> stands V v = true) /\
  forall n v, (n < N)%nat -> group_of G n = Some v -> (v < V)%nat.

(** The promise to v of resource r. It is the guarantee that v states. If v states none, it is the sum of the promises
    to its children. *)
Definition and_more (a b : option Q) : option Q :=
  match a, b with Some a, Some b => Some (a + b) | Some a, None => Some a | None, b => b end.
Fixpoint gather (n : nat) (f : nat -> option Q) : option Q :=
  match n with O => None | S k => and_more (gather k f) (f k) end.
Fixpoint promised (depth v r : nat) : option Q :=
  match depth with
  | O => None
  | S d => if states G v then guarantee G v r
           else gather V (fun c => if child v c then promised d c r else None)
  end.
Definition or0 (q : option Q) : Q := match q with Some q => q | None => 0 end.
(** K_v: the amount that is kept back for v. The next definition is the use of v. In this use, every child counts with
    at least the amount that is kept back for it. *)
Fixpoint kept_back (depth v r : nat) : Q :=
  match depth with
  | O => 0
  | S d => larger (match lends G v r with Some l => larger 0 (or0 (promised (S d) v r) - l) | None => 0 end)
                  (sum V (fun c => if child v c then kept_back d c r else 0))
  end.
(** A task counts by its base demand, on every class. *)
Definition holds_of (x : allocation) (n r : nat) : Q := sum K (fun i => x n i * base P n r).
Fixpoint uses_of (x : allocation) (depth v r : nat) : Q :=
  match depth with
  | O => 0
  | S d => sum N (fun n => if belongs n v then holds_of x n r else 0) +
           sum V (fun c => if child v c then larger (uses_of x d c r) (kept_back d c r) else 0)
  end.
(** Depths are counted from the leaves. V steps are enough for any group. *)
Definition use (x : allocation) (v r : nat) : Q := uses_of x V v r.
Definition promise (v r : nat) : option Q := promised V v r.
Definition kept_for (v r : nat) : Q := kept_back V v r.

(** The groups above v, with v itself first *)
Fixpoint line (depth : nat) (v : option nat) : list nat :=
  match depth, v with S d, Some v => v :: line d (parent G v) | _, _ => nil end.
Definition above (n : nat) : list nat := line V (group_of G n).
(** Limits are rows over the amounts that the users below a group hold or take. In a limit on classes, a task counts by
    its demand on its class. *)
Definition bars_on : list bar :=
  map (fun o => {| b_group := o_group o; b_resource := o_resource o; b_most := o_most o;
      b_takes := fun n i => if o_on o i then demand P n i (o_resource o) else 0 |})
    (filter (fun o => Nat.ltb (o_resource o) M) (limits_on G)).
Definition below_bar (b : bar) (n : nat) : bool := existsb (Nat.eqb (b_group b)) (above n).
Definition taken (b : bar) (y : allocation) : Q :=
  sum N (fun n => if below_bar b n then sum K (fun i => y n i * b_takes b n i) else 0).
(** [left_on]: the number of further tasks of n that these limits leave on class i, if one of them counts n there.
    [left_below]: the same number on all classes together. *)
Fixpoint numbered {A} (k : nat) (l : list A) : list (nat * A) := match l with nil => nil | a :: l => (k, a) :: numbered (S k) l end.
Section Left.
Variable held : nat -> bar -> Q.
Variable can : nat -> nat -> bool.
Definition counts_on (b : bar) (n i : nat) : bool := below_bar b n && lt 0 (b_takes b n i).
Definition leaves_on (kb : nat * bar) (n i : nat) : Q :=
  larger 0 (quo (sub (b_most (snd kb)) (held (fst kb) (snd kb))) (b_takes (snd kb) n i)).
Definition left_on (n i : nat) : option Q :=
  fold_right (fun kb least => if counts_on (snd kb) n i
    then Some (match least with Some l => smaller l (leaves_on kb n i) | None => leaves_on kb n i end) else least) None (numbered 0 bars_on).
Fixpoint left_below (k n : nat) : option Q :=
  match k with
  | O => Some 0
  | S k => match (if can n k then left_on n k else Some 0), left_below k n with Some a, Some b => Some (add b a) | _, _ => None end
  end.
(** If a limit counts n on every class where n can run, it leaves a total number of tasks. This is the number on the
    class where a task takes the least of the limit. *)
Definition counts_everywhere (b : bar) (n : nat) : bool := all K (fun i => negb (can n i) || counts_on b n i).
Fixpoint widest (k : nat) (kb : nat * bar) (n : nat) : Q :=
  match k with O => 0 | S k => if can n k then larger (leaves_on kb n k) (widest k kb n) else widest k kb n end.
Definition left_in_all (n : nat) : option Q :=
  fold_right (fun kb least => if counts_everywhere (snd kb) n
    then Some (match least with Some l => smaller l (widest K kb n) | None => widest K kb n end) else least)
    (left_below K n) (numbered 0 bars_on).
End Left.
Definition held_in (x : allocation) (_ : nat) (b : bar) : Q := taken b x.
Definition can_use (n i : nat) : bool := lt 0 (gamma P n i).
Definition no_more (q : option Q) (z : Q) : Prop := match q with Some q => z <= q | None => True end.

(** The tasks can be placed within the limits on classes. *)
Definition placeable (y : allocation) : Prop := feasible P y /\ forall b, In b bars_on -> taken b y <= b_most b.

(** The axioms of groups apply only to problems in which all resources are divided. *)
Definition about_groups : Prop := (0 < V)%nat /\ forall i, (i < K)%nat -> timed P i = false.

(** The use of the root: the holdings of users without a group, and the use of the topmost groups. A topmost group
    counts with at least the amount that is kept back for it. *)
Definition on_top (a : option nat) : bool := match a with None => true | Some _ => false end.
Definition root_holds (x : allocation) (r : nat) : Q :=
  sum N (fun n => if on_top (group_of G n) then holds_of x n r else 0) +
  sum V (fun v => if on_top (parent G v) then larger (use x v r) (kept_for v r) else 0).
Definition root_is_kept (r : nat) : Prop := exists v, (v < V)%nat /\ on_top (parent G v) = true /\ 0 < kept_for v r.
(** Up to eps times the capacity of the cluster, two statements are true. The root uses no more than the capacity of any
    resource of which an amount is kept back. No group uses more than its limits. *)
Definition limits_kept (eps : Q) (x : allocation) : Prop :=
  (forall r, (r < M)%nat -> root_is_kept r -> 0 < total P r -> root_holds x r - total P r <= eps * total P r) /\
  (forall v r L, (v < V)%nat -> (r < M)%nat -> ceiling G v r = Some L -> 0 < total P r ->
    use x v r - L <= eps * total P r) /\
  forall b, In b bars_on -> 0 < total P (b_resource b) -> taken b x - b_most b <= eps * total P (b_resource b).

(** ** Guarantees (docs/axioms.md, "Guarantees: the lack") *)
Definition asks (n r : nat) : bool := lt 0 (base P n r) && lt 0 (total P r).
Definition is_named (v r : nat) : bool := match promise v r with Some _ => true | None => false end.
Definition names_some (n v : nat) : bool := negb (all M (fun r => negb (asks n r && is_named v r))).
(** The guarantee of v bounds its users in two cases: v states the guarantee, or v has the weight 0 and gets nothing
    beyond its guarantee. The guarantee must name a resource that n demands. *)
Definition binds (v : nat) : bool := states G v || never G && negb (priced G v).
Definition open_to (n v : nat) : bool := negb (binds v) || names_some n v.
(** The promised use of v: the part of its use that a guarantee covers which v or a group below v states *)
Fixpoint promised_use (x : allocation) (depth v r : nat) : Q :=
  match depth with
  | O => 0
  | S d => if states G v then smaller (use x v r) (or0 (promise v r))
           else sum V (fun c => if child v c then larger (promised_use x d c r) (kept_for c r) else 0)
  end.
Definition owed (x : allocation) (v r : nat) : Q := promised_use x V v r.
(** [counted x r v l past k q s]: the amount that counts as used of v if a user below the groups l asks for more tasks,
    where v is one of l. All use counts up to the lowest group that states a guarantee. Above this group ([past]), the
    child k on the path counts with q, and its siblings count only with their promised use. [s] is the unused amount
    that is kept back for the groups below. Further tasks of the user use [s] first. *)
Fixpoint counted (x : allocation) (r v : nat) (l : list nat) (past : bool) (k : nat) (q s : Q) : Q :=
  match l with
  | nil => 0
  | c :: l' =>
    let q' := if past then larger q (kept_for k r) +
                sum V (fun b => if child c b && negb (Nat.eqb b k) then larger (owed x b r) (kept_for b r) else 0)
              else use x c r in
    if Nat.eqb c v then q' - s
    else counted x r v l' (past || states G c) c q' (s + larger 0 (kept_for c r - q'))
  end.
(** The fraction of the tasks of m that counts against limits on classes if n asks for more tasks *)
Definition among_groups (l : list nat) (v : nat) : bool := existsb (Nat.eqb v) l.
Definition topmost (n m : nat) : option nat :=
  find (states G) (rev (filter (fun c => negb (among_groups (above n) c)) (above m))).
Definition fraction (x : allocation) (n m r : nat) : Q :=
  match find (states G) (above n) with
  | None => 1
  | Some w => if among_groups (above m) w then 1 else
    match topmost n m with
    | None => 0
    | Some c => match promise c r with
      | None => 0
      | Some g => if lt g (use x c r) then g / use x c r else 1
      end
    end
  end.
Definition counted_in (x : allocation) (n _k : nat) (b : bar) : Q :=
  sum N (fun m => if below_bar b m then fraction x n m (b_resource b) * sum K (fun i => x m i * b_takes b m i) else 0).
(** User n may ask for z more tasks. It has at least z tasks left, and a group above it states a guarantee. Every limit
    and guarantee above it leaves room for z more tasks. So do the limits on classes that count n on all its classes. *)
Definition may_ask (x : allocation) (n : nat) (z : Q) : Prop :=
  within_limit P n (tasks P x n + z) /\ no_more (left_in_all (counted_in x n) can_use n) z /\
  (exists v, In v (above n) /\ states G v = true) /\
  forall v, In v (above n) -> open_to n v = true /\
    forall r mark, (r < M)%nat -> asks n r = true -> (binds v = true /\ promise v r = Some mark) \/ ceiling G v r = Some mark ->
      counted x r v (above n) false 0 0 0 + z * base P n r <= mark.
(** No user may ask for more than eps times the tasks that it would have alone. *)
Definition guarantees_kept (eps : Q) (x : allocation) : Prop :=
  forall n z, user P n -> 0 <= z -> may_ask x n z -> z <= eps * g P n.

(** * Programs *)
Record group_tables := {
  t_use : nat -> nat -> Q; t_promise : nat -> nat -> option Q; t_kept_back : nat -> nat -> Q; t_total : nat -> Q;
  t_above : nat -> list nat; t_taken : nat -> Q (* one entry for each limit on classes *); t_owed : nat -> nat -> Q }.

Definition rand_more (a b : option Q) : option Q :=
  match a, b with Some a, Some b => Some (add a b) | Some a, None => Some a | None, b => b end.
Fixpoint rgather (n : nat) (f : nat -> option Q) : option Q :=
  match n with O => None | S k => rand_more (rgather k f) (f k) end.
Fixpoint rpromised (depth v r : nat) : option Q :=
  match depth with
  | O => None
  | S d => if states G v then guarantee G v r
           else rgather V (fun c => if child v c then rpromised d c r else None)
  end.
Fixpoint rkept (depth v r : nat) : Q :=
  match depth with
  | O => 0
  | S d => larger (match lends G v r with Some l => larger 0 (sub (or0 (rpromised (S d) v r)) l) | None => 0 end)
                  (rsum V (fun c => if child v c then rkept d c r else 0))
  end.
Fixpoint ruse (x : allocation) (depth v r : nat) : Q :=
  match depth with
  | O => 0
  | S d => add (rsum N (fun n => if belongs n v then rsum K (fun i => mul (x n i) (base P n r)) else 0))
               (rsum V (fun c => if child v c then larger (ruse x d c r) (rkept d c r) else 0))
  end.
Definition rtaken (b : bar) (y : allocation) : Q :=
  rsum N (fun n => if below_bar b n then rsum K (fun i => mul (y n i) (b_takes b n i)) else 0).
Definition rtotal_of (r : nat) : Q := rsum K (fun i => mul (count P i) (capacity P i r)).

Variable T : tables.
Variable H : group_tables.
Notation x := (t_x T).
Definition same (a b : option Q) : bool :=
  match a, b with Some a, Some b => eqq a b | None, None => true | _, _ => false end.
Fixpoint same_list (a b : list nat) : bool :=
  match a, b with nil, nil => true | v :: a, w :: b => Nat.eqb v w && same_list a b | _, _ => false end.
Definition check_forest : bool :=
  all V (stands V) && all N (fun n => match group_of G n with Some v => Nat.ltb v V | None => true end).
Fixpoint rpromised_use (depth v r : nat) : Q :=
  match depth with
  | O => 0
  | S d => if states G v then smaller (t_use H v r) (or0 (t_promise H v r))
           else rsum V (fun c => if child v c then larger (rpromised_use d c r) (t_kept_back H c r) else 0)
  end.
Definition check_plain_tables : bool :=
  check_forest &&
  all V (fun v => all M (fun r => eqq (t_use H v r) (ruse x V v r))) &&
  all V (fun v => all M (fun r => same (t_promise H v r) (rpromised V v r))) &&
  all V (fun v => all M (fun r => eqq (t_kept_back H v r) (rkept V v r))) &&
  all M (fun r => eqq (t_total H r) (rtotal_of r)) &&
  all N (fun n => same_list (t_above H n) (above n)) &&
  forallb (fun kb => eqq (t_taken H (fst kb)) (rtaken (snd kb) x)) (numbered 0 bars_on).
Definition check_group_tables : bool :=
  check_plain_tables && all V (fun v => all M (fun r => eqq (t_owed H v r) (rpromised_use V v r))).

Definition check_about : bool := Nat.ltb 0 V && all K (fun i => negb (timed P i)).

(** The root *)
Definition t_root (r : nat) : Q :=
  add (rsum N (fun n => if on_top (group_of G n) then rsum K (fun i => mul (x n i) (base P n r)) else 0))
      (rsum V (fun v => if on_top (parent G v) then larger (t_use H v r) (t_kept_back H v r) else 0)).
Definition t_root_is_kept (r : nat) : bool := any V (fun v => on_top (parent G v) && lt 0 (t_kept_back H v r)).
Definition t_root_counts (r : nat) : bool := t_root_is_kept r && lt 0 (t_total H r).
(** Every limit has a margin of at least m. *)
Definition check_root_kept (m : Q) : bool :=
  all M (fun r => negb (t_root_counts r) || le (mul m (t_total H r)) (sub (t_total H r) (t_root r))).
Definition check_limits_kept (m : Q) : bool :=
  check_root_kept m &&
  (all V (fun v => all M (fun r => match ceiling G v r with
    | Some L => if lt 0 (t_total H r) then le (mul m (t_total H r)) (sub L (t_use H v r)) else true
    | None => true end)) &&
  forallb (fun kb => let c := t_total H (b_resource (snd kb)) in
    negb (lt 0 c) || le (mul m c) (sub (b_most (snd kb)) (t_taken H (fst kb)))) (numbered 0 bars_on)).
(** Some limit has exactly that margin. *)
Definition limit_at (m : Q) (v r : nat) : bool :=
  lt 0 (t_total H r) &&
  match ceiling G v r with Some L => eqq (sub L (t_use H v r)) (mul m (t_total H r)) | None => false end.
Definition limit_on_at (m : Q) (kb : nat * bar) : bool := let c := t_total H (b_resource (snd kb)) in
  lt 0 c && eqq (sub (b_most (snd kb)) (t_taken H (fst kb))) (mul m c).
Definition root_at (m : Q) (r : nat) : bool :=
  t_root_counts r && eqq (sub (t_total H r) (t_root r)) (mul m (t_total H r)).
Definition check_group_limits (m : Q) : bool :=
  check_limits_kept m && (any M (root_at m) || (any V (fun v => any M (limit_at m v)) || existsb (limit_on_at m) (numbered 0 bars_on))).
Definition check_unlimited : bool :=
  all M (fun r => negb (t_root_counts r)) &&
  (all V (fun v => all M (fun r => match ceiling G v r with Some _ => le (t_total H r) 0 | None => true end)) &&
  forallb (fun b => le (t_total H (b_resource b)) 0) bars_on).

Definition t_asks (n r : nat) : bool := lt 0 (base P n r) && lt 0 (t_total H r).
Definition t_names (n v : nat) : bool := any M (fun r => t_asks n r && match t_promise H v r with Some _ => true | None => false end).
Definition t_open (n v : nat) : bool := negb (binds v) || t_names n v.
Fixpoint t_before (r v : nat) (l : list nat) : Q :=
  match l with
  | nil => 0
  | c :: l' => if Nat.eqb c v then 0 else add (larger 0 (sub (t_kept_back H c r) (t_use H c r))) (t_before r v l')
  end.
Fixpoint t_counted (r v : nat) (l : list nat) (past : bool) (k : nat) (q s : Q) : Q :=
  match l with
  | nil => 0
  | c :: l' =>
    let q' := if past then add (larger q (t_kept_back H k r))
                (rsum V (fun b => if child c b && negb (Nat.eqb b k) then larger (t_owed H b r) (t_kept_back H b r) else 0))
              else t_use H c r in
    if Nat.eqb c v then sub q' s
    else t_counted r v l' (past || states G c) c q' (add s (larger 0 (sub (t_kept_back H c r) q')))
  end.
Definition t_topmost (n m : nat) : option nat :=
  find (states G) (rev (filter (fun c => negb (among_groups (t_above H n) c)) (t_above H m))).
Definition t_fraction (n m r : nat) : Q :=
  match find (states G) (t_above H n) with
  | None => 1
  | Some w => if among_groups (t_above H m) w then 1 else
    match t_topmost n m with
    | None => 0
    | Some c => match t_promise H c r with
      | None => 0
      | Some g => if lt g (t_use H c r) then quo g (t_use H c r) else 1
      end
    end
  end.
Definition t_counted_in (n _k : nat) (b : bar) : Q :=
  rsum N (fun m => if below_bar b m then mul (t_fraction n m (b_resource b)) (rsum K (fun i => mul (x m i) (b_takes b m i))) else 0).
Definition opened (n : nat) : bool := existsb (states G) (t_above H n) && forallb (t_open n) (t_above H n).
(** [every_room f n]: f is true of every bound on the number of tasks that n may ask for. *)
Definition t_held (k : nat) (_ : bar) : Q := t_taken H k.
Definition every_room (f : Q -> bool) (n : nat) : bool :=
  match limit P n with Some l => f (sub l (t_tasks T n)) | None => true end &&
  match left_in_all (t_counted_in n) (runs_on T) n with Some q => f q | None => true end &&
  forallb (fun v => all M (fun r => if t_asks n r then
    let of_mark q := f (quo (sub q (t_counted r v (t_above H n) false 0 0 0)) (base P n r)) in
    match t_promise H v r with Some q => negb (binds v) || of_mark q | None => true end &&
    match ceiling G v r with Some q => of_mark q | None => true end else true)) (t_above H n).
Definition asks_at_most (d : Q) (n : nat) : bool := negb (opened n) || negb (every_room (fun q => lt d q) n).
Definition asks_at_least (d : Q) (n : nat) : bool := eqq d 0 || opened n && every_room (fun q => le d q) n.
(** No user may ask for more than -m times the tasks that it would have alone, and some user may ask for exactly this
    number. *)
Definition check_guarantees (m : Q) : bool :=
  le m 0 && users_all P T (fun n => asks_at_most (- mul m (t_g T n)) n) &&
  any N (fun k => is_active T k && asks_at_least (- mul m (t_g T k)) k).

(** * Soundness *)
Lemma child_iff v c : child v c = true <-> parent G c = Some v.
Proof.
  unfold child. destruct (parent G c) as [p|]; split; intros E; try discriminate.
  - apply Nat.eqb_eq in E. congruence.
  - inversion E. apply Nat.eqb_refl.
Qed.

Definition alike (a b : option Q) : Prop :=
  match a, b with Some a, Some b => a == b | None, None => True | _, _ => False end.
Lemma alike_more a b c d : alike a c -> alike b d -> alike (rand_more a b) (and_more c d).
Proof. destruct a, b, c, d; simpl; try tauto. intros A B. rewrite add_eq, A, B. reflexivity. Qed.
Lemma alike_gather n f h : (forall k, (k < n)%nat -> alike (f k) (h k)) -> alike (rgather n f) (gather n h).
Proof. induction n; simpl; intros E; auto. apply alike_more; [apply IHn; intros|]; apply E; lia. Qed.
Lemma alike_refl a : alike a a.
Proof. destruct a; simpl; auto. reflexivity. Qed.
Lemma rpromised_is d v r : alike (rpromised d v r) (promised d v r).
Proof.
  revert v. induction d; simpl; intros v; auto. destruct (states G v); [apply alike_refl|].
  apply alike_gather. intros k _. destruct (child v k); simpl; auto.
Qed.
Lemma rkept_is d v r : rkept d v r == kept_back d v r.
Proof.
  revert v. induction d; intros v; [reflexivity|].
  change (larger (match lends G v r with Some l => larger 0 (sub (or0 (rpromised (S d) v r)) l) | None => 0 end)
    (rsum V (fun c => if child v c then rkept d c r else 0)) == kept_back (S d) v r).
  change (kept_back (S d) v r) with (larger (match lends G v r with Some l => larger 0 (or0 (promised (S d) v r) - l) | None => 0 end)
    (sum V (fun c => if child v c then kept_back d c r else 0))).
  apply larger_ext.
  - destruct (lends G v r); [|reflexivity]. apply larger_ext; [reflexivity|]. rewrite sub_eq.
    pose proof (rpromised_is (S d) v r) as E. destruct (rpromised (S d) v r), (promised (S d) v r); simpl in *; try tauto;
      [rewrite E|]; reflexivity.
  - rewrite rsum_eq. apply sum_ext. intros k _. destruct (child v k); [apply IHd|reflexivity].
Qed.
Lemma ruse_is d v r : ruse x d v r == uses_of x d v r.
Proof.
  revert v. induction d; intros v; [reflexivity|]. cbn [ruse uses_of]. rewrite add_eq, !rsum_eq. apply Qplus_comp.
  - apply sum_ext. intros n _. destruct (belongs n v); [|reflexivity]. unfold holds_of. rewrite rsum_eq.
    apply sum_ext. intros. apply mul_eq.
  - apply sum_ext. intros c _. destruct (child v c); [|reflexivity]. apply larger_ext; [apply IHd|apply rkept_is].
Qed.
Lemma rtotal_of_is r : rtotal_of r == total P r.
Proof. unfold rtotal_of, total. rewrite rsum_eq. apply sum_ext. intros. apply mul_eq. Qed.

Hypothesis W : well_formed P.
Variable stated_x : allocation.
Variable placed : bool.
Hypothesis R : right P stated_x T placed.
Hypothesis C : check_group_tables = true.

Lemma plain_tables : check_plain_tables = true.
Proof. unfold check_group_tables in C. apply andb_true_iff in C. apply C. Qed.
Lemma forest : a_forest.
Proof.
  pose proof plain_tables as D. unfold check_plain_tables, check_forest in D. rewrite !andb_true_iff, !all_iff in D.
  destruct D as [[[[[[[A B] _] _] _] _] _] _]. split; auto.
  intros n v Hn E. specialize (B n Hn). rewrite E in B. apply Nat.ltb_lt. auto.
Qed.
Lemma use_is v r : (v < V)%nat -> (r < M)%nat -> t_use H v r == use x v r.
Proof.
  intros Hv Hr. pose proof plain_tables as D. unfold check_plain_tables in D. rewrite !andb_true_iff, !all_iff in D.
  destruct D as [[[[[[_ A] _] _] _] _] _]. specialize (A v Hv). rewrite all_iff in A. specialize (A r Hr).
  apply eqq_iff in A. rewrite A. apply ruse_is.
Qed.
Lemma promise_is v r : (v < V)%nat -> (r < M)%nat -> alike (t_promise H v r) (promise v r).
Proof.
  intros Hv Hr. pose proof plain_tables as D. unfold check_plain_tables in D. rewrite !andb_true_iff, !all_iff in D.
  destruct D as [[[[[[_ _] A] _] _] _] _]. specialize (A v Hv). rewrite all_iff in A. specialize (A r Hr).
  pose proof (rpromised_is V v r) as E. unfold promise.
  destruct (t_promise H v r) as [a|], (rpromised V v r) as [b|], (promised V v r) as [c|]; simpl in A, E |- *;
    try discriminate; try tauto. bools. rewrite A. auto.
Qed.
Lemma kept_is v r : (v < V)%nat -> (r < M)%nat -> t_kept_back H v r == kept_for v r.
Proof.
  intros Hv Hr. pose proof plain_tables as D. unfold check_plain_tables in D. rewrite !andb_true_iff, !all_iff in D.
  destruct D as [[[[[[_ _] _] A] _] _] _]. specialize (A v Hv). rewrite all_iff in A. specialize (A r Hr).
  apply eqq_iff in A. rewrite A. apply rkept_is.
Qed.
Lemma total_is r : (r < M)%nat -> t_total H r == total P r.
Proof.
  intros Hr. pose proof plain_tables as D. unfold check_plain_tables in D. rewrite !andb_true_iff, !all_iff in D.
  destruct D as [[[[[[_ _] _] _] A] _] _]. specialize (A r Hr). apply eqq_iff in A. rewrite A. apply rtotal_of_is.
Qed.
Lemma above_is n : (n < N)%nat -> t_above H n = above n.
Proof.
  intros Hn. pose proof plain_tables as D. unfold check_plain_tables in D. rewrite !andb_true_iff, !all_iff in D.
  destruct D as [[[[[[_ _] _] _] _] A] _]. specialize (A n Hn). revert A.
  generalize (above n). generalize (t_above H n). induction l as [|a l IH]; intros [|b k]; simpl; try discriminate; auto.
  intros E. apply andb_true_iff in E. destruct E as [E F]. apply Nat.eqb_eq in E. rewrite (IH k F), E. reflexivity.
Qed.
Lemma above_in n v : (n < N)%nat -> In v (above n) -> (v < V)%nat.
Proof.
  intros Hn. destruct forest as [F1 F2]. unfold above.
  assert (Up : forall w p, (w < V)%nat -> parent G w = Some p -> (p < V)%nat).
  { intros w p Hw E. specialize (F1 w Hw). destruct V as [|d] eqn:EV; [lia|]. simpl in F1. rewrite E in F1.
    apply andb_true_iff in F1. destruct F1 as [F1 _]. apply Nat.ltb_lt in F1. lia. }
  assert (L : forall d w, (forall u, w = Some u -> (u < V)%nat) -> In v (line d w) -> (v < V)%nat).
  { induction d; simpl; intros w Hw I; [contradiction|]. destruct w as [w|]; simpl in I; [|contradiction].
    destruct I as [->|I]; [auto|]. apply (IHd (parent G w)); auto. intros u E. eapply Up; eauto. }
  apply L. intros u E. eapply F2; eauto.
Qed.

Lemma rtaken_eq b y : rtaken b y == taken b y.
Proof.
  unfold rtaken, taken. rewrite rsum_eq. apply sum_ext. intros n _. destruct (below_bar b n); [|reflexivity].
  rewrite rsum_eq. apply sum_ext. intros. apply mul_eq.
Qed.
Lemma numbered_in {A} (l : list A) : forall k p, In p (numbered k l) -> In (snd p) l.
Proof. induction l as [|a l IH]; simpl; intros k p I; [contradiction|]. destruct I as [<-|I]; [left; reflexivity|right; eapply IH; eauto]. Qed.
Lemma numbered_all {A} (l : list A) a : In a l -> forall k, exists j, In (j, a) (numbered k l).
Proof.
  induction l as [|c l IH]; simpl; intros I k; [contradiction|]. destruct I as [<-|I]; [exists k; auto|].
  destruct (IH I (S k)) as [j J]. eauto.
Qed.
Lemma taken_is kb : In kb (numbered 0 bars_on) -> t_taken H (fst kb) == taken (snd kb) x.
Proof.
  intros I. pose proof plain_tables as D. unfold check_plain_tables in D. rewrite !andb_true_iff in D. destruct D as [_ A]. rewrite forallb_forall in A.
  specialize (A kb I). apply eqq_iff in A. rewrite A. apply rtaken_eq.
Qed.
Lemma bar_resource b : In b bars_on -> (b_resource b < M)%nat.
Proof.
  unfold bars_on. intros I. apply in_map_iff in I. destruct I as (o & <- & I). apply filter_In in I. destruct I as [_ I].
  apply Nat.ltb_lt. exact I.
Qed.
(** The number of tasks that limits on classes leave depends only on the used amounts of the limits, and on the classes
    where n can run. *)
Lemma left_on_ext h h' n i : (forall kb, In kb (numbered 0 bars_on) -> h (fst kb) (snd kb) == h' (fst kb) (snd kb)) ->
  alike (left_on h n i) (left_on h' n i).
Proof.
  unfold left_on. intros A. induction (numbered 0 bars_on) as [|kb l IH]; simpl; [exact I|].
  assert (B : alike (fold_right (fun kb least => if counts_on (snd kb) n i
    then Some (match least with Some l => smaller l (leaves_on h kb n i) | None => leaves_on h kb n i end) else least) None l)
    (fold_right (fun kb least => if counts_on (snd kb) n i
    then Some (match least with Some l => smaller l (leaves_on h' kb n i) | None => leaves_on h' kb n i end) else least) None l))
    by (apply IH; intros; apply A; right; auto).
  destruct (counts_on (snd kb) n i); [|exact B].
  assert (D : leaves_on h kb n i == leaves_on h' kb n i).
  { apply larger_ext; [reflexivity|]. rewrite !quo_eq, !sub_eq, A by (left; reflexivity). reflexivity. }
  destruct (fold_right _ None l), (fold_right _ None l); simpl in *; try tauto. apply smaller_ext; auto.
Qed.
Lemma left_below_ext h h' can can' k n : (k <= K)%nat -> (forall kb, In kb (numbered 0 bars_on) -> h (fst kb) (snd kb) == h' (fst kb) (snd kb)) ->
  (forall i, (i < K)%nat -> can n i = can' n i) -> alike (left_below h can k n) (left_below h' can' k n).
Proof.
  intros Hk A B. induction k; simpl; [reflexivity|]. specialize (IHk ltac:(lia)). rewrite B by lia.
  pose proof (left_on_ext h h' n k A) as D.
  destruct (can' n k); [destruct (left_on h n k), (left_on h' n k)|]; simpl in D; try tauto;
    destruct (left_below h can k n), (left_below h' can' k n); simpl in *; try tauto; rewrite !add_eq, IHk, ?D; reflexivity.
Qed.
Lemma widest_ext h h' can can' kb n k : (k <= K)%nat -> h (fst kb) (snd kb) == h' (fst kb) (snd kb) ->
  (forall i, (i < K)%nat -> can n i = can' n i) -> widest h can k kb n == widest h' can' k kb n.
Proof.
  intros Hk A B. induction k; simpl; [reflexivity|]. specialize (IHk ltac:(lia)). rewrite B by lia.
  destruct (can' n k); [|exact IHk]. apply larger_ext; [|exact IHk].
  apply larger_ext; [reflexivity|]. rewrite !quo_eq, !sub_eq, A. reflexivity.
Qed.
Lemma everywhere_ext can can' b n : (forall i, (i < K)%nat -> can n i = can' n i) -> counts_everywhere can b n = counts_everywhere can' b n.
Proof.
  intros B. unfold counts_everywhere. assert (A : forall k, (k <= K)%nat -> all k (fun i => negb (can n i) || counts_on b n i) =
    all k (fun i => negb (can' n i) || counts_on b n i)).
  { induction k; simpl; intros Hk; auto. rewrite B, IHk by lia. reflexivity. }
  apply A. lia.
Qed.
Lemma left_in_all_ext h h' can can' n : (forall kb, In kb (numbered 0 bars_on) -> h (fst kb) (snd kb) == h' (fst kb) (snd kb)) ->
  (forall i, (i < K)%nat -> can n i = can' n i) -> alike (left_in_all h can n) (left_in_all h' can' n).
Proof.
  intros A B. unfold left_in_all. pose proof (left_below_ext h h' can can' K n (le_n K) A B) as Base. revert A Base.
  generalize (left_below h can K n) (left_below h' can' K n). intros a a' A Base. induction (numbered 0 bars_on) as [|kb l IH]; simpl; [exact Base|].
  rewrite (everywhere_ext can can' (snd kb) n B). specialize (IH (fun kb' I => A kb' (or_intror I))).
  destruct (counts_everywhere can' (snd kb) n); [|exact IH].
  pose proof (widest_ext h h' can can' kb n K (le_n K) (A kb (or_introl eq_refl)) B) as E.
  destruct (fold_right _ a l), (fold_right _ a' l); simpl in *; try tauto. apply smaller_ext; auto.
Qed.
Lemma left_is n h h' : (n < N)%nat -> (forall kb, In kb (numbered 0 bars_on) -> h (fst kb) (snd kb) == h' (fst kb) (snd kb)) ->
  alike (left_in_all h (runs_on T) n) (left_in_all h' can_use n).
Proof.
  intros Hn E. apply left_in_all_ext; auto.
  intros i Hi. apply (runs_on_eq P stated_x T placed R); auto.
Qed.
Lemma left_nonneg h n i : match left_on h n i with Some q => 0 <= q | None => True end.
Proof.
  unfold left_on. induction (numbered 0 bars_on) as [|kb l IH]; simpl; [exact I|]. destruct (counts_on (snd kb) n i); [|exact IH].
  assert (D : 0 <= leaves_on h kb n i) by (unfold leaves_on; minmax; lra).
  destruct (fold_right _ None l); [minmax; lra|exact D].
Qed.
Lemma no_more_ext a b z : alike a b -> no_more a z <-> no_more b z.
Proof. destruct a, b; simpl; try tauto. intros E. rewrite E. reflexivity. Qed.

Lemma check_about_iff : check_about = true <-> about_groups.
Proof.
  unfold check_about, about_groups. rewrite andb_true_iff, all_iff, Nat.ltb_lt.
  split; intros [A B]; (split; [exact A|]); intros i Hi; specialize (B i Hi); apply negb_true_iff; auto.
Qed.

Lemma root_is r : (r < M)%nat -> t_root r == root_holds x r.
Proof.
  intros Hr. unfold t_root, root_holds. rewrite add_eq, !rsum_eq. apply Qplus_comp; apply sum_ext; intros k Hk.
  - destruct (on_top _); [|reflexivity]. unfold holds_of. rewrite rsum_eq. apply sum_ext. intros. apply mul_eq.
  - destruct (on_top _); [|reflexivity]. apply larger_ext; [apply use_is|apply kept_is]; auto.
Qed.
Lemma root_is_kept_iff r : (r < M)%nat -> t_root_is_kept r = true <-> root_is_kept r.
Proof.
  intros Hr. unfold t_root_is_kept, root_is_kept. rewrite any_iff. split; intros (v & Hv & A); exists v.
  - apply andb_true_iff in A. destruct A as [A B]. apply lt_iff in B. rewrite kept_is in B by auto. auto.
  - destruct A as [A B]. split; [exact Hv|]. apply andb_true_iff. split; [exact A|]. apply lt_iff. rewrite kept_is by auto. exact B.
Qed.
Lemma root_counts_iff r : (r < M)%nat -> t_root_counts r = true <-> root_is_kept r /\ 0 < total P r.
Proof. intros Hr. unfold t_root_counts. rewrite andb_true_iff, root_is_kept_iff, lt_iff, total_is by auto. reflexivity. Qed.
Theorem check_limits_kept_sound m : check_limits_kept m = true -> limits_kept (- m) x.
Proof.
  unfold check_limits_kept. intros A. apply andb_true_iff in A. destruct A as [A0 A]. apply andb_true_iff in A. destruct A as [A A2].
  split; [|split].
  - intros r Hr Kr Pos. unfold check_root_kept in A0. rewrite all_iff in A0. specialize (A0 r Hr). cbv beta in A0.
    rewrite (proj2 (root_counts_iff r Hr) (conj Kr Pos)) in A0. simpl in A0. apply le_iff in A0.
    rewrite mul_eq, sub_eq, total_is, root_is in A0 by auto. lra.
  - bools. intros v r L Hv Hr E Pos. specialize (A v Hv). bools.
    specialize (A r Hr). cbv beta in A. rewrite E in A. rewrite <- total_is in Pos by auto. pose proof Pos as Pos'.
    apply lt_iff in Pos'. rewrite Pos' in A. bools. rewrite mul_eq, sub_eq, total_is, use_is in A by auto. lra.
  - intros b I Pos. rewrite forallb_forall in A2. destruct (numbered_all _ b I 0%nat) as [j J]. specialize (A2 _ J). cbv zeta in A2.
      cbn [snd fst] in A2. pose proof (taken_is _ J) as Tk. cbn [snd fst] in Tk. rewrite <- total_is in Pos |- * by (apply bar_resource; auto). pose proof Pos as Pos'.
      apply lt_iff in Pos'. rewrite Pos' in A2. simpl in A2. apply le_iff in A2. rewrite mul_eq, sub_eq, Tk in A2. lra.
Qed.
Theorem check_group_limits_sound m : check_group_limits m = true -> least_eps (fun eps => limits_kept eps x) m.
Proof.
  unfold check_group_limits. intros A. apply andb_true_iff in A. destruct A as [A B].
  split; [apply check_limits_kept_sound; auto|]. intros eps (O0 & O & O2). apply orb_true_iff in B. destruct B as [B|B].
  { apply any_iff in B. destruct B as (r & Hr & B). unfold root_at in B. apply andb_true_iff in B. destruct B as [E F].
    apply root_counts_iff in E; auto. destruct E as [Kr Pos]. apply eqq_iff in F. rewrite sub_eq, mul_eq, total_is, root_is in F by auto.
    pose proof (O0 r Hr Kr Pos). apply (below eps (- m) (total P r)); auto. lra. }
  apply orb_true_iff in B. destruct B as [B|B].
  2:{ apply existsb_exists in B. destruct B as (kb & J & B). unfold limit_on_at in B. cbv zeta in B. apply andb_true_iff in B.
      destruct B as [E F]. apply lt_iff in E. apply eqq_iff in F. pose proof (numbered_in _ _ _ J) as I. pose proof (bar_resource _ I) as Hr.
      rewrite total_is in E by auto. rewrite sub_eq, mul_eq, total_is, (taken_is kb J) in F by auto. specialize (O2 _ I E).
      apply (below eps (- m) (total P (b_resource (snd kb)))); auto. lra. }
  apply any_iff in B. destruct B as (v & Hv & B).
  apply any_iff in B. destruct B as (r & Hr & B). unfold limit_at in B. apply andb_true_iff in B. destruct B as [E F].
  apply lt_iff in E. destruct (ceiling G v r) as [L|] eqn:EL; [|discriminate]. apply eqq_iff in F.
  rewrite total_is in E by auto. rewrite sub_eq, mul_eq, total_is, use_is in F by auto.
  pose proof (O v r L Hv Hr EL E). apply (below eps (- m) (total P r)); auto. lra.
Qed.
Theorem check_unlimited_sound : check_unlimited = true -> forall eps, limits_kept eps x.
Proof.
  unfold check_unlimited. intros A eps. apply andb_true_iff in A. destruct A as [A0 A]. apply andb_true_iff in A. destruct A as [A A2].
  split; [|split].
  - intros r Hr Kr Pos. rewrite all_iff in A0. specialize (A0 r Hr). cbv beta in A0.
    rewrite (proj2 (root_counts_iff r Hr) (conj Kr Pos)) in A0. discriminate.
  - intros v r L Hv Hr E Pos. bools. specialize (A v Hv). bools. specialize (A r Hr).
    cbv beta in A. rewrite E in A. bools. rewrite total_is in A by auto. lra.
  - intros b I Pos. rewrite forallb_forall in A2. specialize (A2 b I). apply le_iff in A2.
      rewrite total_is in A2 by (apply bar_resource; auto). lra.
Qed.

Lemma asks_is n r : (r < M)%nat -> t_asks n r = asks n r.
Proof. intros Hr. unfold t_asks, asks. f_equal. apply lt_ext; [reflexivity|apply total_is; auto]. Qed.
Lemma names_is n v : (v < V)%nat -> t_names n v = names_some n v.
Proof.
  intros Hv. unfold t_names, names_some.
  assert (E : forall k, (k <= M)%nat -> any k (fun r => t_asks n r && match t_promise H v r with Some _ => true | None => false end) =
    negb (all k (fun r => negb (asks n r && is_named v r)))).
  { induction k; simpl; intros Hk; auto. rewrite asks_is by lia.
    pose proof (promise_is v k Hv ltac:(lia)) as A. unfold is_named.
    destruct (t_promise H v k), (promise v k); simpl in A; try tauto; destruct (asks n k); simpl; auto; apply IHk; lia. }
  apply E. lia.
Qed.
Lemma open_is n v : (v < V)%nat -> t_open n v = open_to n v.
Proof. intros Hv. unfold t_open, open_to. rewrite names_is by auto. reflexivity. Qed.
Lemma promised_use_is d v r : (v < V)%nat -> (r < M)%nat -> rpromised_use d v r == promised_use x d v r.
Proof.
  intros Hv Hr. revert v Hv. induction d; intros v Hv; [reflexivity|]. cbn [rpromised_use promised_use]. destruct (states G v).
  - apply smaller_ext; [apply use_is; auto|]. pose proof (promise_is v r Hv Hr) as E.
    destruct (t_promise H v r), (promise v r); simpl in *; try tauto; reflexivity.
  - rewrite rsum_eq. apply sum_ext. intros c Hc. destruct (child v c); [|reflexivity].
    apply larger_ext; [apply IHd; auto|apply kept_is; auto].
Qed.
Lemma owed_is v r : (v < V)%nat -> (r < M)%nat -> t_owed H v r == owed x v r.
Proof.
  intros Hv Hr. pose proof C as D. unfold check_group_tables in D. rewrite !andb_true_iff, !all_iff in D.
  destruct D as [_ A]. specialize (A v Hv). rewrite all_iff in A. specialize (A r Hr). apply eqq_iff in A. rewrite A.
  apply promised_use_is; auto.
Qed.
Lemma counted_is r v l : (r < M)%nat -> forall past k q q' s s', (forall c, In c l -> (c < V)%nat) -> (past = true -> (k < V)%nat) ->
  q == q' -> s == s' -> t_counted r v l past k q s == counted x r v l past k q' s'.
Proof.
  intros Hr. induction l as [|c l IH]; intros past k q q' s s' I Hk Eq Es; [reflexivity|]. cbn [t_counted counted]. cbv zeta.
  assert (Hc : (c < V)%nat) by (apply I; left; reflexivity).
  match goal with |- (if _ then sub ?a _ else _) == (if _ then ?b - _ else _) => assert (E : a == b) end.
  { destruct past; [|apply use_is; auto]. rewrite add_eq, rsum_eq. apply Qplus_comp.
    - apply larger_ext; [exact Eq|apply kept_is; auto].
    - apply sum_ext. intros b Hb. destruct (child c b && negb (Nat.eqb b k)); [|reflexivity].
      apply larger_ext; [apply owed_is; auto|apply kept_is; auto]. }
  destruct (Nat.eqb c v).
  - rewrite sub_eq, E, Es. reflexivity.
  - apply IH; auto; [intros; apply I; right; auto|]. rewrite add_eq, Es. apply Qplus_comp; [reflexivity|].
    apply larger_ext; [reflexivity|]. rewrite sub_eq, E, kept_is by auto. reflexivity.
Qed.
Lemma fraction_is n m r : (n < N)%nat -> (m < N)%nat -> (r < M)%nat -> t_fraction n m r == fraction x n m r.
Proof.
  intros Hn Hm Hr. unfold t_fraction, fraction, t_topmost, topmost. rewrite !above_is by auto.
  destruct (find (states G) (above n)) as [w|]; [|reflexivity]. destruct (among_groups (above m) w); [reflexivity|].
  destruct (find (states G) (rev _)) as [c|] eqn:F; [|reflexivity]. apply find_some in F. destruct F as [F _].
  apply in_rev, filter_In in F. destruct F as [F _]. pose proof (above_in m c Hm F) as Hc.
  pose proof (promise_is c r Hc Hr) as E. destruct (t_promise H c r) as [a|], (promise c r) as [b|]; simpl in E; try tauto; [|reflexivity].
  rewrite (lt_ext a (t_use H c r) b (use x c r)) by (auto; apply use_is; auto). destruct (lt b (use x c r)); [|reflexivity].
  rewrite quo_eq, E, use_is by auto. reflexivity.
Qed.
Lemma counted_in_is n k k' b : (n < N)%nat -> In b bars_on -> t_counted_in n k b == counted_in x n k' b.
Proof.
  intros Hn I. unfold t_counted_in, counted_in. rewrite rsum_eq. apply sum_ext. intros m Hm. destruct (below_bar b m); [|reflexivity].
  rewrite mul_eq, rsum_eq, fraction_is by (auto; apply bar_resource; auto). apply Qmult_comp; [reflexivity|].
  apply sum_ext. intros. apply mul_eq.
Qed.
Lemma left_counted_is n : (n < N)%nat -> alike (left_in_all (t_counted_in n) (runs_on T) n) (left_in_all (counted_in x n) can_use n).
Proof. intros Hn. apply left_is; auto. intros kb I. apply counted_in_is; auto. apply (numbered_in _ _ _ I). Qed.
Lemma opened_iff n : (n < N)%nat -> opened n = true <->
  ((exists v, In v (above n) /\ states G v = true) /\ forall v, In v (above n) -> open_to n v = true).
Proof.
  intros Hn. unfold opened. rewrite above_is, andb_true_iff, existsb_exists, forallb_forall by auto.
  split; intros [A D]; (split; [exact A|intros w I; specialize (D w I)]).
  - rewrite <- open_is; auto. eapply above_in; eauto.
  - rewrite open_is; auto. eapply above_in; eauto.
Qed.

(** A room is a bound on the number of tasks that n may ask for. *)
Lemma room_iff n v r mark z : (n < N)%nat -> (r < M)%nat -> In v (above n) -> asks n r = true ->
  counted x r v (above n) false 0 0 0 + z * base P n r <= mark <->
  z <= quo (sub mark (t_counted r v (t_above H n) false 0 0 0)) (base P n r).
Proof.
  intros Hn Hr Iv A. unfold asks in A. apply andb_true_iff in A. destruct A as [A _]. apply lt_iff in A.
  rewrite quo_eq, sub_eq, above_is by auto.
  rewrite (counted_is r v (above n) Hr false 0 0 0 0 0) by (try reflexivity; try discriminate; intros; eapply above_in; eauto).
  generalize (counted x r v (above n) false 0 0 0). intros u. split; intros E.
  - apply le_quotient; auto. lra.
  - assert (F : z * base P n r <= (mark - u) / base P n r * base P n r) by (apply prod_le; [auto|lra]).
    assert (F' : (mark - u) / base P n r * base P n r == mark - u) by (field; lra). lra.
Qed.
Definition is_mark (v r : nat) (mark : Q) : Prop := (binds v = true /\ promise v r = Some mark) \/ ceiling G v r = Some mark.
Definition bounds (n : nat) (z : Q) : Prop := forall v, In v (above n) ->
  forall r mark, (r < M)%nat -> asks n r = true -> is_mark v r mark ->
    counted x r v (above n) false 0 0 0 + z * base P n r <= mark.

Lemma every_room_of n z f : (n < N)%nat -> within_limit P n (tasks P x n + z) -> no_more (left_in_all (counted_in x n) can_use n) z ->
  bounds n z -> (forall q, z <= q -> f q = true) -> every_room f n = true.
Proof.
  intros Hn L Lo B F. unfold every_room. apply andb_true_iff. split; [apply andb_true_iff; split|].
  2:{ apply (no_more_ext _ _ z (left_counted_is n Hn)) in Lo. destruct (left_in_all (t_counted_in n) _ n); [apply F; exact Lo|reflexivity]. }
  - unfold within_limit in L. destruct (limit P n); auto. apply F. rewrite sub_eq, (tasks_is _ _ _ _ R) by auto. lra.
  - apply forallb_forall. intros v Iv. rewrite above_is in Iv by auto. apply all_iff. intros r Hr.
    rewrite asks_is by auto. destruct (asks n r) eqn:A; auto. pose proof (above_in n v Hn Iv) as Hv.
    pose proof (promise_is v r Hv Hr) as Pr. apply andb_true_iff. split.
    + destruct (binds v) eqn:Bi; [|destruct (t_promise H v r); reflexivity].
      destruct (t_promise H v r) as [q|], (promise v r) as [q'|] eqn:E; simpl in Pr; try tauto.
      apply F. apply (room_iff n v r q z Hn Hr Iv A). rewrite Pr. exact (B v Iv r q' Hr A (or_introl (conj Bi E))).
    + destruct (ceiling G v r) as [q|] eqn:E; [|reflexivity].
      apply F. apply (room_iff n v r q z Hn Hr Iv A). exact (B v Iv r q Hr A (or_intror E)).
Qed.
Lemma bounds_of n d : (n < N)%nat -> every_room (fun q => le d q) n = true ->
  within_limit P n (tasks P x n + d) /\ no_more (left_in_all (counted_in x n) can_use n) d /\ bounds n d.
Proof.
  intros Hn E. unfold every_room in E. apply andb_true_iff in E. destruct E as [E F]. apply andb_true_iff in E. destruct E as [E Lo].
  split; [|split].
  2:{ apply (no_more_ext _ _ d (left_counted_is n Hn)). destruct (left_in_all (t_counted_in n) _ n); [apply le_iff; exact Lo|exact I]. }
  - unfold within_limit. destruct (limit P n); auto. bools. rewrite sub_eq, (tasks_is _ _ _ _ R) in E by auto. lra.
  - intros v Iv r mark Hr A Or. rewrite forallb_forall in F. rewrite <- above_is in Iv by auto. specialize (F v Iv).
    rewrite above_is in Iv by auto. rewrite all_iff in F. specialize (F r Hr). rewrite asks_is, A in F by auto.
    apply andb_true_iff in F. destruct F as [F1 F2].
    pose proof (promise_is v r (above_in n v Hn Iv) Hr) as Pr. destruct Or as [[Bi Or]|Or].
    + rewrite Or in Pr. rewrite Bi in F1. destruct (t_promise H v r) as [q|]; simpl in Pr, F1; [|tauto]. apply le_iff in F1.
      apply (room_iff n v r q d Hn Hr Iv A) in F1. rewrite <- Pr. exact F1.
    + rewrite Or in F2. apply le_iff in F2. apply (room_iff n v r mark d Hn Hr Iv A). exact F2.
Qed.

Theorem check_guarantees_sound m : check_guarantees m = true ->
  guarantees_kept (- m) x /\ (m < 0 -> forall eps, guarantees_kept eps x -> - m <= eps).
Proof.
  unfold check_guarantees. rewrite !andb_true_iff. intros [[A B] D]. bools.
  apply any_iff in D. destruct D as (k & D & E). apply andb_true_iff in E. destruct E as [E F].
  rewrite (users_all_iff P T stated_x placed R) in B. split.
  - intros n z U Hz [L [Lo [Ex Al]]]. assert (Hn : (n < N)%nat) by apply U. specialize (B n U). unfold asks_at_most in B.
    apply orb_true_iff in B. destruct B as [B|B]; apply negb_true_iff in B.
    + assert (O : opened n = true).
      { apply opened_iff; auto. split; auto. intros v I. apply (Al v I). }
      congruence.
    + apply Qnot_lt_le. intros Lt. rewrite <- not_true_iff_false in B. apply B. apply (every_room_of n z); auto.
      * intros v I. apply (Al v I).
      * intros q Hq. apply lt_iff. rewrite mul_eq, (g_is _ _ _ _ R) by auto. lra.
  - intros Neg eps O. assert (U : user P k) by (eapply is_user; eauto).
    pose proof (user_g P k U) as Gk. unfold asks_at_least in F. apply orb_true_iff in F.
    assert (Eq : - mul m (t_g T k) == - m * g P k) by (rewrite mul_eq, (g_is _ _ _ _ R) by auto; ring).
    assert (Pos : 0 < - m * g P k) by (apply Qmult_lt_0_compat; lra).
    destruct F as [F|F]; [apply eqq_iff in F; lra|]. apply andb_true_iff in F. destruct F as [F1 F2].
    destruct (bounds_of k _ D F2) as (B1 & Lo & B2). apply opened_iff in F1; auto. destruct F1 as [O1 O2].
    apply (below eps (- m) (g P k)); auto. rewrite <- Eq. apply (O k _ U); [lra|].
    split; [exact B1|]. split; [exact Lo|]. split; [exact O1|]. intros v I. split; [apply O2; exact I|].
    intros r mark. exact (B2 v I r mark).
Qed.

(** * Claims *)
Inductive group_claim := Limited | Unlimited | Guaranteed | NotAbout | Nobody.

Definition group_meaning (tolerance : Q) (c : group_claim) (holds_ : bool) (m : Q) : Prop :=
  let verdict axiom := if holds_ then holds axiom tolerance m else violated axiom tolerance m in
  match c with
  | Limited => a_forest /\ about_groups /\ verdict (fun eps => limits_kept eps x)
  | Unlimited => a_forest /\ about_groups /\ forall eps, limits_kept eps x
  | Guaranteed => a_forest /\ about_groups /\ verdict (fun eps => guarantees_kept eps x)
  | NotAbout => ~ about_groups
  | Nobody => forall n, ~ user P n
  end.
Definition check_group_claim (tolerance : Q) (c : group_claim) (h : bool) (m : Q) : bool :=
  match c with
  | Limited => verdict true true tolerance h m && check_about && check_group_limits m
  | Unlimited => h && check_about && check_unlimited
  | Guaranteed => le 0 tolerance && verdict true true tolerance h m && check_about && check_guarantees m
  | NotAbout => negb check_about
  | Nobody => h && all N (fun n => negb (is_active T n))
  end.
Theorem group_claim_sound tolerance c h m : check_group_claim tolerance c h m = true -> group_meaning tolerance c h m.
Proof.
  unfold check_group_claim. intros A. pose proof forest as Fo. destruct c; simpl; rewrite ?andb_true_iff in A.
  - destruct A as [[A B] D]. apply check_about_iff in B. destruct (check_group_limits_sound _ D).
    split; [exact Fo|]. split; [exact B|]. apply (verdict_iff _ true true _ _ _ A); auto.
  - destruct A as [[_ B] D]. apply check_about_iff in B. split; [exact Fo|]. split; [exact B|].
    apply check_unlimited_sound. exact D.
  - destruct A as [[[Po A] B] D]. apply check_about_iff in B. destruct (check_guarantees_sound _ D) as [X Y].
    split; [exact Fo|]. split; [exact B|]. destruct h.
    + apply (verdict_iff (fun eps => guarantees_kept eps x) true false tolerance true m A); [auto|discriminate].
    + apply (verdict_iff (fun eps => guarantees_kept eps x) false true tolerance false m A); [discriminate|]. intros _. apply Y.
      apply le_iff in Po. unfold verdict in A. simpl in A. apply lt_iff in A. lra.
  - apply negb_true_iff in A. intros B. apply check_about_iff in B. congruence.
  - destruct A as [_ A]. intros k U. destruct (user_is P stated_x T placed R k U) as [Hn Ak].
    rewrite all_iff in A. specialize (A k Hn). rewrite Ak in A. discriminate.
Qed.
End On.
