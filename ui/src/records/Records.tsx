import { useLocation, useSearchParams } from "wouter";
import { address } from "../app/places";
import { Found } from "./Found";
import { Root } from "./Root";
import { Search, type Wanted } from "./Search";
import "./records.css";

/** The record ledger: what was done to which records. A root's tree, or records that were looked for. */
export default function Records() {
  const [words] = useSearchParams();
  const [, go] = useLocation();
  const word = (name: string) => words.get(name) ?? "";
  const wanted: Wanted = { root: word("root"), node: word("node"), action: word("action"), location: word("location") };
  const isTree = wanted.root !== "" && wanted.node === "" && wanted.location === "";
  return (
    <div className="sheet records-view">
      <h1>Records</h1>
      <Search
        key={JSON.stringify([wanted.root, wanted.node, wanted.action, wanted.location])}
        wanted={wanted}
        look={(next) => go(address("/records", { ...next }))}
      />
      {isTree ? (
        <Root
          key={wanted.root}
          root={wanted.root}
          action={wanted.action}
          filter={(action) => go(address("/records", { root: wanted.root, action }))}
        />
      ) : (
        <Found wanted={wanted} />
      )}
    </div>
  );
}
