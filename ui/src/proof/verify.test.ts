import canonicalize from "canonicalize";
import { describe, expect, it } from "vitest";
import example from "../../../docs/proof-example.json";
import { checkAnchor } from "./anchor";
import { type Bundle, readBundle } from "./bundle";
import { type Bytes, hex, utf8 } from "./bytes";
import { certificateHash, entryHash } from "./hashes";
import { type Checkpoint, isSigned, readKey, readNote } from "./note";
import { verifyBundle } from "./verify";

const CONTENT = utf8(canonicalize(example.bundle) as string);
const NO_PATH = async () => "not asked for";

function changed(change: (bundle: typeof example.bundle) => void): Bytes {
  const copy = structuredClone(example.bundle);
  change(copy);
  return utf8(canonicalize(copy) as string);
}

async function failing(content: Bytes): Promise<string[]> {
  const { steps, holds } = await verifyBundle(content);
  expect(holds).toBe(false);
  return steps.filter((step) => step.holds === false).map((step) => step.name);
}

describe("the example of docs/proof-format.md", () => {
  const bundle = readBundle(CONTENT);

  it("verifies, and every step compares something", async () => {
    const verification = await verifyBundle(CONTENT, {
      keys: [example.bundle.log.key],
      certificates: example.values.certificates,
    });
    expect(verification.steps.flatMap((step) => step.findings.filter((finding) => finding.holds !== true))).toEqual([]);
    expect(verification.steps.map((step) => [step.name, step.holds, step.findings.length > 2])).toEqual([
      ["hash", true, true],
      ["inclusion", true, true],
      ["checkpoint", true, true],
    ]);
    expect(verification.checkpoint).toMatchObject({ size: example.values.checkpoint.size });
    expect(hex(verification.checkpoint?.root as Bytes)).toBe(example.values.checkpoint.root);
  });

  it("has the intermediate values", async () => {
    const all = [bundle.entries, bundle.chain, bundle.keys, bundle.upstream.map((one) => one.certificate)].flat();
    for (const value of example.values.entries) {
      const original = all.find(({ entry }) => entry.seq === value.seq);
      expect(hex(await entryHash(original?.entry as Bundle["entries"][0]["entry"]))).toBe(value.hash);
    }
    const issued = bundle.entries.filter(({ entry }) => entry.event_type === "certificate.issued");
    const hashes = await Promise.all(issued.map(async ({ entry }) => hex(await certificateHash(entry))));
    expect(hashes).toEqual(Object.values(example.values.certificates));
  });

  it("is refused under a key that the server does not know", async () => {
    const { steps } = await verifyBundle(CONTENT, { keys: ["another"] });
    expect(steps.map((step) => step.holds)).toEqual([true, true, false]);
  });

  it("is refused if the shown certificate is another", async () => {
    const [id = ""] = Object.keys(example.values.certificates);
    const { steps } = await verifyBundle(CONTENT, { certificates: { [id]: "00".repeat(32) } });
    expect(steps.map((step) => step.holds)).toEqual([false, true, true]);
  });
});

describe("a changed file", () => {
  it("fails wherever a bit is flipped", async () => {
    for (let at = 0; at < CONTENT.length; at += 37) {
      const { steps, holds } = await verifyBundle(CONTENT.map((byte, place) => (place === at ? byte ^ 1 : byte)));
      const named = steps.some((step) => step.findings.some((finding) => finding.holds === false));
      expect({ at, holds, named }).toEqual({ at, holds: false, named: true });
    }
  }, 60_000);

  it("fails at the hash of an event", async () => {
    const content = changed((bundle) => {
      const event = bundle.events[0] as (typeof bundle.events)[0];
      event.body = btoa(atob(event.body).replace("START", "OTHER"));
    });
    expect(await failing(content)).toEqual(["hash"]);
  });

  it("fails at the inclusion of a changed certificate, and at the links to it", async () => {
    const content = changed((bundle) => {
      for (const { entry } of bundle.entries) entry.details = entry.details.replace('"holds":true', '"holds":false');
    });
    expect(await failing(content)).toEqual(["inclusion"]);
    const renamed = changed((bundle) => {
      for (const { entry } of bundle.entries) entry.details = entry.details.replace('"number":1', '"number":2');
    });
    expect(await failing(renamed)).toEqual(["hash", "inclusion"]);
  });

  it("fails at the inclusion of an entry whose path was changed", async () => {
    const content = changed((bundle) => bundle.entries[0]?.path.reverse());
    expect(await failing(content)).toEqual(["inclusion"]);
  });

  it("fails at the checkpoint with another signature or key", async () => {
    const other = changed((bundle) => {
      bundle.log.checkpoint = bundle.log.checkpoint.replace(/.{8}=\n$/, "AAAAAAA=\n");
    });
    expect(await failing(other)).toEqual(["checkpoint"]);
    const older = changed((bundle) => {
      bundle.log.keys.pop();
    });
    expect(await failing(older)).toEqual(["checkpoint"]);
  });

  it("fails without an event", async () => {
    expect(await failing(changed((bundle) => bundle.events.pop()))).toContain("hash");
  });

  it("is refused if it is not a bundle, or has additional members", async () => {
    for (const text of [
      "",
      "{}",
      "[]",
      "null",
      '{"format":"headwater-bundle/2"}',
      `${canonicalize(example.bundle)} `,
    ]) {
      expect(await failing(utf8(text))).toEqual(["hash"]);
    }
    expect(await failing(changed((bundle) => Object.assign(bundle, { more: 1 })))).toEqual(["hash"]);
  });
});

describe("a checkpoint of an anchor", () => {
  const bundle = readBundle(CONTENT);
  const signed: Checkpoint = { ...example.values.checkpoint, root: bytesOf(example.values.checkpoint.root) };

  it("is the same one", async () => {
    const step = await checkAnchor(`\n${bundle.checkpoint.replace(/\n/g, "\r\n")}\r\n`, bundle, signed, NO_PATH);
    expect(step.findings.filter((finding) => !finding.holds)).toEqual([]);
  });

  it("is an earlier state of the log", async () => {
    const key = bundle.keys.at(-1) as Bundle["keys"][0];
    const requested: number[] = [];
    const step = await checkAnchor(earlier(key.entry.details), bundle, signed, async (...sizes) => {
      requested.push(...sizes);
      return key.consistency;
    });
    expect(requested).toEqual([key.entry.seq - 1, signed.size]);
    expect(step.findings.map((finding) => [finding.what, finding.holds])).toContainEqual([
      "Consistency of the log",
      true,
    ]);
  });

  it("detects another log, or a truncated one", async () => {
    const other = bundle.checkpoint.replaceAll("headwater.log/", "headwater.log/f");
    expect((await checkAnchor(other, bundle, signed, NO_PATH)).holds).toBe(false);
    const longer = bundle.checkpoint.replace(/\n\d+\n/, "\n99\n");
    const step = await checkAnchor(longer, bundle, signed, async () => "The log has no 99 entries.");
    expect(step.findings.at(-1)).toMatchObject({ computed: "The log has no 99 entries.", holds: false });
    expect((await checkAnchor("five words\nand a line", bundle, signed, NO_PATH)).holds).toBe(false);
  });

  it("may be a key", async () => {
    expect((await checkAnchor(bundle.key, bundle, signed, NO_PATH)).holds).toBe(true);
    expect((await checkAnchor("name+00000000+AAAA", bundle, signed, NO_PATH)).holds).toBe(false);
  });
});

describe("a signed note", () => {
  it("is not signed by a key that no signature names", async () => {
    const note = readNote(example.bundle.log.checkpoint);
    const key = await readKey(example.bundle.log.key);
    expect(await isSigned(note, key)).toBe(true);
    expect(await isSigned(note, { ...key, id: "00000000" })).toBe(false);
  });

  it.each(["", "text", "text\n\n", "text\n\n— name AAAA\n", "a\tb\n\n— name AAAAAAAA\n", "text\n\n— n AAAAAAAA"])(
    "is none: %j",
    (text) => expect(() => readNote(text)).toThrow(),
  );
});

function bytesOf(text: string): Bytes {
  return Uint8Array.from({ length: 32 }, (_, at) => Number.parseInt(text.slice(2 * at, 2 * at + 2), 16));
}

/** The state that a key was put in force over, as a checkpoint: its three lines, under a signature of something else. */
function earlier(details: string): string {
  const { text } = readNote(JSON.parse(details).note);
  return `${text.split("\n").slice(1, 4).join("\n")}\n\n${example.bundle.log.checkpoint.split("\n\n")[1]}`;
}
