import { memo } from "react";
import { Badge } from "../parts/Badge";
import { formatNumber } from "../parts/format";
import { Icon } from "../parts/icons";
import { Name } from "../parts/Name";
import { RelativeTime } from "../parts/RelativeTime";
import type { MoreRow, RecordNode, TreeRow } from "./forest";

const DEEPEST = 24; // levels that are still indented: deeper ones say their depth

interface TreeLineProps {
  line: TreeRow | MoreRow;
  node: RecordNode | undefined;
  isRoot: boolean;
  active: boolean;
  chosen: boolean;
  emphasised: string;
  activate: (key: string) => void;
  choose: (id: string) => void;
  toggle: (id: string) => void;
  more: (id: string) => void;
}

export const TreeLine = memo(function TreeLine(shown: TreeLineProps) {
  const { line, node, active, chosen, activate } = shown;
  const common = {
    "aria-level": line.level,
    "data-active": active || undefined,
    onFocus: () => activate(line.key),
    style: { paddingLeft: 8 + 18 * (Math.min(line.level, DEEPEST) - 1) },
  };
  if ("left" in line) {
    return (
      // The tree takes the keys for all its items.
      // biome-ignore lint/a11y/useKeyWithClickEvents: see above
      <div
        role="treeitem"
        aria-selected={false}
        className="item more"
        tabIndex={active ? 0 : -1}
        {...common}
        onClick={() => shown.more(line.under)}
      >
        <Icon name="plus" size={12} />
        Show more: {formatNumber(line.left)} left
      </div>
    );
  }
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree takes the keys for all its items
    <div
      role="treeitem"
      className="item"
      aria-selected={chosen}
      aria-expanded={line.opens ? line.isOpen : undefined}
      aria-posinset={line.place}
      aria-setsize={line.of}
      data-mentioned={line.mentioned || undefined}
      data-emphasised={(shown.emphasised !== "" && node?.step?.action === shown.emphasised) || undefined}
      tabIndex={active ? 0 : -1}
      {...common}
      onClick={() => shown.choose(line.id)}
    >
      {/* For the mouse; the arrow keys do the same. */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: see above */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: see above */}
      <span
        className="caret"
        data-open={line.isOpen || undefined}
        onClick={(event) => {
          if (!line.opens) return;
          event.stopPropagation();
          shown.toggle(line.id);
        }}
      >
        {line.opens && <Icon name="right" size={12} />}
      </span>
      {line.level > DEEPEST && <span className="dim">level {line.level}</span>}
      <span className="record-name">
        <Name of={line.id} />
      </span>
      {line.mentioned ? (
        <span className="dim">{node?.onCycle ? "repeats: part of a cycle" : "has another parent; shown there"}</span>
      ) : (
        <>
          {node?.step && <span className="tag action">{node.step.action}</span>}
          <RecordBadges node={node} isRoot={shown.isRoot} />
          {node?.step && (
            <span className="about dim">
              <RelativeTime at={node.step.at} />
              <Name of={node.step.location} />
            </span>
          )}
        </>
      )}
    </div>
  );
});

/** What is not as it should be, by icon and word. */
export function RecordBadges({ node, isRoot }: { node: RecordNode | undefined; isRoot: boolean }) {
  if (node === undefined) return null;
  return (
    <>
      {node.step === null && isRoot && <span className="dim">root</span>}
      {node.step === null && !isRoot && <Badge tone="bad" icon="unknown" word="not recorded" />}
      {node.onCycle && <Badge tone="bad" icon="going" word="in a cycle" />}
      {node.conflicts.length > 0 && <Badge tone="warn" icon="alert" word="conflict" />}
      {node.end === "open" && <Badge tone="warn" icon="stop" word="no final step" />}
    </>
  );
}
