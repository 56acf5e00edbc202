import { useEffect, useRef } from "react";

const KEYS: [keys: string[], meaning: string][] = [
  [["/"], "Search"],
  [["?"], "This help"],
  [["Esc"], "Close, or let go of what is selected"],
  [["←", "→"], "In the graph: to what it is made of, to what is made of it"],
  [["↑", "↓"], "In the graph: to the one above or below"],
  [["Enter"], "In the graph: open or close the columns"],
  [["+", "−"], "In the graph: show more around it, or less"],
  [["Alt ←"], "Back to what was shown before"],
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
      <button type="button" className="quiet" onClick={() => dialog.current?.showModal()} aria-label="Keyboard help">
        ?
      </button>
      <dialog ref={dialog} aria-label="Keyboard help">
        <h1>Keys</h1>
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
