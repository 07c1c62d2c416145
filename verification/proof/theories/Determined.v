(** Proves that the problem determines everything that Spec.v derives from it. Two statements of the same problem and
    allocation therefore agree on the truth of every claim. *)
From Coq Require Import QArith Qabs Qfield Arith Bool List Lia Lqa Setoid Morphisms.
From Evenhand Require Import Spec Arithmetic Repair Bundle Placed Certificate Groups Within Judge Parties Filled Roots.
From Evenhand Require Turn Process Stopped.
Open Scope Q_scope.

(** Both problems state the same data. [alone] is left out, because [well_formed] determines it. *)
Record same_problem (P Q : problem) : Prop := {
  s_users : users P = users Q;
  s_classes : classes P = classes Q;
  s_resources : resources P = resources Q;
  s_weight : forall n, (n < users P)%nat -> weight P n == weight Q n;
  s_count : forall i, (i < classes P)%nat -> count P i == count Q i;
  s_capacity : forall i r, (i < classes P)%nat -> (r < resources P)%nat -> capacity P i r == capacity Q i r;
  s_base : forall n r, (n < users P)%nat -> (r < resources P)%nat -> base P n r == base Q n r;
  s_demand : forall n i r, (n < users P)%nat -> (i < classes P)%nat -> (r < resources P)%nat ->
    demand P n i r == demand Q n i r;
  s_limit : forall n, (n < users P)%nat -> alike (limit P n) (limit Q n);
  s_gang : forall n, (n < users P)%nat -> gang P n == gang Q n;
  s_allowed : forall n i, (n < users P)%nat -> (i < classes P)%nat -> allowed P n i = allowed Q n i;
  s_stated : forall n i, (n < users P)%nat -> (i < classes P)%nat -> alike (stated P n i) (stated Q n i);
  s_criterion : forall n i, (n < users P)%nat -> (i < classes P)%nat -> alike (criterion P n i) (criterion Q n i);
  s_timed : forall i, (i < classes P)%nat -> timed P i = timed Q i }.
(** Both allocations have the same entries for all users and classes of P. *)
Definition agree (P : problem) (x y : allocation) : Prop :=
  forall n i, (n < users P)%nat -> (i < classes P)%nat -> x n i == y n i.

Lemma alike_sym a b : alike a b -> alike b a.
Proof. destruct a, b; simpl; auto. intros E. symmetry. exact E. Qed.
Lemma same_sym P Q : same_problem P Q -> same_problem Q P.
Proof.
  intros S. pose proof (s_users _ _ S) as eu. pose proof (s_classes _ _ S) as ec. pose proof (s_resources _ _ S) as er.
  destruct S. constructor; rewrite <- ?eu, <- ?ec, <- ?er; auto; intros; try (apply alike_sym; auto); symmetry; auto.
Qed.
Lemma agree_sym P Q x y : same_problem P Q -> agree P x y -> agree Q y x.
Proof. intros [eu ec _ _ _ _ _ _ _ _ _ _ _ _] E n i. rewrite <- eu, <- ec. intros. symmetry. auto. Qed.
Lemma lt_same a b c d : a == c -> b == d -> lt a b = lt c d.
Proof. apply lt_ext. Qed.
Lemma inv_same a b : a == b -> / a == / b.
Proof. intros E. rewrite E. reflexivity. Qed.
Lemma quo_same a b c d : a == c -> b == d -> a / b == c / d.
Proof. intros E F. rewrite E, F. reflexivity. Qed.
Lemma prod_same a b c d : a == c -> b == d -> a * b == c * d.
Proof. intros E F. rewrite E, F. reflexivity. Qed.
Lemma sub_same a b c d : a == c -> b == d -> a - b == c - d.
Proof. intros E F. rewrite E, F. reflexivity. Qed.

(** * Derived quantities *)
(** The number of tasks that a user runs alone is unique. *)
Theorem alone_unique P n i a b : is_alone P n i a -> is_alone P n i b -> a == b.
Proof.
  unfold is_alone. destruct (stated P n i); [intros A B; rewrite A, B; reflexivity|].
  assert (One : forall a b, (forall r, (r < resources P)%nat -> a * demand P n i r <= count P i * capacity P i r) ->
    (exists r, (r < resources P)%nat /\ 0 < demand P n i r /\ b * demand P n i r == count P i * capacity P i r) -> a <= b).
  { intros c d A (r & Hr & D & B). specialize (A r Hr). rewrite <- B in A.
    apply Qnot_lt_le. intros L. assert (0 < (c - d) * demand P n i r) by (apply Qmult_lt_0_compat; lra). lra. }
  assert (None_tight : (forall r, (r < resources P)%nat -> demand P n i r == 0) ->
    forall c, ~ exists r, (r < resources P)%nat /\ 0 < demand P n i r /\ c * demand P n i r == count P i * capacity P i r).
  { intros Z c (r & Hr & D & _). rewrite (Z r Hr) in D. lra. }
  intros [A1 [A2|(_ & A2 & A3)]] [B1 [B2|(_ & B2 & B3)]].
  - apply Qle_antisym; auto.
  - destruct (None_tight B3 a A2).
  - destruct (None_tight A3 b B2).
  - rewrite A2, B2. reflexivity.
Qed.

Section Derived.
Variables P Q : problem.
Hypothesis W : well_formed P.
Hypothesis V : well_formed Q.
Hypothesis S : same_problem P Q.
Notation N := (users P). Notation K := (classes P). Notation M := (resources P).
Let eu := s_users _ _ S. Let ec := s_classes _ _ S. Let er := s_resources _ _ S.
Ltac ranges := rewrite <- ?eu, <- ?ec, <- ?er in *.

Lemma cluster_same i r : (i < K)%nat -> (r < M)%nat -> count P i * capacity P i r == count Q i * capacity Q i r.
Proof. intros. apply prod_same; [apply (s_count _ _ S)|apply (s_capacity _ _ S)]; auto. Qed.
Lemma is_alone_same n i a : (n < N)%nat -> (i < K)%nat -> is_alone Q n i a -> is_alone P n i a.
Proof.
  intros Hn Hi. unfold is_alone. pose proof (s_stated _ _ S n i Hn Hi) as St.
  destruct (stated P n i), (stated Q n i); simpl in St; try contradiction; [intros A; rewrite A, St; reflexivity|].
  ranges. intros [A B]. split.
  - intros r Hr. rewrite (s_demand _ _ S), cluster_same by auto. auto.
  - destruct B as [(r & Hr & D & E)|(D & E & Z)]; [left; exists r|right].
    + rewrite (s_demand _ _ S), cluster_same by auto. auto.
    + rewrite (s_allowed _ _ S) by auto. repeat split; auto. intros r Hr. rewrite (s_demand _ _ S) by auto. auto.
Qed.
Theorem alone_same n i : (n < N)%nat -> (i < K)%nat -> alone P n i == alone Q n i.
Proof.
  intros Hn Hi. apply (alone_unique P n i); [apply (alone_is P W); auto|]. apply is_alone_same; auto.
  apply (alone_is Q V); rewrite <- ?eu, <- ?ec; auto.
Qed.
Theorem gamma_same n i : (n < N)%nat -> (i < K)%nat -> gamma P n i == gamma Q n i.
Proof. intros. unfold gamma. rewrite (s_allowed _ _ S) by auto. destruct (allowed Q n i); [apply alone_same; auto|reflexivity]. Qed.
Theorem full_same i r : (i < K)%nat -> (r < M)%nat -> full P i r == full Q i r.
Proof.
  intros. unfold full. rewrite (s_timed _ _ S) by auto.
  destruct (timed Q i); [destruct r; reflexivity|apply cluster_same; auto].
Qed.
Theorem takes_same n i r : (n < N)%nat -> (i < K)%nat -> (r < M)%nat -> takes P n i r == takes Q n i r.
Proof.
  intros. unfold takes. rewrite (s_timed _ _ S) by auto.
  destruct (timed Q i); [destruct r; [apply inv_same, gamma_same; auto|reflexivity]|apply (s_demand _ _ S); auto].
Qed.
Theorem g_same n : (n < N)%nat -> g P n == g Q n.
Proof.
  intros Hn. unfold g. pose proof (s_limit _ _ S n Hn) as L.
  assert (E : sum K (gamma P n) == sum (classes Q) (gamma Q n)).
  { rewrite <- ec. apply sum_ext. intros. apply gamma_same; auto. }
  destruct (limit P n), (limit Q n); simpl in L; try contradiction; auto. apply smaller_ext; auto.
Qed.
Theorem active_same n : (n < N)%nat -> active P n = active Q n.
Proof. intros. apply lt_same; [reflexivity|apply g_same; auto]. Qed.
Lemma user_same n : user P n <-> user Q n.
Proof.
  unfold user. rewrite <- eu. split; intros [A B]; split; auto; rewrite active_same in *; auto.
Qed.
Lemma lt_gamma n i : (n < N)%nat -> (i < K)%nat -> lt 0 (gamma P n i) = lt 0 (gamma Q n i).
Proof. intros. apply lt_same; [reflexivity|apply gamma_same; auto]. Qed.
Theorem weights_same : sum N (fun m => if active P m then weight P m else 0) ==
  sum (users Q) (fun m => if active Q m then weight Q m else 0).
Proof.
  rewrite <- eu. apply sum_ext. intros k Hk. rewrite active_same by auto.
  destruct (active Q k); [apply (s_weight _ _ S); auto|reflexivity].
Qed.
Theorem entitlement_same n : (n < N)%nat -> entitlement P n == entitlement Q n.
Proof. intros. apply quo_same; [apply (s_weight _ _ S); auto|apply weights_same]. Qed.
Theorem total_same r : (r < M)%nat -> total P r == total Q r.
Proof. intros. unfold total. rewrite <- ec. apply sum_ext. intros. apply cluster_same; auto. Qed.
Lemma within_same n t u : (n < N)%nat -> t == u -> within_limit P n t <-> within_limit Q n u.
Proof.
  intros Hn E. unfold within_limit. pose proof (s_limit _ _ S n Hn) as L.
  destruct (limit P n), (limit Q n); simpl in L; try contradiction; [rewrite L, E|]; reflexivity.
Qed.
Lemma limit_same n T : (n < N)%nat -> limit P n = Some T -> exists T', limit Q n = Some T' /\ T == T'.
Proof.
  intros Hn E. pose proof (s_limit _ _ S n Hn) as L. rewrite E in L. destruct (limit Q n) as [T'|]; [|contradiction].
  exists T'. auto.
Qed.
Lemma unit_same n : (n < N)%nat -> unit_of P n == unit_of Q n.
Proof. intros. unfold unit_of. rewrite active_same by auto. destruct (active Q n); [apply g_same; auto|reflexivity]. Qed.
Lemma one_same i r : (i < K)%nat -> (r < M)%nat -> row_of_one P i r == row_of_one Q i r.
Proof. intros. apply quo_same; [apply full_same|apply (s_count _ _ S)]; auto. Qed.
Theorem worth_same s n i : (n < N)%nat -> (i < K)%nat -> match s with Resource r => (r < M)%nat | _ => True end ->
  worth P s n i == worth Q s n i.
Proof.
  intros Hn Hi Hr. destruct s; simpl.
  - rewrite <- er. apply greatest_ext. intros. apply quo_same; [apply (s_base _ _ S)|apply total_same]; auto.
  - apply inv_same. rewrite <- ec. apply sum_ext. intros. apply gamma_same; auto.
  - apply inv_same. rewrite <- ec. apply sum_ext. intros. apply alone_same; auto.
  - rewrite <- er. apply sum_ext. intros. apply quo_same; [apply (s_base _ _ S)|apply total_same]; auto.
  - pose proof (s_criterion _ _ S n i Hn Hi) as L. destruct (criterion P n i), (criterion Q n i); simpl in L; try contradiction;
      [exact L|reflexivity].
  - apply quo_same; [apply (s_demand _ _ S)|apply total_same]; auto.
Qed.

(** ** Quantities of an allocation *)
Section Of.
Variables x y : allocation.
Hypothesis E : agree P x y.
Lemma tasks_same n : (n < N)%nat -> tasks P x n == tasks Q y n.
Proof. intros. unfold tasks. rewrite <- ec. apply sum_ext. intros. apply E; auto. Qed.
Lemma load_same i r : (i < K)%nat -> (r < M)%nat -> load P x i r == load Q y i r.
Proof. intros. unfold load. rewrite <- eu. apply sum_ext. intros. apply prod_same; [apply E|apply takes_same]; auto. Qed.
Lemma slack_same i r : (i < K)%nat -> (r < M)%nat -> slack P x i r == slack Q y i r.
Proof. intros. apply sub_same; [apply full_same|apply load_same]; auto. Qed.
Lemma counts_same n i : (n < N)%nat -> (i < K)%nat -> counts P x n i = counts Q y n i.
Proof.
  intros. unfold counts. rewrite active_same, lt_gamma by auto. f_equal. apply lt_same; [reflexivity|apply E; auto].
Qed.
Lemma kept_same : agree P (kept P x) (kept Q y).
Proof. intros n i Hn Hi. unfold kept. rewrite counts_same by auto. destruct (counts Q y n i); [apply E; auto|reflexivity]. Qed.
End Of.
Lemma cut_same x y : agree P x y -> agree P (cut P x) (cut Q y).
Proof.
  intros E n i Hn Hi. unfold cut. pose proof (s_limit _ _ S n Hn) as L. pose proof (kept_same x y E) as Kp.
  pose proof (tasks_same _ _ Kp n Hn) as Tk. pose proof (Kp n i Hn Hi) as Ki.
  destruct (limit P n) as [T|], (limit Q n) as [T'|]; simpl in L; try contradiction; auto.
  rewrite (lt_same T _ T' (tasks Q (kept Q y) n)) by auto. destruct (lt _ _); auto.
  apply prod_same; auto. apply quo_same; auto.
Qed.
Theorem repaired_same_x x y : agree P x y -> agree P (repaired P x) (repaired Q y).
Proof.
  intros E n i Hn Hi. pose proof (cut_same x y E) as Ct. apply quo_same; [apply Ct; auto|].
  unfold crowd. apply larger_ext; [reflexivity|]. rewrite <- er. apply greatest_ext. intros r Hr.
  apply quo_same; [apply load_same|apply full_same]; auto.
Qed.
Lemma feasible_same x y : agree P x y -> feasible P x -> feasible Q y.
Proof.
  intros E F. constructor; ranges.
  - intros n i Hn Hi. rewrite <- (E n i Hn Hi). apply (f_nonneg P x F); auto.
  - intros n i Hn Hi G. rewrite <- (E n i Hn Hi). apply (f_can P x F); auto. rewrite gamma_same; auto.
  - intros i r Hi Hr. rewrite <- (load_same x y E), <- full_same by auto. apply (f_rows P x F); auto.
  - intros n Hn. apply (within_same n (tasks P x n)); [auto|apply tasks_same; auto|apply (f_limit P x F); auto].
Qed.
Lemma runs_same n b c z : (n < N)%nat -> (forall i r, (i < K)%nat -> (r < M)%nat -> b i r == c i r) ->
  runs P n b z -> runs Q n c z.
Proof.
  intros Hn E R. constructor; ranges.
  - apply (r_nonneg _ _ _ _ R).
  - intros i Hi G. apply (r_can _ _ _ _ R); auto. rewrite gamma_same; auto.
  - intros i r Hi Hr. rewrite <- E, <- takes_same by auto. apply (r_fits _ _ _ _ R); auto.
Qed.
Lemma share_same u v x y n : (n < N)%nat -> agree P u v -> agree P x y -> share P u x n == share Q v y n.
Proof.
  intros Hn Eu E. apply quo_same; [|apply (s_weight _ _ S); auto]. rewrite <- ec. apply sum_ext. intros.
  apply prod_same; auto.
Qed.
Lemma value_same u v x y n : (n < N)%nat -> agree P u v -> agree P x y -> value P u x n == value Q v y n.
Proof. intros Hn Eu E. unfold value. rewrite <- ec. apply sum_ext. intros. apply prod_same; auto. Qed.
Lemma free_same l s r : (class_of l s < K)%nat -> (r < M)%nat -> free P l s r == free Q l s r.
Proof.
  intros. apply sub_same; [apply one_same; auto|]. rewrite <- eu. apply sum_ext. intros.
  apply prod_same; [reflexivity|apply takes_same; auto].
Qed.
Lemma placed_same l x y : agree P x y -> placed P l x -> placed Q l y.
Proof.
  intros E H. constructor; ranges.
  - apply (p_class _ _ _ H).
  - intros i Hi. rewrite <- (s_count _ _ S) by auto. apply (p_count _ _ _ H); auto.
  - intros n i Hn Hi. rewrite <- (E n i) by auto. apply (p_sum _ _ _ H); auto.
Qed.
Lemma fits_same l : (forall s, (s < servers l)%nat -> (class_of l s < K)%nat) -> fits P l -> fits Q l.
Proof.
  intros C H. constructor; ranges.
  - intros s n Hs Hn Ne. rewrite <- active_same, <- gamma_same by auto. apply (l_can _ _ H); auto.
  - intros s r Hs Hr. rewrite <- free_same by auto. apply (l_rows _ _ H); auto.
Qed.
Lemma whole_placing_same l y : whole_placing P l y -> whole_placing Q l y.
Proof.
  intros H. assert (E : agree P y y) by (intros n i _ _; reflexivity). constructor; ranges.
  - apply (placed_same l y y E). apply H.
  - apply fits_same; [apply (p_class _ _ _ (h_placed _ _ _ H))|apply H].
  - apply (h_whole _ _ _ H).
  - intros n Hn. apply (within_same n (tasks P y n)); [auto|apply tasks_same; auto|apply (h_limit _ _ _ H); auto].
Qed.
End Derived.

(** * The axioms *)
(** Both placings list servers of the same classes with the same tasks. *)
Record same_placing (P : problem) (l k : placing) : Prop := {
  m_servers : servers l = servers k;
  m_class : forall s, (s < servers l)%nat -> class_of l s = class_of k s;
  m_on : forall s n, (s < servers l)%nat -> (n < users P)%nat -> on_server l s n == on_server k s n }.

Section Same_axioms.
Variables P Q : problem.
Hypothesis W : well_formed P.
Hypothesis V : well_formed Q.
Hypothesis S : same_problem P Q.
Notation N := (users P). Notation K := (classes P). Notation M := (resources P).
Let eu := s_users _ _ S. Let ec := s_classes _ _ S. Let er := s_resources _ _ S.
Ltac ranges := rewrite <- ?eu, <- ?ec, <- ?er in *.
Let B := same_sym _ _ S.
Variables x y : allocation.
Hypothesis E : agree P x y.
Let user_iff := user_same P Q W V S.
Let gamma_is := gamma_same P Q W V S. Let takes_are := takes_same P Q W V S. Let full_is := full_same P Q S.
Let g_is := g_same P Q W V S. Let tasks_are := tasks_same P Q S x y E. Let slack_is := slack_same P Q W V S x y E.
Let weight_is := s_weight _ _ S.

Lemma user_in n : user Q n -> user P n /\ (n < N)%nat.
Proof. intros U. apply user_iff in U. split; [exact U|apply U]. Qed.
(** A feasible allocation of Q is feasible for P. *)
Lemma feasible_back z : feasible Q z -> feasible P z.
Proof. apply feasible_same; auto. intros n i _ _. reflexivity. Qed.
Lemma tasks_any z n : tasks P z n == tasks Q z n.
Proof. unfold tasks. rewrite <- ec. reflexivity. Qed.
Lemma runs_back n b c z : (n < N)%nat -> (forall i r, (i < K)%nat -> (r < M)%nat -> b i r == c i r) ->
  runs Q n c z -> runs P n b z.
Proof.
  intros Hn Eb. apply runs_same; auto; [rewrite <- eu; auto|]. intros i r. rewrite <- ec, <- er. intros. symmetry. auto.
Qed.

Lemma content_same eps n b c : (n < N)%nat -> (forall i r, (i < K)%nat -> (r < M)%nat -> b i r == c i r) ->
  content P eps x n b -> content Q eps y n c.
Proof.
  intros Hn Eb H z R L. rewrite <- ec, <- tasks_are, <- g_is by auto. apply H.
  - apply (runs_back n b c); auto.
  - apply (within_same P Q S n _ (sum (classes Q) z)); auto. rewrite <- ec. reflexivity.
Qed.
Lemma bundle_same n m w v i r : (n < N)%nat -> (m < N)%nat -> (i < K)%nat -> (r < M)%nat -> w i == v i ->
  weight P n / weight P m * (w i * takes P m i r) == weight Q n / weight Q m * (v i * takes Q m i r).
Proof. intros. apply prod_same; [apply quo_same; auto|apply prod_same; auto]. Qed.

Lemma envy_free_same eps : envy_free P eps x -> envy_free Q eps y.
Proof.
  intros H n m Un Um Ne. apply user_in in Un, Um. destruct Un as [Un Hn], Um as [Um Hm].
  apply (content_same eps n (fun i r => weight P n / weight P m * (x m i * takes P m i r))); [auto| |apply H; auto].
  intros. apply (bundle_same n m (x m) (y m)); auto.
Qed.
Lemma ef1_same eps : ef1 P eps x -> ef1 Q eps y.
Proof.
  intros H n m Un Um Ne. apply user_in in Un, Um. destruct Un as [Un Hn], Um as [Um Hm].
  destruct (H n m Un Um Ne) as [A|(j & Hj & One & A)]; [left|right].
  - apply (content_same eps n (fun i r => weight P n / weight P m * (x m i * takes P m i r))); auto.
    intros. apply (bundle_same n m (x m) (y m)); auto.
  - exists j. rewrite <- ec, <- (E m j) by auto. repeat split; auto.
    apply (content_same eps n _ _ Hn) with (2 := A). intros.
    apply (bundle_same n m (fun i => if Nat.eqb i j then x m i - 1 else x m i) (fun i => if Nat.eqb i j then y m i - 1 else y m i)); auto.
    destruct (Nat.eqb i j); [apply sub_same; [apply E; auto|reflexivity]|apply E; auto].
Qed.
Lemma sharing_incentive_same eps : sharing_incentive P eps x -> sharing_incentive Q eps y.
Proof.
  intros H n Un. apply user_in in Un. destruct Un as [Un Hn].
  apply (content_same eps n (fun i r => entitlement P n * full P i r)); [auto| |apply H; auto].
  intros. apply prod_same; [apply entitlement_same; auto|auto].
Qed.
Lemma conserving_among_same eps (f f' : nat -> nat -> nat -> QArith_base.Q) (St St' : nat -> QArith_base.Q -> Prop) :
  (forall n i r, (n < N)%nat -> (i < K)%nat -> (r < M)%nat -> f n i r == f' n i r) -> (forall n z, (n < N)%nat -> St' n z -> St n z) ->
  (forall n z, user P n -> runs P n (f n) z -> within_limit P n (tasks P x n + sum K z) -> St n (sum K z) -> sum K z <= eps * g P n) ->
  forall n z, user Q n -> runs Q n (f' n) z -> within_limit Q n (tasks Q y n + sum (classes Q) z) -> St' n (sum (classes Q) z) ->
    sum (classes Q) z <= eps * g Q n.
Proof.
  intros Ef I H n z Un R L. apply user_in in Un. destruct Un as [Un Hn]. rewrite <- ec, <- g_is by auto. intros A. apply H; auto.
  - apply (runs_back n (f n) (f' n)); auto.
  - apply (within_same P Q S n _ (tasks Q y n + sum (classes Q) z)); auto. rewrite tasks_are by auto. try rewrite <- ec. try reflexivity.
Qed.
Lemma work_conserving_same eps : work_conserving P eps x -> work_conserving Q eps y.
Proof.
  intros H n z Un R L. apply (conserving_among_same eps (fun _ => slack P x) (fun _ => slack Q y) (fun _ _ => True) (fun _ _ => True)); auto.
Qed.
(** The possible allocations of both problems. Each possible allocation of Q is also possible for P. *)
Section Among.
Variables poP poQ : allocation -> Prop.
Hypothesis back : forall z, poQ z -> poP z.
Lemma pareto_optimal_same eps : pareto_optimal_among P poP eps x -> pareto_optimal_among Q poQ eps y.
Proof.
  intros H z Z D. rewrite <- eu. rewrite (sum_ext N _ (fun n => if active P n then (tasks P z n - tasks P x n) / g P n else 0)).
  - apply H; [apply back; auto|]. intros n U. assert (Hn : (n < N)%nat) by apply U.
    rewrite tasks_are, tasks_any by auto. apply D. apply user_iff. auto.
  - intros n Hn. rewrite (active_same P Q W V S n Hn). destruct (active Q n); [|reflexivity].
    apply quo_same; [apply sub_same; [symmetry; apply tasks_any|symmetry; auto]|symmetry; auto].
Qed.
Lemma whole_same a b : a == b -> whole a -> whole b.
Proof. intros A [z Z]. exists z. rewrite <- A. exact Z. Qed.
Lemma integer_pareto_optimal_same eps : integer_pareto_optimal_among P poP eps x -> integer_pareto_optimal_among Q poQ eps y.
Proof.
  intros [A H]. split; [exact A|]. intros l z Z Pz D (n & U & L). apply user_in in U. destruct U as [U Hn]. apply (H l z).
  - apply (whole_placing_same Q P V W B); auto.
  - apply back. exact Pz.
  - intros k Uk. assert (Hk : (k < N)%nat) by apply Uk. rewrite tasks_are, tasks_any by auto. apply D. apply user_iff. auto.
  - exists n. split; [exact U|]. rewrite tasks_are, tasks_any by auto. exact L.
Qed.

Lemma is_most_same u v n m : (n < N)%nat -> agree P u v -> is_most Q v n m -> is_most P u n m.
Proof.
  intros Hn Eu [H1 (z & Z1 & Z2 & Z3)]. cbv zeta in *.
  assert (Val : forall z, sum K (fun i => u n i * z i) / weight P n == sum (classes Q) (fun i => v n i * z i) / weight Q n).
  { intros t. apply quo_same; auto. rewrite <- ec. apply sum_ext. intros. apply prod_same; [apply Eu; auto|reflexivity]. }
  assert (Wl : forall t, within_limit P n (sum K t) <-> within_limit Q n (sum (classes Q) t)).
  { intros t. apply within_same; auto. rewrite <- ec. reflexivity. }
  split.
  - intros t R L. rewrite Val. apply H1; [|apply Wl; auto]. apply (runs_same P Q W V S n (full P)); auto.
  - exists z. split; [apply (runs_back n (full P) (full Q)); auto|]. split; [apply Wl; auto|]. rewrite Val. exact Z3.
Qed.
Lemma max_min_same u v eps : agree P u v -> max_min_among P poP u eps x -> max_min_among Q poQ v eps y.
Proof.
  intros Eu H n z L m U Z Mo Pm Up Keep. apply user_in in U. destruct U as [U Hn].
  assert (Zz : agree P z z) by (intros ? ? _ _; reflexivity).
  assert (Sx : forall k, (k < N)%nat -> share P u x k == share Q v y k) by (intros; apply share_same; auto).
  assert (Sz : forall k, (k < N)%nat -> share P u z k == share Q v z k) by (intros; apply share_same; auto).
  rewrite <- Sx by auto. apply (H n z); auto.
  - apply (is_most_same u v); auto.
  - rewrite Sz by auto. exact Up.
  - intros k Uk Ne. assert (Hk : (k < N)%nat) by apply Uk. rewrite Sz by auto.
    rewrite (smaller_ext (share P u x k) L (share Q v y k) L); [|auto|reflexivity]. apply Keep; auto. apply user_iff. auto.
Qed.
Lemma max_min_named_same s eps : match s with Resource r => (r < M)%nat | _ => True end ->
  max_min_among P poP (worth P s) eps x -> max_min_among Q poQ (worth Q s) eps y.
Proof. intros Hs. apply max_min_same. intros n i Hn Hi. apply worth_same; auto. Qed.
End Among.
Lemma dominates_same d e c f r : (r < M)%nat -> (forall h, (h < M)%nat -> d h == e h) -> (forall h, (h < M)%nat -> c h == f h) ->
  dominates P d c r -> dominates Q e f r.
Proof.
  intros Hr D C (A1 & A2 & A3). rewrite D in A1 by auto. rewrite C in A2 by auto. repeat split; auto. ranges.
  intros h Hh F. rewrite <- C in F by auto. specialize (A3 h Hh F). rewrite <- !D, <- !C by auto. exact A3.
Qed.
Lemma is_bottleneck_same k r : is_bottleneck P k r -> is_bottleneck Q k r.
Proof.
  intros (Hr & A1 & A2 & A3). split; [rewrite <- er; auto|]. split; [rewrite <- (total_same P Q S) by auto; auto|].
  split.
  - intros n i. ranges. intros Hn Hi. pose proof (s_stated _ _ S n i Hn Hi) as L. rewrite A2 in L by auto.
    destruct (stated Q n i); [contradiction|reflexivity].
  - destruct k.
    + intros n i U. ranges. intros Hi G. apply user_in in U. destruct U as [U Hn]. rewrite <- gamma_is in G by auto.
      apply (dominates_same (demand P n i) (demand Q n i) (capacity P i) (capacity Q i)); auto.
      * intros. apply (s_demand _ _ S); auto.
      * intros. apply (s_capacity _ _ S); auto.
    + intros n U. apply user_in in U. destruct U as [U Hn].
      apply (dominates_same (base P n) (base Q n) (total P) (total Q)); auto.
      * intros. apply (s_base _ _ S); auto.
      * intros. apply total_same; auto.
    + rewrite <- er. exact A3.
Qed.
Lemma njc_same eps : no_justified_complaints P eps x -> no_justified_complaints Q eps y.
Proof.
  intros H n U. apply user_in in U. destruct U as [U Hn]. destruct (H n U) as [(T & L & A)|(i & r & Hi & Hr & G & D & A1 & A2)].
  - left. destruct (limit_same P Q S n T Hn L) as (T' & L' & Et). exists T'. split; auto.
    rewrite <- Et, <- tasks_are, <- g_is by auto. exact A.
  - right. exists i, r. ranges. rewrite <- gamma_is, <- takes_are, <- slack_is, <- full_is, <- (E n i) by auto.
    rewrite <- (entitlement_same P Q W V S n) by auto. auto 10.
Qed.
Lemma ahead_same n m i : (n < N)%nat -> (m < N)%nat -> (i < K)%nat -> ahead P x n m i == ahead Q y n m i.
Proof.
  intros. apply smaller_ext; [apply E; auto|]. apply larger_ext; [reflexivity|]. apply sub_same; [auto|].
  apply quo_same; [apply prod_same; [auto|]|]; apply prod_same; auto.
Qed.
Lemma lacks_same n i r : (n < N)%nat -> (i < K)%nat -> (r < M)%nat -> lacks P x n i r == lacks Q y n i r.
Proof.
  intros. apply quo_same; [|auto]. rewrite slack_is by auto. apply Qplus_comp; [reflexivity|]. rewrite <- eu.
  apply sum_ext. intros k Hk. destruct (Nat.eqb k n); [reflexivity|]. apply prod_same; [apply ahead_same; auto|auto].
Qed.
Lemma ps_dsf_same eps : ps_dsf P eps x -> ps_dsf Q eps y.
Proof.
  intros H n i U Hi G. apply user_in in U. destruct U as [U Hn]. ranges. rewrite <- gamma_is in G by auto.
  destruct (H n i U Hi G) as [(T & L & A)|(r & Hr & D & A)].
  - left. destruct (limit_same P Q S n T Hn L) as (T' & L' & Et). exists T'. split; auto.
    rewrite <- Et, <- tasks_are, <- g_is by auto. exact A.
  - right. exists r. rewrite <- takes_are, <- lacks_same, <- g_is by auto. auto.
Qed.
Lemma power_same a b n : a == b -> power a n == power b n.
Proof. intros A. induction n; simpl; [reflexivity|]. apply prod_same; auto. Qed.
Section Among_fair.
Variables poP poQ : allocation -> Prop.
Hypothesis back : forall z, poQ z -> poP z.
Lemma proportional_same u v a eps : agree P u v -> proportional_among P poP u a eps x -> proportional_among Q poQ v a eps y.
Proof.
  intros Eu [H1 H2]. assert (Vx : forall n, (n < N)%nat -> value P u x n == value Q v y n) by (intros; apply value_same; auto).
  split.
  - intros n U. apply user_in in U. destruct U as [U Hn]. rewrite <- Vx by auto. auto.
  - intros price z Z. specialize (H2 z (back z Z)). cbv zeta in H2.
    assert (Vz : forall n, (n < N)%nat -> value P u z n == value Q v z n).
    { intros. apply value_same; auto. intros ? ? _ _. reflexivity. }
    assert (Pr : forall n, (n < N)%nat -> weight P n / power (value P u x n) a == price n).
    { intros. apply quo_same; auto. apply power_same. auto. }
    rewrite <- eu.
    rewrite (sum_ext N _ (fun n => if active P n
      then weight P n / power (value P u x n) a * (value P u z n - value P u x n) else 0)).
    + apply Qle_trans with (1 := H2). apply Qle_lteq. right. apply prod_same; [reflexivity|]. apply sum_ext. intros n Hn.
      rewrite (active_same P Q W V S n Hn). destruct (active Q n); [|reflexivity]. apply prod_same; auto.
    + intros n Hn. rewrite (active_same P Q W V S n Hn). destruct (active Q n); [|reflexivity].
      apply prod_same; [symmetry; auto|apply sub_same; symmetry; auto].
Qed.
Lemma alpha_fair_same u v a q eps : agree P u v -> alpha_fair_among P poP u a q eps x -> alpha_fair_among Q poQ v a q eps y.
Proof.
  intros Eu [H1 H2]. assert (Vx : forall n, (n < N)%nat -> value P u x n == value Q v y n) by (intros; apply value_same; auto).
  split.
  - intros n U. apply user_in in U. destruct U as [U Hn]. rewrite <- Vx by auto. auto.
  - intros lo hi En z Z. specialize (H2 lo hi).
    assert (En' : forall n, user P n -> encloses a q (weight P n) (value P u x n) (lo n) (hi n)).
    { intros n U. assert (Hn : (n < N)%nat) by apply U. apply user_iff in U. destruct (En n U) as (B1 & B2 & B3 & B4).
      pose proof (power_same _ _ a (Vx n Hn)) as Pv. pose proof (power_same _ _ q (s_weight _ _ S n Hn)) as Pw.
      unfold encloses. rewrite Pv, Pw. auto. }
    specialize (H2 En' z (back z Z)). cbv zeta in *.
    assert (Vz : forall n, (n < N)%nat -> value P u z n == value Q v z n).
    { intros. apply value_same; auto. intros ? ? _ _. reflexivity. }
    assert (Sum : forall f : nat -> QArith_base.Q, sum N (fun n => if active P n then f n * value P u x n else 0) ==
      sum N (fun n => if active Q n then f n * value Q v y n else 0)).
    { intros f. apply sum_ext. intros n Hn. rewrite (active_same P Q W V S n Hn). destruct (active Q n); [|reflexivity].
      apply prod_same; [reflexivity|auto]. }
    rewrite <- eu.
    apply Qle_trans with (larger (eps * sum N (fun n => if active P n then lo n * value P u x n else 0))
      (eps * sum N (fun n => if active P n then hi n * value P u x n else 0))).
    + apply Qle_trans with (2 := H2). apply Qle_lteq. right. apply sum_ext. intros n Hn.
      rewrite (active_same P Q W V S n Hn). destruct (active Q n); [|reflexivity].
      assert (Gs : value Q v z n - value Q v y n == value P u z n - value P u x n) by (apply sub_same; symmetry; auto).
      apply smaller_ext; apply prod_same; try reflexivity; exact Gs.
    + apply Qle_lteq. right. apply larger_ext; apply prod_same; try reflexivity; apply Sum.
Qed.
Lemma defined_same s : defined P s -> defined Q s.
Proof.
  assert (Some_ : match s with Resource r => (r < M)%nat | _ => True end ->
    (forall n i, user P n -> (i < K)%nat -> 0 < gamma P n i -> 0 < worth P s n i) ->
    forall n i, user Q n -> (i < classes Q)%nat -> 0 < gamma Q n i -> 0 < worth Q s n i).
  { intros Hs H n i U Hi G. apply user_in in U. destruct U as [U Hn]. ranges. rewrite <- gamma_is in G by auto.
    rewrite <- (worth_same P Q W V S s n i) by auto. auto. }
  destruct s; simpl defined; try (apply Some_; exact I).
  - intros H n i. ranges. intros Hn Hi. rewrite <- (s_allowed _ _ S) by auto. auto.
  - rewrite <- er. intros [A H]. split; auto. rewrite <- (total_same P Q S) by auto. exact H.
Qed.

(** ** The stated allocation, and tasks on single servers *)
Lemma feasible_within_same eps : feasible_within P eps x -> feasible_within Q eps y.
Proof.
  intros H. pose proof (kept_same P Q W V S x y E) as Kp. constructor; ranges.
  - intros n i Hn Hi Ne C. rewrite <- (E n i) in Ne |- * by auto. rewrite <- (counts_same P Q W V S x y E) in C by auto.
    rewrite <- (unit_same P Q W V S) by auto. apply (w_entries _ _ _ H); auto.
  - intros i r Hi Hr Fp. rewrite <- full_is in Fp |- * by auto.
    rewrite <- (load_same P Q W V S _ _ Kp) by auto. apply (w_rows _ _ _ H); auto.
  - intros n T U L. apply user_in in U. destruct U as [U Hn].
    destruct (limit_same Q P B n T) as (T' & L' & Et); [rewrite <- eu; auto|auto|].
    rewrite Et, <- tasks_are, <- g_is by auto. apply (w_limit _ _ _ H); auto.
Qed.
Variables l k : placing.
Hypothesis SL : same_placing P l k.
Hypothesis C : forall s, (s < servers l)%nat -> (class_of l s < K)%nat.
Lemma can_run_same s n : (s < servers l)%nat -> (n < N)%nat -> can_run P l s n = can_run Q k s n.
Proof.
  intros Hs Hn. unfold can_run. rewrite (active_same P Q W V S n Hn), <- (m_class _ _ _ SL) by auto.
  rewrite (lt_gamma P Q W V S) by auto. f_equal. apply lt_same; [reflexivity|apply (m_on _ _ _ SL); auto].
Qed.
Lemma placed_within_same eps : placed_within P l eps x -> placed_within Q k eps y.
Proof.
  intros H. pose proof (m_servers _ _ _ SL) as es. pose proof (m_class _ _ _ SL) as mc. pose proof (m_on _ _ _ SL) as mo.
  constructor; ranges; rewrite <- ?es.
  - intros s n Hs Hn Ne Cr. rewrite <- (mo s n) in Ne |- * by auto. rewrite <- can_run_same in Cr by auto.
    rewrite <- (unit_same P Q W V S) by auto. apply (i_entries _ _ _ _ H); auto.
  - intros s r Hs Hr Fp (n & Hn & Ne). rewrite <- mc in Fp |- * by auto. rewrite <- full_is in Fp by auto.
    rewrite <- (one_same P Q S) by auto.
    rewrite (sum_ext N _ (fun n => if can_run P l s n then on_server l s n * takes P n (class_of l s) r else 0)).
    + apply (i_rows _ _ _ _ H); auto. exists n. rewrite <- (mo s n) in Ne by auto. auto.
    + intros m Hm. rewrite can_run_same by auto. destruct (can_run Q k s m); [|reflexivity]. symmetry.
      apply prod_same; auto.
  - intros n T U L. apply user_in in U. destruct U as [U Hn].
    destruct (limit_same Q P B n T) as (T' & L' & Et); [rewrite <- eu; auto|auto|].
    rewrite Et, <- tasks_are, <- g_is by auto. apply (i_limit _ _ _ _ H); auto.
Qed.
Lemma integer_feasible_same eps : integer_feasible P l eps x -> integer_feasible Q k eps y.
Proof.
  intros [H1 H2]. split; [apply placed_within_same; auto|]. rewrite <- (m_servers _ _ _ SL). ranges.
  intros s n Hs Hn Cr Nw. apply (H2 s n); auto; [rewrite can_run_same; auto|]. intros Wh. apply Nw.
  apply (whole_same (on_server l s n)); auto. apply (m_on _ _ _ SL); auto.
Qed.
Lemma places_same n c : (n < N)%nat -> has_places Q l n c -> has_places P l n c.
Proof.
  intros Hn [Su (z & e & F & A)]. rewrite <- ec in Su. split; [rewrite (s_gang _ _ S) by auto; exact Su|].
  exists z, e. split.
  - destruct F as [F1 F2]. constructor.
    + intros s Hs. destruct (F1 s Hs) as (Wz & Z0 & Fz). split; [exact Wz|]. split; [exact Z0|]. intros Pos.
      destruct (Fz Pos) as [G Fr]. assert (Hi : (class_of l s < K)%nat) by auto. rewrite <- gamma_is in G by auto.
      split; [exact G|]. ranges. intros r Hr. rewrite (takes_are n _ r), (free_same P Q W V S l s r) by auto. apply Fr. auto.
    + intros i Hi. ranges. destruct (F2 i Hi) as (We & E0 & Fe). split; [exact We|]. split; [exact E0|]. intros Pos.
      destruct (Fe Pos) as (G & Li & Fr). rewrite <- gamma_is in G by auto. split; [exact G|].
      split; [rewrite (s_count _ _ S) by auto; exact Li|]. intros r Hr.
      rewrite (takes_are n i r), (one_same P Q S i r) by auto. apply Fr. auto.
  - intros i Hi. ranges. destruct (A i Hi) as (Wk & K0 & Km). split; [exact Wk|]. split; [exact K0|].
    unfold more_on in *. rewrite (s_count _ _ S) by auto. exact Km.
Qed.
Lemma placed_among_same eps (St St' : nat -> (nat -> QArith_base.Q) -> Prop) : (forall n c, (n < N)%nat -> St' n c -> St n c) ->
  (0 <= eps /\ forall n c, user P n -> within_limit P n (tasks P x n + gang P n) -> has_places P l n c -> St n c -> 1 <= eps) ->
  0 <= eps /\ forall n c, user Q n -> within_limit Q n (tasks Q y n + gang Q n) -> has_places Q l n c -> St' n c -> 1 <= eps.
Proof.
  intros I [A H]. split; [exact A|]. intros n c U L Pl St0. apply user_in in U. destruct U as [U Hn].
  apply (H n c); [exact U| |apply places_same; auto|apply (I n c Hn St0)].
  apply (within_same P Q S n _ (tasks Q y n + gang Q n)); auto. rewrite tasks_are, (s_gang _ _ S) by auto. reflexivity.
Qed.
Lemma placed_conserving_same eps : placed_conserving P l eps x -> placed_conserving Q l eps y.
Proof.
  intros [A H]. destruct (placed_among_same eps (fun _ _ => True) (fun _ _ => True) (fun _ _ _ t => t)) as [B1 D].
  - split; [exact A|]. intros n c U L Pl _. apply (H n c); auto.
  - split; [exact B1|]. intros n c U L Pl. apply (D n c); auto.
Qed.
End Among_fair.
End Same_axioms.

(** * Groups *)
Section Of_groups.
Variables P Q : problem.
Hypothesis W : well_formed P.
Hypothesis V : well_formed Q.
Hypothesis S : same_problem P Q.
Variable G : grouping.
Notation N := (users P). Notation K := (classes P). Notation M := (resources P).
Let eu := s_users _ _ S. Let ec := s_classes _ _ S. Let er := s_resources _ _ S.
Ltac ranges := rewrite <- ?eu, <- ?ec, <- ?er in *.
Variables x y : allocation.
Hypothesis E : agree P x y.

Lemma uses_same d v r : (r < M)%nat -> uses_of P G x d v r == uses_of Q G y d v r.
Proof.
  intros Hr. revert v. induction d; intros v; [reflexivity|]. cbn [uses_of]. rewrite <- eu. apply Qplus_comp; apply sum_ext.
  - intros n Hn. destruct (belongs G n v); [|reflexivity]. unfold holds_of. rewrite <- ec. apply sum_ext. intros.
    apply prod_same; [apply E|apply (s_base _ _ S)]; auto.
  - intros c _. destruct (child G v c); [|reflexivity]. apply larger_ext; [apply IHd|reflexivity].
Qed.
Lemma use_same v r : (r < M)%nat -> use P G x v r == use Q G y v r.
Proof. apply uses_same. Qed.
(** ** Limits of groups as rows *)
Lemma bar_same b : In b (bars P G) -> exists c, In c (bars Q G) /\ b_group b = b_group c /\ b_most b = b_most c /\
  forall n i, (n < N)%nat -> (i < classes P)%nat -> b_takes b n i == b_takes c n i.
Proof.
  unfold bars, bars_on. rewrite <- er. intros I. apply in_app_or in I. destruct I as [I|I].
  - apply in_flat_map in I. destruct I as (v & Hv & I). apply in_flat_map in I. destruct I as (r & Hr & I).
    destruct (ceiling G v r) as [most|] eqn:L; [|contradiction]. destruct I as [<-|[]].
    exists {| b_group := v; b_resource := r; b_most := most; b_takes := fun n _ => base Q n r |}. split; [|repeat split].
    + apply in_or_app. left. apply in_flat_map. exists v. split; auto. apply in_flat_map. exists r. split; auto. rewrite L. left. reflexivity.
    + intros n i Hn _. apply in_seq in Hr. apply (s_base _ _ S); auto; lia.
  - apply in_map_iff in I. destruct I as (o & <- & I). pose proof I as I'. apply filter_In in I'. destruct I' as [_ Hr]. apply Nat.ltb_lt in Hr.
    eexists. split; [apply in_or_app; right; apply in_map; exact I|]. repeat split. intros n i Hn Hi. simpl.
    destruct (o_on o i); [apply (s_demand _ _ S); auto|reflexivity].
Qed.
Lemma taken_same b c z w : b_group b = b_group c -> (forall n i, (n < N)%nat -> (i < classes P)%nat -> b_takes b n i == b_takes c n i) ->
  agree P z w -> taken P G b z == taken Q G c w.
Proof.
  intros Eg Et Ez. unfold taken, below_bar. rewrite <- eu, <- ec, Eg. apply sum_ext. intros n Hn. destruct (existsb _ _); [|reflexivity].
  apply sum_ext. intros i Hi. apply prod_same; [apply Ez|apply Et]; auto.
Qed.
Definition paired (b c : bar) : Prop := b_group b = b_group c /\ b_resource b = b_resource c /\ b_most b = b_most c /\
  forall n i, (n < N)%nat -> (i < classes P)%nat -> b_takes b n i == b_takes c n i.
Lemma bars_on_same : Forall2 paired (bars_on P G) (bars_on Q G).
Proof.
  unfold bars_on. rewrite <- er. assert (A : forall o, In o (filter (fun o => Nat.ltb (o_resource o) M) (limits_on G)) -> (o_resource o < M)%nat).
  { intros o I. apply filter_In in I. destruct I as [_ I]. apply Nat.ltb_lt. exact I. }
  induction (filter (fun o => Nat.ltb (o_resource o) M) (limits_on G)) as [|o l IH]; simpl; constructor.
  - repeat split. intros n i Hn Hi. simpl. specialize (A o ltac:(left; reflexivity)). destruct (o_on o i); [apply (s_demand _ _ S); auto|reflexivity].
  - apply IH. intros. apply A. right. auto.
Qed.
Lemma paired_taken b c z w : paired b c -> agree P z w -> taken P G b z == taken Q G c w.
Proof. intros (Eg & _ & _ & Et). apply taken_same; auto. Qed.
Lemma Forall2_in {A} (R2 : A -> A -> Prop) l k a : Forall2 R2 l k -> In a l -> exists c, In c k /\ R2 a c.
Proof. induction 1 as [|b c l k Hb HF IH]; simpl; intros I; [contradiction|]. destruct I as [<-|I]; [eauto|]. destruct (IH I) as (d & D & E1). eauto. Qed.
Lemma Forall2_in_right {A} (R2 : A -> A -> Prop) l k a : Forall2 R2 k l -> In a l -> exists c, In c k /\ R2 c a.
Proof. induction 1 as [|b c l k Hb HF IH]; simpl; intros I; [contradiction|]. destruct I as [<-|I]; [eauto|]. destruct (IH I) as (d & D & E1). eauto. Qed.
Lemma Forall2_with {A} (R2 : A -> A -> Prop) (Ok : A -> Prop) l k : Forall2 R2 l k -> (forall a, In a l -> Ok a) ->
  Forall2 (fun a c => R2 a c /\ Ok a) l k.
Proof. induction 1 as [|b c l k Hb HF IH]; intros I; constructor; [split; [exact Hb|apply I; left; reflexivity]|apply IH; intros; apply I; right; auto]. Qed.
Lemma bars_on_range : Forall2 (fun b c => paired b c /\ (b_resource b < M)%nat) (bars_on P G) (bars_on Q G).
Proof.
  apply Forall2_with; [exact bars_on_same|]. intros b I. unfold bars_on in I. apply in_map_iff in I. destruct I as (o & <- & I).
  apply filter_In in I. destruct I as [_ I]. apply Nat.ltb_lt in I. exact I.
Qed.
Section Held.
Variables h h' : nat -> bar -> QArith_base.Q.
Hypothesis Eh : forall k b c, paired b c -> (b_resource b < M)%nat -> h k b == h' k c.
Lemma left_on_like n i : (n < N)%nat -> (i < classes P)%nat -> alike (left_on P G h n i) (left_on Q G h' n i).
Proof.
  intros Hn Hi. unfold left_on. generalize 0%nat as k. induction bars_on_range as [|b c l l' [Pa Hr] F IH]; intros k; simpl; [exact I|].
  specialize (IH (Datatypes.S k)). pose proof (Eh k b c Pa Hr) as Eb. destruct Pa as (Eg & Er & Em & Et). pose proof (Et n i Hn Hi) as Eti.
  assert (Co : counts_on G b n i = counts_on G c n i).
  { unfold counts_on, below_bar. rewrite Eg. f_equal. apply lt_same; [reflexivity|exact Eti]. }
  rewrite Co. destruct (counts_on G c n i); [|exact IH].
  assert (D : leaves_on h (k, b) n i == leaves_on h' (k, c) n i).
  { unfold leaves_on. cbn [fst snd]. apply larger_ext; [reflexivity|]. rewrite !quo_eq, !sub_eq, Eti, Em, Eb. reflexivity. }
  destruct (fold_right _ None (numbered (Datatypes.S k) l)), (fold_right _ None (numbered (Datatypes.S k) l')); simpl in IH |- *; try tauto.
  apply smaller_ext; [exact IH|exact D].
Qed.
Lemma left_below_like k n : (n < N)%nat -> (k <= classes P)%nat ->
  alike (left_below P G h (can_use P) k n) (left_below Q G h' (can_use Q) k n).
Proof.
  intros Hn. induction k; intros Hk; simpl; [reflexivity|]. specialize (IHk ltac:(lia)). pose proof (left_on_like n k Hn ltac:(lia)) as L0.
  assert (Cu : can_use P n k = can_use Q n k) by (apply lt_same; [reflexivity|apply (gamma_same P Q W V S); auto]).
  rewrite Cu. destruct (can_use Q n k); [destruct (left_on P G _ n k), (left_on Q G _ n k)|]; simpl in L0; try tauto;
    destruct (left_below P G _ _ k n), (left_below Q G _ _ k n); simpl in *; try tauto; rewrite !add_eq, IHk, ?L0; reflexivity.
Qed.
Lemma can_use_same n i : (n < N)%nat -> (i < classes P)%nat -> can_use P n i = can_use Q n i.
Proof. intros. apply lt_same; [reflexivity|apply (gamma_same P Q W V S); auto]. Qed.
Lemma counts_like b c n i : paired b c -> (n < N)%nat -> (i < classes P)%nat -> counts_on G b n i = counts_on G c n i.
Proof.
  intros (Eg & _ & _ & Et) Hn Hi. unfold counts_on, below_bar. rewrite Eg. f_equal. apply lt_same; [reflexivity|apply Et; auto].
Qed.
Lemma widest_like j b c n k : paired b c -> (b_resource b < M)%nat -> (n < N)%nat -> (k <= classes P)%nat ->
  widest h (can_use P) k (j, b) n == widest h' (can_use Q) k (j, c) n.
Proof.
  intros Pa Hr Hn. pose proof (Eh j b c Pa Hr) as Eb. destruct Pa as (Eg & Er & Em & Et).
  induction k; intros Hk; simpl; [reflexivity|]. rewrite can_use_same by (auto; lia). specialize (IHk ltac:(lia)).
  destruct (can_use Q n k); [|exact IHk]. apply larger_ext; [|exact IHk]. unfold leaves_on. cbn [fst snd].
  apply larger_ext; [reflexivity|]. rewrite !quo_eq, !sub_eq, Em, Eb, (Et n k) by (auto; lia). reflexivity.
Qed.
Lemma left_in_all_like n : (n < N)%nat -> alike (left_in_all P G h (can_use P) n) (left_in_all Q G h' (can_use Q) n).
Proof.
  intros Hn. unfold left_in_all. pose proof (left_below_like (classes P) n Hn (le_n _)) as Base. rewrite <- ec. revert Base.
  generalize (left_below P G h (can_use P) (classes P) n) (left_below Q G h' (can_use Q) (classes P) n). intros a a' Base.
  generalize 0%nat as k. induction bars_on_range as [|b c l l' [Pa Hr] F IH]; intros k; simpl; [exact Base|].
  specialize (IH (Datatypes.S k)).
  assert (Co : counts_everywhere P G (can_use P) b n = counts_everywhere Q G (can_use Q) c n).
  { unfold counts_everywhere. rewrite <- ec. assert (A : forall j, (j <= classes P)%nat ->
      all j (fun i => negb (can_use P n i) || counts_on G b n i) = all j (fun i => negb (can_use Q n i) || counts_on G c n i)).
    { induction j; simpl; intros Hj; auto. rewrite can_use_same, (counts_like b c), IHj by (auto; lia). reflexivity. }
    apply A. lia. }
  rewrite Co. destruct (counts_everywhere Q G (can_use Q) c n); [|exact IH].
  pose proof (widest_like k b c n (classes P) Pa Hr Hn (le_n _)) as E0.
  destruct (fold_right _ a _), (fold_right _ a' _); simpl in IH |- *; try tauto. apply smaller_ext; auto.
Qed.
End Held.
Lemma left_on_same n i : (n < N)%nat -> (i < classes P)%nat ->
  alike (left_on P G (held_in P G x) n i) (left_on Q G (held_in Q G y) n i).
Proof. intros Hn Hi. apply left_on_like; auto. intros k b c Pa _. apply paired_taken; auto. Qed.
Lemma no_more_same a b z : alike a b -> no_more b z -> no_more a z.
Proof. destruct a, b; simpl; try tauto. intros A B. rewrite A. exact B. Qed.
Lemma placeable_same z : placeable Q G z -> placeable P G z.
Proof.
  intros [Fz Kz]. split; [apply (feasible_back P Q W V S); exact Fz|]. intros b I.
  destruct (Forall2_in _ _ _ b bars_on_same I) as (c & Ic & Pa). specialize (Kz c Ic). destruct Pa as (Eg & Er & Em & Et).
  rewrite (paired_taken b c z z), Em by (repeat split; auto; intros ? ? _ _; reflexivity). exact Kz.
Qed.
Lemma placeable_forth z : placeable P G z -> placeable Q G z.
Proof.
  intros [Fz Kz]. split; [apply (feasible_same P Q W V S z z); auto; intros ? ? _ _; reflexivity|]. intros c I.
  destruct (Forall2_in_right _ _ _ c bars_on_same I) as (b & Ib & Pa). specialize (Kz b Ib). destruct Pa as (Eg & Er & Em & Et).
  rewrite <- (paired_taken b c z z), <- Em by (repeat split; auto; intros ? ? _ _; reflexivity). exact Kz.
Qed.
Lemma root_holds_same r : (r < M)%nat -> root_holds P G x r == root_holds Q G y r.
Proof.
  intros Hr. unfold root_holds. rewrite <- eu. apply Qplus_comp; apply sum_ext.
  - intros n Hn. destruct (on_top _); [|reflexivity]. unfold holds_of. rewrite <- ec. apply sum_ext. intros.
    apply prod_same; [apply E|apply (s_base _ _ S)]; auto.
  - intros v _. destruct (on_top _); [|reflexivity]. apply larger_ext; [apply use_same; auto|reflexivity].
Qed.
Lemma limits_kept_same eps : limits_kept P G eps x -> limits_kept Q G eps y.
Proof.
  intros (H0 & H & H2). split; [|split].
  - intros r Hr Kr Pos. ranges. rewrite <- (total_same P Q S) in Pos |- * by auto. rewrite <- root_holds_same by auto. apply H0; auto.
  - intros v r L Hv Hr C Pos. ranges. rewrite <- (total_same P Q S) in Pos |- * by auto.
    rewrite <- use_same by auto. apply H; auto.
  - intros c I Pos. destruct (Forall2_in_right _ _ _ c bars_on_same I) as (b & Ib & Pa).
    assert (Hr : (b_resource c < M)%nat).
    { unfold bars_on in I. apply in_map_iff in I. destruct I as (o & <- & I). apply filter_In in I. destruct I as [_ I].
      apply Nat.ltb_lt in I. rewrite <- er in I. exact I. }
    rewrite <- (total_same P Q S) in Pos |- * by auto. destruct Pa as (Eg & Er & Em & Et).
    rewrite <- (paired_taken b c x y), <- Em by (auto; repeat split; auto). rewrite <- Er in *. apply H2; auto.
Qed.
Lemma asks_same n r : (n < N)%nat -> (r < M)%nat -> asks P n r = asks Q n r.
Proof.
  intros. unfold asks. f_equal; apply lt_same; try reflexivity; [apply (s_base _ _ S)|apply total_same]; auto.
Qed.
Lemma all_same n f h : (forall k, (k < n)%nat -> f k = h k) -> all n f = all n h.
Proof. induction n; simpl; intros A; auto. rewrite (A n), IHn; auto. Qed.
Lemma names_same n v : (n < N)%nat -> names_some P G n v = names_some Q G n v.
Proof.
  intros. unfold names_some. f_equal. rewrite <- er. apply all_same. intros. rewrite asks_same by auto. reflexivity.
Qed.
Lemma promised_use_same d v r : (r < M)%nat -> promised_use P G x d v r == promised_use Q G y d v r.
Proof.
  intros Hr. revert v. induction d; intros v; [reflexivity|]. cbn [promised_use]. destruct (states G v).
  - apply smaller_ext; [apply use_same; auto|reflexivity].
  - apply sum_ext. intros c _. destruct (child G v c); [|reflexivity]. apply larger_ext; [apply IHd|reflexivity].
Qed.
Lemma counted_same r v l : (r < M)%nat -> forall past k q q' s s', q == q' -> s == s' ->
  counted P G x r v l past k q s == counted Q G y r v l past k q' s'.
Proof.
  intros Hr. induction l as [|c l IH]; intros past k q q' s s' Eq Es; [reflexivity|]. cbn [counted]. cbv zeta.
  match goal with |- (if _ then ?a - _ else _) == (if _ then ?b - _ else _) => assert (Ed : a == b) end.
  { destruct past; [|apply use_same; auto]. apply Qplus_comp; [apply larger_ext; [exact Eq|reflexivity]|].
    apply sum_ext. intros b _. destruct (child G c b && negb (Nat.eqb b k)); [|reflexivity].
    apply larger_ext; [apply promised_use_same; auto|reflexivity]. }
  destruct (Nat.eqb c v).
  - rewrite Ed, Es. reflexivity.
  - apply IH; [exact Ed|]. rewrite Es. apply Qplus_comp; [reflexivity|]. apply larger_ext; [reflexivity|].
    apply sub_same; [reflexivity|exact Ed].
Qed.
Lemma fraction_same n m r : (r < M)%nat -> fraction P G x n m r == fraction Q G y n m r.
Proof.
  intros Hr. unfold fraction. destruct (find (states G) (above G n)) as [w|]; [|reflexivity].
  destruct (among_groups _ w); [reflexivity|]. destruct (topmost G n m) as [c|]; [|reflexivity].
  destruct (promise G c r) as [g|]; [|reflexivity]. pose proof (use_same c r Hr) as U.
  rewrite (lt_same g (use P G x c r) g (use Q G y c r)) by (auto; reflexivity). destruct (lt g (use Q G y c r)); [|reflexivity].
  rewrite U. reflexivity.
Qed.
Lemma counted_in_same n k k' b c : paired b c -> (b_resource b < M)%nat -> counted_in P G x n k b == counted_in Q G y n k' c.
Proof.
  intros (Eg & Er & _ & Et) Hr. unfold counted_in, below_bar. rewrite <- eu, <- ec, Eg, <- Er. apply sum_ext. intros m Hm.
  destruct (existsb _ _); [|reflexivity]. apply prod_same; [apply fraction_same; auto|]. apply sum_ext. intros i Hi.
  apply prod_same; [apply E|apply Et]; auto.
Qed.
Lemma may_ask_same n z : (n < N)%nat -> may_ask Q G y n z -> may_ask P G x n z.
Proof.
  intros Hn (A & Lo & B & D). split; [|split; [|split]].
  - apply (within_same P Q S n _ (tasks Q y n + z)); auto. rewrite (tasks_same P Q S x y E n Hn). reflexivity.
  - revert Lo. apply no_more_same. apply left_in_all_like; auto.
    intros k b c Pa Hr. apply counted_in_same; auto.
  - exact B.
  - intros w Iw. destruct (D w Iw) as [D1 D2]. split.
    + unfold open_to. rewrite names_same by auto. exact D1.
    + intros r mark Hr As Mk. rewrite (counted_same r w (above G n) Hr false 0%nat 0 0 0 0), (s_base _ _ S) by (auto; reflexivity). apply D2; auto.
      * rewrite <- er. auto.
      * rewrite <- asks_same by auto. exact As.
Qed.
Lemma guarantees_kept_same eps : guarantees_kept P G eps x -> guarantees_kept Q G eps y.
Proof.
  intros H n z U Hz Ma. apply (user_same P Q W V S) in U. assert (Hn : (n < N)%nat) by apply U.
  rewrite <- (g_same P Q W V S) by auto. apply (H n z U Hz). apply may_ask_same; auto.
Qed.
Lemma about_groups_same : about_groups P G -> about_groups Q G.
Proof. intros [A B]. split; auto. intros i. rewrite <- ec. intros Hi. rewrite <- (s_timed _ _ S) by auto. auto. Qed.
Variable Sib : siblings.
Lemma any_same n f h : (forall k, (k < n)%nat -> f k = h k) -> any n f = any n h.
Proof. induction n; simpl; intros A; auto. rewrite (A n), IHn; auto. Qed.
Lemma member_same k n : (n < N)%nat -> member P G k n = member Q G k n.
Proof. intros Hn. unfold member. rewrite (active_same P Q W V S n Hn). reflexivity. Qed.
Lemma is_party_same k : is_party P G k = is_party Q G k.
Proof. unfold is_party. rewrite <- eu. apply any_same. intros. apply member_same. auto. Qed.
Lemma party_weight_same k : (k < groups G + N)%nat -> party_weight P G Sib k == party_weight Q G Sib k.
Proof.
  intros Hk. unfold party_weight. destruct (Nat.ltb_spec k (groups G)); [reflexivity|]. apply (s_weight _ _ S). lia.
Qed.
Lemma weights_in_same u : weights_in P G Sib u == weights_in Q G Sib u.
Proof.
  unfold weights_in. rewrite <- eu. apply Qplus_comp; apply sum_ext; intros k Hk.
  - rewrite (active_same P Q W V S k Hk). destruct (_ && _); [apply (s_weight _ _ S); auto|reflexivity].
  - rewrite is_party_same. reflexivity.
Qed.
Lemma part_of_same d v : part_of P G Sib d v == part_of Q G Sib d v.
Proof.
  revert v. induction d; simpl; intros v; [reflexivity|]. apply prod_same; [apply quo_same; [reflexivity|apply weights_in_same]|].
  destruct (parent G v); [apply IHd|reflexivity].
Qed.
Lemma own_part_same k : (k < groups G + N)%nat -> own_part P G Sib k == own_part Q G Sib k.
Proof.
  intros Hk. unfold own_part. destruct (Nat.ltb_spec k (groups G)); [apply part_of_same|].
  apply quo_same; [apply (s_weight _ _ S); lia|apply weights_in_same].
Qed.
Lemma gains_same k R R' eps : (forall i r, (i < K)%nat -> (r < M)%nat -> R i r == R' i r) ->
  gains_at_most P G x k R eps -> gains_at_most Q G y k R' eps.
Proof.
  intros Er H z (w & Y1 & Y2 & Y3) (n0 & Hn0 & M0 & L0). apply H.
  - exists w. split; [|split].
    + intros n i Hn Hi Mn. rewrite member_same in Mn by auto. rewrite eu in Hn. rewrite ec in Hi.
      destruct (Y1 n i Hn Hi Mn) as [A B]. split; auto. rewrite <- eu in Hn. rewrite <- ec in Hi.
      rewrite (gamma_same P Q W V S) by auto. exact B.
    + intros i r Hi Hr. rewrite Er by auto. rewrite ec in Hi. rewrite er in Hr. apply Qle_trans with (2 := Y2 i r Hi Hr).
      rewrite <- ec in Hi. rewrite <- er in Hr. rewrite <- eu. apply Qle_lteq. right. apply sum_ext. intros n Hn.
      rewrite member_same by auto. destruct (member Q G k n); [|reflexivity].
      apply prod_same; [reflexivity|apply takes_same; auto].
    + intros n Hn Mn. rewrite member_same in Mn by auto. assert (Hn' := Hn). rewrite eu in Hn'.
      destruct (Y3 n Hn' Mn) as [A B].
      assert (Tw : tasks P w n == tasks Q w n) by (unfold tasks; rewrite <- ec; reflexivity). split.
      * apply (within_same P Q S n _ (tasks Q w n)); auto.
      * rewrite Tw. apply Qle_trans with (2 := B). apply Qle_lteq. right.
        assert (Ri : tasks P x n + z * g P n == tasks Q y n + z * g Q n).
        { rewrite (tasks_same P Q S x y E n Hn), (g_same P Q W V S n Hn). reflexivity. }
        unfold at_most. pose proof (s_limit _ _ S n Hn) as Al. destruct (limit P n), (limit Q n); simpl in Al; try tauto.
        apply smaller_ext; auto.
  - rewrite <- eu in Hn0. exists n0. split; [auto|]. rewrite member_same by auto. split; [auto|].
    apply (within_same P Q S n0 _ (tasks Q y n0 + z * g Q n0)); auto.
    rewrite (tasks_same P Q S x y E n0 Hn0), (g_same P Q W V S n0 Hn0). reflexivity.
Qed.
Lemma group_sharing_same eps : group_sharing_incentive P G Sib x eps -> group_sharing_incentive Q G Sib y eps.
Proof.
  intros H k Hk Pk. rewrite <- eu in Hk. rewrite <- is_party_same in Pk. apply (gains_same k (own_rows P G Sib k)); [|auto].
  intros i r Hi Hr. unfold own_rows. apply prod_same; [apply own_part_same; auto|apply full_same; auto].
Qed.
Lemma group_envy_same eps : group_envy_free P G Sib x eps -> group_envy_free Q G Sib y eps.
Proof.
  intros H k h Co. unfold are_compared in Co. rewrite <- eu, <- !is_party_same in Co. destruct Co as (A1 & A2 & A3 & A4 & A5 & A6 & A7 & A8).
  rewrite <- party_weight_same in A7, A8 by auto.
  apply (gains_same k (rows_of P G Sib x k h)).
  - intros i r Hi Hr. unfold rows_of. apply prod_same; [apply quo_same; apply party_weight_same; auto|].
    unfold holds_rows. rewrite <- eu. apply sum_ext. intros n Hn. rewrite member_same by auto.
    destruct (member Q G h n); [|reflexivity]. apply prod_same; [apply E; auto|apply takes_same; auto].
  - apply H. unfold are_compared. auto 10.
Qed.
Lemma filled_same eps : filled P eps x -> filled Q eps y.
Proof.
  intros (z & Fz & Mz & Nz). assert (Zz : agree P z z) by (intros ? ? _ _; reflexivity). exists z. split; [|split].
  - apply (feasible_same P Q W V S z z Zz). exact Fz.
  - exact (max_min_named_same P Q W V S z z Zz _ _ (feasible_back P Q W V S) Drfh 0 I Mz).
  - intros n U. apply (user_same P Q W V S) in U. assert (Hn : (n < N)%nat) by apply U.
    rewrite <- (tasks_same P Q S x y E n Hn), <- (tasks_same P Q S z z Zz n Hn), <- (g_same P Q W V S n Hn). auto.
Qed.
(** ** Amounts that are kept back for groups *)
Lemma not_stopped_same n z : a_forest P G -> (n < N)%nat -> Stopped.not_stopped P G x n z <-> Stopped.not_stopped Q G y n z.
Proof.
  intros Fo Hn. unfold Stopped.not_stopped. apply (Stopped.below_both P Q G _ _ _ _ eu er); auto; cbn [Stopped.the_tables t_use t_promise t_kept_back t_total t_above].
  - intros. apply (s_base _ _ S); auto.
  - intros. apply use_same; auto.
  - intros. apply alike_refl.
  - intros. reflexivity.
  - intros. apply (total_same P Q S); auto.
  - intros m Hm. split; [reflexivity|]. intros v. apply (Process.above_below P G Fo m v Hm).
  - intros. apply (tasks_same P Q S x y E); auto.
Qed.
Lemma within_bars_same n k : (n < N)%nat -> Stopped.within_bars Q G y n k -> Stopped.within_bars P G x n k.
Proof.
  intros Hn A b I Bl. destruct (Forall2_in _ _ _ b bars_on_same I) as (c & Ic & Pa). pose proof Pa as (Eg & Er & Em & Et).
  assert (Bl' : below_bar G c n = true) by (unfold below_bar in *; rewrite <- Eg; exact Bl).
  specialize (A c Ic Bl'). rewrite <- ec in A.
  rewrite (sum_ext (classes P) _ (fun i => k i * b_takes c n i)) by (intros i Hi; rewrite Et by auto; reflexivity).
  apply Qle_trans with (1 := A). apply Qle_lteq. right. apply larger_ext; [reflexivity|]. rewrite Em.
  apply sub_same; [reflexivity|]. symmetry. apply paired_taken; auto.
Qed.
(** ** The filling by turns *)
Lemma there_same r : (r < M)%nat -> Process.is_there P r = Process.is_there Q r.
Proof. intros Hr. apply lt_ext; [reflexivity|]. apply (total_same P Q S). exact Hr. Qed.
Lemma reduced_same a b : alike a b -> Process.reduced a = Process.reduced b.
Proof. destruct a, b; simpl; try tauto. intros A. f_equal. apply Qred_complete. exact A. Qed.
Lemma lendable_same d p r : (r < M)%nat -> Process.lendable P G d p r == Process.lendable Q G d p r.
Proof.
  intros Hr. revert p. induction d; intros p; [reflexivity|]. cbn [Process.lendable]. destruct p as [v|].
  - rewrite !sub_eq. apply Qplus_comp; [|reflexivity].
    assert (Em : add (Process.lendable P G d (parent G v) r) (kept_for G v r) == add (Process.lendable Q G d (parent G v) r) (kept_for G v r)).
    { rewrite !add_eq, IHd. reflexivity. }
    destruct (ceiling G v r); [apply smaller_ext; [exact Em|reflexivity]|exact Em].
  - rewrite !sub_eq, (total_same P Q S r Hr). reflexivity.
Qed.
Lemma share_over_same c f : Process.share_over P G Sib c f == Process.share_over Q G Sib c f.
Proof.
  unfold Process.share_over. rewrite <- er.
  assert (Kn : forall a b : nat -> QArith_base.Q, (forall r, (r < M)%nat -> a r == b r) ->
    Turn.lsum (map (fun r => if Process.is_there P r && Nat.eqb (family Sib r) f then a r else 0) (seq 0 M)) ==
    Turn.lsum (map (fun r => if Process.is_there Q r && Nat.eqb (family Sib r) f then b r else 0) (seq 0 M))).
  { intros a b Ab. apply Process.lsum_ext. intros r I. apply in_seq in I. rewrite there_same by lia.
    destruct (_ && _); [apply Ab; lia|reflexivity]. }
  destruct (measure Sib).
  - apply Kn. intros. apply (total_same P Q S). auto.
  - apply Kn. intros. apply lendable_same. auto.
  - cbv zeta. set (g1 := fun r => match c with Turn.Team v => or0 (promise G v r) | _ => 0 end).
    pose proof (Kn g1 g1 ltac:(reflexivity)) as Eg. unfold g1 in Eg. cbv beta in Eg.
    assert (Ez : forall a b, a == b -> eqq a 0 = eqq b 0).
    { intros a b Ab. destruct (eqq b 0) eqn:B; [apply eqq_iff in B; apply eqq_iff; lra|].
      destruct (eqq a 0) eqn:A; auto. apply eqq_iff in A. assert (eqq b 0 = true) by (apply eqq_iff; lra). congruence. }
    rewrite (Ez _ _ Eg). destruct (_ && _); [apply Kn; intros; apply (total_same P Q S); auto|exact Eg].
Qed.
Lemma facts_same : a_forest P G -> Turn.same_facts G N M (Process.the_facts P G Sib) (Process.the_facts Q G Sib).
Proof.
  intros Fo. constructor; cbn [Process.the_facts Turn.line_of Turn.asked Turn.weight_of Turn.weighs_nothing Turn.priority_of
    Turn.keep Turn.pledged Turn.most_of Turn.whole Turn.whole_kept Turn.surplus Turn.times Turn.kin Turn.over Turn.shut Turn.all_tasks].
  - intros n Hn. split; [reflexivity|]. intros v. apply (Process.above_below P G Fo n v Hn).
  - intros n r Hn Hr. rewrite there_same by auto. destruct (Process.is_there Q r); [|reflexivity].
    apply Qred_complete. apply (s_base _ _ S); auto.
  - intros c C. repeat split; auto.
    + destruct c; auto. apply Qred_complete. apply (s_weight _ _ S). exact C.
    + intros i _. apply Qred_complete. apply share_over_same.
  - intros v r Hv Hr. rewrite there_same by auto. auto.
  - intros r Hr. rewrite there_same, er by auto. repeat split; auto. apply Qred_complete. apply (total_same P Q S). auto.
  - split; reflexivity.
  - intros n Hn. apply reduced_same. apply (s_limit _ _ S). auto.
Qed.
Section Turns.
Hypothesis Fo : a_forest P G.
Lemma likewise_same t : Turn.likewise G N M (Process.the_facts P G Sib) (Process.held_at P G Sib t) (Process.the_facts Q G Sib) (Process.held_at Q G Sib t).
Proof.
  apply Process.likewise_ext; [apply facts_same; exact Fo|]. intros c r C Hr. unfold Process.held_at, Turn.holding. rewrite <- eu. cbn [Turn.used Turn.running].
  destruct (Process.uses_facts P G _ _ (facts_same Fo) (Datatypes.S (groups G)) t c r C Hr) as [-> ->]. split; reflexivity.
Qed.
Lemma may_turn_same t n : Process.may P G Sib t n <-> Process.may Q G Sib t n.
Proof.
  unfold Process.may. rewrite (user_same P Q W V S n). split; intros (U & C & y1 & Y & O & L); (split; [exact U|]);
    assert (Hn : (n < N)%nat) by (rewrite eu; apply U);
    pose proof (Turn.clear_same G N M _ _ _ _ (facts_same Fo) (likewise_same t) t t n Hn ltac:(auto)) as Ec; rewrite <- er in *;
    (split; [congruence|]); exists y1.
  - assert (Yy : agree P y1 y1) by (intros ? ? _ _; reflexivity). split; [apply placeable_forth; exact Y|].
    rewrite <- (tasks_same P Q S y1 y1 Yy n Hn). split; auto. intros m Um Ne. apply (user_same P Q W V S) in Um.
    rewrite <- (tasks_same P Q S y1 y1 Yy m) by apply Um. auto.
  - assert (Yy : agree Q y1 y1) by (intros ? ? _ _; reflexivity). pose proof (same_sym _ _ S) as S'.
    split; [apply placeable_same; exact Y|]. assert (Hn' : (n < users Q)%nat) by apply U.
    rewrite <- (tasks_same Q P S' y1 y1 Yy n Hn'). split; auto. intros m Um Ne. apply (user_same P Q W V S) in Um.
    rewrite <- (tasks_same Q P S' y1 y1 Yy m) by apply Um. auto.
Qed.
Lemma direction_turn_same t rho : Process.is_direction P G Sib t rho -> Process.is_direction Q G Sib t rho.
Proof.
  intros (f & Ff & R). exists f. rewrite <- eu, <- er. split.
  - intros n Hn. rewrite <- may_turn_same. auto.
  - intros n Hn. rewrite R by auto.
    rewrite (Turn.turn_same G N M _ _ _ _ (facts_same Fo) (likewise_same t)); [reflexivity|exact I|apply (Process.users_filtered P)].
Qed.
Lemma run_turn_same t e : Process.run P G Sib t e -> Process.run Q G Sib t e.
Proof.
  induction 1 as [t e A|t rho len v e [L D] A R IH].
  - apply Process.Stop. intros n. rewrite <- eu. auto.
  - apply (Process.Go Q G Sib t rho len v e); auto.
    + split; auto. intros s S0 S1. apply direction_turn_same. auto.
    + intros n. rewrite <- eu. auto.
Qed.
End Turns.
Lemma turns_same eps : Process.filled_by_turns P G Sib eps x -> Process.filled_by_turns Q G Sib eps y.
Proof.
  intros (Fo & e & [(z & Z & R) St] & D). split.
  - destruct Fo as [F1 F2]. split; [exact F1|]. intros n v. rewrite <- eu. apply F2.
  - exists e. split; [split|].
    + exists z. rewrite <- eu. split; auto. apply run_turn_same; auto.
    + intros n A. apply (may_turn_same Fo) in A. exact (St n A).
    + intros n U. apply (user_same P Q W V S) in U. assert (Hn : (n < N)%nat) by apply U.
      rewrite <- (tasks_same P Q S x y E n Hn), <- (g_same P Q W V S n Hn). auto.
Qed.
Lemma tree_applies_same : tree_applies P = tree_applies Q.
Proof.
  unfold tree_applies. rewrite <- ec. apply all_same. intros i Hi. rewrite (s_timed _ _ S) by auto. reflexivity.
Qed.
Lemma has_limits_same : has_limits P G = has_limits Q G.
Proof. unfold has_limits. rewrite er. reflexivity. Qed.
Lemma hold_back_same : hold_back P G = hold_back Q G.
Proof. unfold hold_back. rewrite has_limits_same, er. reflexivity. Qed.
Lemma among_same a : among P G a = among Q G a.
Proof. unfold among. rewrite has_limits_same. reflexivity. Qed.
Lemma within_limits_same z : within Q G y z -> within P G x z.
Proof.
  intros [Fz Kz]. split; [apply (feasible_back P Q W V S); exact Fz|]. intros b I.
  destruct (bar_same b I) as (c & Ic & Eg & Em & Et). specialize (Kz c Ic).
  rewrite (taken_same b c z z Eg Et) by (intros ? ? _ _; reflexivity). apply Qle_trans with (1 := Kz). apply Qle_lteq. right.
  rewrite Em. apply larger_ext; [reflexivity|]. symmetry. apply taken_same; auto.
Qed.
Lemma possible_same z : possible Q G y z -> possible P G x z.
Proof. unfold possible. rewrite has_limits_same. destruct (has_limits Q G); [apply within_limits_same|apply (feasible_back P Q W V S)]. Qed.
Lemma comparable_same : comparable P G -> comparable Q G.
Proof. intros [A B]. split; [apply about_groups_same; auto|]. intros v r. rewrite <- er. apply B. Qed.
End Of_groups.

(** * Claims *)
Section Claims.
Variable placing_ : option placing.
Variable G : grouping.
Variable Sib : siblings.
Variable tolerance : Q.

Section One_way.
Variables P Q : problem.
Hypothesis W : well_formed P.
Hypothesis V : well_formed Q.
Hypothesis S : same_problem P Q.
Variables stated_x stated_y x y : allocation.
Hypothesis ES : agree P stated_x stated_y.
Hypothesis E : agree P x y.
Hypothesis Pl : placed P (the_placing P stated_x placing_) stated_x.
Let eu := s_users _ _ S. Let ec := s_classes _ _ S. Let er := s_resources _ _ S.

Lemma the_placing_same : same_placing P (the_placing P stated_x placing_) (the_placing Q stated_y placing_).
Proof.
  unfold the_placing. destruct placing_ as [l|]; constructor; try reflexivity; [exact ec|].
  simpl. intros s n Hs Hn. apply ES; auto.
Qed.
(** The resource r exists in the problem. *)
Definition in_range (R : problem) (a : axiom_name) : Prop :=
  match a with OfMaxMin (Resource r) | OfProportional (Some (Resource r)) _ | OfRoot (Some (Resource r)) _ _ => (r < resources R)%nat
  | _ => True end.
Lemma axiom_same a eps : in_range P a -> axiom_of P stated_x placing_ G Sib a x eps -> axiom_of Q stated_y placing_ G Sib a y eps.
Proof.
  pose proof the_placing_same as TP. pose proof (p_class _ _ _ Pl) as Cl. unfold the_placing in TP, Cl.
  pose proof (possible_same P Q W V S G x y E) as Po.
  destruct a; simpl; intros Rg.
  - intros H. unfold stated_within in *. destruct placing_ as [p|].
    + apply (placed_within_same P Q W V S stated_x stated_y ES p p); auto.
    + apply (feasible_within_same P Q W V S stated_x stated_y ES); auto.
  - unfold the_placing. destruct placing_; apply integer_feasible_same; auto.
  - auto.
  - rewrite <- (hold_back_same P Q S G). destruct (hold_back P G).
    + intros [Fo H]. split; [destruct Fo as [F1 F2]; split; [exact F1|]; intros n v; rewrite <- eu; apply F2|].
      destruct placing_ as [p|].
      * destruct H as [H0 H]. destruct (placed_among_same P Q W V S x y E p Cl eps
          (fun n k => Stopped.within_bars P G x n k /\ Stopped.not_stopped P G x n (gang P n))
          (fun n k => Stopped.within_bars Q G y n k /\ Stopped.not_stopped Q G y n (gang Q n))) as [B1 D].
        -- intros n k Hn [A1 A2]. split; [apply (within_bars_same P Q S G x y E n k Hn); exact A1|].
           apply (not_stopped_same P Q S G x y E n (gang P n) Fo Hn). apply (Stopped.not_stopped_ext Q G y n (gang Q n)); [|exact A2].
           symmetry. apply (s_gang _ _ S). exact Hn.
        -- split; [exact H0|]. intros n k U L Pl' [A1 A2]. apply (H n k); auto.
        -- split; [exact B1|]. intros n k U L Pl' A1 A2. apply (D n k); auto.
      * refine (conserving_among_same P Q W V S x y E eps (Stopped.free_to P G (held_in P G x) (slack P x) (takes P))
          (Stopped.free_to Q G (held_in Q G y) (slack Q y) (takes Q)) (Stopped.not_stopped P G x) (Stopped.not_stopped Q G y) _ _ H).
        { intros n i r Hn Hi Hr. unfold Stopped.free_to. pose proof (left_on_same P Q S G x y E n i Hn Hi) as L0.
          pose proof (slack_same P Q W V S x y E i r Hi Hr) as Es. pose proof (takes_same P Q W V S n i r Hn Hi Hr) as Et.
          destruct (left_on P G _ n i), (left_on Q G _ n i); simpl in L0; try tauto.
          apply smaller_ext; [exact Es|]. rewrite !mul_eq, L0, Et. reflexivity. }
        intros n z Hn. apply (not_stopped_same P Q S G x y E n z Fo Hn).
    + unfold conserving. destruct placing_; [apply placed_conserving_same; auto|apply work_conserving_same; auto].
  - apply (pareto_optimal_same P Q W V S x y E _ _ Po).
  - apply (integer_pareto_optimal_same P Q W V S x y E _ _ Po).
  - apply envy_free_same; auto.
  - apply ef1_same; auto.
  - apply sharing_incentive_same; auto.
  - intros H r Br. assert (Hr : (r < resources P)%nat) by (rewrite er; apply Br).
    apply (max_min_named_same P Q W V S x y E _ _ Po (Resource r) eps Hr). apply H.
    apply (is_bottleneck_same Q P V W (same_sym _ _ S)). exact Br.
  - apply (max_min_named_same P Q W V S x y E _ _ Po). destruct s; auto.
  - apply njc_same; auto.
  - apply ps_dsf_same; auto.
  - apply (proportional_same P Q W V S x y E _ _ Po). intros n i Hn Hi. destruct s as [s|]; [|reflexivity].
    apply worth_same; auto.
  - apply (alpha_fair_same P Q W V S x y E _ _ Po). intros n i Hn Hi. destruct s as [s|]; [|reflexivity].
    apply worth_same; auto.
  - apply limits_kept_same; auto.
  - apply guarantees_kept_same; auto.
  - apply group_sharing_same; auto.
  - apply group_envy_same; auto.
  - destruct (is_level G Sib); [apply filled_same; auto|apply turns_same; auto].
  - auto.
Qed.
Lemma whole_tasks_same : whole_tasks P placing_ x -> whole_tasks Q placing_ y.
Proof.
  intros [A B]. split.
  - intros n i. rewrite <- eu, <- ec. intros Hn Hi. apply (whole_same (x n i)); auto.
  - intros l L s n. rewrite <- eu. apply B. exact L.
Qed.
Lemma fits_problem_same a : fits_problem P stated_x placing_ G a x -> fits_problem Q stated_y placing_ G a y.
Proof.
  destruct a; simpl; auto.
  - intros [A|A]; [left; exact A|right]. intros n i. rewrite <- eu, <- ec. intros Hn Hi Ne.
    rewrite <- (s_count _ _ S) by auto. apply (A n i); auto. rewrite (ES n i) by auto. exact Ne.
  - rewrite (hold_back_same P Q S G). intros A B. exact (about_groups_same P Q S G (A B)).
  - apply whole_tasks_same.
  - apply whole_tasks_same.
  - intros [r A]. exists r. apply (is_bottleneck_same P Q W V S). exact A.
  - apply defined_same; auto.
  - destruct s; auto. apply defined_same; auto.
  - destruct s; auto. apply defined_same; auto.
  - apply about_groups_same; auto.
  - apply about_groups_same; auto.
  - apply about_groups_same; auto.
  - apply about_groups_same; auto.
  - rewrite (tree_applies_same P Q S). intros [A D]. split; [exact A|]. exact (defined_same P Q W V S Drfh D).
Qed.
Lemma applies_same a : applies P stated_x placing_ G a x -> applies Q stated_y placing_ G a y.
Proof.
  intros [A B]. split; [apply fits_problem_same; exact A|]. intros Am. apply (comparable_same P Q S). apply B.
  rewrite (among_same P Q S). exact Am.
Qed.
Lemma applies_in_range a : applies P stated_x placing_ G a x -> in_range P a.
Proof. intros [A _]. revert A. destruct a; simpl; auto; [destruct s|destruct s as [[]|]|destruct s as [[]|]]; simpl; tauto. Qed.
End One_way.

Variables P Q : problem.
Hypothesis W : well_formed P.
Hypothesis V : well_formed Q.
Hypothesis S : same_problem P Q.
Variables stated_x stated_y x y : allocation.
Hypothesis ES : agree P stated_x stated_y.
Hypothesis PL : placed P (the_placing P stated_x placing_) stated_x.
Hypothesis X : is_repaired P stated_x placing_ x.
Hypothesis Y : is_repaired Q stated_y placing_ y.

Lemma repaired_agree : agree P x y.
Proof.
  intros n i Hn Hi. rewrite (X n i Hn Hi).
  assert (Hn' : (n < users Q)%nat) by (rewrite <- (s_users _ _ S); auto).
  assert (Hi' : (i < classes Q)%nat) by (rewrite <- (s_classes _ _ S); auto). rewrite (Y n i Hn' Hi').
  destruct (is_placed placing_); [apply (kept_same P Q W V S)|apply (repaired_same_x P Q W V S)]; auto.
Qed.
Lemma placed_there : placed Q (the_placing Q stated_y placing_) stated_y.
Proof.
  pose proof (the_placing_same P Q S stated_x stated_y ES PL) as TP. destruct PL as [A B C].
  pose proof (m_servers _ _ _ TP) as es. pose proof (m_class _ _ _ TP) as mc. pose proof (m_on _ _ _ TP) as mo.
  assert (Li : forall i, listed (the_placing P stated_x placing_) i == listed (the_placing Q stated_y placing_) i).
  { intros i. unfold listed. rewrite <- es. apply sum_ext. intros s Hs. rewrite mc by auto. reflexivity. }
  constructor; rewrite <- ?es, <- ?(s_users _ _ S), <- ?(s_classes _ _ S).
  - intros s Hs. rewrite <- mc by auto. auto.
  - intros i Hi. rewrite <- Li, <- (s_count _ _ S) by auto. auto.
  - intros n i Hn Hi. rewrite <- (ES n i), C by auto. apply sum_ext. intros s Hs. rewrite <- mc by auto.
    destruct (Nat.eqb _ _); [apply mo; auto|reflexivity].
Qed.

(** Two well-formed statements of one problem and one allocation agree on every claim. *)
Theorem determined st : is_true P stated_x placing_ G Sib tolerance x st <-> is_true Q stated_y placing_ G Sib tolerance y st.
Proof.
  pose proof repaired_agree as E. pose proof placed_there as PL'. pose proof (same_sym _ _ S) as S'.
  pose proof (agree_sym _ _ _ _ S ES) as ES'. pose proof (agree_sym _ _ _ _ S E) as E'.
  pose proof (applies_same P Q W V S stated_x stated_y x y ES E (about st)) as A1.
  pose proof (applies_same Q P V W S' stated_y stated_x y x ES' E' (about st)) as A2.
  pose proof (applies_in_range P stated_x x (about st)) as R1.
  pose proof (applies_in_range Q stated_y y (about st)) as R2.
  assert (X1 : forall eps, in_range P (about st) -> axiom_of P stated_x placing_ G Sib (about st) x eps ->
    axiom_of Q stated_y placing_ G Sib (about st) y eps) by (intros eps; apply axiom_same; auto).
  assert (X2 : forall eps, in_range Q (about st) -> axiom_of Q stated_y placing_ G Sib (about st) y eps ->
    axiom_of P stated_x placing_ G Sib (about st) x eps) by (intros eps; apply axiom_same; auto).
  assert (U : forall n, user P n <-> user Q n) by (apply user_same; auto).
  unfold is_true, holds, violated.
  destruct (says st) as [[|]|], (margin st) as [m|]; split; intros [Cv H]; (split; [exact Cv|]); try tauto.
  - destruct H as [A [B D]]. auto 6.
  - destruct H as [A [B D]]. auto 6.
  - destruct H as [A [B|B]]; (split; [auto|]); [left; auto|right]. intros n Un. apply U in Un. exact (B n Un).
  - destruct H as [A [B|B]]; (split; [auto|]); [left; auto|right]. intros n Un. apply U in Un. exact (B n Un).
  - destruct H as [A [B D]]. split; auto. split; auto.
  - destruct H as [A [B D]]. split; auto. split; auto.
  - destruct H as [A B]. split; auto. intros eps D. apply (B eps). auto.
  - destruct H as [A B]. split; auto. intros eps D. apply (B eps). auto.
Qed.
(** Two files about one problem and allocation cannot prove both that an axiom holds and that it is violated. *)
Theorem no_two_truths a m k :
  is_true P stated_x placing_ G Sib tolerance x {| about := a; says := Some true; margin := Some m |} ->
  is_true Q stated_y placing_ G Sib tolerance y {| about := a; says := Some false; margin := Some k |} -> False.
Proof.
  intros A B. apply determined in B. destruct A as [_ [_ [A1 A2]]], B as [_ [_ [B1 B2]]]. simpl in *.
  specialize (B2 _ A2). lra.
Qed.
End Claims.
