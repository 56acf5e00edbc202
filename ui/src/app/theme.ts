import { useEffect, useState, useSyncExternalStore } from "react";

export type Theme = "light" | "dark";
const KEPT = "headwater.theme";

function first(): Theme {
  const kept = localStorage.getItem(KEPT);
  if (kept === "light" || kept === "dark") return kept;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

/** Light or dark: as the system has it until the reader says otherwise. */
export function useTheme(): [Theme, () => void] {
  const [theme, setTheme] = useState<Theme>(first);
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
  }, [theme]);
  const turn = () => {
    const next = theme === "dark" ? "light" : "dark";
    localStorage.setItem(KEPT, next);
    setTheme(next);
  };
  return [theme, turn];
}

/** The light there is now, for what is drawn rather than styled. */
export function useThemeNow(): string | undefined {
  return useSyncExternalStore(whenTurned, () => document.documentElement.dataset.theme);
}

function whenTurned(call: () => void): () => void {
  const watch = new MutationObserver(call);
  watch.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  return () => watch.disconnect();
}
