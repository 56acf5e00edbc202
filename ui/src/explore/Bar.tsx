import type { Places } from "../graph/layout";
import type { Line } from "../graph/picture";
import { turnAll } from "../graph/shape";
import { Icon } from "../parts/icons";
import { AsOf } from "./AsOf";
import type { CardView } from "./cardView";
import type { Room } from "./Explorer";
import { Export } from "./Export";

export interface Picture {
  views: ReadonlyMap<string, CardView>;
  places: Places;
  lines: readonly Line[];
}

/** What holds for the whole picture: how far, with columns or not, when, and how to take it away. */
export function Bar({ root, where, move, ...picture }: Room & Picture) {
  return (
    <div className="tools-bar row wrap" role="toolbar" aria-label="Picture">
      <label className="row">
        Around
        <select value={where.hops} onChange={(event) => move({ hops: Number(event.target.value) })}>
          <option value={1}>1 hop</option>
          <option value={2}>2 hops</option>
          <option value={3}>3 hops</option>
        </select>
      </label>
      <button type="button" aria-pressed={where.shape.all} onClick={() => move({ shape: turnAll(where.shape) })}>
        <Icon name="topic" />
        All columns
      </button>
      <AsOf root={root} where={where} move={move} />
      <Export root={root} where={where} {...picture} />
    </div>
  );
}
