import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { impactCsv } from "../graph/impact";
import type { Endpoint } from "../graph/names";
import { Icon } from "../parts/icons";
import { ErrorMessage } from "../parts/QueryResult";
import { saveFile } from "../parts/save";
import { graphSvg, pngOf } from "./export-picture";
import { impact } from "./queries";
import type { GraphPicture } from "./Toolbar";
import { columnOn, type ViewState } from "./view-state";

/** The whole graph with its edges as a picture, or what would break as a table. */
export function Export({ root, where, ...picture }: GraphPicture & { root: Endpoint; where: ViewState }) {
  const menu = useRef<HTMLDetailsElement>(null);
  const queries = useQueryClient();
  const [error, setError] = useState<unknown>(null);
  const about = where.on ?? root;
  const name = fileName(about.name);
  const close = () => {
    if (menu.current) menu.current.open = false;
  };
  const exportAs = (make: () => Promise<Blob> | Blob, ending: string) => async () => {
    try {
      saveFile(`${name}.${ending}`, await make());
      setError(null);
      close();
    } catch (problem) {
      setError(problem);
    }
  };
  const svg = () => new Blob([graphSvg(picture)], { type: "image/svg+xml" });
  const csv = async () => {
    const affected = await queries.fetchQuery(impact(about, columnOn(where), where.at));
    return new Blob([impactCsv(affected.affected)], { type: "text/csv" });
  };
  return (
    <details
      ref={menu}
      className="menu"
      onKeyDown={(event) => {
        if (event.key === "Escape") close();
      }}
    >
      <summary className="button">
        <Icon name="down" />
        Export
      </summary>
      <div className="choices">
        <button type="button" className="quiet" onClick={exportAs(() => pngOf(graphSvg(picture)), "png")}>
          Image (PNG)
        </button>
        <button type="button" className="quiet" onClick={exportAs(svg, "svg")}>
          Image (SVG)
        </button>
        <button type="button" className="quiet" onClick={exportAs(csv, "impact.csv")}>
          Impact (CSV)
        </button>
        {error !== null && <ErrorMessage error={error} />}
      </div>
    </details>
  );
}

function fileName(name: string): string {
  const last = name.slice(name.lastIndexOf("/") + 1) || name;
  return `lineage-${last.replace(/[^\w.-]+/g, "_").slice(0, 80)}`;
}
