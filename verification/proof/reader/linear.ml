(* Reads a certificate of a linear programme, and prints the statement that the proved checker proves. *)
module Integer = Z
open Linear_checker
module Z = Integer (* The integers of Zarith, which hide those of Coq *)
open Json
module List = Json.List

let q (v : Q.t) = { qnum = v.Q.num; qden = v.Q.den }
let to_q v = Q.make v.qnum v.qden

(* A programme, the names of its rows and columns, and whether each column has to be an integer *)
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
      | None -> false | Some v -> inside "integer" boolean v in
    let entry (name, value) =
      let i = Packing.find row name and coefficient = inside ("entries: " ^ name) (number stated) value in
      if Q.sign coefficient = 0 then None else Some (i, q coefficient) in
    text name, number_or_zero cost, read_bounds lower upper, is_integer,
    List.filter_map entry (Option.fold ~none:[] ~some:obj entries)
  | _ -> assert false

let read_programme value = match Packing.fields "kind? name? direction constant? rows columns" value with
  | [kind; name; Some direction; constant; Some rows; Some columns] ->
    if kind <> None && kind <> Some (Text "linear-programme") then malformed "kind: expected the string `linear-programme`, found %s" (described (Option.get kind));
    let rows = each "rows" read_row rows in
    let row = Packing.names "row" (List.map fst rows) in
    let columns = Array.of_list (each "columns" (read_column row) columns) in
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

(* Returns the text that is hashed. It has the rows and the columns of the minimised programme, both in alphabetical order. *)
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

(* Reads the numbers of an object by name. All other names have the number 0. *)
let read_numbers what names = function
  | None -> malformed "the field `%s` is missing" what
  | Some value ->
    let all = Array.map q (inside what (Packing.by_name names Q.zero (number computed)) value) in
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
    | _ -> malformed "empty: expected one of the fields `row` and `column`; write exactly one of them")
  | _ -> Unbounded (x (), read_numbers "ray" p.column ray)

(* Returns a sentence that says why the evidence is refused. *)
let fault programme = function
  | (Optimal (x, _, _) | Unbounded (x, _)) when not (check_point programme x) -> "x: the point is not feasible"
  | Optimal _ -> "objective: the point x has another objective, or the prices y do not prove that the objective is optimal"
  | Infeasible _ -> "y: the prices do not prove that no point is feasible"
  | EmptyRow _ | EmptyColumn _ -> "empty: the bounds of this row or column do not contradict each other"
  | Unbounded _ -> "ray: the ray violates a bound, or the objective does not improve along the ray"

(* Judges a certificate of a linear programme, and prints the proven statement. [own] reads the programme of --problem. *)
let judge raw own required =
  Budget.begin_programme ();
  match Packing.fields "kind version programme sha256 status objective? x? y? ray? empty?" raw with
  | [_; Some version; Some programme; Some stated_hash; Some status; objective; x; y; ray; empty] ->
    if not (Z.equal (integer 1 version) Z.one) then malformed "version: expected 1, found %s" (described version);
    let p = inside "programme" read_programme programme in
    let stated_hash = inside "sha256" text stated_hash and status = inside "status" (one_of statuses) status in
    let evidence = read_evidence p status objective x y ray empty in
    let canonical_text = canonical p in
    let is_another = match own with
      | Some read -> read (fun raw -> Budget.begin_programme (); canonical (read_programme raw)) <> canonical_text | None -> false in
    List.iter (fun word -> if not (List.mem word statuses) then
      malformed "--require %s: expected `optimal`, `infeasible` or `unbounded`" word) required;
    let ensure holds what = if not holds then raise (Packing.False what) in
    ensure (not is_another) "--problem: the certificate is about another programme than this file";
    List.iter (fun word -> ensure (word = status) (Printf.sprintf "--require %s: the certificate claims `%s`" word status)) required;
    let hash = Hash.sha256 canonical_text in
    ensure (stated_hash = hash) "sha256: the stated hash is not the hash of the programme";
    if not (judge_programme p.programme evidence) then ensure false (fault p.programme evidence);
    (* The hash is printed before any name, because a name could imitate it. *)
    Say.say "programme sha256 %s: `%s`, rows %d, columns %d" hash p.title p.programme.rows p.programme.columns;
    let side = if p.programme.is_maximised then "above" else "below" in
    (match evidence with
     | Optimal (_, _, v) ->
       Say.say "proven: is_optimum x (%s): x is feasible, and no feasible point has an objective %s this" (Q.to_string (to_q v)) side
     | Infeasible _ | EmptyRow _ | EmptyColumn _ -> Say.say "proven: has_no_feasible_point"
     | Unbounded _ -> Say.say "proven: is_unbounded: the objective of a feasible point is %s any number" side);
    let integers = Array.fold_left (fun n is_integer -> if is_integer then n + 1 else n) 0 p.is_integer in
    if integers > 0 then
      Say.say "relaxation: %d columns have to be integers; the proven statement does not require this" integers
  | _ -> assert false
