(* States in sentences which claims of a certificate are proven, by checkers that are themselves proved in Coq. *)
open Reader
open Say
exception False of string
(* Called before each claim is judged, with its position and the number of claims *)
let at_claim = ref (fun (_ : int) (_ : int) -> ())

let short q = let text = Q.to_string q in
  if String.length text <= 60 then text else String.sub text 0 40 ^ "..."

(* An axiom, and the condition that it applies, in the words of the theories (x: the allocation) *)
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

(* The same for axioms that compare within the limits of groups *)
let among (axiom, applies) = match String.split_on_char ' ' axiom with
  | name :: rest -> String.concat " " ((name ^ "_among (within x)") :: rest), applies ^ (if applies = "" then "" else "; ") ^ "comparable"
  | [] -> axiom, applies
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

(* The requests of the user, in addition to the claims being true. Files are given as their texts. *)
type options = { by_time : bool option; most_tolerance : Q.t option; problem : string option; allocation : string option;
  required : string list }
let nothing_asked = { by_time = None; most_tolerance = None; problem = None; allocation = None; required = [] }

(* Reads a file that the user provides. It has a budget of its own. *)
let own option read text =
  Budget.begin_text ();
  try
    if not (Strict.is_utf8 text && Strict.is_json text) then Json.malformed "it is not JSON in UTF-8";
    let root = Json.parse text in
    if not (Strict.has_characters root) then Json.malformed "a surrogate without another";
    read root
  with Json.Malformed what -> Json.malformed "%s: %s" option what

(* The name of a required claim: AXIOM, or AXIOM:PARAMETER *)
let required_name s text =
  let axiom, parameter = match String.index_opt text ':' with
    | None -> text, None
    | Some i -> String.sub text 0 i, Some (String.sub text (i + 1) (String.length text - i - 1)) in
  let field = if axiom = "proportional" then "alpha" else "share" in
  if parameter = None && List.mem axiom ["max-min"; "proportional"] then
    Json.malformed "--require %s: it needs its parameter, as in max-min:drfh" text;
  let given = match parameter with None -> [] | Some p -> [field, Json.Text p] in
  try (read_claim s (Json.Object (["axiom", Json.Text axiom; "holds", Json.Bool true] @ given))).name
  with Json.Malformed what -> Json.malformed "--require %s: %s" text what

(* The requests that are not met, in words *)
let unmet options (c : certificate) groups =
  let s = c.on in
  let about_problem = Option.map (own "--problem" (fun root ->
    let s' = read_problem c.by_time root in
    let groups' = Groups.read s' in
    Hash.same (s, groups, More.read s) (s', groups', More.read s'), Hash.of_problem s' groups' (More.read s'))) options.problem in
  (* The user's own problem may have its lists in another order, and then has another hash. *)
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
    | Some { statement = { says = Some false; _ }; _ } -> Some (text ^ " is required, and claimed to be violated")
    | Some _ -> Some (text ^ " is required, and claimed not to apply")
    | None -> Some (text ^ " is required, and not claimed") in
  let missing = List.filter_map missing options.required in
  (if (match about_problem with Some (false, _) -> true | _ -> false) then ["the certificate is about another problem"] else [])
  @ (match about_allocation with
    | Some (false, _) -> ["the certificate is about another allocation"]
    | Some (_, false) -> ["the allocation is of another problem than the certificate (its problem_sha256)"]
    | _ -> [])
  @ missing

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
  (* If this is true, Coq's program refuses every claim that needs a feasible allocation. *)
  let only_limits = List.for_all (fun c -> List.mem c.axiom ["feasible"; "integer-feasible"]) c.claims in
  let judge (claim : stated_claim) = match if claim.statement.about = OfTree && List.mem ("guarantees", "compared") groups.words
    then uncovered "guarantees that are only compared with" else Further.evidence case further claim with
    | exception Exit -> `False (claim.name ^ ": the evidence does not fit the claim")
    | exception Uncovered what -> `Uncovered what
    | evidence ->
      match Further.judge case further only_limits claim.statement evidence with
      | Proven ->
        let words = words (c.placing <> None) (Proved.hold_back s.problem g) level claim in
        `Proven (sentence c.tolerance (if Proved.among s.problem g claim.statement.about then among words else words) claim)
      | Refused -> `False (claim.name ^ ": it is false, or its evidence does not show it")
      | NotCovered -> `Uncovered "no theorem is about it here" in
  let first = if c.claims = [] then Some "nothing is claimed"
    else if (match c.stated_hash with Some stated -> stated <> Hash.of_problem s groups case.more | None -> false)
    then Some "problem_sha256 of the allocation is not that of the problem"
    else if twice names then Some "something is claimed twice"
    else if List.exists (fun (c' : stated_claim) -> List.mem c'.axiom c.not_checked) c.claims
    then Some "something is claimed, and said not to be checked"
    else if Option.value by_time_asked ~default:false <> c.by_time
    then Some (if c.by_time then "the servers are shared by time (tdm), which has to be asked for" else "the servers are divided (rdm)")
    else if Q.gt c.tolerance most_tolerance then Some (Printf.sprintf "the tolerance is %s, more than the %s that is allowed" (short c.tolerance) (short most_tolerance))
    else if unmet <> [] then Some (List.hd unmet)
    else if not (Proved.check_case s.problem x placing case.t case.totals case.places (rational c.tolerance) only_limits)
    then Some "the allocation is infeasible, and more is claimed of it" else None in
  (* Text that cannot be read is the worse fault, wherever it is, so all evidence is read first. *)
  let verdicts = List.mapi (fun i claim -> !at_claim i (List.length names); judge claim) c.claims in
  Option.iter (fun what -> raise (False what)) first;
  List.iter (function `False what -> raise (False ("claim " ^ what)) | _ -> ()) verdicts;
  (* The hash comes first, so that no name can imitate it. *)
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

(* A certificate of a running cluster. The running tasks (held), the fair shares (due) and the tasks after moves are
   certificates of one problem, and judged as such. Statements about queues, starts and moves are not covered. *)
let check_bundle root options =
  Json.only "kind version tolerance held due queues constraints? closed? rounded? sources? fits? moves?" root;
  if not (Q.equal (Json.number Json.stated (Json.get "version" root)) Q.one) then Json.malformed "expected version 1";
  let due = Json.get "due" root and moves = Json.get "moves" root in
  let rule = Json.given (Json.get "rule" due) in
  Option.iter (fun rule -> Json.only "rule" due; ignore (Json.text rule)) rule;
  let is_moves = Json.get "kind" root = Json.Text "moves-certificate" in
  if is_moves <> (moves <> Json.Absent) then Json.malformed "moves belong to a certificate of moves";
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
  let hashes = List.map judge parts in
  prefix := "";
  if List.exists (( <> ) (List.hd hashes)) hashes then raise (False "the parts are about different problems");
  say "not covered: queues, what could start, the rule of fair shares, and moves: evenhand-check judges them";
  3

(* Whether a certificate is about something else than an allocation *)
let has_no_allocation text = match Json.get "kind" (Json.parse text) with
  | Text ("ratio-certificate" | "worst-load-certificate" | "lp-certificate") -> true
  | _ | exception _ -> false

let check text options =
  Budget.begin_text ();
  prefix := "";
  if not (Strict.is_utf8 text && Strict.is_json text) then Json.malformed "it is not JSON in UTF-8";
  let root = Json.parse text in
  if not (Strict.has_characters root) then Json.malformed "a surrogate without another";
  let without_allocation judge =
    let own = Option.map (fun text read -> own "--problem" read text) options.problem in
    try judge root own options.required; 0 with
    | Packing.False what -> raise (False what) | Packing.Not_covered what -> uncovered "%s" what in
  match Json.get "kind" root with
  | Text ("ratio-certificate" | "worst-load-certificate") -> without_allocation Ratio.judge
  | Text "lp-certificate" -> without_allocation Linear.judge
  | Text ("verdict-certificate" | "moves-certificate") -> check_bundle root options
  | _ -> check_allocation root options

(* The exit status for a text, why it is not 0, and an error message if the fault is not only about claims *)
let judge text options = match check text options with
  | 0 -> 0, "", None
  | status -> status, "something is not covered", None
  | exception Json.Malformed what -> 2, what, Some what
  | exception Uncovered what -> let what = "not covered: " ^ what in say "%s" what; 3, what, Some what
  | exception False what -> say "not proven: %s" what; 1, what, None
  | exception (Budget.Too_large | Stack_overflow | Out_of_memory) -> 3, "too large", Some "too large"
let fault what = printable ("error: " ^ String.concat " " (String.split_on_char '\n' what))
(* All lines, if they are kept *)
let printed wrong = List.rev (Option.value !kept ~default:[]) @ List.map fault (Option.to_list wrong)
