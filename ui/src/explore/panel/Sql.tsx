import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { run as runQuestion } from "../../api/queries";
import { to } from "../../app/addresses";
import { Copy } from "../../parts/Copy";
import { Empty, QueryResult } from "../../parts/QueryResult";
import { codeOf } from "./facets";

const MOST = 200_000;

/** SQL or source code of the run that wrote the dataset last. */
export function Sql({ run }: { run: string | null }) {
  const detail = useQuery({ ...runQuestion(run ?? ""), enabled: run !== null });
  if (run === null) return <Empty>No recorded run wrote this dataset, so there is no SQL to show.</Empty>;
  return (
    <QueryResult of={detail}>
      {(data) => {
        const { sql, dialect, source, language, place } = codeOf(data.job_facets);
        const text = sql ?? source;
        return (
          <div className="column">
            <p>
              By <Link href={to.run(run)}>{data.run.job.name.slice(0, 200)}</Link>
              {(sql ? dialect : language) && <span className="dim"> · {(sql ? dialect : language)?.slice(0, 60)}</span>}
            </p>
            {text === null ? (
              <Empty>The run reports no SQL{place === null && " and no location of its code"}.</Empty>
            ) : (
              <>
                <Copy text={text} word={sql ? "Copy SQL" : "Copy code"} />
                <pre className="code">{text.slice(0, MOST)}</pre>
              </>
            )}
            {place !== null && (
              <p>
                Source: <code className="long">{place.slice(0, 2000)}</code>
              </p>
            )}
          </div>
        );
      }}
    </QueryResult>
  );
}
