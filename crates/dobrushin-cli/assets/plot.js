// Reads numbers out of a picture, hides curves and zooms. The data are in the element "data"; see src/plot/html.rs.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const svg = document.querySelector("svg");
  const frame = document.querySelector(".picture");
  const readout = document.querySelector(".readout");
  const tools = document.querySelector(".tools");
  const hint = readout.textContent;

  const make = (parent, name, attributes = {}, text = "") => {
    const inSvg = parent instanceof SVGElement;
    const element = inSvg ? document.createElementNS(svg.namespaceURI, name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text) element.textContent = text;
    parent.append(element);
    return element;
  };
  const button = (text, action, attributes = {}) => {
    const element = make(tools, "button", { type: "button", ...attributes }, text);
    element.addEventListener("click", action);
    return element;
  };
  /** Where a pointer is, in units of the picture. */
  const place = (event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  /** Shows a heading and pairs of a name and a value. */
  const say = (heading, pairs) => {
    readout.replaceChildren();
    make(readout, "strong", {}, heading);
    for (const [name, value] of pairs) {
      readout.append(" ");
      const line = make(readout, "span");
      line.append(name + " ");
      make(line, "b", {}, value);
    }
  };
  const listen = (move, leave, keys) => {
    frame.addEventListener("pointermove", (event) => move(place(event), event));
    frame.addEventListener("pointerdown", (event) => move(place(event), event));
    frame.addEventListener("pointerleave", leave);
    frame.addEventListener("keydown", (event) => {
      const action = keys[event.key];
      if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      action();
    });
  };
  const quiet = () => readout.replaceChildren(hint);

  const curves = () => {
    const { area, x, y, series } = data;
    const whole = { x: [x.low, x.high], y: [y.low, y.high] };
    let view = structuredClone(whole);
    const shown = series.map(() => true);
    const toX = (c) => area.left + ((c - view.x[0]) / (view.x[1] - view.x[0])) * area.width;
    const toY = (c) => area.top + (1 - (c - view.y[0]) / (view.y[1] - view.y[0])) * area.height;
    const fromX = (at) => view.x[0] + ((at - area.left) / area.width) * (view.x[1] - view.x[0]);
    const fromY = (at) => view.y[0] + (1 - (at - area.top) / area.height) * (view.y[1] - view.y[0]);

    // What is drawn over the picture: the read-out's line and dots, and the rectangle of a zoom.
    const over = make(svg, "g", { fill: "none", stroke: "#222222" });
    const cursor = make(over, "path", { "stroke-dasharray": "3 3" });
    const dots = series.map(() => make(over, "circle", { r: 4.5, "stroke-width": 2, visibility: "hidden" }));
    const rubber = make(over, "rect", { fill: "#0072B2", "fill-opacity": 0.15, visibility: "hidden" });

    let at = null;
    const places = () => {
      const all = series.flatMap((one, index) => (shown[index] ? one.points.map((point) => point[0]) : []));
      const seen = all.filter((c) => c >= view.x[0] && c <= view.x[1]);
      return [...new Set(seen)].sort((a, b) => a - b);
    };
    const show = () => {
      cursor.setAttribute("d", at === null ? "" : `M${toX(at)} ${area.top}v${area.height}`);
      let heading = "";
      const pairs = [];
      series.forEach((one, index) => {
        const point = at !== null && shown[index] && one.points.find((point) => point[0] === at);
        const inView = point && point[1] !== null && point[1] >= view.y[0] && point[1] <= view.y[1];
        dots[index].setAttribute("visibility", inView ? "visible" : "hidden");
        if (!point || point[3] === "none") return;
        if (inView) {
          dots[index].setAttribute("cx", toX(point[0]));
          dots[index].setAttribute("cy", toY(point[1]));
        }
        heading = `${x.label} = ${point[2]}`;
        pairs.push([one.label || y.label, point[3]]);
      });
      if (at === null || !pairs.length) quiet();
      else say(heading, pairs);
    };
    const move = (step) => {
      const all = places();
      if (!all.length) return;
      const now = all.indexOf(at);
      const next = now < 0 ? (step > 0 ? 0 : all.length - 1) : now + step;
      at = all[Math.min(Math.max(next, 0), all.length - 1)];
      show();
    };

    // Zooming draws lines and ticks again; without zoom the picture is as it was written.
    const parts = [...svg.querySelectorAll(".grid, .axes, .x-ticks, .y-ticks, .names, .series")];
    const before = parts.map((part) => part.cloneNode(true));
    const written = (value) =>
      value !== 0 && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e6)
        ? String(Number(value.toPrecision(6)).toExponential())
        : String(Number(value.toPrecision(6)));
    const ticks = ([low, high], log) => {
      if (log && high - low < 3) {
        const powers = Array.from({ length: 6 }, (_, n) => Math.floor(low) + n);
        const fine = powers.flatMap((n) => [1, 2, 5].map((digit) => [n + Math.log10(digit), written(digit * 10 ** n)]));
        const inside = fine.filter(([c]) => c >= low && c <= high);
        if (inside.length > 2) return inside;
        return ticks([10 ** low, 10 ** high], false).map(([value, text]) => [Math.log10(value), text]);
      }
      const rough = (high - low) / 6;
      const power = 10 ** Math.floor(Math.log10(rough));
      const nice = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough);
      const step = log ? Math.ceil(nice) : nice;
      const list = [];
      for (let n = Math.ceil(low / step); n * step <= high; n++) {
        // Beyond the range of numbers, a power of ten is written as one.
        const value = log ? 10 ** (n * step) : n * step;
        const text = log && (value === 0 || value === Infinity) ? `1e${n * step}` : written(value);
        list.push([n * step, text]);
      }
      return list;
    };
    const redraw = () => {
      const zoomed = JSON.stringify(view) !== JSON.stringify(whole);
      reset.disabled = !zoomed;
      const drawn = svg.querySelectorAll(".grid, .axes, .x-ticks, .y-ticks, .names, .series");
      drawn.forEach((part, index) => part.replaceWith(before[index].cloneNode(true)));
      if (zoomed) {
        svg.querySelector(".names")?.setAttribute("display", "none");
        const [across, up] = [ticks(view.x, x.log), ticks(view.y, y.log)];
        const bottom = area.top + area.height;
        const grid = across.map(([c]) => `M${toX(c)} ${area.top}v${area.height}`);
        grid.push(...up.map(([c]) => `M${area.left} ${toY(c)}h${area.width}`));
        svg.querySelector(".grid").setAttribute("d", grid.join(""));
        svg.querySelector(".axes").setAttribute("d", `M${area.left} ${area.top}V${bottom}h${area.width}`);
        const [low, side] = [svg.querySelector(".x-ticks"), svg.querySelector(".y-ticks")];
        low.replaceChildren();
        side.replaceChildren();
        across.forEach(([c, text]) => make(low, "text", { x: toX(c), y: bottom + 21 }, text));
        up.forEach(([c, text]) => make(side, "text", { x: area.left - 9, y: toY(c) + 4.3 }, text));
        series.forEach((one, index) => {
          const group = svg.querySelector(`.series[data-series="${index}"]`);
          const path = group?.querySelector("path");
          group?.querySelectorAll("circle").forEach((circle) => circle.remove());
          if (!path) return;
          let pen = "M";
          const line = one.points.map(([cx, cy], number) => {
            if (cy === null) {
              pen = "M";
              return "";
            }
            const outline = one.mark || "";
            const drawn = `${outline ? "M" : pen}${toX(cx)} ${toY(cy)}${outline}`;
            pen = one.pairs && number % 2 ? "M" : "L";
            return drawn;
          });
          path.setAttribute("d", line.join(""));
        });
      }
      shown.forEach((visible, index) => {
        for (const part of svg.querySelectorAll(`[data-series="${index}"]`))
          part.setAttribute("visibility", visible ? "visible" : "hidden");
      });
      show();
    };
    const zoom = (factor) => {
      const narrowed = ([low, high], middle) => [middle - (middle - low) * factor, middle + (high - middle) * factor];
      view.x = narrowed(view.x, at ?? (view.x[0] + view.x[1]) / 2);
      view.y = narrowed(view.y, (view.y[0] + view.y[1]) / 2);
      redraw();
    };
    const back = () => {
      view = structuredClone(whole);
      redraw();
    };

    series.forEach((one, index) => {
      if (!one.label) return;
      const toggle = button(one.label, () => {
        shown[index] = !shown[index];
        toggle.setAttribute("aria-pressed", shown[index]);
        redraw();
      }, { "aria-pressed": true });
      toggle.style.borderColor = one.colour;
    });
    const reset = button("whole picture", back);
    reset.disabled = true;

    let start = null;
    const inside = (p) =>
      p.x >= area.left && p.x <= area.left + area.width && p.y >= area.top && p.y <= area.top + area.height;
    const hover = (p) => {
      if (!inside(p)) return;
      const c = fromX(p.x);
      at = places().reduce((best, one) => (best === null || Math.abs(one - c) < Math.abs(best - c) ? one : best), null);
      show();
    };
    const keys = {
      ArrowRight: () => move(1), ArrowLeft: () => move(-1), Home: () => { at = null; move(1); },
      End: () => { at = null; move(-1); }, Escape: () => { at = null; back(); },
    };
    if (!x.words) Object.assign(keys, { "+": () => zoom(0.5), "-": () => zoom(2), "0": back });
    listen((p) => {
      if (start) {
        const box = { x: Math.min(p.x, start.x), y: Math.min(p.y, start.y) };
        const size = { width: Math.abs(p.x - start.x), height: Math.abs(p.y - start.y) };
        for (const [key, value] of Object.entries({ ...box, ...size, visibility: "visible" }))
          rubber.setAttribute(key, value);
      } else hover(p);
    }, () => { if (!start) { at = null; show(); } }, keys);
    if (x.words) return;
    frame.addEventListener("pointerdown", (event) => {
      if (event.button === 0 && event.pointerType === "mouse" && inside(place(event))) {
        start = place(event);
        frame.setPointerCapture(event.pointerId);
      }
    });
    const end = (event) => {
      rubber.setAttribute("visibility", "hidden");
      const [from, to] = [start, place(event)];
      start = null;
      if (!from || event.type === "pointercancel" || Math.abs(to.x - from.x) < 8 || Math.abs(to.y - from.y) < 8) return;
      const ends = (a, b) => [Math.min(a, b), Math.max(a, b)];
      view = { x: ends(fromX(from.x), fromX(to.x)), y: ends(fromY(from.y), fromY(to.y)) };
      redraw();
    };
    frame.addEventListener("pointerup", end);
    frame.addEventListener("pointercancel", end);
    frame.addEventListener("dblclick", back);
  };

  const map = () => {
    const { grids, cell, row, columns, rows, cells } = data;
    const boxes = grids.map(() =>
      make(svg, "rect", { width: cell, height: row, fill: "none", stroke: "#D55E00", "stroke-width": 3, visibility: "hidden" }));
    let at = null;
    const show = () => {
      boxes.forEach((box, index) => {
        box.setAttribute("visibility", at ? "visible" : "hidden");
        if (!at) return;
        box.setAttribute("x", grids[index].left + cell * at[0]);
        box.setAttribute("y", grids[index].top + row * at[1]);
      });
      if (!at) quiet();
      else say(`${data.x} = ${columns[at[0]]}, ${data.y} = ${rows[at[1]]}`, cells[at[1]][at[0]]);
    };
    const step = (across, down) => () => {
      const next = at ? [at[0] + across, at[1] + down] : [0, 0];
      at = [Math.min(Math.max(next[0], 0), columns.length - 1), Math.min(Math.max(next[1], 0), rows.length - 1)];
      show();
    };
    listen((p) => {
      const found = grids.map((grid) => [Math.floor((p.x - grid.left) / cell), Math.floor((p.y - grid.top) / row)])
        .find(([a, b]) => a >= 0 && a < columns.length && b >= 0 && b < rows.length);
      at = found ?? null;
      show();
    }, () => { at = null; show(); }, {
      ArrowRight: step(1, 0), ArrowLeft: step(-1, 0), ArrowDown: step(0, 1), ArrowUp: step(0, -1),
      Escape: () => { at = null; show(); },
    });
  };

  if (data.kind === "map") map();
  else curves();
  const numbers = document.querySelector("textarea");
  button("copy the numbers", () => {
    numbers.closest("details").open = true;
    numbers.select();
    document.execCommand("copy");
  });
  tools.hidden = false;
})();
