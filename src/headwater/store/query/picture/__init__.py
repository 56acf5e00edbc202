"""What the page draws: neighbourhoods and their cards, column edges between them, the map of everything, subgraphs."""
