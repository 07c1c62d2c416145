# The checker of ratio certificates: `make -f reader/ratio.mk`, after the theories are built.
build/evenhand-proof-ratio: build/ratio_checker.ml reader/zar.ml reader/strict.ml reader/ratio.ml
	cp reader/zar.ml reader/strict.ml reader/ratio.ml build/
	cd build && rm -f ratio_checker.mli && ocamlfind ocamlopt -w +a-4-9-26-27-32..70 -package zarith,yojson -linkpkg \
		zar.ml ratio_checker.ml strict.ml ratio.ml -o evenhand-proof-ratio

build/ratio_checker.ml: theories/ExtractRatio.v theories/ReservationRatio.vo
	mkdir -p build
	coqc -Q theories Evenhand theories/ExtractRatio.v

build/ratio_cases: reader/ratio_cases.ml
	mkdir -p build && cp reader/ratio_cases.ml build/
	cd build && ocamlfind ocamlopt -w -a -package zarith,yojson -linkpkg ratio_cases.ml -o ratio_cases
