/** Answers of a real server over the demo's data, its rows cut to a few: for tests. */

import type { Schemas } from "../api/client";
import fixture from "./answers.fixture.json";
import type { ColumnLink } from "./columns";
import type { WhyNotAnswer } from "./why";

export const traced = fixture.traced as Schemas["TracedRows"];
export const tracedBySpark = fixture.tracedBySpark as unknown as Schemas["TracedRows"];
export const forward = fixture.forward as unknown as Schemas["ForwardRows"];
export const stoppedByFilter = fixture.stoppedByFilter as WhyNotAnswer;
export const stoppedByJoin = fixture.stoppedByJoin as unknown as WhyNotAnswer;
export const reached = fixture.reached as WhyNotAnswer;
/** Of the dataset `emissions`, on both its sides. */
export const links = fixture.links as ColumnLink[];

const of = (name: string) => ({ namespace: "file", name: `/warehouse/${name}` });
export const activity = of("raw/activity");
export const factors = of("raw/factors");
export const emissions = of("emissions");
export const daily = of("daily_emissions");
