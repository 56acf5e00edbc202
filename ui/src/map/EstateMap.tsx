import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { Link, useLocation, useSearchParams } from "wouter";
import { answer, client } from "../api/client";
import { to } from "../app/places";
import { Answer, Empty, Skeleton } from "../parts/Answer";
import { Name } from "../parts/Name";
import { counted } from "../parts/words";
import { arranged, type Estate, type Spot } from "./arrange";
import { hueOf } from "./colours";
import { Picture } from "./Picture";
import "./map.css";

const MOST_NAMESPACES = 200;

/** The whole estate at once: every dataset a point, its namespace a colour; a click leads into the explorer. */
export default function EstateMap() {
  const [words] = useSearchParams();
  const namespace = words.get("namespace");
  const estate = useQuery({
    queryKey: ["lineage", "map", namespace],
    queryFn: () => answer(client.GET("/api/v1/graph/map", { params: { query: { namespace } } })),
    staleTime: 60_000,
  });
  return (
    <Answer of={estate}>
      {(told) =>
        told.datasets.length === 0 ? (
          <div className="sheet">
            <h1>The map</h1>
            <Empty>There is no dataset yet.</Empty>
          </div>
        ) : (
          <Arranged estate={told} truncated={told.truncated} namespace={namespace} />
        )
      }
    </Answer>
  );
}

function Arranged({ estate, truncated, namespace }: { estate: Estate; truncated: boolean; namespace: string | null }) {
  const [, go] = useLocation();
  const [over, setOver] = useState<number | null>(null);
  const spots = useSpots(estate);
  const open = (index: number) => {
    const one = estate.datasets[index];
    if (one) go(to.explore({ namespace: estate.namespaces[one.namespace] ?? "", name: one.name }));
  };
  const shown = over === null ? null : estate.datasets[over];
  return (
    <div className="map">
      {spots === undefined ? <Skeleton /> : <Picture estate={estate} spots={spots} over={setOver} open={open} />}
      <aside className="map-side card column" aria-label="Namespaces">
        <h1>The map</h1>
        <p className="dim">
          {counted(estate.datasets.length, "dataset")}, {counted(estate.edges.length, "edge")}.
          {truncated && " There are more: choose a namespace."}
        </p>
        <div className="map-over" aria-live="polite">
          {shown && (
            <>
              <Name of={shown.name} />
              <span className="dim">{estate.namespaces[shown.namespace]}</span>
            </>
          )}
        </div>
        {namespace !== null && <Link href={to.map()}>All namespaces</Link>}
        <Namespaces estate={estate} />
      </aside>
    </div>
  );
}

/** Laid out in a worker: five thousand points take a second, and the page goes on meanwhile. */
function useSpots(estate: Estate): Spot[] | undefined {
  const asked = useQuery({
    queryKey: ["arranged", estate],
    queryFn: () => inWorker(estate),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  });
  return asked.data;
}

function inWorker(estate: Estate): Promise<Spot[]> {
  const worker = new Worker(new URL("./arrange.worker.ts", import.meta.url), { type: "module" });
  return new Promise<Spot[]>((resolve) => {
    worker.onmessage = (event: MessageEvent<Spot[]>) => {
      resolve(event.data);
      worker.terminate();
    };
    worker.onerror = () => {
      // Without a worker the page halts for a moment, and is there.
      resolve(arranged(estate));
      worker.terminate();
    };
    worker.postMessage(estate);
  });
}

function Namespaces({ estate }: { estate: Estate }) {
  const counts = useMemo(() => {
    const held = estate.namespaces.map(() => 0);
    for (const one of estate.datasets) held[one.namespace] = (held[one.namespace] ?? 0) + 1;
    return estate.namespaces
      .map((name, index) => ({ name, index, held: held[index] ?? 0 }))
      .sort((a, b) => b.held - a.held)
      .slice(0, MOST_NAMESPACES);
  }, [estate]);
  return (
    <ul className="plain map-namespaces">
      {counts.map(({ name, index, held }) => (
        <li key={name}>
          <Link href={to.map(name)} className="row">
            <span className="map-dot" style={{ background: hueOf(index) }} />
            <Name of={name} />
            <span className="dim">{held}</span>
          </Link>
        </li>
      ))}
    </ul>
  );
}
