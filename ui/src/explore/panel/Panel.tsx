import { useQuery } from "@tanstack/react-query";
import { type KeyboardEvent, type ReactNode, useId } from "react";
import { Link } from "wouter";
import { dataset } from "../../api/queries";
import { to } from "../../app/addresses";
import type { GraphEdge } from "../../graph/graph-data";
import { type Endpoint, isJob, nodeKey } from "../../graph/names";
import type { VisibleNode } from "../../graph/visible-graph";
import { Copy } from "../../parts/Copy";
import { Icon } from "../../parts/icons";
import { iconOf } from "../../parts/kinds";
import { Name } from "../../parts/Name";
import { QueryResult } from "../../parts/QueryResult";
import type { ExplorerProps } from "../Explorer";
import { ColumnTab } from "./ColumnTab";
import { ImpactTab } from "./ImpactTab";
import { JobPanel } from "./JobPanel";
import { Overview } from "./Overview";
import { Quality } from "./Quality";
import { RunsTab } from "./RunsTab";
import { Sql } from "./Sql";

export interface PanelProps extends ExplorerProps {
  show: (of: Endpoint) => void;
  shown: ReadonlyMap<string, VisibleNode>;
  edges: readonly GraphEdge[];
}

const TABS: [name: string, word: string][] = [
  ["overview", "Overview"],
  ["runs", "Runs"],
  ["sql", "SQL"],
  ["quality", "Quality"],
  ["impact", "Impact"],
];

/** All about the card that is chosen. */
export function Panel(props: PanelProps) {
  const { where, root } = props;
  const about = where.on ?? root;
  return (
    <aside className="panel" aria-label={`About the selected ${isJob(about) ? "job" : "dataset"}`}>
      {isJob(about) ? (
        <JobPanel job={about} node={props.shown.get(nodeKey(about))} />
      ) : (
        <DatasetPanel {...props} about={about} />
      )}
    </aside>
  );
}

function DatasetPanel({ about, ...props }: PanelProps & { about: Endpoint }) {
  const { where, move, root, shown } = props;
  const detail = useQuery(dataset(about));
  const kind = detail.data?.summary.kind ?? shown.get(nodeKey(about))?.card.kind;
  const tabs: typeof TABS = where.column === null ? TABS : [["column", "Column"], ...TABS];
  const first = where.column === null ? "overview" : "column";
  const tab = tabs.find(([name]) => name === where.tab)?.[0] ?? first;
  return (
    <>
      <header>
        <div className="row">
          <Icon name={iconOf(kind)} size={18} />
          <h1 className="grow">
            <Name of={about.name} />
          </h1>
        </div>
        <div className="row apart namespace">
          <span className="dim grow">
            <Name of={about.namespace} />
          </span>
          <Copy text={about.name} word="Copy name" />
        </div>
        <div className="row wrap">
          <Link className="button first" href={to.rows(about)}>
            Trace rows
          </Link>
          {nodeKey(about) !== nodeKey(root) && (
            <button type="button" onClick={() => move({ root: about })}>
              Explore from here
            </button>
          )}
        </div>
      </header>
      <Tabs tabs={tabs} tab={tab} choose={(name) => move({ tab: name === first ? null : name }, true)}>
        {tab === "column" && <ColumnTab {...props} />}
        {tab === "overview" && (
          <QueryResult of={detail} lines={8}>
            {(data) => <Overview {...props} about={about} detail={data} />}
          </QueryResult>
        )}
        {tab === "runs" && <RunsTab {...props} about={about} versions={detail.data?.versions ?? []} />}
        {tab === "sql" && <Sql run={shown.get(nodeKey(about))?.card.latest_run?.run_id ?? null} />}
        {tab === "quality" && (
          <QueryResult of={detail}>
            {(data) => <Quality detail={data} run={shown.get(nodeKey(about))?.card.latest_run?.run_id ?? null} />}
          </QueryResult>
        )}
        {tab === "impact" && <ImpactTab {...props} about={about} />}
      </Tabs>
    </>
  );
}

interface TabsProps {
  tabs: typeof TABS;
  tab: string;
  choose: (name: string) => void;
  children: ReactNode;
}

function Tabs({ tabs, tab, choose, children }: TabsProps) {
  const id = useId();
  const pressed = (event: KeyboardEvent<HTMLElement>) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const place = tabs.findIndex(([name]) => name === tab) + step;
    const next = tabs[(place + tabs.length) % tabs.length];
    if (!next) return;
    choose(next[0]);
    document.getElementById(`${id}-${next[0]}`)?.focus();
  };
  return (
    <>
      <div className="tabs" role="tablist" aria-label="Details" onKeyDown={pressed}>
        {tabs.map(([name, word]) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-${name}`}
            aria-selected={name === tab}
            aria-controls={`${id}-body`}
            tabIndex={name === tab ? 0 : -1}
            onClick={() => choose(name)}
          >
            {word}
          </button>
        ))}
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and so must be reached */}
      <div className="body" role="tabpanel" id={`${id}-body`} aria-labelledby={`${id}-${tab}`} tabIndex={0}>
        {children}
      </div>
    </>
  );
}
