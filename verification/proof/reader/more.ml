(* Reads the pinned tasks of a problem. They are part of the hash of the problem. No theorem depends on them. *)
open Json
open Reader

type t = { pinned : Q.t array }

let read (s : statement) =
  let users = match get "users" s.source with Absent -> [||] | v -> Array.of_list (list v) in
  let of_user read = Array.mapi (fun n u -> inside ("user " ^ s.user.list.(n)) (read n) (fun name -> get name u)) users in
  let pinned = of_user (fun n field ->
    let kept = match field "pinned" with Absent -> Q.zero | v -> at_least Q.zero (number Json.stated v) in
    (match s.problem.limit n with
     | Some tasks when Q.gt kept (to_q tasks) -> malformed "%s tasks are pinned, but the user has %s tasks; pin at most all tasks of the user" (shown kept) (shown (to_q tasks))
     | _ -> ());
    kept) in
  { pinned }
