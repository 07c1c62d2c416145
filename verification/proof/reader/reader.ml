(* Reads the statements of a certificate: the problem, the allocation, the tolerance, and the axiom, verdict and
   margin of every claim. This file and json.ml are trusted. The evidence and the tables of evidence.ml are not trusted. *)
module Integer = Z
open Proved
module Z = Integer (* The integers of Zarith, which hide those of Coq *)
open Json

exception Uncovered of string
let uncovered format = Printf.ksprintf (fun what -> raise (Uncovered what)) format

let rational (v : Q.t) = { qnum = Q.num v; qden = Q.den v }
let to_q v = Q.make v.qnum v.qden
let zero = rational Q.zero

let twice list = List.length (List.sort_uniq compare list) < List.length list

(* Names and their positions. [what] says what is named, for messages. *)
type names = { what : string; list : string array; position : (string, int) Hashtbl.t }
let names what all =
  let position = Hashtbl.create 64 in
  List.iteri (fun i name ->
    if name = "" then malformed "the name of %s %d is empty; write a name" what i;
    if Hashtbl.mem position name then malformed "the %s `%s` is listed twice; give every %s another name" what name what;
    Hashtbl.add position name i) all;
  { what; list = Array.of_list all; position }
let find names name = try Hashtbl.find names.position name with Not_found -> malformed "`%s` is not a %s of the problem; write the name of a %s" name names.what names.what
let named names value = find names (text value)
(* Reads the entries of an object by name, as pairs (position, value). An absent object has no entries. *)
let by_name names read value =
  List.map (fun (name, v) -> let i = find names name in (i, inside name read v)) (if value = Absent then [] else obj value)
let row length entries =
  let row = Budget.cells length; Array.make length zero in
  List.iter (fun (i, v) -> row.(i) <- rational v) entries; row
let at a i = a.(i)
let at2 a i j = at (at a i) j
let at3 a i j k = at (at2 a i j) k

let one_or = function Absent -> Z.one | v -> integer 1 v
let twice_in = "a name is listed twice; list every name once"
let of_kind kind value = if get "kind" value <> Text kind then malformed "kind: expected the string `%s`, found %s" kind (described (get "kind" value))

type statement = { problem : problem; resource : names; server : names; user : names; counts : Z.t array;
  title : string; own_demand : bool array array; source : Json.t }

let read_problem by_time value =
  of_kind "allocation-problem" value;
  only "kind name? resources servers users? groups? share? $schema? description?" value;
  let title = field "name" (function Absent -> "" | v -> text v) value in
  let resource = names "resource" (each "resources" text (get "resources" value)) in
  let servers = each "servers" (fun s -> only "name count? capacity?" s; s) (get "servers" value) in
  let server = names "server" (each "servers" (field "name" text) (List servers)) in
  let m = Array.length resource.list and k = Array.length server.list in
  if m = 0 || k = 0 then malformed "the problem has %d resources and %d server classes; write at least one of each" m k;
  let counts = Array.of_list (each "servers" (field "count" one_or) (List servers)) in
  let amounts value = by_name resource quantity value in
  let capacity = Array.of_list (each "servers" (fun s -> row m (field "capacity" amounts s)) (List servers)) in
  let user_fields = "name weight? tasks? demand? servers? demand_on? gamma? criterion? rates? at_most? group? gang? pinned?" in
  let users = match get "users" value with Absent -> [] | v -> each "users" (fun u -> only user_fields u; u) v in
  List.iter (fun u -> if get "rates" u <> Absent || get "at_most" u <> Absent then uncovered "rates of users by server class") users;
  let user = names "user" (each "users" (field "name" text) (List users)) in
  let n = List.length users and gangs = each "users" (fun u -> rational (Q.of_bigint (field "gang" one_or u))) (List users) in
  let weight = Array.make n zero and limit = Array.make n None in
  let base = Array.make n [||] and demand = Array.make n [||] in
  let table () = Array.init n (fun _ -> Budget.cells (k * m); Array.make k None) in
  let stated = table () and criterion = table () and allowed = Array.make_matrix n k true in
  let states = Array.make k false and own_demand = Array.make_matrix n k false in
  let asks_nothing = Array.for_all (fun d -> Z.sign d.qnum = 0) in
  let read_user n u =
    let field name read = field name read u and if_given read value = Option.iter read (given value) in
    weight.(n) <- rational (field "weight" (function Absent -> Q.one | v -> positive v));
    field "tasks" (if_given (fun v -> limit.(n) <- Some (rational (at_least Q.zero (number Json.stated v)))));
    base.(n) <- row m (field "demand" amounts);
    field "servers" (if_given (fun v ->
      let listed = List.map (named server) (list v) in
      if listed = [] then malformed "the list is empty; name at least one server class, or omit the field to allow all classes";
      if twice listed then malformed "%s" twice_in;
      Array.fill allowed.(n) 0 k false;
      List.iter (fun i -> allowed.(n).(i) <- true) listed));
    demand.(n) <- Array.make k base.(n);
    let speaks = Array.make k false in
    List.iter (fun (i, d) ->
      let d = row m d in
      if asks_nothing d then malformed "demand_on: %s: the demand is 0; write a demand above 0 of some resource" server.list.(i);
      speaks.(i) <- true; own_demand.(n).(i) <- d <> base.(n); demand.(n).(i) <- d) (field "demand_on" (by_name server amounts));
    List.iter (fun (i, t) -> speaks.(i) <- true; states.(i) <- true; stated.(n).(i) <- Some (rational t))
      (field "gamma" (by_name server positive));
    List.iter (fun (i, c) -> criterion.(n).(i) <- Some (rational c)) (field "criterion" (by_name server positive));
    if asks_nothing base.(n) && not (Array.for_all2 (fun a s -> s || not a) allowed.(n) speaks) then
      malformed "demand: the demand is 0; write a demand above 0 of some resource, or state `demand_on` or `gamma` for every allowed class" in
  List.iteri (fun n u -> inside (Printf.sprintf "users[%d]" n) (read_user n) u) users;
  List.iteri (fun i s -> if get "capacity" s = Absent && not states.(i) then malformed "servers[%d]: the field `capacity` is missing" i) servers;
  let count = Array.map (fun c -> rational (Q.of_bigint c)) counts in
  let problem = { users = n; classes = k; resources = m; weight = at weight; count = at count;
    capacity = at2 capacity; base = at2 base; demand = at3 demand; limit = at limit; gang = at (Array.of_list gangs); allowed = at2 allowed;
    stated = at2 stated; criterion = at2 criterion; timed = (fun i -> by_time || states.(i));
    alone = (fun _ _ -> zero) } in
  let alone = Array.init n (fun n -> Array.init k (make_alone problem n)) in
  { problem = { problem with alone = at2 alone }; resource; server; user; counts; title; own_demand; source = value }

(* Reads tasks by user and class. *)
let read_tasks s value =
  let x = Array.make_matrix s.problem.users s.problem.classes zero in
  List.iter (fun (n, entries) -> List.iter (fun (i, v) -> x.(n).(i) <- rational v) entries)
    (by_name s.user (by_name s.server (number computed)) value);
  x

(* The fields that `solve` adds to an allocation. No checker reads them. *)
let decorations = "alpha? criterion? rule? summary? decimals? utilisation? seconds? prices? user_prices? \
  at_most_prices? fractions? gap? relative_gap? witness? bottlenecks? status? levels? width? iterations? selection? \
  faces? extreme_points? integrality? series? search? schedule? warnings? version? $schema? description?"
let read_sharing ~is_file value =
  of_kind "allocation" value;
  only ("kind mechanism? sharing? arithmetic? problem_sha256? tasks? placements? " ^ if is_file then decorations else "") value;
  field "mechanism" (fun v -> ignore (Option.map text (given v))) value;
  ignore (field "arithmetic" (one_of ["exact"; "float"]) value);
  field "sharing" (one_of ["rdm"; "tdm"]) value = "tdm"

let axioms = [ "feasible", OfFeasible; "integer-feasible", OfIntegerFeasible; "non-wasteful", OfNonWasteful;
  "work-conserving", OfWorkConserving; "pareto-optimal", OfParetoOptimal; "integer-pareto-optimal", OfIntegerParetoOptimal;
  "envy-free", OfEnvyFree; "ef1", OfEf1; "sharing-incentive", OfSharingIncentive; "bottleneck-fair", OfBottleneck OnEveryClass;
  "global-bottleneck-fair", OfBottleneck OfTheCluster; "single-resource-fair", OfBottleneck Single; "max-min", Another;
  "max-min-packings", Another; "optimal-envy-free", Another; "optimal-equal", Another; "njc", OfNjc; "ps-dsf", OfPsDsf;
  "proportional", Another; "limits", OfLimits; "guarantees", OfGuarantees; "group-sharing-incentive", OfGroupSharing;
  "group-envy-free", OfGroupEnvy; "tree", OfTree ]
let read_axiom value = let name = text value in
  if List.mem_assoc name axioms then name else malformed "`%s` is not an axiom; write one of %s" name (String.concat ", " (List.map fst axioms))

(* A claim as the certificate states it. evidence.ml reads the evidence. *)
type stated_claim = { axiom : string; name : string; statement : Proved.statement; evidence : Json.t }

let shares = ["drfh", Drfh; "drf", Drfh; "c-drfh", Drfh; "cdrf", Cdrf; "tsf", Tsf; "asset", Asset; "generic", Generic]
let read_share s value =
  let name = text value in
  if name = "drfh-best" || name = "finish-time" then uncovered "the share `%s`" name;
  match List.assoc_opt name shares with
  | Some share -> share
  | None when String.length name > 9 && String.sub name 0 9 = "resource:" ->
    Resource (find s.resource (String.sub name 9 (String.length name - 9)))
  | None -> malformed "`%s` is not a share; write one of %s, or resource:NAME" name (String.concat ", " (List.map fst shares))
let word_of_share share = fst (List.find (fun (_, named) -> named = share) shares)
let name_of_share s = function Resource r -> "resource:" ^ s.resource.list.(r) | share -> word_of_share share

let read_claim s value =
  only "axiom share? alpha? holds margin? evidence? why?" value;
  let axiom = field "axiom" read_axiom value in
  let share = field "share" (fun v -> Option.map (read_share s) (given v)) value in
  (match axiom, share with
   | "max-min", Some _ | "max-min-packings", Some (Drfh | Tsf) | "proportional", (None | Some Generic) -> ()
   | "max-min", None -> malformed "the field `share` is missing; name the share of max-min"
   | "max-min-packings", _ -> malformed "max-min-packings: write the share `drfh` or `tsf`"
   | "proportional", _ -> malformed "proportional: write the share `generic`, or omit the field for tasks"
   | _ -> if share <> None then malformed "%s has no share; omit the field `share`" axiom);
  let alpha = field "alpha" (function Absent -> Q.one | v -> number Json.stated v) value in
  let is_small z = Z.gt z Z.zero && Z.leq z (Z.of_int 1000) in
  if axiom <> "proportional" && get "alpha" value <> Absent then malformed "%s has no alpha; omit the field `alpha`" axiom;
  if not (is_small (Q.num alpha) && is_small (Q.den alpha)) then
    malformed "alpha: %s has a numerator or denominator outside 1 to 1000; write an alpha above 0 with smaller terms" (shown alpha);
  let says = field "holds" (function Bool b -> Some b | Null -> None | v -> expected "true, false or null" v) value in
  let is_explained = field "why" (fun v -> Option.map text (given v)) value <> None in
  if is_explained && says <> None then malformed "why: the claim has a verdict; omit the field, or write null as `holds`";
  if not is_explained && says = None then malformed "the field `why` is missing; state why the axiom does not apply (`holds` is null)";
  let evidence = get "evidence" value in
  if evidence <> Absent then ignore (field "evidence" obj value);
  let margin = field "margin" (function Absent | Null -> None | v -> Some (rational (number computed v))) value in
  let about = match axiom, share with
    | "max-min", Some share -> OfMaxMin share
    | "proportional", _ when Z.equal (Q.den alpha) Z.one -> OfProportional (share, Z.to_int (Q.num alpha))
    | "proportional", _ -> OfRoot (share, Z.to_int (Q.num alpha), Z.to_int (Q.den alpha))
    | _ -> List.assoc axiom axioms in
  let name = axiom ^ (match share with Some share -> ":" ^ name_of_share s share | None -> "")
    ^ (if axiom = "proportional" then ":" ^ Q.to_string alpha else "") in
  { axiom; name; statement = { about; says; margin }; evidence }

(* A server, its class, its index in the class, and its tasks by user *)
type server = { of_class : int; index : Z.t; has : q array }

(* Reads the servers that run tasks, in the order of class and index. *)
let read_placing s value =
  let read_server value =
    only "server index tasks" value;
    { of_class = field "server" (named s.server) value; index = field "index" (integer 0) value;
      has = row s.problem.users (field "tasks" (by_name s.user (number computed)) value) } in
  let place a = a.of_class, a.index in
  let all = Array.of_list (each "entry " read_server value) in
  Array.sort (fun a b -> Stdlib.compare (place a) (place b)) all;
  Array.iteri (fun i a ->
    let server () = Printf.sprintf "server %s of class `%s`" (Z.to_string a.index) s.server.list.(a.of_class) in
    if Z.geq a.index s.counts.(a.of_class) then
      malformed "%s does not exist; the class has %s servers, counted from 0" (server ()) (Z.to_string s.counts.(a.of_class));
    if i > 0 && place all.(i - 1) = place a then malformed "%s is listed twice; list every server once" (server ())) all;
  Array.of_list (List.filter (fun a -> Array.exists (fun q -> Z.sign q.qnum <> 0) a.has) (Array.to_list all))
(* The placing in the form of Spec.v *)
let placing_of all = { servers = Array.length all; class_of = (fun s -> all.(s).of_class);
  on_server = (fun s n -> all.(s).has.(n)) }
(* Returns the tasks by user and class of a placing. *)
let sums s placing =
  let x = Array.make_matrix s.problem.users s.problem.classes zero in
  let put i n q = if Z.sign q.qnum <> 0 then x.(n).(i) <- rational (Q.add (to_q x.(n).(i)) (to_q q)) in
  Array.iter (fun a -> Array.iteri (put a.of_class) a.has) placing;
  x

(* Reads the allocation of a certificate, or of a file that the user of this program provides ([is_file]). *)
let read_allocation on ~is_file value =
  let by_time = read_sharing ~is_file value in
  let placing = field "placements" (fun v -> Option.map (read_placing on) (given v)) value in
  let stated = field "tasks" (fun v -> Option.map (read_tasks on) (given v)) value in
  let x = match stated, Option.map (sums on) placing with
    | Some stated, Some sums when stated <> sums -> malformed "tasks: the numbers are not the sums of `placements`; correct or omit one of the two fields"
    | Some x, _ | None, Some x -> x
    | None, None -> malformed "the fields `tasks` and `placements` are missing; write one of them" in
  by_time, field "problem_sha256" (fun v -> Option.map text (given v)) value, x, placing

type certificate = { on : statement; by_time : bool; stated_hash : string option; x : q array array; placing : server array option;
  tolerance : Q.t;  claims : stated_claim list; not_checked : string list }

(* Reads the statements of a certificate of an allocation. *)
let read value =
  of_kind "certificate" value;
  only "kind version problem allocation tolerance? claims not_checked" value;
  let version = field "version" (number Json.stated) value in
  if Q.equal version Q.one then malformed "version: version 1 is no longer read; write the certificate again with `certify`";
  if not (Q.equal version (Q.of_int 2)) then malformed "version: expected 2, found %s" (shown version);
  let allocation = get "allocation" value in
  let by_time = inside "allocation" (read_sharing ~is_file:false) allocation in
  let on = field "problem" (read_problem by_time) value in
  let tolerance = field "tolerance" (function Absent -> Q.zero | v -> number Json.stated v) value in
  if Q.lt tolerance Q.zero || Q.geq tolerance Q.one then malformed "tolerance: %s is out of range; write a number of at least 0 and below 1" (shown tolerance);
  let claims = each "claims" (read_claim on) (get "claims" value) in
  if List.length (List.filter (fun c -> c.axiom = "proportional") claims) > 32 then malformed "claims: there are more than 32 claims of `proportional`; split the certificate";
  let not_checked = each "not_checked" read_axiom (get "not_checked" value) in
  if twice not_checked then malformed "not_checked: %s" twice_in;
  let _, stated_hash, x, placing = inside "allocation" (read_allocation on ~is_file:false) allocation in
  { on; by_time; stated_hash; x; placing; tolerance; claims; not_checked }
