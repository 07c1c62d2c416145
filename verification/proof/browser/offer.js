// Defines the function that a page or a program calls.

//Provides: evenhand_offer
//Requires: caml_call_gen, caml_string_of_array, caml_string_of_jsbytes, caml_jsbytes_of_string
// `evenhandProof(bytes, sharing, tolerance, told)` has the arguments of `judge` in browser.ml. It returns `{status, lines}`. Each
// character of a line is a byte.
function evenhand_offer(judge) {
  globalThis.evenhandProof = function (bytes, sharing, tolerance, told) {
    try {
      var answer = caml_call_gen(judge, [caml_string_of_array(bytes), caml_string_of_jsbytes(sharing),
        caml_string_of_jsbytes(tolerance), function (at, of) { if (told) told(at, of); return 0; }]);
      return { status: answer[1], lines: answer[2].slice(1).map(caml_jsbytes_of_string) };
    } catch (fault) {
      return { status: 3, lines: ["error: the checker failed: " + globalThis.String(fault) + "; check the certificate with evenhand-check"] };
    }
  };
  return 0;
}
