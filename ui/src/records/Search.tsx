import { type FormEvent, useState } from "react";

export interface Wanted {
  root: string;
  node: string;
  action: string;
  location: string;
}

const FIELDS: [keyof Wanted, label: string, placeholder: string][] = [
  ["root", "Root", "activity.csv"],
  ["node", "Node", "batch-1"],
  ["action", "Action", "DQ_CHECK_FAIL"],
  ["location", "Stored at, or under", "s3://lake/raw/"],
];

/** A root alone leads to its tree; anything else to a list. */
export function Search({ wanted, look }: { wanted: Wanted; look: (wanted: Wanted) => void }) {
  const [next, setNext] = useState(wanted);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    look({
      root: next.root.trim(),
      node: next.node.trim(),
      action: next.action.trim(),
      location: next.location.trim(),
    });
  };
  return (
    <form className="looking" onSubmit={submit} aria-label="Find records">
      {FIELDS.map(([name, label, placeholder]) => (
        <label key={name} className="field">
          {label}
          <input
            className="mono"
            value={next[name]}
            placeholder={placeholder}
            maxLength={10_000}
            spellCheck={false}
            autoComplete="off"
            onChange={(event) => setNext({ ...next, [name]: event.target.value })}
          />
        </label>
      ))}
      <button type="submit" className="first">
        Find
      </button>
    </form>
  );
}
