(* JSON as a certificate may have it, and its numbers, exactly. Yojson reads the grammar; what it grants beyond that
   (comments, bare names, a name given twice, text that is not UTF-8) is refused here. *)

exception Unreadable of string
let wrong fmt = Printf.ksprintf (fun what -> raise (Unreadable what)) fmt

type json =
  | Null | Bool of bool | Number of string | Text of string
  | List of json list | Object of (string * json) list

(* Outside strings: no comment, no name without quotes, and no number that is none. *)
let scan text =
  let n = String.length text in
  let letter c = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') in
  let rec next i = if i < n && String.contains " \t\r\n" text.[i] then next (i + 1) else i in
  let rec outside i =
    if i < n then match text.[i] with
      | '"' -> inside (i + 1)
      | '{' | '}' | '[' | ']' | ',' | ':' | '.' | '+' | '-' | '0' .. '9' | ' ' | '\t' | '\r' | '\n' -> outside (i + 1)
      | 'e' | 'E' when i > 0 && text.[i - 1] >= '0' && text.[i - 1] <= '9' -> outside (i + 1)
      | c when letter c ->
          let j = ref i in
          while !j < n && letter text.[!j] do incr j done;
          let k = next !j in
          if List.mem (String.sub text i (!j - i)) ["true"; "false"; "null"] && not (k < n && text.[k] = ':')
          then outside !j else wrong "byte %d: this is not JSON" i
      | _ -> wrong "byte %d: this is not JSON" i
  and inside i =
    if i < n then match text.[i] with
      | '"' -> outside (i + 1)
      | '\\' -> inside (i + 2)
      | c when c < ' ' -> wrong "byte %d: a control character in a string" i
      | _ -> inside (i + 1)
  in outside 0

let utf8 text =
  let n = String.length text in
  let byte i = if i < n then Char.code text.[i] else 0 in
  let more i = byte i land 0xc0 = 0x80 in
  let rec go i =
    if i >= n then true
    else let a = byte i and b = byte (i + 1) in
      if a < 0x80 then go (i + 1)
      else if a >= 0xc2 && a < 0xe0 then more (i + 1) && go (i + 2)
      else if a >= 0xe0 && a < 0xf0 then
        more (i + 1) && more (i + 2) && not (a = 0xe0 && b < 0xa0) && not (a = 0xed && b > 0x9f) && go (i + 3)
      else a >= 0xf0 && a < 0xf5 && more (i + 1) && more (i + 2) && more (i + 3)
        && not (a = 0xf0 && b < 0x90) && not (a = 0xf4 && b > 0x8f) && go (i + 4)
  in go 0

let decoded s = if utf8 s then s else wrong "a string that is not UTF-8"

let rec convert depth (raw : Yojson.Raw.t) =
  if depth > 100 then wrong "nested too deeply: expected at most 100 levels";
  match raw with
  | `Null -> Null
  | `Bool b -> Bool b
  | `Intlit s | `Floatlit s -> Number s
  | `Stringlit s ->
      (match Yojson.Safe.from_string s with `String s -> Text (decoded s) | _ -> wrong "expected a string")
  | `List l -> List (List.map (convert (depth + 1)) l)
  | `Assoc fields ->
      let seen = Hashtbl.create 8 in
      Object (List.map (fun (name, value) ->
        let name = decoded name in
        if Hashtbl.mem seen name then wrong "the field `%s` is given twice" name;
        Hashtbl.add seen name ();
        (name, convert (depth + 1) value)) fields)
  | _ -> wrong "this is not JSON"

let read text =
  if not (utf8 text) then wrong "the file is not UTF-8";
  scan text;
  match Yojson.Raw.from_string text with
  | raw -> convert 0 raw
  | exception Yojson.Json_error what -> wrong "this is not JSON: %s" what

let text = function Text s -> s | _ -> wrong "expected a string"
let list = function List l -> l | _ -> wrong "expected a list"
let fields_of = function Object l -> l | _ -> wrong "expected an object"

(* The values of an object with just these fields, in this order; those whose name ends with ? may be absent. *)
let fields names value =
  let names = String.split_on_char ' ' names in
  let bare name = let n = String.length name in if name.[n - 1] = '?' then String.sub name 0 (n - 1) else name in
  let given = fields_of value in
  List.iter (fun (name, _) ->
    if not (List.exists (fun known -> bare known = name) names) then wrong "unknown field `%s`" name) given;
  List.map (fun name -> match List.assoc_opt (bare name) given with
    | None when bare name = name -> wrong "the field `%s` is missing" name
    | found -> found) names

(* * Numbers *)
let digits s = s <> "" && String.for_all (fun c -> c >= '0' && c <= '9') s
let power base n = Q.of_bigint (Z.pow (Z.of_int base) n)
let split c s = match String.index_opt s c with
  | Some i -> Some (String.sub s 0 i, String.sub s (i + 1) (String.length s - i - 1)) | None -> None

(* A decimal or a quotient with at most so many digits, and an exponent of at most that *)
let parse most s =
  let natural s = if digits s then Z.of_string s else wrong "`%s`: expected a number" s in
  let negative = s <> "" && s.[0] = '-' in
  let s = if negative then String.sub s 1 (String.length s - 1) else s in
  let mantissa, exponent = match split 'e' (String.map (fun c -> if c = 'E' then 'e' else c) s) with
    | Some (a, b) -> (a, b) | None -> (s, "0") in
  let count = ref 0 in
  String.iter (fun c -> if c >= '0' && c <= '9' then incr count) mantissa;
  if !count > most then wrong "a number with too many digits";
  let value = match split '/' s with
    | Some (a, b) ->
        let a = natural a and b = natural b in
        if Z.equal b Z.zero then wrong "a quotient with a zero denominator" else Q.make a b
    | None ->
        let above, below = match split '.' mantissa with Some parts -> parts | None -> (mantissa, "0") in
        let down = exponent <> "" && exponent.[0] = '-' in
        let size = if exponent <> "" && (down || exponent.[0] = '+')
          then String.sub exponent 1 (String.length exponent - 1) else exponent in
        let size = if digits size then int_of_string_opt ("0u" ^ size) else None in
        let size = match size with Some n when n >= 0 && n <= most -> n | _ -> wrong "an exponent out of range" in
        let m = Q.add (Q.of_bigint (natural above)) (Q.div (Q.of_bigint (natural below)) (power 10 (String.length below))) in
        if down then Q.div m (power 10 size) else Q.mul m (power 10 size)
  in if negative then Q.neg value else value

let stated = 400 and computed = 100_000
let number most = function Number s | Text s -> parse most s | _ -> wrong "expected a number"
let amount value = let q = number stated value in if Q.sign q < 0 then wrong "expected at least 0" else q
(* An amount which may have a suffix of Kubernetes where it is a string *)
let quantity value =
  let suffixed s =
    let binary = String.length s > 0 && s.[String.length s - 1] = 'i' in
    let s = if binary then String.sub s 0 (String.length s - 1) else s in
    let letters, base, first, step = if binary then ("KMGTPE", 2, 10, 10) else ("num-kMGTPE", 10, -9, 3) in
    let n = String.length s in
    if n = 0 || s.[n - 1] = '-' then None
    else Option.map (fun i -> (String.sub s 0 (n - 1), base, first + step * i)) (String.index_opt letters s.[n - 1]) in
  let q = match value with
    | Text s -> (match suffixed s with
        | Some (bare, base, n) ->
            if List.exists (String.contains bare) ['/'; 'e'; 'E'] then wrong "a suffix beside a quotient or exponent";
            let q = parse stated bare in
            if n >= 0 then Q.mul q (power base n) else Q.div q (power base (- n))
        | None -> parse stated s)
    | _ -> number stated value in
  if Q.sign q < 0 then wrong "expected at least 0" else q

let most = Z.of_string "1000000000000"
(* A whole number from least to 10^12 *)
let count least value =
  let q = number stated value in
  if Z.equal q.Q.den Z.one && Z.geq q.Q.num (Z.of_int least) && Z.leq q.Q.num most then q.Q.num
  else wrong "expected an integer from %d to 10^12" least

(* * Names and their positions *)
type names = { what : string; all : string array; position : (string, int) Hashtbl.t }
let names what given =
  let position = Hashtbl.create 16 in
  List.iteri (fun i name ->
    if name = "" || Hashtbl.mem position name then wrong "the %s `%s` is named twice, or has no name" what name;
    Hashtbl.add position name i) given;
  { what; all = Array.of_list given; position }
let find names name = match Hashtbl.find_opt names.position name with
  | Some i -> i | None -> wrong "there is no such %s: `%s`" names.what name
let named names value = find names (text value)
(* What an object says by name; [zero] elsewhere *)
let by_name names zero read value =
  let found = Array.make (Array.length names.all) zero in
  List.iter (fun (name, value) -> found.(find names name) <- read value) (fields_of value);
  found
