import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { ErrorMessage } from "../parts/QueryResult";
import { checkAnchor } from "../proof/anchor";
import type { ProofStep } from "../proof/steps";
import type { Verification } from "../proof/verify";
import { consistency } from "./proof-query";
import { StepLine } from "./StepLine";

const NONE: ProofStep = { name: "anchor", holds: null, findings: [] };

/** Against who runs this server, only what is kept elsewhere helps: the reader brings it. */
export function Anchor({
  number,
  title,
  meaning,
  proof,
}: {
  number: number;
  title: string;
  meaning: string;
  proof: Verification;
}) {
  const [pasted, setPasted] = useState("");
  const { bundle, checkpoint } = proof;
  const compare = useMutation({
    mutationFn: async (text: string) => {
      if (bundle === null || checkpoint === null) return NONE;
      return checkAnchor(text, bundle, checkpoint, consistency);
    },
  });
  const send = (event: FormEvent) => {
    event.preventDefault();
    compare.mutate(pasted);
  };
  return (
    <StepLine number={number} title={title} meaning={meaning} step={compare.data ?? NONE}>
      <form className="column" onSubmit={send}>
        <label className="field">
          A checkpoint stored outside this server, or a public key that you trust
          <textarea
            className="mono"
            rows={5}
            value={pasted}
            spellCheck={false}
            placeholder={"headwater.log/…\n1024\nCsUYapGGPo4d…\n\n— headwater.log/… Az3gPl…"}
            onChange={(event) => setPasted(event.target.value)}
          />
        </label>
        <div className="row">
          <button type="submit" disabled={pasted.trim() === "" || bundle === null || compare.isPending}>
            Compare
          </button>
        </div>
        {compare.error && <ErrorMessage error={compare.error} />}
      </form>
    </StepLine>
  );
}
