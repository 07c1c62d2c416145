(* Computes branch trees for certificates that name a dynamic programme, because the proved checker only reads trees. This file
   is not trusted. *)
module Integer = Z
open Ratio_checker
module Z = Integer (* The integers of Zarith, which hide those of Coq *)

(* The tree would have more than [most] nodes. *)
exception Too_many
(* A box is a single configuration, and the claim is false for it. *)
exception Untrue

(* The largest number of nodes of all trees of one text *)
let most = 50_000
let left = ref most
let begin_text () = left := most

let floor (q : Q.t) = Z.fdiv q.Q.num q.Q.den

(* Returns a tree over all configurations of the types that are [open_], within the capacity [cap] of each resource. [accept]
   says whether a box is settled, from an upper bound on its value and the largest number of jobs of each type. [first] gets
   the types whose number of jobs is not fixed, as (type, least, most). It returns the type to branch on, and the least number
   of jobs in the upper branch. *)
let tree ~(sizes : Q.t array array) ~(cap : Q.t array) ~(open_ : bool array) ~(beta : Q.t array) ~accept ~first =
  let types = Array.length beta and rows = Array.length cap in
  let range n = List.init n Fun.id in
  let none = Array.make rows Q.zero in
  (* Multipliers that are 0 for all resources but r, and with which jobs of type j have the value 0 *)
  let single r j = if Q.sign sizes.(j).(r) > 0 && Q.sign beta.(j) > 0
    then Some (Array.mapi (fun h _ -> if h = r then Q.div beta.(j) sizes.(j).(r) else Q.zero) cap) else None in
  let candidates = none :: List.sort_uniq compare
    (List.concat_map (fun r -> List.filter_map (single r) (range types)) (range rows)) in
  let leaf m = Leaf (fun r -> let (v : Q.t) = m.(r) in { qnum = v.Q.num; qden = v.Q.den }) in
  let sum f n = List.fold_left (fun s i -> Q.add s (f i)) Q.zero (range n) in
  let rec node lo up =
    decr left; if !left < 0 then raise Too_many;
    let free = Array.mapi (fun r c -> Q.sub c (sum (fun j -> Q.mul sizes.(j).(r) (Q.of_bigint lo.(j))) types)) cap in
    let is_empty = ref (Array.exists (fun f -> Q.sign f < 0) free) in
    Array.iteri (fun j u -> match u with Some u when Z.lt u lo.(j) -> is_empty := true | _ -> ()) up;
    if !is_empty then leaf none
    else begin
      let corner j =
        let fits r = if Q.sign sizes.(j).(r) > 0 then Some (floor (Q.div free.(r) sizes.(j).(r))) else None in
        let all = List.filter_map fits (range rows) in
        let all = List.map (Z.add lo.(j)) all @ Option.to_list up.(j) in
        match all with [] -> raise Too_many | a :: rest -> List.fold_left Z.min a rest in
      let top = Array.init types corner in
      let value m =
        let gain j = let v = Q.sub beta.(j) (sum (fun r -> Q.mul m.(r) sizes.(j).(r)) rows) in
          Q.mul v (Q.of_bigint (if Q.sign v <= 0 then lo.(j) else top.(j))) in
        Q.add (sum gain types) (sum (fun r -> Q.mul m.(r) cap.(r)) rows) in
      match List.find_opt (fun m -> accept (value m) top) candidates with
      | Some m -> leaf m
      | None ->
        let wide = List.filter (fun j -> Z.lt lo.(j) top.(j)) (range types) in
        if wide = [] then raise Untrue;
        let j, a = first (List.map (fun j -> j, lo.(j), top.(j)) wide) in
        let at k v array = Array.mapi (fun h old -> if h = k then v else old) array in
        let from = node (at j a lo) up in
        Split (j, a, from, node lo (at j (Some (Z.pred a)) up))
    end in
  node (Array.make types Z.zero) (Array.map (fun o -> if o then None else Some Z.zero) open_)

let middle (j, lo, top) = j, Z.add lo (Z.cdiv (Z.sub top lo) (Z.of_int 2))
let widest beta wide =
  let width (j, lo, top) = Q.mul beta.(j) (Q.of_bigint (Z.sub top lo)) in
  middle (List.fold_left (fun a b -> if Q.gt (width b) (width a) then b else a) (List.hd wide) (List.tl wide))

(* Returns a proof that no configuration is worth more than [bound]. Both worths are rounded down to the unit. *)
let of_value ~sizes ~cap ~beta ~unit bound =
  let down v = floor (Q.div v unit) in
  let bound = down bound in
  tree ~sizes ~cap ~beta ~open_:(Array.map (fun _ -> true) beta) ~accept:(fun v _ -> Z.leq (down v) bound) ~first:(widest beta)

(* Returns a proof that no configuration of the open types is worth as much as k and has more jobs of the first type in which
   it differs from k. *)
let of_order ~sizes ~cap ~beta ~open_ own k =
  let rec not_greater j (top : Z.t array) = j = Array.length k ||
    (let c = Z.compare top.(j) k.(j) in c < 0 || (c = 0 && not_greater (j + 1) top)) in
  let first wide =
    (* Branches on the first type that may have more jobs than in k. *)
    match List.find_opt (fun (j, lo, top) -> Z.gt top k.(j) && Z.leq lo k.(j)) wide with
    | Some (j, _, _) -> j, Z.succ k.(j)
    | None -> widest beta wide in
  tree ~sizes ~cap ~beta ~open_ ~accept:(fun v top -> Q.lt v own || not_greater 0 top) ~first

(* The number of cells of the table of a dynamic programme: the product, over all demanded resources, of the capacity of a
   server in units, plus 1 *)
let cells_most = Z.of_int 10_000_000
let cells ~(sizes : Q.t array array) ~(units : Q.t array) ~(cap : Q.t array) =
  let along r c = if Array.exists (fun d -> Q.sign d.(r) > 0) sizes
    then Z.succ (Z.min cells_most (floor (Q.div c units.(r)))) else Z.one in
  Array.fold_left Z.mul Z.one (Array.mapi along cap)
