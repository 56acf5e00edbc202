import { describe, expect, it } from "vitest";
import { type Bytes, hex, sha256, unhex } from "./bytes";
import { isConsistent, leafHash, nodeHash, rootByInclusion, split } from "./merkle";

// The vectors that the implementations of RFC 6962 share: eight leaves, and the root over the first n of them.
const LEAVES = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"];
const ROOTS = [
  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
  "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
  "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
  "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
  "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
  "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
  "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
  "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
];
const MOST = 32;

/** The tree as the RFC defines it, root and proofs by recursion: another way than the one that is tested. */
async function root(leaves: Bytes[]): Promise<Bytes> {
  if (leaves.length === 0) return sha256(new Uint8Array());
  if (leaves.length === 1) return leaves[0] as Bytes;
  const middle = split(leaves.length);
  return nodeHash(await root(leaves.slice(0, middle)), await root(leaves.slice(middle)));
}

async function path(index: number, leaves: Bytes[]): Promise<Bytes[]> {
  if (leaves.length <= 1) return [];
  const middle = split(leaves.length);
  const [left, right] = [leaves.slice(0, middle), leaves.slice(middle)];
  if (index < middle) return [...(await path(index, left)), await root(right)];
  return [...(await path(index - middle, right)), await root(left)];
}

async function proof(before: number, leaves: Bytes[], whole = true): Promise<Bytes[]> {
  if (before === leaves.length) return whole ? [] : [await root(leaves)];
  const middle = split(leaves.length);
  const [left, right] = [leaves.slice(0, middle), leaves.slice(middle)];
  if (before <= middle) return [...(await proof(before, left, whole)), await root(right)];
  return [...(await proof(before - middle, right, false)), await root(left)];
}

function flipped(hash: Bytes): Bytes {
  return hash.map((byte, at) => (at === 5 ? byte ^ 1 : byte));
}

async function numbered(count: number): Promise<Bytes[]> {
  return Promise.all(Array.from({ length: count }, (_, at) => leafHash(Uint8Array.of(at))));
}

describe("the tree of RFC 6962", () => {
  it("has the known roots", async () => {
    const leaves = await Promise.all(LEAVES.map((leaf) => leafHash(unhex(leaf) as Bytes)));
    for (const [size, wanted] of ROOTS.entries()) expect(hex(await root(leaves.slice(0, size)))).toBe(wanted);
  });

  it("proves every leaf of every size, and no other position", async () => {
    const leaves = await numbered(MOST);
    for (let size = 1; size <= MOST; size++) {
      const tree = leaves.slice(0, size);
      const top = hex(await root(tree));
      for (let index = 0; index < size; index++) {
        const steps = await path(index, tree);
        const leaf = tree[index] as Bytes;
        expect(hex((await rootByInclusion(leaf, index, size, steps)) as Bytes)).toBe(top);
        const beside = await rootByInclusion(leaf, (index + 1) % size, size, steps);
        if (size > 1) expect(beside === null ? null : hex(beside)).not.toBe(top);
        expect(await rootByInclusion(leaf, index, size, [...steps, leaf])).toBeNull();
      }
      expect(await rootByInclusion(leaves[0] as Bytes, size, size, [])).toBeNull();
    }
  }, 60_000);

  it("proves every extension, and from no other root", async () => {
    const leaves = await numbered(MOST);
    const tops = await Promise.all(Array.from({ length: MOST + 1 }, (_, size) => root(leaves.slice(0, size))));
    for (let after = 1; after <= MOST; after++) {
      const now = tops[after] as Bytes;
      expect(await isConsistent(0, after, tops[0] as Bytes, now, [])).toBe(true);
      for (let before = 1; before <= after; before++) {
        const then = tops[before] as Bytes;
        const steps = await proof(before, leaves.slice(0, after));
        expect(await isConsistent(before, after, then, now, steps)).toBe(true);
        expect(await isConsistent(before, after, flipped(then), now, steps)).toBe(false);
        expect(await isConsistent(before, after, then, flipped(now), steps)).toBe(false);
        expect(await isConsistent(before, after, then, now, [...steps, then])).toBe(false);
        if (steps[0])
          expect(await isConsistent(before, after, then, now, [flipped(steps[0]), ...steps.slice(1)])).toBe(false);
      }
    }
    expect(await isConsistent(2, 1, tops[2] as Bytes, tops[1] as Bytes, [])).toBe(false);
  }, 60_000);
});
