import { useQueryClient } from "@tanstack/react-query";
import { type Dispatch, type RefObject, type SetStateAction, useMemo, useRef } from "react";
import { isArrow, nextCard } from "../graph/arrows";
import type { Leaf } from "../graph/card";
import type { Places } from "../graph/layout";
import { endpointOf, isJob, nodeKey, SIDES, type Side } from "../graph/names";
import { grow, shrink, turnColumns } from "../graph/shape";
import type { Shown } from "../graph/shown";
import type { Actions } from "./actions";
import { schemaOf } from "./questions";
import type { Move, Where } from "./where";

interface Now {
  move: (move: Move, replace?: boolean) => void;
  where: Where;
  shown: Shown;
  places: Places;
  neighbours: (key: string, side: Side) => readonly string[];
  activeKey: string | null;
  setActive: (key: string) => void;
  setLeaves: Dispatch<SetStateAction<ReadonlyMap<string, Leaf>>>;
  /** The card last acted on: the layout leaves it in its place. */
  acted: RefObject<string | null>;
}

/** One object that always acts on what is shown now. */
export function useCardActions(given: Now): Actions {
  const queries = useQueryClient();
  const now = useRef(given);
  now.current = given;
  const focusOn = useRef<string | null>(null);
  return useMemo(() => {
    const act = (key: string) => {
      now.current.acted.current = key;
      return now.current;
    };
    const actions: Actions = {
      select(key) {
        const { where, move, setActive } = act(key);
        setActive(key);
        const endpoint = endpointOf(key);
        if (endpoint && (!where.on || nodeKey(where.on) !== key)) {
          move({ on: endpoint, partition: null });
        }
      },
      turnColumns(key) {
        const { where, move, setActive } = act(key);
        setActive(key);
        move({ shape: turnColumns(where.shape, key) });
      },
      grow(key, side) {
        const { where, move, shown } = act(key);
        move({ shape: grow(where.shape, key, side, shown.nodes.get(key)?.most[side] ?? 0) });
      },
      shrink(key, side) {
        const { where, move } = act(key);
        move({ shape: shrink(where.shape, key, side) });
      },
      choose(key, column) {
        const { where, move, setActive } = act(key);
        setActive(key);
        const endpoint = endpointOf(key);
        const again = where.of !== null && nodeKey(where.of) === key && where.column === column;
        if (again) move({ column: null, of: null });
        else if (endpoint) move({ on: endpoint, of: endpoint, column, partition: null, tab: "column" });
      },
      expected(key) {
        const endpoint = endpointOf(key);
        if (endpoint && !isJob(endpoint)) queries.prefetchQuery(schemaOf(endpoint, now.current.where.at));
      },
      leaf(key, leaf) {
        now.current.setLeaves((leaves) => new Map(leaves).set(key, leaf));
      },
      focused(key) {
        if (now.current.activeKey !== key) now.current.setActive(key);
      },
      takesFocus(key) {
        if (focusOn.current !== key) return false;
        focusOn.current = null;
        return true;
      },
      pressed(key, event) {
        const within = event.target !== event.currentTarget;
        if (event.key === "Escape") {
          if (within) event.currentTarget.focus();
          else release(now.current, event.currentTarget);
        } else if (within) return;
        else if (isArrow(event.key)) {
          const next = nextCard(key, event.key, now.current.places, now.current.neighbours);
          if (next !== null) {
            focusOn.current = next;
            now.current.setActive(next);
          }
        } else if (event.key === "Enter") actions.turnColumns(key);
        else if (event.key === " ") actions.select(key);
        else if (event.key === "+" || event.key === "=") both(act(key), key, "more");
        else if (event.key === "-" || event.key === "−") both(act(key), key, "less");
        else return;
        event.preventDefault();
        event.stopPropagation();
      },
    };
    return actions;
  }, [queries]);
}

/** One thing at a time, what was done last first: the lit column, the comparison, then the graph itself. */
function release({ where, move }: Now, card: HTMLElement): void {
  if (where.column !== null) move({ column: null, of: null });
  else if (where.before !== null || where.after !== null) move({ before: null, after: null });
  else card.blur();
}

function both({ where, move, shown }: Now, key: string, way: "more" | "less"): void {
  const node = shown.nodes.get(key);
  if (!node) return;
  let shape = where.shape;
  for (const side of SIDES) {
    if (way === "more" && node.more[side] > 0) shape = grow(shape, key, side, node.most[side]);
    if (way === "less" && node.less[side]) shape = shrink(shape, key, side);
  }
  if (shape !== where.shape) move({ shape });
}
