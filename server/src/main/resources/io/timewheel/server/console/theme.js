// SPDX-License-Identifier: Apache-2.0
// Before anything is drawn, so that a dark page never flashes light. The system decides unless the user has.
{
  const chosen = localStorage.getItem("timewheel.theme");
  if (chosen === "light" || chosen === "dark") {
    document.documentElement.dataset.theme = chosen;
  }
}
