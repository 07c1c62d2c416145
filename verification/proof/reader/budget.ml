(* Limits on the size of a text. If a limit is exceeded, the reader refuses the text. *)
exception Too_large
(* The largest number of digits of all numbers together, with exponents written out. More digits take longer than a minute. *)
let most = 2_000_000
(* The same limit for a linear programme, which has more numbers, most of them short *)
let most_of_programme = ref 50_000_000
(* The largest number of table entries. A short text can state a large table. The limit is lower in a browser. *)
let most_cells = ref 100_000_000
let left = ref most and left_cells = ref !most_cells
let begin_text () = left := most; left_cells := !most_cells
let begin_programme () = begin_text (); left := !most_of_programme

let take left amount =
  left := !left - amount;
  if !left < 0 then raise Too_large
let spend = take left
(* Charges entries of a table. The caller charges one row at a time, because a larger number could exceed a machine integer. *)
let cells = take left_cells

(* Charges the digits of the power [exponent] of a number with [bits] bits. *)
let power bits exponent =
  let digits = 1 + (bits / 3) in
  if exponent > 0 then (if digits > !most_cells / exponent then raise Too_large; cells (digits * exponent))

(* Charges the digits of a number, and returns the number of digits. *)
let digits text =
  let count = String.fold_left (fun n c -> if c >= '0' && c <= '9' then n + 1 else n) 0 text in
  spend count; count
