(* Reads certificates of reservation problems: the problem, and the proofs that no configuration is worth more than a bound.
   Also computes the units of numbers, and looks up the earlier proofs that the method `known` refers to. The proved checker
   verifies both. *)
module Integer = Z
open Ratio_checker
module Z = Integer (* The integers of Zarith, which hide those of Coq *)
open Json

exception False of string
exception Not_covered of string
let wrong = malformed

(* Returns the values of the named fields, in this order. The object has no other fields. A field whose name ends with ? is
   optional. *)
let fields names value =
  only names value;
  List.map (fun name -> given (get (List.hd (String.split_on_char '?' name)) value)) (String.split_on_char ' ' names)

(* Names and their positions. [what] says what is named, for messages. *)
type names = { what : string; all : string array; position : (string, int) Hashtbl.t }
let names what given =
  let position = Hashtbl.create 16 in
  List.iteri (fun i name ->
    if name = "" then wrong "the name of %s %d is empty; write a name" what i;
    if Hashtbl.mem position name then wrong "the %s `%s` is listed twice; give every %s another name" what name what;
    Hashtbl.add position name i) given;
  { what; all = Array.of_list given; position }
let find names name = match Hashtbl.find_opt names.position name with
  | Some i -> i | None -> wrong "`%s` is not a %s; write the name of a %s" name names.what names.what
let named names value = find names (text value)
(* Reads the values of an object by name. All other names have the value [zero]. *)
let by_name names zero read value =
  let length = Array.length names.all in
  let found = Budget.cells length; Array.make length zero in
  List.iter (fun (name, value) -> found.(find names name) <- inside name read value) (obj value);
  found

let count = integer
let amount value = at_least Q.zero (number stated value)

let q (v : Q.t) = { qnum = v.Q.num; qden = v.Q.den }
let at a i = q a.(i)

(* Returns the greatest rational of which all values are multiples. Returns [other] if all values are 0. *)
let unit_or other values =
  let gcd a (b : Q.t) = if Q.sign b = 0 then a else match a with
    | None -> Some b
    | Some (a : Q.t) ->
        let den = Z.lcm a.Q.den b.Q.den in
        let over (v : Q.t) = Z.mul v.Q.num (Z.divexact den v.Q.den) in
        Some (Q.make (Z.gcd (over a) (over b)) den) in
  Option.value ~default:other (List.fold_left gcd None values)

type problem = {
  title : string; resources : names; pool_names : names; type_names : names;
  sizes : Q.t array array; rooms : Q.t array array; counts : Z.t array;
  rewards : Q.t array; loads : Q.t array; configurations : Z.t array list option; states_counts : bool;
  row_units : Q.t array; fitting : Z.t array }

let read_problem raw =
  if get "kind" raw <> Text "reservation-problem" then wrong "kind: expected the string `reservation-problem`, found %s" (described (get "kind" raw));
  match fields "kind name? resources? servers? jobs configurations? $schema? description?" raw with
  | [_; name; resources; servers; Some jobs; configurations; _; _] ->
    let title = Option.fold ~none:"" ~some:text name in
    let or_none = function Some value -> list value | None -> [] in
    let resources = names "resource" (List.map text (or_none resources)) in
    let is_listed = configurations <> None in
    let amounts = function
      | Some value -> if is_listed && obj value <> [] then wrong "the problem has configurations and also a capacity or a demand; write only one of both";
          by_name resources Q.zero quantity value
      | None -> if is_listed then Array.make (Array.length resources.all) Q.zero
          else wrong "a field `capacity` or `demand` is missing; write it, or write `configurations`" in
    let rows = List.map (fields "name count? capacity?") (or_none servers) in
    let some = function Some value -> value | None -> Null in
    let with_counts = List.length (List.filter (fun row -> List.nth row 1 <> None) rows) in
    if with_counts > 0 && with_counts < List.length rows then wrong "servers: some pools have a `count` and others have none; write `count` for all pools or for none";
    if not is_listed && (resources.all = [||] || rows = []) then
      wrong "the problem has no resource or no pool of servers; write at least one of each";
    let pool_names = names "server" (List.map (fun row -> text (some (List.nth row 0))) rows) in
    let counts = List.map (fun row -> Option.fold ~none:Z.one ~some:(count 1) (List.nth row 1)) rows in
    let rooms = List.map (fun row -> amounts (List.nth row 2)) rows in
    let pool_names, counts, rooms = if rows <> [] then (pool_names, counts, rooms)
      else (names "server" ["servers"], [Z.one], [Array.make (Array.length resources.all) Q.zero]) in
    let rows = List.map (fields "name demand? reward? load?") (list jobs) in
    let type_names = names "job type" (List.map (fun row -> text (some (List.hd row))) rows) in
    let column i read none = Array.of_list (List.map (fun row -> Option.fold ~none ~some:read (List.nth row i)) rows) in
    let sizes = Array.of_list (each "jobs" (field "demand" (fun v -> amounts (given v))) jobs) in
    let rewards = column 2 amount Q.zero and loads = column 3 amount Q.zero in
    let rooms = Array.of_list rooms in
    if not is_listed && Array.exists (Array.for_all (fun d -> Q.sign d = 0)) sizes then
      wrong "jobs: the demand of a job type is 0; write a demand above 0 of some resource";
    let configurations = Option.map (fun value -> match list value with
      | [] -> wrong "configurations: the list is empty; write at least one configuration"
      | _ -> each "configurations" (by_name type_names Z.zero (count 0)) value) configurations in
    let fits j = match configurations with
      | Some l -> List.fold_left (fun most (k : Z.t array) -> Z.max most k.(j)) Z.zero l
      | None -> Array.fold_left (fun most room ->
          let least = ref None in
          Array.iteri (fun r d -> if Q.sign d > 0 then
            let t = Q.div room.(r) d in
            match !least with Some v when Q.leq v t -> () | _ -> least := Some t) sizes.(j);
          match !least with Some v -> Z.max most (Z.fdiv v.Q.num v.Q.den) | None -> most) Z.zero rooms in
    let fitting = Array.init (Array.length sizes) fits in
    Array.iteri (fun j name -> let n = fitting.(j) in if Z.lt n Z.one || Z.gt n largest then
      wrong "jobs: %s jobs of type `%s` fit on a server; the number must be from 1 to 10^12" (Z.to_string n) name) type_names.all;
    let row_units = Array.mapi (fun r _ ->
      let column of_ = Array.to_list (Array.map (fun row -> row.(r)) of_) in
      unit_or (unit_or Q.one (column rooms)) (column sizes)) resources.all in
    { title; resources; pool_names; type_names; sizes; rooms; counts = Array.of_list counts; rewards; loads; configurations;
      states_counts = with_counts > 0; row_units; fitting }
  | _ -> assert false

let reservation p = {
  types = Array.length p.type_names.all; rows = Array.length p.resources.all; pools = Array.length p.pool_names.all;
  size = (fun j r -> q p.sizes.(j).(r)); room = (fun s r -> q p.rooms.(s).(r));
  listed = Option.map (List.map (fun k j -> k.(j))) p.configurations;
  reward = at p.rewards; load = at p.loads; servers = (fun s -> q (Q.of_bigint p.counts.(s))) }

let configuration p = by_name p.type_names Z.zero (count 0)
let numbers names = by_name names Q.zero (number computed)

(* Reads a branch tree. Its nodes are in preorder. A leaf is the index of its multipliers. *)
let read_tree p multipliers nodes =
  let sets = Array.of_list (List.map (numbers p.resources) (list multipliers)) in
  let rec node = function
    | [] -> raise (False "nodes: the list of nodes ends before the tree is complete")
    | List [job; at_] :: rest ->
        let j = named p.type_names job and n = count 1 at_ in
        let from, rest = node rest in
        let below, rest = node rest in
        (Split (j, n, from, below), rest)
    | List _ :: _ -> wrong "nodes: a branch must be a list of a job type and a number of jobs"
    | which :: rest ->
        let i = count 0 which in
        if Z.geq i (Z.of_int (Array.length sets)) then raise (False (Printf.sprintf "nodes: a leaf names multipliers %s, and the tree has %d" (Z.to_string i) (Array.length sets)));
        (Leaf (at sets.(Z.to_int i)), rest) in
  match node (list nodes) with
  | tree, [] -> tree
  | _ -> raise (False "nodes: the list has more nodes than the tree")

let method_of proof = match get "method" proof with
  | Text ("tree" | "dynamic-programme" | "listed" | "known" as m) -> m
  | v -> inside "method" (expected "one of tree, dynamic-programme, listed, known") v

(* Returns the tree that replaces a dynamic programme on a server of pool s. The certificate states the number of cells. *)
let by_tree p s cells make =
  let sizes = p.sizes and units = p.row_units in
  let cap = Array.mapi (fun r c -> Q.mul units.(r) (Q.of_bigint (Branch.floor (Q.div c units.(r))))) p.rooms.(s) in
  let stated = count 1 cells and own = Branch.cells ~sizes ~units ~cap in
  if p.configurations <> None then raise (False "method: a problem with listed configurations has no dynamic programme");
  if Z.gt own Branch.cells_most then raise (False "cells: the dynamic programme has more than 10^7 cells");
  if not (Z.equal stated own) then raise (False (Printf.sprintf "cells: the certificate states %s, and the dynamic programme has %s"
    (Z.to_string stated) (Z.to_string own)));
  try make ~sizes ~cap with
  | Branch.Untrue -> raise (False "the dynamic programme does not prove the stated bound")
  | Branch.Too_many -> raise (Not_covered "a large proof by dynamic programming; write the certificate again with --trees")
let of_cells proof = match fields "method cells" proof with [_; Some cells] -> cells | _ -> assert false

(* Reads the proof that no configuration on a server of pool s is worth more than the bound. *)
let read_pricing p s beta bound proof = match method_of proof with
  | "tree" -> (match fields "method multipliers nodes" proof with
      | [_; Some m; Some n] ->
          Tree (at p.row_units, q (unit_or Q.one (Array.to_list beta)), read_tree p m n)
      | _ -> assert false)
  | "listed" -> ignore (fields "method" proof); All_listed
  | "dynamic-programme" ->
      let unit = unit_or Q.one (Array.to_list beta) in
      by_tree p s (of_cells proof) (fun ~sizes ~cap ->
        Tree (at p.row_units, q unit, Branch.of_value ~sizes ~cap ~beta ~unit bound))
  | m -> wrong "method: `%s` proves only first configurations; write tree, dynamic-programme or listed" m

(* The proofs of first configurations that were read so far, by pool, open types and configuration *)
let proven = Hashtbl.create 16
let read_first p s open_ k proof =
  let same = ref 0 in
  while p.rooms.(!same) <> p.rooms.(s) do incr same done;
  let key = (!same, Array.to_list open_, Array.to_list (Array.map Z.to_string k)) in
  let tree part = match fields "multipliers nodes" part with
    | [Some m; Some n] -> read_tree p m n | _ -> assert false in
  match method_of proof with
  | "known" -> ignore (fields "method" proof);
      (try Hashtbl.find proven key with Not_found -> raise (False "first: the method is `known`, and no earlier step has proven the same configuration"))
  | m ->
      let beta = Array.mapi (fun j u -> if open_.(j) then u else Q.zero) p.rewards in
      let unit = unit_or Q.one (Array.to_list beta) in
      let found = if m = "listed" then (ignore (fields "method" proof); First_listed)
        else if m = "dynamic-programme" then begin
          if not (Array.for_all2 (fun o n -> o || Z.sign n = 0) open_ k)
          then raise (False "configuration: it has jobs of a type that is exhausted");
          let own = ref Q.zero in
          Array.iteri (fun j n -> own := Q.add !own (Q.mul beta.(j) (Q.of_bigint n))) k;
          by_tree p s (of_cells proof) (fun ~sizes ~cap ->
            let by_value = Branch.of_value ~sizes ~cap ~beta ~unit !own in
            Trees (at p.row_units, q unit, by_value, Branch.of_order ~sizes ~cap ~beta ~open_ !own k))
        end
        else match fields "method value order" proof with
        | [_; Some value; Some order] -> Trees (at p.row_units, q unit, tree value, tree order)
        | _ -> assert false in
      Hashtbl.replace proven key found; found

let read_amount whole value =
  let v = number computed value in
  if whole && not (Z.equal v.Q.den Z.one) then wrong "%s is not an integer; write a whole number of servers or jobs" (shown v) else v

let read_steps p whole steps =
  let open_ = Array.map (fun _ -> true) p.rewards in
  let step row = match fields "pool configuration servers exhausted first" row with
    | [Some pool; Some k; Some servers; Some exhausted; Some first] ->
        let k = configuration p k and s = named p.pool_names pool in
        let why = read_first p s open_ k first in
        let exhausted = match exhausted with Null -> None | name -> Some (named p.type_names name) in
        Option.iter (fun j -> open_.(j) <- false) exhausted;
        { stated_step = { at_pool = s; takes = (fun j -> k.(j)); given = q (read_amount whole servers); exhausted };
          why }
    | _ -> assert false in
  List.map step (list steps)

let read_plan p whole assignment =
  let part row = match fields "pool configuration servers" row with
    | [Some pool; Some k; Some servers] -> (named p.pool_names pool, configuration p k, read_amount whole servers)
    | _ -> assert false in
  let parts = Array.of_list (List.map part (list assignment)) in
  { parts = Array.length parts; pool = (fun t -> let s, _, _ = parts.(t) in s);
    conf = (fun t j -> let _, k, _ = parts.(t) in k.(j)); part = (fun t -> let _, _, n = parts.(t) in q n) }

let read_prices p prices = match fields "load slot server" prices with
  | [Some load; Some slot; Some server] ->
      (numbers p.type_names load, numbers p.type_names slot, numbers p.pool_names server)
  | _ -> assert false
let read_proofs p beta pi pricing =
  let proofs = by_name p.pool_names None Option.some pricing in
  Array.mapi (fun s proof -> match proof with
    | Some proof -> read_pricing p s beta pi.(s) proof
    | None -> wrong "pricing: the proof for pool `%s` is missing" p.pool_names.all.(s)) proofs
