import { PAGE } from "../graph/card";
import { formatNumber } from "../parts/format";
import { Icon } from "../parts/icons";
import { Name } from "../parts/Name";
import { shortName } from "./CardNode";
import { useCardActionsContext } from "./card-actions";
import type { CardView, RowView } from "./card-view";

/** The columns of an open card, ten per page; of a closed card only those on the highlighted path. */
export function Columns({ view }: { view: CardView }) {
  const actions = useCardActionsContext();
  return (
    <>
      {view.tools && <ColumnTools view={view} />}
      <ul className="plain columns" aria-label={`Columns of ${shortName(view.card.endpoint.name)}`}>
        {view.rows.map((row) => (
          <li key={row.name}>
            <button
              type="button"
              className={row.lit ? "on-path" : undefined}
              tabIndex={view.active ? 0 : -1}
              aria-pressed={row.chosen}
              aria-label={labelOf(row)}
              onClick={(event) => {
                event.stopPropagation();
                actions.choose(view.id, row.name);
              }}
            >
              {row.sign && <span className={row.sign === "+" ? "sign good" : "sign bad"}>{row.sign}</span>}
              <Name of={row.name} />
              <span className="type" title={row.type ?? undefined}>
                {(row.type ?? "").slice(0, 40)}
              </span>
            </button>
          </li>
        ))}
        {view.open && view.search !== "" && view.matches === 0 && <li className="none dim">No column matches.</li>}
      </ul>
      {view.open && (
        <Spacer
          slots={view.slots - Math.max(view.rows.length, view.search !== "" && view.matches === 0 ? 1 : 0)}
          shown={view.rows.length > 0 || view.search !== ""}
        />
      )}
    </>
  );
}

function labelOf(row: RowView): string {
  const parts = [
    `Column ${shortName(row.name)}`,
    row.type?.slice(0, 100) ?? "",
    row.sign === "+" ? "added" : row.sign === "−" ? "removed" : "",
    row.lit ? "on the path" : "",
  ];
  return parts.filter(Boolean).join(", ");
}

/** Room that stays free on the last page, so that no card moves when it is turned. */
function Spacer({ slots, shown }: { slots: number; shown: boolean }) {
  return shown && slots > 0 ? <div style={{ height: slots * 24 }} /> : null;
}

function ColumnTools({ view }: { view: CardView }) {
  const actions = useCardActionsContext();
  const tab = view.active ? 0 : -1;
  const turnTo = (page: number) => actions.setColumnPage(view.id, { page, search: view.search });
  const first = view.page * PAGE + 1;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: only keeps clicks and keys of what is within from the card
    // biome-ignore lint/a11y/useKeyWithClickEvents: as above
    <div className="tools" onClick={(event) => event.stopPropagation()}>
      <input
        type="search"
        className="nodrag"
        aria-label={`Search columns of ${shortName(view.card.endpoint.name)}`}
        placeholder={`Search ${formatNumber(view.total)}`}
        value={view.search}
        maxLength={500}
        tabIndex={tab}
        onChange={(event) => actions.setColumnPage(view.id, { page: 0, search: event.target.value })}
      />
      <span className="dim" title={`${first} to ${Math.min(first + PAGE - 1, view.matches)} of ${view.matches}`}>
        {formatNumber(view.page + 1)}/{formatNumber(Math.max(view.pages, 1))}
      </span>
      <button
        type="button"
        className="quiet"
        tabIndex={tab}
        aria-label="Previous columns"
        disabled={view.page === 0}
        onClick={() => turnTo(view.page - 1)}
      >
        <Icon name="left" size={12} />
      </button>
      <button
        type="button"
        className="quiet"
        tabIndex={tab}
        aria-label="Next columns"
        disabled={view.page >= view.pages - 1}
        onClick={() => turnTo(view.page + 1)}
      >
        <Icon name="right" size={12} />
      </button>
    </div>
  );
}
