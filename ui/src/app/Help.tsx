import { useEffect, useRef } from "react";

const KEYS: [keys: string[], meaning: string][] = [
  [["/"], "Search"],
  [["?"], "Show this help"],
  [["Esc"], "Close, or clear the selection"],
  [["←", "→"], "In the graph: to the upstream or downstream card"],
  [["↑", "↓"], "In the graph: to the card above or below"],
  [["Enter"], "In the graph: show or hide the columns"],
  [["+", "−"], "In the graph: show or hide neighbours"],
  [["Alt ←"], "Back to the previous view"],
];

/** Keys that work; `?` shows them. */
export function Help() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.key === "?" && !isTyping(event.target)) dialog.current?.showModal();
    };
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
  }, []);
  return (
    <>
      <button
        type="button"
        className="quiet"
        onClick={() => dialog.current?.showModal()}
        aria-label="Keyboard shortcuts"
      >
        ?
      </button>
      <dialog ref={dialog} aria-label="Keyboard shortcuts">
        <h1>Keyboard shortcuts</h1>
        <dl className="keys">
          {KEYS.map(([keys, meaning]) => (
            <div key={meaning} style={{ display: "contents" }}>
              <dt>
                {keys.map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </dt>
              <dd>{meaning}</dd>
            </div>
          ))}
        </dl>
        <form method="dialog">
          <button type="submit">Close</button>
        </form>
      </dialog>
    </>
  );
}

export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
