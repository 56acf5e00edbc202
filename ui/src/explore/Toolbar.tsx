import { toggleAllColumns } from "../graph/expansion";
import type { Places } from "../graph/layout";
import type { Line } from "../graph/lines";
import { Icon } from "../parts/icons";
import { AsOf } from "./AsOf";
import type { CardView } from "./card-view";
import type { ExplorerProps } from "./Explorer";
import { Export } from "./Export";

export interface GraphPicture {
  views: ReadonlyMap<string, CardView>;
  places: Places;
  lines: readonly Line[];
}

/** Options of the whole graph: distance, columns, time, export. */
export function Toolbar({ root, where, move, ...picture }: ExplorerProps & GraphPicture) {
  return (
    <div className="tools-bar row wrap" role="toolbar" aria-label="Graph">
      <label className="row">
        Distance
        <select value={where.hops} onChange={(event) => move({ hops: Number(event.target.value) })}>
          <option value={1}>1 hop</option>
          <option value={2}>2 hops</option>
          <option value={3}>3 hops</option>
        </select>
      </label>
      <button
        type="button"
        aria-pressed={where.shape.all}
        onClick={() => move({ shape: toggleAllColumns(where.shape) })}
      >
        <Icon name="topic" />
        All columns
      </button>
      <AsOf root={root} where={where} move={move} />
      <Export root={root} where={where} {...picture} />
    </div>
  );
}
