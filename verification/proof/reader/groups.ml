(* Groups of users, and what siblings are compared by. Believed of a problem that has groups: what is said of parents,
   weights, guarantees, limits and what is lent. Gangs, pinned tasks and shares are in the hash alone. *)
open Proved
open Json
open Reader

type group = { up : int option; worth : Q.t; priority : Q.t; stated : (int * Q.t) list option; most : (int * Q.t) list;
  lent : (int * Q.t) list }
type t = { names : names; list : group array; member : int option array; gangs : int array; pinned : Q.t array;
  words : string option list; multipliers : (int * Q.t) list; families : bool; grouping : grouping }

let deepest = 100
let one_of words value = match value with
  | Absent -> None
  | v ->
    let word = text v in
    if not (List.mem word words) then malformed "expected one of %s" (String.concat ", " words);
    if word = List.hd words then None else Some word

let read (s : statement) =
  let rows name value = match get name value with Absent -> [] | v -> list v in
  let groups = rows "groups" s.source and users = rows "users" s.source in
  List.iter (only "name parent? weight? priority? guarantee? limit? lend? on?") groups;
  if List.exists (fun g -> get "on" g <> Absent) groups then uncovered "limits of groups on server classes";
  let names = names "group" (List.map (fun g -> text (get "name" g)) groups) in
  let amounts read value = List.sort compare (by_name s.resource read value) in
  let amount v = at_least Q.zero (number Json.stated v) in
  let group g =
    let field name = get name g in
    let priority = match field "priority" with Absent -> Q.zero | v -> number Json.stated v in
    if not (Z.equal (Q.den priority) Z.one && Z.fits_int64 (Q.num priority)) then malformed "expected a whole number";
    let stated = Option.map (amounts quantity) (given (field "guarantee")) and most = amounts quantity (field "limit") in
    let is_above (r, q) = match List.assoc_opt r most with Some limit -> Q.gt q limit | None -> false in
    if List.exists is_above (Option.value stated ~default:[]) then malformed "a guarantee is above the limit";
    { up = Option.map (named names) (given (field "parent")); priority; stated; most; lent = amounts quantity (field "lend");
      worth = (match field "weight" with Absent -> Q.one | v -> amount v) } in
  let list = Array.of_list (List.map group groups) in
  let rec height v = function 0 -> 0 | left -> match list.(v).up with None -> 0 | Some u -> 1 + height u (left - 1) in
  Array.iteri (fun v _ -> if height v deepest >= deepest then malformed "a group stands in itself, or in too many") list;
  let users = Array.of_list users in
  let of_user read = Array.mapi (fun n u -> read n (fun name -> get name u)) users in
  let member = of_user (fun _ field -> Option.map (named names) (given (field "group"))) in
  let gangs = of_user (fun _ field -> match field "gang" with Absent -> 1 | v -> integer 1 1_000_000_000_000 v) in
  let pinned = of_user (fun n field ->
    let kept = match field "pinned" with Absent -> Q.zero | v -> amount v in
    (match s.problem.limit n with
     | Some tasks when Q.gt kept (to_q tasks) -> malformed "more tasks are pinned than the user has"
     | _ -> ());
    kept) in
  let share = get "share" s.source in
  if share <> Absent then only "of? over? multipliers? families? zero-weight?" share;
  let words = List.map (fun (name, words) -> one_of words (get name share))
    ["of", ["usage"; "surplus"]; "over", ["cluster"; "lendable"; "guarantee"]; "zero-weight", ["last"; "never"]] in
  let families = match get "families" share with
    | Absent | Bool false -> false | Bool true -> true | _ -> malformed "expected true or false" in
  let multipliers = List.filter (fun (_, q) -> not (Q.equal q Q.one)) (amounts positive (get "multipliers" share)) in
  let lookup of_group v r = Option.map rational (List.assoc_opt r (of_group list.(v))) in
  let grouping = { groups = Array.length list; parent = (fun v -> list.(v).up); group_of = (fun n -> member.(n));
    priced = (fun v -> Q.sign list.(v).worth > 0); never = List.nth words 2 <> None;
    states = (fun v -> list.(v).stated <> None);
    guarantee = lookup (fun g -> Option.value g.stated ~default:[]);
    ceiling = lookup (fun g -> g.most); lends = lookup (fun g -> g.lent);
    own_demands = Array.exists (Array.exists Fun.id) s.own_demand } in
  { names; list; member; gangs; pinned; words; multipliers; families; grouping }
