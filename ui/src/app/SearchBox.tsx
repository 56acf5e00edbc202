import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { useLocation } from "wouter";
import { client, responseData, type Schemas } from "../api/client";
import { Name } from "../parts/Name";
import { to } from "./addresses";
import { isTyping } from "./Help";

type Hit = Schemas["Hit"];

const PAUSE = 120; // milliseconds: shorter than that is still typing

/** Search for datasets, columns, jobs and runs by a part of their names. */
export function SearchBox() {
  const [, go] = useLocation();
  const [text, setText] = useState("");
  const [open, setOpen] = useState(false);
  const [chosen, setChosen] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  const list = useId();
  const query = useDebounced(text.trim());
  const results = useQuery({
    queryKey: ["lineage", "find", query],
    queryFn: () =>
      responseData(client.GET("/api/v1/find", { params: { query: { q: query, type: "any", limit: 12 } } })),
    enabled: query !== "",
    placeholderData: keepPreviousData,
  });
  const hits = query === "" ? [] : (results.data?.items ?? []);

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

  const openHit = (hit: Hit | undefined) => {
    if (!hit) return;
    go(addressOf(hit));
    setOpen(false);
    input.current?.blur();
  };
  const pressed = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") setChosen(Math.min(chosen + 1, hits.length - 1));
    else if (event.key === "ArrowUp") setChosen(Math.max(chosen - 1, 0));
    else if (event.key === "Enter") openHit(hits[chosen]);
    else if (event.key === "Escape") setOpen(false);
    else return;
    event.preventDefault();
  };
  const shown = open && query !== "";
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
        <div className="hits" id={list} role="listbox" aria-label="Search results">
          {hits.map((hit, place) => (
            <HitLine
              key={JSON.stringify([hit.type, hit.endpoint, hit.column])}
              id={`${list}-${place}`}
              hit={hit}
              chosen={place === chosen}
              openHit={() => openHit(hit)}
            />
          ))}
          {results.isFetched && hits.length === 0 && (
            <div className="empty">No dataset, column, job or run has a name like this.</div>
          )}
          {results.error && <div className="empty">The search failed: {results.error.message}</div>}
        </div>
      )}
    </search>
  );
}

function HitLine({ hit, id, chosen, openHit }: { hit: Hit; id: string; chosen: boolean; openHit: () => void }) {
  const line = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (chosen) line.current?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  return (
    // On mouse down, because the list closes when the input loses the focus. The input handles the keyboard.
    // biome-ignore lint/a11y/useFocusableInteractive: the combobox keeps the focus
    <div
      ref={line}
      id={id}
      className="hit"
      role="option"
      aria-selected={chosen}
      onMouseDown={(event) => {
        event.preventDefault();
        openHit();
      }}
    >
      <span className="entry-type">{hit.type}</span>
      <Name of={titleOf(hit)} />
      <span className="hit-location">{locationOf(hit)}</span>
    </div>
  );
}

function titleOf(hit: Hit): string {
  if (hit.type === "run") return hit.run_id ?? "";
  return hit.type === "column" ? (hit.column ?? "") : hit.endpoint.name;
}

function locationOf(hit: Hit): string {
  return hit.type === "dataset" || hit.type === "job" ? hit.endpoint.namespace : hit.endpoint.name;
}

export function addressOf(hit: Hit): string {
  if (hit.type === "run") return to.run(hit.run_id ?? "");
  if (hit.type === "job") return to.job(hit.endpoint);
  return to.explore(hit.endpoint, { column: hit.column });
}

function useDebounced(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const waiting = setTimeout(() => setSettled(text), PAUSE);
    return () => clearTimeout(waiting);
  }, [text]);
  return settled;
}
