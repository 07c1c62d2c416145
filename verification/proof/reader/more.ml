(* What a problem with groups says besides: gangs, pinned tasks, and the share that siblings are compared by. It is in the
   hash of the problem alone; no theorem rests on it. *)
open Json
open Reader

type t = { gangs : Z.t array; pinned : Q.t array; words : string option list; multipliers : (int * Q.t) list; families : bool }

let one_of words value = match value with
  | Absent -> None
  | v ->
    let word = text v in
    if not (List.mem word words) then malformed "expected one of %s" (String.concat ", " words);
    if word = List.hd words then None else Some word

let read (s : statement) =
  let users = match get "users" s.source with Absent -> [||] | v -> Array.of_list (list v) in
  let of_user read = Array.mapi (fun n u -> read n (fun name -> get name u)) users in
  let gangs = of_user (fun _ field -> match field "gang" with Absent -> Z.one | v -> integer 1 v) in
  let pinned = of_user (fun n field ->
    let kept = match field "pinned" with Absent -> Q.zero | v -> at_least Q.zero (number Json.stated v) in
    (match s.problem.limit n with
     | Some tasks when Q.gt kept (to_q tasks) -> malformed "more tasks are pinned than the user has"
     | _ -> ());
    kept) in
  let share = get "share" s.source in
  if share <> Absent then only "of? over? multipliers? families? zero-weight?" share;
  let words = List.map (fun (name, words) -> one_of words (Groups.share s name))
    ["of", ["usage"; "surplus"]; "over", ["cluster"; "lendable"; "guarantee"]; "zero-weight", ["last"; "never"]] in
  let families = match Groups.share s "families" with
    | Absent | Bool false -> false | Bool true -> true | _ -> malformed "expected true or false" in
  let multipliers = List.filter (fun (_, q) -> not (Q.equal q Q.one))
    (Groups.amounts s positive (Groups.share s "multipliers")) in
  { gangs; pinned; words; multipliers; families }
