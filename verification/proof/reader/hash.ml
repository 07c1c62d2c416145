(* Computes the hash of a problem, which is SHA-256 of its canonical form (docs/formats.md). An allocation may state the hash.
   The option --problem compares canonical forms. No theorem depends on the hash. *)
open Reader
module List = Json.List

(* Words of 32 bits. A machine integer has another size on some platforms. *)
module Word = struct
  let ( + ) = Int32.add and ( lxor ) = Int32.logxor and ( land ) = Int32.logand and lnot = Int32.lognot
  let ( lsr ) = Int32.shift_right_logical
  let rotate w n = Int32.logor (w lsr n) (Int32.shift_left w (32 - n))
end
let primes count =
  let is_prime n = List.for_all (fun d -> d * d > n || n mod d <> 0) (List.init 30 (fun d -> d + 2)) in
  List.filteri (fun i _ -> i < count) (List.filter is_prime (List.init 400 (fun n -> n + 2)))
(* Returns the first 32 bits of the fractional part of a root of the number p. *)
let fraction root p =
  let found = Z.root (Z.shift_left (Z.of_int p) (32 * root)) root in
  let half v = Int32.of_int (Z.to_int (Z.logand v (Z.of_int 0xffff))) in
  Int32.logor (Int32.shift_left (half (Z.shift_right found 16)) 16) (half found)
let constants = Array.of_list (List.map (fraction 3) (primes 64))
let initial = List.map (fraction 2) (primes 8)

let sha256 text =
  let size = String.length text in
  let blocks = ((size + 8) / 64) + 1 in
  let padded = Bytes.make (64 * blocks) '\000' in
  Bytes.blit_string text 0 padded 0 size;
  Bytes.set padded size '\128';
  Bytes.set_int64_be padded ((64 * blocks) - 8) (Int64.mul 8L (Int64.of_int size));
  let state = Array.of_list initial and w = Array.make 64 0l in
  for block = 0 to blocks - 1 do
    for t = 0 to 15 do w.(t) <- Bytes.get_int32_be padded ((64 * block) + (4 * t)) done;
    for t = 16 to 63 do
      let a = w.(t - 15) and b = w.(t - 2) and c = w.(t - 16) and d = w.(t - 7) in
      w.(t) <- Word.(c + d + (rotate a 7 lxor rotate a 18 lxor (a lsr 3)) + (rotate b 17 lxor rotate b 19 lxor (b lsr 10)))
    done;
    let s = Array.copy state in
    for t = 0 to 63 do
      let a = s.(0) and e = s.(4) in
      let first = Word.(s.(7) + (rotate e 6 lxor rotate e 11 lxor rotate e 25)
        + ((e land s.(5)) lxor (lnot e land s.(6))) + constants.(t) + w.(t)) in
      let second = Word.((rotate a 2 lxor rotate a 13 lxor rotate a 22)
        + ((a land s.(1)) lxor (a land s.(2)) lxor (s.(1) land s.(2)))) in
      Array.blit s 0 s 1 7;
      s.(4) <- Word.(s.(4) + first);
      s.(0) <- Word.(first + second)
    done;
    Array.iteri (fun i v -> state.(i) <- Word.(state.(i) + v)) s
  done;
  String.concat "" (List.map (Printf.sprintf "%08lx") (Array.to_list state))

let quoted text =
  let into = Buffer.create 32 in
  String.iter (function
    | '"' -> Buffer.add_string into "\\\"" | '\\' -> Buffer.add_string into "\\\\"
    | '\n' -> Buffer.add_string into "\\n" | '\r' -> Buffer.add_string into "\\r" | '\t' -> Buffer.add_string into "\\t"
    | '\b' -> Buffer.add_string into "\\b" | '\012' -> Buffer.add_string into "\\f"
    | c when c < ' ' -> Printf.bprintf into "\\u%04x" (Char.code c)
    | c -> Buffer.add_char into c) text;
  "\"" ^ Buffer.contents into ^ "\""
let number v =
  let text = Q.to_string v in
  if String.length text > 401 then uncovered "the hash of a problem in which a number has more than 400 digits";
  quoted text
let record fields =
  let given = List.filter_map (fun (name, v) -> Option.map (fun v -> quoted name ^ ":" ^ v) v) fields in
  "{" ^ String.concat "," given ^ "}"

(* Returns the canonical form of a problem. If [sorted], the form has no title and every list is in alphabetical order. Then
   two problems with the same meaning have the same form. *)
let text ~sorted s (g : Groups.t) (more : More.t) =
  let p = s.problem in
  let range n = List.init n Fun.id in
  let order names positions =
    if sorted then List.sort (fun a b -> compare names.list.(a) names.list.(b)) positions else positions in
  let list names positions = "[" ^ String.concat "," (List.map (fun i -> quoted names.list.(i)) (order names positions)) ^ "]" in
  let all names = order names (range (Array.length names.list)) in
  let lines names line = String.concat "," (List.map (fun i -> "\n" ^ line i) (all names)) in
  let amounts row = record (List.map (fun r ->
    let v = to_q (row r) in
    s.resource.list.(r), if Q.sign v = 0 then None else Some (number v)) (all s.resource)) in
  let by_class of_class = match List.filter_map (fun i -> Option.map (fun v -> i, v) (of_class i)) (all s.server) with
    | [] -> None
    | found -> Some (record (List.map (fun (i, v) -> s.server.list.(i), Some v) found)) in
  let server i = record ["name", Some (quoted s.server.list.(i));
    "count", (if Z.equal s.counts.(i) Z.one then None else Some (quoted (Z.to_string s.counts.(i))));
    "capacity", Some (amounts (p.capacity i))] in
  let user n =
    let weight = to_q (p.weight n) and may = List.filter (p.allowed n) (range p.classes) in
    let numbers table = by_class (fun i -> Option.map (fun v -> number (to_q v)) (table n i)) in
    record ["name", Some (quoted s.user.list.(n));
      "weight", (if Q.equal weight Q.one then None else Some (number weight));
      "demand", Some (amounts (p.base n));
      "tasks", Option.map (fun t -> number (to_q t)) (p.limit n);
      "servers", (if List.length may = p.classes then None else Some (list s.server may));
      "demand_on", by_class (fun i -> if s.own_demand.(n).(i) then Some (amounts (p.demand n i)) else None);
      "gamma", numbers p.stated; "criterion", numbers p.criterion;
      "group", Option.map (fun v -> quoted g.names.list.(v)) g.member.(n);
      "gang", (let gang = to_q (p.gang n) in if Q.equal gang Q.one then None else Some (number gang));
      "pinned", (if Q.sign more.pinned.(n) = 0 then None else Some (number more.pinned.(n)))] in
  let stated row =
    let named = List.map (fun (r, q) -> s.resource.list.(r), Some (number q)) row in
    record (if sorted then List.sort compare named else named) in
  let some row = if row = [] then None else Some (stated row) in
  let group v =
    let { Groups.up; worth; priority; stated = promise; most; lent; on } = g.list.(v) in
    let on = List.map (fun (set, limit) -> record ["servers", Some (list s.server set); "limit", Some (stated limit)]) on in
    let on = if sorted then List.sort compare on else on in
    record ["name", Some (quoted g.names.list.(v)); "parent", Option.map (fun u -> quoted g.names.list.(u)) up;
      "weight", (if Q.equal worth Q.one then None else Some (number worth));
      "priority", (if Q.sign priority = 0 then None else Some (number priority));
      "guarantee", Option.map stated promise; "limit", some most; "lend", some lent;
      "on", if on = [] then None else Some ("[" ^ String.concat "," on ^ "]")] in
  let groups = match lines g.names group with "" -> "" | lines -> ",\n\"groups\":[" ^ lines ^ "\n]" in
  let word (name, word) = name, if List.mem word ["usage"; "cluster"; "last"; "first"] then None else Some (quoted word) in
  let fields = List.map word g.words
    @ ["multipliers", some g.multipliers; "families", if g.families then Some "true" else None] in
  let share = if List.for_all (fun (_, v) -> v = None) fields then "" else ",\n\"share\":" ^ record fields in
  Printf.sprintf "{\n\"kind\":\"allocation-problem\",\n%s\"resources\":%s,\n\"servers\":[%s\n]%s,\n\"users\":[%s\n]%s\n}\n"
    (if s.title = "" || sorted then "" else "\"name\":" ^ quoted s.title ^ ",\n")
    (list s.resource (all s.resource)) (lines s.server server) groups (lines s.user user) share

let of_problem s g more = sha256 (text ~sorted:false s g more)
(* Returns whether two problems have the same meaning. *)
let same (s, g, more) (s', g', more') = text ~sorted:true s g more = text ~sorted:true s' g' more'
