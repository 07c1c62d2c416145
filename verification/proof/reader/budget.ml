(* The digits of all numbers of a text together, exponents written out: fractions of more take longer than a minute.
   It refuses, and proves nothing. *)
exception Too_large
let most = 2_000_000
let left = ref most
let begin_text () = left := most
let spend digits =
  left := !left - digits;
  if !left < 0 then raise Too_large

(* Charges the digits of a number; how many they are. *)
let digits text =
  let count = String.fold_left (fun n c -> if c >= '0' && c <= '9' then n + 1 else n) 0 text in
  spend count; count
