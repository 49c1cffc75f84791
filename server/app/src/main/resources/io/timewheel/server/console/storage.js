// SPDX-License-Identifier: Apache-2.0
// Settings of the browser (local) and of the tab (session). If the browser blocks them, they last until the page is closed.

export const local = storage("localStorage");
export const session = storage("sessionStorage");

function storage(area) {
  const memory = new Map();
  const blocked = {
    getItem: (key) => memory.get(key) ?? null,
    setItem: (key, value) => memory.set(key, value),
    removeItem: (key) => memory.delete(key),
  };
  try {
    return window[area] ?? blocked;
  } catch {
    return blocked;
  }
}
