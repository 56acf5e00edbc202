import { useState } from "react";

const SHOWN = 400;

/** A text of any length: its beginning, and all of it on demand. */
export function LongText({ of }: { of: string }) {
  const [all, setAll] = useState(false);
  if (of.length <= SHOWN * 1.5) return <span className="breaks">{of}</span>;
  return (
    <span className="breaks">
      {all ? of : `${of.slice(0, SHOWN)}…`}{" "}
      <button type="button" className="quiet inline" aria-expanded={all} onClick={() => setAll(!all)}>
        {all ? "Show less" : "Show all"}
      </button>
    </span>
  );
}
