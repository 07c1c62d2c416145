// Runs the build of evenhand-proof for browsers in Node. On standard input, each text follows a line "BYTES rdm|tdm|- TOLERANCE".
// The answer to each text is one line: the exit status and the printed lines, with a tab before each printed line.
//
//   node serve.js PROOF.JS [CERTIFICATE...]      prints the output for each certificate, and its processor time in seconds
"use strict";
const fs = require("fs");

(0, eval)(fs.readFileSync(process.argv[2], "utf8"));
const judge = globalThis.evenhandProof;

function serve() {
  let left = Buffer.alloc(0), ended = false;
  const chunk = Buffer.alloc(1 << 16);
  // Reads one more chunk. The caller repeats this until it has a whole line, or all bytes of a text.
  const more = () => {
    const n = fs.readSync(0, chunk, 0, chunk.length, null);
    if (n === 0) ended = true;
    left = Buffer.concat([left, chunk.subarray(0, n)]);
  };
  for (;;) {
    let end;
    while ((end = left.indexOf(10)) < 0 && !ended) more();
    if (end < 0) return;
    const [bytes, sharing, most] = left.subarray(0, end).toString("latin1").split(" ");
    left = left.subarray(end + 1);
    while (left.length < Number(bytes) && !ended) more();
    const text = left.subarray(0, Number(bytes));
    left = left.subarray(Number(bytes));
    const { status, lines } = judge(text, sharing === "-" ? "" : sharing, most);
    fs.writeSync(1, Buffer.from([String(status), ...lines].join("\t") + "\n", "latin1"));
  }
}

const files = process.argv.slice(3);
if (files.length === 0) serve();
for (const file of files) {
  const text = fs.readFileSync(file), begin = process.cpuUsage();
  const { status, lines } = judge(text, "", "");
  const used = process.cpuUsage(begin), took = (used.user + used.system) / 1e6;
  console.log(lines.map((line) => Buffer.from(line, "latin1").toString()).join("\n"));
  console.log(`status ${status}, ${took.toFixed(3)} s`);
}
