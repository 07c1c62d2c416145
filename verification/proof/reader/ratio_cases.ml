(* Makes the test data of test-ratio.sh: golden and random reservation problems, and damaged certificates. Nothing in
   this file is trusted.

   ratio_cases problems SEED N CASES FOLDER     the problems of the golden cases in a file, and N random ones
   ratio_cases damage SEED N CERT FOLDER        N damaged copies of a certificate
   ratio_cases text SEED N CERT FOLDER          N copies with changed bytes, and texts that are almost JSON
   ratio_cases problem CERT FILE                the problem of a certificate
   ratio_cases patch LIST ACCEPTED FOLDER       the fixtures of a list, as patches of the accepted ones in a folder *)
open Json

let quoted s =
  let escaped = function
    | '"' -> "\\\"" | '\\' -> "\\\\" | c when c < ' ' -> Printf.sprintf "\\u%04x" (Char.code c) | c -> String.make 1 c in
  "\"" ^ String.concat "" (List.map escaped (List.of_seq (String.to_seq s))) ^ "\""
let rec written = function
  | Null | Absent -> "null"
  | Bool b -> string_of_bool b
  | Number s -> s
  | Text s -> quoted s
  | List l -> "[" ^ String.concat ", " (List.map written l) ^ "]"
  | Object l -> "{" ^ String.concat ", " (List.map (fun (name, v) -> quoted name ^ ": " ^ written v) l) ^ "}"
let to_file path value = let out = open_out_bin path in output_string out (written value); close_out out
let contents path =
  let file = open_in_bin path in
  let text = really_input_string file (in_channel_length file) in
  close_in file; text
let from_file path = Budget.begin_text (); parse (contents path)
let int n = Number (string_of_int n)

let write folder name value = to_file (Filename.concat folder (name ^ ".json")) value
let pick list = List.nth list (Random.int (List.length list))
let chance a b = Random.int b < a

(* * Problems *)
let named prefix values = Object (List.mapi (fun i v -> (prefix ^ string_of_int i, v)) values)

let golden path folder =
  let cases = match from_file path with List l -> l | _ -> [] in
  List.iter (fun case ->
    let inputs = get "inputs" case in
    match get "items" inputs, get "cap" inputs with
    | List items, List capacity when items <> [] ->
        let n = List.length items in
        let per name other = match get name inputs with
          | List l when List.length l = n -> l | _ -> List.init n other in
        let rewards = per "u" (fun _ -> int 1) and loads = per "rho" (fun j -> Text (Printf.sprintf "%d/2" (j + 1))) in
        let job j = function
          | List demand -> Object ["name", Text (Printf.sprintf "j%d" j); "demand", named "r" demand;
              "reward", List.nth rewards j; "load", List.nth loads j]
          | _ -> Null in
        let name = String.map (fun c -> if c = '/' then '_' else c) (text (get "id" case)) in
        write folder name (Object ["kind", Text "reservation-problem";
          "resources", List (List.mapi (fun r _ -> Text (Printf.sprintf "r%d" r)) capacity);
          "servers", List [Object ["name", Text "pool"; "count", int 20; "capacity", named "r" capacity]];
          "jobs", List (List.mapi job items)])
    | _ -> ()) cases

let random_problem () =
  let resources = 1 + Random.int 3 and pools = pick [1; 1; 1; 2; 3] and types = 1 + Random.int 5 in
  let quotient n = match Random.int 4 with
    | 0 -> Text (Printf.sprintf "%d/%d" n (1 + Random.int 3)) | 1 -> Text (string_of_int n) | _ -> int n in
  let counted = chance 1 2 and is_listed = chance 1 6 in
  let server s =
    Object (["name", Text (Printf.sprintf "s%d" s)]
      @ (if counted then ["count", int (1 + Random.int 9)] else [])
      @ if is_listed then [] else
        ["capacity", named "r" (List.init resources (fun _ -> int (4 + Random.int 9)))]) in
  let job j =
    let demand = List.init resources (fun r -> if r = 0 || chance 2 3 then quotient (1 + Random.int 4) else int 0) in
    Object (["name", Text (Printf.sprintf "j%d" j)]
      @ (if is_listed then [] else ["demand", named "r" demand])
      @ ["reward", (if chance 1 9 then int 0 else quotient (1 + Random.int 6));
         "load", (if chance 1 9 then int 0 else quotient (1 + Random.int 5))]) in
  let configuration i = named "j" (List.init types (fun _ -> int (Random.int 4 + if i = 0 then 1 else 0))) in
  Object (["kind", Text "reservation-problem"]
    @ (if is_listed then [] else
       ["resources", List (List.init resources (fun r -> Text (Printf.sprintf "r%d" r)))])
    @ ["servers", List (List.init pools server); "jobs", List (List.init types job)]
    @ if is_listed then ["configurations", List (List.init (1 + Random.int 4) configuration)] else [])

(* * Damage *)
let rec size = function
  | List l -> List.fold_left (fun n v -> n + size v) 1 l
  | Object l -> List.fold_left (fun n (_, v) -> n + size v) 1 l
  | _ -> 1
let rec strings = function
  | List l -> List.concat_map strings l
  | Object l -> List.concat_map (fun (k, v) -> k :: strings v) l
  | Text s -> [s]
  | _ -> []
let without i l = List.filteri (fun k _ -> k <> i) l
let doubled i l = List.concat (List.mapi (fun k v -> if k = i then [v; v] else [v]) l)

let change words value =
  let number s = match Q.of_string s with
    | q ->
        let one = Q.of_int 1 in
        let changed = match Random.int 8 with
          | 0 -> Q.add q one | 1 -> Q.sub q one | 2 -> Q.mul q (Q.of_int 2) | 3 -> Q.div q (Q.of_int 2)
          | 4 -> Q.zero | 5 -> Q.add q (Q.of_ints 1 7) | 6 -> Q.neg q
          | _ -> Q.make q.Q.num (Z.succ q.Q.den) in
        Text (Q.to_string changed)
    | exception _ -> Text (pick words) in
  match value with
  | Text s -> if chance 1 8 then Text (pick words) else number s
  | Number s -> (match int_of_string_opt s with
      | Some n when chance 1 2 -> int (n + 1 - Random.int 3) | _ -> number s)
  | List (_ :: _ as l) ->
      let i = Random.int (List.length l) in
      (match Random.int 3 with
       | 0 -> List (without i l) | 1 -> List (doubled i l) | _ -> List (List.rev l))
  | Object (_ :: _ as l) ->
      let i = Random.int (List.length l) in
      (match Random.int 4 with
       | 0 -> Object (without i l)
       | 1 -> Object (List.mapi (fun k (name, v) -> ((if k = i then pick words else name), v)) l)
       | 2 -> Object (doubled i l)
       | _ -> let other = snd (pick l) in Object (List.mapi (fun k (name, v) -> (name, if k = i then other else v)) l))
  | Null -> Text (pick words)
  | _ -> if chance 1 2 then Null else List []

(* Returns the value with a change at one random position. *)
let damaged value =
  let words = strings value in
  let at = ref (Random.int (size value)) in
  let rec go value =
    let here = !at = 0 in
    decr at;
    if here then change words value else match value with
      | List l -> List (List.map go l)
      | Object l -> Object (List.map (fun (k, v) -> (k, go v)) l)
      | other -> other in
  go value

(* * Fixtures *)
exception Nowhere
(* Returns the value with a change at the path. If [change] returns None, the value at the path is removed. *)
let rec into value path change = match path, value with
  | [], value -> change value
  | [step], Object l when not (List.mem_assoc step l) ->
      (match change Null with Some v -> Some (Object (l @ [step, v])) | None -> raise Nowhere)
  | step :: path, Object l ->
      let inner = match List.assoc_opt step l with Some v -> v | None -> raise Nowhere in
      (match into inner path change with
       | None -> Some (Object (List.remove_assoc step l))
       | Some v -> Some (Object (List.map (fun (k, old) -> (k, if k = step then v else old)) l)))
  | step :: path, List l ->
      let i = match int_of_string_opt step with Some i when i < List.length l -> i | _ -> raise Nowhere in
      (match into (List.nth l i) path change with
       | None -> Some (List (without i l))
       | Some v -> Some (List (List.mapi (fun k old -> if k = i then v else old) l)))
  | _ -> raise Nowhere

(* * Texts *)
let replace from into text =
  let n = String.length from in
  let rec go i = if i + n > String.length text then text
    else if String.sub text i n = from then String.sub text 0 i ^ into ^ String.sub text (i + n) (String.length text - i - n)
    else go (i + 1) in
  go 0
let nearly_json text = [
  "/* a */" ^ text; text ^ "// a"; "\xef\xbb\xbf" ^ text; text ^ "\x0c"; text ^ "\n \n"; text ^ "{}"; "";
  replace "\"kind\"" "kind" text; replace "\"kind\"" "\"k\\u0069nd\"" text; replace "\"kind\"" "\"kind\\udc00\"" text;
  replace "{" "{ \"name\": \"\xff\"," text; replace "\"version\": 1" "\"version\": 1.0e0" text;
  replace "\"version\": 1" "\"version\": 01" text; replace "\"version\": 1" "\"version\": +1" text;
  replace "\"version\": 1" "\"version\": 1, \"version\": 1" text; replace "\"version\": 1" "version: 1" text;
  replace "\"version\": 1" "\"version\": \"1\"" text; replace "\"version\": 1" "\"version\": \"10/10\"" text;
  replace "\"reward\": \"" "\"reward\": \"0" text; replace "\"reward\": \"" "\"reward\": \" " text;
  replace "\"reward\": \"" "\"reward\": \"+" text; replace "\"reward\": \"" "\"reward\": \"1_" text ]
let disturbed text =
  let n = String.length text in
  let i = Random.int n in
  let before = String.sub text 0 i and after = String.sub text (i + 1) (n - i - 1) in
  let some = "0123456789-/\"{}[],:. ntfeE_x\\\xc3" in
  match Random.int 4 with
  | 0 -> before ^ String.make 1 some.[Random.int (String.length some)] ^ after
  | 1 -> before ^ after
  | 2 -> before ^ String.make 2 text.[i] ^ after
  | _ when text.[i] >= '0' && text.[i] <= '9' -> before ^ string_of_int (Random.int 10) ^ after
  | _ -> before ^ String.make 1 text.[i] ^ String.make 1 some.[Random.int (String.length some)] ^ after

let () = match Array.to_list Sys.argv with
  | [_; "problems"; seed; n; cases; folder] ->
      Random.init (int_of_string seed);
      golden cases folder;
      for i = 1 to int_of_string n do write folder (Printf.sprintf "random-%03d" i) (random_problem ()) done
  | [_; "damage"; seed; n; certificate; folder] ->
      Random.init (int_of_string seed + Hashtbl.hash (Filename.basename certificate));
      let value = from_file certificate and name = Filename.remove_extension (Filename.basename certificate) in
      for i = 1 to int_of_string n do
        let once = damaged value in
        write folder (Printf.sprintf "%s-%02d" name i) (if chance 1 4 then damaged once else once)
      done
  | [_; "text"; seed; n; certificate; folder] ->
      Random.init (int_of_string seed + Hashtbl.hash (Filename.basename certificate));
      let text = contents certificate and name = Filename.remove_extension (Filename.basename certificate) in
      List.iteri (fun i text ->
        let out = open_out_bin (Filename.concat folder (Printf.sprintf "text-%s-%02d.json" name i)) in
        output_string out text; close_out out)
        (nearly_json text @ List.init (int_of_string n) (fun _ -> disturbed text))
  | [_; "problem"; certificate; file] -> to_file file (get "problem" (from_file certificate))
  | [_; "patch"; list; accepted; folder] ->
      let rows = match from_file list with List l -> l | _ -> [] in
      List.iter (function
        | List [Text name; Text base; List patches; Text _] ->
            let apply value = function
              | List (Text path :: change) ->
                  let path = List.filter (( <> ) "") (String.split_on_char '/' path) in
                  let change _ = match change with [] -> None | v :: _ -> Some v in
                  Option.value ~default:Null (into value path change)
              | _ -> raise Nowhere in
            (match List.fold_left apply (from_file (Filename.concat accepted (base ^ ".json"))) patches with
             | value -> write folder (String.concat "-" [Filename.basename (Filename.dirname accepted); Filename.basename accepted; Filename.remove_extension (Filename.basename list); name]) value
             | exception Nowhere -> prerr_endline ("left out: " ^ name))
        | _ -> prerr_endline "left out: a row of another form") rows
  | _ -> prerr_endline "usage: ratio_cases problems|damage|patch ..."; exit 2
