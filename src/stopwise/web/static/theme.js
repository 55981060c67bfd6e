"use strict";
// Runs before the first paint, so that a remembered theme does not flash.
try {
  const chosen = localStorage.getItem("stopwise-theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
  // no storage: the system's theme
}
