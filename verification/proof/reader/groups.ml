(* Groups of users. Trusted for a problem with groups: it reads parents, weights, guarantees, limits and what is lent,
   and the quantities by which siblings are compared. *)
open Proved
open Json
open Reader

type group = { up : int option; worth : Q.t; priority : Q.t; stated : (int * Q.t) list option; most : (int * Q.t) list;
  lent : (int * Q.t) list; on : (int list * (int * Q.t) list) list }
type t = { names : names; list : group array; member : int option array; grouping : grouping; siblings : siblings;
  words : (string * string) list; multipliers : (int * Q.t) list; families : bool }

let deepest = 100
let amounts s read value = List.sort compare (by_name s.resource read value)

let read (s : statement) =
  let rows name value = match get name value with Absent -> [] | v -> list v in
  let groups = rows "groups" s.source and users = rows "users" s.source in
  List.iter (only "name parent? weight? priority? guarantee? limit? lend? on?") groups;
  let names = names "group" (List.map (fun g -> text (get "name" g)) groups) in
  (* Limits on sets of server classes: keyed by a class, by names with commas between them, or given as a list *)
  let on value =
    let split key = if Hashtbl.mem s.server.position key then [key] else List.map String.trim (String.split_on_char ',' key) in
    let rows = match value with
      | Object fields -> List.map (fun (key, v) -> only "limit?" v; split key, v) fields
      | v -> List.map (fun v -> only "servers limit?" v; List.map text (list (get "servers" v)), v) (if v = Absent then [] else list v) in
    let all = List.sort compare (List.map (fun (set, v) -> List.sort compare (List.map (find s.server) set), amounts s quantity (get "limit" v)) rows) in
    let sets = List.map fst all in
    if List.mem [] sets || List.exists twice sets || twice sets then malformed "server classes are named twice, or none is";
    List.filter (fun (_, limit) -> limit <> []) all in
  let group g =
    let field name = get name g in
    let priority = match field "priority" with Absent -> Q.zero | v -> number Json.stated v in
    if not (Z.equal (Q.den priority) Z.one && Z.fits_int64 (Q.num priority)) then malformed "expected a whole number";
    let stated = Option.map (amounts s quantity) (given (field "guarantee")) and most = amounts s quantity (field "limit") in
    let is_above (r, q) = match List.assoc_opt r most with Some limit -> Q.gt q limit | None -> false in
    if List.exists is_above (Option.value stated ~default:[]) then malformed "a guarantee is above the limit";
    { up = Option.map (named names) (given (field "parent")); priority; stated; most; lent = amounts s quantity (field "lend"); on = on (field "on");
      worth = (match field "weight" with Absent -> Q.one | v -> at_least Q.zero (number Json.stated v)) } in
  let list = Array.of_list (List.map group groups) in
  let rec height v = function 0 -> 0 | left -> match list.(v).up with None -> 0 | Some u -> 1 + height u (left - 1) in
  Array.iteri (fun v _ -> if height v deepest >= deepest then malformed "a group stands in itself, or in too many") list;
  let member = Array.of_list (List.map (fun u -> Option.map (named names) (given (get "group" u))) users) in
  let share = match get "share" s.source with Absent -> Object [] | share -> share in
  only "of? over? multipliers? families? zero-weight? guarantees?" share;
  let words = List.map (fun (name, words) -> name, one_of words (get name share)) [
    "of", ["usage"; "surplus"]; "over", ["cluster"; "lendable"; "guarantee"]; "zero-weight", ["last"; "never"];
    "guarantees", ["first"; "compared"]] in
  let said name word = List.assoc name words = word and families = flag "families" share in
  let multipliers = List.filter (fun (_, q) -> not (Q.equal q Q.one)) (amounts s positive (get "multipliers" share)) in
  let lookup of_group v r = Option.map rational (List.assoc_opt r (of_group list.(v))) in
  let grouping = { groups = Array.length list; parent = (fun v -> list.(v).up); group_of = (fun n -> member.(n));
    priced = (fun v -> Q.sign list.(v).worth > 0); never = said "zero-weight" "never"; states = (fun v -> list.(v).stated <> None);
    guarantee = lookup (fun g -> Option.value g.stated ~default:[]);
    ceiling = lookup (fun g -> g.most); lends = lookup (fun g -> g.lent);
    limits_on = List.concat (List.mapi (fun v g -> List.concat_map (fun (set, limit) -> List.map (fun (r, q) ->
      { o_group = v; o_resource = r; o_on = (fun i -> List.mem i set); o_most = rational q }) limit) g.on) (Array.to_list list)) } in
  let last name = List.hd (List.rev (String.split_on_char '/' name)) in
  let first r = List.find (fun h -> h = r || (families && last s.resource.list.(h) = last s.resource.list.(r))) (List.init (r + 1) Fun.id) in
  let siblings = { group_weight = (fun v -> rational list.(v).worth);
    plain = get "share" s.source = Absent && not (Array.exists (Array.exists Fun.id) s.own_demand); priority = (fun v -> rational list.(v).priority);
    of_surplus = said "of" "surplus";
    measure = (if said "over" "cluster" then OfCluster else if said "over" "lendable" then OfLendable else OfGuarantee);
    multiplier = (fun r -> rational (Option.value (List.assoc_opt r multipliers) ~default:Q.one)); family = first } in
  { names; list; member; grouping; siblings; words; multipliers; families }
