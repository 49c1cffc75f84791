// SPDX-License-Identifier: Apache-2.0
// A list with elements only for the visible rows, so that a hundred thousand rows cost as much as thirty.

/** The rows to have elements for: {first, last}, last not included. */
export function rowsInSight(scrollTop, height, rowHeight, total, spare = 8) {
  const first = Math.max(0, Math.min(total, Math.floor(scrollTop / rowHeight) - spare));
  const last = Math.min(total, Math.ceil((scrollTop + height) / rowHeight) + spare);
  return { first, last: Math.max(first, last) };
}

/** The scroll position at which a row is visible; unchanged if it is visible already. */
export function scrollTo(row, scrollTop, height, rowHeight) {
  const top = row * rowHeight;
  if (top < scrollTop) {
    return top;
  }
  return top + rowHeight > scrollTop + height ? top + rowHeight - height : scrollTop;
}

/**
 * Keeps the rows in sight of a scrolling element.
 *
 * @param box scrolls
 * @param body contains the rows, and gets the height of all
 * @param rowHeight called each time, because it depends on the width of the window
 * @param makeRow (index) => the element of a row
 */
export class VirtualList {
  #box;
  #body;
  #rowHeight;
  #makeRow;
  #rows = new Map();
  #total = 0;
  #frame = 0;

  constructor(box, body, rowHeight, makeRow, signal) {
    this.#box = box;
    this.#body = body;
    this.#rowHeight = rowHeight;
    this.#makeRow = makeRow;
    box.addEventListener("scroll", () => this.#later(), { signal, passive: true });
    const observer = new ResizeObserver(() => this.#draw()); // at once, to avoid an empty frame
    observer.observe(box);
    signal.addEventListener("abort", () => observer.disconnect());
  }

  /** Shows this many rows, all of them new. */
  show(total) {
    this.#total = total;
    this.refresh();
  }

  /** Replaces all rows in sight. */
  refresh() {
    this.#rows.forEach((row) => row.remove());
    this.#rows.clear();
    this.#draw();
  }

  /** Replaces one row, if it is in sight. */
  renew(index) {
    this.#rows.get(index)?.remove();
    this.#rows.delete(index);
    this.#later();
  }

  /** Brings a row into sight. */
  reveal(index) {
    const height = this.#rowHeight();
    this.#box.scrollTop = scrollTo(index, this.#box.scrollTop, this.#box.clientHeight, height);
    this.#draw();
  }

  /** The element of a row, or undefined if it is out of sight. */
  element(index) {
    return this.#rows.get(index);
  }

  #later() {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#draw();
    });
  }

  #draw() {
    const height = this.#rowHeight();
    this.#body.style.height = `${this.#total * height}px`;
    const { first, last } = rowsInSight(
      this.#box.scrollTop, this.#box.clientHeight, height, this.#total);
    for (const [index, row] of this.#rows) {
      // Keep the focus when its row is scrolled out of sight.
      if ((index < first || index >= last) && (index >= this.#total || row !== document.activeElement)) {
        row.remove();
        this.#rows.delete(index);
      }
    }
    for (let index = first; index < last; index++) {
      if (!this.#rows.has(index)) {
        const row = this.#makeRow(index);
        row.style.transform = `translateY(${index * height}px)`;
        this.#rows.set(index, row);
        this.#body.append(row);
      }
    }
  }
}
