"use strict";
// The button that checks the certificates of this page with evenhand-proof, which is packed in the page. It runs in a worker, so
// that it can be stopped. If the browser allows no worker, it runs in the page itself.
{
  const section = document.getElementById("check");
  const [run, stop, file, timed, most] = ["run", "stop", "file", "timed", "most"].map((name) => document.getElementById("check-" + name));
  const said = document.getElementById("check-said");
  const WORDS = [
    ["good", "✓", "every claim is proven"],
    ["bad", "✕", "refused, a claim is false or not shown"],
    ["bad", "✕", "refused, it is not a readable certificate"],
    ["near", "·", "not proven in full, a part is not covered or too large for a browser"],
  ];
  const LARGEST = 8000000;

  const element = (name, text, to) => {
    const made = document.createElement(name);
    made.textContent = text;
    if (to) to.append(made);
    return made;
  };
  // Invisible characters, and those that change the writing direction, are escaped.
  const seen = (line) =>
    line.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu, (c) => "\\u{" + c.codePointAt(0).toString(16) + "}");
  const letters = (line) => seen(new TextDecoder().decode(Uint8Array.from(line, (c) => c.charCodeAt(0))));

  // Returns words on how many claims hold only within a tolerance, or nothing if there are none.
  const rounded = (lines) => {
    const found = lines.map((line) => line.match(/ holds within the tolerance of (\S+),/)).filter((match) => match);
    return found.length ? `, ${found.length} of them only within the tolerance of ${found[0][1]}` : "";
  };

  const bytes = (base64) => Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  const unpacked = (packed) => {
    if (!window.DecompressionStream) throw new Error("this browser cannot unpack the checker; use a newer one");
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).arrayBuffer();
  };
  // Returns the certificate of a link of this page.
  const held = async (link) => {
    const [, kind, text] = link.getAttribute("href").match(/^data:application\/(json|gzip)(?:;base64)?,(.*)$/);
    return kind === "json" ? new TextEncoder().encode(decodeURIComponent(text)) : new Uint8Array(await unpacked(bytes(text)));
  };
  let source;
  const checker = () =>
    (source ??= unpacked(bytes(document.getElementById("check-program").textContent.trim())).then((text) => new TextDecoder().decode(text)));

  const WORKER = `;onmessage=(e)=>{const[text,sharing,most]=e.data;
postMessage(evenhandProof(text,sharing,most,(at,of)=>postMessage({at,of})))}`;
  let worker = null, turn = 0;
  const end = () => {
    if (worker) worker.terminate();
    worker = null;
  };
  // Returns the answer of a worker, or null if no worker can run.
  const apart = async (program, job, told) => {
    if (!worker) {
      const address = URL.createObjectURL(new Blob([program, WORKER], { type: "text/javascript" }));
      try {
        worker = new Worker(address);
      } catch {
        return null;
      }
    }
    const asked = worker;
    return new Promise((answer) => {
      let heard = false;
      asked.onmessage = ({ data }) => {
        heard = true;
        if ("status" in data) answer(data);
        else told(data.at, data.of);
      };
      asked.onerror = (event) => {
        event.preventDefault();
        end();
        answer(heard ? { status: 3, lines: ["error: the checker failed: " + event.message] } : null);
      };
      asked.postMessage(job);
    });
  };
  // The policy of this page allows only this text in a script element.
  const here = (program, job) => {
    if (!window.evenhandProof) element("script", program, document.head);
    return window.evenhandProof(...job, null);
  };

  // Checks certificates one after the other. Each has a name, its bytes or a promise of them, and the options of the checker.
  const check = async (all) => {
    end();
    const mine = ++turn;
    const results = [];
    said.replaceChildren();
    delete section.dataset.status;
    run.disabled = true;
    stop.hidden = false;
    const state = element("p", "", said);
    for (const [k, { name, text, sharing, most: limit }] of all.entries()) {
      const told = (at, of) => {
        if (mine === turn) state.textContent = `Checking ${seen(name)} (${k + 1} of ${all.length}): claim ${at + 1} of ${of}.`;
      };
      state.textContent = `Checking ${seen(name)} (${k + 1} of ${all.length}).`;
      let answer;
      try {
        const job = [await text(), sharing, limit], program = await checker();
        // Nothing is started after the button has stopped the run.
        if (mine !== turn) return;
        answer = (await apart(program, job, told)) ?? here(program, job);
      } catch (fault) {
        answer = { status: 3, lines: ["error: " + fault.message] };
      }
      if (mine !== turn) return;
      results.push(answer.status);
      const [kind, sign, words] = WORDS[answer.status];
      const part = element("details", "", said);
      part.open = all.length === 1 || answer.status === 1 || answer.status === 2;
      const title = element("summary", sign + " ", part);
      title.className = kind;
      element("bdi", seen(name), title);
      title.append(": " + words + (answer.status === 0 ? rounded(answer.lines) : ""));
      const lines = element("pre", "", part);
      for (const line of answer.lines) element("span", letters(line), lines);
      lines.tabIndex = 0;
      lines.dir = "ltr";
    }
    const proven = results.filter((status) => status === 0).length;
    state.textContent = `${proven} of ${results.length} ${results.length === 1 ? "certificate is" : "certificates are"} proven in full.`;
    done(results.join(" "));
  };
  const done = (status) => {
    run.disabled = false;
    stop.hidden = true;
    section.dataset.status = status;
  };

  const all = () =>
    [...document.querySelectorAll("a[data-certificate]")].map((link) => ({
      name: link.dataset.certificate, text: () => held(link), sharing: link.dataset.sharing, most: most.value.trim(),
    }));
  const given = (files) =>
    check([...files].map((from) => ({
      name: from.name,
      text: async () => {
        if (from.size > LARGEST) throw new Error("too large");
        const text = new Uint8Array(await from.arrayBuffer());
        return text[0] === 0x1f && text[1] === 0x8b ? new Uint8Array(await unpacked(text)) : text;
      },
      sharing: timed.checked ? "tdm" : "", most: most.value.trim(),
    })));
  run.addEventListener("click", () => check(all()));
  stop.addEventListener("click", () => {
    turn++;
    end();
    said.replaceChildren();
    element("p", "Stopped before all certificates were checked.", said);
    done("stopped");
    run.focus();
  });
  file.addEventListener("change", () => given(file.files));
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer.files.length) given(event.dataTransfer.files);
  });
  for (const part of section.querySelectorAll("[hidden]")) if (part !== stop) part.hidden = false;
  if (location.hash === "#check") check(all());
}
