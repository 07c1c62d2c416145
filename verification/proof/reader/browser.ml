(* evenhand-proof in JavaScript: a page or a program gives a text, and takes the lines that are printed elsewhere. *)

(* [offer judge] registers [judge text sharing tolerance told]. Its arguments: the bytes of a certificate; "rdm", "tdm" or
   ""; the greatest tolerance or ""; and a function to call before each claim. Its result: the exit status and the lines. *)
external offer : (string -> string -> string -> (int -> int -> unit) -> int * string array) -> unit = "evenhand_offer"

(* The longest text of a page in a browser; larger texts are for evenhand-proof. *)
let most_bytes = 8_000_000

let has part text =
  let n = String.length part in
  List.exists (fun i -> String.sub text i n = part) (List.init (max 0 (String.length text - n + 1)) Fun.id)

let judge text sharing most told =
  Say.kept := Some [];
  Verdict.at_claim := told;
  let status, wrong =
    if String.length text > most_bytes then 3, Some "too large" else
    match
      let most_tolerance = if most = "" then None else (Budget.begin_text (); Some (Json.number_of Json.stated most)) in
      if Option.fold ~none:false ~some:(fun most -> Q.lt most Q.zero || Q.geq most Q.one) most_tolerance then
        Json.malformed "the largest tolerance: expected a number from 0 to below 1";
      let by_time = if sharing = "" then None else Some (sharing = "tdm") in
      Verdict.judge text { Verdict.nothing_asked with by_time; most_tolerance }
    with
    | status, _, wrong -> status, wrong
    | exception Json.Malformed what -> 2, Some what
    (* The errors of JavaScript if an integer or an array is too long, or the stack too small *)
    | exception Failure what when List.exists (fun part -> has part what) ["RangeError"; "InternalError"; "call stack"] ->
      3, Some "too large"
    | exception Failure what -> 3, Some ("the checker failed: " ^ what) in
  status, Array.of_list (Verdict.printed wrong)

let () = Budget.most_cells := 5_000_000; Budget.most_of_programme := 4_000_000; offer judge
