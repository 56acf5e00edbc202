import type { Node, NodeProps } from "@xyflow/react";
import { memo, useEffect, useRef } from "react";
import { ROW } from "../graph/card";
import { isJob } from "../graph/names";
import { displayName, hubJob, unpaired, VIA_JOB, VIA_JOB_REASON } from "../graph/via-job";
import { Icon } from "../parts/icons";
import { iconOf } from "../parts/kinds";
import { Name } from "../parts/Name";
import { Mark, State } from "../parts/State";
import { amount, counted } from "../parts/words";
import { useActions } from "./actions";
import { Columns } from "./Columns";
import type { CardView } from "./cardView";
import { More } from "./More";

export type CardNodeType = Node<CardView, "card">;

/** A dataset: what it is, how it is, and, opened, its columns. */
export const CardNode = memo(function CardNode({ data: view }: NodeProps<CardNodeType>) {
  const actions = useActions();
  const card = useRef<HTMLElement>(null);
  useEffect(() => {
    if (view.active && actions.takesFocus(view.id)) card.current?.focus({ preventScroll: true });
  }, [view.active, view.id, actions]);
  const { endpoint, kind } = view.card;
  const hub = hubJob(endpoint);
  const classes = [
    "node",
    hub && "via-job",
    view.selected && "selected",
    view.root && "root",
    view.lit === false && "unlit",
  ];
  return (
    <section
      ref={card}
      className={classes.filter(Boolean).join(" ")}
      aria-label={told(view)}
      aria-current={view.selected ? "true" : undefined}
      tabIndex={view.active ? 0 : -1}
      onKeyDown={(event) => actions.pressed(view.id, event)}
      onFocus={() => actions.focused(view.id)}
      onClick={() => actions.select(view.id)}
    >
      <More view={view} side="up" />
      <header>
        <Icon name={isJob(endpoint) ? "job" : iconOf(kind)} />
        <div className="titles">
          <Name of={displayName(endpoint)} />
          <span className="namespace" title={endpoint.namespace.slice(0, 2000)}>
            {endpoint.namespace.slice(0, 200)}
          </span>
        </div>
        {!isJob(endpoint) && view.card.columns + view.card.upstreams + view.card.downstreams > 0 && (
          <button
            type="button"
            className="quiet fold"
            tabIndex={view.active ? 0 : -1}
            aria-expanded={view.open}
            aria-label={`Columns of ${short(endpoint.name)}`}
            title={view.open ? "Close the columns" : "Open the columns"}
            onPointerEnter={() => actions.expected(view.id)}
            onClick={(event) => {
              event.stopPropagation();
              actions.turnColumns(view.id);
            }}
          >
            <Icon name={view.open ? "minus" : "topic"} />
          </button>
        )}
      </header>
      {(view.open || view.rows.length > 0) && <Columns view={view} />}
      {view.open && view.rows.length === 0 && view.slots > 0 && view.search === "" && (
        <div
          className="skeleton rows"
          style={{ height: view.slots * ROW }}
          role="status"
          aria-label="Loading columns"
        />
      )}
      {hub ? <HubFoot view={view} /> : <Foot view={view} />}
      <More view={view} side="down" />
    </section>
  );
});

/** Of a job between inputs and outputs: how many of both, and that nothing says which went where. */
function HubFoot({ view: { card } }: { view: CardView }) {
  return (
    <footer title={`${VIA_JOB}: ${VIA_JOB_REASON}`}>
      <Mark tone="dim" icon="unknown" word={unpaired(card)} />
    </footer>
  );
}

function Foot({ view: { card } }: { view: CardView }) {
  return (
    <footer>
      {card.latest_run && <State of={card.latest_run.state} />}
      {card.complete === false && <Mark tone="warn" icon="alert" word="not all captured" />}
      {card.rows !== null && <span className="dim">{counted(card.rows, "row")}</span>}
      {card.latest_run === null && card.rows === null && (
        <span className="dim">{card.columns > 0 ? counted(card.columns, "column") : "no schema told"}</span>
      )}
      {card.owner && (
        <span className="owner dim" title={`Owner: ${card.owner.slice(0, 500)}`}>
          {card.owner.slice(0, 100)}
        </span>
      )}
    </footer>
  );
}

/** The card in one breath, for those who hear it. */
function told({ card, selected }: CardView): string {
  const parts = [
    `${card.kind} ${short(displayName(card.endpoint))}`,
    `in ${short(card.endpoint.namespace)}`,
    card.latest_run ? `last run ${card.latest_run.state.toLowerCase()}` : "",
    card.complete === false ? "not all captured" : "",
    card.rows === null ? "" : `${amount(card.rows)} rows`,
    hubJob(card.endpoint) ? `${VIA_JOB}: ${VIA_JOB_REASON}` : counted(card.columns, "column"),
    `made of ${card.upstreams}`,
    `used by ${card.downstreams}`,
    selected ? "selected" : "",
  ];
  return parts.filter(Boolean).join(", ");
}

export function short(name: string): string {
  return name.length > 200 ? `${name.slice(0, 100)}…${name.slice(-90)}` : name;
}
