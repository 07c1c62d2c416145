// Zarith's primitives on the integers of JavaScript. An integer of at most 32 bits is a number, like an integer of OCaml in
// JavaScript. Any larger integer is a BigInt. Each value therefore has a single form, and `===` compares values. js_of_ocaml cannot
// read BigInt literals.

//Provides: z_0
var z_0 = globalThis.BigInt(0);
//Provides: z_1
var z_1 = globalThis.BigInt(1);
//Provides: z_exact
// 2^53. Doubles represent all whole numbers below 2^53 exactly.
var z_exact = 9007199254740992;

//Provides: z_big const
function z_big(a) { return typeof a === "number" ? globalThis.BigInt(a) : a; }

//Provides: z_form const
function z_form(b) { return globalThis.BigInt.asIntN(32, b) === b ? globalThis.Number(b) : b; }

//Provides: z_of_double const
function z_of_double(n) { return n === (n | 0) ? n | 0 : globalThis.BigInt(n); }

//Provides: z_overflow
//Requires: caml_raise_constant, caml_named_value
function z_overflow() { caml_raise_constant(caml_named_value("ml_z_overflow")); }

//Provides: ml_z_init
//Requires: caml_custom_ops, ml_z_compare, caml_hash_mix_string, z_text, caml_string_of_jsbytes
function ml_z_init(unit) {
  globalThis.BigInt.prototype.caml_custom = "_z";
  caml_custom_ops._z = {
    compare: ml_z_compare,
    hash: function (a) { return caml_hash_mix_string(0, caml_string_of_jsbytes(z_text(a))); }
  };
  return 0;
}

//Provides: z_text const
function z_text(a) { return globalThis.String(a); }

//Provides: ml_z_neg const
//Requires: z_big, z_form
function ml_z_neg(a) { return typeof a === "number" && a !== -2147483648 ? -a | 0 : z_form(-z_big(a)); }

//Provides: ml_z_abs const
//Requires: ml_z_neg, ml_z_sign
function ml_z_abs(a) { return ml_z_sign(a) < 0 ? ml_z_neg(a) : a; }

//Provides: ml_z_add const
//Requires: z_big, z_form, z_of_double
function ml_z_add(a, b) {
  if (a === 0) return b;
  if (b === 0) return a;
  return typeof a === "number" && typeof b === "number" ? z_of_double(a + b) : z_form(z_big(a) + z_big(b));
}

//Provides: ml_z_sub const
//Requires: z_big, z_form, z_of_double
function ml_z_sub(a, b) {
  return typeof a === "number" && typeof b === "number" ? z_of_double(a - b) : z_form(z_big(a) - z_big(b));
}

//Provides: ml_z_succ const
//Requires: ml_z_add
function ml_z_succ(a) { return ml_z_add(a, 1); }

//Provides: ml_z_pred const
//Requires: ml_z_add
function ml_z_pred(a) { return ml_z_add(a, -1); }

//Provides: ml_z_mul_overflows const
function ml_z_mul_overflows(a, b) {
  var p = a * b;
  return p > 2147483647 || p < -2147483648 ? 1 : 0;
}

//Provides: ml_z_mul const
//Requires: z_big, z_form, z_of_double, z_exact
function ml_z_mul(a, b) {
  if (typeof a === "number") {
    if (typeof b === "number") {
      var p = a * b;
      return p < z_exact && p > -z_exact ? z_of_double(p) : globalThis.BigInt(a) * globalThis.BigInt(b);
    }
    if (a >= -1 && a <= 1) return a === 0 ? 0 : a === 1 ? b : z_form(-b);
    return globalThis.BigInt(a) * b;
  }
  if (typeof b === "number") {
    if (b >= -1 && b <= 1) return b === 0 ? 0 : b === 1 ? a : z_form(-a);
    return a * globalThis.BigInt(b);
  }
  return a * b;
}

//Provides: ml_z_div const
//Requires: z_big, z_form, caml_raise_zero_divide
function ml_z_div(a, b) {
  if (b === 0) caml_raise_zero_divide();
  return z_form(z_big(a) / z_big(b));
}

//Provides: ml_z_rem const
//Requires: z_big, z_form, caml_raise_zero_divide
function ml_z_rem(a, b) {
  if (b === 0) caml_raise_zero_divide();
  return z_form(z_big(a) % z_big(b));
}

//Provides: ml_z_div_rem const
//Requires: ml_z_div, ml_z_rem
function ml_z_div_rem(a, b) { return [0, ml_z_div(a, b), ml_z_rem(a, b)]; }

//Provides: z_rounded const
//Requires: z_big, z_form, z_0, z_1, caml_raise_zero_divide
function z_rounded(a, b, up) {
  if (b === 0) caml_raise_zero_divide();
  var x = z_big(a), y = z_big(b), q = x / y, r = x % y;
  if (r !== z_0 && ((r < z_0) !== (y < z_0)) !== up) q = up ? q + z_1 : q - z_1;
  return z_form(q);
}

//Provides: ml_z_fdiv const
//Requires: z_rounded
function ml_z_fdiv(a, b) {
  if (typeof a === "number" && typeof b === "number" && b > 0) return globalThis.Math.floor(a / b) | 0;
  return z_rounded(a, b, false);
}

//Provides: ml_z_cdiv const
//Requires: z_rounded
function ml_z_cdiv(a, b) { return z_rounded(a, b, true); }

//Provides: ml_z_divexact const
//Requires: ml_z_div
function ml_z_divexact(a, b) { return b === 1 ? a : ml_z_div(a, b); }

//Provides: ml_z_compare const
//Requires: z_0
function ml_z_compare(a, b) {
  if (a === b) return 0;
  if (typeof a === "number") {
    if (typeof b === "number") return a < b ? -1 : 1;
    return b < z_0 ? 1 : -1;
  }
  if (typeof b === "number") return a < z_0 ? -1 : 1;
  return a < b ? -1 : 1;
}

//Provides: ml_z_equal const
function ml_z_equal(a, b) { return a === b ? 1 : 0; }

//Provides: ml_z_sign const
//Requires: z_0
function ml_z_sign(a) {
  if (typeof a === "number") return a > 0 ? 1 : a < 0 ? -1 : 0;
  return a < z_0 ? -1 : 1;
}

//Provides: z_gcd_of_doubles const
function z_gcd_of_doubles(u, v) {
  // For numbers below 2^53, the rounded quotient is not above the exact quotient, and neither is its product with v.
  while (v > 2147483647) {
    var r = u - globalThis.Math.floor(u / v) * v;
    u = v; v = r;
  }
  if (v === 0) return u;
  if (u > 2147483647) {
    var s = u - globalThis.Math.floor(u / v) * v;
    u = v; v = s;
  }
  var m = u | 0, n = v | 0;
  while (n !== 0) {
    var t = (m % n) | 0;
    m = n; n = t;
  }
  return m;
}

//Provides: z_gcd_of_bigs const
//Requires: z_gcd_of_doubles, z_exact, z_0, z_of_double, z_form, ml_z_numbits
// Lehmer's algorithm. It computes the steps of Euclid's algorithm for the leading digits of both numbers, and applies them to the
// numbers themselves. A step may differ from the exact step. Its matrix still has the determinant 1 or -1, so the greatest common
// divisor does not change.
function z_gcd_of_bigs(x, y) {
  var Big = globalThis.BigInt, Num = globalThis.Number, floor = globalThis.Math.floor;
  if (x < y) { var w = x; x = y; y = w; }
  for (;;) {
    var v = Num(y);
    if (v < z_exact) {
      if (v === 0) return z_form(x);
      return z_of_double(z_gcd_of_doubles(v, Num(x % y)));
    }
    var u = Num(x);
    if (u === globalThis.Infinity) {
      var s = Big(ml_z_numbits(x) - 1000);
      u = Num(x >> s); v = Num(y >> s);
    }
    // Both numbers are shortened to their leading 53 bits.
    while (u >= 4503599627370496 * 4294967296) { u /= 4294967296; v /= 4294967296; }
    while (u >= z_exact) { u /= 2; v /= 2; }
    u = floor(u); v = floor(v);
    var a = 1, b = 0, c = 0, d = 1;
    while (v >= 134217728) {
      var q = floor(u / v), r = u - q * v;
      u = v; v = r;
      r = a - q * c; a = c; c = r;
      r = b - q * d; b = d; d = r;
    }
    if (b === 0) { var m = x % y; x = y; y = m; continue; }
    var A = Big(a), B = Big(b), C = Big(c), D = Big(d);
    var X = A * x + B * y, Y = C * x + D * y;
    if (X < z_0) X = -X;
    if (Y < z_0) Y = -Y;
    if (X < Y) { x = Y; y = X; } else { x = X; y = Y; }
  }
}

//Provides: z_kept
//Requires: z_1
// A cache of pairs and their greatest common divisor. Seven of eight calls repeat a pair. Numbers longer than `most` are not cached,
// which limits the memory.
var z_kept = { pairs: new globalThis.Array(3 << 14).fill(0), most: z_1 << globalThis.BigInt(1024) };

//Provides: z_kept_gcd
//Requires: z_kept, z_gcd_of_bigs
function z_kept_gcd(x, y) {
  if (x > z_kept.most || y > z_kept.most) return z_gcd_of_bigs(x, y);
  var low = globalThis.BigInt.asUintN, kept = z_kept.pairs;
  var at = 3 * (globalThis.Number(low(14, x)) ^ globalThis.Number(low(14, y)));
  if (kept[at] !== x || kept[at + 1] !== y) {
    kept[at + 2] = z_gcd_of_bigs(x, y);
    kept[at] = x;
    kept[at + 1] = y;
  }
  return kept[at + 2];
}

//Provides: ml_z_gcd const
//Requires: z_big, z_of_double, z_gcd_of_doubles, z_kept_gcd, z_0, ml_z_abs
function ml_z_gcd(a, b) {
  if (typeof a === "number") {
    if (typeof b === "number") return z_of_double(z_gcd_of_doubles(a < 0 ? -a : a, b < 0 ? -b : b));
    var t = a; a = b; b = t;
  }
  if (typeof b === "number") {
    if (b === 0) return ml_z_abs(a);
    if (b < 0) b = -b;
    var r = globalThis.Number(a % globalThis.BigInt(b));
    return z_of_double(z_gcd_of_doubles(b, r < 0 ? -r : r));
  }
  return z_kept_gcd(a < z_0 ? -a : a, b < z_0 ? -b : b);
}

//Provides: ml_z_logand const
//Requires: z_big, z_form
function ml_z_logand(a, b) { return z_form(z_big(a) & z_big(b)); }

//Provides: ml_z_logor const
//Requires: z_big, z_form
function ml_z_logor(a, b) { return z_form(z_big(a) | z_big(b)); }

//Provides: ml_z_shift_left const
//Requires: z_big, z_form, caml_invalid_argument
function ml_z_shift_left(a, n) {
  if (n < 0) caml_invalid_argument("Z.shift_left: count argument must be positive");
  return z_form(z_big(a) << globalThis.BigInt(n));
}

//Provides: ml_z_shift_right const
//Requires: z_big, z_form, caml_invalid_argument
function ml_z_shift_right(a, n) {
  if (n < 0) caml_invalid_argument("Z.shift_right: count argument must be positive");
  return z_form(z_big(a) >> globalThis.BigInt(n));
}

//Provides: ml_z_testbit const
//Requires: z_1
function ml_z_testbit(a, n) {
  if (typeof a === "number") return (a >> (n > 31 ? 31 : n)) & 1;
  return ((a >> globalThis.BigInt(n)) & z_1) === z_1 ? 1 : 0;
}

//Provides: ml_z_numbits const
//Requires: z_0
function ml_z_numbits(a) {
  if (typeof a === "number") return 32 - globalThis.Math.clz32(a < 0 ? -a : a);
  var digits = (a < z_0 ? -a : a).toString(16);
  return 4 * digits.length + 28 - globalThis.Math.clz32(globalThis.parseInt(digits.charAt(0), 16));
}

//Provides: z_power const
//Requires: z_1
function z_power(x, n) {
  var power = z_1;
  for (;;) {
    if (n & 1) power = power * x;
    n >>= 1;
    if (n === 0) return power;
    x = x * x;
  }
}

//Provides: ml_z_pow const
//Requires: z_big, z_form, z_power, caml_invalid_argument
function ml_z_pow(a, n) {
  if (n < 0) caml_invalid_argument("Z.pow: exponent must be nonnegative");
  return z_form(z_power(z_big(a), n));
}

//Provides: ml_z_root const
//Requires: z_big, z_form, z_power, z_0, z_1, ml_z_numbits, caml_invalid_argument
// Returns a root of a number that is not negative. The checkers need no root of a negative number.
function ml_z_root(a, n) {
  var x = z_big(a);
  if (n < 1) caml_invalid_argument("Z.root: exponent must be positive");
  if (x < z_0) caml_invalid_argument("Z.root: of a negative number");
  var low = z_0, high = z_1 << globalThis.BigInt(globalThis.Math.floor(ml_z_numbits(a) / n) + 1);
  while (high - low > z_1) {
    var middle = (low + high) >> z_1;
    if (z_power(middle, n) <= x) low = middle; else high = middle;
  }
  return z_form(low);
}

//Provides: ml_z_fits_int64 const
function ml_z_fits_int64(a) {
  return typeof a === "number" || globalThis.BigInt.asIntN(64, a) === a ? 1 : 0;
}

//Provides: ml_z_to_int const
//Requires: z_overflow
function ml_z_to_int(a) {
  if (typeof a !== "number") z_overflow();
  return a;
}

//Provides: ml_z_to_int64 const
//Requires: z_big, z_overflow, caml_int64_create_lo_hi
function ml_z_to_int64(a) {
  if (typeof a === "number") return caml_int64_create_lo_hi(a, a >> 31);
  var x = z_big(a), Big = globalThis.BigInt;
  if (Big.asIntN(64, x) !== x) z_overflow();
  return caml_int64_create_lo_hi(globalThis.Number(Big.asIntN(32, x)), globalThis.Number(x >> Big(32)));
}

//Provides: ml_z_format
//Requires: z_text, caml_jsbytes_of_string, caml_string_of_jsbytes, caml_failwith
function ml_z_format(format, a) {
  if (caml_jsbytes_of_string(format) !== "%d") caml_failwith("Z.format: not %d");
  return caml_string_of_jsbytes(z_text(a));
}

//Provides: ml_z_of_substring_base
//Requires: z_form, caml_jsbytes_of_string, caml_invalid_argument
// Reads decimal digits. The checkers read no other digits.
function ml_z_of_substring_base(base, text, from, length) {
  var digits = caml_jsbytes_of_string(text).substr(from, length), negative = digits.charAt(0) === "-";
  if (negative || digits.charAt(0) === "+") digits = digits.substr(1);
  if ((base !== 0 && base !== 10) || !/^[0-9]*$/.test(digits)) caml_invalid_argument("Z.of_substring_base: invalid digit");
  var value = globalThis.BigInt(digits);
  return z_form(negative ? -value : value);
}
