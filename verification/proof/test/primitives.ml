(* Runs every primitive of integers that the checkers use, on values at the edges and on random ones, and prints a line of
   digests for every thousand calls. The program in machine code, which computes by Zarith and GMP, and the same program in
   JavaScript (browser/zarith.js) must print the same.

     primitives [CALLS]      the number of random calls of each primitive (default: 100000) *)

(* The random generator of Wichmann and Hill, whose numbers have at most 32 bits *)
let a = ref 1 and b = ref 2 and c = ref 3
let draw n =
  a := 171 * !a mod 30269; b := 172 * !b mod 30307; c := 170 * !c mod 30323;
  (!a + !b + !c) mod n

let z = Z.of_string
let edges =
  let powers = List.concat_map (fun n -> let p = z n in [Z.sub p Z.one; p; Z.add p Z.one])
    ["32768"; "1073741824"; "2147483648"; "4294967296"; "134217728"; "4503599627370496"; "9007199254740992";
     "4611686018427387904"; "9223372036854775808"; "18446744073709551616"; "79228162514264337593543950336";
     "340282366920938463463374607431768211456"; "1000000000000"; "1000000"] in
  let all = Z.zero :: Z.one :: z "2" :: z "3" :: z "10" :: powers in
  Array.of_list (all @ List.map Z.neg all)

let random_number () = match draw 8 with
  | 0 -> edges.(draw (Array.length edges))
  | 1 -> Z.of_int (draw 100 - 50)
  | 2 -> Z.add edges.(draw (Array.length edges)) (Z.of_int (draw 5 - 2))
  | k ->
    let digits = match k with 3 -> 9 | 4 -> 17 | 5 -> 25 | 6 -> 60 | _ -> 1 + draw 400 in
    let text = String.init digits (fun i -> Char.chr (Char.code '0' + if i = 0 then 1 + draw 9 else draw 10)) in
    z (if draw 2 = 0 then text else "-" ^ text)
(* In some pairs, both numbers have a large common factor. *)
let pair () =
  let x = random_number () and y = random_number () in
  if draw 4 > 0 then x, y else let f = random_number () in Z.mul x f, Z.mul y f

let shown x = Z.to_string x
let flag b = if b then "1" else "0"
let guarded f = try f () with
  | Division_by_zero -> "division by zero" | Z.Overflow -> "overflow" | Invalid_argument _ -> "invalid"

let two name f = name, fun () -> let x, y = pair () in guarded (fun () -> f x y)
let one name f = name, fun () -> let x = random_number () in guarded (fun () -> f x)
let small name f = name, fun () -> let x = random_number () and n = draw 130 in guarded (fun () -> f x n)
let whole name f = two name (fun x y -> shown (f x y))
let rational () = Q.make (random_number ()) (let d = random_number () in if Z.sign d = 0 then Z.one else d)
let bits_of f = Int64.to_string (Int64.bits_of_float f)
let rationals name f = name, fun () -> let x = rational () and y = rational () in guarded (fun () -> f x y)

let calls = [
  whole "add" Z.add; whole "sub" Z.sub; whole "mul" Z.mul; whole "gcd" Z.gcd; whole "fdiv" Z.fdiv; whole "cdiv" Z.cdiv;
  whole "div" Z.div; whole "rem" Z.rem; whole "lcm" Z.lcm; whole "min" Z.min; whole "max" Z.max;
  whole "logand" Z.logand; whole "logor" Z.logor;
  two "gcd again" (fun x y -> String.concat " " (List.map shown [Z.gcd x y; Z.gcd y x; Z.gcd x y; Z.gcd (Z.succ x) y; Z.gcd x y]));
  two "div_rem" (fun x y -> let q, r = Z.div_rem x y in shown q ^ " " ^ shown r);
  two "divexact" (fun x y -> shown (Z.divexact (Z.mul x y) y));
  two "compare" (fun x y -> string_of_int (Z.compare x y)); two "equal" (fun x y -> flag (Z.equal x y));
  two "equal to itself" (fun x y -> flag (Z.equal (Z.sub (Z.add x y) y) x));
  two "structural" (fun x y -> string_of_int (compare x y) ^ flag (x = y) ^ flag (Z.sub (Z.add x y) y = x)
    ^ string_of_int (compare (0, [x; y]) (0, [y; x])) ^ flag (Hashtbl.hash x = Hashtbl.hash (Z.add Z.zero x)));
  one "neg" (fun x -> shown (Z.neg x)); one "abs" (fun x -> shown (Z.abs x)); one "succ" (fun x -> shown (Z.succ x));
  one "pred" (fun x -> shown (Z.pred x));
  one "sign" (fun x -> string_of_int (Z.sign x)); one "numbits" (fun x -> string_of_int (Z.numbits x));
  one "fits_int64" (fun x -> flag (Z.fits_int64 x)); one "to_int64" (fun x -> Int64.to_string (Z.to_int64 x));
  one "to_int" (fun x -> if Z.numbits x > 31 then "beyond 32 bits" else string_of_int (Z.to_int x));
  one "format" shown; one "of_string" (fun x -> shown (z (shown x)) ^ shown (z ("00" ^ shown (Z.abs x))));
  one "ill-formed" (fun x -> shown (z (shown x ^ "y"))); one "empty" (fun _ -> shown (z ""));
  small "shift_left" (fun x n -> shown (Z.shift_left x n)); small "shift_right" (fun x n -> shown (Z.shift_right x n));
  small "testbit" (fun x n -> flag (Z.testbit x n));
  small "pow" (fun x n -> shown (Z.pow x (n mod 9))); small "negative pow" (fun x n -> shown (Z.pow x (n - 200)));
  small "root" (fun x n -> shown (Z.root (Z.abs x) (1 + (n mod 5))));
  rationals "add of rationals" (fun x y -> Q.to_string (Q.add x y)); rationals "div of rationals" (fun x y ->
    if Q.sign y = 0 then "zero" else Q.to_string (Q.div x y));
  rationals "compare of rationals" (fun x y -> string_of_int (Q.compare x y) ^ flag (Q.lt x y) ^ flag (x = y));
  rationals "to_float" (fun x y -> bits_of (Q.to_float x) ^ " " ^ bits_of (Z.to_float (Q.num y)));
  rationals "div_2exp" (fun x _ -> Q.to_string (Q.div_2exp x 30));
]

let () =
  let most = if Array.length Sys.argv > 1 then int_of_string Sys.argv.(1) else 100_000 in
  (* The first calls use all pairs of edge values. *)
  Array.iter (fun x -> Array.iter (fun y ->
    Printf.printf "%s %s: %s %s %s %s %s %s %d\n" (shown x) (shown y) (shown (Z.add x y)) (shown (Z.sub x y)) (shown (Z.mul x y))
      (shown (Z.gcd x y)) (guarded (fun () -> shown (Z.fdiv x y))) (guarded (fun () -> shown (Z.cdiv x y))) (Z.compare x y))
    edges) edges;
  List.iter (fun (name, call) ->
    let into = Buffer.create 65536 in
    for i = 1 to most do
      Buffer.add_string into (call ()); Buffer.add_char into '\n';
      if i mod 1000 = 0 then begin
        Printf.printf "%s, %d: %s\n" name i (Digest.to_hex (Digest.string (Buffer.contents into)));
        Buffer.clear into
      end
    done) calls
