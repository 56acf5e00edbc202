import { PAGE } from "../graph/card";
import { Icon } from "../parts/icons";
import { Name } from "../parts/Name";
import { amount } from "../parts/words";
import { useActions } from "./actions";
import { short } from "./CardNode";
import type { CardView, RowView } from "./cardView";

/** The columns of an open card, ten a page; of a shut one those on the lit path. */
export function Columns({ view }: { view: CardView }) {
  const actions = useActions();
  return (
    <>
      {view.tools && <Tools view={view} />}
      <ul className="plain columns" aria-label={`Columns of ${short(view.card.endpoint.name)}`}>
        {view.rows.map((row) => (
          <li key={row.name}>
            <button
              type="button"
              className={row.lit ? "lit" : undefined}
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
        {view.open && view.search !== "" && view.found === 0 && <li className="none dim">None is called so.</li>}
      </ul>
      {view.open && (
        <Rest
          slots={view.slots - Math.max(view.rows.length, view.search !== "" && view.found === 0 ? 1 : 0)}
          shown={view.rows.length > 0 || view.search !== ""}
        />
      )}
    </>
  );
}

function labelOf(row: RowView): string {
  const parts = [
    `Column ${short(row.name)}`,
    row.type?.slice(0, 100) ?? "",
    row.sign === "+" ? "added" : row.sign === "−" ? "removed" : "",
    row.lit ? "on the path" : "",
  ];
  return parts.filter(Boolean).join(", ");
}

/** Room that stays free on the last page, so that no card moves when it is turned. */
function Rest({ slots, shown }: { slots: number; shown: boolean }) {
  return shown && slots > 0 ? <div style={{ height: slots * 24 }} /> : null;
}

function Tools({ view }: { view: CardView }) {
  const actions = useActions();
  const tab = view.active ? 0 : -1;
  const turn = (page: number) => actions.leaf(view.id, { page, search: view.search });
  const first = view.page * PAGE + 1;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: only keeps clicks and keys of what is within from the card
    // biome-ignore lint/a11y/useKeyWithClickEvents: as said
    <div className="tools" onClick={(event) => event.stopPropagation()}>
      <input
        type="search"
        className="nodrag"
        aria-label={`Search columns of ${short(view.card.endpoint.name)}`}
        placeholder={`Search ${amount(view.total)}`}
        value={view.search}
        maxLength={500}
        tabIndex={tab}
        onChange={(event) => actions.leaf(view.id, { page: 0, search: event.target.value })}
      />
      <span className="dim" title={`${first} to ${Math.min(first + PAGE - 1, view.found)} of ${view.found}`}>
        {amount(view.page + 1)}/{amount(Math.max(view.pages, 1))}
      </span>
      <button
        type="button"
        className="quiet"
        tabIndex={tab}
        aria-label="Columns before"
        disabled={view.page === 0}
        onClick={() => turn(view.page - 1)}
      >
        <Icon name="left" size={12} />
      </button>
      <button
        type="button"
        className="quiet"
        tabIndex={tab}
        aria-label="Columns after"
        disabled={view.page >= view.pages - 1}
        onClick={() => turn(view.page + 1)}
      >
        <Icon name="right" size={12} />
      </button>
    </div>
  );
}
