// Recomputes the certificate of this page with the program that is part of it, compares what the page shows with what it
// should show, and draws the guarantee anew.
"use strict";
(async () => {
  const verdict = document.getElementById("verdict");
  const say = (kind, words) => {
    verdict.className = kind;
    verdict.textContent = words;
  };
  const fails = (why) => say("fails", "✗ Do not rely on this page. " + why);
  const letters = (text) => text.replace(/\s+/g, "");

  const answered = async (question) => {
    const packed = Uint8Array.from(atob(document.getElementById("module").textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const { instance } = await WebAssembly.instantiate(await new Response(stream).arrayBuffer(), {});
    const { memory, reserve, ask, answer, answered } = instance.exports;
    const bytes = new TextEncoder().encode(JSON.stringify(question));
    // Memory may grow when room is made, and is then another buffer.
    const place = reserve(bytes.length);
    new Uint8Array(memory.buffer, place, bytes.length).set(bytes);
    const text = (length) => new TextDecoder().decode(new Uint8Array(memory.buffer, answer(), length));
    try {
      return JSON.parse(text(ask(bytes.length)));
    } catch (error) {
      throw new Error(text(answered()) || String(error));
    }
  };

  // What the page shows besides the figure, which is drawn anew, and the verdict; nothing, if it has elements or attributes that
  // could show more than their text.
  const shown = () => {
    const body = document.body.cloneNode(true);
    body.querySelector("#verdict").remove();
    for (const known of body.querySelectorAll("script, main > figure")) known.remove();
    const plain = (element) =>
      ["MAIN", "H1", "H2", "P", "UL", "LI"].includes(element.tagName) &&
      [...element.attributes].every(({ name, value }) => name === "class" && ["answer", "alarm"].includes(value));
    return [...body.querySelectorAll("*")].every(plain) ? letters(body.textContent) : undefined;
  };

  const svg = (name, attributes, text = "") => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.textContent = text;
    return element;
  };

  // δ against ε, from what was recomputed: δ on a logarithmic axis.
  const drawn = (curves) => {
    const [width, height, left, bottom] = [640, 320, 64, 44];
    const points = curves.flatMap((curve) => curve.points);
    const most = Math.max(...points.map((point) => point[0]), 1e-9);
    const least = Math.min(...points.map((point) => point[1]), -1);
    const x = (epsilon) => left + ((width - left - 12) * epsilon) / most;
    const y = (exponent) => 12 + ((height - bottom - 12) * exponent) / least;
    const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "font-size": 12, fill: "#555" });
    picture.append(svg("title", {}, "The smallest δ for each ε, recomputed by this page"));
    for (let tick = 0; tick <= 4; tick += 1) {
      const [epsilon, exponent] = [(most * tick) / 4, (least * tick) / 4];
      picture.append(
        svg("line", { x1: left, x2: width - 12, y1: y(exponent), y2: y(exponent), stroke: "#ddd" }),
        svg("text", { x: left - 8, y: y(exponent) + 4, "text-anchor": "end" }, "1e" + Math.round(exponent)),
        svg("text", { x: x(epsilon), y: height - 24, "text-anchor": "middle" }, String(+epsilon.toPrecision(3))),
      );
    }
    picture.append(svg("text", { x: width / 2, y: height - 6, "text-anchor": "middle" }, "ε (recomputed by this page; δ on the left)"));
    curves.forEach((curve, index) => {
      const path = curve.points.map(([epsilon, exponent]) => `${x(epsilon)},${y(exponent)}`).join(" ");
      const colour = ["#0a58ca", "#b35900", "#666"][index % 3];
      picture.append(svg("polyline", { points: path, fill: "none", stroke: colour, "stroke-width": 2 }));
      picture.append(svg("text", { x: width - 16, y: 26 + 16 * index, "text-anchor": "end", fill: colour }, curve.analysis));
    });
    return picture;
  };

  try {
    say("", "This page is recomputing its own guarantee …");
    const found = await answered({ ask: "sheet", certificate: document.getElementById("certificate").textContent });
    if (found.error) return fails([found.error.message, found.error.help].filter(Boolean).join(". "));
    const { holds, text, shown: expected, curves } = found.ok;
    if (!holds) return fails(text);
    if (shown() !== letters(expected.join("")) || document.title !== expected[0]) {
      return fails("The certificate holds, but the page does not show what it says: its text was changed.");
    }
    if (document.scripts.length !== 3) return fails("The certificate holds, but a script was added to the page.");
    const figures = document.querySelectorAll("figure");
    if (figures.length > 1 || document.querySelectorAll('main > figure').length !== figures.length) return fails("The certificate holds, but a figure was added to the page.");
    for (const figure of figures) figure.replaceChildren(drawn(curves));
    say("holds", "✓ " + text.split("\n")[0] + "\nThis page has recomputed it, and shows what was recomputed.");
  } catch (error) {
    fails("It could not be recomputed: " + error.message);
  }
})();
