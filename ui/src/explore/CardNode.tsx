import type { Node, NodeProps } from "@xyflow/react";
import { memo, useEffect, useRef } from "react";
import { ROW } from "../graph/card";
import { isJob } from "../graph/names";
import { displayName, hubJob, unpaired, VIA_JOB, VIA_JOB_REASON } from "../graph/via-job";
import { Badge, RunState } from "../parts/Badge";
import { countOf, formatNumber } from "../parts/format";
import { Icon } from "../parts/icons";
import { iconOf } from "../parts/kinds";
import { Name } from "../parts/Name";
import { Columns } from "./Columns";
import { useCardActionsContext } from "./card-actions";
import type { CardView } from "./card-view";
import { NeighbourButtons } from "./NeighbourButtons";

export type CardNodeType = Node<CardView, "card">;

/** A dataset: what it is, how it is, and, opened, its columns. */
export const CardNode = memo(function CardNode({ data: view }: NodeProps<CardNodeType>) {
  const actions = useCardActionsContext();
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
    view.lit === false && "off-path",
  ];
  return (
    <section
      ref={card}
      className={classes.filter(Boolean).join(" ")}
      aria-label={cardLabel(view)}
      aria-current={view.selected ? "true" : undefined}
      tabIndex={view.active ? 0 : -1}
      onKeyDown={(event) => actions.onKeyDown(view.id, event)}
      onFocus={() => actions.onFocus(view.id)}
      onClick={() => actions.select(view.id)}
    >
      <NeighbourButtons view={view} side="up" />
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
            aria-label={`Columns of ${shortName(endpoint.name)}`}
            title={view.open ? "Hide columns" : "Show columns"}
            onPointerEnter={() => actions.prefetchColumns(view.id)}
            onClick={(event) => {
              event.stopPropagation();
              actions.toggleColumns(view.id);
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
      {hub ? <HubFooter view={view} /> : <CardFooter view={view} />}
      <NeighbourButtons view={view} side="down" />
    </section>
  );
});

/** Of a job between inputs and outputs: how many of both, and that nothing says which went where. */
function HubFooter({ view: { card } }: { view: CardView }) {
  return (
    <footer title={`${VIA_JOB}: ${VIA_JOB_REASON}`}>
      <Badge tone="dim" icon="unknown" word={unpaired(card)} />
    </footer>
  );
}

function CardFooter({ view: { card } }: { view: CardView }) {
  return (
    <footer>
      {card.latest_run && <RunState of={card.latest_run.state} />}
      {card.complete === false && <Badge tone="warn" icon="alert" word="lineage incomplete" />}
      {card.rows !== null && <span className="dim">{countOf(card.rows, "row")}</span>}
      {card.latest_run === null && card.rows === null && (
        <span className="dim">{card.columns > 0 ? countOf(card.columns, "column") : "no schema"}</span>
      )}
      {card.owner && (
        <span className="owner dim" title={`Owner: ${card.owner.slice(0, 500)}`}>
          {card.owner.slice(0, 100)}
        </span>
      )}
    </footer>
  );
}

/** Label of the card for screen readers. */
function cardLabel({ card, selected }: CardView): string {
  const parts = [
    `${card.kind} ${shortName(displayName(card.endpoint))}`,
    `in ${shortName(card.endpoint.namespace)}`,
    card.latest_run ? `last run ${card.latest_run.state.toLowerCase()}` : "",
    card.complete === false ? "lineage incomplete" : "",
    card.rows === null ? "" : `${formatNumber(card.rows)} rows`,
    hubJob(card.endpoint) ? `${VIA_JOB}: ${VIA_JOB_REASON}` : countOf(card.columns, "column"),
    `${card.upstreams} upstream`,
    `${card.downstreams} downstream`,
    selected ? "selected" : "",
  ];
  return parts.filter(Boolean).join(", ");
}

export function shortName(name: string): string {
  return name.length > 200 ? `${name.slice(0, 100)}…${name.slice(-90)}` : name;
}
