(* Whether a text is UTF-8: no overlong form, no surrogate, nothing above U+10FFFF. *)
let is_valid text =
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
