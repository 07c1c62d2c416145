(* Reads groups of users: their parents, weights, guarantees and limits, the amounts that they lend, and the quantities by
   which siblings are compared. This file is trusted if a problem has groups. *)
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
  let of_groups read = each "groups" read (List groups) in
  ignore (of_groups (only "name parent? weight? priority? guarantee? limit? lend? on?"));
  let names = names "group" (of_groups (field "name" text)) in
  (* Reads the limits on sets of server classes. The field is an object whose keys are names of classes, separated by commas,
     or a list of objects. *)
  let on value =
    let split key = if Hashtbl.mem s.server.position key then [key] else List.map String.trim (String.split_on_char ',' key) in
    let rows = match value with
      | Object fields -> List.map (fun (key, v) -> only "limit?" v; split key, v) fields
      | v -> List.map (fun v -> only "servers limit?" v; List.map text (list (get "servers" v)), v) (if v = Absent then [] else list v) in
    let read (set, v) = List.sort compare (List.map (find s.server) set), field "limit" (amounts s quantity) v in
    let all = List.sort compare (List.map read rows) in
    let sets = List.map fst all in
    if List.mem [] sets then malformed "a set of server classes is empty; name at least one class";
    if List.exists twice sets then malformed "a set of server classes names a class twice; name every class once";
    if twice sets then malformed "two limits are on the same set of server classes; merge the two limits";
    List.filter (fun (_, limit) -> limit <> []) all in
  let group g =
    let field name read = field name read g in
    let priority = field "priority" (function Absent -> Q.zero | v -> number Json.stated v) in
    if not (Z.equal (Q.den priority) Z.one && Z.fits_int64 (Q.num priority)) then
      malformed "priority: %s is not an integer of at most 64 bits" (shown priority);
    let stated = field "guarantee" (fun v -> Option.map (amounts s quantity) (given v)) and most = field "limit" (amounts s quantity) in
    let check (r, q) = match List.assoc_opt r most with
      | Some limit when Q.gt q limit -> malformed "guarantee: %s: %s is above the limit of the group, %s; lower the guarantee or raise the limit"
        s.resource.list.(r) (shown q) (shown limit)
      | _ -> () in
    List.iter check (Option.value stated ~default:[]);
    { up = field "parent" (fun v -> Option.map (named names) (given v)); priority; stated; most;
      lent = field "lend" (amounts s quantity); on = field "on" on;
      worth = field "weight" (function Absent -> Q.one | v -> at_least Q.zero (number Json.stated v)) } in
  let list = Array.of_list (of_groups group) in
  let rec height v = function 0 -> 0 | left -> match list.(v).up with None -> 0 | Some u -> 1 + height u (left - 1) in
  Array.iteri (fun v _ -> if height v deepest >= deepest then
    malformed "groups[%d]: parent: the group is below itself, or below %d groups or more; correct its parents" v deepest) list;
  let member = Array.of_list (each "users" (field "group" (fun v -> Option.map (named names) (given v))) (List users)) in
  let share = match get "share" s.source with Absent -> Object [] | share -> share in
  inside "share" (only "of? over? multipliers? families? zero-weight? guarantees?") share;
  let words = List.map (fun (name, words) -> name, field name (one_of words) share) [
    "of", ["usage"; "surplus"]; "over", ["cluster"; "lendable"; "guarantee"]; "zero-weight", ["last"; "never"];
    "guarantees", ["first"; "compared"]] in
  let said name word = List.assoc name words = word and families = flag "families" share in
  let multipliers = List.filter (fun (_, q) -> not (Q.equal q Q.one)) (field "multipliers" (amounts s positive) share) in
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
