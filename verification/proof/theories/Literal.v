(** Defines certificates as literal data. `evenhand export --to coq` writes a problem, an allocation and evidence as
    lists. This file converts the lists to the functions of Spec.v, computes the tables that the checkers require, and
    by [proven] converts a computation to a theorem. Nothing here has to be trusted, because no theorem follows from a
    wrong computation. *)
From Coq Require Import QArith Arith Bool List.
From Evenhand Require Import Spec Arithmetic Checker Repair Soundness Bundle Envy Limits Prices MaxMin Alpha
  Answered Named Placed UpToOne WholeOptimal Certificate Groups.
Open Scope Q_scope.

(** * Lists as functions, whose value is 0 (or None) if a list has no entry *)
Definition row (l : list Q) (i : nat) : Q := nth i l 0.
Definition rows (l : list (list Q)) (i j : nat) : Q := row (nth i l nil) j.
Definition amounts (l : list (list (option Q))) (i j : nat) : option Q := nth j (nth i l nil) None.
Definition options {A} (l : list (option A)) (i : nat) : option A := nth i l None.
Definition flags (l : list bool) (i : nat) : bool := nth i l false.
Definition grid (l : list (list bool)) (i j : nat) : bool := flags (nth i l nil) j.
Definition named_row (l : list (nat * Q)) (r : nat) : option Q :=
  match find (fun e => Nat.eqb (fst e) r) l with Some e => Some (snd e) | None => None end.
Definition at_pair (l : list (nat * nat * Q)) (i j : nat) : option Q :=
  match find (fun e => Nat.eqb (fst (fst e)) i && Nat.eqb (snd (fst e)) j) l with
  | Some e => Some (snd e) | None => None end.
(** The demands: the base demand, unless a user states its own on some classes *)
Definition demands (base : list (list Q)) (own : list (nat * nat * list Q)) (n i r : nat) : Q :=
  match find (fun e => Nat.eqb (fst (fst e)) n && Nat.eqb (snd (fst e)) i) own with
  | Some e => row (snd e) r | None => rows base n r end.
(** A function as a table *)
Definition table {A} (d : A) (n : nat) (f : nat -> A) : nat -> A :=
  let l := map f (seq 0 n) in fun i => nth i l d.
Definition table1 (n : nat) (f : nat -> Q) : nat -> Q := table 0 n f.
Definition table2 (n m : nat) (f : nat -> nat -> Q) : nat -> nat -> Q :=
  let l := map (fun i => map (f i) (seq 0 m)) (seq 0 n) in rows l.
Definition table3 (n m o : nat) (f : nat -> nat -> nat -> Q) : nat -> nat -> nat -> Q :=
  let l := map (fun i => map (fun j => map (f i j) (seq 0 o)) (seq 0 m)) (seq 0 n) in
  fun i => rows (nth i l nil).

(** Single servers: the class of each server, and its tasks by user *)
Definition placing_of (l : list (nat * list Q)) : placing :=
  {| servers := length l; class_of := fun s => fst (nth s l (0%nat, nil)); on_server := fun s => row (snd (nth s l (0%nat, nil))) |}.

Section On.
Variable P : problem.
Notation N := (users P). Notation K := (classes P). Notation M := (resources P).

Section Case.
Variable stated_x x : allocation.
Variable placing_ : option placing.

(** The repaired allocation is stated; all other tables are computed. *)
Definition tables_of : tables :=
  let placed := is_placed placing_ in
  let gam := table2 N K (gamma P) in
  let full := table2 K M (make_full P) in
  let takes := table3 N K M (make_takes P) in
  let g := table1 N (make_g P gam) in
  let kept := table1 N (make_kept P stated_x gam g) in
  let cut := table2 N K (make_cut P stated_x placed gam g kept) in
  {| t_gamma := gam; t_full := full; t_takes := takes; t_g := g; t_weights := make_weights P g; t_kept := kept;
     t_cut := cut; t_crowd := table1 K (make_crowd P placed takes full cut); t_x := x;
     t_tasks := table1 N (make_tasks P x); t_slack := table2 K M (make_slack P full takes x) |}.

Variable T : tables.
Definition totals_of : nat -> Q := table1 M (rtotal P).
Definition places_of (l : placing) : places :=
  let empty := {| l_free := fun _ _ => 0; l_listed := table1 K (make_listed l); l_one := table2 K M (make_one P T) |} in
  {| l_free := table2 (servers l) M (make_free P T l empty); l_listed := l_listed empty; l_one := l_one empty |}.

(** * Evidence *)
Definition no_hints : hints :=
  {| grain := fun _ _ => 0; held := fun _ _ _ => 0%Z; on := fun _ => nil; rate := fun _ _ => nil; scale := 1%Z |}.
Definition prices_of (on_rows : list (list Q)) (on_users : list Q) : prices :=
  {| on_row := rows on_rows; on_user := row on_users |}.

(** Computes the best share of n alone. It uses the classes with the largest worth first. The multiplier of the limit of
    n is the worth on the class where n reaches the limit. *)
Fixpoint insert (u : nat -> Q) (i : nat) (l : list nat) : list nat :=
  match l with nil => i :: nil | j :: l' => if lt (u j) (u i) then i :: l else j :: insert u i l' end.
Fixpoint give (u gam : nat -> Q) (left : option Q) (l : list nat) : list (nat * Q) * Q :=
  match l with
  | nil => (nil, 0)
  | i :: l' =>
    let amount := match left with Some t => smaller t (gam i) | None => gam i end in
    let '(given, tight) := give u gam (match left with Some t => Some (sub t amount) | None => None end) l' in
    ((i, amount) :: given,
     match left with Some t => if le t (gam i) && lt 0 t then u i else tight | None => tight end)
  end.
Definition alone_of (s : named) : alone_proof :=
  let totals := totals_of in
  let worth := table2 N K (fun n i => worth_at P totals s n i) in
  let best := map (fun n => give (worth n) (t_gamma T n) (limit P n) (fold_right (insert (worth n)) nil (seq 0 K))) (seq 0 N) in
  let best_z n i := match named_row (fst (nth n best (nil, 0))) i with Some q => q | None => 0 end in
  let empty := {| u := worth; most := fun _ => 0; best_z := best_z; tight := fun _ => 0; have := fun _ => 0 |} in
  {| u := worth; most := table1 N (share_of P empty best_z); best_z := table2 N K best_z;
     tight := fun n => snd (nth n best (nil, 0)); have := table1 N (share_of P empty x) |}.
Definition level_at (A : alone_proof) (m : Q) (covered : list nat) (weights : list Q) (p : prices) : level :=
  {| covers := covered; on_share := row weights; at_prices := p;
     base_level := match covered with
       | nil => 0
       | n :: l => fold_left (fun low k => smaller low (level_of A m k)) l (level_of A m n) end |}.
Definition levels_of (A : alone_proof) (m : Q) (l : list (list nat * list Q * prices)) : list level :=
  map (fun v => level_at A m (fst (fst v)) (snd (fst v)) (snd v)) l.
Definition max_min_of (s : named) (m : Q) (l : list (list nat * list Q * prices)) : claim :=
  let A := alone_of s in MaxMin s A (levels_of A m l).
Definition bottlenecks_of (k : bottleneck) (m : Q) (l : list (nat * list (list nat * list Q * prices))) : claim :=
  let proofs := map (fun e => let A := alone_of (Resource (fst e)) in (fst e, (A, levels_of A m (snd e)))) l in
  Bottlenecks k (fun r => match find (fun e => Nat.eqb (fst e) r) proofs with
    | Some e => snd e | None => (alone_of (Resource r), nil) end).
Definition worth_of_one (s : option named) : nat -> nat -> Q :=
  match s with Some s => let totals := totals_of in table2 N K (fun n i => worth_at P totals s n i) | None => fun _ _ => 1 end.
Definition worths_of (s : option named) (a : nat) : worths :=
  let w := worth_of_one s in
  let value := table1 N (value_of P w x) in
  let price := table1 N (fun n => let q := rpower (value n) a in if le q 0 then 0 else quo (weight P n) q) in
  {| v_u := w; v_value := value; v_price := price;
     v_spent := rsum N (fun n => if is_active T n then mul (price n) (value n) else 0) |}.
(** A pair of users with the margin m. For envy-freeness up to one task, the removal of any single task leaves at least
    this envy. *)
Definition pair_of (f : nat -> nat -> bool) : nat * nat :=
  let is_pair p := negb (Nat.eqb (fst p) (snd p)) && is_active T (fst p) && is_active T (snd p) && f (fst p) (snd p) in
  match find is_pair (list_prod (seq 0 N) (seq 0 N)) with Some p => p | None => (0, 0)%nat end.
Definition envy_of (m : Q) : claim :=
  let p := pair_of (fun n k => eqq (at_most P n (worth_of P T n k)) (due T m n)) in Envy no_hints (fst p) (snd p).
Definition ef1_of (m : Q) : claim :=
  let p := pair_of (fun n k => le (due T m n) (at_most P n (worth_of P T n k)) &&
    all K (fun i => if has_task T k i then le (due T m n) (at_most P n (worth_less P T n k i)) else true)) in
  Ef1 no_hints (fst p) (snd p).
Definition levels_at : nat -> nat -> Q :=
  table2 N K (fun n i => if runs_on T n i then quo (t_tasks T n) (mul (weight P n) (t_gamma T n i)) else 0).
Definition group_tables_of (G : grouping) : group_tables :=
  let V := groups G in
  let promise := map (fun v => map (rpromised G V v) (seq 0 M)) (seq 0 V) in
  let over := map (above G) (seq 0 N) in
  let held := map (fun b => rtaken P G b x) (bars_on P G) in
  let given := {| t_use := table2 V M (ruse P G x V); t_promise := amounts promise; t_kept_back := table2 V M (rkept G V);
     t_total := table1 M (rtotal_of P); t_above := fun n => nth n over nil; t_taken := fun k => nth k held 0; t_owed := fun _ _ => 0 |} in
  {| t_use := t_use given; t_promise := t_promise given; t_kept_back := t_kept_back given; t_total := t_total given;
     t_above := t_above given; t_taken := t_taken given; t_owed := table2 V M (rpromised_use G given V) |}.
Definition better_placing (l : list (nat * list Q)) : claim :=
  let l := placing_of l in
  BetterPlacing l (places_of l) (table2 N K (fun n i =>
    sparse_sum (servers l) (fun s => if Nat.eqb (class_of l s) i then Some (on_server l s n) else None))).
End Case.
End On.

(** * Theorems by computation *)
Section Proven.
Variable P : problem.
Variable stated_x x : allocation.
Variable placing_ : option placing.
Variable tolerance : Q.
Variable only_limits : bool.
Let T := tables_of P stated_x x placing_.
Let totals := totals_of P.
Let L := places_of P T (the_placing P stated_x placing_).

Definition case_holds : bool :=
  check_case P stated_x placing_ T totals L tolerance only_limits.
Definition claim_holds (c : claim) (holds_ : bool) (m : Q) : bool :=
  (is_about_limits c || negb only_limits) && check_claim P stated_x placing_ T totals L (everywhere P T) tolerance c holds_ m.
Hypothesis C : case_holds = true.

Theorem is_well_formed : well_formed P.
Proof. apply (case_sound P stated_x placing_ T totals L tolerance only_limits C). Qed.
Theorem is_the_repair : is_repaired P stated_x placing_ x.
Proof. apply (case_sound P stated_x placing_ T totals L tolerance only_limits C). Qed.
Theorem is_placed_so : placed P (the_placing P stated_x placing_) stated_x.
Proof. apply (case_sound P stated_x placing_ T totals L tolerance only_limits C). Qed.
Theorem is_feasible : is_placed placing_ && only_limits = false -> feasible P x.
Proof.
  intros H. apply (case_sound P stated_x placing_ T totals L tolerance only_limits C).
  apply andb_false_iff. exact H.
Qed.
Theorem proven c holds_ m : claim_holds c holds_ m = true ->
  meaning P stated_x placing_ (feasible P) (tolerance_of placing_ tolerance c) x c holds_ m.
Proof.
  unfold claim_holds. intros H. apply andb_true_iff in H. destruct H as [A H].
  assert (R : right P stated_x T (is_placed placing_)).
  { unfold case_holds, check_case in C. rewrite !andb_true_iff in C. apply check_tables_sound. tauto. }
  apply (claim_sound P stated_x placing_ (feasible P) T totals L (everywhere P T) tolerance only_limits c holds_ m
    (everywhere_right P is_well_formed T stated_x _ R) C H).
  apply orb_true_iff in A. destruct A as [A|A]; [left|right]; auto. apply negb_true_iff. exact A.
Qed.

Variable G : grouping.
Let H := group_tables_of P x G.
Definition groups_hold : bool := check_group_tables P G T H.
Hypothesis D : groups_hold = true.
Theorem proven_of_groups c holds_ m : check_group_claim P G T H tolerance c holds_ m = true ->
  group_meaning P G T tolerance c holds_ m.
Proof.
  assert (R : right P stated_x T (is_placed placing_)).
  { unfold case_holds, check_case in C. rewrite !andb_true_iff in C. apply check_tables_sound. tauto. }
  intros A. exact (group_claim_sound P G T H stated_x (is_placed placing_) R D tolerance c holds_ m A).
Qed.
End Proven.
