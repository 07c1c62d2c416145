(* Computes tables and reads evidence. This file is not trusted. The checkers that are extracted from Coq compute every table
   again, and judge every claim with the evidence that this file reads. *)
open Proved
open Json
open Reader

let memo n f = at (Array.init n f)
let memo2 n m f = at2 (Array.init n (fun i -> Array.init m (f i)))
let memo3 n m l f = at3 (Array.init n (fun i -> Array.init m (fun j -> Array.init l (f i j))))

(* A limit of a group, by the positions of its group, its classes and its resource. No classes: a limit on the whole cluster *)
type bar_name = { bar_group : int; bar_classes : int list; bar_resource : int }
type case = { c : certificate; p : problem; x : int -> int -> q; t : tables; totals : int -> q;
  placing : placing option; places : places; more : More.t; h : group_tables; groups : names; grouping : grouping; bars : bar_name list; limited : bool }

let places_of p t l =
  let places = { l_one = memo2 p.classes p.resources (make_one p t); l_listed = memo p.classes (make_listed l);
    l_free = (fun _ _ -> zero) } in
  { places with l_free = memo2 l.servers p.resources (make_free p t l places) }

let case (c : certificate) (groups : Groups.t) =
  let p = c.on.problem and x = at2 c.x in
  let n = p.users and k = p.classes and m = p.resources in
  let gam = memo2 n k (fun n i -> if p.allowed n i then p.alone n i else zero) in
  let full = memo2 k m (make_full p) and takes = memo3 n k m (make_takes p) in
  let g = memo n (make_g p gam) in
  let kept = memo n (make_kept p x gam g) and placed = c.placing <> None in
  let cut = memo2 n k (make_cut p x placed gam g kept) in
  let crowd = memo k (make_crowd p placed takes full cut) in
  let repaired = memo2 n k (make_x cut crowd) in
  let t = { t_gamma = gam; t_full = full; t_takes = takes; t_g = g; t_weights = make_weights p g; t_kept = kept;
    t_cut = cut; t_crowd = crowd; t_x = repaired; t_tasks = memo n (make_tasks p repaired);
    t_slack = memo2 k m (make_slack p full takes repaired) } in
  let placing = Option.map placing_of c.placing in
  let places = places_of p t (the_placing p x placing) in
  let more = More.read c.on in
  let of_groups = groups.grouping in
  let v = of_groups.groups in
  let h = { t_use = memo2 v m (ruse p of_groups t.t_x v); t_promise = memo2 v m (rpromised of_groups v);
    t_kept_back = memo2 v m (rkept of_groups v); t_total = memo m (rtotal_of p); t_above = memo n (above of_groups);
    t_taken = at (Array.of_list (List.map (fun b -> rtaken p of_groups b t.t_x) (bars_on p of_groups))); t_owed = fun _ _ -> rational Q.zero } in
  let h = { h with t_owed = memo2 v m (rpromised_use of_groups h v) } in
  (* The limits of all groups, in the order of [bars_on] in Within.v *)
  let whole v = List.filter_map (fun r -> Option.map (fun _ -> { bar_group = v; bar_classes = []; bar_resource = r }) (of_groups.ceiling v r))
    (List.init m Fun.id) in
  let on o = { bar_group = o.o_group; bar_classes = List.filter o.o_on (List.init k Fun.id); bar_resource = o.o_resource } in
  let bars = List.concat_map whole (List.init v Fun.id) @ List.map on of_groups.limits_on in
  { c; p; x; t; totals = memo m (rtotal p); placing; places; more; h; groups = groups.names; grouping = of_groups; bars; limited = has_limits p of_groups }

let sign v = Z.sign v.qnum
let is_active s n = sign (s.t.t_g n) > 0
let runs_on s n i = sign (s.t.t_gamma n i) > 0
let takes s n i r = sign (s.t.t_takes n i r) > 0
let range n = List.init n Fun.id

(* Returns the row of class [i] with a name. The name is that of a resource, or `time` if the time of the class is shared. *)
let row_named s i name =
  let class_name = s.c.on.server.list.(i) in
  if s.p.timed i then if name = "time" then 0
    else malformed "`%s` is not a row of server class `%s`, whose time is shared; write `time`" name class_name
  else
    let r = find s.c.on.resource name in
    if sign (s.t.t_full i r) > 0 then r else malformed "server class `%s` has no `%s`; omit this entry" class_name name
let by_row s i read value = List.map (fun (name, v) -> let r = row_named s i name in (r, inside name read v)) (obj value)
let number_at v = rational (number computed v)
let user s name value = field name (named s.c.on.user) value
let amounts s value = at (row s.p.users (by_name s.c.on.user (number computed) value))
let tasks s value = at2 (read_tasks s.c.on value)

(* Reads the prices of limits, in the order of [bars]. Raises [wrong] if a limit does not exist or has two prices. *)
let limit_prices s bars wrong value =
  let list_ = Array.make (List.length bars) None in
  let read value =
    only "group on? resource price" value;
    let set on =
      let all = List.sort compare (List.map (named s.c.on.server) (list on)) in
      if all = [] then malformed "on: the list is empty; name the server classes of the limit";
      if twice all then malformed "on: %s" twice_in;
      all in
    let bar_classes = Option.fold ~none:[] ~some:set (given (get "on" value)) in
    let bar = { bar_group = field "group" (named s.groups) value; bar_classes;
      bar_resource = field "resource" (named s.c.on.resource) value } in
    bar, field "price" number_at value in
  let put (bar, price) =
    let rec place k = function [] -> raise wrong | first :: rest -> if first = bar then k else place (k + 1) rest in
    let k = place 0 bars in
    if list_.(k) <> None then raise wrong;
    list_.(k) <- Some price in
  List.iter put (match value with Absent -> [] | v -> each "limit_prices" read v);
  Array.map (Option.value ~default:zero) list_
let prices s value =
  let rows = Array.make_matrix s.p.classes s.p.resources zero in
  let wrong = "limit_prices: a price is of a limit that no group has, or a limit has two prices; state one price for each limit" in
  let limits = limit_prices s s.bars (Malformed wrong) (get "limit_prices" value) in
  let server = s.c.on.server in
  List.iter (fun (name, of_class) ->
    let i = find server name in
    List.iter (fun (r, p) -> rows.(i).(r) <- p) (inside ("prices: " ^ name) (by_row s i number_at) of_class))
    (match get "prices" value with Absent -> [] | v -> obj v);
  { on_row = (fun i r -> if i = s.p.classes then limits.(r) else rows.(i).(r)); on_user = field "user_prices" (amounts s) value }

(* * Envy *)

(* Computes the whole numbers of Envy.v that decide most pairs of users. *)
let hints s m =
  let { p; t; _ } = s in
  let grains = 30 in
  let held = Array.init p.users (fun n -> Array.init p.classes (fun i -> Array.init p.resources (fun r ->
    if sign (t.t_x n i) > 0
    then Q.div (Q.mul (to_q (t.t_x n i)) (to_q (t.t_takes n i r))) (to_q (p.weight n)) else Q.zero))) in
  let top = Array.init p.classes (fun i -> Array.init p.resources (fun r ->
    List.fold_left (fun top n -> if Q.gt held.(n).(i).(r) top then held.(n).(i).(r) else top) Q.zero (range p.users))) in
  let grain = Array.map (Array.map (fun top -> Q.div_2exp top grains)) top in
  let up q = Z.cdiv (Q.num q) (Q.den q) in
  let whole = Array.map (fun of_user -> Array.mapi (fun i of_class -> Array.mapi (fun r b ->
    if Q.sign b = 0 then Z.zero else up (Q.div b grain.(i).(r))) of_class) of_user) held in
  let scale = Z.shift_left Z.one (2 * grains) in
  let rates n =
    let due = Q.sub (to_q (t.t_tasks n)) (Q.mul (to_q m) (to_q (t.t_g n))) in
    Array.init p.classes (fun i ->
      if Q.sign due <= 0 || not (runs_on s n i) then [] else
        List.filter_map (fun r -> if not (takes s n i r) then None else
          let value = Q.mul (Q.mul grain.(i).(r) (to_q (p.weight n))) (Q.of_bigint scale) in
          Some (r, up (Q.div value (Q.mul due (to_q (t.t_takes n i r)))))) (range p.resources)) in
  let rates = Array.init p.users (fun n -> lazy (rates n)) in
  let on = memo p.users (fun n -> List.filter (fun i -> sign (t.t_x n i) > 0) (range p.classes)) in
  { grain = (fun i r -> rational grain.(i).(r)); held = at3 whole; on; scale;
    rate = (fun n i -> (Lazy.force rates.(n)).(i)) }

(* Returns a pair of users whose margin is m. Candidates are computed in floating point and tested in exact numbers. *)
let pair s up_to_one m =
  let { p; t; _ } = s in
  let float q = Q.to_float (to_q q) in
  let x = Array.init p.users (fun n -> Array.init p.classes (fun i -> float (t.t_x n i))) in
  let takes = Array.init p.users (fun n -> Array.init p.classes (fun i ->
    if runs_on s n i then Array.init p.resources (fun r -> float (t.t_takes n i r)) else [||])) in
  let weight = Array.init p.users (fun n -> float (p.weight n)) in
  let has = Array.init p.users (fun n -> float (t.t_tasks n)) and g = Array.init p.users (fun n -> float (t.t_g n)) in
  let limit = Array.init p.users (fun n -> match p.limit n with Some l -> float l | None -> infinity) in
  let worth n k without =
    let total = ref 0. in
    Array.iteri (fun i held ->
      let held = if i = without then held -. 1. else held in
      if held > 0. && takes.(n).(i) <> [||] then begin
        let least = ref infinity in
        Array.iteri (fun r d -> if d > 0. then
          least := Float.min !least (held *. takes.(k).(i).(r) /. d)) takes.(n).(i);
        total := !total +. !least
      end) x.(k);
    (has.(n) -. Float.min limit.(n) (!total *. weight.(n) /. weight.(k))) /. g.(n) in
  let of_pair n k =
    let best = ref (worth n k (-1)) in
    if up_to_one then Array.iteri (fun i held -> if held >= 1. then best := Float.max !best (worth n k i)) x.(k);
    !best in
  let is_exact n k =
    let due = due t m n and at_most v = at_most p n v in
    if up_to_one then
      le due (at_most (worth_of p t n k))
      && List.for_all (fun i -> not (has_task t k i) || le due (at_most (worth_less p t n k i))) (range p.classes)
    else eqq (at_most (worth_of p t n k)) due in
  let near = let m = float m in fun margin -> not (Float.abs (margin -. m) > 1e-9 *. (1. +. Float.abs m)) in
  let active = List.filter (is_active s) (range p.users) in
  let found = List.find_map (fun n -> Option.map (fun k -> n, k)
    (List.find_opt (fun k -> n <> k && near (of_pair n k) && is_exact n k) active)) active in
  match found with Some pair -> pair | None -> raise Exit

(* * Shares *)

(* Computes the share that each user would have alone, and the proof that its share cannot be larger. *)
let shares s worth =
  let { p; t; _ } = s in
  let u = memo2 p.users p.classes worth in
  let empty = { u; most = (fun _ -> zero); best_z = (fun _ _ -> zero); tight = (fun _ -> zero); have = (fun _ -> zero) } in
  let alone n =
    let left = ref (Option.map to_q (p.limit n)) and z = Array.make p.classes zero and tight = ref zero in
    let classes = List.filter (runs_on s n) (range p.classes) in
    let classes = List.sort (fun a b -> Q.compare (to_q (u n b)) (to_q (u n a))) classes in
    List.iter (fun i ->
      let gamma = to_q (t.t_gamma n i) in
      let amount = match !left with Some l -> Q.min l gamma | None -> gamma in
      if Q.sign amount > 0 then begin
        z.(i) <- rational amount;
        left := Option.map (fun l -> Q.sub l amount) !left;
        if !left = Some Q.zero then tight := u n i
      end) classes;
    z, !tight in
  let all = Array.init p.users alone in
  let best_z n i = (fst all.(n)).(i) in
  { empty with best_z; tight = (fun n -> snd all.(n)); most = memo p.users (share_of p empty best_z);
    have = memo p.users (share_of p empty t.t_x) }

let levels s a m value =
  let level value =
    only "covers user_weights prices user_prices? limit_prices?" value;
    let covers = each "covers" (named s.c.on.user) (get "covers" value) in
    let of_user n = to_q (level_of a m n) in
    let base_level = match covers with
      | [] -> zero
      | n :: rest -> rational (List.fold_left (fun low n -> Q.min low (of_user n)) (of_user n) rest) in
    { covers; on_share = amounts s (get "user_weights" value); at_prices = prices s value; base_level } in
  each "levels" level value

(* Charges the digits of a power. Called before the power is computed. *)
let charge_power v exponent = Budget.power (Z.numbits v.qnum + Z.numbits v.qden) exponent
let worths s u a =
  let { p; t; _ } = s in
  let value = memo p.users (value_of p u t.t_x) in
  let price = memo p.users (fun n ->
    charge_power (value n) a;
    let power = to_q (rpower (value n) a) in
    if Q.sign power = 0 then zero else rational (Q.div (to_q (p.weight n)) power)) in
  let spent = List.fold_left (fun sum n -> if is_active s n
    then Q.add sum (Q.mul (to_q (price n)) (to_q (value n))) else sum) Q.zero (range p.users) in
  { v_u = u; v_value = value; v_price = price; v_spent = rational spent }
(* Returns whether numbers are so short that evidence has no rounded numbers. *)
let is_short s v a =
  let bits n = let q = v.v_value n in max (Z.numbits q.qnum) (Z.numbits q.qden) in
  let most = (1 lsl 16) / a in
  List.fold_left (fun sum n -> if sum <= most && is_active s n then sum + bits n else sum) 0 (range s.p.users) <= most

let worth_of s share = memo2 s.p.users s.p.classes (worth_at s.p s.totals share)

let max_min s share m value =
  let a = shares s (worth_at s.p s.totals share) in
  if get "allocation" value <> Absent then begin
    only "user allocation" value;
    Rise (share, a, user s "user" value, field "allocation" (tasks s) value)
  end
  else (only "levels" value; MaxMin (share, a, levels s a m (get "levels" value)))

let bottlenecks s k m value =
  if get "allocation" value <> Absent then begin
    only "user allocation resource" value;
    let r = named s.c.on.resource (get "resource" value) in
    Fallen (k, r, shares s (worth_at s.p s.totals (Resource r)), user s "user" value, field "allocation" (tasks s) value)
  end else begin
    only "resources" value;
    let proofs = Array.make s.p.resources None in
    List.iter (fun (r, v) -> let a = shares s (worth_at s.p s.totals (Resource r)) in
      proofs.(r) <- Some (a, levels s a m v)) (by_name s.c.on.resource Fun.id (get "resources" value));
    Array.iteri (fun r proof -> if (proof <> None) <> bottleneck_at s.p s.t s.totals k r then raise Exit) proofs;
    Bottlenecks (k, fun r -> Option.get proofs.(r))
  end

let proportional s share a value =
  let u = match share with Some share -> worth_of s share | None -> fun _ _ -> rational Q.one in
  let v = worths s u a in
  let nothing n = Nothing (share, v, a, n) in
  if get "user" value <> Absent then (only "user" value; nothing (user s "user" value))
  else begin
    let better = get "better" value in
    if get "values" value <> Absent || ((a > 1 || better <> Absent) && not (is_short s v a))
    then uncovered "evidence with rounded numbers, because the exact numbers are too long";
    if better <> Absent then (only "better" value; Better (share, v, a, inside "better" (tasks s) better))
    else (only "prices user_prices? limit_prices?" value; Proportional (share, v, a, prices s value))
  end

let ps_dsf s =
  let { p; t; _ } = s in
  PsDsf (memo2 p.users p.classes (fun n i -> if not (runs_on s n i) then zero else
    rational (Q.div (to_q (t.t_tasks n)) (Q.mul (to_q (p.weight n)) (to_q (t.t_gamma n i))))))

(* Raises [Exit] unless all prices are empty. They must be empty if no user can have any tasks, or if no user wants more. *)
let empty names value =
  only names value;
  if List.exists (fun (name, v) -> v <> if name = "limit_prices" then List [] else Object []) (obj value) then raise Exit
let weights_and_prices = "user_weights prices user_prices? limit_prices?" and bare_prices = "prices user_prices? limit_prices?"
let unwanted s share = Unwanted (share, shares s (worth_at s.p s.totals share))
let without_levels s k value =
  only "resources" value;
  let of_resource (name, v) = if v <> List [] then raise Exit; find s.c.on.resource name in
  if List.sort compare (List.map of_resource (obj (get "resources" value)))
    <> List.filter (bottleneck_at s.p s.t s.totals k) (range s.p.resources) then raise Exit

(* Returns a claim in the form of Certificate.v. Raises [Exit] if the evidence is not the evidence of such a claim. If the
   allocation alone decides the axiom, no evidence is read. *)
let claim s (c : stated_claim) =
  let value = match c.evidence with Absent -> Object [] | v -> v in
  let nobody = not (List.exists (is_active s) (range s.p.users)) in
  let better name = get name value <> Absent && (only name value; true) in
  let m = Option.value c.statement.margin ~default:zero in
  match c.statement.about, c.statement.says, c.statement.margin with
  | OfFeasible, _, None -> NoBound
  | OfFeasible, _, _ -> Feasible
  | OfIntegerFeasible, None, _ -> NotSingle
  | OfIntegerFeasible, _, None -> NoLimit
  | OfIntegerFeasible, _, _ -> Integer
  | OfNonWasteful, _, _ -> NonWasteful
  | OfEnvyFree, _, None -> NoPair
  | OfEnvyFree, _, _ -> let n, k = pair s false m in Envy (hints s m, n, k)
  | OfEf1, None, _ -> NotWhole
  | OfEf1, _, None -> NoPair1
  | OfEf1, _, _ -> let n, k = pair s true m in Ef1 (hints s m, n, k)
  | (OfWorkConserving | OfSharingIncentive | OfNjc | OfPsDsf), _, None -> Idle
  | OfWorkConserving, _, _ -> Conserving
  | OfSharingIncentive, _, _ -> Sharing
  | OfNjc, _, _ -> Njc
  | OfPsDsf, _, _ -> ps_dsf s
  | OfIntegerParetoOptimal, None, _ -> NotWhole
  | (OfParetoOptimal | OfProportional (None, _)), None, _ -> NonWasteful (* It is refused: these axioms always apply. *)
  | OfBottleneck k, None, _ -> NoBottleneck k
  | (OfMaxMin share | OfProportional (Some share, _)), None, _ -> Undefined (share, worth_of s share)
  | OfParetoOptimal, _, None -> empty weights_and_prices value; Idle
  | OfIntegerParetoOptimal, _, None -> empty weights_and_prices value; IdleWhole
  | OfProportional (None, _), _, None when nobody -> empty bare_prices value; Idle
  | OfProportional (Some share, _), _, None when nobody -> empty bare_prices value; IdleShare (share, worth_of s share)
  | OfMaxMin share, _, None ->
    only "levels" value;
    (* A level that covers no user proves nothing. It is still read, so that malformed levels are reported. *)
    let read = levels s (shares s (worth_at s.p s.totals share)) m (get "levels" value) in
    if List.exists (fun level -> level.covers <> []) read then raise Exit;
    if nobody then IdleShare (share, worth_of s share) else unwanted s share
  | OfBottleneck k, _, None ->
    without_levels s k value;
    if nobody then IdleBottleneck k
    else UnwantedBottleneck (k, fun r -> shares s (worth_at s.p s.totals (Resource r)))
  | OfParetoOptimal, _, _ ->
    if better "dominating" then Dominated (field "dominating" (tasks s) value)
    else begin
      only weights_and_prices value;
      Pareto (amounts s (get "user_weights" value), prices s value)
    end
  | OfIntegerParetoOptimal, _, _ ->
    if better "dominating" then begin
      let all = field "dominating" (read_placing s.c.on) value in
      let l = placing_of all in
      BetterPlacing (l, places_of s.p s.t l, at2 (sums s.c.on all))
    end else begin
      only weights_and_prices value;
      WholePrices (amounts s (get "user_weights" value), prices s value)
    end
  | OfMaxMin share, _, _ -> max_min s share m value
  | OfBottleneck k, _, _ -> bottlenecks s k m value
  | OfProportional (share, a), _, _ -> proportional s share a value
  | (OfLimits | OfGuarantees | OfRoot _ | OfGroupSharing | OfGroupEnvy | OfTree | Another), _, _ -> raise Exit
let evidence s (c : stated_claim) =
  if c.statement.says = None && c.evidence <> Absent && obj c.evidence <> [] then raise Exit;
  match c.statement.about, c.statement.says, c.statement.margin with
  | (OfLimits | OfGuarantees), None, _ -> OfGroups NotAbout
  | OfLimits, _, None -> OfGroups Unlimited
  | OfLimits, _, _ -> OfGroups Limited
  | OfGuarantees, _, None -> OfGroups Nobody
  | OfGuarantees, _, _ -> OfGroups Guaranteed
  | Another, _, _ -> OfProblem NonWasteful (* No claim about such an axiom is covered. *)
  | _ -> OfProblem (claim s c)
