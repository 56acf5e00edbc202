import { STEPS } from "../graph/expansion";
import type { Side } from "../graph/names";
import { displayName, hubJob } from "../graph/via-job";
import { formatNumber } from "../parts/format";
import { Icon } from "../parts/icons";
import { shortName } from "./CardNode";
import { useCardActionsContext } from "./card-actions";
import type { CardView } from "./card-view";

const MOST = STEPS[STEPS.length - 1] ?? 0;

/** At a card's side: how many neighbours are not shown there, and the way to show and to hide them. */
export function NeighbourButtons({ view, side }: { view: CardView; side: Side }) {
  const actions = useCardActionsContext();
  const hidden = view.more[side];
  const stop = (act: () => void) => (event: React.MouseEvent) => {
    event.stopPropagation();
    act();
  };
  if (hidden === 0 && !view.less[side]) return null;
  const name = shortName(displayName(view.card.endpoint));
  const kind = hubJob(view.card.endpoint)
    ? { up: "inputs", down: "outputs" }
    : { up: "upstream datasets", down: "downstream datasets" };
  const neighbours = `${kind[side]} of ${name}`;
  const full = view.most[side] >= MOST;
  return (
    <div className={`more ${side}`}>
      {view.less[side] && (
        <button
          type="button"
          tabIndex={view.active ? 0 : -1}
          aria-label={`Hide the ${neighbours}`}
          title={`Hide the ${neighbours}`}
          onClick={stop(() => actions.shrink(view.id, side))}
        >
          <Icon name="minus" size={10} />
        </button>
      )}
      {hidden > 0 && (
        <button
          type="button"
          tabIndex={view.active ? 0 : -1}
          disabled={full}
          aria-label={`Show ${formatNumber(hidden)} more ${neighbours}`}
          title={
            full
              ? `${formatNumber(hidden)} are not shown: the graph has no room for more. The Impact tab lists all of them.`
              : undefined
          }
          onClick={stop(() => actions.grow(view.id, side))}
        >
          + {formatNumber(hidden)} more
        </button>
      )}
    </div>
  );
}
