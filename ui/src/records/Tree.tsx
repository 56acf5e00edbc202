import { type KeyboardEvent, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useSearchParams } from "wouter";
import { ancestorsOf, type Forest, initiallyOpen, PAGE, type TreeRow, treeRows } from "./forest";
import { RecordDetail } from "./RecordDetail";
import { TreeLine } from "./TreeLine";

/** The tree: opened and closed by mouse and by keyboard. What is closed is not drawn, so its size does not matter. */
export function Tree({ forest, action }: { forest: Forest; action: string }) {
  const [searchParams, setSearchParams] = useSearchParams();
  const requestedId = searchParams.get("at");
  const at = requestedId !== null && forest.nodes.has(requestedId) ? requestedId : forest.root;
  const [open, setOpen] = useState(() => new Set([...initiallyOpen(forest), ...ancestorsOf(forest, at)]));
  const [pages, setPages] = useState<ReadonlyMap<string, number>>(() => pagesTo(forest, at));
  const lines = useMemo(() => treeRows(forest, open, pages), [forest, open, pages]);
  const [focused, setFocused] = useState(at);
  const box = useRef<HTMLDivElement>(null);
  const leading = useRef(true);
  const activeKey = lines.some((line) => line.key === focused) ? focused : (lines[0]?.key ?? "");

  const choose = useCallback(
    (id: string) => {
      setSearchParams(
        (before) => {
          before.set("at", id);
          return before;
        },
        { replace: true },
      );
    },
    [setSearchParams],
  );
  const toggle = useCallback((id: string) => {
    setOpen((before) => {
      const next = new Set(before);
      if (!next.delete(id)) next.add(id);
      return next;
    });
  }, []);
  // Whoever is led to a record, by a link or by the back button, sees it: also one that is at home elsewhere.
  useEffect(() => {
    setOpen((before) => new Set([...before, ...ancestorsOf(forest, at)]));
    setPages((before) => new Map([...before, ...pagesTo(forest, at)]));
    setFocused(at);
    leading.current = true;
  }, [forest, at]);
  const more = useCallback((id: string) => {
    setPages((before) => new Map(before).set(id, (before.get(id) ?? PAGE) + PAGE));
  }, []);
  useEffect(() => {
    const chosen = leading.current && box.current?.querySelector('[aria-selected="true"]');
    if (chosen) {
      chosen.scrollIntoView({ block: "nearest" });
      leading.current = false;
    }
    if (box.current?.contains(document.activeElement)) {
      box.current.querySelector<HTMLElement>("[data-active]")?.focus({ preventScroll: false });
    }
  });

  const pressed = (event: KeyboardEvent) => {
    const place = lines.findIndex((line) => line.key === activeKey);
    const line = lines[place];
    if (line === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    const move = (to: number) => setFocused(lines[Math.min(Math.max(to, 0), lines.length - 1)]?.key ?? activeKey);
    if (event.key === "ArrowDown") move(place + 1);
    else if (event.key === "ArrowUp") move(place - 1);
    else if (event.key === "Home") move(0);
    else if (event.key === "End") move(lines.length - 1);
    else if ("left" in line) {
      if (event.key === "Enter" || event.key === " ") more(line.under);
      else if (event.key === "ArrowLeft") move(parentPlace(lines as TreeRow[], place));
      else return;
    } else if (event.key === "ArrowRight" && line.opens) line.isOpen ? move(place + 1) : toggle(line.id);
    else if (event.key === "ArrowLeft") line.isOpen ? toggle(line.id) : move(parentPlace(lines as TreeRow[], place));
    else if (event.key === "Enter" || event.key === " ") choose(line.id);
    else return;
    event.preventDefault();
  };
  return (
    <div className="records-split">
      <div ref={box} className="tree" role="tree" aria-label="Records of the root" onKeyDown={pressed}>
        {lines.map((line) => (
          <TreeLine
            key={line.key}
            line={line}
            node={"left" in line ? undefined : forest.nodes.get(line.id)}
            isRoot={!("left" in line) && line.id === forest.root}
            active={line.key === activeKey}
            chosen={!("left" in line) && !line.mentioned && line.id === at}
            emphasised={action}
            activate={setFocused}
            choose={choose}
            toggle={toggle}
            more={more}
          />
        ))}
      </div>
      <RecordDetail node={forest.nodes.get(at)} isRoot={at === forest.root} forest={forest} show={choose} />
    </div>
  );
}

function parentPlace(lines: readonly { level: number }[], place: number): number {
  const level = lines[place]?.level ?? 1;
  for (let at = place - 1; at >= 0; at -= 1) if ((lines[at]?.level ?? 0) < level) return at;
  return place;
}

/** So many children of each on the way that the next is among them. */
function pagesTo(forest: Forest, id: string): Map<string, number> {
  const pages = new Map<string, number>();
  const way = [id, ...ancestorsOf(forest, id)];
  for (let at = 1; at < way.length; at += 1) {
    const parent = way[at] ?? "";
    const place = forest.nodes.get(parent)?.children.findIndex((child) => child.id === way[at - 1]) ?? 0;
    if (place >= PAGE) pages.set(parent, Math.ceil((place + 1) / PAGE) * PAGE);
  }
  return pages;
}
