import { createContext, useContext } from "react";
import type { ColumnPage } from "../graph/card";
import type { Side } from "../graph/names";

/** Actions of a card. One object for the life of the graph, so that cards render again only when they change. */
export interface CardActions {
  select(key: string): void;
  toggleColumns(key: string): void;
  grow(key: string, side: Side): void;
  shrink(key: string, side: Side): void;
  choose(key: string, column: string): void;
  /** Loads the columns ahead of time, when the reader is about to open them. */
  prefetchColumns(key: string): void;
  setColumnPage(key: string, setColumnPage: ColumnPage): void;
  onKeyDown(key: string, event: React.KeyboardEvent<HTMLElement>): void;
  onFocus(key: string): void;
  /** Whether this card should take the keyboard focus; true once. */
  takesFocus(key: string): boolean;
}

const Context = createContext<CardActions | null>(null);
export const CardActionsProvider = Context.Provider;

export function useCardActionsContext(): CardActions {
  const actions = useContext(Context);
  if (!actions) throw new Error("A card is drawn outside the graph.");
  return actions;
}
