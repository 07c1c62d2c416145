(** Defines a program that replays hierarchical filling, one stretch of constant rates after another. Proves that an
    accepted end is the end of the process of Process.v. *)
From Coq Require Import QArith Qabs Qreduction Qfield Arith Bool List Lia Lqa Setoid ZArith.
From Evenhand Require Import Spec Arithmetic Checker Repair Soundness Bundle Prices Certificate Groups Within Parties Turn Process.
Open Scope Q_scope.

(** A stretch: its length, the users that may grow, the tasks at its end, and the amounts that nodes use and hold at its
    middle and at its end *)
Record stretch_proof := { lasts : Q; growing : nat -> bool; goes_to : nat -> Q; at_end : stock; at_middle : stock }.
(** The evidence: a table of the data of the problem, the end of the filling, the amounts at the start, the stretches,
    and prices that prove that users have no more room *)
Record following := { ft : facts; ending : allocation; stops : list ((nat -> Q) * prices); at_start : stock;
  stretches : list stretch_proof }.

Section On.
Variable P : problem.
Variable G : grouping.
Variable Sib : siblings.
Notation N := (users P). Notation K := (classes P). Notation M := (resources P). Notation V := (groups G).
Variable T : tables.
Notation Fa := (the_facts P G Sib).

(** * Programs *)
Definition is_same (a b : Q) : bool :=
  Z.leb (Qnum a) (Qnum b) && Z.leb (Qnum b) (Qnum a) && Z.leb (Zpos (Qden a)) (Zpos (Qden b)) && Z.leb (Zpos (Qden b)) (Zpos (Qden a)).
Definition is_same_option (a b : option Q) : bool :=
  match a, b with Some a, Some b => is_same a b | None, None => true | _, _ => false end.
Definition nodes : list node := Root :: map Team (seq 0 V) ++ map One (seq 0 N).
Definition every (l : list node) (f : node -> nat -> bool) : bool := forallb (fun c => forallb (f c) (seq 0 M)) l.
Definition check_facts (F : facts) : bool :=
  check_forest P G &&
  all N (fun n => same_list (line_of F n) (line_of Fa n)) &&
  all N (fun n => all M (fun r => is_same (asked F n r) (asked Fa n r))) &&
  forallb (fun c => is_same (weight_of F c) (weight_of Fa c) && Bool.eqb (weighs_nothing F c) (weighs_nothing Fa c) &&
    is_same (priority_of F c) (priority_of Fa c)) nodes &&
  every nodes (fun c i => is_same (over F c i) (over Fa c i)) &&
  all V (fun v => all M (fun r => is_same (keep F v r) (keep Fa v r) && is_same_option (pledged F v r) (pledged Fa v r) &&
    is_same_option (most_of F v r) (most_of Fa v r))) &&
  all M (fun r => is_same (whole F r) (whole Fa r) && Bool.eqb (whole_kept F r) (whole_kept Fa r) &&
    is_same (times F r) (times Fa r) && Nat.eqb (kin F r) (kin Fa r)) &&
  Bool.eqb (surplus F) (surplus Fa) && Bool.eqb (shut F) (shut Fa) &&
  all N (fun n => is_same_option (all_tasks F n) (all_tasks Fa n)).

Variable E : following.
Notation F := (ft E).
Definition check_holds (t : nat -> Q) (H : stock) : bool :=
  every nodes (fun c r => eqq (used H c r) (in_use G N F (S V) t c r) && eqq (running H c r) (runs_of G N F (S V) t c r)).

(** Compares two quantities that change at constant rates. If the comparison has the same result at both ends of a
    stretch, it has this result all the way, or nowhere strictly between the ends. *)
Definition steady (a a' b b' : Q) : bool := le a b && le a' b' || le b a && le b' a'.
Definition steady_mark (q : Q) (H H' : stock) (c : node) (r : nat) : bool := steady q q (used H c r) (used H' c r).
Definition steady_option (q : option Q) (H H' : stock) (c : node) (r : nat) : bool :=
  match q with Some q => steady_mark q H H' c r | None => true end.
Fixpoint evenly (depth : nat) (t u : nat -> Q) (c : node) (r : nat) : bool :=
  match c, depth with
  | One _, _ | _, O => true
  | _, S d => forallb (fun k => evenly d t u k r && match k with
      | Team v => steady (keep F v r) (keep F v r) (in_use G N F d t k r) (in_use G N F d u k r) | _ => true end) (kids G N c)
  end.
Definition kinds : list level_kind := Share :: Below :: Held :: HeldBelow :: nil.
Definition values (H H' : stock) (k : level_kind) (p : node) : list (Q * Q) :=
  flat_map (fun c => map (fun i => (value M F H k c i, value M F H' k c i)) (seq 0 M)) (kids G N p).
Definition all_steady (H H' : stock) : bool :=
  every (map Team (seq 0 V)) (fun c r => match c with
    | Team v => steady_mark (keep F v r) H H' c r && steady_option (pledged F v r) H H' c r && steady_option (most_of F v r) H H' c r
    | _ => true end) &&
  all M (fun r => steady_mark (whole F r) H H' Root r) &&
  every nodes (fun c r => steady 0 0 (extra F H c r) (extra F H' c r)) &&
  forallb (fun k => every nodes (fun c i => steady (value M F H k c i) (value M F H' k c i) 0 0)) kinds &&
  forallb (fun k => forallb (fun p => let l := values H H' k p in
    forallb (fun a => forallb (fun b => steady (fst a) (snd a) (fst b) (snd b)) l) l) nodes) kinds.

Definition ends (n : nat) : Q := rsum K (ending E n).
Definition worth_in (s : (nat -> Q) * prices) (t : nat -> Q) : Q := rsum N (fun n => mul (fst s n) (t n)).
Notation Sc := (scope_on P G T).
Definition check_stop (s : (nat -> Q) * prices) : bool :=
  all N (fun n => le 0 (fst s n)) && sc_prices Sc (fun n => lt 0 (fst s n)) (fun n _ => fst s n) (snd s).
(** User n has no room: limits of 0 bar it everywhere, or some price vector values its tasks, and the users together
    have reached the bound of this price vector. *)
Definition no_room (t : nat -> Q) (n : nat) : bool :=
  negb (sc_open Sc n) || existsb (fun s => lt 0 (fst s n) && le (sc_bound Sc (snd s)) (worth_in s t)) (stops E).
(** [has_spare]: user n has room next to the final allocation, scaled down to the tasks that users have now. The room is
    on a class where no limit on classes counts n. *)
Definition kept_of (t : nat -> Q) (m : nat) : Q := if lt 0 (ends m) then quo (t m) (ends m) else 0.
Definition load_now (t : nat -> Q) (i r : nat) : Q := rsum N (fun m => mul (mul (ending E m i) (kept_of t m)) (t_takes T m i r)).
Definition has_spare (t : nat -> Q) (n : nat) : bool :=
  any K (fun i => runs_on T n i && forallb (fun b => negb (counts_on G b n i)) (bars_on P G) && all M (fun r => le (t_takes T n i r) 0 || lt (load_now t i r) (t_full T i r))).
Definition middle (t u : nat -> Q) (n : nat) : Q := quo (add (t n) (u n)) 2.
Definition check_growth (S : list nat) (len : Q) (t u : nat -> Q) (l : list (nat * Q)) : bool :=
  all N (fun n => eqq (u n) (add (t n) (mul len (rate l n)))).
Definition check_stretch (t : nat -> Q) (H : stock) (s : stretch_proof) : bool :=
  let u := goes_to s in let H' := at_end s in let Hm := at_middle s in let tm := middle t u in
  let who := filter (growing s) (seq 0 N) in
  lt 0 (lasts s) && check_holds u H' && check_holds tm Hm && all_steady H H' &&
  every nodes (evenly (S V) t u) &&
  all N (fun n => le 0 (t n) && le (t n) (u n) && le (u n) (ends n) &&
    (match all_tasks F n with Some q => steady q q (t n) (u n) | None => true end) &&
    if growing s n then is_active T n && clear M F H t n && clear M F Hm tm n && (lt (t n) (ends n) || has_spare t n)
    else negb (is_active T n) || negb (clear M F H t n) && negb (clear M F Hm tm n) || no_room t n) &&
  check_growth who (lasts s) t u (turn G N M F H (S V) Root who) &&
  check_growth who (lasts s) t u (turn G N M F Hm (S V) Root who).
Definition check_still (t : nat -> Q) (H : stock) : bool :=
  all N (fun n => eqq (t n) (ends n) && (negb (is_active T n) || negb (clear M F H t n) || no_room t n)).
Fixpoint check_path (t : nat -> Q) (H : stock) (l : list stretch_proof) : bool :=
  match l with
  | nil => check_still t H
  | s :: l => check_stretch t H s && check_path (goes_to s) (at_end s) l
  end.
Definition nothing_yet (_ : nat) : Q := 0.
Definition check_following : bool :=
  check_facts F && check_feasible P T (ending E) && sc_keeps Sc (ending E) && forallb check_stop (stops E) &&
  check_holds nothing_yet (at_start E) && check_path nothing_yet (at_start E) (stretches E).
Definition differs (n : nat) : Q := Qred (Qabs (sub (t_tasks T n) (ends n))).
Definition check_turns (m : Q) : bool :=
  check_following &&
  all N (fun n => if is_active T n then le (differs n) (- mul m (t_g T n)) else true) &&
  any N (fun n => is_active T n && eqq (differs n) (- mul m (t_g T n))).

(** * Soundness *)
Lemma is_same_iff a b : is_same a b = true -> a = b.
Proof.
  unfold is_same. rewrite !andb_true_iff, !Z.leb_le. intros [[[A B] C] D]. destruct a as [n d], b as [n' d']. simpl in *.
  assert (n = n') by lia. assert (Zpos d = Zpos d') by lia. congruence.
Qed.
Lemma is_same_option_iff a b : is_same_option a b = true -> a = b.
Proof. destruct a, b; simpl; try discriminate; auto. intros A. f_equal. apply is_same_iff. auto. Qed.
Lemma same_list_iff a : forall b, same_list a b = true -> a = b.
Proof.
  induction a as [|v a IH]; intros [|w b]; simpl; try discriminate; auto. intros A. apply andb_true_iff in A.
  destruct A as [A B]. apply Nat.eqb_eq in A. rewrite (IH b B), A. reflexivity.
Qed.
Lemma nodes_in c : is_node G N c -> In c nodes.
Proof.
  intros C. unfold nodes. destruct c as [|v|n]; simpl in C |- *; [auto|right|right]; apply in_or_app; [left|right];
    apply in_map; apply in_seq; lia.
Qed.
Lemma every_iff l f : every l f = true -> forall c r, In c l -> (r < M)%nat -> f c r = true.
Proof.
  unfold every. rewrite forallb_forall. intros A c r C Hr. specialize (A c C). rewrite forallb_forall in A. apply A.
  apply in_seq. lia.
Qed.
Hypothesis W : well_formed P.
Variable stated_x : allocation.
Variable placed : bool.
Hypothesis R : right P stated_x T placed.
Hypothesis CF : check_facts F = true.

Lemma forest_of : a_forest P G.
Proof.
  unfold check_facts in CF. rewrite !andb_true_iff in CF. destruct CF as [[[[[[[[[A _] _] _] _] _] _] _] _] _].
  unfold check_forest in A. rewrite andb_true_iff, !all_iff in A. destruct A as [A B]. split; auto.
  intros n v Hn L. specialize (B n Hn). rewrite L in B. apply Nat.ltb_lt. auto.
Qed.
Lemma facts_are : same_facts G N M F Fa.
Proof.
  pose proof forest_of as Fo. unfold check_facts in CF. rewrite !andb_true_iff in CF.
  destruct CF as [[[[[[[[[_ A1] A2] A3] A4] A5] A6] A7] A8] A9]. rewrite !all_iff in *.
  constructor.
  - intros n Hn. specialize (A1 n Hn). apply same_list_iff in A1. split; auto. rewrite A1. intros v. apply (above_below P G Fo n v Hn).
  - intros n r Hn Hr. specialize (A2 n Hn). rewrite all_iff in A2. apply is_same_iff. auto.
  - intros c C. rewrite forallb_forall in A3. specialize (A3 c (nodes_in c C)). rewrite !andb_true_iff in A3.
    destruct A3 as [[B1 B2] B3]. split; [apply is_same_iff; auto|]. split; [apply eqb_prop; auto|]. split; [apply is_same_iff; auto|].
    intros i Hi. apply is_same_iff. apply (every_iff _ _ A4 c i (nodes_in c C) Hi).
  - intros v r Hv Hr. specialize (A5 v Hv). rewrite all_iff in A5. specialize (A5 r Hr). rewrite !andb_true_iff in A5.
    destruct A5 as [[B1 B2] B3]. split; [apply is_same_iff; auto|]. split; apply is_same_option_iff; auto.
  - intros r Hr. specialize (A6 r Hr). rewrite !andb_true_iff in A6. destruct A6 as [[[B1 B2] B3] B4].
    split; [apply is_same_iff; auto|]. split; [apply eqb_prop; auto|]. split; [apply is_same_iff; auto|]. apply Nat.eqb_eq. auto.
  - split; apply eqb_prop; auto.
  - intros n Hn. apply is_same_option_iff. auto.
Qed.
Lemma facts_self : same_facts G N M F F.
Proof.
  apply (facts_refl P G forest_of). intros n Hn. destruct (s_line _ _ _ _ _ facts_are n Hn) as [L _]. exact L.
Qed.
(** The stock describes the tasks at this time: it has the amounts that nodes use and hold with these tasks. *)
Lemma holds_are t u H : check_holds t H = true -> same_tasks P t u -> same_holds P G H (held_at P G Sib u).
Proof.
  intros A Et c r C Hr. pose proof (every_iff _ _ A c r (nodes_in c C) Hr) as B. apply andb_true_iff in B. destruct B as [B1 B2].
  apply eqq_iff in B1, B2. destruct (uses_facts P G _ _ facts_are (S V) t c r C Hr) as [E1 E2]. unfold held_at, holding. cbn [used running].
  rewrite B1, B2, E1, E2. rewrite (uses_same P G _ t u), (runs_same P G _ t u) by auto. split; reflexivity.
Qed.
Lemma likewise_table t u H : check_holds t H = true -> same_tasks P t u -> likewise G N M F H Fa (held_at P G Sib u).
Proof. intros A B. apply likewise_ext; [apply facts_are|]. apply (holds_are t u); auto. Qed.

(** ** Quantities that change at constant rates *)
Section Even.
Variables t u : nat -> Q.
Variables H H' : stock.
Hypothesis Ht : check_holds t H = true.
Hypothesis Hu : check_holds u H' = true.
Hypothesis St : all_steady H H' = true.
Hypothesis Ev : every nodes (evenly (S V) t u) = true.
Definition at_part (l : Q) (n : nat) : Q := (1 - l) * t n + l * u n.

Lemma steady_le l k a a' b b' : steady a a' b b' = true -> 0 < l < 1 -> 0 < k < 1 ->
  le ((1 - l) * a + l * a') ((1 - l) * b + l * b') = le ((1 - k) * a + k * a') ((1 - k) * b + k * b').
Proof.
  intros S L Kk. unfold steady in S. apply orb_true_iff in S.
  assert (Pos : forall z, 0 < z < 1 -> 0 < 1 - z) by (intros; lra).
  destruct S as [S|S]; apply andb_true_iff in S; destruct S as [A B]; apply le_iff in A, B.
  - assert (Tr : forall z, 0 < z < 1 -> le ((1 - z) * a + z * a') ((1 - z) * b + z * b') = true).
    { intros z Z. apply le_iff. pose proof (prod_le_l a b (1 - z) A ltac:(lra)). pose proof (prod_le_l a' b' z B ltac:(lra)). lra. }
    rewrite !Tr by auto. reflexivity.
  - assert (Tr : forall z, 0 < z < 1 -> le ((1 - z) * a + z * a') ((1 - z) * b + z * b') = true <-> a == b /\ a' == b').
    { intros z Z. rewrite le_iff. pose proof (prod_le_l b a (1 - z) A ltac:(lra)). pose proof (prod_le_l b' a' z B ltac:(lra)).
      split; [|intros [E1 E2]; rewrite E1, E2; lra]. intros O. split.
      - apply Qle_antisym; auto. apply Qnot_lt_le. intros Lt. pose proof (Pos z Z).
        assert (0 < (1 - z) * (a - b)) by (apply Qmult_lt_0_compat; lra). lra.
      - apply Qle_antisym; auto. apply Qnot_lt_le. intros Lt.
        assert (0 < z * (a' - b')) by (apply Qmult_lt_0_compat; lra). lra. }
    pose proof (Tr l L) as T1. pose proof (Tr k Kk) as T2.
    destruct (le ((1 - l) * a + l * a') _) eqn:E1, (le ((1 - k) * a + k * a') _) eqn:E2; auto.
    + assert (false = true) by (apply T2; apply T1; auto). congruence.
    + assert (false = true) by (apply T1; apply T2; auto). congruence.
Qed.
Lemma larger_evenly l a a' b : steady b b a a' = true -> 0 <= l <= 1 ->
  larger ((1 - l) * a + l * a') b == (1 - l) * larger a b + l * larger a' b.
Proof.
  intros S L. unfold steady in S. apply orb_true_iff in S.
  destruct S as [S|S]; apply andb_true_iff in S; destruct S as [A B]; apply le_iff in A, B.
  - pose proof (prod_le_l b a (1 - l) A ltac:(lra)). pose proof (prod_le_l b a' l B ltac:(lra)).
    assert (E1 : larger a b == a) by (minmax; lra). assert (E2 : larger a' b == a') by (minmax; lra).
    rewrite E1, E2. minmax; lra.
  - pose proof (prod_le_l a b (1 - l) A ltac:(lra)). pose proof (prod_le_l a' b l B ltac:(lra)).
    assert (E1 : larger a b == b) by (minmax; lra). assert (E2 : larger a' b == b) by (minmax; lra).
    rewrite E1, E2. minmax; lra.
Qed.
Lemma lsum_evenly {A} l (f h k : A -> Q) s : (forall a, In a s -> f a == (1 - l) * h a + l * k a) ->
  lsum (map f s) == (1 - l) * lsum (map h s) + l * lsum (map k s).
Proof. induction s; simpl; intros Al; [ring|]. rewrite !add_eq, Al, IHs by auto. ring. Qed.

Lemma uses_evenly l d : 0 <= l <= 1 -> forall c r, is_node G N c -> (r < M)%nat -> evenly d t u c r = true ->
  in_use G N F d (at_part l) c r == (1 - l) * in_use G N F d t c r + l * in_use G N F d u c r.
Proof.
  intros L. induction d; intros c r C Hr A; (destruct c as [|v|n]; [| |cbn [in_use]; rewrite !mul_eq; unfold at_part; ring]);
    cbn [in_use]; try ring; cbn [evenly] in A; rewrite forallb_forall in A; apply lsum_evenly; intros k I; specialize (A k I);
    apply andb_true_iff in A; destruct A as [A B]; pose proof (kids_nodes G N _ _ I) as Ck; specialize (IHd k r Ck Hr A);
    destruct k as [|w|m]; auto;
    rewrite (larger_ext _ (keep F w r) _ (keep F w r) IHd) by reflexivity; apply larger_evenly; auto.
Qed.
Lemma runs_evenly l d : forall c r, runs_of G N F d (at_part l) c r == (1 - l) * runs_of G N F d t c r + l * runs_of G N F d u c r.
Proof.
  induction d; intros c r; (destruct c as [|v|n]; [| |cbn [runs_of]; rewrite !mul_eq; unfold at_part; ring]);
    cbn [runs_of]; try ring; apply lsum_evenly; auto.
Qed.
(** The stock after the fraction l of the stretch *)
Definition part (l : Q) : stock := held_at P G Sib (at_part l).
Lemma part_is l c r : 0 <= l <= 1 -> is_node G N c -> (r < M)%nat ->
  used (part l) c r == (1 - l) * used H c r + l * used H' c r /\ running (part l) c r == (1 - l) * running H c r + l * running H' c r.
Proof.
  intros L C Hr. unfold part, held_at, holding. cbn [used running]. destruct (uses_facts P G _ _ facts_are (S V) (at_part l) c r C Hr) as [<- <-].
  rewrite (uses_evenly l (S V) L c r C Hr (every_iff _ _ Ev c r (nodes_in c C) Hr)), runs_evenly.
  pose proof (every_iff _ _ Ht c r (nodes_in c C) Hr) as B. pose proof (every_iff _ _ Hu c r (nodes_in c C) Hr) as D.
  apply andb_true_iff in B, D. destruct B as [B1 B2], D as [D1 D2]. apply eqq_iff in B1, B2, D1, D2.
  rewrite B1, B2, D1, D2. split; reflexivity.
Qed.
Lemma extra_is l c r : 0 <= l <= 1 -> is_node G N c -> (r < M)%nat ->
  extra F (part l) c r == (1 - l) * extra F H c r + l * extra F H' c r.
Proof. intros L C Hr. unfold extra. rewrite !sub_eq, (proj1 (part_is l c r L C Hr)). ring. Qed.
Lemma steady_parts : (forall v r, (v < V)%nat -> (r < M)%nat -> steady_mark (keep F v r) H H' (Team v) r = true /\
    steady_option (pledged F v r) H H' (Team v) r = true /\ steady_option (most_of F v r) H H' (Team v) r = true) /\
  (forall r, (r < M)%nat -> steady_mark (whole F r) H H' Root r = true) /\
  (forall c r, is_node G N c -> (r < M)%nat -> steady 0 0 (extra F H c r) (extra F H' c r) = true) /\
  (forall k c i, is_node G N c -> (i < M)%nat -> steady (value M F H k c i) (value M F H' k c i) 0 0 = true) /\
  (forall k p c d i j, In c (kids G N p) -> In d (kids G N p) -> (i < M)%nat -> (j < M)%nat ->
    steady (value M F H k c i) (value M F H' k c i) (value M F H k d j) (value M F H' k d j) = true).
Proof.
  unfold all_steady in St. rewrite !andb_true_iff in St. destruct St as [[[[A1 A2] A3] A4] A5].
  assert (Kk : forall k, In k kinds) by (intros k; unfold kinds; destruct k; simpl; tauto).
  split; [|split; [|split; [|split]]].
  - intros v r Hv Hr. pose proof (every_iff _ _ A1 (Team v) r ltac:(apply in_map; apply in_seq; lia) Hr) as B. cbv beta iota in B.
    rewrite !andb_true_iff in B. tauto.
  - rewrite all_iff in A2. exact A2.
  - intros c r C Hr. exact (every_iff _ _ A3 c r (nodes_in c C) Hr).
  - intros k c i C Hi. rewrite forallb_forall in A4. exact (every_iff _ _ (A4 k (Kk k)) c i (nodes_in c C) Hi).
  - intros k p c d i j C D Hi Hj. rewrite forallb_forall in A5. specialize (A5 k (Kk k)). rewrite forallb_forall in A5.
    assert (Pn : In p nodes).
    { apply nodes_in. destruct p as [|v|n]; simpl; auto; [|simpl in C; contradiction].
      destruct (Nat.ltb v V) eqn:Ev1; [apply Nat.ltb_lt; auto|]. exfalso. revert C. simpl. intros C. apply in_app_or in C.
      apply Nat.ltb_ge in Ev1. destruct forest_of as [F1 F2]. destruct C as [C|C]; apply in_map_iff in C; destruct C as (w & _ & C);
        apply filter_In in C; destruct C as [C1 C2]; apply in_seq in C1.
      - unfold child in C2. destruct (parent G w) as [q|] eqn:Eq; [|discriminate]. apply Nat.eqb_eq in C2. subst q.
        specialize (F1 w ltac:(lia)). destruct V as [|dd] eqn:EV; [lia|]. cbn [stands] in F1. rewrite Eq in F1.
        apply andb_true_iff in F1. destruct F1 as [F1 _]. apply Nat.ltb_lt in F1. lia.
      - unfold belongs in C2. destruct (group_of G w) as [q|] eqn:Eq; [|discriminate]. apply Nat.eqb_eq in C2. subst q.
        specialize (F2 w v ltac:(lia) Eq). lia. }
    specialize (A5 p Pn). cbv zeta in A5. rewrite forallb_forall in A5.
    assert (In_values : forall c i, In c (kids G N p) -> (i < M)%nat -> In (value M F H k c i, value M F H' k c i) (values H H' k p)).
    { intros c' i' C' Hi'. unfold values. apply in_flat_map. exists c'. split; auto. apply in_map_iff. exists i'. split; auto.
      apply in_seq. lia. }
    specialize (A5 _ (In_values c i C Hi)). rewrite forallb_forall in A5. exact (A5 _ (In_values d j D Hj)).
Qed.
Lemma value_is l k c i : 0 <= l <= 1 -> is_node G N c -> (i < M)%nat ->
  value M F (part l) k c i == (1 - l) * value M F H k c i + l * value M F H' k c i.
Proof.
  intros L C Hi. destruct steady_parts as (_ & _ & S3 & _). destruct (part_is l c i L C Hi) as [E1 E2].
  destruct k; simpl; rewrite ?quo_eq, ?E1, ?E2; try (unfold Qdiv; ring).
  rewrite (lsum_evenly l _ (fun r => if Nat.eqb (kin F r) i then quo (mul (times F r) (larger 0 (extra F H c r))) (over F c i) else 0)
    (fun r => if Nat.eqb (kin F r) i then quo (mul (times F r) (larger 0 (extra F H' c r))) (over F c i) else 0)).
  - unfold Qdiv. ring.
  - intros r I. apply in_range in I. destruct (Nat.eqb (kin F r) i); [|ring]. rewrite !quo_eq, !mul_eq.
    assert (Sw : forall a b, larger a b == larger b a) by (intros; minmax; lra).
    rewrite (larger_ext 0 _ 0 _ ltac:(reflexivity) (extra_is l c r L C I)).
    rewrite (Sw 0 ((1 - l) * _ + _)), larger_evenly by auto. rewrite (Sw (extra F H c r)), (Sw (extra F H' c r)). unfold Qdiv. ring.
Qed.
Lemma constant l q : q == (1 - l) * q + l * q.
Proof. ring. Qed.
(** Strictly inside a stretch, all comparisons have the same results. *)
Lemma likewise_inside l k : 0 < l < 1 -> 0 < k < 1 -> likewise G N M F (part l) F (part k).
Proof.
  intros L Kk. destruct steady_parts as (S1 & S2 & S3 & S4 & S5).
  assert (L' : 0 <= l <= 1) by lra. assert (K' : 0 <= k <= 1) by lra.
  assert (Mk : forall q c r, is_node G N c -> (r < M)%nat -> steady_mark q H H' c r = true ->
    le q (used (part l) c r) = le q (used (part k) c r)).
  { intros q c r C Hr S. unfold steady_mark in S. pose proof (steady_le l k _ _ _ _ S L Kk) as Eq.
    rewrite (le_ext _ _ _ _ (constant l q) (proj1 (part_is l c r L' C Hr))).
    rewrite (le_ext _ _ _ _ (constant k q) (proj1 (part_is k c r K' C Hr))). exact Eq. }
  constructor.
  - intros v r Hv Hr. apply Mk; auto. apply S1; auto.
  - intros v r q Hv Hr D. apply Mk; auto. destruct (S1 v r Hv Hr) as (_ & B & _). rewrite D in B. exact B.
  - intros v r q Hv Hr D. apply Mk; auto. destruct (S1 v r Hv Hr) as (_ & _ & B). rewrite D in B. exact B.
  - intros r Hr. apply Mk; simpl; auto.
  - intros c r C Hr. rewrite (le_ext _ _ _ _ (constant l 0) (extra_is l c r L' C Hr)).
    rewrite (le_ext _ _ _ _ (constant k 0) (extra_is k c r K' C Hr)). apply steady_le; auto.
  - intros kd c i C Hi. rewrite (le_ext _ _ _ _ (value_is l kd c i L' C Hi) (constant l 0)).
    rewrite (le_ext _ _ _ _ (value_is k kd c i K' C Hi) (constant k 0)). apply steady_le; auto.
  - intros p kd c d i j C D Hi Hj. pose proof (kids_nodes G N _ _ C) as Cn. pose proof (kids_nodes G N _ _ D) as Dn.
    rewrite (le_ext _ _ _ _ (value_is l kd c i L' Cn Hi) (value_is l kd d j L' Dn Hj)).
    rewrite (le_ext _ _ _ _ (value_is k kd c i K' Cn Hi) (value_is k kd d j K' Dn Hj)). apply steady_le; auto.
    apply (S5 kd p); auto.
Qed.
End Even.

(** ** The stretches, and the end *)
Hypothesis FE : check_feasible P T (ending E) = true.
Hypothesis SC : forallb check_stop (stops E) = true.
Hypothesis KE : sc_keeps Sc (ending E) = true.
Notation scope_is := (scope_on_right P G T W stated_x placed R).
Lemma ending_feasible : feasible P (ending E).
Proof. apply (check_feasible_sound P stated_x T placed R). exact FE. Qed.
Lemma ending_placeable : placeable P G (ending E).
Proof. apply (sc_kept _ _ _ scope_is); [apply ending_feasible|exact KE]. Qed.
Lemma ends_are n : ends n == tasks P (ending E) n.
Proof. unfold ends, tasks. apply rsum_eq. Qed.
Lemma no_room_sound t v n : no_room t n = true -> (n < N)%nat -> 0 <= v n -> (forall m, (m < N)%nat -> t m <= v m /\ v m <= ends m) ->
  ~ has_room P G v n.
Proof.
  intros A Hn V0 B (y & Y0 & O & L). pose proof (sc_feasible _ _ _ scope_is y Y0) as Y. unfold no_room in A.
  apply orb_true_iff in A. destruct A as [A|A].
  { apply negb_true_iff in A. pose proof (closed_none P G T W stated_x placed R y n Y0 Hn A). lra. }
  apply existsb_exists in A. destruct A as (s & I & A).
  apply andb_true_iff in A. destruct A as [A1 A2]. apply lt_iff in A1. apply le_iff in A2.
  rewrite forallb_forall in SC. specialize (SC s I). unfold check_stop in SC. apply andb_true_iff in SC. destruct SC as [C1 C2].
  rewrite all_iff in C1. assert (Wp : forall m, (m < N)%nat -> 0 <= fst s m) by (intros m Hm; apply le_iff; auto).
  pose proof (sc_duality _ _ _ scope_is _ _ _ y C2 Y0) as Bd.
  assert (Z : sum N (fun k => sum K (fun i => fst s k * y k i)) <= sc_bound Sc (snd s)).
  { apply Bd. intros k i Hk Hi Ek. bools. specialize (Wp k Hk). assert (E0 : fst s k == 0) by lra. rewrite E0. lra. }
  assert (Ey : sum N (fun k => sum K (fun i => fst s k * y k i)) == sum N (fun k => fst s k * tasks P y k)).
  { apply sum_ext. intros k _. apply sum_scale. }
  assert (Le : sum N (fun k => fst s k * t k + (if Nat.eqb k n then fst s k * (tasks P y k - v k) else 0)) <= sum N (fun k => fst s k * tasks P y k)).
  { apply sum_le. intros k Hk. destruct (B k Hk) as [B1 B2]. pose proof (prod_le_l _ _ _ B1 (Wp k Hk)) as P1.
    destruct (Nat.eqb k n) eqn:Ek; [lra|]. apply Nat.eqb_neq in Ek.
    assert (Vy : v k <= tasks P y k).
    { destruct (active P k) eqn:Ak; [apply O; auto; split; auto|]. rewrite ends_are in B2.
      rewrite (inactive_tasks P W (ending E) k ending_feasible Hk Ak) in B2. rewrite (inactive_tasks P W y k Y Hk Ak). exact B2. }
    pose proof (prod_le_l _ _ _ Vy (Wp k Hk)). lra. }
  rewrite sum_add, (sum_single N (fun k => if Nat.eqb k n then _ else 0) n), Nat.eqb_refl in Le; auto.
  2:{ intros j _ Ne. apply Nat.eqb_neq in Ne. rewrite Ne. reflexivity. }
  assert (Pos : 0 < fst s n * (tasks P y n - v n)) by (apply Qmult_lt_0_compat; lra).
  assert (Wt : worth_in s t == sum N (fun k => fst s k * t k)).
  { unfold worth_in. rewrite rsum_eq. apply sum_ext. intros. apply mul_eq. }
  rewrite <- Wt in Le. lra.
Qed.

Section Stretch.
Variable t : nat -> Q.
Variable H : stock.
Variable s : stretch_proof.
Hypothesis Ht : check_holds t H = true.
Hypothesis CS : check_stretch t H s = true.
Notation u := (goes_to s).
Notation who := (filter (growing s) (seq 0 N)).
Definition rho (n : nat) : Q := rate (turn G N M F H (S V) Root who) n.

Lemma stretch_parts : 0 < lasts s /\ check_holds u (at_end s) = true /\ check_holds (middle t u) (at_middle s) = true /\
  all_steady H (at_end s) = true /\ every nodes (evenly (S V) t u) = true /\
  (forall n, (n < N)%nat -> (0 <= t n <= u n) /\ u n <= ends n /\
    (forall q, all_tasks F n = Some q -> steady q q (t n) (u n) = true) /\
    if growing s n then is_active T n = true /\ clear M F H t n = true /\ clear M F (at_middle s) (middle t u) n = true /\ (t n < ends n \/ has_spare t n = true)
    else is_active T n = false \/ (clear M F H t n = false /\ clear M F (at_middle s) (middle t u) n = false) \/ no_room t n = true) /\
  (forall n, (n < N)%nat -> u n == t n + lasts s * rho n /\
    u n == t n + lasts s * rate (turn G N M F (at_middle s) (S V) Root who) n).
Proof.
  unfold check_stretch in CS. cbv zeta in CS. rewrite !andb_true_iff in CS.
  destruct CS as [[[[[[[A1 A2] A3] A4] A5] A6] A7] A8]. apply lt_iff in A1.
  unfold check_growth in A7, A8. rewrite all_iff in A6, A7, A8.
  split; [exact A1|]. split; [exact A2|]. split; [exact A3|]. split; [exact A4|]. split; [exact A5|]. split.
  - intros n Hn. specialize (A6 n Hn). rewrite !andb_true_iff in A6. destruct A6 as [[[[B0 B1] B2] B3] B4]. apply le_iff in B0, B1, B2.
    split; [split; [exact B0|exact B1]|]. split; [exact B2|]. split; [intros q Eq; rewrite Eq in B3; exact B3|].
    destruct (growing s n).
    + rewrite !andb_true_iff, orb_true_iff, lt_iff in B4. tauto.
    + rewrite !orb_true_iff, andb_true_iff, !negb_true_iff in B4. tauto.
  - intros n Hn. specialize (A7 n Hn). specialize (A8 n Hn). apply eqq_iff in A7, A8. rewrite add_eq, mul_eq in A7, A8. auto.
Qed.
Notation hpart := (part t u).
Notation tpart := (at_part t u).
Lemma part_between l n : 0 <= l <= 1 -> (n < N)%nat -> t n <= tpart l n /\ tpart l n <= ends n.
Proof.
  intros L Hn. destruct stretch_parts as (_ & _ & _ & _ & _ & A & _). destruct (A n Hn) as ([B0 B1] & B2 & _). unfold at_part.
  pose proof (prod_le_l _ _ l B1 ltac:(lra)). pose proof (prod_le_l _ _ (1 - l) B1 ltac:(lra)). split; lra.
Qed.
Lemma a_little (c d : nat -> Q) m : (forall r, (r < m)%nat -> 0 <= c r /\ (c r <= 0 \/ 0 < d r) /\ 0 <= d r) ->
  exists e, 0 < e /\ forall r, (r < m)%nat -> e * c r <= d r.
Proof.
  induction m; intros A; [exists 1; split; [lra|intros; lia]|]. destruct IHm as (e & E0 & E1); [intros; apply A; lia|].
  destruct (A m ltac:(lia)) as (C0 & [C1|C1] & D0).
  - exists e. split; auto. intros r Hr. destruct (Nat.eq_dec r m) as [->|Ne]; [|apply E1; lia].
    assert (Z : c m == 0) by lra. rewrite Z. lra.
  - exists (smaller e (d m / (c m + 1))). assert (P0 : 0 < d m / (c m + 1)).
    { unfold Qdiv. apply Qmult_lt_0_compat; auto. apply Qinv_lt_0_compat. lra. }
    split; [minmax; lra|]. intros r Hr. destruct (A r Hr) as (Cr & _ & _). destruct (Nat.eq_dec r m) as [->|Ne].
    + assert (Q1 : d m / (c m + 1) * (c m + 1) == d m) by (field; lra).
      assert (Q2 : smaller e (d m / (c m + 1)) <= d m / (c m + 1)) by (minmax; lra).
      pose proof (prod_le _ _ (c m) Q2 Cr). lra.
    + assert (Q2 : smaller e (d m / (c m + 1)) <= e) by (minmax; lra). pose proof (prod_le _ _ (c r) Q2 Cr).
      specialize (E1 r ltac:(lia)). lra.
Qed.
Lemma spare_room l n : 0 <= l -> l < 1 -> user P n -> has_spare t n = true ->
  (forall q, limit P n = Some q -> tpart l n < q) -> has_room P G (tpart l) n.
Proof.
  intros L0 L1 U Sp Lim. assert (Hn : (n < N)%nat) by apply U.
  destruct stretch_parts as (_ & _ & _ & _ & _ & A & _). pose proof ending_feasible as Fe.
  unfold has_spare in Sp. apply any_iff in Sp. destruct Sp as (i & Hi & Sp). rewrite !andb_true_iff in Sp. destruct Sp as [[Ro Nc] Sp].
  rewrite all_iff in Sp. rewrite (runs_on_eq P stated_x T placed R) in Ro by auto. apply lt_iff in Ro.
  set (v := tpart l). assert (Vb : forall m, (m < N)%nat -> 0 <= v m <= ends m).
  { intros m Hm. destruct (A m Hm) as ([T0 _] & _). destruct (part_between l m ltac:(lra) Hm). unfold v. lra. }
  set (h := fun m => kept_of v m). assert (Hb : forall m, (m < N)%nat -> 0 <= h m <= 1 /\ h m * ends m == v m).
  { intros m Hm. specialize (Vb m Hm). unfold h, kept_of. destruct (lt 0 (ends m)) eqn:Pm; bools.
    - rewrite quo_eq. split; [|field; lra]. split; [apply quotient_nonneg; lra|apply quotient_le; lra].
    - split; lra. }
  assert (En : forall m j, (m < N)%nat -> (j < K)%nat -> 0 <= ending E m j) by (intros; apply (f_nonneg P _ Fe); auto).
  set (z := fun m j => ending E m j * h m).
  assert (Zt : forall m, (m < N)%nat -> tasks P z m == v m).
  { intros m Hm. unfold tasks, z. rewrite sum_scale_r. fold (tasks P (ending E) m). rewrite <- ends_are, Qmult_comm. apply Hb. auto. }
  assert (Zl : forall j r, (j < K)%nat -> (r < M)%nat -> load P z j r <= full P j r).
  { intros j r Hj Hr. apply Qle_trans with (2 := f_rows P _ Fe j r Hj Hr). apply sum_le. intros m Hm. unfold z.
    destruct (Hb m Hm) as [H1 _]. pose proof (takes_nonneg P W m j r Hm Hj Hr) as Tk.
    assert (Q1 : ending E m j * h m <= ending E m j) by (pose proof (prod_le_l _ _ (ending E m j) (proj2 H1) (En m j Hm Hj)); lra).
    apply prod_le; auto. }
  (* the free capacity on this class, now and at the end of the stretch *)
  assert (Zi : forall r, (r < M)%nat -> t_takes T n i r <= 0 \/ load P z i r < full P i r).
  { intros r Hr. specialize (Sp r Hr). apply orb_true_iff in Sp. destruct Sp as [Sp|Sp]; [left; apply le_iff; auto|right].
    apply lt_iff in Sp. rewrite (full_is _ _ _ _ R) in Sp by auto.
    assert (Kp : forall w, (forall m, (m < N)%nat -> 0 <= w m <= ends m) ->
      load_now w i r == sum N (fun m => ending E m i * kept_of w m * takes P m i r)).
    { intros w _. unfold load_now. rewrite rsum_eq. apply sum_ext. intros m Hm. rewrite !mul_eq, (takes_is _ _ _ _ R) by auto. reflexivity. }
    assert (Ab : forall m, (m < N)%nat -> 0 <= t m <= ends m /\ 0 <= u m <= ends m).
    { intros m Hm. destruct (A m Hm) as ([T0 T1] & T2 & _). lra. }
    assert (Full : sum N (fun m => ending E m i * kept_of u m * takes P m i r) <= full P i r).
    { apply Qle_trans with (2 := f_rows P _ Fe i r Hi Hr). apply sum_le. intros m Hm. destruct (Ab m Hm) as [_ Um].
      pose proof (takes_nonneg P W m i r Hm Hi Hr) as Tk. apply prod_le; auto.
      assert (Q1 : kept_of u m <= 1).
      { unfold kept_of. destruct (lt 0 (ends m)) eqn:Pm; bools; [rewrite quo_eq; apply quotient_le; lra|lra]. }
      pose proof (prod_le_l _ _ (ending E m i) Q1 (En m i Hm Hi)). lra. }
    assert (Mix : load P z i r == (1 - l) * load_now t i r + l * sum N (fun m => ending E m i * kept_of u m * takes P m i r)).
    { rewrite (Kp t) by (intros; apply Ab; auto). rewrite <- !sum_scale, <- sum_add. apply sum_ext. intros m Hm.
      unfold z, h, kept_of. destruct (lt 0 (ends m)) eqn:Pm; bools; [|ring]. rewrite !quo_eq. unfold v, at_part. field. lra. }
    rewrite Mix. pose proof (prod_le_l _ _ l Full L0).
    assert (0 < (1 - l) * (full P i r - load_now t i r)) by (apply Qmult_lt_0_compat; lra). lra. }
  destruct (a_little (fun r => if Nat.eqb r M then 1 else takes P n i r)
    (fun r => if Nat.eqb r M then match limit P n with Some q => q - v n | None => 1 end else full P i r - load P z i r) (S M)) as (e & E0 & E1).
  { intros r Hr. destruct (Nat.eqb r M) eqn:Er.
    - split; [lra|]. destruct (limit P n) as [q|]; [specialize (Lim q eq_refl); fold v in Lim; split; [right|]; lra|split; [right|]; lra].
    - apply Nat.eqb_neq in Er. assert (Hr' : (r < M)%nat) by lia. split; [apply takes_nonneg; auto|].
      specialize (Zl i r Hi Hr'). split; [|lra]. destruct (Zi r Hr') as [Z0|Z0]; [left; rewrite <- (takes_is _ _ _ _ R) by auto; exact Z0|right; lra]. }
  exists (fun m j => z m j + (if Nat.eqb m n && Nat.eqb j i then e else 0)).
  assert (Yt : forall m, (m < N)%nat -> tasks P (fun m j => z m j + (if Nat.eqb m n && Nat.eqb j i then e else 0)) m ==
    v m + (if Nat.eqb m n then e else 0)).
  { intros m Hm. unfold tasks at 1. rewrite sum_add. fold (tasks P z m). rewrite Zt by auto. apply Qplus_comp; [reflexivity|].
    destruct (Nat.eqb m n); simpl; [|apply sum_zero; reflexivity].
    rewrite (sum_single K (fun j => if Nat.eqb j i then e else 0) i Hi); [rewrite Nat.eqb_refl; reflexivity|].
    intros j _ Ne. apply Nat.eqb_neq in Ne. rewrite Ne. reflexivity. }
  set (y := fun m j => z m j + (if Nat.eqb m n && Nat.eqb j i then e else 0)).
  assert (Fy : feasible P y).
  { unfold y. constructor.
    + intros m j Hm Hj. assert (0 <= z m j) by (apply prod_nonneg; [auto|apply (Hb m Hm)]). destruct (_ && _); lra.
    + intros m j Hm Hj G0. assert (Z0 : z m j == 0) by (unfold z; rewrite (f_can P _ Fe m j Hm Hj G0); ring). rewrite Z0.
      destruct (Nat.eqb m n && Nat.eqb j i) eqn:Eq; [|lra]. apply andb_true_iff in Eq. destruct Eq as [Q1 Q2].
      apply Nat.eqb_eq in Q1, Q2. subst. lra.
    + intros j r Hj Hr. unfold load.
      rewrite (sum_ext N _ (fun m => z m j * takes P m j r + (if Nat.eqb m n then (if Nat.eqb j i then e * takes P n i r else 0) else 0))).
      2:{ intros m Hm. destruct (Nat.eqb m n) eqn:Q1; simpl; [|ring]. apply Nat.eqb_eq in Q1. subst m.
          destruct (Nat.eqb j i) eqn:Q2; [apply Nat.eqb_eq in Q2; subst j; ring|ring]. }
      rewrite sum_add. fold (load P z j r).
      rewrite (sum_single N (fun m => if Nat.eqb m n then _ else 0) n Hn), Nat.eqb_refl.
      2:{ intros m _ Ne. apply Nat.eqb_neq in Ne. rewrite Ne. reflexivity. }
      destruct (Nat.eqb j i) eqn:Q2; [|specialize (Zl j r Hj Hr); lra]. apply Nat.eqb_eq in Q2. subst j.
      specialize (E1 r ltac:(lia)). assert (Ne : Nat.eqb r M = false) by (apply Nat.eqb_neq; lia). rewrite Ne in E1. lra.
    + intros m Hm. pose proof (f_limit P _ Fe m Hm) as Lm. unfold within_limit in *. destruct (limit P m) as [q|] eqn:Lq; auto.
      rewrite Yt by auto. destruct (Nat.eqb m n) eqn:Q1.
      * apply Nat.eqb_eq in Q1. subst m. specialize (E1 M ltac:(lia)). rewrite Nat.eqb_refl, Lq in E1. lra.
      * rewrite <- ends_are in Lm. destruct (Vb m Hm). lra. }
  split; [split; [exact Fy|]|split].
  - intros b I. destruct ending_placeable as [_ Ke]. apply Qle_trans with (2 := Ke b I). rewrite forallb_forall in Nc. specialize (Nc b I).
    apply negb_true_iff in Nc. unfold taken. apply sum_le. intros m Hm. destruct (below_bar G b m) eqn:Bl; [|lra]. apply sum_le. intros j Hj.
    pose proof (bar_takes P G W b m j (bars_of_on P G b I) Hm Hj) as Tk. unfold y, z.
    destruct (Hb m Hm) as [H1 _]. pose proof (prod_le_l _ _ (ending E m j) (proj2 H1) (En m j Hm Hj)) as Q0.
    assert (Q1 : ending E m j * h m <= ending E m j) by lra. pose proof (prod_le _ _ _ Q1 Tk) as Q2.
    destruct (Nat.eqb m n && Nat.eqb j i) eqn:Eq; [|lra]. apply andb_true_iff in Eq. destruct Eq as [E2 E3].
    apply Nat.eqb_eq in E2, E3. subst m j. unfold counts_on in Nc. rewrite Bl in Nc. cbn [andb] in Nc. apply lt_false in Nc.
    assert (Z0 : b_takes b n i == 0) by lra. rewrite Z0. lra.
  - intros m Um _. unfold y. rewrite Yt by apply Um. destruct (Nat.eqb m n); unfold v; lra.
  - unfold y. rewrite Yt, Nat.eqb_refl by auto. unfold v. lra.
Qed.
(** Whether a user may grow is the same everywhere strictly inside a stretch. *)
Lemma may_at l n Hl tl : 0 <= l -> l < 1 -> (n < N)%nat ->
  clear M F Hl tl n = clear M Fa (hpart l) (tpart l) n ->
  (growing s n = true -> clear M F Hl tl n = true) ->
  (growing s n = false -> is_active T n = false \/ clear M F Hl tl n = false \/ no_room t n = true) ->
  growing s n = true <-> may P G Sib (tpart l) n.
Proof.
  intros L0 L1 Hn Ec Yes No. destruct stretch_parts as (_ & _ & _ & _ & _ & A & _). pose proof (A n Hn) as ([B0 B1] & B2 & _ & B4).
  split.
  - intros Gr. rewrite Gr in B4. destruct B4 as (C1 & _ & _ & C4). split; [eapply is_user; eauto|].
    change (held_at P G Sib (tpart l)) with (hpart l). rewrite <- Ec. split; [auto|].
    assert (Cl : clear M F Hl tl n = true) by auto. destruct C4 as [C4|C4].
    + exists (ending E). split; [apply ending_placeable|]. split.
      * intros m Um _. rewrite <- ends_are. apply part_between; [lra|apply Um].
      * rewrite <- ends_are. unfold at_part. pose proof (prod_le_l _ _ l B2 ltac:(lra)).
        assert (0 < (1 - l) * (ends n - t n)) by (apply Qmult_lt_0_compat; lra). lra.
    + apply spare_room; auto; [eapply is_user; eauto|]. intros q Lq.
      rewrite Ec in Cl. unfold clear in Cl. rewrite !andb_true_iff in Cl. destruct Cl as [[Cl _] _].
      cbn [the_facts all_tasks] in Cl. rewrite Lq in Cl. cbn [reduced] in Cl. apply negb_true_iff, le_false in Cl.
      rewrite Qred_correct in Cl. exact Cl.
  - intros (U & Cl & Rm). destruct (growing s n) eqn:Gr; auto. exfalso.
    change (held_at P G Sib (tpart l)) with (hpart l) in Cl. rewrite <- Ec in Cl.
    destruct (user_is P stated_x T placed R n U) as [_ Ac]. destruct (No eq_refl) as [D|[D|D]]; try congruence.
    revert Rm. apply (no_room_sound t); auto; [pose proof (part_between l n ltac:(lra) Hn); lra|]. intros m Hm. apply part_between; [lra|auto].
Qed.
Lemma stretch_sound : stretch P G Sib t rho (lasts s) /\ same_tasks P u (along t rho (lasts s)).
Proof.
  destruct stretch_parts as (A1 & A2 & A3 & A4 & A5 & A6 & A7). split.
  2:{ intros n Hn. unfold along. apply A7. auto. }
  split; [exact A1|]. intros d D0 D1. set (l := d / lasts s).
  assert (L : d == l * lasts s) by (unfold l; field; lra).
  assert (L0 : 0 <= l) by (apply quotient_nonneg; lra).
  assert (L1 : l < 1).
  { apply Qnot_le_lt. intros C. pose proof (prod_le _ _ (lasts s) C ltac:(lra)). lra. }
  assert (Sm : same_tasks P (tpart l) (along t rho d)).
  { intros n Hn. unfold at_part, along. destruct (A7 n Hn) as [-> _]. rewrite L. ring. }
  apply (direction_same P G Sib forest_of (tpart l) _ rho); [exact Sm|intros n _; reflexivity|].
  exists (growing s). assert (Us : users_below N who) by apply (users_filtered P).
  assert (Fs : likewise G N M F (hpart l) Fa (hpart l)).
  { apply likewise_ext; [apply facts_are|]. intros c r _ _. split; reflexivity. }
  destruct (Qlt_le_dec 0 l) as [Lp|Lz].
  - assert (Half : 0 < 1 # 2 < 1) by lra.
    assert (Mid : same_tasks P (middle t u) (tpart (1 # 2))).
    { intros n _. unfold middle, at_part. rewrite quo_eq, add_eq. field. }
    assert (Al1 : likewise G N M F (at_middle s) F (hpart (1 # 2))).
    { apply likewise_ext; [apply facts_self|]. apply (holds_are (middle t u)); auto. }
    pose proof (likewise_inside t u H (at_end s) Ht A2 A4 A5 (1 # 2) l Half (conj Lp L1)) as Al2.
    split.
    + intros n Hn. destruct (A6 n Hn) as (_ & _ & B3 & B4).
      apply (may_at l n (at_middle s) (middle t u)); auto.
      * rewrite (clear_same G N M _ _ _ _ facts_self Al1 (middle t u) (tpart (1 # 2))); auto.
        2:{ intros q _. apply le_ext; [reflexivity|apply Mid; auto]. }
        rewrite (clear_same G N M _ _ _ _ facts_self Al2 (tpart (1 # 2)) (tpart l)); auto.
        2:{ intros q Eq. specialize (B3 q Eq). rewrite (le_ext _ _ _ _ (constant (1 # 2) q) (Qeq_refl (tpart (1 # 2) n))).
            rewrite (le_ext _ _ _ _ (constant l q) (Qeq_refl (tpart l n))). apply steady_le; auto. }
        apply (clear_same G N M _ _ _ _ facts_are Fs); auto.
      * intros Gr. rewrite Gr in B4. tauto.
      * intros Gr. rewrite Gr in B4. tauto.
    + intros n Hn. destruct (A7 n Hn) as [B1 B2].
      assert (Er : rho n == rate (turn G N M F (at_middle s) (S V) Root who) n).
      { rewrite B1 in B2. apply Qplus_inj_l in B2. apply (Qmult_inj_l _ _ (lasts s)); [lra|exact B2]. }
      rewrite Er, (turn_same G N M _ _ _ _ facts_self Al1), (turn_same G N M _ _ _ _ facts_self Al2),
        (turn_same G N M _ _ _ _ facts_are Fs) by (auto; exact I). reflexivity.
  - assert (Z : l == 0) by lra.
    assert (Sm0 : same_tasks P t (tpart l)) by (intros n _; unfold at_part; rewrite Z; ring).
    pose proof (likewise_table t (tpart l) H Ht Sm0) as Al.
    split.
    + intros n Hn. destruct (A6 n Hn) as (_ & _ & B3 & B4). apply (may_at l n H t); auto.
      * apply (clear_same G N M _ _ _ _ facts_are Al); auto. intros q _. apply le_ext; [reflexivity|apply Sm0; auto].
      * intros Gr. rewrite Gr in B4. tauto.
      * intros Gr. rewrite Gr in B4. tauto.
    + intros n Hn. unfold rho. rewrite (turn_same G N M _ _ _ _ facts_are Al) by (auto; exact I). reflexivity.
Qed.
End Stretch.

Lemma path_sound l : forall t H, check_holds t H = true -> check_path t H l = true ->
  exists e, run P G Sib t e /\ (forall n, ~ may P G Sib e n) /\ forall n, (n < N)%nat -> e n == ends n.
Proof.
  induction l as [|s l IH]; intros t H Ht C; cbn [check_path] in C.
  - unfold check_still in C. rewrite all_iff in C. exists t.
    split; [apply Stop; intros n _; reflexivity|]. split.
    + intros n (U & Cl & Rm). assert (Hn : (n < N)%nat) by apply U. pose proof (C n Hn) as D. apply andb_true_iff in D.
      destruct D as [_ D]. rewrite !orb_true_iff, !negb_true_iff in D.
      destruct (user_is P stated_x T placed R n U) as [_ Ac].
      rewrite <- (clear_same G N M _ _ _ _ facts_are (likewise_table t t H Ht (fun m _ => Qeq_refl (t m))) t t) in Cl; auto.
      destruct D as [[D|D]|D]; try congruence. revert Rm. apply (no_room_sound t); auto.
      { specialize (C n Hn). apply andb_true_iff in C. destruct C as [C _]. apply eqq_iff in C. rewrite C, ends_are.
        apply tasks_nonneg; auto. apply ending_feasible. }
      intros m Hm. split; [lra|].
      specialize (C m Hm). apply andb_true_iff in C. destruct C as [C _]. apply eqq_iff in C. lra.
    + intros n Hn. specialize (C n Hn). apply andb_true_iff in C. destruct C as [C _]. apply eqq_iff. exact C.
  - apply andb_true_iff in C. destruct C as [C1 C2].
    destruct (stretch_sound t H s Ht C1) as [St Sm].
    destruct (stretch_parts t H s C1) as (_ & A2 & _).
    destruct (IH (goes_to s) (at_end s) A2 C2) as (e & Re & Se & Ee). exists e. split; [|auto].
    apply (Go P G Sib t (rho H s) (lasts s) (goes_to s) e); auto.
Qed.
End On.

(** An accepted claim is true: up to the margin, every user has the tasks that the filling gives it, and no smaller
    margin would do. *)
Section Accepted.
Variable P : problem.
Variable G : grouping.
Variable Sib : siblings.
Variable T : tables.
Hypothesis W : well_formed P.
Variable stated_x : allocation.
Variable placed : bool.
Hypothesis R : right P stated_x T placed.
Theorem check_turns_sound E m : check_turns P G Sib T E m = true ->
  filled_by_turns P G Sib (- m) (t_x T) /\ forall eps, filled_by_turns P G Sib eps (t_x T) -> - m <= eps.
Proof.
  unfold check_turns, check_following. intros C. rewrite !andb_true_iff in C. destruct C as [[[[[[[C1 C2] CK] C3] C4] C5] C6] C7].
  rewrite all_iff in C6. pose proof (forest_of P G Sib E C1) as Fo.
  destruct (path_sound P G Sib T E W stated_x placed R C1 C2 C3 CK _ _ _ C4 C5) as (e & Re & Se & Ee).
  assert (En : is_end P G Sib e) by (split; [exists nothing_yet; split; [intros n _; reflexivity|exact Re]|exact Se]).
  assert (Df : forall n, (n < users P)%nat -> differs P T E n == Qabs (tasks P (t_x T) n - e n)).
  { intros n Hn. unfold differs. rewrite Qred_correct, sub_eq, (tasks_is _ _ _ _ R), (Ee n Hn) by auto. reflexivity. }
  split.
  - split; [exact Fo|]. exists e. split; [exact En|]. intros n U. destruct (user_is P stated_x T placed R n U) as [Hn Ac]. specialize (C6 n Hn).
    rewrite Ac in C6. apply le_iff in C6. rewrite Df, mul_eq, (g_is _ _ _ _ R) in C6 by auto. lra.
  - intros eps (_ & e' & En' & O). apply any_iff in C7. destruct C7 as (n & Hn & C7). apply andb_true_iff in C7. destruct C7 as [Ac C7].
    apply eqq_iff in C7. rewrite Df, mul_eq, (g_is _ _ _ _ R) in C7 by auto.
    assert (U : user P n) by (eapply is_user; eauto). specialize (O n U).
    rewrite <- (end_unique P G Sib Fo e e' En En' n Hn), C7 in O. apply (below eps (- m) (g P n)); [apply user_g; auto|lra].
Qed.
End Accepted.
