(* Reads a certificate of a linear programme, and prints what the proved checker proves of it. *)
module Integer = Z
open Linear_checker
module Z = Integer (* Zarith's, not Coq's *)
open Json
module List = Json.List

let q (v : Q.t) = { qnum = v.Q.num; qden = v.Q.den }
let to_q v = Q.make v.qnum v.qden

(* A programme, with the names of its rows and columns, and the columns that have to be integers *)
type named_programme = { title : string; row : Packing.names; column : Packing.names; programme : programme;
  is_integer : bool array }

let number_or_zero = function Some value -> q (number stated value) | None -> q Q.zero
let read_bounds lower upper =
  let limit = Option.map (fun value -> q (number stated value)) in
  { lower = limit lower; upper = limit upper }

let read_row value = match Packing.fields "name lower? upper?" value with
  | [Some name; lower; upper] -> text name, read_bounds lower upper
  | _ -> assert false

let read_column row value = match Packing.fields "name cost? lower? upper? integer? entries?" value with
  | [Some name; cost; lower; upper; integer; entries] ->
    let is_integer = match integer with
      | None -> false | Some (Bool b) -> b | Some _ -> malformed "expected true or false" in
    let entry (name, value) =
      let i = Packing.find row name and coefficient = number stated value in
      if Q.sign coefficient = 0 then None else Some (i, q coefficient) in
    text name, number_or_zero cost, read_bounds lower upper, is_integer,
    List.filter_map entry (Option.fold ~none:[] ~some:obj entries)
  | _ -> assert false

let read_programme value = match Packing.fields "kind? name? direction constant? rows columns" value with
  | [kind; name; Some direction; constant; Some rows; Some columns] ->
    if kind <> None && kind <> Some (Text "linear-programme") then malformed "expected `linear-programme`";
    let rows = List.map read_row (list rows) in
    let row = Packing.names "row" (List.map fst rows) in
    let columns = Array.of_list (List.map (read_column row) (list columns)) in
    let all part = Array.map part columns in
    let cost = all (fun (_, cost, _, _, _) -> cost) and column_bounds = all (fun (_, _, bounds, _, _) -> bounds)
    and entries = all (fun (_, _, _, _, entries) -> entries)
    and row_bounds = Array.of_list (List.map snd rows) in
    let programme = { rows = Array.length row_bounds; columns = Array.length columns;
      is_maximised = one_of ["minimise"; "maximise"] direction = "maximise"; constant = number_or_zero constant;
      cost = Array.get cost; entries = Array.get entries;
      row_bounds = Array.get row_bounds; column_bounds = Array.get column_bounds } in
    { title = Option.fold ~none:"" ~some:text name; row;
      column = Packing.names "column" (Array.to_list (all (fun (name, _, _, _, _) -> name)));
      programme; is_integer = all (fun (_, _, _, is_integer, _) -> is_integer) }
  | _ -> assert false

(* The text that is hashed: the rows and columns of the minimised programme, each in alphabetical order *)
let canonical p =
  let into = Buffer.create 65536 in
  let number v = Q.to_string (to_q v) in
  let least v = number (if p.programme.is_maximised then q (Q.neg (to_q v)) else v) in
  let limit = Option.fold ~none:"-" ~some:number in
  let limits b = limit b.lower ^ " " ^ limit b.upper in
  let in_order (names : Packing.names) line =
    let order = Array.init (Array.length names.all) Fun.id in
    Array.stable_sort (fun a b -> String.compare names.all.(a) names.all.(b)) order;
    Array.iter (fun i -> line i (Hash.quoted names.all.(i))) order in
  Printf.bprintf into "linear-programme %s\n" (least p.programme.constant);
  in_order p.row (fun i name -> Printf.bprintf into "row %s %s\n" name (limits (p.programme.row_bounds i)));
  in_order p.column (fun j name ->
    Printf.bprintf into "column %s %s %s%s" name (least (p.programme.cost j)) (limits (p.programme.column_bounds j))
      (if p.is_integer.(j) then " integer" else "");
    let entries = List.map (fun (i, v) -> p.row.all.(i), v) (p.programme.entries j) in
    List.iter (fun (name, v) -> Printf.bprintf into " %s %s" (Hash.quoted name) (number v))
      (List.sort (fun (a, _) (b, _) -> String.compare a b) entries);
    Buffer.add_char into '\n');
  Buffer.contents into

let statuses = ["optimal"; "infeasible"; "unbounded"]

(* The numbers that an object states by name; 0 for all other names *)
let read_numbers what names = function
  | None -> malformed "the field `%s` is missing" what
  | Some value ->
    let all = Array.map q (Packing.by_name names Q.zero (number computed) value) in
    Array.get all

let read_evidence p status objective x y ray empty =
  let x () = read_numbers "x" p.column x and y () = read_numbers "y" p.row y in
  match status, empty with
  | "optimal", _ ->
    let objective = match objective with Some value -> number computed value | None -> malformed "the field `objective` is missing" in
    Optimal (x (), y (), q objective)
  | "infeasible", None -> Infeasible (y ())
  | "infeasible", Some empty -> (match Packing.fields "row? column?" empty with
    | [Some row; None] -> EmptyRow (Packing.named p.row row)
    | [None; Some column] -> EmptyColumn (Packing.named p.column column)
    | _ -> malformed "expected a row or a column")
  | _ -> Unbounded (x (), read_numbers "ray" p.column ray)

(* Why the evidence is refused, in words; only the sentence depends on this. *)
let fault programme = function
  | (Optimal (x, _, _) | Unbounded (x, _)) when not (check_point programme x) -> "x: the point is not feasible"
  | Optimal _ -> "the objective of x is another, or the prices y do not prove that it is the optimum"
  | Infeasible _ -> "the prices y do not prove that no point is feasible"
  | EmptyRow _ | EmptyColumn _ -> "the bounds do not contradict each other"
  | Unbounded _ -> "the ray leaves bounds, or the objective does not improve along it"

(* Judges a certificate of a linear programme, and prints what is proven. [own] reads the reader's own programme. *)
let judge raw own required =
  Budget.begin_programme ();
  match Packing.fields "kind version programme sha256 status objective? x? y? ray? empty?" raw with
  | [_; Some version; Some programme; Some stated_hash; Some status; objective; x; y; ray; empty] ->
    if not (Z.equal (integer 1 version) Z.one) then malformed "expected version 1";
    let p = read_programme programme in
    let stated_hash = text stated_hash and status = one_of statuses status in
    let evidence = read_evidence p status objective x y ray empty in
    let canonical_text = canonical p in
    let is_another = match own with
      | Some read -> read (fun raw -> Budget.begin_programme (); canonical (read_programme raw)) <> canonical_text | None -> false in
    List.iter (fun word -> if not (List.mem word statuses) then
      malformed "--require %s: expected `optimal`, `infeasible` or `unbounded`" word) required;
    let ensure holds what = if not holds then raise (Packing.False what) in
    ensure (not is_another) "the certificate is about another programme";
    List.iter (fun word -> ensure (word = status) (Printf.sprintf "`%s` is required, and not claimed" word)) required;
    let hash = Hash.sha256 canonical_text in
    ensure (stated_hash = hash) "sha256: the programme has another hash";
    if not (judge_programme p.programme evidence) then ensure false (fault p.programme evidence);
    (* The hash comes first, so that no name can imitate it. *)
    Say.say "programme sha256 %s: `%s`, rows %d, columns %d" hash p.title p.programme.rows p.programme.columns;
    let side = if p.programme.is_maximised then "above" else "below" in
    (match evidence with
     | Optimal (_, _, v) ->
       Say.say "proven: is_optimum x (%s): x is feasible, and no feasible point has an objective %s this" (Q.to_string (to_q v)) side
     | Infeasible _ | EmptyRow _ | EmptyColumn _ -> Say.say "proven: has_no_feasible_point"
     | Unbounded _ -> Say.say "proven: is_unbounded: the objective of a feasible point is %s any number" side);
    let integers = Array.fold_left (fun n is_integer -> if is_integer then n + 1 else n) 0 p.is_integer in
    if integers > 0 then
      Say.say "of the relaxation: that %d columns have to be integers is not part of the claim" integers
  | _ -> assert false
