(* JSON in which every number stays as it is written, and no object has the same name twice *)
module List = struct include List let map f l = rev (rev_map f l) end (* the stack of a browser is small *)
type t = Absent | Null | Bool of bool | Number of string | Text of string | List of t list | Object of (string * t) list

exception Malformed of string
let malformed format = Printf.ksprintf (fun what -> raise (Malformed what)) format

let rec of_raw : Yojson.Raw.t -> t = function
  | `Null -> Null
  | `Bool b -> Bool b
  | `Intlit s | `Floatlit s -> Number s
  | `Stringlit s -> Text (Yojson.Safe.Util.to_string (Yojson.Safe.from_string s))
  | `List l -> List (List.map of_raw l)
  | `Assoc fields ->
    let names = Hashtbl.create 8 in
    Object (List.map (fun (name, v) ->
      if Hashtbl.mem names name then malformed "the field `%s` is given twice" name;
      Hashtbl.add names name (); (name, of_raw v)) fields)
  | `Tuple _ | `Variant _ -> malformed "this is not JSON"
let parse text =
  try of_raw (Yojson.Raw.from_string text) with Yojson.Json_error what -> malformed "this is not JSON: %s" what

let get name = function Object fields -> (try List.assoc name fields with Not_found -> Absent) | _ -> Absent
let text = function Text s -> s | _ -> malformed "expected a string"
let list = function List l -> l | _ -> malformed "expected a list"
let obj = function Object fields -> fields | _ -> malformed "expected an object"
let given = function Absent -> None | v -> Some v
(* One of some words; the first is the default. *)
let one_of words = function
  | Absent -> List.hd words
  | v -> if List.mem (text v) words then text v else malformed "expected one of %s" (String.concat ", " words)
let flag name value = match get name value with Absent -> false | Bool b -> b | _ -> malformed "expected true or false"

(* Checks that the object has exactly these fields; those whose name ends with ? are optional. *)
let only names value =
  let names = List.filter (( <> ) "") (String.split_on_char ' ' names) in
  let bare name = List.hd (String.split_on_char '?' name) in
  let known = List.map bare names in
  List.iter (fun (name, _) -> if not (List.mem name known) then malformed "unknown field `%s`" name) (obj value);
  List.iter (fun name -> if not (String.contains name '?') && get name value = Absent
    then malformed "the field `%s` is missing" name) names

(* Numbers: decimals or quotients, with a limit on their digits and exponents *)
let stated = 400
let computed = 100_000
let number_of most text =
  let wrong what = malformed "`%s`: %s" (String.sub text 0 (min 40 (String.length text))) what in
  let is_digit c = c >= '0' && c <= '9' in
  let whole s = if s <> "" && String.for_all is_digit s then Z.of_string s
    else wrong "expected a number, such as 0.25 or \"3/7\"" in
  let two separator default s = match String.split_on_char separator s with
    | [a] -> a, default | [a; b] -> a, b | _ -> wrong "expected a number" in
  let signed s = let n = String.length s in
    if n > 0 && (s.[0] = '-' || s.[0] = '+') then s.[0] = '-', String.sub s 1 (n - 1) else false, s in
  if text <> "" && text.[0] = '+' then wrong "expected a number";
  let negative, rest = signed text in
  let mantissa, exponent = two 'e' "0" (String.map (fun c -> if c = 'E' then 'e' else c) rest) in
  if Budget.digits mantissa > most then wrong "a number with too many digits";
  let above, below = two '/' "1" rest in
  let value = if below <> "1" || String.contains rest '/' then
      if Z.equal (whole below) Z.zero then wrong "a quotient with a zero denominator"
      else Q.make (whole above) (whole below)
    else begin
      let units, fraction = two '.' "0" mantissa and small, size = signed exponent in
      if Z.gt (whole size) (Z.of_int most) then wrong "an exponent that is out of range";
      Budget.spend (Z.to_int (whole size));
      let power n = Q.of_bigint (Z.pow (Z.of_int 10) n) in
      let value = Q.add (Q.of_bigint (whole units)) (Q.div (Q.of_bigint (whole fraction)) (power (String.length fraction))) in
      (if small then Q.div else Q.mul) value (power (Z.to_int (whole size)))
    end in
  if negative then Q.neg value else value

let number most = function Number s | Text s -> number_of most s | _ -> malformed "expected a number"
let at_least low v = if Q.lt v low then malformed "a number that is too small" else v
let positive v = let q = number stated v in if Q.sign q > 0 then q else malformed "expected a number above 0"
let largest = Z.of_string "1000000000000" (* not a machine integer: in a browser those have 32 bits *)
let integer low v =
  let q = number stated v in
  if Z.equal (Q.den q) Z.one && Z.geq (Q.num q) (Z.of_int low) && Z.leq (Q.num q) largest then Q.num q
  else malformed "expected an integer from %d to %s" low (Z.to_string largest)

(* An amount of at least 0; a string may end with a unit suffix of Kubernetes. *)
let quantity v =
  let with_suffix s =
    let binary = s <> "" && s.[String.length s - 1] = 'i' in
    let n = String.length s - if binary then 1 else 0 in
    let letters, base, first, step = if binary then "KMGTPE", 2, 10, 10 else "num-kMGTPE", 10, -9, 3 in
    match if n > 0 && s.[n - 1] <> '-' then String.index_opt letters s.[n - 1] else None with
    | None -> number_of stated s
    | Some i ->
      let bare = String.sub s 0 (n - 1) and power = first + (step * i) in
      if String.exists (fun c -> String.contains "/eE" c) bare then malformed "`%s`: a suffix beside a quotient or exponent" s;
      (if power < 0 then Q.div else Q.mul) (number_of stated bare) (Q.of_bigint (Z.pow (Z.of_int base) (abs power))) in
  at_least Q.zero (match v with Text s -> with_suffix s | v -> number stated v)
