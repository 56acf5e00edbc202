import { Link } from "wouter";
import { to } from "../app/places";
import { nodeKey } from "../graph/names";
import { Explorer } from "./Explorer";
import "./explore.css";
import { useWhere } from "./where";

/** A dataset and what lies around it. */
export default function Explore() {
  const [where, move] = useWhere();
  if (where.root === null) {
    return (
      <div className="sheet">
        <h1>Which dataset?</h1>
        <p>
          Search for one above, or look for it on the <Link href={to.map()}>map</Link>.
        </p>
      </div>
    );
  }
  return <Explorer key={nodeKey(where.root)} root={where.root} where={where} move={move} />;
}
