// SPDX-License-Identifier: Apache-2.0
// Runs before anything is drawn, so that a dark page never flashes light. The default is the theme of the system.
{
  let chosen;
  try {
    chosen = localStorage.getItem("timewheel.theme");
  } catch {
    // The browser blocks it.
  }
  if (chosen === "light" || chosen === "dark") {
    document.documentElement.dataset.theme = chosen;
  }
}
