(* The limits of a text. The first is on the digits of all its numbers, with exponents written out: more would take longer than
   a minute. The second is on the entries of its tables, which a short text can make large. They only make the reader refuse. *)
exception Too_large
let most = 2_000_000
(* Linear programmes have more numbers, most of them short. *)
let most_of_programme = ref 50_000_000
(* Lower if memory is short. *)
let most_cells = ref 100_000_000
let left = ref most and left_cells = ref !most_cells
let begin_text () = left := most; left_cells := !most_cells
let begin_programme () = begin_text (); left := !most_of_programme

let take left amount =
  left := !left - amount;
  if !left < 0 then raise Too_large
let spend = take left
(* Charges rows of a table; few enough at a time that the sum does not wrap. *)
let cells = take left_cells

(* Charges the digits of a power of a number of that many bits. *)
let power bits exponent =
  let digits = 1 + (bits / 3) in
  if exponent > 0 then (if digits > !most_cells / exponent then raise Too_large; cells (digits * exponent))

(* Charges the digits of a number, and returns how many there are. *)
let digits text =
  let count = String.fold_left (fun n c -> if c >= '0' && c <= '9' then n + 1 else n) 0 text in
  spend count; count
