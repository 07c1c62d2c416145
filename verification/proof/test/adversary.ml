(* Gives false numbers to the proved checker. Every number that OCaml computes for the checker (alone, the tables,
   totals, single servers, groups) is replaced by another number, one at a time, at a random position. The checker must
   then prove nothing. The program reads and writes like `evenhand-proof --batch`. It reports every certificate as not
   covered, with the count of false numbers. It ends at the first false number from which the checker proves a claim. *)
module Integer = Z
open Proved
module Z = Integer (* The integers of Zarith, which hide those of Coq *)
open Reader
open Evidence
open Further

let one = rational Q.one
let other q = match Random.int 4 with
  | 0 -> rational (Q.add (to_q q) Q.one)
  | 1 -> rational (Q.neg (to_q q))
  | 2 -> rational (Q.mul (to_q q) (Q.of_int 2))
  | _ -> zero
let rec different q = let v = other q in if Q.equal (to_q v) (to_q q) then different q else v
let put1 n f = let n0 = Random.int n in let v = different (f n0) in fun i -> if i = n0 then v else f i
let put2 n m f = let n0 = Random.int n in let row = put1 m (f n0) in fun i -> if i = n0 then row else f i
let put3 n m l f = let n0 = Random.int n in let rows = put2 m l (f n0) in fun i -> if i = n0 then rows else f i
(* Returns another optional number. *)
let put_option n m f =
  let n0 = Random.int n and m0 = Random.int m in
  let v = match f n0 m0 with None -> Some one | Some q -> if Random.bool () then None else Some (different q) in
  fun i j -> if i = n0 && j = m0 then v else f i j

(* The false numbers of a case: the claims for which they matter, the changed case, and the changed tables of parties *)
let lies (groups : Groups.t) s f =
  let n = s.p.users and k = s.p.classes and m = s.p.resources and v = groups.grouping.groups in
  let servers = (the_placing s.p s.x s.placing).servers in
  let tables t = Some (fun () -> { s with t = t () }) and where some lie = if some then lie else None in
  let t = s.t and places f = Some (fun () -> { s with places = f () }) and h f = Some (fun () -> { s with h = f () }) in
  let users = n > 0 in
  let of_alone () =
    let problem = { s.p with alone = put2 n k s.p.alone } in
    { s.c with on = { s.c.on with problem } } in
  let everywhere = [
    "alone", where users (Some (fun () -> { s with p = { s.p with alone = put2 n k s.p.alone } }));
    "alone, and what follows", where users (Some (fun () -> case (of_alone ()) groups));
    "gamma", where users (tables (fun () -> { t with t_gamma = put2 n k t.t_gamma }));
    "full", tables (fun () -> { t with t_full = put2 k m t.t_full });
    "takes", where users (tables (fun () -> { t with t_takes = put3 n k m t.t_takes }));
    "g", where users (tables (fun () -> { t with t_g = put1 n t.t_g }));
    "weights", tables (fun () -> { t with t_weights = different t.t_weights });
    "kept", where users (tables (fun () -> { t with t_kept = put1 n t.t_kept }));
    "cut", where users (tables (fun () -> { t with t_cut = put2 n k t.t_cut }));
    "crowd", tables (fun () -> { t with t_crowd = put1 k t.t_crowd });
    "x", where users (tables (fun () -> { t with t_x = put2 n k t.t_x }));
    "tasks", where users (tables (fun () -> { t with t_tasks = put1 n t.t_tasks }));
    "slack", tables (fun () -> { t with t_slack = put2 k m t.t_slack });
    "totals", Some (fun () -> { s with totals = put1 m s.totals });
    "one", places (fun () -> { s.places with l_one = put2 k m s.places.l_one });
    "listed", places (fun () -> { s.places with l_listed = put1 k s.places.l_listed });
    "free", where (servers > 0) (places (fun () -> { s.places with l_free = put2 servers m s.places.l_free })) ] in
  let of_groups = [
    "use", where (v > 0) (h (fun () -> { s.h with t_use = put2 v m s.h.t_use }));
    "promise", where (v > 0) (h (fun () -> { s.h with t_promise = put_option v m s.h.t_promise }));
    "kept back", where (v > 0) (h (fun () -> { s.h with t_kept_back = put2 v m s.h.t_kept_back }));
    "taken", where (s.grouping.limits_on <> []) (h (fun () -> { s.h with t_taken = put1 (List.length s.grouping.limits_on) s.h.t_taken }));
    "owed", where (v > 0) (h (fun () -> { s.h with t_owed = put2 v m s.h.t_owed }));
    "total", h (fun () -> { s.h with t_total = put1 m s.h.t_total });
    "above", where users (h (fun () -> let n0 = Random.int n in
      { s.h with t_above = (fun i -> if i = n0 then 0 :: s.h.t_above i else s.h.t_above i) })) ] in
  let given groups = List.filter_map (fun (name, lie) ->
    Option.map (fun lie -> name, groups, fun () -> lie (), f) lie) in
  let p = f.parties and all = v + n in
  let parties p = Some (fun () -> { f with parties = p () }) in
  let of_parties = if v = 0 || n = 0 then [] else [
    "members", parties (fun () -> let k0 = Random.int all in
      { p with t_members = (fun k -> if k = k0 then 0 :: p.t_members k else p.t_members k) });
    "holds", parties (fun () -> { p with t_holds = put3 all k m p.t_holds });
    "part", (match List.filter (somebody p) (range all) with
      | [] -> None
      | some -> parties (fun () -> let k0 = List.nth some (Random.int (List.length some)) in
        let q = different (p.t_part k0) in { p with t_part = (fun k -> if k = k0 then q else p.t_part k) })) ] in
  let of_parties = List.filter_map (fun (name, lie) -> Option.map (fun lie -> name, `Parties, fun () -> s, lie ()) lie) of_parties in
  given `All everywhere @ given `Groups of_groups @ of_parties

(* The false numbers of evidence: shares, levels, and the worth of tasks *)
let lies_of_evidence (groups : Groups.t) s e =
  let n = s.p.users and k = s.p.classes in
  let at_user ok f =
    match List.filter ok (range n) with
    | [] -> f
    | some -> let n0 = List.nth some (Random.int (List.length some)) in
      let v = different (f n0) in fun i -> if i = n0 then v else f i in
  let of_shares a = ["worth", { a with u = put2 n k a.u }; "have", { a with have = put1 n a.have }]
    @ (if List.exists (is_active s) (range n) then ["most", { a with most = at_user (is_active s) a.most }] else []) in
  let of_worths v = ["worth", { v with v_u = put2 n k v.v_u }; "spent", { v with v_spent = different v.v_spent };
    "value", { v with v_value = at_user (is_active s) v.v_value };
    "price", { v with v_price = at_user (is_active s) v.v_price }] in
  let each lies claim = List.map (fun (name, lie) -> name, OfProblem (claim lie)) lies in
  if n = 0 then [] else match e with
  | OfProblem (MaxMin (share, a, levels)) -> each (of_shares a) (fun a -> MaxMin (share, a, levels))
  | OfProblem (Rise (share, a, n, y)) -> each (of_shares a) (fun a -> Rise (share, a, n, y))
  | OfProblem (Unwanted (share, a)) -> each (of_shares a) (fun a -> Unwanted (share, a))
  | OfProblem (Fallen (kind, r, a, n, y)) -> each (of_shares a) (fun a -> Fallen (kind, r, a, n, y))
  | OfProblem (Proportional (share, v, a, p)) -> each (of_worths v) (fun v -> Proportional (share, v, a, p))
  | OfProblem (Better (share, v, a, y)) -> each (of_worths v) (fun v -> Better (share, v, a, y))
  | OfFilling (Ends e) -> List.map (fun (name, a) -> name, OfFilling (Ends { e with its_shares = a })) (of_shares e.its_shares)
  | OfFilling (Turns (v, e)) ->
    let all = Array.of_list (nodes s.p groups.grouping) in
    let m = s.p.resources and groups = groups.grouping.groups in
    let at_node f = let c0 = all.(Random.int (Array.length all)) in
      let v = different (f c0) in fun c -> if c = c0 then v else f c in
    let at_node2 f = let c0 = all.(Random.int (Array.length all)) in
      let row = put1 m (f c0) in fun c -> if c = c0 then row else f c in
    let used (h : stock) = { h with used = at_node2 h.used } and running (h : stock) = { h with running = at_node2 h.running } in
    let facts f = [Turns (v, { e with ft = f })] in
    let stretch f = match e.stretches with
      | [] -> []
      | some -> let i0 = Random.int (List.length some) in
        [Turns (v, { e with stretches = List.mapi (fun i s -> if i = i0 then f s else s) some })] in
    List.concat_map (fun (name, lies) -> List.map (fun lie -> name, OfFilling lie) lies) [
      "worth", [Turns (put2 n k v, e)]; "asked", facts { e.ft with asked = put2 n m e.ft.asked };
      "weight", facts { e.ft with weight_of = at_node e.ft.weight_of }; "over", facts { e.ft with over = at_node2 e.ft.over };
      "whole", facts { e.ft with whole = put1 m e.ft.whole }; "times", facts { e.ft with times = put1 m e.ft.times };
      "keep", (if groups = 0 then [] else facts { e.ft with keep = put2 groups m e.ft.keep });
      "pledged", (if groups = 0 then [] else facts { e.ft with pledged = put_option groups m e.ft.pledged });
      "most", (if groups = 0 then [] else facts { e.ft with most_of = put_option groups m e.ft.most_of });
      "used at first", [Turns (v, { e with at_start = used e.at_start })];
      "used", stretch (fun s -> { s with at_end = used s.at_end }); "running", stretch (fun s -> { s with at_end = running s.at_end });
      "used halfway", stretch (fun s -> { s with at_middle = used s.at_middle });
      "running halfway", stretch (fun s -> { s with at_middle = running s.at_middle });
      "length", stretch (fun s -> { s with lasts = different s.lasts });
      "tasks", stretch (fun s -> { s with goes_to = put1 n s.goes_to }) ]
  | OfRoots (RootPrices (v, p)) -> List.map (fun (name, v) -> name, OfRoots (RootPrices (v, p)))
    ["worth", { v with r_u = put2 n k v.r_u }; "spent", { v with r_spent = different v.r_spent };
     "value", { v with r_value = at_user (is_active s) v.r_value }]
  | OfProblem (PsDsf lev) ->
    let of_user n = List.filter_map (fun i -> if runs_on s n i then Some (n, i) else None) (range k) in
    let runs = List.concat_map of_user (range n) in
    let n0, i0 = List.nth runs (Random.int (List.length runs)) in
    let v = different (lev n0 i0) in
    ["level", OfProblem (PsDsf (fun n i -> if n = n0 && i = i0 then v else lev n i))]
  | _ -> []

let told = ref 0
let attack text =
  Budget.begin_text ();
  let c = read (Json.parse text) in
  let groups = Groups.read c.on in
  let truth = case c groups in
  let parties = further truth groups in
  let tolerance = rational c.tolerance in
  let only_limits = List.for_all (fun c -> List.mem c.axiom ["feasible"; "integer-feasible"]) c.claims in
  let about_parties claim = claim.statement.says <> None && List.mem claim.statement.about [OfGroupSharing; OfGroupEnvy] in
  let about_groups claim = List.mem claim.statement.about [OfLimits; OfGuarantees; OfGroupSharing; OfGroupEnvy] in
  let believed s f claim e =
    check_case s.p s.x s.placing s.t s.totals s.places tolerance only_limits
    && judge s f only_limits claim.statement e = Proven in
  let with_evidence claim = match evidence truth parties claim with
    | exception (Exit | Uncovered _ | Json.Malformed _) -> None
    | e -> if believed truth parties claim e then Some (claim, e) else None in
  let proven = List.filter_map with_evidence c.claims in
  let lie name s f claim e =
    incr told;
    if believed s f claim e then begin
      prerr_endline ("adversary: error: the checker proves " ^ claim.name ^ " although `" ^ name ^ "` is false:\n" ^ text); exit 1
    end in
  List.iter (fun (name, of_which, of_case) ->
    let s, f = of_case () in
    let matters claim e = match of_which, e with
      | `All, _ | `Groups, OfStops -> true | `Groups, _ -> about_groups claim | `Parties, _ -> about_parties claim in
    List.iter (fun (claim, e) -> if matters claim e then lie name s f claim e) proven) (lies groups truth parties);
  List.iter (fun (claim, e) -> List.iter (fun (name, e) -> lie name truth parties claim e) (lies_of_evidence groups truth e)) proven;
  proven <> []

let () =
  Random.init 1;
  let seen = ref 0 and proven = ref 0 in
  try
    while true do
      let bytes, _ = Scanf.sscanf (input_line stdin) "%d %s" (fun bytes word -> bytes, word) in
      let text = really_input_string stdin bytes in
      incr seen;
      (match attack text with
       | some -> if some then incr proven
       | exception (Json.Malformed _ | Uncovered _) -> ());
      print_endline "3 lied to"
    done
  with End_of_file ->
    Printf.eprintf "adversary: %d certificates, %d of them with claims that are proven; %d lies, none believed\n"
      !seen !proven !told
