import type { Side } from "../graph/names";
import { STEPS } from "../graph/shape";
import { Icon } from "../parts/icons";
import { amount, counted } from "../parts/words";
import { useActions } from "./actions";
import { short } from "./CardNode";
import type { CardView } from "./cardView";

const MOST = STEPS[STEPS.length - 1] ?? 0;

/** At a card's side: how many neighbours are not shown there, and the way to show and to hide them. */
export function More({ view, side }: { view: CardView; side: Side }) {
  const actions = useActions();
  const hidden = view.more[side];
  const stop = (act: () => void) => (event: React.MouseEvent) => {
    event.stopPropagation();
    act();
  };
  if (hidden === 0 && !view.less[side]) return null;
  const name = short(view.card.endpoint.name);
  const where = side === "up" ? `that ${name} is made of` : `made of ${name}`;
  const full = view.most[side] >= MOST;
  return (
    <div className={`more ${side}`}>
      {view.less[side] && (
        <button
          type="button"
          tabIndex={view.active ? 0 : -1}
          aria-label={`Hide those ${where}`}
          title={`Hide those ${where}`}
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
          aria-label={`Show ${counted(hidden, "more")} ${where}`.replace("mores", "more")}
          title={full ? `${amount(hidden)} are not shown: too many for one picture. The impact lists them.` : undefined}
          onClick={stop(() => actions.grow(view.id, side))}
        >
          + {amount(hidden)} more
        </button>
      )}
    </div>
  );
}
