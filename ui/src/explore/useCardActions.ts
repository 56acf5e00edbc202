import { useQueryClient } from "@tanstack/react-query";
import { type Dispatch, type RefObject, type SetStateAction, useMemo, useRef } from "react";
import { isArrow, nextCard } from "../graph/arrows";
import type { ColumnPage } from "../graph/card";
import { collapse, expand, toggleColumns } from "../graph/expansion";
import type { Places } from "../graph/layout";
import { endpointOf, isJob, nodeKey, SIDES, type Side } from "../graph/names";
import type { VisibleGraph } from "../graph/visible-graph";
import type { CardActions } from "./card-actions";
import { schemaOf } from "./queries";
import type { ViewChange, ViewState } from "./view-state";

interface ActionState {
  move: (move: ViewChange, replace?: boolean) => void;
  where: ViewState;
  shown: VisibleGraph;
  places: Places;
  neighbours: (key: string, side: Side) => readonly string[];
  activeKey: string | null;
  setActive: (key: string) => void;
  setLeaves: Dispatch<SetStateAction<ReadonlyMap<string, ColumnPage>>>;
  /** The card last acted on: the layout leaves it in its place. */
  anchorKey: RefObject<string | null>;
}

/** One object that always acts on what is shown now. */
export function useCardActions(state: ActionState): CardActions {
  const queries = useQueryClient();
  const now = useRef(state);
  now.current = state;
  const focusOn = useRef<string | null>(null);
  return useMemo(() => {
    const act = (key: string) => {
      now.current.anchorKey.current = key;
      return now.current;
    };
    const actions: CardActions = {
      select(key) {
        const { where, move, setActive } = act(key);
        setActive(key);
        const endpoint = endpointOf(key);
        if (endpoint && (!where.on || nodeKey(where.on) !== key)) {
          move({ on: endpoint, partition: null });
        }
      },
      toggleColumns(key) {
        const { where, move, setActive } = act(key);
        setActive(key);
        move({ shape: toggleColumns(where.shape, key) });
      },
      grow(key, side) {
        const { where, move, shown } = act(key);
        move({ shape: expand(where.shape, key, side, shown.nodes.get(key)?.most[side] ?? 0) });
      },
      shrink(key, side) {
        const { where, move } = act(key);
        move({ shape: collapse(where.shape, key, side) });
      },
      choose(key, column) {
        const { where, move, setActive } = act(key);
        setActive(key);
        const endpoint = endpointOf(key);
        const again = where.of !== null && nodeKey(where.of) === key && where.column === column;
        if (again) move({ column: null, of: null });
        else if (endpoint) move({ on: endpoint, of: endpoint, column, partition: null, tab: "column" });
      },
      prefetchColumns(key) {
        const endpoint = endpointOf(key);
        if (endpoint && !isJob(endpoint)) queries.prefetchQuery(schemaOf(endpoint, now.current.where.at));
      },
      setColumnPage(key, leaf) {
        now.current.setLeaves((leaves) => new Map(leaves).set(key, leaf));
      },
      onFocus(key) {
        if (now.current.activeKey !== key) now.current.setActive(key);
      },
      takesFocus(key) {
        if (focusOn.current !== key) return false;
        focusOn.current = null;
        return true;
      },
      onKeyDown(key, event) {
        const within = event.target !== event.currentTarget;
        if (event.key === "Escape") {
          if (within) event.currentTarget.focus();
          else clearOne(now.current, event.currentTarget);
        } else if (within) return;
        else if (isArrow(event.key)) {
          const next = nextCard(key, event.key, now.current.places, now.current.neighbours);
          if (next !== null) {
            focusOn.current = next;
            now.current.setActive(next);
          }
        } else if (event.key === "Enter") actions.toggleColumns(key);
        else if (event.key === " ") actions.select(key);
        else if (event.key === "+" || event.key === "=") changeBothSides(act(key), key, "more");
        else if (event.key === "-" || event.key === "−") changeBothSides(act(key), key, "less");
        else return;
        event.preventDefault();
        event.stopPropagation();
      },
    };
    return actions;
  }, [queries]);
}

/** Escape clears one selection at a time: the column, then the comparison, then the focus. */
function clearOne({ where, move }: ActionState, card: HTMLElement): void {
  if (where.column !== null) move({ column: null, of: null });
  else if (where.before !== null || where.after !== null) move({ before: null, after: null });
  else card.blur();
}

function changeBothSides({ where, move, shown }: ActionState, key: string, way: "more" | "less"): void {
  const node = shown.nodes.get(key);
  if (!node) return;
  let shape = where.shape;
  for (const side of SIDES) {
    if (way === "more" && node.more[side] > 0) shape = expand(shape, key, side, node.most[side]);
    if (way === "less" && node.less[side]) shape = collapse(shape, key, side);
  }
  if (shape !== where.shape) move({ shape });
}
