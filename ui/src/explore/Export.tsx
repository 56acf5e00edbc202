import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { impactCsv } from "../graph/impact";
import type { Endpoint } from "../graph/names";
import { Wrong } from "../parts/Answer";
import { Icon } from "../parts/icons";
import { save } from "../parts/save";
import type { Picture } from "./Bar";
import { pictureOf, pngOf } from "./export-picture";
import { impact } from "./questions";
import { columnOn, type Where } from "./where";

/** The whole graph with its edges as a picture, or what would break as a table. */
export function Export({ root, where, ...picture }: Picture & { root: Endpoint; where: Where }) {
  const menu = useRef<HTMLDetailsElement>(null);
  const queries = useQueryClient();
  const [error, setError] = useState<unknown>(null);
  const about = where.on ?? root;
  const name = fileName(about.name);
  const shut = () => {
    if (menu.current) menu.current.open = false;
  };
  const hand = (make: () => Promise<Blob> | Blob, ending: string) => async () => {
    try {
      save(`${name}.${ending}`, await make());
      setError(null);
      shut();
    } catch (problem) {
      setError(problem);
    }
  };
  const svg = () => new Blob([pictureOf(picture)], { type: "image/svg+xml" });
  const csv = async () => {
    const found = await queries.fetchQuery(impact(about, columnOn(where), where.at));
    return new Blob([impactCsv(found.affected)], { type: "text/csv" });
  };
  return (
    <details
      ref={menu}
      className="menu"
      onKeyDown={(event) => {
        if (event.key === "Escape") shut();
      }}
    >
      <summary className="button">
        <Icon name="down" />
        Export
      </summary>
      <div className="choices">
        <button type="button" className="quiet" onClick={hand(() => pngOf(pictureOf(picture)), "png")}>
          Picture (PNG)
        </button>
        <button type="button" className="quiet" onClick={hand(svg, "svg")}>
          Drawing (SVG)
        </button>
        <button type="button" className="quiet" onClick={hand(csv, "impact.csv")}>
          Impact (CSV)
        </button>
        {error !== null && <Wrong error={error} />}
      </div>
    </details>
  );
}

function fileName(name: string): string {
  const last = name.slice(name.lastIndexOf("/") + 1) || name;
  return `lineage-${last.replace(/[^\w.-]+/g, "_").slice(0, 80)}`;
}
