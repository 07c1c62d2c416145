# The checker of ratio certificates, once the theories are built: `make -f reader/ratio.mk`.
RATIO := zar json utf8 strict packing ratio

build/evenhand-proof-ratio: build/ratio_checker.ml $(RATIO:%=reader/%.ml)
	@cp $(RATIO:%=reader/%.ml) build/
	@cd build && ocamlfind ocamlopt -inline 200 -w -a -package zarith,yojson -c zar.ml ratio_checker.ml
	@cd build && ocamlfind ocamlopt -inline 200 -w +a-4-9-40-41-42-44-45-70 -package zarith,yojson -c json.ml utf8.ml strict.ml packing.ml ratio.ml
	@cd build && ocamlfind ocamlopt -package zarith,yojson -linkpkg zar.cmx ratio_checker.cmx json.cmx utf8.cmx strict.cmx packing.cmx ratio.cmx -o evenhand-proof-ratio

build/ratio_checker.ml: theories/ExtractRatio.v theories/ReservationRatio.vo theories/ReservationWorst.vo
	@mkdir -p build
	@coqc -Q theories Evenhand theories/ExtractRatio.v
	@rm -f build/ratio_checker.mli

# Test data for test-ratio.sh
build/ratio_cases: reader/json.ml reader/ratio_cases.ml
	@mkdir -p build && cp reader/json.ml reader/ratio_cases.ml build/
	@cd build && ocamlfind ocamlopt -w -a -package zarith,yojson -linkpkg json.ml ratio_cases.ml -o ratio_cases
