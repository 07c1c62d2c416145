(** Maps the numbers of Coq to numbers of OCaml. Integers become integers of Zarith, rationals become pairs of integers,
    and indices become machine integers. *)
From Coq Require Import QArith Qreduction Extraction ExtrOcamlBasic ExtrOcamlNatInt.
Extract Inductive positive => "Zar.t"
  [ "(fun p -> Zar.succ_double p)" "(fun p -> Zar.double p)" "Zar.one" ] "Zar.positive_case".
Extract Inductive Z => "Zar.t" [ "Zar.zero" "" "Zar.neg" ] "Zar.z_case".
Extract Constant Pos.add => "Zar.add".
Extract Constant Pos.mul => "Zar.mul".
Extract Constant Z.add => "Zar.add".
Extract Constant Z.mul => "Zar.mul".
Extract Constant Z.opp => "Zar.neg".
Extract Constant Z.leb => "Zar.leb".
Extract Constant Z.min => "Zar.min".
Extract Constant Z.max => "Zar.max".
Extract Constant Z.sub => "Zar.sub".
Extract Constant Z.ltb => "Zar.ltb".
Extract Constant Z.div => "Zar.div".
Extract Constant Z.ggcd => "Zar.ggcd".
Extract Constant Nat.eqb => "(fun (a : int) b -> a = b)".
Extract Constant Nat.ltb => "(fun (a : int) b -> a < b)".
Extract Constant Nat.leb => "(fun (a : int) b -> a <= b)".
