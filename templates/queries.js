(() => {
  "use strict";
  const holder = document.getElementById("query-data");
  if (!holder) return;
  const data = JSON.parse(holder.textContent);
  const table = document.getElementById("query-table");
  const section = table.closest("section");
  const region = table.closest(".scroll");
  const remark = document.getElementById("query-table-r");
  const body = table.tBodies[0];
  const total = data.texts.length;
  const PAGED_FROM = 500;
  const PAGE_ROWS = 100;
  const BESIDE = 3;
  const ENDS = 10;
  const SHORT = 16;
  const MINUS = "\u2212";
  const UNDEFINED = "\u2014";
  const WORDS = { b: "better", e: "equal", w: "worse" };
  const TONES = { b: "t-better", w: "t-worse" };
  // Without accents and capitals, numbers by their size: q2 before q10.
  const bare = (text) => (/[^\x00-\x7f]/.test(text) ? text.normalize("NFD").replace(/\p{M}/gu, "") : text).toLowerCase();
  const sortKey = (text) => (/\d/.test(text) ? bare(text).replace(/\d+/g, (digits) => digits.padStart(15, "0")) : bare(text));
  const many = (n) => n.toLocaleString("en");
  const counted = (n) => `${many(n)} ${data.unit[n === 1 ? 0 : 1]}`;

  const make = (tag, settings, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(settings || {})) {
      if (name in element && name !== "role") element[name] = value;
      else element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
  };

  // ── numbers as the report writes them ──

  const number = (value, decimals, signed) => {
    if (value === null) return UNDEFINED;
    if (typeof value === "string") return signed && !/^[\u22120]/.test(value) ? `+${value}` : value;
    const digits = String(Math.abs(value)).padStart(decimals + 1, "0");
    const whole = digits.slice(0, digits.length - decimals).replace(/\B(?=(\d{3})+$)/g, ",");
    const text = decimals ? `${whole}.${digits.slice(-decimals)}` : whole;
    return value < 0 ? MINUS + text : signed && value > 0 ? `+${text}` : text;
  };
  const sortable = (value) => {
    if (value === null) return NaN;
    return typeof value === "string" ? Number(value.replace(MINUS, "-").replace("\u221e", "Infinity")) : value;
  };

  // ── the state, and how the address says it ──

  const initial = { pair: 0, measure: 0, outcome: "", find: "", sort: "", down: false, page: 0, open: -1, in: {} };
  let state = { ...initial, in: {} };
  // The queries come in the order of their ids.
  const ID = data.ids ? "id" : data.unit[0];
  const keyOf = (i) => data.keys[i] ?? (data.ids || data.texts)[i];
  const places = new Map(data.texts.map((_, i) => [keyOf(i), i]));
  const PREFIX = "#queries&";

  const address = () => {
    const said = new URLSearchParams();
    if (state.pair) {
      const [baseline, system] = data.pairs[state.pair];
      said.set("system", data.systems[system]);
      said.set("baseline", data.systems[baseline]);
    }
    if (state.measure) said.set("measure", data.measures[state.measure].label);
    if (state.outcome) said.set("outcome", WORDS[state.outcome]);
    if (state.find) said.set("find", state.find);
    for (const [name, value] of Object.entries(state.in)) said.set(`in.${name}`, value);
    if (state.sort) said.set("sort", (state.down ? "-" : "") + state.sort);
    if (state.page) said.set("page", state.page + 1);
    if (state.open >= 0) said.set("open", keyOf(state.open));
    const text = said.toString();
    return text ? PREFIX + text : "";
  };

  const readAddress = () => {
    if (!location.hash.startsWith(PREFIX)) return false;
    const said = new URLSearchParams(location.hash.slice(PREFIX.length));
    const next = { ...initial, in: {} };
    const pair = data.pairs.findIndex(([baseline, system]) =>
      data.systems[baseline] === said.get("baseline") && data.systems[system] === said.get("system"));
    next.pair = Math.max(pair, 0);
    next.measure = Math.max(data.measures.findIndex((measure) => measure.label === said.get("measure")), 0);
    next.outcome = Object.keys(WORDS).find((letter) => WORDS[letter] === said.get("outcome")) || "";
    next.find = said.get("find") || "";
    for (const column of data.columns) {
      const value = said.get(`in.${column.label}`);
      if (column.choices && column.texts.includes(value)) next.in[column.label] = value;
    }
    const sort = said.get("sort") || "";
    next.down = sort.startsWith("-");
    next.sort = next.down ? sort.slice(1) : sort;
    next.page = Math.max(Number.parseInt(said.get("page"), 10) - 1 || 0, 0);
    next.open = places.get(said.get("open")) ?? -1;
    state = next;
    return true;
  };

  const remember = () => {
    try {
      history.replaceState(null, "", address() || "#queries");
    } catch {
      // a page without an address of its own keeps its state while it is open
    }
  };

  // ── columns ──

  const columns = () => {
    const measure = data.measures[state.measure];
    const pair = data.pairs[state.pair];
    const found = [{ key: data.unit[0], label: data.unit[0], texts: data.texts }];
    if (data.ids) found.push({ key: "id", label: "id", texts: data.ids });
    if (pair) {
      const values = measure.differences[state.pair];
      const outcomes = measure.outcomes[state.pair];
      found.push({ key: "difference", label: "difference", values, decimals: measure.decimals, signed: true, outcomes });
    }
    const all = data.systems.length <= BESIDE || !pair;
    for (const s of all ? data.systems.keys() : pair) {
      found.push({ key: `of.${data.systems[s]}`, label: data.heads[s], values: measure.values[s], decimals: measure.decimals });
    }
    return found.concat(data.columns.map((column) => ({ ...column, key: `in.${column.label}` })));
  };
  const textOf = (column, i) => {
    if (column.codes) return column.codes[i] < 0 ? UNDEFINED : column.texts[column.codes[i]];
    return column.texts ? column.texts[i] : number(column.values[i], column.decimals, column.signed);
  };

  // ── filtering and sorting ──

  let haystacks = null;
  let matched = { of: null, rows: [] };
  const matching = () => {
    const asked = JSON.stringify([state.find, state.outcome, state.in, state.outcome && [state.measure, state.pair]]);
    if (matched.of !== asked) matched = { of: asked, rows: filtered() };
    return matched.rows;
  };
  const filtered = () => {
    const words = state.find.toLocaleLowerCase().split(/\s+/).filter(Boolean);
    haystacks ??= data.texts.map((text, i) => `${text}\n${keyOf(i)}`.toLocaleLowerCase());
    const letters = state.outcome && data.pairs.length ? data.measures[state.measure].outcomes[state.pair] : null;
    const asked = data.columns.filter((column) => column.label in state.in)
      .map((column) => [column.codes, column.texts.indexOf(state.in[column.label])]);
    const kept = [];
    for (let i = 0; i < total; i += 1) {
      if (letters && letters[i] !== state.outcome) continue;
      if (!asked.every(([codes, code]) => codes[i] === code)) continue;
      if (words.every((word) => haystacks[i].includes(word))) kept.push(i);
    }
    return kept;
  };

  // Values are compared once for each column; afterwards their ranks are counted, which takes no comparison at all.
  const ranks = new Map();
  const rankOf = (column) => {
    const name = column.values ? `${column.key} ${state.measure} ${state.pair}` : column.key;
    if (!ranks.has(name)) {
      const values = column.values ? Float64Array.from(column.values, sortable) : column.texts.map(sortKey);
      const distinct = column.values ? new Float64Array(new Set(values)).sort() : [...new Set(values)].sort();
      const place = new Map(Array.from(distinct, (value, rank) => [value, rank]));
      // what is undefined is no value: it comes last either way
      const known = column.values && place.has(NaN) ? distinct.length - 1 : distinct.length;
      const rank = (value) => (Number.isNaN(value) ? -1 : place.get(value));
      ranks.set(name, { size: known, of: Int32Array.from(column.codes || values,
        column.codes ? (code) => (code < 0 ? -1 : rank(values[code])) : rank) });
    }
    return ranks.get(name);
  };

  // Rows keep their order in the report as the last word among equals.
  const sorted = (kept, by, down) => {
    const column = by && columns().find(({ key }) => key === by);
    if (!column) return kept;
    const { size, of } = rankOf(column);
    const slot = (i) => (of[i] < 0 ? size : down ? size - 1 - of[i] : of[i]);
    const starts = new Int32Array(size + 2);
    for (const i of kept) starts[slot(i) + 1] += 1;
    for (let k = 1; k < starts.length; k += 1) starts[k] += starts[k - 1];
    const placed = new Array(kept.length);
    for (const i of kept) {
      const k = slot(i);
      placed[starts[k]] = i;
      starts[k] += 1;
    }
    return placed;
  };
  const ordered = () => sorted(matching(), state.sort, state.down);

  // ── one query in full ──

  const listOf = (i, system, other, after) => {
    const found = (data.lists.of[i] || {})[system];
    const rows = make("tbody");
    const head = make("tr", null, ...["rank", "grade", "document", "moved", "brings"].map((text) => make("th", { scope: "col" }, text)));
    const list = make("table", { className: "list" }, make("caption", null, data.systems[system]),
      make("thead", { className: "unseen" }, head), rows);
    const before = new Map(other.d.map((d, k) => [d, other.r ? other.r[k] : k + 1]));
    found.d.forEach((d, k) => {
      const rank = found.r ? found.r[k] : k + 1;
      const was = before.get(d);
      const [dots, spoken, relevant] = data.lists.grades[found.g[k]];
      let move = was === undefined ? "gone" : "";
      let tone = "";
      if (after) {
        move = was === undefined ? "new" : was === rank ? "= same" : `${was > rank ? "↑" : "↓"} was ${was}`;
        if (relevant && was !== undefined && was !== rank) tone = was > rank ? " t-better" : " t-worse";
      }
      const title = data.lists.titles[d];
      const name = make("th", { scope: "row" }, title || data.lists.documents[d]);
      if (title) name.append(make("small", null, data.lists.documents[d]));
      rows.append(make("tr", null,
        make("td", { className: "n" }, String(rank)),
        make("td", { className: "grade" }, make("span", { "aria-hidden": "true" }, dots), make("span", { className: "unseen" }, spoken)),
        name, make("td", { className: `move${tone}` }, move),
        make("td", { className: "brings" }, found.c ? found.c[k] : "")));
    });
    if (!rows.rows.length) rows.append(make("tr", null, make("td", { colSpan: 5 }, "returned nothing")));
    return list;
  };

  const valuesOf = (i) => {
    const head = make("tr", null, make("th", { scope: "col" }, "system"),
      ...data.measures.map((measure) => make("th", { scope: "col", className: "n" }, measure.label)));
    const rows = data.systems.map((system, s) => make("tr", null, make("th", { scope: "row" }, system),
      ...data.measures.map((measure) => make("td", null, number(measure.values[s][i], measure.decimals)))));
    return make("div", { className: "scroll", role: "group", tabIndex: 0, "aria-label": "Its values" }, make("table", null, make("caption", null, "Its values"),
      make("thead", null, head), make("tbody", null, ...rows)));
  };

  const linkTo = (i) => {
    const said = new URLSearchParams({ open: keyOf(i) });
    return `${PREFIX}${said}`;
  };

  const detailsOf = (i, width) => {
    const facts = data.columns.map((column) => `${column.label}: ${textOf(column, i)}`);
    const box = make("div", { className: "opened" }, make("h3", null, data.texts[i]),
      make("p", { className: "small" }, [...(data.ids ? [data.ids[i]] : []), ...facts].join(" · "), " · ",
        make("a", { href: linkTo(i) }, `Link to this ${data.unit[0]}`)),
      ...data.details.filter(({ texts }) => texts[i]).map(({ label, texts }) => make("p", { className: "small" }, `${label}: ${texts[i]}`)),
      valuesOf(i));
    const pair = data.pairs[state.pair];
    const found = data.lists.of[i] || {};
    if (pair && found[pair[0]] && found[pair[1]]) {
      box.append(make("p", { className: "small" }, data.lists.legend), make("div", { className: "lists" },
        listOf(i, pair[0], found[pair[1]], false), listOf(i, pair[1], found[pair[0]], true)));
    } else if (Object.keys(data.lists.of).length) {
      box.append(make("p", { className: "small" }, "The two lists are not in this file: it holds those of the biggest wins and losses of each comparison."));
    }
    return make("tr", { className: "detail" }, make("td", { colSpan: width }, box));
  };

  // ── the table ──

  let order = [];
  const pages = () => (total > PAGED_FROM ? Math.max(1, Math.ceil(order.length / PAGE_ROWS)) : 1);
  const visible = () => (pages() > 1 ? order.slice(state.page * PAGE_ROWS, (state.page + 1) * PAGE_ROWS) : order);

  let headed = "";
  const drawHead = (shown) => {
    // the buttons stay while their columns do, and with them the focus
    const names = JSON.stringify(shown.map(({ key, label }) => [key, label]));
    if (names === headed) {
      markSorted(shown);
      return;
    }
    headed = names;
    const line = make("tr");
    for (const column of shown) {
      const head = make("th", { scope: "col" });
      if (column.values) head.className = "n";
      const button = make("button", { type: "button" }, column.label);
      button.addEventListener("click", () => {
        // Numbers are looked at from the largest, texts from A.
        const down = (state.sort || ID) === column.key ? !state.down : Boolean(column.values);
        change({ sort: column.key, down, page: 0 });
      });
      head.append(button);
      line.append(head);
    }
    table.tHead.replaceChildren(line);
    markSorted(shown);
  };
  const markSorted = (shown) => shown.forEach((column, k) => {
    const head = table.tHead.rows[0].cells[k];
    if (column.key === (state.sort || ID)) head.setAttribute("aria-sort", state.down ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  });

  // A column of short texts needs no more room than they take.
  const brief = new WeakMap();
  const kindOf = ({ values, texts }) => {
    if (values) return "";
    if (!brief.has(texts)) brief.set(texts, texts.every((text) => text.length <= SHORT));
    return brief.get(texts) ? "x k" : "x";
  };

  const drawRows = (shown, indexes) => {
    const pattern = make("tr", null, make("th", { scope: "row" },
      make("button", { type: "button", className: "open", "aria-expanded": "false", tabIndex: -1 })),
    ...shown.slice(1).map((column) => make("td", { className: kindOf(column) })));
    const rows = document.createDocumentFragment();
    for (const i of indexes) {
      const row = pattern.cloneNode(true);
      row.dataset.index = i;
      row.firstChild.firstChild.textContent = data.texts[i];
      for (let c = 1; c < shown.length; c += 1) {
        const column = shown[c];
        row.childNodes[c].textContent = textOf(column, i);
        // what is shown as 0 has no side
        if (column.outcomes && column.values[i] && TONES[column.outcomes[i]]) row.childNodes[c].className = TONES[column.outcomes[i]];
      }
      rows.append(row);
      if (i === state.open) {
        row.firstChild.firstChild.setAttribute("aria-expanded", "true");
        rows.append(detailsOf(i, shown.length));
      }
    }
    if (!indexes.length) rows.append(make("tr", null, make("td", { className: "x", colSpan: shown.length }, "None matches.")));
    body.replaceChildren(rows);
    const reached = body.querySelector("[aria-expanded=true]") || body.querySelector("button.open");
    if (reached) reached.tabIndex = 0;
  };

  const draw = () => {
    const shown = columns();
    const from = state.page * PAGE_ROWS;
    drawHead(shown);
    drawRows(shown, visible());
    const measure = data.measures[state.measure].label;
    const pair = data.pairs[state.pair];
    table.caption.textContent = `${measure} of every ${data.unit[0]}` +
      (pair ? `: ${data.heads[pair[1]]} against ${data.heads[pair[0]]}` : "");
    status.textContent = `${many(order.length)} of ${counted(total)}`;
    pager.hidden = pages() < 2;
    place.textContent = `${many(from + 1)} to ${many(Math.min(from + PAGE_ROWS, order.length))}`;
    earlier.disabled = state.page === 0;
    later.disabled = state.page >= pages() - 1;
    clear.hidden = !(state.find || state.outcome || Object.keys(state.in).length);
  };

  const change = (changes) => {
    Object.assign(state, changes);
    order = ordered();
    state.page = Math.min(state.page, pages() - 1);
    draw();
    remember();
  };

  const toggle = (i) => {
    change({ open: state.open === i ? -1 : i });
    body.querySelector(`tr[data-index="${i}"] button`).focus();
  };

  // A query that the address opens is brought onto the page, whatever the filters hide.
  const reveal = () => {
    order = ordered();
    if (state.open >= 0 && !order.includes(state.open)) {
      Object.assign(state, { find: "", outcome: "", in: {} });
      order = ordered();
    }
    if (state.open >= 0 && pages() > 1) state.page = Math.floor(order.indexOf(state.open) / PAGE_ROWS);
    state.page = Math.min(state.page, pages() - 1);
    settle();
    draw();
    const row = state.open >= 0 && body.querySelector(`tr[data-index="${state.open}"]`);
    (row || section).scrollIntoView();
    if (row) row.querySelector("button").focus({ preventScroll: true });
  };

  // ── controls ──

  const chooser = (text, options, listen) => {
    const select = make("select", null, ...options.map(([value, label]) => make("option", { value }, label)));
    select.addEventListener("change", () => listen(select.value));
    return [make("label", null, `${text} `, select), select];
  };
  const settled = [];
  const controls = make("div", { className: "controls" });
  const offer = (text, options, listen, read) => {
    const [box, select] = chooser(text, options, listen);
    settled.push(() => { select.value = read(); });
    controls.append(box);
  };
  const settle = () => settled.forEach((put) => put());

  const input = make("input", { type: "search" });
  input.addEventListener("input", () => change({ find: input.value, page: 0 }));
  settled.push(() => { input.value = state.find; });
  controls.append(make("label", null, "Filter by text ", input));
  if (data.pairs.length > 1) {
    offer("Comparison", data.pairs.map(([b, s], k) => [k, `${data.heads[s]} against ${data.heads[b]}`]),
      (value) => change({ pair: Number(value), page: 0 }), () => state.pair);
  }
  if (data.measures.length > 1) {
    offer("Measure", data.measures.map((measure, k) => [k, measure.label]),
      (value) => change({ measure: Number(value), page: 0 }), () => state.measure);
  }
  if (data.pairs.length) {
    offer("Outcome", [["", "any"], ...Object.entries(WORDS)], (value) => change({ outcome: value, page: 0 }), () => state.outcome);
  }
  for (const column of data.columns.filter(({ choices }) => choices)) {
    const options = [["", "any"], ...column.texts.map((text, k) => [text, column.choices[k]])];
    offer(column.label, options, (value) => {
      const { [column.label]: _, ...others } = state.in;
      change({ in: value ? { ...others, [column.label]: value } : others, page: 0 });
    }, () => state.in[column.label] || "");
  }
  const status = make("span", { role: "status", className: "small" });
  const clear = make("button", { type: "button", className: "plain" }, "Clear filters");
  clear.addEventListener("click", () => {
    change({ find: "", outcome: "", in: {}, page: 0 });
    settle();
    input.focus();
  });
  const download = make("button", { type: "button", className: "plain" }, "Download these rows (CSV)");
  controls.append(make("span", { className: "end" }, status, clear, download));

  const earlier = make("button", { type: "button", className: "plain" }, "← earlier");
  const later = make("button", { type: "button", className: "plain" }, "later →");
  const place = make("span", { className: "small" });
  const pager = make("div", { className: "controls", role: "group", "aria-label": "Pages" }, earlier, place, later);
  earlier.addEventListener("click", () => turn(-1));
  later.addEventListener("click", () => turn(1));
  const turn = (step) => {
    change({ page: Math.min(Math.max(state.page + step, 0), pages() - 1) });
    region.scrollTop = 0;
  };

  // ── a file of the rows that are shown ──

  // A text that a spreadsheet would take for a formula is kept a text.
  const quoted = (text) => `"${(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
  const plain = (text) => text.replace(MINUS, "-").replace(/,/g, "").replace(UNDEFINED, "");
  download.addEventListener("click", () => {
    const shown = columns();
    const lines = [shown.map((column) => quoted(column.label)).join(",")];
    for (const i of order) {
      lines.push(shown.map((column) => {
        const text = textOf(column, i);
        return column.values ? plain(text).replace(/^\+/, "") : text === UNDEFINED ? "" : quoted(text);
      }).join(","));
    }
    const link = make("a", { download: "queries.csv",
      href: URL.createObjectURL(new Blob([`${lines.join("\r\n")}\r\n`], { type: "text/csv" })) });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });

  // ── mouse and keyboard ──

  body.addEventListener("click", (event) => {
    const button = event.target.closest("button.open");
    if (button) toggle(Number(button.closest("tr").dataset.index));
  });
  body.addEventListener("keydown", (event) => {
    if (!event.target.matches("button.open")) return;
    const buttons = Array.from(body.querySelectorAll("button.open"));
    const at = buttons.indexOf(event.target);
    const steps = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1, PageDown: at + 10, PageUp: at - 10 };
    if (!(event.key in steps)) return;
    event.preventDefault();
    const next = buttons[Math.min(Math.max(steps[event.key], 0), buttons.length - 1)];
    event.target.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });

  // Paper gets the ends of what is shown, whatever page is open.
  window.addEventListener("beforeprint", () => {
    if (order.length <= 2 * ENDS) return;
    const byDifference = !state.sort && data.pairs.length > 0;
    const gaps = byDifference ? data.measures[state.measure].differences[state.pair] : [];
    const rows = byDifference ? sorted(order.filter((i) => gaps[i] !== null), "difference", true) : order;
    drawRows(columns(), [...rows.slice(0, ENDS), ...rows.slice(-ENDS)]);
    table.classList.add("ends");
    table.caption.append(` — printed: ${byDifference ? `${ENDS} highest, ${ENDS} lowest` : `first and last ${ENDS}`} of ${many(order.length)}`);
  });
  window.addEventListener("afterprint", () => {
    table.classList.remove("ends");
    draw();
  });

  for (const line of document.querySelectorAll(".examples li[data-index] .lists")) {
    const i = Number(line.closest("li").dataset.index);
    line.after(make("p", { className: "small" }, make("a", { href: linkTo(i) }, `This ${data.unit[0]} in the table of all`)));
  }
  if (remark && data.texts.length > body.rows.length) remark.hidden = true;
  const help = make("p", { id: "query-table-k", className: "unseen" },
    `Up and down, Home and End move between the rows, Enter opens and closes a ${data.unit[0]}.`);
  table.setAttribute("aria-describedby", help.id);
  region.before(controls, help);
  region.after(pager);
  table.classList.add("searchable");
  order = ordered();
  const asked = readAddress();
  settle();
  if (asked) reveal();
  else draw();
  window.addEventListener("hashchange", () => { if (readAddress()) reveal(); });
  // The ranks of the columns are made while nobody waits, one at a time.
  const waiting = columns();
  const prepare = () => {
    if (waiting.length) rankOf(waiting.shift());
    if (waiting.length) whenIdle(prepare);
  };
  const whenIdle = window.requestIdleCallback || ((work) => setTimeout(work, 50));
  if (total > PAGED_FROM) whenIdle(prepare);
})();
