(* What is printed, a line at a time. *)

(* A line as a terminal may show it: names have no say in where lines end, or in what controls it. *)
let printable line =
  let into = Buffer.create (String.length line) in
  String.iteri (fun i c ->
    let after_c2 = i > 0 && line.[i - 1] = '\xc2' in
    if c < ' ' || c = '\127' || (after_c2 && c < '\xa0') then Printf.bprintf into "\\x%02x" (Char.code c)
    else Buffer.add_char into c) line;
  Buffer.contents into
(* Where a batch is read, what would be printed is kept. *)
let kept = ref None
let say format = Printf.ksprintf (fun line -> match !kept with
  | None -> print_endline (printable line)
  | Some lines -> kept := Some (printable line :: lines)) format
