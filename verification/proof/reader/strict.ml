(* What Yojson reads and JSON does not have, outside strings: comments, and names without quotes, also such as consist
   of letters that JSON has there. *)
let is_json text =
  let n = String.length text in
  let letter c = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') in
  let rec past p i = if i < n && p text.[i] then past p (i + 1) else i in
  let rec outside i =
    i >= n || match text.[i] with
    | '"' -> inside (i + 1)
    | '{' | '}' | '[' | ']' | ',' | ':' | '.' | '+' | '-' | '0' .. '9' | ' ' | '\t' | '\r' | '\n' -> outside (i + 1)
    | 'e' | 'E' when i > 0 && text.[i - 1] >= '0' && text.[i - 1] <= '9' -> outside (i + 1)
    | _ ->
        let j = past letter i in
        let k = past (fun c -> c = ' ' || c = '\t' || c = '\r' || c = '\n') j in
        List.mem (String.sub text i (j - i)) ["true"; "false"; "null"] && not (k < n && text.[k] = ':') && outside j
  and inside i =
    i < n && match text.[i] with
    | '"' -> outside (i + 1)
    | '\\' -> inside (i + 2)
    | c -> c >= ' ' && inside (i + 1) in
  outside 0

(* An escape can be half of a character: what is decoded then is not UTF-8. *)
let rec has_characters = function
  | Json.Text s -> Utf8.is_valid s
  | Json.List l -> List.for_all has_characters l
  | Json.Object l -> List.for_all (fun (name, v) -> Utf8.is_valid name && has_characters v) l
  | _ -> true
