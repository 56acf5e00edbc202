import { useState } from "react";
import { Icon } from "./icons";

export function Copy({ text, word = "Copy" }: { text: string; word?: string }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setDone(true);
    setTimeout(() => setDone(false), 1500);
  };
  return (
    <button type="button" className="quiet" onClick={copy} aria-live="polite">
      <Icon name={done ? "check" : "copy"} />
      {done ? "Copied" : word}
    </button>
  );
}
