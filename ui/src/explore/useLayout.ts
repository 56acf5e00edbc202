import { useEffect, useMemo, useRef, useState } from "react";
import { layeredLayout } from "../graph/layers";
import { type Box, elkGraph, type Places, placesOf, type Size, withAnchor, withRoom } from "../graph/layout";
import { layOut } from "./layout-worker";

const NOWHERE: Places = new Map();
const MANY = 80; // more than elk lays out in the twinkling of an eye

type Edges = readonly { id: string; from: string; to: string }[];

interface Layout {
  of: string;
  places: Places;
}

/**
 * Where the cards stand. They are laid out anew only for other nodes or edges; a card that grows moves those below it.
 * `anchor`: the card that the reader acted on stays where it is.
 */
export function useLayout(
  sizes: ReadonlyMap<string, Size>,
  edges: Edges,
  anchors: readonly string[],
): { places: Places; settled: boolean; error: unknown } {
  const of = useMemo(
    () => [...[...sizes.keys()].sort(), ...edges.map((edge) => edge.id).sort()].join("\n"),
    [sizes, edges],
  );
  const [base, setBase] = useState<Layout>({ of: "", places: NOWHERE });
  const [error, setError] = useState<unknown>(null);
  const now = useRef({ sizes, edges, anchors, places: NOWHERE });
  const places = useMemo(() => withRoom(stillShown(base.places, sizes), sizes), [base, sizes]);
  now.current = { sizes, edges, anchors, places };

  useEffect(() => {
    if (now.current.sizes.size === 0) return;
    let live = true;
    const requested = now.current.sizes;
    computeLayout(requested, now.current.edges).then(
      (laid) => {
        if (!live) return;
        setBase({ of, places: withAnchor(laid, now.current.places, now.current.anchors) });
        setError(null);
      },
      (problem) => live && setError(problem),
    );
    return () => {
      live = false;
    };
  }, [of]);
  return { places, settled: base.of === of, error };
}

async function computeLayout(sizes: ReadonlyMap<string, Size>, edges: Edges): Promise<Places> {
  return sizes.size > MANY ? layeredLayout(sizes, edges) : placesOf(sizes, await layOut(elkGraph(sizes, edges)));
}

/** Those still shown, where they stood; new ones wait for the answer. */
function stillShown(places: Places, sizes: ReadonlyMap<string, Size>): Map<string, Box> {
  return new Map([...places].filter(([key]) => sizes.has(key)));
}
