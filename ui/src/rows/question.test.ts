import { expect, it } from "vitest";
import { address } from "../app/addresses";
import { questionParams, readQuestion } from "./question";

const read = (query: string) => readQuestion(new URLSearchParams(query));

it("reads what it writes", () => {
  const question = read(
    "namespace=file&name=/w/a&ask=why-not&condition=a+%3D+'b%26c'&source=raw&source_namespace=file&depth=2&task=t&open=0~0.1",
  );
  expect(question).toMatchObject({ ask: "why-not", condition: "a = 'b&c'", depth: 2, open: ["0", "0.1"] });
  if (question === null) throw new Error();
  const query = address("", { ...question.dataset, ...questionParams(question) }).slice(1);
  expect(read(query)).toEqual(question);
});

it("refuses invalid JSON", () => {
  expect(read("namespace=file")).toBeNull();
  expect(read("name=a&ask=what&depth=-3&open=x~1")).toMatchObject({ ask: null, depth: null, open: ["1"] });
});
