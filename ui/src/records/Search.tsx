import { type FormEvent, useState } from "react";

export interface RecordFilter {
  root: string;
  node: string;
  action: string;
  location: string;
}

const FIELDS: [keyof RecordFilter, label: string, placeholder: string][] = [
  ["root", "Root", "activity.csv"],
  ["node", "Node", "batch-1"],
  ["action", "Action", "DQ_CHECK_FAIL"],
  ["location", "Stored at or below", "s3://lake/raw/"],
];

/** A root alone leads to its tree; anything else to a list. */
export function Search({ wanted, search }: { wanted: RecordFilter; search: (wanted: RecordFilter) => void }) {
  const [next, setNext] = useState(wanted);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    search({
      root: next.root.trim(),
      node: next.node.trim(),
      action: next.action.trim(),
      location: next.location.trim(),
    });
  };
  return (
    <form className="record-search" onSubmit={submit} aria-label="Find records">
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
        {" "}
        Search{" "}
      </button>
    </form>
  );
}
