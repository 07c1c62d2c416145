(* Reads the statements of a certificate: the problem, the allocation, the tolerance, and the axiom, verdict and
   margin of every claim. This file and json.ml are trusted; evidence and tables (evidence.ml) are not. *)
module Integer = Z
open Proved
module Z = Integer (* Zarith's, not Coq's *)
open Json

exception Uncovered of string
let uncovered format = Printf.ksprintf (fun what -> raise (Uncovered what)) format

let rational (v : Q.t) = { qnum = Q.num v; qden = Q.den v }
let to_q v = Q.make v.qnum v.qden
let zero = rational Q.zero

let twice list = List.length (List.sort_uniq compare list) < List.length list

(* Names and their positions *)
type names = { what : string; list : string array; position : (string, int) Hashtbl.t }
let names what all =
  let position = Hashtbl.create 64 in
  List.iteri (fun i name ->
    if name = "" || Hashtbl.mem position name then malformed "the %s `%s` is named twice, or has no name" what name;
    Hashtbl.add position name i) all;
  { what; list = Array.of_list all; position }
let find names name = try Hashtbl.find names.position name with Not_found -> malformed "there is no such %s: `%s`" names.what name
let named names value = find names (text value)
(* The entries of an object by name, as (position, value); none if it is absent *)
let by_name names read value =
  List.map (fun (name, v) -> let i = find names name in (i, read v)) (if value = Absent then [] else obj value)
let row length entries =
  let row = Budget.cells length; Array.make length zero in
  List.iter (fun (i, v) -> row.(i) <- rational v) entries; row
let at a i = a.(i)
let at2 a i j = at (at a i) j
let at3 a i j k = at (at2 a i j) k

let one_or = function Absent -> Z.one | v -> integer 1 v
let of_kind kind value = if get "kind" value <> Text kind then malformed "expected the kind `%s`" kind

type statement = { problem : problem; resource : names; server : names; user : names; counts : Z.t array;
  title : string; own_demand : bool array array; source : Json.t }

let read_problem by_time value =
  of_kind "allocation-problem" value;
  only "kind name? resources servers users? groups? share? $schema? description?" value;
  let title = match get "name" value with Absent -> "" | v -> text v in
  let resource = names "resource" (List.map text (list (get "resources" value))) in
  let servers = list (get "servers" value) in
  List.iter (only "name count? capacity?") servers;
  let server = names "server" (List.map (fun s -> text (get "name" s)) servers) in
  let m = Array.length resource.list and k = Array.length server.list in
  if m = 0 || k = 0 then malformed "expected at least one resource and one server class";
  let counts = Array.of_list (List.map (fun s -> one_or (get "count" s)) servers) in
  let amounts value = by_name resource quantity value in
  let capacity = Array.of_list (List.map (fun s -> row m (amounts (get "capacity" s))) servers) in
  let users = match get "users" value with Absent -> [] | v -> list v in
  List.iter (only "name weight? tasks? demand? servers? demand_on? gamma? criterion? rates? at_most? group? gang? pinned?") users;
  List.iter (fun u -> if get "rates" u <> Absent || get "at_most" u <> Absent then uncovered "rates of users by server class") users;
  let user = names "user" (List.map (fun u -> text (get "name" u)) users) in
  let n = List.length users and gangs = List.map (fun u -> rational (Q.of_bigint (one_or (get "gang" u)))) users in
  let weight = Array.make n zero and limit = Array.make n None in
  let base = Array.make n [||] and demand = Array.make n [||] in
  let table () = Array.init n (fun _ -> Budget.cells (k * m); Array.make k None) in
  let stated = table () and criterion = table () and allowed = Array.make_matrix n k true in
  let states = Array.make k false and own_demand = Array.make_matrix n k false in
  let asks_nothing = Array.for_all (fun d -> Z.sign d.qnum = 0) in
  let read_user n u =
    let field name = get name u in
      weight.(n) <- rational (match field "weight" with Absent -> Q.one | v -> positive v);
    Option.iter (fun v -> limit.(n) <- Some (rational (at_least Q.zero (number Json.stated v)))) (given (field "tasks"));
    base.(n) <- row m (amounts (field "demand"));
    Option.iter (fun v ->
      let listed = List.map (named server) (list v) in
      if listed = [] then malformed "expected at least one server class, or no `servers` at all";
      if twice listed then malformed "a name is given twice";
      Array.fill allowed.(n) 0 k false;
      List.iter (fun i -> allowed.(n).(i) <- true) listed) (given (field "servers"));
    demand.(n) <- Array.make k base.(n);
    let speaks = Array.make k false in
    List.iter (fun (i, d) ->
      let d = row m d in
      if asks_nothing d then malformed "a demand that asks for nothing";
      speaks.(i) <- true; own_demand.(n).(i) <- d <> base.(n); demand.(n).(i) <- d) (by_name server amounts (field "demand_on"));
    List.iter (fun (i, t) -> speaks.(i) <- true; states.(i) <- true; stated.(n).(i) <- Some (rational t))
      (by_name server positive (field "gamma"));
    List.iter (fun (i, c) -> criterion.(n).(i) <- Some (rational c)) (by_name server positive (field "criterion"));
    if asks_nothing base.(n) && not (Array.for_all2 (fun a s -> s || not a) allowed.(n) speaks) then malformed "a user that demands nothing" in
  List.iteri read_user users;
  List.iteri (fun i s -> if get "capacity" s = Absent && not states.(i) then malformed "the field `capacity` is missing") servers;
  let count = Array.map (fun c -> rational (Q.of_bigint c)) counts in
  let problem = { users = n; classes = k; resources = m; weight = at weight; count = at count;
    capacity = at2 capacity; base = at2 base; demand = at3 demand; limit = at limit; gang = at (Array.of_list gangs); allowed = at2 allowed;
    stated = at2 stated; criterion = at2 criterion; timed = (fun i -> by_time || states.(i));
    alone = (fun _ _ -> zero) } in
  let alone = Array.init n (fun n -> Array.init k (make_alone problem n)) in
  { problem = { problem with alone = at2 alone }; resource; server; user; counts; title; own_demand; source = value }

(* Tasks by user and class *)
let read_tasks s value =
  let x = Array.make_matrix s.problem.users s.problem.classes zero in
  List.iter (fun (n, entries) -> List.iter (fun (i, v) -> x.(n).(i) <- rational v) entries)
    (by_name s.user (by_name s.server (number computed)) value);
  x

(* The fields that `solve` adds to an allocation that it writes, and that no checker reads *)
let decorations = "alpha? criterion? rule? summary? decimals? utilisation? seconds? prices? user_prices? \
  at_most_prices? fractions? gap? relative_gap? witness? bottlenecks? status? levels? width? iterations? selection? \
  faces? extreme_points? integrality? series? search? schedule? warnings? version? $schema? description?"
let read_sharing ~is_file value =
  of_kind "allocation" value;
  only ("kind mechanism? sharing? arithmetic? problem_sha256? tasks? placements? " ^ if is_file then decorations else "") value;
  ignore (Option.map text (given (get "mechanism" value)));
  ignore (one_of ["exact"; "float"] (get "arithmetic" value));
  one_of ["rdm"; "tdm"] (get "sharing" value) = "tdm"

let axioms = [ "feasible", OfFeasible; "integer-feasible", OfIntegerFeasible; "non-wasteful", OfNonWasteful;
  "work-conserving", OfWorkConserving; "pareto-optimal", OfParetoOptimal; "integer-pareto-optimal", OfIntegerParetoOptimal;
  "envy-free", OfEnvyFree; "ef1", OfEf1; "sharing-incentive", OfSharingIncentive; "bottleneck-fair", OfBottleneck OnEveryClass;
  "global-bottleneck-fair", OfBottleneck OfTheCluster; "single-resource-fair", OfBottleneck Single; "max-min", Another;
  "max-min-packings", Another; "optimal-envy-free", Another; "optimal-equal", Another; "njc", OfNjc; "ps-dsf", OfPsDsf;
  "proportional", Another; "limits", OfLimits; "guarantees", OfGuarantees; "group-sharing-incentive", OfGroupSharing;
  "group-envy-free", OfGroupEnvy; "tree", OfTree ]
let read_axiom value = let name = text value in
  if List.mem_assoc name axioms then name else malformed "there is no axiom `%s`" name

(* A claim as it is stated. Its evidence is read by evidence.ml. *)
type stated_claim = { axiom : string; name : string; statement : Proved.statement; evidence : Json.t }

let shares = ["drfh", Drfh; "drf", Drfh; "c-drfh", Drfh; "cdrf", Cdrf; "tsf", Tsf; "asset", Asset; "generic", Generic]
let read_share s value =
  let name = text value in
  if name = "drfh-best" || name = "finish-time" then uncovered "the share `%s`" name;
  match List.assoc_opt name shares with
  | Some share -> share
  | None when String.length name > 9 && String.sub name 0 9 = "resource:" ->
    Resource (find s.resource (String.sub name 9 (String.length name - 9)))
  | None -> malformed "there is no share `%s`" name
let word_of_share share = fst (List.find (fun (_, named) -> named = share) shares)
let name_of_share s = function Resource r -> "resource:" ^ s.resource.list.(r) | share -> word_of_share share

let read_claim s value =
  only "axiom share? alpha? holds margin? evidence? why?" value;
  let axiom = read_axiom (get "axiom" value) in
  let share = Option.map (read_share s) (given (get "share" value)) in
  (match axiom, share with
   | "max-min", Some _ | "max-min-packings", Some (Drfh | Tsf) | "proportional", (None | Some Generic) -> ()
   | _ -> if axiom = "max-min" || axiom = "max-min-packings" || share <> None then malformed "max-min has a share, proportional may have the generic one");
  let alpha = match get "alpha" value with Absent -> Q.one | v -> number Json.stated v in
  let is_small z = Z.gt z Z.zero && Z.leq z (Z.of_int 1000) in
  if not (is_small (Q.num alpha) && is_small (Q.den alpha))
    || (axiom <> "proportional" && get "alpha" value <> Absent)
  then malformed "an alpha is of proportional, above 0, its terms at most 1000";
  let says = match get "holds" value with
    | Bool b -> Some b | Null -> None | _ -> malformed "expected true or false" in
  if (Option.map text (given (get "why" value)) <> None) <> (says = None)
  then malformed "the field `why` belongs to what does not apply (`holds` null)";
  let evidence = get "evidence" value in
  if evidence <> Absent then ignore (obj evidence);
  let margin = match get "margin" value with Absent | Null -> None | v -> Some (rational (number computed v)) in
  let about = match axiom, share with
    | "max-min", Some share -> OfMaxMin share
    | "proportional", _ when Z.equal (Q.den alpha) Z.one -> OfProportional (share, Z.to_int (Q.num alpha))
    | "proportional", _ -> OfRoot (share, Z.to_int (Q.num alpha), Z.to_int (Q.den alpha))
    | _ -> List.assoc axiom axioms in
  let name = axiom ^ (match share with Some share -> ":" ^ name_of_share s share | None -> "")
    ^ (if axiom = "proportional" then ":" ^ Q.to_string alpha else "") in
  { axiom; name; statement = { about; says; margin }; evidence }

(* The tasks on one server, by user *)
type server = { of_class : int; index : Z.t; has : q array }

let read_placing s value =
  let read_server value =
    only "server index tasks" value;
    { of_class = named s.server (get "server" value); index = integer 0 (get "index" value);
      has = row s.problem.users (by_name s.user (number computed) (get "tasks" value)) } in
  let place a = a.of_class, a.index in
  let all = Array.of_list (List.map read_server (list value)) in
  Array.sort (fun a b -> Stdlib.compare (place a) (place b)) all;
  Array.iteri (fun i a ->
    if Z.geq a.index s.counts.(a.of_class) || (i > 0 && place all.(i - 1) = place a)
    then malformed "a server is given twice, or is not there") all;
  Array.of_list (List.filter (fun a -> Array.exists (fun q -> Z.sign q.qnum <> 0) a.has) (Array.to_list all))
let placing_of all = { servers = Array.length all; class_of = (fun s -> all.(s).of_class);
  on_server = (fun s n -> all.(s).has.(n)) }
let sums s placing =
  let x = Array.make_matrix s.problem.users s.problem.classes zero in
  let put i n q = if Z.sign q.qnum <> 0 then x.(n).(i) <- rational (Q.add (to_q x.(n).(i)) (to_q q)) in
  Array.iter (fun a -> Array.iteri (put a.of_class) a.has) placing;
  x

(* The allocation of a certificate, or of a file that the reader of the certificate provides *)
let read_allocation on ~is_file value =
  let by_time = read_sharing ~is_file value in
  let placing = Option.map (read_placing on) (given (get "placements" value)) in
  let stated = Option.map (read_tasks on) (given (get "tasks" value)) in
  let x = match stated, Option.map (sums on) placing with
    | Some stated, Some sums when stated <> sums -> malformed "the tasks are not the sums of the placements"
    | Some x, _ | None, Some x -> x
    | None, None -> malformed "the field `tasks` is missing" in
  by_time, Option.map text (given (get "problem_sha256" value)), x, placing

type certificate = { on : statement; by_time : bool; stated_hash : string option; x : q array array; placing : server array option;
  tolerance : Q.t;  claims : stated_claim list; not_checked : string list }

let read value =
  of_kind "certificate" value;
  only "kind version problem allocation tolerance? claims not_checked" value;
  let version = number Json.stated (get "version" value) in
  if Q.equal version Q.one then malformed "version 1: `certify` writes it anew";
  if not (Q.equal version (Q.of_int 2)) then malformed "expected version 2";
  let allocation = get "allocation" value in
  let by_time = read_sharing ~is_file:false allocation in
  let on = read_problem by_time (get "problem" value) in
  let tolerance = match get "tolerance" value with Absent -> Q.zero | v -> number Json.stated v in
  if Q.lt tolerance Q.zero || Q.geq tolerance Q.one then malformed "a tolerance is a number from 0 to below 1";
  let claims = List.map (read_claim on) (list (get "claims" value)) in
  if List.length (List.filter (fun c -> c.axiom = "proportional") claims) > 32 then malformed "more than 32 claims of `proportional`";
  let not_checked = List.map read_axiom (list (get "not_checked" value)) in
  if twice not_checked then malformed "an axiom is named twice";
  let _, stated_hash, x, placing = read_allocation on ~is_file:false allocation in
  { on; by_time; stated_hash; x; placing; tolerance; claims; not_checked }
