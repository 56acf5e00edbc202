import type { ReactNode } from "react";
import { Copy } from "../parts/Copy";
import { countOf, exactTime } from "../parts/format";
import { RelativeTime } from "../parts/RelativeTime";
import type { Forest, RecordNode } from "./forest";
import { RecordBadges } from "./TreeLine";

const MOST = 20;

/** One record, whole. */
export function RecordDetail({
  node,
  isRoot,
  forest,
  show,
}: {
  node: RecordNode | undefined;
  isRoot: boolean;
  forest: Forest;
  show: (id: string) => void;
}) {
  if (node === undefined) return null;
  const { step } = node;
  return (
    <aside className="card column detail" aria-label="The record">
      <h2 className="mono">{truncate(node.id)}</h2>
      <div className="row wrap">
        <RecordBadges node={node} isRoot={isRoot} />
        <Copy text={node.id} word="Copy id" />
      </div>
      {step === null && (
        <p className="dim">
          {isRoot
            ? "The root of all these records."
            : "Other records name this one as their parent, but it was never recorded."}
        </p>
      )}
      <dl>
        {step && (
          <>
            <Fact of="Action">{truncate(step.action)}</Fact>
            <Fact of="Recorded">
              <RelativeTime at={step.at} />
              {step.at && <div className="dim">{exactTime(step.at)}</div>}
            </Fact>
            <Fact of="Stored at">
              <span className="mono">{truncate(step.location) || "–"}</span>
              {step.location && <Copy text={step.location} word="Copy location" />}
            </Fact>
            <Fact of="Parents">
              <RecordLinks ids={step.parents.filter((parent) => parent !== node.id)} forest={forest} show={show} />
            </Fact>
          </>
        )}
        <Fact of="Children">
          <RecordLinks ids={node.children.map((child) => child.id)} forest={forest} show={show} />
        </Fact>
        {node.finished && (
          <Fact of="Final step">
            {node.finished.action}
            <div className="mono dim">{truncate(node.finished.location)}</div>
          </Fact>
        )}
        {node.conflicts.length > 0 && (
          <Fact of="Conflicting records">
            <ul className="plain column">
              {node.conflicts.map((other) => (
                <li key={JSON.stringify([other.action, other.location, other.at, other.parents])}>
                  {truncate(other.action)}, parents {truncate(other.parents.join(", "))}, <RelativeTime at={other.at} />
                  <div className="mono dim">{truncate(other.location)}</div>
                </li>
              ))}
            </ul>
            <p className="dim">The record that was loaded first counts.</p>
          </Fact>
        )}
      </dl>
    </aside>
  );
}

function Fact({ of, children }: { of: string; children: ReactNode }) {
  return (
    <div>
      <dt>{of}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function RecordLinks({ ids, forest, show }: { ids: string[]; forest: Forest; show: (id: string) => void }) {
  if (ids.length === 0) return <span className="dim">none</span>;
  return (
    <ul className="plain">
      {ids.slice(0, MOST).map((id) => (
        <li key={id}>
          {forest.nodes.has(id) ? (
            <button type="button" className="quiet mono" onClick={() => show(id)}>
              {truncate(id, 80)}
            </button>
          ) : (
            <span className="mono">{truncate(id, 80)}</span>
          )}
        </li>
      ))}
      {ids.length > MOST && <li className="dim">and {countOf(ids.length - MOST, "more", "more")}</li>}
    </ul>
  );
}

function truncate(text: string, most = 2000): string {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}
