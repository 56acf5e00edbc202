import { useEffect, useState, useSyncExternalStore } from "react";

export type Theme = "light" | "dark";
const STORAGE_KEY = "headwater.theme";

function initialTheme(): Theme {
  const stored = localStorage.getItem(STORAGE_KEY);
  if (stored === "light" || stored === "dark") return stored;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

/** Light or dark: the system's setting until the reader changes it. */
export function useTheme(): [Theme, () => void] {
  const [theme, setTheme] = useState<Theme>(initialTheme);
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
  }, [theme]);
  const toggle = () => {
    const next = theme === "dark" ? "light" : "dark";
    localStorage.setItem(STORAGE_KEY, next);
    setTheme(next);
  };
  return [theme, toggle];
}

/** The current theme, for drawings that CSS does not style. */
export function useCurrentTheme(): string | undefined {
  return useSyncExternalStore(subscribeToTheme, () => document.documentElement.dataset.theme);
}

function subscribeToTheme(call: () => void): () => void {
  const watch = new MutationObserver(call);
  watch.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  return () => watch.disconnect();
}
