import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { run as runQuestion } from "../../api/questions";
import { to } from "../../app/places";
import { Answer, Empty } from "../../parts/Answer";
import { Copy } from "../../parts/Copy";
import { codeOf } from "./facets";

const MOST = 200_000;

/** What the run that wrote it last was told to do, as far as it told. */
export function Sql({ run }: { run: string | null }) {
  const detail = useQuery({ ...runQuestion(run ?? ""), enabled: run !== null });
  if (run === null) return <Empty>No run is known to have written it, so there is no SQL to show.</Empty>;
  return (
    <Answer of={detail}>
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
              <Empty>The run told no SQL.{place === null && " Nor does it say where its code lies."}</Empty>
            ) : (
              <>
                <Copy text={text} word={sql ? "Copy SQL" : "Copy code"} />
                <pre className="code">{text.slice(0, MOST)}</pre>
              </>
            )}
            {place !== null && (
              <p>
                Its code: <code className="long">{place.slice(0, 2000)}</code>
              </p>
            )}
          </div>
        );
      }}
    </Answer>
  );
}
