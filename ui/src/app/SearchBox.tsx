import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { useLocation } from "wouter";
import { answer, client, type Schemas } from "../api/client";
import { Name } from "../parts/Name";
import { isTyping } from "./Help";
import { to } from "./places";

type Hit = Schemas["Hit"];

const PAUSE = 120; // milliseconds: shorter than that is still typing

/** Datasets, columns, jobs and runs by what is remembered of their names. */
export function SearchBox() {
  const [, go] = useLocation();
  const [text, setText] = useState("");
  const [open, setOpen] = useState(false);
  const [chosen, setChosen] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  const list = useId();
  const asked = usePause(text.trim());
  const found = useQuery({
    queryKey: ["lineage", "find", asked],
    queryFn: () => answer(client.GET("/api/v1/find", { params: { query: { q: asked, type: "any", limit: 12 } } })),
    enabled: asked !== "",
    placeholderData: keepPreviousData,
  });
  const hits = asked === "" ? [] : (found.data?.items ?? []);

  useEffect(() => {
    const pressed = (event: globalThis.KeyboardEvent) => {
      if (event.key !== "/" || isTyping(event.target)) return;
      event.preventDefault();
      input.current?.focus();
      input.current?.select();
    };
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
  }, []);

  const take = (hit: Hit | undefined) => {
    if (!hit) return;
    go(placeOf(hit));
    setOpen(false);
    input.current?.blur();
  };
  const pressed = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") setChosen(Math.min(chosen + 1, hits.length - 1));
    else if (event.key === "ArrowUp") setChosen(Math.max(chosen - 1, 0));
    else if (event.key === "Enter") take(hits[chosen]);
    else if (event.key === "Escape") setOpen(false);
    else return;
    event.preventDefault();
  };
  const shown = open && asked !== "";
  return (
    <search className="search">
      <input
        ref={input}
        type="text"
        role="combobox"
        aria-label="Search datasets, columns, jobs and runs"
        aria-expanded={shown}
        aria-controls={list}
        aria-activedescendant={shown && hits.length > 0 ? `${list}-${chosen}` : undefined}
        aria-autocomplete="list"
        placeholder="Search datasets, columns, jobs, runs   /"
        value={text}
        maxLength={1000}
        onChange={(event) => {
          setText(event.target.value);
          setChosen(0);
          setOpen(true);
        }}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={pressed}
      />
      {shown && (
        <div className="hits" id={list} role="listbox" aria-label="Found">
          {hits.map((hit, place) => (
            <HitLine
              key={JSON.stringify([hit.type, hit.endpoint, hit.column])}
              id={`${list}-${place}`}
              hit={hit}
              chosen={place === chosen}
              take={() => take(hit)}
            />
          ))}
          {found.isFetched && hits.length === 0 && <div className="empty">Nothing is called so, or nearly so.</div>}
          {found.error && <div className="empty">The search failed: {found.error.message}</div>}
        </div>
      )}
    </search>
  );
}

function HitLine({ hit, id, chosen, take }: { hit: Hit; id: string; chosen: boolean; take: () => void }) {
  const line = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (chosen) line.current?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  return (
    // The mouse goes down before the input loses the focus, and the list with it. The keyboard is the input's matter.
    // biome-ignore lint/a11y/useFocusableInteractive: the combobox keeps the focus
    <div
      ref={line}
      id={id}
      className="hit"
      role="option"
      aria-selected={chosen}
      onMouseDown={(event) => {
        event.preventDefault();
        take();
      }}
    >
      <span className="what">{hit.type}</span>
      <Name of={titleOf(hit)} />
      <span className="where">{whereOf(hit)}</span>
    </div>
  );
}

function titleOf(hit: Hit): string {
  if (hit.type === "run") return hit.run_id ?? "";
  return hit.type === "column" ? (hit.column ?? "") : hit.endpoint.name;
}

function whereOf(hit: Hit): string {
  return hit.type === "dataset" || hit.type === "job" ? hit.endpoint.namespace : hit.endpoint.name;
}

export function placeOf(hit: Hit): string {
  if (hit.type === "run") return to.run(hit.run_id ?? "");
  if (hit.type === "job") return to.job(hit.endpoint);
  return to.explore(hit.endpoint, { column: hit.column });
}

function usePause(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const waiting = setTimeout(() => setSettled(text), PAUSE);
    return () => clearTimeout(waiting);
  }, [text]);
  return settled;
}
