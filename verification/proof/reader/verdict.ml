(* Judges the claims of a certificate by checkers that are proved in Coq, and prints a sentence about every claim. *)
open Reader
open Say
(* A claim is false, its evidence does not prove it, or the certificate is not the requested one. *)
exception False of string
(* The error if a limit of Budget, the memory or the stack is exceeded *)
let too_large = "the certificate is too large for this checker; check it with evenhand-check"
let no_json = "the text is not JSON in UTF-8, or is nested more than 100 levels deep"
let half_pair = "a string has half of a surrogate pair; write both halves"
(* This function is called before each claim is judged, with the position of the claim and the number of claims. *)
let at_claim = ref (fun (_ : int) (_ : int) -> ())

let short q = let text = Q.to_string q in
  if String.length text <= 60 then text else String.sub text 0 40 ^ "..."

(* Returns the Coq term of an axiom, and the Coq term of the condition under which the axiom applies. x is the allocation. *)
let words placed held level (c : stated_claim) =
  let named : Proved.named -> string = function
    | Resource r -> Printf.sprintf "(Resource %d)" r | share -> String.capitalize_ascii (word_of_share share) in
  let worth = function None -> "1" | Some u -> "(worth " ^ named u ^ ")" in
  let defined = function None -> "" | Some u -> "defined " ^ named u in
  let bottleneck : Proved.bottleneck -> string = function
    | OnEveryClass -> "OnEveryClass" | OfTheCluster -> "OfTheCluster" | Single -> "Single" in
  let name = String.map (fun c -> if c = '-' then '_' else c) c.axiom in
  match c.statement.about with
  | OfFeasible -> (if placed then "placed_within placing" else "feasible_within"), ""
  | OfWorkConserving when held -> "conserving_of_groups " ^ (if placed then "placing" else "None"), "about_groups"
  | OfWorkConserving -> (if placed then "placed_conserving placing" else name), ""
  | OfIntegerFeasible -> name ^ " placing", "on_single_servers"
  | OfIntegerParetoOptimal | OfEf1 -> name, "whole_tasks x"
  | OfBottleneck k -> "bottleneck_fair " ^ bottleneck k, "is_bottleneck " ^ bottleneck k ^ " r for some r"
  | OfMaxMin share -> "max_min " ^ worth (Some share), defined (Some share)
  | OfProportional (share, a) -> Printf.sprintf "proportional %s %d" (worth share) a, defined share
  | OfRoot (share, a, q) -> Printf.sprintf "alpha_fair %s %d %d" (worth share) a q, defined share
  | OfGroupSharing | OfGroupEnvy -> name, "about_groups" | OfLimits | OfGuarantees -> name ^ "_kept", "about_groups"
  | OfTree -> (if level then "filled" else "filled_by_turns"), "tree_applies"
  | OfNjc -> "no_justified_complaints", "" | OfNonWasteful -> "True", "" | _ -> name, ""

(* Returns the same terms for an axiom that compares x only with allocations within the limits of groups. *)
let among (axiom, applies) = match String.split_on_char ' ' axiom with
  | name :: rest -> String.concat " " ((name ^ "_among (within x)") :: rest), applies ^ (if applies = "" then "" else "; ") ^ "comparable"
  | [] -> axiom, applies
(* Returns the sentence that is printed about a proven claim. *)
let sentence tolerance (axiom, applies) (c : stated_claim) =
  let x = if List.mem c.axiom ["feasible"; "integer-feasible"] then "as stated" else "x" in
  let said = if applies = "" then "" else "; " ^ applies in
  c.name ^ match c.statement.says, Option.map to_q c.statement.margin with
  | None, _ -> " does not apply: not " ^ applies
  | Some true, Some m -> Printf.sprintf " holds%s, margin %s: %s (%s) %s%s"
    (if Q.sign m < 0 then " within the tolerance of " ^ short tolerance else "") (short m) axiom (short (Q.neg m)) x said
  | Some false, Some m -> Printf.sprintf " is violated, margin %s: %s eps %s for no eps < %s%s" (short m) axiom x (short (Q.neg m)) said
  | Some true, None -> Printf.sprintf " holds: for every eps %s eps %s%s; or for no n user n" axiom x said
  | Some false, None -> Printf.sprintf " is violated: for no eps %s eps %s%s" axiom x said

(* The requirements of the user on a certificate. [problem] and [allocation] are the contents of files. *)
type options = { by_time : bool option; most_tolerance : Q.t option; problem : string option; allocation : string option;
  required : string list }
let nothing_asked = { by_time = None; most_tolerance = None; problem = None; allocation = None; required = [] }

(* Reads a file that the user provides. The file has its own limits of size. *)
let own option read text =
  Budget.begin_text ();
  try
    if not (Strict.is_utf8 text && Strict.is_json text) then Json.malformed "%s" no_json;
    let root = Json.parse text in
    if not (Strict.has_characters root) then Json.malformed "%s" half_pair;
    read root
  with Json.Malformed what -> Json.malformed "%s: %s" option what

(* Returns the name of the claim that --require AXIOM or --require AXIOM:PARAMETER asks for. *)
let required_name s text =
  let axiom, parameter = match String.index_opt text ':' with
    | None -> text, None
    | Some i -> String.sub text 0 i, Some (String.sub text (i + 1) (String.length text - i - 1)) in
  let field = if axiom = "proportional" then "alpha" else "share" in
  if parameter = None && List.mem axiom ["max-min"; "proportional"] then
    Json.malformed "--require %s: the parameter is missing; write for example max-min:drfh or proportional:1" text;
  let given = match parameter with None -> [] | Some p -> [field, Json.Text p] in
  try (read_claim s (Json.Object (["axiom", Json.Text axiom; "holds", Json.Bool true] @ given))).name
  with Json.Malformed what -> Json.malformed "--require %s: %s" text what

(* Returns a sentence about every requirement of the user that the certificate does not meet. *)
let unmet options (c : certificate) groups =
  let s = c.on in
  let about_problem = Option.map (own "--problem" (fun root ->
    let s' = read_problem c.by_time root in
    let groups' = Groups.read s' in
    Hash.same (s, groups, More.read s) (s', groups', More.read s'), Hash.of_problem s' groups' (More.read s'))) options.problem in
  (* The hash of the user's problem differs from that of the certificate if the lists have another order. Both hashes count. *)
  let is_known stated = stated = Hash.of_problem s groups (More.read s)
    || (match about_problem with Some (true, own) -> stated = own | _ -> false) in
  let about_allocation = Option.map (own "--allocation" (fun root ->
    let by_time, stated_hash, x, placing = read_allocation s ~is_file:true root in
    by_time = c.by_time && x = c.x && placing = c.placing,
    match stated_hash with Some stated -> is_known stated | None -> true)) options.allocation in
  let missing text =
    let name = required_name s text in
    match List.find_opt (fun (c : stated_claim) -> c.name = name) c.claims with
    | Some { statement = { says = Some true; _ }; _ } -> None
    | Some { statement = { says = Some false; _ }; _ } -> Some ("--require " ^ text ^ ": the certificate claims that the axiom is violated")
    | Some _ -> Some ("--require " ^ text ^ ": the certificate claims that the axiom does not apply")
    | None -> Some ("--require " ^ text ^ ": the certificate has no claim about the axiom") in
  let missing = List.filter_map missing options.required in
  (if (match about_problem with Some (false, _) -> true | _ -> false) then ["--problem: the certificate is about another problem than this file"] else [])
  @ (match about_allocation with
    | Some (false, _) -> ["--allocation: the certificate is about another allocation than this file"]
    | Some (_, false) -> ["--allocation: problem_sha256 is the hash of another problem than that of the certificate"]
    | _ -> [])
  @ missing

(* Judges a certificate of an allocation, prints the sentences and returns the exit status. *)
let check_allocation root options =
  let c = read root in
  let by_time_asked = options.by_time and most_tolerance = Option.value options.most_tolerance ~default:(Q.of_ints 1 1_000_000) in
  let s = c.on in
  let x n i = c.x.(n).(i) and placing = Option.map placing_of c.placing and groups = Groups.read s in
  let case = Evidence.case c groups in
  let further = Further.further case groups and g = groups.grouping in
  let level = Proved.is_level g groups.siblings in
  let names = List.map (fun c -> c.name) c.claims in
  let unmet = unmet options c groups in
  Budget.begin_text ();
  (* If [only_limits] is true, the proved checker refuses every claim that needs a feasible allocation. *)
  let only_limits = List.for_all (fun c -> List.mem c.axiom ["feasible"; "integer-feasible"]) c.claims in
  let judge (claim : stated_claim) = match if claim.statement.about = OfTree && List.mem ("guarantees", "compared") groups.words
    then uncovered "guarantees that are only compared with"
    else Json.inside ("claim " ^ claim.name ^ ": evidence") (Further.evidence case further) claim with
    | exception Exit -> `False (claim.name ^ ": the evidence is of another kind than the claim needs")
    | exception Uncovered what -> `Uncovered what
    | evidence ->
      match Further.judge case further only_limits claim.statement evidence with
      | Proven ->
        let words = words (c.placing <> None) (Proved.hold_back s.problem g) level claim in
        `Proven (sentence c.tolerance (if Proved.among s.problem g claim.statement.about then among words else words) claim)
      | Refused -> `False (claim.name ^ ": the claim is false, or its evidence does not prove it")
      | NotCovered -> `Uncovered "no theorem is about this claim for this problem" in
  let first = if c.claims = [] then Some "claims: the list is empty, so there is nothing to prove"
    else if (match c.stated_hash with Some stated -> stated <> Hash.of_problem s groups case.more | None -> false)
    then Some "allocation: problem_sha256 is not the hash of the problem of the certificate"
    else if twice names then Some "claims: two claims are about the same axiom with the same parameter"
    else if List.exists (fun (c' : stated_claim) -> List.mem c'.axiom c.not_checked) c.claims
    then Some "not_checked: an axiom of this list also has a claim"
    else if Option.value by_time_asked ~default:false <> c.by_time
    then Some (if c.by_time then "allocation: sharing: servers are shared by time (tdm); require this sharing (--sharing tdm) to accept the certificate"
      else "allocation: sharing: resources of servers are divided (rdm), and --sharing tdm requires that time is shared")
    else if Q.gt c.tolerance most_tolerance then Some (Printf.sprintf "tolerance: %s is above the largest allowed tolerance of %s; allow a larger tolerance (--max-tolerance) to accept the certificate" (short c.tolerance) (short most_tolerance))
    else if unmet <> [] then Some (List.hd unmet)
    else if not (Proved.check_case s.problem x placing case.t case.totals case.places (rational c.tolerance) only_limits)
    then Some "allocation: it is not feasible within the tolerance, and a claim needs a feasible allocation" else None in
  (* All evidence is read before a fault is reported, because malformed evidence (status 2) comes before a false claim (status 1). *)
  let verdicts = List.mapi (fun i claim -> !at_claim i (List.length names); judge claim) c.claims in
  Option.iter (fun what -> raise (False what)) first;
  List.iter (function `False what -> raise (False ("claim " ^ what)) | _ -> ()) verdicts;
  (* The hash is printed before any name, because a name could imitate it. *)
  let hash = try Hash.of_problem s groups case.more with Uncovered _ -> "not computed (long numbers)" in
  say "problem sha256 %s: `%s`, %d users, %d server classes; sharing %s, tolerance %s" hash s.title s.problem.users
    s.problem.classes (if c.by_time then "tdm" else "rdm") (short c.tolerance);
  say "%s" (if c.placing <> None && only_limits then "proven: well_formed"
    else "proven: well_formed; x, the repair of the allocation as it is stated, is feasible");
  List.iter2 (fun name -> function
    | `Proven words -> say "proven: %s" words
    | `Uncovered what -> say "not covered: %s (%s)" name what | `False _ -> ()) names verdicts;
  let is_answer = function `Proven _ -> (fun (c : stated_claim) -> Proved.shows_answer s.problem c.statement) | _ -> Fun.const false in
  if List.exists2 is_answer verdicts c.claims then say "proven: ps_dsf_answer x, so no lie pays: no_lie_pays (Truthful.v)";
  if List.exists (function `Uncovered _ -> true | _ -> false) verdicts then 3 else 0

(* Judges a certificate of a running cluster. It has certificates of one problem as parts: of the running tasks (`held`), of
   the fair shares (`due`) and of the tasks after moves (`after`). Each part is judged like a certificate of an allocation.
   Statements about queues, starts and moves are not covered. *)
let check_bundle root options =
  Json.only "kind version tolerance held due queues constraints? closed? rounded? sources? fits? moves?" root;
  let version = Json.field "version" (Json.number Json.stated) root in
  if not (Q.equal version Q.one) then Json.malformed "version: expected 1, found %s" (Json.shown version);
  let due = Json.get "due" root and moves = Json.get "moves" root in
  let rule = Json.given (Json.get "rule" due) in
  Option.iter (fun rule -> Json.only "rule" due; ignore (Json.text rule)) rule;
  let is_moves = Json.get "kind" root = Json.Text "moves-certificate" in
  if is_moves <> (moves <> Json.Absent) then Json.malformed (if is_moves then "the field `moves` is missing; a certificate of moves needs it"
    else "moves: only a certificate of the kind `moves-certificate` has this field");
  if is_moves then Json.only "steps after short least for?" moves;
  let parts = ["held", Json.get "held" root] @ (if rule = None then ["due", due] else [])
    @ (if is_moves then ["after", Json.get "after" moves] else []) in
  let of_held = List.filter (fun text -> not (String.starts_with ~prefix:"rule:" text)) options.required in
  let hash_of value =
    Budget.begin_text ();
    let s = (read value).on in
    Hash.of_problem s (Groups.read s) (More.read s) in
  let judge (name, part) =
    prefix := name ^ ": ";
    let asked = if name = "held" then { options with required = of_held } else
      { nothing_asked with by_time = options.by_time; most_tolerance = options.most_tolerance } in
    ignore (check_allocation part asked : int);
    hash_of part in
  let hashes = List.map (fun (name, part) -> Json.inside name judge (name, part)) parts in
  prefix := "";
  if List.exists (( <> ) (List.hd hashes)) hashes then raise (False "the parts of the certificate are about different problems");
  say "not covered: statements about queues, possible starts, the rule of fair shares and moves; check these with evenhand-check";
  3

(* Returns whether a certificate is about a ratio, a worst load or a linear programme. *)
let has_no_allocation text = match Json.get "kind" (Json.parse text) with
  | Text ("ratio-certificate" | "worst-load-certificate" | "lp-certificate") -> true
  | _ | exception _ -> false

(* Judges a certificate of any kind, prints the sentences and returns the exit status. *)
let check text options =
  Budget.begin_text ();
  prefix := "";
  if not (Strict.is_utf8 text && Strict.is_json text) then Json.malformed "%s" no_json;
  let root = Json.parse text in
  if not (Strict.has_characters root) then Json.malformed "%s" half_pair;
  let without_allocation judge =
    let own = Option.map (fun text read -> own "--problem" read text) options.problem in
    try judge root own options.required; 0 with
    | Packing.False what -> raise (False what) | Packing.Not_covered what -> uncovered "%s" what in
  match Json.get "kind" root with
  | Text ("ratio-certificate" | "worst-load-certificate") -> without_allocation Ratio.judge
  | Text "lp-certificate" -> without_allocation Linear.judge
  | Text ("verdict-certificate" | "moves-certificate") -> check_bundle root options
  | _ -> check_allocation root options

(* Judges a text. Returns the exit status; the reason if the status is not 0; and an error message, unless sentences about
   claims state the fault. *)
let judge text options = match check text options with
  | 0 -> 0, "", None
  | status -> status, "a claim is not covered", None
  | exception Json.Malformed what -> 2, what, Some what
  | exception Uncovered what -> let what = "not covered: " ^ what in say "%s" what; 3, what, Some what
  | exception False what -> say "not proven: %s" what; 1, what, None
  | exception (Budget.Too_large | Stack_overflow | Out_of_memory) -> 3, too_large, Some too_large
let fault what = printable ("error: " ^ String.concat " " (String.split_on_char '\n' what))
(* Returns the kept lines, the first line first, and the error message. *)
let printed wrong = List.rev (Option.value !kept ~default:[]) @ List.map fault (Option.to_list wrong)
