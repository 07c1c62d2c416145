(* Reads evidence about the comparison of groups, about the filling without groups, and about alphas whose powers are
   enclosed by intervals. This file is not trusted, like evidence.ml. *)
open Proved
open Json
open Reader
open Evidence

type further = { groups : Groups.t; parties : party_tables }
let further s (groups : Groups.t) =
  let g = groups.grouping and n = s.p.users in
  let all = g.groups + n in
  let member = { t_members = (fun _ -> []); t_holds = (fun _ _ _ -> zero); t_part = (fun _ -> zero) } in
  let member = { member with t_members = memo all (make_members s.p g s.t s.h) } in
  let member = { member with t_holds = memo3 all s.p.classes s.p.resources (make_holds s.t member) } in
  { groups; parties = { member with t_part = memo all (fun k ->
      if somebody member k then make_part s.p g groups.siblings s.t member k else zero) } }

let judge s f only_limits statement evidence =
  Proved.judge s.p s.x s.placing f.groups.grouping f.groups.siblings s.t s.totals s.places s.h f.parties
    (rational s.c.tolerance) only_limits statement evidence

(* * Parties *)

let party s f value =
  only "group? user?" value;
  match given (get "group" value), given (get "user" value) with
  | Some name, None -> named f.groups.names name
  | None, Some name -> f.groups.grouping.groups + named s.c.on.user name
  | _ -> malformed "expected one of the fields `group` and `user`; write exactly one of them"

let parties s f envy (c : stated_claim) value =
  let g = f.groups.grouping in
  let all = range (g.groups + s.p.users) in
  let is_compared k h = if envy then t_compared s.p g f.groups.siblings f.parties k h else k = h && somebody f.parties k in
  if get "allocation" value <> Absent then begin
    only (if envy then "of envied allocation" else "of allocation") value;
    let k = party s f (get "of" value) in
    let h = if envy then party s f (get "envied" value) else k in
    OfParties (Gains (envy, k, h, field "allocation" (tasks s) value))
  end else begin
    if value <> Object [] then only "proofs" value;
    let rows = match get "proofs" value with Absent -> [] | v -> list v in
    let proofs = Hashtbl.create 16 in
    let add row =
      only ("of user_weights prices user_prices?" ^ if envy then " envied" else "") row;
      let k = party s f (get "of" row) in
      let weights = by_name s.c.on.user (number computed) (get "user_weights" row) in
      let of_users = by_name s.c.on.user (number computed) (get "user_prices" row) in
      let proof = { on_tasks = at (Reader.row s.p.users weights); party_prices = prices s row } in
      let others = if envy then List.map (party s f) (list (get "envied" row)) else [k] in
      let is_own (n, _) = List.mem n (f.parties.t_members k) in
      if not (List.for_all is_own weights && List.for_all is_own of_users) then raise Exit;
      List.iter (fun h ->
        if not (is_compared k h) || Hashtbl.mem proofs (k, h) then raise Exit;
        Hashtbl.add proofs (k, h) proof) others in
    List.iter add rows;
    let missing k = List.exists (fun h -> is_compared k h && not (Hashtbl.mem proofs (k, h))) in
    if List.exists (fun k -> missing k (if envy then all else [k])) all then raise Exit;
    match c.statement.margin with
    | None -> OfParties (NoParties envy)
    | Some _ -> OfParties (Compared (envy, fun k h -> Hashtbl.find proofs (k, h)))
  end

(* * The filling *)

(* Builds levels from the prices that stop users. The levels prove that the filling is the max-min allocation. *)

let filling s f value =
  let y, rows = Turns.stated s value in
  let ended = Evidence.case { s.c with x = y; placing = None } f.groups in
  let a = shares ended (worth_at s.p s.totals Drfh) in
  let users = List.filter (is_active s) (range s.p.users) in
  let total n = to_q (ended.t.t_tasks n) in
  let waits = List.filter (fun n -> match s.p.limit n with Some l -> Q.lt (total n) (to_q l) | None -> true) users in
  let stopped = Array.make s.p.users false in
  let level row =
    let worth = Turns.worth_in s [] row and bound = Turns.bound_of s [] row in
    let reached = List.fold_left (fun sum n -> Q.add sum (Q.mul worth.(n) (total n))) Q.zero users in
    if not (Q.equal bound reached) then None else begin
      let valued = List.filter (fun n -> Q.sign worth.(n) > 0) users in
      let have n = to_q (a.have n) in
      let top = List.fold_left (fun top n -> Q.max top (have n)) Q.zero valued in
      let now = List.filter (fun n -> Q.equal (have n) top && List.mem n waits && not stopped.(n)) valued in
      List.iter (fun n -> stopped.(n) <- true) now;
      let covers = List.filter (fun n -> Q.lt (have n) (to_q (a.most n))) now in
      let on_share = Array.init s.p.users (fun n -> let u = to_q (a.u n 0) in
        if Q.sign worth.(n) > 0 && Q.sign u > 0 then rational (Q.div (Q.mul worth.(n) (to_q (s.p.weight n))) u) else zero) in
      if covers = [] then None
      else Some { covers; on_share = at on_share; at_prices = row;
        base_level = rational top }
    end in
  let levels = List.filter_map level rows in
  if not (List.for_all (fun n -> stopped.(n)) waits) then raise Exit;
  OfFilling (Ends { ends_with = at2 y; its_tables = ended.t; its_shares = a; its_levels = levels })

(* * Intervals that enclose powers *)

let roots s share a q value up =
  let u = match share with Some share -> worth_of s share | None -> fun _ _ -> rational Q.one in
  let v = worths s u a in
  let low = Array.make s.p.users zero and high = Array.make s.p.users zero in
  if q = 1 then List.iter (fun n -> low.(n) <- v.v_price n; high.(n) <- v.v_price n) (range s.p.users);
  List.iter (fun (n, ends) ->
    only "least most" ends;
    low.(n) <- number_at (get "least" ends); high.(n) <- number_at (get "most" ends))
    (by_name s.c.on.user Fun.id (get "values" value));
  let charge n =
    charge_power low.(n) q; charge_power high.(n) q; charge_power (s.p.weight n) q; charge_power (v.v_value n) a in
  List.iter charge (List.filter (is_active s) (range s.p.users));
  let spent = List.fold_left (fun sum n -> if is_active s n
    then Q.add sum (Q.mul (to_q (if up then high else low).(n)) (to_q (v.v_value n))) else sum) Q.zero (range s.p.users) in
  { r_u = u; r_value = v.v_value; r_low = at low; r_high = at high; r_spent = rational spent }

let root s share a q (c : stated_claim) value =
  let nobody = not (List.exists (is_active s) (range s.p.users)) in
  match c.statement.says, c.statement.margin with
  | None, _ -> OfRoots (RootUndefined (match share with Some share -> worth_of s share | None -> raise Exit))
  | _, None when nobody -> empty bare_prices value; OfRoots RootIdle
  | _ ->
    if get "user" value <> Absent then begin
      only "user" value;
      let u = match share with Some share -> worth_of s share | None -> fun _ _ -> rational Q.one in
      let worths = { v_u = u; v_value = (fun _ -> zero); v_price = (fun _ -> zero); v_spent = zero } in
      OfRoots (RootNothing (worths, user s "user" value))
    end
    else if get "better" value <> Absent then begin
      only "better values?" value;
      OfRoots (RootBetter (roots s share a q value true, field "better" (tasks s) value))
    end else begin
      only "prices user_prices? limit_prices? values?" value;
      OfRoots (RootPrices (roots s share a q value false, prices s value))
    end

(* * Gangs within limits on classes *)

(* Raises [Budget.Too_large] if the proved search would take too many steps. The search tries numbers of tasks by class. The
   steps of an unsuccessful search are counted by the number of tasks that already have a class. For gangs of more than 200
   tasks, an upper bound is used instead. *)
let search_is_small s f placing =
  let classes = s.p.classes and most = float_of_int !Budget.most_cells /. 5. in
  let count n =
    let bars = List.length (bars_of s.p f.groups.grouping s.h n) and gang = to_q (s.p.gang n) in
    let fits i = Q.to_float (Q.min gang (to_q (most_on s.p s.t placing s.places n i))) in
    if bars = 0 then 0.
    else if Q.gt gang (Q.of_int 200) then List.fold_left (fun all i -> all *. (fits i +. 1.)) 1. (range classes)
    else begin
      let gang = Z.to_int (Q.num gang) in
      let ways = ref (Array.init (gang + 1) (fun t -> if t = 0 then 1. else 0.)) and all = ref 0. in
      List.iter (fun i ->
        let most = int_of_float (fits i) in
        let more t = List.fold_left (fun sum c -> if c <= t then sum +. !ways.(t - c) else sum) 0. (range (most + 1)) in
        ways := Array.init (gang + 1) more;
        all := Array.fold_left (+.) !all !ways) (range classes);
      !all
    end *. float_of_int (classes + bars) in
  let add sum n = if is_active s n && is_pending s.p s.t n then sum +. count n else sum in
  if List.fold_left add 0. (range s.p.users) > most then raise Budget.Too_large

(* * All claims *)

(* Reads the evidence of a claim of any kind. *)
let evidence s f (c : stated_claim) =
  let value = match c.evidence with Absent -> Object [] | v -> v in
  if c.statement.says = None && c.evidence <> Absent && obj c.evidence <> [] then raise Exit;
  let is_kept v = List.exists (fun r -> sign (s.h.t_kept_back v r) <> 0) (range s.p.resources) in
  let is_comparable () = not (List.exists s.p.timed (range s.p.classes) || List.exists is_kept (range f.groups.grouping.groups)) in
  match c.statement.about, c.statement.says, c.statement.margin with
  | about, None, _ when s.limited && compares about && not (is_comparable ()) -> NotComparable
  | (OfGroupSharing | OfGroupEnvy), None, _ -> OfGroups NotAbout
  | OfWorkConserving, _, _ when hold_back s.p f.groups.grouping && (c.statement.says = None || c.statement.margin <> None) ->
    Option.iter (search_is_small s f) s.placing; OfStops
  | OfGroupSharing, _, _ -> parties s f false c value
  | OfGroupEnvy, _, _ -> parties s f true c value
  | OfTree, None, _ -> OfFilling (NotFilled (worth_of s Drfh))
  | OfTree, _, None ->
    ignore (Turns.stated s value);
    let is_some (_, of_user) = List.exists (fun (_, q) -> Q.sign (number computed q) <> 0) (obj of_user) in
    if List.exists is_some (obj (get "filling" value)) then raise Exit;
    OfFilling NobodyFilled
  | OfTree, _, _ when is_level f.groups.grouping f.groups.siblings -> filling s f value
  | OfTree, _, _ -> OfFilling (Turns (worth_of s Drfh, Turns.follow s f.groups value))
  | OfRoot (share, a, q), _, _ -> root s share a q c value
  | OfProportional (share, a), Some _, Some _ when get "values" value <> Absent -> root s share a 1 c value
  | _ -> Evidence.evidence s c
