(* The entry point of evenhand-proof in JavaScript. A page or a program passes a certificate, and receives the output lines. *)

(* [offer judge] makes [judge text sharing tolerance told] a function of JavaScript. Its arguments are the bytes of a
   certificate; "rdm", "tdm" or "" for any sharing; the largest tolerance, or "" for the default; and a function that is called
   before each claim. Its result is the exit status and the output lines. *)
external offer : (string -> string -> string -> (int -> int -> unit) -> int * string array) -> unit = "evenhand_offer"

(* The largest number of bytes of a text in a browser. The program evenhand-proof accepts larger texts. *)
let most_bytes = 8_000_000

let has part text =
  let n = String.length part in
  List.exists (fun i -> String.sub text i n = part) (List.init (max 0 (String.length text - n + 1)) Fun.id)

let judge text sharing most told =
  Say.kept := Some [];
  Verdict.at_claim := told;
  let status, wrong =
    if String.length text > most_bytes then 3, Some Verdict.too_large else
    match
      let most_tolerance = if most = "" then None else (Budget.begin_text (); Some (Json.number_of Json.stated most)) in
      if Option.fold ~none:false ~some:(fun most -> Q.lt most Q.zero || Q.geq most Q.one) most_tolerance then
        Json.malformed "the largest tolerance: %s is out of range; write a number of at least 0 and below 1" most;
      let by_time = if sharing = "" then None else Some (sharing = "tdm") in
      Verdict.judge text { Verdict.nothing_asked with by_time; most_tolerance }
    with
    | status, _, wrong -> status, wrong
    | exception Json.Malformed what -> 2, Some what
    (* JavaScript throws these errors if an integer or an array is too long, or if the stack is too small. *)
    | exception Failure what when List.exists (fun part -> has part what) ["RangeError"; "InternalError"; "call stack"] ->
      3, Some Verdict.too_large
    | exception Failure what -> 3, Some ("the checker failed: " ^ what ^ "; check the certificate with evenhand-check") in
  status, Array.of_list (Verdict.printed wrong)

let () = Budget.most_cells := 5_000_000; Budget.most_of_programme := 4_000_000; offer judge
