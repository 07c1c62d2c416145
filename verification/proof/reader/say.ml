(* Prints the output line by line. *)

(* The ranges of code points that docs/formats.md lists under "Names": control characters, separators of lines and
   paragraphs, Unicode's default ignorable code points, annotation characters, and the empty Braille pattern *)
let hidden = [0x0, 0x1f; 0x7f, 0x9f; 0xad, 0xad; 0x34f, 0x34f; 0x61c, 0x61c; 0x115f, 0x1160; 0x17b4, 0x17b5; 0x180b, 0x180f;
  0x200b, 0x200f; 0x2028, 0x202e; 0x2060, 0x206f; 0x2800, 0x2800; 0x3164, 0x3164; 0xfe00, 0xfe0f; 0xfeff, 0xfeff; 0xffa0, 0xffa0;
  0xfff0, 0xfffb; 0x1bca0, 0x1bca3; 0x1d173, 0x1d17a; 0xe0000, 0xe0fff]
let is_hidden code = List.exists (fun (first, last) -> first <= code && code <= last) hidden

(* Returns a line that is safe for a terminal. Hidden characters are escaped, so a name cannot end the line or control the
   terminal. Bytes that are not UTF-8 are escaped too. *)
let printable line =
  let n = String.length line in
  let into = Buffer.create n in
  let byte i = if i < n then Char.code line.[i] else 0 in
  (* The length and the code of the character that begins at byte i; [None] if no valid character begins there *)
  let decode i =
    let first = byte i in
    let length = if first < 0x80 then 1 else if first < 0xc2 then 0 else if first < 0xe0 then 2 else if first < 0xf0 then 3
      else if first < 0xf5 then 4 else 0 in
    let rec go code k = if k = length then Some (length, code)
      else if byte (i + k) land 0xc0 = 0x80 then go ((code lsl 6) lor (byte (i + k) land 0x3f)) (k + 1) else None in
    if length = 0 then None else go (match length with 1 -> first | 2 -> first land 0x1f | 3 -> first land 0xf | _ -> first land 7) 1 in
  let rec go i = if i < n then match decode i with
    | None -> Printf.bprintf into "\\x%02x" (byte i); go (i + 1)
    | Some (length, code) ->
      if is_hidden code then Printf.bprintf into "\\u{%x}" code else Buffer.add_string into (String.sub line i length);
      go (i + length) in
  go 0;
  Buffer.contents into
(* The lines of the current text, the last line first. If this is [None], lines are printed at once. *)
let kept = ref None
(* The part of the certificate that is judged now. Every line starts with this text. *)
let prefix = ref ""
let say format = Printf.ksprintf (fun line -> let line = !prefix ^ line in match !kept with
  | None -> print_endline (printable line)
  | Some lines -> kept := Some (printable line :: lines)) format
