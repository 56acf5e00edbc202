import { createContext, useContext } from "react";
import type { Leaf } from "../graph/card";
import type { Side } from "../graph/names";

/** What can be done to a card. One object for the life of the graph: cards are drawn anew only when they change. */
export interface Actions {
  select(key: string): void;
  turnColumns(key: string): void;
  grow(key: string, side: Side): void;
  shrink(key: string, side: Side): void;
  choose(key: string, column: string): void;
  /** The columns are about to be opened: what takes long is asked for already. */
  expected(key: string): void;
  leaf(key: string, leaf: Leaf): void;
  pressed(key: string, event: React.KeyboardEvent<HTMLElement>): void;
  focused(key: string): void;
  /** Whether the keyboard has just come to this card; true once. */
  takesFocus(key: string): boolean;
}

const Context = createContext<Actions | null>(null);
export const ActionsOf = Context.Provider;

export function useActions(): Actions {
  const actions = useContext(Context);
  if (!actions) throw new Error("A card is drawn outside the graph.");
  return actions;
}
