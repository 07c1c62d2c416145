(* Tables, and the evidence of claims. Nothing here is believed: the checkers that are extracted from Coq compute
   every table again, and judge every claim that is made of the evidence. *)
open Proved
open Json
open Reader

let memo n f = at (Array.init n f)
let memo2 n m f = at2 (Array.init n (fun i -> Array.init m (f i)))
let memo3 n m l f = at3 (Array.init n (fun i -> Array.init m (fun j -> Array.init l (f i j))))

type case = { c : certificate; p : problem; x : int -> int -> q; t : tables; totals : int -> q;
  placing : placing option; places : places; groups : Groups.t; h : group_tables Lazy.t }

let places_of p t l =
  let places = { l_one = memo2 p.classes p.resources (make_one p t); l_listed = memo p.classes (make_listed l);
    l_free = (fun _ _ -> zero) } in
  { places with l_free = memo2 l.servers p.resources (make_free p t l places) }

let case (c : certificate) =
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
  let groups = Groups.read c.on in
  let of_groups = groups.grouping in
  let v = of_groups.groups in
  let h = lazy { t_use = memo2 v m (ruse p of_groups t.t_x v); t_promise = memo2 v m (rpromised of_groups v);
    t_kept_back = memo2 v m (rkept of_groups v); t_total = memo m (rtotal_of p); t_above = memo n (above of_groups) } in
  { c; p; x; t; totals = memo m (rtotal p); placing; places; groups; h }

let sign v = Z.sign v.qnum
let is_active s n = sign (s.t.t_g n) > 0
let runs_on s n i = sign (s.t.t_gamma n i) > 0
let takes s n i r = sign (s.t.t_takes n i r) > 0
let range n = List.init n Fun.id

(* The row of a class: a resource that it has, or its time *)
let row_named s i name =
  if s.p.timed i then if name = "time" then 0 else malformed "the server has no `%s` that is shared" name
  else
    let r = find s.c.on.resource name in
    if sign (s.t.t_full i r) > 0 then r else malformed "the server has no `%s` that is shared" name
let by_row s i read value = List.map (fun (name, v) -> let r = row_named s i name in (r, read v)) (obj value)
let number_at v = rational (number computed v)
let user s name value = named s.c.on.user (get name value)
let server s name value = named s.c.on.server (get name value)
let amounts s value = at (row s.p.users (by_name s.c.on.user (number computed) value))
let tasks s value = at2 (read_tasks s.c.on value)

let prices s value =
  let rows = Array.make_matrix s.p.classes s.p.resources zero in
  let server = s.c.on.server in
  List.iter (fun (name, of_class) ->
    let i = find server name in
    List.iter (fun (r, p) -> rows.(i).(r) <- p) (by_row s i number_at of_class))
    (match get "prices" value with Absent -> [] | v -> obj v);
  { on_row = at2 rows; on_user = amounts s (get "user_prices" value) }

(* What evidence names as {"tightest": {...}}, or as a violation with an amount *)
let tightest s names amount value =
  match get "tightest" value with
  | Absent -> only (names ^ " " ^ amount) value; value, Some (number_at (get amount value))
  | inner -> only "tightest" value; only names inner; ignore s; inner, None

let limits s value =
  let has name = get name value <> Absent in
  let slack = number_at (get "slack" value) in
  if has "resource" then begin
    only "server resource slack" value;
    let i = server s "server" value in
    Row (i, row_named s i (text (get "resource" value))), slack
  end
  else if has "server" then (only "user server slack" value; Entry (user s "user" value, server s "server" value), slack)
  else (only "user slack" value; Tasks (user s "user" value), slack)

(* A single server: its place among those that are listed, or none *)
let single s i index = match s.c.placing with
  | None -> if index = 0 then Some i else None
  | Some all ->
    let found = ref None in
    Array.iteri (fun k a -> if a.of_class = i && a.index = index then found := Some k) all; !found
let index_of value = integer 0 1_000_000_000_000 (get "index" value)
let integer_limits s value =
  let slack = number_at (get "slack" value) in
  let on () = let i = server s "server" value in
    i, match single s i (index_of value) with Some k -> k | None -> raise Exit in
  if get "resource" value <> Absent then begin
    only "server index resource slack" value;
    let i, k = on () in RowOf (k, row_named s i (text (get "resource" value))), slack
  end
  else if get "server" value <> Absent then begin
    only "user server index slack" value;
    EntryOf (snd (on ()), user s "user" value), slack
  end
  else (only "user slack" value; TasksOf (user s "user" value), slack)

(* Rows of every class, by user *)
let lists_by_user s value =
  let rows = Array.make s.p.users None in
  List.iter (fun (n, of_user) ->
    let row = Array.make s.p.classes None in
    List.iter (fun (name, v) ->
      let i = find s.c.on.server name in
      let one v = row_named s i (text v) in
      row.(i) <- Some (match v with List l -> List.map one l | v -> [one v])) (obj of_user);
    Array.iteri (fun i r -> if (r <> None) <> runs_on s n i then raise Exit) row;
    rows.(n) <- Some (fun i -> Option.value row.(i) ~default:[])) (by_name s.c.on.user Fun.id value);
  at rows

(* A row for every class, by user *)
let rows_by_user s value =
  let rows = Array.make s.p.users None in
  List.iter (fun (n, of_user) ->
    let row = Array.make s.p.classes (-1) in
    List.iter (fun (name, v) -> let i = find s.c.on.server name in row.(i) <- row_named s i (text v)) (obj of_user);
    Array.iteri (fun i r -> if (r >= 0) <> runs_on s n i then raise Exit) row;
    rows.(n) <- Some (fun i -> max 0 row.(i))) (by_name s.c.on.user Fun.id value);
  at rows

(* * Envy: whole numbers that settle most pairs *)
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

(* * Shares: what everybody would have alone, and why no more *)
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
    only "covers user_weights prices user_prices?" value;
    let covers = List.map (named s.c.on.user) (list (get "covers" value)) in
    let of_user n = to_q (level_of a m n) in
    let base_level = match covers with
      | [] -> zero
      | n :: rest -> rational (List.fold_left (fun low n -> Q.min low (of_user n)) (of_user n) rest) in
    { covers; on_share = amounts s (get "user_weights" value); at_prices = prices s value; base_level } in
  List.map level (list value)

let worths s u a =
  let { p; t; _ } = s in
  let value = memo p.users (value_of p u t.t_x) in
  let price = memo p.users (fun n ->
    let power = to_q (rpower (value n) a) in
    if Q.sign power = 0 then zero else rational (Q.div (to_q (p.weight n)) power)) in
  let spent = List.fold_left (fun sum n -> if is_active s n
    then Q.add sum (Q.mul (to_q (price n)) (to_q (value n))) else sum) Q.zero (range p.users) in
  { v_u = u; v_value = value; v_price = price; v_spent = rational spent }
(* Beyond so many bits the kernel rounds. *)
let is_short s v a =
  let bits n = let q = v.v_value n in max (Z.numbits q.qnum) (Z.numbits q.qden) in
  a * List.fold_left (fun sum n -> if is_active s n then sum + bits n else sum) 0 (range s.p.users) <= 1 lsl 16

let bottleneck = function
  | "bottleneck-fair" -> OnEveryClass | "global-bottleneck-fair" -> OfTheCluster | _ -> Single
let worth_of s share = memo2 s.p.users s.p.classes (worth_at s.p s.totals share)

let max_min s share m value =
  let a = shares s (worth_at s.p s.totals share) in
  if get "allocation" value <> Absent then begin
    only "user allocation" value;
    Rise (share, a, user s "user" value, tasks s (get "allocation" value))
  end
  else (only "levels" value; MaxMin (share, a, levels s a m (get "levels" value)))

let bottlenecks s k m value =
  if get "allocation" value <> Absent then begin
    only "user allocation resource" value;
    let r = named s.c.on.resource (get "resource" value) in
    Fallen (k, r, shares s (worth_at s.p s.totals (Resource r)), user s "user" value, tasks s (get "allocation" value))
  end else begin
    only "resources" value;
    let proofs = Array.make s.p.resources None in
    List.iter (fun (r, v) -> let a = shares s (worth_at s.p s.totals (Resource r)) in
      proofs.(r) <- Some (a, levels s a m v)) (by_name s.c.on.resource Fun.id (get "resources" value));
    Array.iteri (fun r proof -> if (proof <> None) <> bottleneck_at s.p s.t s.totals k r then raise Exit) proofs;
    Bottlenecks (k, fun r -> Option.get proofs.(r))
  end

let proportional s (c : stated_claim) value =
  if not (Z.equal (Q.den c.alpha) Z.one) then uncovered "an alpha that is not whole";
  let a = Z.to_int (Q.num c.alpha) in
  let u = match c.share with Some share -> worth_of s share | None -> fun _ _ -> rational Q.one in
  let v = worths s u a in
  let nothing n = Nothing (c.share, v, a, n) in
  if get "user" value <> Absent then (only "user" value; nothing (user s "user" value))
  else begin
    let better = get "better" value in
    if (a > 1 || better <> Absent) && not (is_short s v a) then uncovered "numbers so long that they are rounded";
    if better <> Absent then (only "better" value; Better (c.share, v, a, tasks s better))
    else (only "prices user_prices?" value; Proportional (c.share, v, a, prices s value))
  end

let njc s value =
  if get "user" value <> Absent then begin
    only "user entitlement shares" value;
    let parts = Array.make_matrix s.p.classes s.p.resources None in
    List.iter (fun (name, of_class) ->
      let i = find s.c.on.server name in
      List.iter (fun (r, q) -> parts.(i).(r) <- Some q) (by_row s i number_at of_class)) (obj (get "shares" value));
    Complaint (user s "user" value, number_at (get "entitlement" value), at2 parts)
  end else begin
    only "witness" value;
    let witness = Array.make s.p.users None and named_users = Array.make s.p.users false in
    List.iter (fun (n, v) ->
      named_users.(n) <- true;
      if v <> Text "satisfied" then begin
        only "server resource" v;
        let i = server s "server" v in
        witness.(n) <- Some (i, row_named s i (text (get "resource" v)))
      end) (by_name s.c.on.user Fun.id (get "witness" value));
    Array.iteri (fun n is -> if is <> is_active s n then raise Exit) named_users;
    Njc (at witness)
  end

let ps_dsf s value =
  let { p; t; _ } = s in
  let lev = memo2 p.users p.classes (fun n i -> if not (runs_on s n i) then zero else
    rational (Q.div (to_q (t.t_tasks n)) (Q.mul (to_q (p.weight n)) (to_q (t.t_gamma n i))))) in
  if get "user" value <> Absent then begin
    only "user server lacks" value;
    let i = server s "server" value in
    let stated = Array.make p.resources None in
    List.iter (fun (r, q) -> stated.(r) <- Some q) (by_row s i number_at (get "lacks" value));
    Without (lev, user s "user" value, i, at stated)
  end else begin
    only "bottlenecks" value;
    let all = match get "bottlenecks" value with Absent -> [] | v -> obj v in
    let satisfied, rest = List.partition (fun (_, v) -> v = Text "satisfied") all in
    List.iter (fun (name, _) -> ignore (find s.c.on.user name)) satisfied;
    let rows = rows_by_user s (Object rest) in
    let is_named = Array.make p.users false in
    List.iter (fun (name, _) -> is_named.(find s.c.on.user name) <- true) all;
    Array.iteri (fun n is -> if is <> is_active s n then raise Exit) is_named;
    PsDsf (lev, rows)
  end

(* The claim that Coq knows; [Exit]: the evidence does not fit. *)
let claim s (c : stated_claim) =
  let value = match c.evidence with Absent -> Object [] | v -> v in
  let m = match c.margin with Some m -> rational m | None -> zero in
  let k = bottleneck c.axiom in
  if c.axiom = "work-conserving" && Groups.hold_back s.groups then uncovered "what groups hold back";
  if c.axiom = "group-sharing-incentive" || c.axiom = "group-envy-free" then uncovered "what groups gain";
  if c.axiom = "tree" then uncovered "what hierarchical filling ends with";
  if c.holds = None then begin
    if c.margin <> None || obj value <> [] then raise Exit;
    match c.axiom, c.share with
    | ("max-min" | "proportional"), Some share -> Undefined (share, worth_of s share)
    | ("bottleneck-fair" | "global-bottleneck-fair" | "single-resource-fair"), _ -> NoBottleneck k
    | "integer-feasible", _ -> NotSingle
    | ("ef1" | "integer-pareto-optimal"), _ -> NotWhole
    | axiom, _ -> uncovered "that `%s` does not apply" axiom
  end else begin
    let nobody = not (List.exists (is_active s) (range s.p.users)) in
    let is_idle = c.margin = None && nobody
      && match c.axiom, obj value, c.share with
        | ("work-conserving" | "njc" | "ps-dsf" | "sharing-incentive"), [], _
        | "work-conserving", ["short", Object []], _ | "njc", ["witness", Object []], _
        | "ps-dsf", ["bottlenecks", Object []], _ -> true
        | "proportional", fields, _ ->
          only "prices user_prices?" value; List.for_all (fun (_, v) -> v = Object []) fields
        | ("pareto-optimal" | "integer-pareto-optimal"), fields, _ ->
          only "user_weights prices user_prices?" value; List.for_all (fun (_, v) -> v = Object []) fields
        | _ -> false in
    let nobody_wants = c.margin = None && match c.axiom, obj value with
      | "max-min", ["levels", List []] -> true
      | ("bottleneck-fair" | "global-bottleneck-fair" | "single-resource-fair"), ["resources", Object by_resource] ->
        List.for_all (fun (_, v) -> v = List []) by_resource &&
        List.sort compare (List.map (fun (name, _) -> find s.c.on.resource name) by_resource) =
          List.filter (bottleneck_at s.p s.t s.totals k) (range s.p.resources)
      | _ -> false in
    (match c.axiom, c.margin with
     | _, None when nobody_wants -> ()
     | ("envy-free" | "ef1"), None when obj value = [] -> ()
     | ("feasible" | "integer-feasible"), None when obj value = [] -> ()
     | _, None when is_idle -> ()
     | "proportional", None when get "user" value <> Absent -> ()
     | _, None -> uncovered "a claim of `%s` without a margin" c.axiom
     | "proportional", Some _ when get "user" value <> Absent -> raise Exit
     | _ -> ());
    let pair names amount of_place =
      let place, stated = tightest s names amount value in
      let n = user s "user" place in
      let gain = Q.neg (Q.mul (to_q m) (to_q (s.t.t_g n))) in
      (match stated, c.holds with
       | None, Some true -> ()
       | Some v, Some false when Q.equal (to_q v) gain -> ()
       | _ -> raise Exit);
      of_place n place in
    match c.axiom with
    | "proportional" when is_idle && c.share <> None ->
      let share = Option.get c.share in IdleShare (share, worth_of s share)
    | "max-min" when nobody_wants && nobody -> let share = Option.get c.share in IdleShare (share, worth_of s share)
    | _ when nobody_wants && nobody -> IdleBottleneck k
    | "max-min" when nobody_wants ->
      let share = Option.get c.share in Unwanted (share, shares s (worth_at s.p s.totals share))
    | _ when nobody_wants -> UnwantedBottleneck (k, fun r -> shares s (worth_at s.p s.totals (Resource r)))
    | "integer-pareto-optimal" when is_idle -> IdleWhole
    | _ when is_idle && c.axiom <> "envy-free" && c.axiom <> "ef1" -> Idle
    | "feasible" when c.margin = None -> NoBound
    | "ef1" when c.margin = None -> NoPair1
    | "integer-feasible" when c.margin = None -> NoLimit
    | "feasible" -> if obj value = [] then raise Exit else
        let k, slack = limits s value in Feasible (k, slack)
    | "non-wasteful" -> only "" value; NonWasteful
    | "integer-feasible" -> if obj value = [] then raise Exit else
        let k, slack = integer_limits s value in Integer (k, slack)
    | "ef1" -> pair "user envied server?" "gain" (fun n place ->
      Ef1 (hints s m, n, user s "envied" place, Option.map (named s.c.on.server) (given (get "server" place))))
    | "work-conserving" when s.placing <> None ->
      if get "user" value <> Absent then begin
        only "user server index" value;
        let i = server s "server" value and index = index_of value in
        if index >= s.c.on.counts.(i) then raise Exit;
        PlacedFree (user s "user" value, i, single s i index)
      end else (only "short" value; PlacedShort (lists_by_user s (get "short" value)))
    | "work-conserving" ->
      if get "user" value <> Absent then begin
        only "user server" value; Free (user s "user" value, server s "server" value)
      end else (only "short" value; Short (rows_by_user s (get "short" value)))
    | "envy-free" when c.margin = None -> NoPair
    | "envy-free" -> pair "user envied" "gain" (fun n place -> Envy (hints s m, n, user s "envied" place))
    | "sharing-incentive" -> pair "user" "loss" (fun n _ -> Sharing n)
    | "pareto-optimal" ->
      if get "dominating" value <> Absent
      then (only "dominating" value; Dominated (tasks s (get "dominating" value)))
      else begin
        only "user_weights prices user_prices?" value;
        Pareto (amounts s (get "user_weights" value), prices s value)
      end
    | "integer-pareto-optimal" ->
      if get "dominating" value <> Absent then begin
        only "dominating" value;
        let all = read_placing s.c.on (get "dominating" value) in
        let l = placing_of all in
        BetterPlacing (l, places_of s.p s.t l, at2 (sums s.c.on all))
      end else begin
        only "user_weights prices user_prices?" value;
        WholePrices (amounts s (get "user_weights" value), prices s value)
      end
    | "max-min" -> max_min s (Option.get c.share) m value
    | "njc" -> njc s value
    | "ps-dsf" -> ps_dsf s value
    | "proportional" -> proportional s c value
    | _ -> bottlenecks s k m value
  end

(* A claim about groups *)
let group_claim s (c : stated_claim) =
  let value = match c.evidence with Absent -> Object [] | v -> v in
  let nothing = obj value = [] in
  match c.axiom, c.holds, c.margin with
  | _, None, _ -> if c.margin <> None || not nothing then raise Exit; NotAbout (c.axiom = "guarantees")
  | "limits", Some _, None -> if not nothing then raise Exit; Unlimited
  | "limits", Some _, Some _ ->
    only "group resource slack" value;
    Limited (named s.groups.names (get "group" value), named s.c.on.resource (get "resource" value),
      number_at (get "slack" value))
  | _, Some _, None -> if not nothing then raise Exit; Nobody
  | _, Some holds, Some m ->
    let place, loss = tightest s "user" "loss" value in
    let n = user s "user" place in
    (match loss, holds with
     | None, true -> ()
     | Some v, false when Q.equal (to_q v) (Q.neg (Q.mul m (to_q (s.t.t_g n)))) -> ()
     | _ -> raise Exit);
    Guaranteed n
