(() => {
  "use strict";
  // The first number of a cell; words and notes may stand around it.
  const number = (text) => {
    const found = text.replace(/,/g, "").replace(/\u2212/g, "-").match(/-?\d*\.?\d+/);
    return found ? Number(found[0]) : null;
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

  const makeSortable = (table) => {
    const body = table.tBodies[0];
    const rows = Array.from(body.rows, (element) => ({ element }));
    const heads = Array.from(table.tHead.rows[0].cells);
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      // a note under the name stays under the button, or the arrow would stand on a line of its own
      const nodes = Array.from(head.childNodes);
      const note = nodes.findIndex((node) => node.nodeName === "SMALL");
      button.append(...(note < 0 ? nodes : nodes.slice(0, note)));
      head.prepend(button);
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
    let name = location.hash.slice(1);
    try {
      name = decodeURIComponent(name);
    } catch {
      // not an encoded name: it is taken as it is
    }
    const target = document.getElementById(name);
    for (let parent = target; parent; parent = parent.parentElement) if (parent.tagName === "DETAILS") parent.open = true;
    if (target && target.querySelector(":scope > details")) target.querySelector(":scope > details").open = true;
    if (target) target.scrollIntoView();
  };

  // Paper shows the tables that the screen folds; only the twin of a figure stays away.
  const unfolded = [];
  window.addEventListener("beforeprint", () => document.querySelectorAll("details.fold:not([open])").forEach((fold) => {
    fold.open = true;
    unfolded.push(fold);
  }));
  window.addEventListener("afterprint", () => unfolded.splice(0).forEach((fold) => { fold.open = false; }));

  document.querySelectorAll("table.sortable").forEach(makeSortable);
  settle();
  window.addEventListener("resize", settle);
  document.addEventListener("toggle", settle, true);
  window.addEventListener("hashchange", unfold);
  if (location.hash) unfold();
})();
