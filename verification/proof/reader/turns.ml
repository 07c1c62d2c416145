(* Computes the evidence of `tree` with groups, or with another share than the default. The evidence is the filling, stretch by
   stretch, until the prices of the certificate leave users no room. This file is not trusted, like evidence.ml. *)
open Proved
open Json
open Reader
open Evidence

(* The largest number of comparisons of two terms in a filling, which is smaller in a browser; and the largest number of
   entries of its tables *)
let most_comparisons () = !Budget.most_cells / 2 and most_entries = 20_000

(* Returns the least cost of a task of each user, at prices of rows and of limits on classes. Classes from which a limit of 0
   bars the user do not count. *)
let worth_in s (on : limit_row list) prices =
  let row = prices.on_row and g = s.grouping and shut = List.filter (fun w -> sign w.top = 0) on in
  let dear = List.filter (fun w -> sign (price_of s.p prices w) <> 0) on in
  let cost n i = List.fold_left (fun sum r -> Q.add sum (Q.mul (to_q (row i r)) (to_q (s.t.t_takes n i r))))
    (to_q (charge s.p g dear prices n i)) (range s.p.resources) in
  let is_open n i = runs_on s n i && not (bars_user g shut n i) in
  Array.init s.p.users (fun n -> match List.filter (is_open n) (range s.p.classes) with
    | first :: rest when is_active s n -> List.fold_left (fun least i -> Q.min least (cost n i)) (cost n first) rest
    | _ -> Q.zero)
(* Returns the cost of all capacity and of all limits, at these prices. *)
let bound_of s on prices = let row = prices.on_row in List.fold_left (fun sum i -> List.fold_left (fun sum r ->
  Q.add sum (Q.mul (to_q (row i r)) (to_q (s.t.t_full i r)))) sum (range s.p.resources)) (to_q (paid s.p on prices)) (range s.p.classes)

(* Reads the end of the filling and the price vectors. Adds one price vector for each resource, with the price 1 on all classes. *)
let stated s value =
  only "filling prices limit_prices?" value;
  let y = read_tasks s.c.on (get "filling" value) in
  let vectors = List.map (fun rows -> (prices s (Object ["prices", rows])).on_row) (list (get "prices" value)) in
  let on = List.filter (fun bar -> bar.bar_classes <> []) s.bars in
  let limits = match get "limit_prices" value with
    | Absent -> List.map (fun _ -> [||]) vectors
    | v ->
      if List.length (list v) <> List.length vectors then malformed "limit_prices: there are %d lists of prices of limits and %d price vectors; write one list for every vector"
        (List.length (list v)) (List.length vectors);
      List.map (limit_prices s on Exit) (list v) in
  let none _ = zero and at_ limits k = if k < Array.length limits then limits.(k) else zero in
  let with_limits row limits = { on_row = (fun i r -> if i = s.p.classes then at_ limits r else row i r); on_user = none } in
  let one_resource r = { on_row = (fun i h -> if i < s.p.classes && h = r then rational Q.one else zero); on_user = none } in
  y, List.map2 with_limits vectors limits @ List.map one_resource (range s.p.resources)

let follow s (groups : Groups.t) value =
  let y, rows = stated s value in
  let p = s.p and g = groups.grouping in
  let n = p.users and m = p.resources and v = g.groups in
  let all = nodes p g in
  if List.length all * m > most_entries then uncovered "a filling whose tables are too large";
  let index = function Root -> 0 | Team v -> 1 + v | One n -> 1 + v + n in
  let by_node f = let table = Array.of_list (List.map f all) in fun c -> table.(index c) in
  let by_node2 f = let table = by_node (fun c -> Array.init m (f c)) in fun c r -> (table c).(r) in
  let said = the_facts p g groups.siblings in
  let facts = { said with line_of = memo n said.line_of; asked = memo2 n m said.asked; weight_of = by_node said.weight_of;
    weighs_nothing = by_node said.weighs_nothing; priority_of = by_node said.priority_of; keep = memo2 v m said.keep;
    pledged = memo2 v m said.pledged; most_of = memo2 v m said.most_of; whole = memo m said.whole; whole_kept = memo m said.whole_kept;
    times = memo m said.times; kin = memo m said.kin; over = by_node2 said.over; all_tasks = memo n said.all_tasks } in
  let stock t = { used = by_node2 (in_use g n facts (v + 1) t); running = by_node2 (runs_of g n facts (v + 1) t) } in
  let on = rows_on p g in
  let stops = List.map (fun prices -> worth_in s on prices, bound_of s on prices, prices) rows in
  let shut = List.filter (fun w -> sign w.top = 0) on in
  let is_open n = List.exists (fun i -> runs_on s n i && not (bars_user g shut n i)) (range p.classes) in
  let users = range n in
  let sum worth of_user = List.fold_left (fun sum n -> Q.add sum (Q.mul worth.(n) of_user.(n))) Q.zero users in
  let ends = Array.init n (fun n -> List.fold_left (fun sum i -> Q.add sum (to_q y.(n).(i))) Q.zero (range p.classes)) in
  let left = ref (most_comparisons ()) in
  let rec go t now made =
    let tasks = Array.map rational t in
    let has_room n = is_open n && not (List.exists (fun (worth, bound, _) -> Q.sign worth.(n) > 0 && Q.leq bound (sum worth t)) stops) in
    let grows = Array.init n (fun n -> is_active s n && clear m facts now (at tasks) n && has_room n) in
    match List.filter (at grows) users with
    | [] -> if Array.for_all2 Q.equal t ends then List.rev made else raise Exit
    | who ->
      let in_the_end = { ft = facts; ending = at2 y; at_start = now; stops = []; stretches = [] } in
      List.iter (fun n -> if Q.geq t.(n) ends.(n) && not (has_spare p g s.t in_the_end (at tasks) n)
        then uncovered "a filling in which a user waits and never gets more tasks") who;
      let rates = turn g n m facts now (v + 1) Root who in
      let rate = Array.make n Q.zero in
      List.iter (fun (n, q) -> rate.(n) <- Q.add rate.(n) (to_q q)) rates;
      let below = by_node (fun c -> List.filter (fun (n, _) -> Proved.under facts c n) rates) in
      (* The time of the next event, at which the difference of two quantities becomes 0. Quantities change at constant rates. *)
      let first = ref None in
      let at_time q = match !first with Some earlier when Q.leq earlier q -> () | _ -> first := Some q in
      let meet (a, a') (b, b') =
        let apart = Q.sub a b and faster = Q.sub a' b' in
        if Q.sign apart * Q.sign faster < 0 then at_time (Q.neg (Q.div apart faster)) in
      let still q = to_q q, Q.zero in
      let use c r = to_q (now.used c r), to_q (used_faster facts now (below c) c r) in
      List.iter (fun n -> Option.iter (fun all -> meet (t.(n), rate.(n)) (still all)) (facts.all_tasks n)) users;
      List.iter (fun (worth, bound, _) -> meet (sum worth t, sum worth rate) (bound, Q.zero)) stops;
      List.iter (fun r ->
        meet (use Root r) (still (facts.whole r));
        List.iter (fun v -> List.iter (Option.iter (fun mark -> meet (use (Team v) r) (still mark)))
          [Some (facts.keep v r); facts.pledged v r; facts.most_of v r]) (range v);
        List.iter (fun c -> meet (to_q (extra facts now c r), snd (use c r)) (still zero)) all) (range m);
      List.iter (fun kind -> List.iter (fun parent ->
        let terms = List.concat_map (fun c -> List.map (fun i ->
          to_q (Proved.value m facts now kind c i), to_q (faster m facts now kind (below c) c i)) (range m)) (kids g n parent) in
        let n = List.length terms in
        left := !left - (n * n);
        if !left < 0 then uncovered "a filling with too many comparisons";
        List.iter (fun a -> meet a (still zero); List.iter (meet a) terms) terms) all) [Share; Below; Held; HeldBelow];
      match !first with
      | None -> raise Exit
      | Some len ->
        let later part = Array.mapi (fun n q -> Q.add q (Q.mul (Q.mul part len) rate.(n))) t in
        let next = later Q.one in
        let to_ t = at (Array.map rational t) in
        let at_end = stock (to_ next) in
        let stretch = { lasts = rational len; growing = at grows; goes_to = to_ next; at_end;
          at_middle = stock (to_ (later (Q.of_ints 1 2))) } in
        decr left;
        go next at_end (stretch :: made) in
  let nothing = Array.make n Q.zero in
  let at_start = stock (fun _ -> zero) in
  { ft = facts; ending = at2 y; at_start; stretches = go nothing at_start [];
    stops = List.map (fun (worth, _, prices) -> at (Array.map rational worth), prices) stops }
