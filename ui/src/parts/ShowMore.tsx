interface PagedQuery {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage: () => unknown;
}

/** The next page of a list, where there is one. */
export function ShowMore({ of }: { of: PagedQuery }) {
  if (!of.hasNextPage) return null;
  return (
    <button type="button" onClick={() => of.fetchNextPage()} disabled={of.isFetchingNextPage}>
      Show more
    </button>
  );
}
