(* Judges many texts in one process, for tests. The command line with the name of a certificate does not use this file. *)
open Say

(* Judges every text of standard input. Any tolerance below 1 is allowed. *)
let run judge =
  let rec next () = match input_line stdin with
    | exception End_of_file -> ()
    | head ->
      let bytes, sharing = Scanf.sscanf head "%d %s" (fun bytes word -> bytes, word) in
      let text = really_input_string stdin bytes in
      kept := Some [];
      let status, why, wrong = judge text { Verdict.nothing_asked with
        by_time = (if sharing = "-" then None else Some (sharing = "tdm")); most_tolerance = Some Q.one } in
      let said = Verdict.printed wrong in
      let why = Option.value ~default:why (List.find_opt (String.starts_with ~prefix:"not covered") (List.rev said)) in
      Printf.printf "%d %s\n%!" status (String.concat "\t" (printable why :: said));
      next () in
  next ()
