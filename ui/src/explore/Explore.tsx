import { Link } from "wouter";
import { to } from "../app/addresses";
import { nodeKey } from "../graph/names";
import { Explorer } from "./Explorer";
import "./explore.css";
import { useViewState } from "./view-state";

/** The explorer: a dataset and its neighbourhood. */
export default function Explore() {
  const [where, move] = useViewState();
  if (where.root === null) {
    return (
      <div className="sheet">
        <h1>Choose a dataset</h1>
        <p>
          Search for a dataset above, or open the <Link href={to.map()}>map</Link>.
        </p>
      </div>
    );
  }
  return <Explorer key={nodeKey(where.root)} root={where.root} where={where} move={move} />;
}
