import { expect, test } from "vitest";
import { rootOf } from "./root";

test.each([
  [null, ""],
  [{ content: "./" }, ""],
  [{ content: "/" }, ""],
  [{ content: "/lineage/" }, "/lineage"],
  [{ content: "/tools/lineage/" }, "/tools/lineage"],
])("the root of %j is %j", (meta, root) => {
  expect(rootOf(meta)).toBe(root);
});
