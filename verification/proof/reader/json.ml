(* Reads JSON. Every number stays the text of the file, and an object with a repeated field name is refused. *)
(* The `map` of this module needs no deep stack, because the stack of a browser is small. *)
module List = struct include List let map f l = rev (rev_map f l) end
type t = Absent | Null | Bool of bool | Number of string | Text of string | List of t list | Object of (string * t) list

exception Malformed of string
let malformed format = Printf.ksprintf (fun what -> raise (Malformed what)) format
(* Reads a value. If the value is malformed, the message starts with the place of the value. *)
let inside place read value = try read value with Malformed what -> malformed "%s: %s" place what

let rec of_raw : Yojson.Raw.t -> t = function
  | `Null -> Null
  | `Bool b -> Bool b
  | `Intlit s | `Floatlit s -> Number s
  | `Stringlit s -> Text (Yojson.Safe.Util.to_string (Yojson.Safe.from_string s))
  | `List l -> List (List.map of_raw l)
  | `Assoc fields ->
    let names = Hashtbl.create 8 in
    Object (List.map (fun (name, v) ->
      if Hashtbl.mem names name then malformed "the field `%s` is given twice; give each field once" name;
      Hashtbl.add names name (); (name, of_raw v)) fields)
  | `Tuple _ | `Variant _ -> malformed "this is not JSON: JSON has no tuples and no variants"
let parse text =
  try of_raw (Yojson.Raw.from_string text) with Yojson.Json_error what -> malformed "this is not JSON: %s" what

let get name = function Object fields -> (try List.assoc name fields with Not_found -> Absent) | _ -> Absent
(* Shortens a text for a message. *)
let shortened text = if String.length text <= 40 then text else String.sub text 0 40 ^ "..."
let described = function
  | Absent -> "no value" | Null -> "null" | Bool b -> string_of_bool b | Number s -> shortened s
  | Text s -> Printf.sprintf "the string `%s`" (shortened s) | List _ -> "a list" | Object _ -> "an object"
let expected what value = malformed "expected %s, found %s" what (described value)
let text = function Text s -> s | v -> expected "a string" v
let list = function List l -> l | v -> expected "a list" v
let obj = function Object fields -> fields | v -> expected "an object" v
let given = function Absent -> None | v -> Some v
(* Reads a field of an object. *)
let field name read value = inside name read (get name value)
(* Reads every entry of a list. *)
let each name read value =
  let i = ref (-1) in
  List.map (fun v -> incr i; try read v with Malformed what -> malformed "%s[%d]: %s" name !i what) (inside name list value)
(* Reads one of the words. If the value is absent, this is the first word. *)
let one_of words = function
  | Absent -> List.hd words
  | v -> if List.mem (text v) words then text v else expected ("one of " ^ String.concat ", " words) v
let boolean = function Bool b -> b | v -> expected "true or false" v
let flag name value = field name (function Absent -> false | v -> boolean v) value

(* Checks that an object has exactly the named fields. A field whose name ends with ? is optional. *)
let only names value =
  let names = List.filter (( <> ) "") (String.split_on_char ' ' names) in
  let bare name = List.hd (String.split_on_char '?' name) in
  let known = List.map bare names in
  List.iter (fun (name, _) -> if not (List.mem name known) then malformed "unknown field `%s`; expected only %s" name (String.concat ", " known)) (obj value);
  List.iter (fun name -> if not (String.contains name '?') && get name value = Absent
    then malformed "the field `%s` is missing" name) names

(* The largest numbers of digits: of a number that people state, and of a number that a program computes *)
let stated = 400
let computed = 100_000
(* Reads a decimal or a quotient. The mantissa has at most [most] digits, and the exponent is at most [most]. *)
let number_of most text =
  let wrong what = malformed "`%s` %s" (shortened text) what in
  let no_number () = wrong "is not a number; write a number like 0.25 or \"3/7\"" in
  let is_digit c = c >= '0' && c <= '9' in
  let whole s = if s <> "" && String.for_all is_digit s then Z.of_string s
    else no_number () in
  let two separator default s = match String.split_on_char separator s with
    | [a] -> a, default | [a; b] -> a, b | _ -> no_number () in
  let signed s = let n = String.length s in
    if n > 0 && (s.[0] = '-' || s.[0] = '+') then s.[0] = '-', String.sub s 1 (n - 1) else false, s in
  if text <> "" && text.[0] = '+' then no_number ();
  let negative, rest = signed text in
  let mantissa, exponent = two 'e' "0" (String.map (fun c -> if c = 'E' then 'e' else c) rest) in
  if Budget.digits mantissa > most then wrong (Printf.sprintf "has too many digits; write at most %d digits" most);
  let above, below = two '/' "1" rest in
  let value = if below <> "1" || String.contains rest '/' then
      if Z.equal (whole below) Z.zero then wrong "has the denominator 0; write another denominator"
      else Q.make (whole above) (whole below)
    else begin
      let units, fraction = two '.' "0" mantissa and small, size = signed exponent in
      if Z.gt (whole size) (Z.of_int most) then wrong (Printf.sprintf "has a large exponent; write an exponent from -%d to %d" most most);
      Budget.spend (Z.to_int (whole size));
      let power n = Q.of_bigint (Z.pow (Z.of_int 10) n) in
      let value = Q.add (Q.of_bigint (whole units)) (Q.div (Q.of_bigint (whole fraction)) (power (String.length fraction))) in
      (if small then Q.div else Q.mul) value (power (Z.to_int (whole size)))
    end in
  if negative then Q.neg value else value

let number most = function Number s | Text s -> number_of most s | v -> expected "a number" v
let shown q = shortened (Q.to_string q)
let at_least low v = if Q.lt v low then malformed "%s is too small; write a number of at least %s" (shown v) (shown low) else v
let positive v = let q = number stated v in if Q.sign q > 0 then q else malformed "%s is too small; write a number above 0" (shown q)
let largest = Z.of_string "1000000000000" (* Not a machine integer, because a machine integer has 32 bits in a browser. *)
let integer low v =
  let q = number stated v in
  if Z.equal (Q.den q) Z.one && Z.geq (Q.num q) (Z.of_int low) && Z.leq (Q.num q) largest then Q.num q
  else malformed "%s is not an integer from %d to %s" (shown q) low (Z.to_string largest)

(* Reads an amount of at least 0. A string may end with a unit suffix of Kubernetes. *)
let quantity v =
  let with_suffix s =
    let binary = s <> "" && s.[String.length s - 1] = 'i' in
    let n = String.length s - if binary then 1 else 0 in
    let letters, base, first, step = if binary then "KMGTPE", 2, 10, 10 else "num-kMGTPE", 10, -9, 3 in
    match if n > 0 && s.[n - 1] <> '-' then String.index_opt letters s.[n - 1] else None with
    | None -> number_of stated s
    | Some i ->
      let bare = String.sub s 0 (n - 1) and power = first + (step * i) in
      if String.exists (fun c -> String.contains "/eE" c) bare then malformed "`%s` is a quotient or has an exponent, and has a unit suffix; write the number without the suffix" (shortened s);
      (if power < 0 then Q.div else Q.mul) (number_of stated bare) (Q.of_bigint (Z.pow (Z.of_int base) (abs power))) in
  at_least Q.zero (match v with Text s -> with_suffix s | v -> number stated v)
