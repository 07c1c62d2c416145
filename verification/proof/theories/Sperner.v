(** Proves Sperner's lemma in Kuhn's form. The points of a grid have labels. Each cell is divided into simplices by the
    orders in which its coordinates grow. Some cell has all labels. The proof considers faces that have all labels
    except the last one. The simplices that have these faces are paired in two ways. Only one of these faces is on the
    border. *)
From Coq Require Import Arith Bool List Lia ListDec.
Import ListNotations.

(** * Parity *)
Section Parity.
Variable A : Type.
Variable eq_dec : forall a b : A, {a = b} + {a <> b}.
Lemma length_remove a l : NoDup l -> In a l -> length l = S (length (remove eq_dec a l)).
Proof.
  induction 1 as [|b l Ni Nd IH]; intros I; [contradiction|]. simpl. destruct (eq_dec a b) as [<-|Ne].
  - rewrite notin_remove; auto.
  - simpl. f_equal. apply IH. destruct I as [E|I]; [congruence|auto].
Qed.
Lemma nodup_remove a l : NoDup l -> NoDup (remove eq_dec a l).
Proof.
  induction 1 as [|b l Ni Nd IH]; simpl; [constructor|]. destruct (eq_dec a b); auto. constructor; auto.
  intros I. apply in_remove in I. tauto.
Qed.
Lemma filter_remove f a l : f a = false -> filter f (remove eq_dec a l) = filter f l.
Proof.
  intros F. induction l as [|b l IH]; simpl; auto. destruct (eq_dec a b) as [<-|].
  - rewrite F. auto.
  - simpl. rewrite IH. reflexivity.
Qed.
(** If every element has another element as its partner, the number of elements is even. *)
Lemma parity f m : forall l, (length l <= m)%nat -> NoDup l -> (forall a, In a l -> In (f a) l /\ f (f a) = a) ->
  Nat.even (length l) = Nat.even (length (filter (fun a => if eq_dec (f a) a then true else false) l)).
Proof.
  induction m; intros l Hm Nd H; [destruct l; simpl in *; [reflexivity|lia]|].
  destruct l as [|a r]; [reflexivity|]. inversion Nd as [|? ? Ni Nr]; subst. destruct (H a (or_introl eq_refl)) as [Ia Fa].
  cbn [filter length]. destruct (eq_dec (f a) a) as [E|E].
  - cbn [length]. rewrite !Nat.even_succ, <- !Nat.negb_even. f_equal. apply IHm; auto; [simpl in Hm; lia|].
    intros b Ib. destruct (H b (or_intror Ib)) as [[F|F] G]; split; auto. exfalso. apply Ni. rewrite F, G in *. congruence.
  - assert (Ir : In (f a) r) by (destruct Ia; [congruence|auto]). rewrite (length_remove _ _ Nr Ir).
    rewrite <- (filter_remove (fun b => if eq_dec (f b) b then true else false) (f a) r).
    2:{ rewrite Fa. destruct (eq_dec a (f a)); congruence. }
    cbn [Nat.even]. apply IHm.
    + pose proof (length_remove _ _ Nr Ir). simpl in Hm. lia.
    + apply nodup_remove. auto.
    + intros b Ib. apply in_remove in Ib. destruct Ib as [Ib Nb]. destruct (H b (or_intror Ib)) as [[F|F] G].
      * exfalso. apply Nb. rewrite <- G, F. reflexivity.
      * split; auto. apply in_in_remove; auto. intros F'. apply Ni. rewrite <- G, F', Fa in Ib. exact Ib.
Qed.
End Parity.

(** All lists of n elements of l *)
Fixpoint tuples (n : nat) (l : list nat) : list (list nat) :=
  match n with O => [[]] | S k => flat_map (fun t => map (fun a => a :: t) l) (tuples k l) end.
Lemma in_tuples n l t : In t (tuples n l) <-> length t = n /\ forall a, In a t -> In a l.
Proof.
  revert t. induction n; intros t; simpl.
  - split.
    + intros [<-|[]]. split; [reflexivity|intros a []].
    + intros [E _]. destruct t; [auto|discriminate].
  - rewrite in_flat_map. split.
    + intros (r & Ir & I). apply in_map_iff in I. destruct I as (a & <- & Ia). apply IHn in Ir. destruct Ir as [E H].
      simpl. split; [congruence|]. intros b [<-|Ib]; auto.
    + intros [E H]. destruct t as [|a r]; [discriminate|]. exists r. split.
      * apply IHn. split; [simpl in E; lia|]. intros b Ib. apply H. right. auto.
      * apply in_map_iff. exists a. split; auto. apply H. left. auto.
Qed.

(** * Simplices *)
Section Kuhn.
Variables n p : nat.
Hypothesis N0 : 0 < n.
Hypothesis P0 : 0 < p.
Variable lab : (nat -> nat) -> nat.
Definition on_grid (v : nat -> nat) : Prop := forall c, c < n -> v c <= p.
Hypothesis Lab_ext : forall v w, (forall c, c < n -> v c = w c) -> lab v = lab w.
Hypothesis Lab_le : forall v, on_grid v -> lab v <= n.
Hypothesis Lab_zero : forall v c, on_grid v -> c < n -> v c = 0 -> lab v <= c /\ v (lab v) = 0.
Hypothesis Lab_top : forall v c, on_grid v -> c < n -> v c = p -> lab v <> c.

(** From the corner b, the coordinates grow by 1 in the order s. *)
Definition one (c : nat) (l : list nat) : nat := if in_dec Nat.eq_dec c l then 1 else 0.
Definition vertex (b s : list nat) (j c : nat) : nat := nth c b 0 + one c (firstn j s).
Lemma one_ext c l m : (In c l <-> In c m) -> one c l = one c m.
Proof. intros E. unfold one. destruct (in_dec Nat.eq_dec c l), (in_dec Nat.eq_dec c m); tauto. Qed.
Lemma one_in c l : In c l -> one c l = 1.
Proof. intros I. unfold one. destruct (in_dec Nat.eq_dec c l); tauto. Qed.
Lemma one_out c l : ~ In c l -> one c l = 0.
Proof. intros I. unfold one. destruct (in_dec Nat.eq_dec c l); tauto. Qed.
Lemma one_le c l : one c l <= 1.
Proof. unfold one. destruct (in_dec Nat.eq_dec c l); lia. Qed.

Record valid (b s : list nat) (k : nat) : Prop := {
  v_b : length b = n; v_p : forall a, In a b -> a < p;
  v_s : length s = n; v_nd : NoDup s; v_n : forall a, In a s -> a < n;
  v_k : k <= n }.
Lemma corner_below b s k c : valid b s k -> c < n -> nth c b 0 < p.
Proof. intros V Hc. apply (v_p _ _ _ V). apply nth_In. rewrite (v_b _ _ _ V). auto. Qed.
Lemma vertex_grid b s k j : valid b s k -> on_grid (vertex b s j).
Proof. intros V c Hc. unfold vertex. pose proof (corner_below b s k c V Hc). pose proof (one_le c (firstn j s)). lia. Qed.
Lemma all_in b s k c : valid b s k -> c < n -> In c s.
Proof.
  intros V Hc. assert (I : incl (seq 0 n) s); [|apply I; apply in_seq; lia].
  apply (NoDup_length_incl (v_nd _ _ _ V)).
  - rewrite seq_length, (v_s _ _ _ V). auto.
  - intros a Ia. apply in_seq. pose proof (v_n _ _ _ V a Ia). lia.
Qed.

(** The face without vertex k has all labels except the last. *)
Definition door (b s : list nat) (k : nat) : Prop := forall c, c < n -> exists j, j <= n /\ j <> k /\ lab (vertex b s j) = c.
Definition doorb (b s : list nat) (k : nat) : bool :=
  forallb (fun c => existsb (fun j => negb (Nat.eqb j k) && Nat.eqb (lab (vertex b s j)) c) (seq 0 (S n))) (seq 0 n).
Lemma doorb_iff b s k : doorb b s k = true <-> door b s k.
Proof.
  unfold doorb, door. rewrite forallb_forall. split; intros H c Hc.
  - specialize (H c ltac:(apply in_seq; lia)). apply existsb_exists in H. destruct H as (j & Ij & E).
    apply andb_true_iff in E. destruct E as [E1 E2]. apply negb_true_iff, Nat.eqb_neq in E1. apply Nat.eqb_eq in E2.
    apply in_seq in Ij. exists j. repeat split; auto; lia.
  - apply in_seq in Hc. destruct (H c ltac:(lia)) as (j & Hj & Ne & E). apply existsb_exists. exists j.
    split; [apply in_seq; lia|]. apply andb_true_iff. split; [apply negb_true_iff, Nat.eqb_neq; auto|apply Nat.eqb_eq; auto].
Qed.
Lemma labels_differ b s k j i : k <= n -> door b s k -> j <= n -> i <= n -> j <> k -> i <> k ->
  lab (vertex b s j) = lab (vertex b s i) -> j = i.
Proof.
  intros Hk D Hj Hi Nj Ni E. destruct (Nat.eq_dec j i) as [|Ne]; auto. exfalso.
  set (rest := remove Nat.eq_dec j (remove Nat.eq_dec k (seq 0 (S n)))).
  assert (L : S (S (length rest)) = S n).
  { unfold rest. rewrite <- length_remove.
    - rewrite <- length_remove; [apply seq_length|apply seq_NoDup|apply in_seq; lia].
    - apply nodup_remove, seq_NoDup.
    - apply in_in_remove; auto. apply in_seq. lia. }
  assert (I : incl (seq 0 n) (map (fun h => lab (vertex b s h)) rest)).
  { intros c Ic. apply in_seq in Ic. destruct (D c ltac:(lia)) as (h & Hh & Nh & Eh). apply in_map_iff.
    assert (In_ : forall h, h <= n -> h <> k -> h <> j -> In h rest).
    { intros m Hm Nk Nj'. unfold rest. apply in_in_remove; auto. apply in_in_remove; auto. apply in_seq. lia. }
    destruct (Nat.eq_dec h j) as [->|Nj'].
    - exists i. split; [congruence|]. apply In_; auto.
    - exists h. split; auto. }
  apply NoDup_incl_length in I; [|apply seq_NoDup]. rewrite seq_length, map_length in I. lia.
Qed.

Definition cell : Type := list nat * list nat * nat.
Definition cell_dec (x y : cell) : {x = y} + {x <> y}.
Proof. repeat decide equality. Defined.
Definition okb (t : cell) : bool :=
  match t with (b, s, k) => (if NoDup_dec Nat.eq_dec s then true else false) && doorb b s k end.
Definition doors : list cell :=
  filter okb (nodup cell_dec (list_prod (list_prod (tuples n (seq 0 p)) (tuples n (seq 0 n))) (seq 0 (S n)))).
Lemma doors_nodup : NoDup doors.
Proof. apply NoDup_filter, NoDup_nodup. Qed.
Lemma in_doors b s k : In (b, s, k) doors <-> valid b s k /\ door b s k.
Proof.
  unfold doors. rewrite filter_In, nodup_In, !in_prod_iff, !in_tuples, in_seq. simpl. rewrite andb_true_iff, doorb_iff. split.
  - intros [[[[B1 B2] [S1 S2]] Hk] [Nd D]]. destruct (NoDup_dec Nat.eq_dec s); [|discriminate]. split; auto. constructor; auto.
    + intros a Ia. specialize (B2 a Ia). apply in_seq in B2. lia.
    + intros a Ia. specialize (S2 a Ia). apply in_seq in S2. lia.
    + lia.
  - intros [[B1 B2 S1 Nd S2 Hk] D]. repeat split; auto; try lia.
    + intros a Ia. apply in_seq. specialize (B2 a Ia). lia.
    + intros a Ia. apply in_seq. specialize (S2 a Ia). lia.
    + destruct (NoDup_dec Nat.eq_dec s); auto.
Qed.

(** ** Within a simplex, the other such face leaves out the vertex with the repeated label *)
Definition other (b s : list nat) (k : nat) : nat :=
  match find (fun j => negb (Nat.eqb j k) && Nat.eqb (lab (vertex b s j)) (lab (vertex b s k))) (seq 0 (S n)) with
  | Some j => j | None => k end.
Definition within (t : cell) : cell := match t with (b, s, k) => (b, s, other b s k) end.
Lemma other_cases b s k : (other b s k = k /\ forall j, j <= n -> j <> k -> lab (vertex b s j) <> lab (vertex b s k)) \/
  (other b s k <= n /\ other b s k <> k /\ lab (vertex b s (other b s k)) = lab (vertex b s k)).
Proof.
  unfold other. destruct (find _ _) as [j|] eqn:F.
  - right. apply find_some in F. destruct F as [I E]. apply in_seq in I. apply andb_true_iff in E. destruct E as [E1 E2].
    apply negb_true_iff, Nat.eqb_neq in E1. apply Nat.eqb_eq in E2. repeat split; auto. lia.
  - left. split; auto. intros j Hj Ne E. pose proof (find_none _ _ F j ltac:(apply in_seq; lia)) as H. simpl in H.
    apply andb_false_iff in H. destruct H as [H|H].
    + apply negb_false_iff, Nat.eqb_eq in H. auto.
    + apply Nat.eqb_neq in H. auto.
Qed.
Lemma within_doors t : In t doors -> In (within t) doors /\ within (within t) = t.
Proof.
  destruct t as [[b s] k]. intros I. pose proof I as I0. apply in_doors in I. destruct I as [V D]. pose proof (v_k _ _ _ V) as Hk.
  unfold within. destruct (other_cases b s k) as [[E H]|(Hj & Ne & E)]; [rewrite !E; auto|].
  set (j := other b s k) in *.
  assert (Dj : door b s j).
  { intros c Hc. destruct (D c Hc) as (h & Hh & Nh & Eh). destruct (Nat.eq_dec h j) as [->|Nj]; [|exists h; auto].
    exists k. split; [auto|]. split; [auto|]. congruence. }
  split; [apply in_doors; split; auto; destruct V; constructor; auto|]. f_equal.
  destruct (other_cases b s j) as [[E' H']|(Hi & Ni & E')].
  - exfalso. apply (H' k); auto.
  - destruct (Nat.eq_dec (other b s j) k) as [|Nk]; auto. exfalso. apply Ni.
    apply (labels_differ b s k); auto.
Qed.

(** ** The simplex on the other side of a face *)
Definition up (x : nat) (b : list nat) : list nat := map (fun c => nth c b 0 + (if Nat.eqb c x then 1 else 0)) (seq 0 n).
Definition down (x : nat) (b : list nat) : list nat := map (fun c => nth c b 0 - (if Nat.eqb c x then 1 else 0)) (seq 0 n).
Definition swap (k : nat) (s : list nat) : list nat := firstn k s ++ nth (S k) s 0 :: nth k s 0 :: skipn (S (S k)) s.
Definition through (t : cell) : cell :=
  match t with (b, s, k) =>
    match k with
    | O => match s with
           | x :: r => if S (nth x b 0) <? p then (up x b, r ++ [x], n) else t
           | [] => t end
    | S k' => if Nat.eqb k n
              then let x := last s 0 in if 0 <? nth x b 0 then (down x b, x :: removelast s, 0) else t
              else (b, swap k' s, k)
    end end.

Lemma nth_map_seq f c : c < n -> nth c (map f (seq 0 n)) 0 = f c.
Proof.
  intros Hc. rewrite (nth_indep _ 0 (f 0)) by (rewrite map_length, seq_length; auto).
  rewrite map_nth, seq_nth by auto. reflexivity.
Qed.
Lemma list_of_nth b : length b = n -> map (fun c => nth c b 0) (seq 0 n) = b.
Proof.
  intros L. apply (nth_ext _ _ 0 0); [rewrite map_length, seq_length; auto|]. intros c Hc.
  rewrite map_length, seq_length in Hc. apply (nth_map_seq (fun c => nth c b 0)). auto.
Qed.
Lemma down_up x b : length b = n -> down x (up x b) = b.
Proof.
  intros L. rewrite <- (list_of_nth b L) at 2. apply map_ext_in. intros c Ic. apply in_seq in Ic.
  unfold up. rewrite nth_map_seq by lia. destruct (Nat.eqb c x); lia.
Qed.
Lemma up_down x b : length b = n -> 0 < nth x b 0 -> up x (down x b) = b.
Proof.
  intros L H. rewrite <- (list_of_nth b L) at 2. apply map_ext_in. intros c Ic. apply in_seq in Ic.
  unfold down. rewrite nth_map_seq by lia. destruct (Nat.eqb_spec c x) as [->|]; lia.
Qed.
Lemma split_two k s : S k < length s -> s = firstn k s ++ nth k s 0 :: nth (S k) s 0 :: skipn (S (S k)) s.
Proof.
  revert s. induction k; intros s L.
  - destruct s as [|a [|c r]]; simpl in L; try lia. reflexivity.
  - destruct s as [|a r]; simpl in L; [lia|]. simpl. f_equal. apply IHk. lia.
Qed.
Lemma firstn_swap (A : list nat) x y B j : j <> S (length A) ->
  forall c, In c (firstn j (A ++ x :: y :: B)) <-> In c (firstn j (A ++ y :: x :: B)).
Proof.
  intros Ne c. rewrite !firstn_app. destruct (j - length A) as [|[|d]] eqn:E; [tauto|lia|].
  simpl. rewrite !in_app_iff. simpl. tauto.
Qed.

Lemma front b x r j k : valid b (x :: r) k -> j < n -> forall c, c < n ->
  vertex (up x b) (r ++ [x]) j c = vertex b (x :: r) (S j) c.
Proof.
  intros V Hj c Hc. unfold vertex, up. rewrite nth_map_seq by auto. pose proof (v_s _ _ _ V) as L. simpl in L.
  pose proof (v_nd _ _ _ V) as Nd. inversion Nd as [|? ? Ni Nr]; subst.
  rewrite firstn_app. replace (j - length r) with 0 by lia. rewrite firstn_O, app_nil_r. simpl.
  destruct (Nat.eqb_spec c x) as [->|Ne].
  - rewrite (one_in x (x :: firstn j r)) by (left; auto). rewrite one_out; [lia|].
    intros I. apply Ni. rewrite <- (firstn_skipn j r). apply in_app_iff. auto.
  - rewrite (one_ext c (firstn j r) (x :: firstn j r)); [lia|]. simpl. intuition congruence.
Qed.
Lemma back b x r j k : valid b (r ++ [x]) k -> 0 < nth x b 0 -> j < n -> forall c, c < n ->
  vertex (down x b) (x :: r) (S j) c = vertex b (r ++ [x]) j c.
Proof.
  intros V B Hj c Hc. unfold vertex, down. rewrite nth_map_seq by auto. pose proof (v_s _ _ _ V) as L.
  rewrite app_length in L. simpl in L. pose proof (v_nd _ _ _ V) as Nd. apply NoDup_remove in Nd. rewrite app_nil_r in Nd.
  destruct Nd as [Nr Ni]. rewrite firstn_app. replace (j - length r) with 0 by lia. rewrite firstn_O, app_nil_r. simpl.
  destruct (Nat.eqb_spec c x) as [->|Ne].
  - rewrite (one_in x (x :: firstn j r)) by (left; auto). rewrite (one_out x (firstn j r)); [lia|].
    intros I. apply Ni. rewrite <- (firstn_skipn j r). apply in_app_iff. auto.
  - rewrite (one_ext c (firstn j r) (x :: firstn j r)); [lia|]. simpl. intuition congruence.
Qed.
Lemma nodup_front x (r : list nat) : NoDup (x :: r) <-> NoDup (r ++ [x]).
Proof.
  split; intros H.
  - inversion H; subst. apply NoDup_rev in H. simpl in H. rewrite <- (rev_involutive (r ++ [x])). apply NoDup_rev.
    rewrite rev_app_distr. simpl. apply NoDup_cons; [rewrite <- in_rev; auto|apply NoDup_rev; auto].
  - apply NoDup_remove in H. rewrite app_nil_r in H. constructor; tauto.
Qed.

Lemma through_first b x r : through (b, x :: r, 0) = if S (nth x b 0) <? p then (up x b, r ++ [x], n) else (b, x :: r, 0).
Proof. reflexivity. Qed.
Lemma through_last b x r : through (b, r ++ [x], n) = if 0 <? nth x b 0 then (down x b, x :: r, 0) else (b, r ++ [x], n).
Proof.
  unfold through. destruct n as [|m] eqn:E; [lia|]. rewrite Nat.eqb_refl, last_last, removelast_last. reflexivity.
Qed.
Lemma through_inner b s k : S k <> n -> through (b, s, S k) = (b, swap k s, S k).
Proof. intros Ne. unfold through. destruct (Nat.eqb_spec (S k) n); [contradiction|reflexivity]. Qed.

Lemma through_doors t : In t doors -> In (through t) doors /\ through (through t) = t.
Proof.
  destruct t as [[b s] k]. intros I. pose proof I as I0. apply in_doors in I. destruct I as [V D].
  pose proof V as [B1 B2 S1 Nd S2 Hk]. destruct k as [|k].
  - destruct s as [|x r]; [simpl in S1; lia|]. assert (Hx : x < n) by (apply S2; left; auto).
    pose proof (through_first b x r) as Th. destruct (Nat.ltb_spec (S (nth x b 0)) p) as [Lx|Lx]; [|rewrite !Th; auto].
    assert (V' : valid (up x b) (r ++ [x]) n).
    { constructor; auto.
      - unfold up. rewrite map_length, seq_length. reflexivity.
      - intros a Ia. unfold up in Ia. apply in_map_iff in Ia. destruct Ia as (c & <- & Ic). apply in_seq in Ic.
        pose proof (corner_below _ _ _ c V ltac:(lia)). destruct (Nat.eqb_spec c x) as [->|]; lia.
      - rewrite app_length. simpl in *. lia.
      - apply nodup_front. auto.
      - intros a Ia. apply S2. apply in_app_iff in Ia. destruct Ia as [Ia|[<-|[]]]; [right|left]; auto. }
    rewrite Th. split.
    + apply in_doors. split; auto. intros c Hc. destruct (D c Hc) as (j & Hj & Nj & E). destruct j as [|j]; [lia|].
      exists j. split; [lia|]. split; [lia|]. rewrite <- E. apply Lab_ext. intros d Hd. apply (front b x r j 0 V); auto.
    + rewrite through_last. assert (U : nth x (up x b) 0 = S (nth x b 0)).
      { unfold up. rewrite nth_map_seq, Nat.eqb_refl by auto. lia. }
      rewrite U. simpl. rewrite down_up by auto. reflexivity.
  - destruct (Nat.eq_dec (S k) n) as [En|En].
    + destruct (exists_last (l := s)) as (r & x & Es); [intros ->; simpl in S1; lia|]. subst s.
      assert (Hx : x < n) by (apply S2; apply in_app_iff; right; left; auto). rewrite En in *.
      pose proof (through_last b x r) as Th. destruct (Nat.ltb_spec 0 (nth x b 0)) as [Lx|Lx]; [|rewrite !Th; auto].
      assert (V' : valid (down x b) (x :: r) 0).
      { constructor; try lia.
        - unfold down. rewrite map_length, seq_length. reflexivity.
        - intros a Ia. unfold down in Ia. apply in_map_iff in Ia. destruct Ia as (c & <- & Ic). apply in_seq in Ic.
          pose proof (corner_below _ _ _ c V ltac:(lia)). lia.
        - rewrite app_length in S1. simpl in *. lia.
        - apply nodup_front. auto.
        - intros a Ia. apply S2. apply in_app_iff. destruct Ia as [<-|Ia]; [right; left|left]; auto. }
      rewrite Th. split.
      * apply in_doors. split; auto. intros c Hc. destruct (D c Hc) as (j & Hj & Nj & E). exists (S j).
        split; [lia|]. split; [lia|]. rewrite <- E. apply Lab_ext. intros d Hd. apply (back b x r j n V); auto. lia.
      * rewrite through_first. assert (Dn : nth x (down x b) 0 = nth x b 0 - 1).
        { unfold down. rewrite nth_map_seq, Nat.eqb_refl by auto. lia. }
        rewrite Dn. pose proof (corner_below _ _ _ x V Hx). destruct (Nat.ltb_spec (S (nth x b 0 - 1)) p); [|lia].
        rewrite up_down by auto. reflexivity.
    + assert (Lk : S k < length s) by lia. pose proof (split_two k s Lk) as Es. set (A := firstn k s) in *.
      set (x := nth k s 0) in *. set (y := nth (S k) s 0) in *. set (B := skipn (S (S k)) s) in *.
      assert (LA : length A = k) by (unfold A; apply firstn_length_le; lia).
      assert (Sw : swap k s = A ++ y :: x :: B) by reflexivity. rewrite (through_inner b s k En), Sw.
      assert (Pm : forall c, In c (A ++ y :: x :: B) <-> In c s).
      { intros c. rewrite Es, !in_app_iff. simpl. tauto. }
      assert (V' : valid b (A ++ y :: x :: B) (S k)).
      { constructor; auto.
        - rewrite Es, app_length in S1. simpl in S1. rewrite app_length. simpl. lia.
        - rewrite Es in Nd. apply NoDup_remove in Nd. destruct Nd as [Nd Nx]. pose proof Nd as Nd'. apply NoDup_remove in Nd'.
          destruct Nd' as [Nd' Ny]. rewrite in_app_iff in Nx, Ny. simpl in Nx.
          apply (NoDup_Add (a := y) (l := A ++ x :: B)); [apply Add_app|]. split.
          + apply (NoDup_Add (a := x) (l := A ++ B)); [apply Add_app|]. split; auto. rewrite in_app_iff. tauto.
          + rewrite in_app_iff. simpl. intuition congruence.
        - intros a Ia. apply S2. apply Pm. auto. }
      assert (Same : forall j, j <> S k -> forall c, vertex b (A ++ y :: x :: B) j c = vertex b s j c).
      { intros j Nj c. unfold vertex. f_equal. apply one_ext. rewrite Es. apply firstn_swap. rewrite LA. auto. }
      split.
      * apply in_doors. split; auto. intros c Hc. destruct (D c Hc) as (j & Hj & Nj & E). exists j. split; [auto|].
        split; [auto|]. rewrite <- E. apply Lab_ext. intros d _. apply Same. auto.
      * rewrite (through_inner b _ k En). f_equal. f_equal. unfold swap.
        rewrite firstn_app, LA, Nat.sub_diag, firstn_O, app_nil_r. rewrite <- LA at 1. rewrite firstn_all.
        rewrite (app_nth2 A _ 0) by lia. rewrite (app_nth2 A _ 0 (n := k)) by lia.
        replace (S k - length A) with 1 by lia. replace (k - length A) with 0 by lia. simpl nth.
        rewrite skipn_app, (skipn_all2 A) by lia. replace (S (S k) - length A) with 2 by lia. simpl. symmetry. exact Es.
Qed.

(** ** Only one such face is on the border *)
Definition start : cell := (repeat 0 n, seq 0 n, n).
Lemma firstn_seq j : j <= n -> firstn j (seq 0 n) = seq 0 j.
Proof.
  intros Hj. replace n with (j + (n - j)) by lia. rewrite seq_app, firstn_app, seq_length, Nat.sub_diag, firstn_O, app_nil_r.
  rewrite <- (seq_length j 0) at 1. apply firstn_all.
Qed.
Lemma start_valid : valid (repeat 0 n) (seq 0 n) n.
Proof.
  constructor; auto.
  - apply repeat_length.
  - intros a Ia. apply repeat_spec in Ia. lia.
  - apply seq_length.
  - apply seq_NoDup.
  - intros a Ia. apply in_seq in Ia. lia.
Qed.
Lemma nth_repeat_zero c m : nth c (repeat 0 m) 0 = 0.
Proof. revert c. induction m; intros [|c]; simpl; auto. Qed.
Lemma start_vertex j c : j <= n -> vertex (repeat 0 n) (seq 0 n) j c = if c <? j then 1 else 0.
Proof.
  intros Hj. unfold vertex. rewrite nth_repeat_zero, firstn_seq by auto. destruct (Nat.ltb_spec c j) as [L|L].
  - apply one_in. apply in_seq. lia.
  - apply one_out. intros I. apply in_seq in I. lia.
Qed.
Lemma start_door : In start doors /\ through start = start.
Proof.
  split.
  - apply in_doors. split; [apply start_valid|]. intros c Hc. exists c. split; [lia|]. split; [lia|].
    pose proof (vertex_grid _ _ _ c start_valid) as G. set (v := vertex (repeat 0 n) (seq 0 n) c) in *.
    assert (Z : v c = 0) by (unfold v; rewrite start_vertex by lia; destruct (Nat.ltb_spec c c); lia).
    destruct (Lab_zero v c G Hc Z) as [L Zl]. destruct (Nat.eq_dec (lab v) c) as [|Ne]; auto.
    unfold v in Zl at 1. rewrite start_vertex in Zl by lia. destruct (Nat.ltb_spec (lab v) c); lia.
  - unfold start. destruct n as [|m] eqn:E; [lia|]. rewrite <- E in *.
    assert (Es : seq 0 n = seq 0 m ++ [m]) by (rewrite E; apply seq_S). rewrite Es, through_last, nth_repeat_zero. reflexivity.
Qed.
Lemma only_start t : In t doors -> through t = t -> t = start.
Proof.
  destruct t as [[b s] k]. intros I F. apply in_doors in I. destruct I as [V D]. pose proof V as [B1 B2 S1 Nd S2 Hk].
  destruct k as [|k].
  - exfalso. destruct s as [|x r]; [simpl in S1; lia|]. assert (Hx : x < n) by (apply S2; left; auto).
    rewrite through_first in F. destruct (Nat.ltb_spec (S (nth x b 0)) p) as [L|L]; [inversion F; lia|].
    pose proof (corner_below _ _ _ x V Hx). destruct (D x Hx) as (j & Hj & Nj & E).
    apply (Lab_top (vertex b (x :: r) j) x); auto; [apply (vertex_grid _ _ _ _ V)|]. unfold vertex.
    destruct j as [|j]; [lia|]. rewrite one_in by (left; auto). lia.
  - destruct (Nat.eq_dec (S k) n) as [En|En].
    + destruct (exists_last (l := s)) as (r & x & Es); [intros ->; simpl in S1; lia|]. subst s. rewrite En in *.
      assert (Hx : x < n) by (apply S2; apply in_app_iff; right; left; auto).
      rewrite through_last in F. destruct (Nat.ltb_spec 0 (nth x b 0)) as [L|L]; [inversion F; lia|]. clear F.
      set (s := r ++ [x]) in *. set (v := fun j => vertex b s j).
      assert (Gr : forall j, on_grid (v j)) by (intros j; apply (vertex_grid _ _ _ _ V)).
      (* coordinate x grows last *)
      assert (Zx : forall j, j < n -> v j x = 0).
      { intros j Hj. unfold v, vertex. rewrite one_out; [lia|]. pose proof S1 as Lr. unfold s in Lr |- *. rewrite app_length in Lr. simpl in Lr.
        rewrite firstn_app. replace (j - length r) with 0 by lia. rewrite firstn_O, app_nil_r. intros I.
        pose proof Nd as Nd'. unfold s in Nd'. apply NoDup_remove in Nd'. rewrite app_nil_r in Nd'. destruct Nd' as [_ Nx].
        apply Nx. rewrite <- (firstn_skipn j r). apply in_app_iff. auto. }
      assert (Zl : forall j, j < n -> v j (lab (v j)) = 0 /\ lab (v j) < n).
      { intros j Hj. destruct (Lab_zero (v j) x (Gr j) Hx (Zx j Hj)). split; auto. lia. }
      assert (Up : forall j i c, j <= i -> v j c <= v i c).
      { intros j i c Hji. unfold v, vertex. apply Nat.add_le_mono_l. unfold one.
        destruct (in_dec Nat.eq_dec c (firstn j s)) as [Ij|]; [|lia]. destruct (in_dec Nat.eq_dec c (firstn i s)) as [|Ni]; [lia|].
        exfalso. apply Ni. replace i with (j + (i - j)) by lia. rewrite <- (firstn_skipn j s) at 1. rewrite firstn_app.
        apply in_app_iff. left. rewrite firstn_firstn. replace (Nat.min _ _) with j by lia. exact Ij. }
      assert (Mono : forall j i, j <= i -> i < n -> lab (v j) <= lab (v i)).
      { intros j i Hji Hi. destruct (Zl i Hi) as [Z Lt]. apply (Lab_zero (v j)); auto. specialize (Up j i (lab (v i)) Hji). lia. }
      assert (Id : forall j, j < n -> lab (v j) = j).
      { intros j. induction j as [j IH] using lt_wf_ind. intros Hj. destruct (D j Hj) as (i & Hi & Ni & E). fold (v i) in E.
        assert (Hij : j <= i).
        { destruct (Nat.le_gt_cases j i); auto. rewrite (IH i) in E by lia. lia. }
        pose proof (Mono j i Hij ltac:(lia)) as Le. destruct (Nat.eq_dec (lab (v j)) j) as [|Ne]; auto. exfalso.
        assert (Lt : lab (v j) < j) by lia. apply Ne. symmetry.
        apply (labels_differ b s n j (lab (v j))); auto; try lia. change (lab (v j) = lab (v (lab (v j)))). rewrite (IH (lab (v j))); lia. }
      assert (Zd : forall j, j < n -> v j j = 0) by (intros j Hj; destruct (Zl j Hj) as [Z _]; rewrite (Id j Hj) in Z; exact Z).
      assert (Zb : forall j, j < n -> nth j b 0 = 0) by (intros j Hj; specialize (Zd j Hj); unfold v, vertex in Zd; lia).
      assert (Eb : b = repeat 0 n).
      { apply (nth_ext _ _ 0 0); [rewrite repeat_length; auto|]. intros c Hc. rewrite nth_repeat_zero. apply Zb. lia. }
      assert (Es : s = seq 0 n).
      { apply (nth_ext _ _ 0 0); [rewrite seq_length; auto|]. intros j Hj. rewrite S1 in Hj. rewrite seq_nth by auto. simpl.
        assert (Out : ~ In j (firstn j s)).
        { intros I. specialize (Zd j Hj). unfold v, vertex in Zd. rewrite one_in in Zd by auto. lia. }
        assert (In_ : In j (firstn (S j) s)).
        { destruct (Nat.eq_dec (S j) n) as [E|Ne]; [rewrite E, <- S1, firstn_all; apply (all_in _ _ _ j V Hj)|].
          destruct (in_dec Nat.eq_dec j (firstn (S j) s)) as [|Ni]; auto. exfalso.
          assert (Z : v (S j) j = 0) by (unfold v, vertex; rewrite (one_out j (firstn (S j) s)), Zb; auto).
          destruct (Lab_zero (v (S j)) j (Gr (S j)) Hj Z) as [L' _]. rewrite (Id (S j)) in L'; lia. }
        assert (Sp : firstn (S j) s = firstn j s ++ [nth j s 0]).
        { clear - Hj S1. revert j Hj. rewrite <- S1. clear S1. generalize s. intros l. induction l as [|a l IH]; intros j Hj; simpl in Hj; [lia|].
          destruct j as [|j]; [reflexivity|]. simpl. f_equal. apply (IH j). lia. }
        rewrite Sp in In_. apply in_app_iff in In_. destruct In_ as [I|[I|[]]]; [contradiction|exact I]. }
      unfold start. rewrite Eb, Es. reflexivity.
    + exfalso. rewrite through_inner in F by auto. inversion F as [F']. assert (Lk : S k < length s) by lia.
      pose proof (split_two k s Lk) as Es. unfold swap in F'. rewrite Es in F' at 5.
      apply app_inv_head in F'. inversion F' as [[E1 E2]].
      assert (k = S k); [|lia]. apply (NoDup_nth s 0); auto; lia.
Qed.

Theorem some_cell_has_all_labels : exists b s, valid b s n /\
  forall l, l <= n -> exists j, j <= n /\ lab (vertex b s j) = l.
Proof.
  pose proof (parity cell cell_dec through (length doors) doors (le_n _) doors_nodup through_doors) as Pt.
  pose proof (parity cell cell_dec within (length doors) doors (le_n _) doors_nodup within_doors) as Pw.
  set (ft := filter (fun a => if cell_dec (through a) a then true else false) doors) in *.
  set (fw := filter (fun a => if cell_dec (within a) a then true else false) doors) in *.
  assert (L1 : length ft = 1).
  { assert (I : incl ft [start]).
    { intros t It. unfold ft in It. apply filter_In in It. destruct It as [It E]. destruct (cell_dec (through t) t); [|discriminate].
      left. symmetry. apply only_start; auto. }
    assert (Nf : NoDup ft) by (apply NoDup_filter, doors_nodup). apply NoDup_incl_length in I; auto. simpl in I.
    destruct start_door as [S1 S2]. assert (J : In start ft).
    { apply filter_In. split; auto. destruct (cell_dec (through start) start); auto. }
    destruct ft; [contradiction|simpl in *; lia]. }
  rewrite L1 in Pt. rewrite Pt in Pw. destruct fw as [|[[b s] k] fw'] eqn:Ef; [discriminate|].
  assert (I : In (b, s, k) fw) by (rewrite Ef; left; reflexivity). unfold fw in I. apply filter_In in I. destruct I as [I E].
  destruct (cell_dec (within (b, s, k)) (b, s, k)) as [Ew|]; [|discriminate]. apply in_doors in I. destruct I as [V D].
  pose proof (v_k _ _ _ V) as Hk. exists b, s. split; [destruct V; constructor; auto|].
  assert (Lk : lab (vertex b s k) = n).
  { pose proof (Lab_le _ (vertex_grid b s k k V)) as Le. destruct (Nat.eq_dec (lab (vertex b s k)) n) as [|Ne]; auto. exfalso.
    destruct (D (lab (vertex b s k)) ltac:(lia)) as (j & Hj & Nj & Ej). unfold within in Ew. inversion Ew as [Eo].
    destruct (other_cases b s k) as [[_ H]|(_ & H & _)]; [apply (H j); auto|auto]. }
  intros l Hl. destruct (Nat.eq_dec l n) as [->|Ne]; [exists k; auto|].
  destruct (D l ltac:(lia)) as (j & Hj & _ & Ej). exists j. auto.
Qed.
End Kuhn.
