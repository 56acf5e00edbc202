import { useLocation, useSearchParams } from "wouter";
import { address } from "../app/addresses";
import { RecordList } from "./RecordList";
import { Root } from "./Root";
import { type RecordFilter, Search } from "./Search";
import "./records.css";

/** The record ledger: what was done to which records. A root's tree, or records that were looked for. */
export default function Records() {
  const [searchParams] = useSearchParams();
  const [, go] = useLocation();
  const word = (name: string) => searchParams.get(name) ?? "";
  const wanted: RecordFilter = {
    root: word("root"),
    node: word("node"),
    action: word("action"),
    location: word("location"),
  };
  const isTree = wanted.root !== "" && wanted.node === "" && wanted.location === "";
  return (
    <div className="sheet records-view">
      <h1>Records</h1>
      <Search
        key={JSON.stringify([wanted.root, wanted.node, wanted.action, wanted.location])}
        wanted={wanted}
        search={(next) => go(address("/records", { ...next }))}
      />
      {isTree ? (
        <Root
          key={wanted.root}
          root={wanted.root}
          action={wanted.action}
          filter={(action) => go(address("/records", { root: wanted.root, action }))}
        />
      ) : (
        <RecordList wanted={wanted} />
      )}
    </div>
  );
}
