(* Returns whether a text is UTF-8, without overlong forms, surrogates and code points above U+10FFFF. *)
let is_utf8 text =
  let n = String.length text in
  let byte i = if i < n then Char.code text.[i] else 0 in
  let more i = byte i land 0xc0 = 0x80 in
  let rec go i =
    if i >= n then true
    else
      let a = byte i and b = byte (i + 1) in
      if a < 0x80 then go (i + 1)
      else if a >= 0xc2 && a < 0xe0 then more (i + 1) && go (i + 2)
      else if a >= 0xe0 && a < 0xf0 then
        more (i + 1) && more (i + 2) && not (a = 0xe0 && b < 0xa0) && not (a = 0xed && b > 0x9f) && go (i + 3)
      else a >= 0xf0 && a < 0xf5 && more (i + 1) && more (i + 2) && more (i + 3)
        && not (a = 0xf0 && b < 0x90) && not (a = 0xf4 && b > 0x8f) && go (i + 4) in
  go 0
(* Returns whether a text has none of the extensions of JSON that Yojson accepts: comments, names without quotes (also names
   that start with `true`, `false` or `null`), and control characters in strings. Lists and objects may be nested up to 100
   levels deep. *)
let is_json text =
  let n = String.length text in
  let letter c = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') in
  let rec past p i = if i < n && p text.[i] then past p (i + 1) else i in
  let rec outside depth i =
    i >= n || match text.[i] with
    | '"' -> inside depth (i + 1)
    | '{' | '[' -> depth < 100 && outside (depth + 1) (i + 1)
    | '}' | ']' -> outside (depth - 1) (i + 1)
    | ',' | ':' | '.' | '+' | '-' | '0' .. '9' | ' ' | '\t' | '\r' | '\n' -> outside depth (i + 1)
    | 'e' | 'E' when i > 0 && text.[i - 1] >= '0' && text.[i - 1] <= '9' -> outside depth (i + 1)
    | _ ->
        let j = past letter i in
        let k = past (fun c -> c = ' ' || c = '\t' || c = '\r' || c = '\n') j in
        List.mem (String.sub text i (j - i)) ["true"; "false"; "null"] && not (k < n && text.[k] = ':') && outside depth j
  and inside depth i =
    i < n && match text.[i] with
    | '"' -> outside depth (i + 1)
    | '\\' -> inside depth (i + 2)
    | c -> c >= ' ' && inside depth (i + 1) in
  outside 0 0

(* Returns whether all decoded strings are UTF-8. A string is not UTF-8 if an escape in it is half of a surrogate pair. *)
let rec has_characters = function
  | Json.Text s -> is_utf8 s
  | Json.List l -> List.for_all has_characters l
  | Json.Object l -> List.for_all (fun (name, v) -> is_utf8 name && has_characters v) l
  | _ -> true
