import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { Link, useLocation, useSearchParams } from "wouter";
import { client, responseData } from "../api/client";
import { to } from "../app/addresses";
import { countOf } from "../parts/format";
import { Name } from "../parts/Name";
import { Empty, QueryResult, Skeleton } from "../parts/QueryResult";
import { arrange, type MapData, type Position } from "./arrange";
import { namespaceColour } from "./colours";
import { MapCanvas } from "./MapCanvas";
import "./map.css";

const MOST_NAMESPACES = 200;

/** All datasets at once: a point per dataset, a colour per namespace; a click opens the explorer. */
export default function DatasetMap() {
  const [searchParams] = useSearchParams();
  const namespace = searchParams.get("namespace");
  const mapQuery = useQuery({
    queryKey: ["lineage", "map", namespace],
    queryFn: () => responseData(client.GET("/api/v1/graph/map", { params: { query: { namespace } } })),
    staleTime: 60_000,
  });
  return (
    <QueryResult of={mapQuery}>
      {(mapData) =>
        mapData.datasets.length === 0 ? (
          <div className="sheet">
            <h1>Map</h1>
            <Empty>No datasets yet. They appear here after the first run with lineage.</Empty>
          </div>
        ) : (
          <MapView mapData={mapData} truncated={mapData.truncated} namespace={namespace} />
        )
      }
    </QueryResult>
  );
}

function MapView({
  mapData,
  truncated,
  namespace,
}: {
  mapData: MapData;
  truncated: boolean;
  namespace: string | null;
}) {
  const [, go] = useLocation();
  const [over, setOver] = useState<number | null>(null);
  const positions = usePositions(mapData);
  const open = (index: number) => {
    const one = mapData.datasets[index];
    if (one) go(to.explore({ namespace: mapData.namespaces[one.namespace] ?? "", name: one.name }));
  };
  const shown = over === null ? null : mapData.datasets[over];
  return (
    <div className="map">
      {positions === undefined ? (
        <Skeleton />
      ) : (
        <MapCanvas mapData={mapData} positions={positions} over={setOver} open={open} />
      )}
      <aside className="map-side card column" aria-label="Namespaces">
        <h1>Map</h1>
        <p className="dim">
          {countOf(mapData.datasets.length, "dataset")}, {countOf(mapData.edges.length, "edge")}.
          {truncated && " Not all are shown: choose a namespace."}
        </p>
        <div className="map-hovered" aria-live="polite">
          {shown && (
            <>
              <Name of={shown.name} />
              <span className="dim">{mapData.namespaces[shown.namespace]}</span>
            </>
          )}
        </div>
        {namespace !== null && <Link href={to.map()}>All namespaces</Link>}
        <Namespaces mapData={mapData} />
      </aside>
    </div>
  );
}

/** Laid out in a worker: five thousand points take a second, during which the page stays responsive. */
function usePositions(mapData: MapData): Position[] | undefined {
  const layoutQuery = useQuery({
    queryKey: ["arranged", mapData],
    queryFn: () => layoutInWorker(mapData),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  });
  return layoutQuery.data;
}

function layoutInWorker(mapData: MapData): Promise<Position[]> {
  const worker = new Worker(new URL("./arrange.worker.ts", import.meta.url), { type: "module" });
  return new Promise<Position[]>((resolve) => {
    worker.onmessage = (event: MessageEvent<Position[]>) => {
      resolve(event.data);
      worker.terminate();
    };
    worker.onerror = () => {
      // Without a worker the page halts for a moment, and is there.
      resolve(arrange(mapData));
      worker.terminate();
    };
    worker.postMessage(mapData);
  });
}

function Namespaces({ mapData }: { mapData: MapData }) {
  const counts = useMemo(() => {
    const sizes = mapData.namespaces.map(() => 0);
    for (const one of mapData.datasets) sizes[one.namespace] = (sizes[one.namespace] ?? 0) + 1;
    return mapData.namespaces
      .map((name, index) => ({ name, index, size: sizes[index] ?? 0 }))
      .sort((a, b) => b.size - a.size)
      .slice(0, MOST_NAMESPACES);
  }, [mapData]);
  return (
    <ul className="plain map-namespaces">
      {counts.map(({ name, index, size }) => (
        <li key={name}>
          <Link href={to.map(name)} className="row">
            <span className="map-dot" style={{ background: namespaceColour(index) }} />
            <Name of={name} />
            <span className="dim">{size}</span>
          </Link>
        </li>
      ))}
    </ul>
  );
}
