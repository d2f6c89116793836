"use strict";
(() => {
  const number = (text) => {
    const plain = text.replace(/[,\u00a0%+]/g, "").replace("\u2212", "-");
    return plain === "" || Number.isNaN(Number(plain)) ? null : Number(plain);
  };

  // Rows keep their order in the report as the last word among equals.
  const sorter = (rows, column, isNumber, down) => {
    const keyed = rows.map((row, place) => {
      const text = row.element.cells[column].textContent.trim();
      return { row, place, key: isNumber ? number(text) : text.toLocaleLowerCase() };
    });
    const sign = down ? -1 : 1;
    const collator = new Intl.Collator(undefined, { numeric: true });
    const compare = isNumber ? (a, b) => a - b : collator.compare;
    keyed.sort((a, b) => {
      if (a.key === null || b.key === null) return (a.key === null) - (b.key === null) || a.place - b.place;
      return sign * compare(a.key, b.key) || a.place - b.place;
    });
    return keyed.map((entry) => entry.row);
  };

  const makeSearchable = (table) => {
    const body = table.tBodies[0];
    const rows = Array.from(body.rows, (element) => ({ element, text: element.textContent.toLocaleLowerCase() }));
    const heads = Array.from(table.tHead.rows[0].cells);
    const region = table.closest(".scroll");

    const controls = document.createElement("div");
    controls.className = "controls";
    const label = document.createElement("label");
    label.textContent = "Filter by text ";
    const input = document.createElement("input");
    input.type = "search";
    label.append(input);
    const count = document.createElement("span");
    count.setAttribute("role", "status");
    count.className = "small";
    controls.append(label, count);
    region.before(controls);

    const filter = () => {
      const words = input.value.toLocaleLowerCase().split(/\s+/).filter(Boolean);
      let seen = 0;
      for (const row of rows) {
        const hit = words.every((word) => row.text.includes(word));
        row.element.hidden = !hit;
        seen += hit;
      }
      count.textContent = `${seen.toLocaleString("en")} of ${rows.length.toLocaleString("en")} rows`;
    };
    input.addEventListener("input", filter);
    filter();

    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const isNumber = head.classList.contains("n");
        const now = head.getAttribute("aria-sort");
        // Numbers are looked at from the largest, texts from A.
        const down = now ? now === "ascending" : isNumber;
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        body.append(...sorter(rows, column, isNumber, down).map((row) => row.element));
      });
    });
  };

  // A region that holds all it has to show needs no place in the tab order.
  const regions = Array.from(document.querySelectorAll('[role="group"][tabindex]'));
  const settle = () => {
    for (const region of regions) {
      const scrolls = region.scrollWidth > region.clientWidth + 1 || region.scrollHeight > region.clientHeight + 1;
      if (scrolls) region.setAttribute("tabindex", "0");
      else region.removeAttribute("tabindex");
    }
  };

  // A link into a folded part opens it.
  const unfold = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let parent = target; parent; parent = parent.parentElement) if (parent.tagName === "DETAILS") parent.open = true;
    if (target && target.querySelector(":scope > details")) target.querySelector(":scope > details").open = true;
    if (target) target.scrollIntoView();
  };

  document.querySelectorAll("table.searchable").forEach(makeSearchable);
  settle();
  window.addEventListener("resize", settle);
  document.addEventListener("toggle", settle, true);
  window.addEventListener("hashchange", unfold);
  if (location.hash) unfold();
})();
