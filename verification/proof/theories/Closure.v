(** Formulas: conjunctions and disjunctions of linear inequalities. A formula that holds up to every eps > 0 holds
    exactly at some point. A formula that holds at a point holds up to eps at all nearby points. *)
From Coq Require Import QArith Qabs Qfield Arith Bool List Lia Lqa Setoid.
From Evenhand Require Import Spec Arithmetic Duality.
Import ListNotations.
Open Scope Q_scope.

Inductive formula := Yes | No | Holds (c : row) | And (f g : formula) | Or (f g : formula).
Fixpoint all_of (n : nat) (f : nat -> formula) : formula := match n with O => Yes | S k => And (all_of k f) (f k) end.
Fixpoint any_of (n : nat) (f : nat -> formula) : formula := match n with O => No | S k => Or (any_of k f) (f k) end.

Section On.
Variable n : nat.
Fixpoint sat (e : Q) (z : nat -> Q) (f : formula) : Prop :=
  match f with
  | Yes => True
  | No => False
  | Holds c => at_point n (coef c) z <= most c + e
  | And f g => sat e z f /\ sat e z g
  | Or f g => sat e z f \/ sat e z g
  end.
Lemma sat_all e z m f : sat e z (all_of m f) <-> forall k, (k < m)%nat -> sat e z (f k).
Proof.
  induction m; simpl; [split; auto; intros; lia|]. rewrite IHm. split.
  - intros [A B] k Hk. destruct (Nat.eq_dec k m) as [->|]; auto. apply A. lia.
  - intros H. split; [intros; apply H; lia|apply H; lia].
Qed.
Lemma sat_any e z m f : sat e z (any_of m f) <-> exists k, (k < m)%nat /\ sat e z (f k).
Proof.
  induction m; simpl; [split; [contradiction|intros (k & Hk & _); lia]|]. rewrite IHm. split.
  - intros [(k & Hk & A)|A]; [exists k; auto|exists m; auto].
  - intros (k & Hk & A). destruct (Nat.eq_dec k m) as [->|]; auto. left. exists k. split; [lia|auto].
Qed.

(** ** A formula as a choice between systems of inequalities *)
Fixpoint cases (f : formula) : list (list row) :=
  match f with
  | Yes => [[]]
  | No => []
  | Holds c => [[c]]
  | And f g => flat_map (fun C => map (fun D => C ++ D) (cases g)) (cases f)
  | Or f g => cases f ++ cases g
  end.
Definition nearly (e : Q) (z : nat -> Q) (C : list row) : Prop := forall c, In c C -> at_point n (coef c) z <= most c + e.
Lemma sat_cases e z f : sat e z f <-> exists C, In C (cases f) /\ nearly e z C.
Proof.
  induction f; simpl.
  - split; auto. intros _. exists []. split; [left; auto|intros c []].
  - split; [contradiction|]. intros (C & [] & _).
  - split.
    + intros H. exists [c]. split; [left; auto|]. intros d [<-|[]]. exact H.
    + intros (C & [<-|[]] & H). apply H. left. auto.
  - rewrite IHf1, IHf2. split.
    + intros [(C & IC & HC) (D & ID & HD)]. exists (C ++ D). split.
      * apply in_flat_map. exists C. split; auto. apply in_map_iff. eauto.
      * intros c I. apply in_app_iff in I. destruct I; auto.
    + intros (E & IE & H). apply in_flat_map in IE. destruct IE as (C & IC & IE). apply in_map_iff in IE.
      destruct IE as (D & <- & ID). split; [exists C|exists D]; split; auto; intros c I; apply H; apply in_app_iff; auto.
  - rewrite IHf1, IHf2. split.
    + intros [(C & I & H)|(C & I & H)]; exists C; split; auto; apply in_app_iff; auto.
    + intros (C & I & H). apply in_app_iff in I. destruct I; [left|right]; eauto.
Qed.

(** ** Formulas that hold up to every eps *)
Lemma follows_nearly C c : follows C c -> exists t, 0 <= t /\ forall e z, nearly e z C -> at_point n (coef c) z <= most c + t * e.
Proof.
  induction 1 as [|c I|c d _ (t & T & A) _ (t' & T' & A')|s c S _ (t & T & A)].
  - exists 0. split; [lra|]. intros e z _. unfold at_point. simpl. rewrite sum_zero by (intros; ring). lra.
  - exists 1. split; [lra|]. intros e z Hn. specialize (Hn c I). lra.
  - exists (t + t'). split; [lra|]. intros e z Hn. specialize (A e z Hn). specialize (A' e z Hn). rewrite at_both. simpl. lra.
  - exists (s * t). split; [apply prod_nonneg; auto|]. intros e z Hn. specialize (A e z Hn). rewrite at_times. simpl.
    pose proof (prod_le_l _ _ s A S). lra.
Qed.
Lemma solvable_or_far C : (exists z, solves n z C) \/ exists e0, 0 < e0 /\ forall e z, 0 <= e -> e <= e0 -> ~ nearly e z C.
Proof.
  destruct (farkas n C) as [S|(c & F & Z & M)]; [left; auto|right]. destruct (follows_nearly C c F) as (t & T & A).
  assert (E0 : 0 < - most c / (t + 1)) by (apply Qlt_shift_div_l; lra). exists (- most c / (t + 1)). split; [auto|].
  intros e z P0 P1 Hn. specialize (A e z Hn). unfold at_point in A. rewrite sum_zero in A.
  - pose proof (prod_le_l _ _ t P1 T) as L. assert (Q : (t + 1) * (- most c / (t + 1)) == - most c) by (field; lra). lra.
  - intros j Hj. rewrite Z by auto. ring.
Qed.
Theorem closure f : (forall e, 0 < e -> exists z, sat e z f) -> exists z, sat 0 z f.
Proof.
  intros H. assert (G : forall L, (exists C z, In C L /\ solves n z C) \/
    exists e0, 0 < e0 /\ forall C e z, In C L -> 0 <= e -> e <= e0 -> ~ nearly e z C).
  { induction L as [|C L IH]; [right; exists 1; split; [lra|]; intros C e z []|].
    destruct IH as [(D & z & I & S)|(e1 & E1 & F1)]; [left; exists D, z; split; [right|]; auto|].
    destruct (solvable_or_far C) as [(z & S)|(e2 & E2 & F2)]; [left; exists C, z; split; [left|]; auto|].
    right. exists (smaller e1 e2). split; [minmax; lra|]. intros D e z [<-|I] P0 P1.
    - apply F2; auto. minmax; lra.
    - apply (F1 D); auto. minmax; lra. }
  destruct (G (cases f)) as [(C & z & I & S)|(e0 & E0 & Far)].
  - exists z. apply sat_cases. exists C. split; auto. intros c Ic. specialize (S c Ic). lra.
  - exfalso. destruct (H e0 E0) as (z & S). apply sat_cases in S. destruct S as (C & I & S).
    apply (Far C e0 z I); auto; lra.
Qed.

(** ** Formulas that hold near a point *)
Fixpoint steepness (f : formula) : Q :=
  match f with
  | Yes | No => 0
  | Holds c => sum n (fun j => Qabs (coef c j))
  | And f g | Or f g => steepness f + steepness g
  end.
Lemma steepness_nonneg f : 0 <= steepness f.
Proof. induction f; simpl; try lra. apply sum_nonneg. intros. apply Qabs_nonneg. Qed.
Lemma steepness_all m f k : (k < m)%nat -> steepness (f k) <= steepness (all_of m f).
Proof.
  induction m; intros Hk; [lia|]. simpl. destruct (Nat.eq_dec k m) as [->|].
  - pose proof (steepness_nonneg (all_of m f)). lra.
  - pose proof (steepness_nonneg (f m)). specialize (IHm ltac:(lia)). lra.
Qed.
Lemma abs_prod a d mu : d <= mu -> - mu <= d -> a * d <= Qabs a * mu.
Proof.
  intros A B. apply Qle_trans with (Qabs (a * d)); [apply Qle_Qabs|]. rewrite Qabs_Qmult. apply prod_le_l; [|apply Qabs_nonneg].
  apply Qabs_Qle_condition. split; lra.
Qed.
Lemma sat_near f e z y mu : 0 <= mu -> (forall j, (j < n)%nat -> z j <= y j + mu /\ y j <= z j + mu) -> sat 0 y f ->
  steepness f * mu <= e -> sat e z f.
Proof.
  intros M0 Near. induction f; simpl; auto.
  - intros S B. assert (L : at_point n (coef c) z <= at_point n (coef c) y + sum n (fun j => Qabs (coef c j)) * mu).
    { unfold at_point. rewrite <- sum_scale_r, <- sum_add. apply sum_le. intros j Hj. destruct (Near j Hj) as [A C].
      pose proof (abs_prod (coef c j) (z j - y j) mu ltac:(lra) ltac:(lra)). lra. }
    lra.
  - intros [A C] B. pose proof (prod_nonneg _ _ (steepness_nonneg f1) M0). pose proof (prod_nonneg _ _ (steepness_nonneg f2) M0).
    split; [apply IHf1|apply IHf2]; auto; lra.
  - intros H B. pose proof (prod_nonneg _ _ (steepness_nonneg f1) M0). pose proof (prod_nonneg _ _ (steepness_nonneg f2) M0).
    destruct H as [A|A]; [left; apply IHf1|right; apply IHf2]; auto; lra.
Qed.
End On.

(** * Linear terms in formulas *)
Inductive term := Var (k : nat) | Const (q : Q) | Plus (a b : term) | Times (q : Q) (a : term) | Sum (n : nat) (f : nat -> term).
Fixpoint value_at (z : nat -> Q) (a : term) : Q :=
  match a with
  | Var k => z k
  | Const q => q
  | Plus a b => value_at z a + value_at z b
  | Times q a => q * value_at z a
  | Sum n f => sum n (fun k => value_at z (f k))
  end.
Section Terms.
Variable n : nat.
(** The term uses only the variables 0, ..., n - 1. *)
Fixpoint over (a : term) : Prop :=
  match a with
  | Var k => (k < n)%nat
  | Const q => True
  | Plus a b => over a /\ over b
  | Times _ a => over a
  | Sum m f => forall k, (k < m)%nat -> over (f k)
  end.
Fixpoint factor (a : term) (j : nat) : Q :=
  match a with
  | Var k => if Nat.eqb j k then 1 else 0
  | Const _ => 0
  | Plus a b => factor a j + factor b j
  | Times q a => q * factor a j
  | Sum m f => sum m (fun k => factor (f k) j)
  end.
Fixpoint constant (a : term) : Q :=
  match a with
  | Var _ => 0
  | Const q => q
  | Plus a b => constant a + constant b
  | Times q a => q * constant a
  | Sum m f => sum m (fun k => constant (f k))
  end.
Lemma value_of_factors z a : over a -> at_point n (factor a) z + constant a == value_at z a.
Proof.
  induction a as [k|q|a IHa b IHb|q a IHa|m f IHf]; simpl; intros O.
  - unfold at_point. rewrite (sum_single n _ k); auto.
    + simpl. rewrite Nat.eqb_refl. ring.
    + intros j _ Ne. simpl. apply Nat.eqb_neq in Ne. rewrite Ne. ring.
  - unfold at_point. simpl. rewrite sum_zero by (intros; ring). ring.
  - destruct O as [Oa Ob]. rewrite <- IHa, <- IHb by auto. unfold at_point. simpl.
    rewrite (sum_ext n _ (fun j => factor a j * z j + factor b j * z j)) by (intros; ring). rewrite sum_add. ring.
  - rewrite <- IHa by auto. unfold at_point. simpl. rewrite (sum_ext n _ (fun j => q * (factor a j * z j))) by (intros; ring).
    rewrite sum_scale. ring.
  - transitivity (sum m (fun k => at_point n (factor (f k)) z + constant (f k))); [|apply sum_ext; auto].
    rewrite sum_add. apply Qplus_comp; [|reflexivity]. unfold at_point. simpl. rewrite sum_swap. apply sum_ext. intros j _.
    rewrite sum_scale_r. reflexivity.
Qed.
(** The term a is at most 0. *)
Definition negative (a : term) : formula := Holds {| coef := factor a; most := - constant a |}.
Lemma sat_negative e z a : over a -> sat n e z (negative a) <-> value_at z a <= e.
Proof. intros O. pose proof (value_of_factors z a O). unfold negative. simpl. split; intros; lra. Qed.
End Terms.
