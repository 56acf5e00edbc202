import { useQuery } from "@tanstack/react-query";
import { type Branch, treeOf } from "../../graph/lit";
import { type Endpoint, isJob, nodeKey } from "../../graph/names";
import { VIA_JOB } from "../../graph/via-job";
import { Answer, Empty } from "../../parts/Answer";
import { Icon } from "../../parts/icons";
import { Name } from "../../parts/Name";
import { counted } from "../../parts/words";
import type { Room } from "../Explorer";
import { closure, type Reached } from "../questions";
import { ViaJobNote } from "./JobPanel";

interface Props extends Room {
  show: (of: Endpoint) => void;
}

/** The chosen column: what it comes from and goes into, each step with its logic. */
export function ColumnTab({ where, move, root, show }: Props) {
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
          <div className="dim">
            of <Name of={of.name} />
          </div>
        </div>
        <button type="button" onClick={() => move({ column: null, of: null, tab: null })}>
          Let go
        </button>
      </div>
      <Half way="upstream" of={of} column={column} at={where.at} choose={choose} />
      <Half way="downstream" of={of} column={column} at={where.at} choose={choose} />
    </div>
  );
}

interface HalfProps {
  way: "upstream" | "downstream";
  of: Endpoint;
  column: string;
  at: string | null;
  choose: (branch: Branch) => void;
}

function Half({ way, of, column, at, choose }: HalfProps) {
  const found = useQuery(closure(of, column, way, at));
  const title = way === "upstream" ? "Comes from" : "Goes into";
  return (
    <section aria-label={title}>
      <h2>
        {title}
        {found.data && <span className="dim"> {told(found.data)}</span>}
      </h2>
      <Answer of={found} lines={3}>
        {({ nodes }) =>
          nodes.length === 0 ? (
            <Empty>
              {way === "upstream" ? "Nothing that is known: it begins here." : "Nothing that is known: it ends here."}
            </Empty>
          ) : (
            <>
              <Tree branches={treeOf(of, column, nodes)} way={way} choose={choose} depth={0} />
              {nodes.some((node) => node.via.via_job) && <ViaJobNote />}
            </>
          )
        }
      </Answer>
    </section>
  );
}

function told({ nodes, truncated }: Reached): string {
  const columns = nodes.filter((node) => node.part !== null).length;
  const datasets = new Set(nodes.map((node) => nodeKey(node.endpoint))).size;
  return `${counted(columns, "column")} in ${counted(datasets, "dataset")}${truncated ? ", and more" : ""}`;
}

const DEEPEST = 30;
const WIDEST = 200;

interface TreeProps {
  branches: Branch[];
  way: HalfProps["way"];
  choose: (branch: Branch) => void;
  depth: number;
}

function Tree({ branches, way, choose, depth }: TreeProps) {
  if (depth > DEEPEST) return <div className="dim">and further</div>;
  return (
    <ul className="plain tree">
      {branches.slice(0, WIDEST).map((branch) => (
        <li key={JSON.stringify(branch.ref)}>
          <Leaf branch={branch} way={way} choose={choose} />
          {branch.children.length > 0 && (
            <Tree branches={branch.children} way={way} choose={choose} depth={depth + 1} />
          )}
        </li>
      ))}
      {branches.length > WIDEST && <li className="dim">and {branches.length - WIDEST} more</li>}
    </ul>
  );
}

function Leaf({ branch, way, choose }: { branch: Branch; way: HalfProps["way"]; choose: (branch: Branch) => void }) {
  const { via } = branch.step;
  const name = branch.endpoint.name;
  return (
    <>
      <button
        type="button"
        className="quiet leaf"
        title={`${branch.endpoint.namespace} ${name}`.slice(0, 500)}
        onClick={() => choose(branch)}
      >
        <Icon name={way === "upstream" ? "left" : "right"} size={10} />
        <Name of={branch.ref.column ?? "all of it"} />
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
