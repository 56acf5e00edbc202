import { useQuery } from "@tanstack/react-query";
import { type Branch, treeOf } from "../../graph/column-path";
import { type Endpoint, isJob, nodeKey } from "../../graph/names";
import { VIA_JOB } from "../../graph/via-job";
import { countOf } from "../../parts/format";
import { Icon } from "../../parts/icons";
import { Name } from "../../parts/Name";
import { Empty, QueryResult } from "../../parts/QueryResult";
import type { ExplorerProps } from "../Explorer";
import { type ClosureNodes, closure } from "../queries";
import { ViaJobNote } from "./JobPanel";

interface ColumnTabProps extends ExplorerProps {
  show: (of: Endpoint) => void;
}

/** The chosen column: what it comes from and goes into, each step with its logic. */
export function ColumnTab({ where, move, root, show }: ColumnTabProps) {
  const of = where.of ?? root;
  const column = where.column ?? "";
  const choose = (branch: Branch) => {
    if (branch.ref.column === null || isJob(branch.endpoint)) show(branch.endpoint);
    else move({ on: branch.endpoint, of: branch.endpoint, column: branch.ref.column, partition: null });
  };
  return (
    <div className="column">
      <div className="row">
        <div className="grow answer">
          <Name of={column} />
          <div className="dim row">
            of <Name of={of.name} />
          </div>
        </div>
        <button type="button" onClick={() => move({ column: null, of: null, tab: null })}>
          Clear selection
        </button>
      </div>
      <ClosureSection way="upstream" of={of} column={column} at={where.at} choose={choose} />
      <ClosureSection way="downstream" of={of} column={column} at={where.at} choose={choose} />
    </div>
  );
}

interface ClosureSectionProps {
  way: "upstream" | "downstream";
  of: Endpoint;
  column: string;
  at: string | null;
  choose: (branch: Branch) => void;
}

function ClosureSection({ way, of, column, at, choose }: ClosureSectionProps) {
  const nodesQuery = useQuery(closure(of, column, way, at));
  const title = way === "upstream" ? "Comes from" : "Goes into";
  return (
    <section aria-label={title}>
      <h2>
        {title}
        {nodesQuery.data && <span className="dim"> {closureSummary(nodesQuery.data)}</span>}
      </h2>
      <QueryResult of={nodesQuery} lines={3}>
        {({ nodes }) =>
          nodes.length === 0 ? (
            <Empty>
              {way === "upstream"
                ? "No upstream columns: this is the first source."
                : "No downstream columns: nothing reads this column."}
            </Empty>
          ) : (
            <>
              <BranchTree branches={treeOf(of, column, nodes)} way={way} choose={choose} depth={0} />
              {nodes.some((node) => node.via.via_job) && <ViaJobNote />}
            </>
          )
        }
      </QueryResult>
    </section>
  );
}

function closureSummary({ nodes, truncated }: ClosureNodes): string {
  const columns = nodes.filter((node) => node.part !== null).length;
  const datasets = new Set(nodes.map((node) => nodeKey(node.endpoint))).size;
  return `${countOf(columns, "column")} in ${countOf(datasets, "dataset")}${truncated ? ", and more" : ""}`;
}

const DEEPEST = 30;
const WIDEST = 200;

interface BranchTreeProps {
  branches: Branch[];
  way: ClosureSectionProps["way"];
  choose: (branch: Branch) => void;
  depth: number;
}

function BranchTree({ branches, way, choose, depth }: BranchTreeProps) {
  if (depth > DEEPEST) return <div className="dim">more levels, not shown</div>;
  return (
    <ul className="plain tree">
      {branches.slice(0, WIDEST).map((branch) => (
        <li key={JSON.stringify(branch.ref)}>
          <BranchLine branch={branch} way={way} choose={choose} />
          {branch.children.length > 0 && (
            <BranchTree branches={branch.children} way={way} choose={choose} depth={depth + 1} />
          )}
        </li>
      ))}
      {branches.length > WIDEST && <li className="dim">and {branches.length - WIDEST} more</li>}
    </ul>
  );
}

function BranchLine({
  branch,
  way,
  choose,
}: {
  branch: Branch;
  way: ClosureSectionProps["way"];
  choose: (branch: Branch) => void;
}) {
  const { via } = branch.step;
  const name = branch.endpoint.name;
  return (
    <>
      <button
        type="button"
        className="quiet branch-line"
        title={`${branch.endpoint.namespace} ${name}`.slice(0, 500)}
        onClick={() => choose(branch)}
      >
        <Icon name={way === "upstream" ? "left" : "right"} size={10} />
        <Name of={branch.ref.column ?? "all columns"} />
        <span className="dim cut">{(name.slice(name.lastIndexOf("/") + 1) || name).slice(0, 100)}</span>
      </button>
      <div className="logic">
        <span className={via.dependency === "DIRECT" ? "tag direct" : "tag indirect"}>
          {(via.dependency ?? "unknown").toLowerCase()}
        </span>
        {via.transformation && (
          <span className="dim">{via.transformation.toLowerCase().replaceAll("_", " ").slice(0, 60)}</span>
        )}
        {via.logic && <code>{via.logic.slice(0, 2000)}</code>}
        {via.masking && <span className="tag">masked</span>}
        {via.via_job && <span className="tag via-job">{VIA_JOB}</span>}
        {via.job && <span className="dim">by {via.job.name.slice(0, 100)}</span>}
      </div>
    </>
  );
}
