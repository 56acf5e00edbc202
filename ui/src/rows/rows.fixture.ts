/** Answers of a real server over the demo's data, its rows cut to a few: for tests. */

import type { Schemas } from "../api/client";
import told from "./answers.fixture.json";
import type { Link } from "./columns";
import type { WhyNotAnswer } from "./why";

export const traced = told.traced as Schemas["TracedRows"];
export const tracedBySpark = told.tracedBySpark as unknown as Schemas["TracedRows"];
export const forward = told.forward as unknown as Schemas["ForwardRows"];
export const stoppedByFilter = told.stoppedByFilter as WhyNotAnswer;
export const stoppedByJoin = told.stoppedByJoin as unknown as WhyNotAnswer;
export const reached = told.reached as WhyNotAnswer;
/** Of the dataset `emissions`, on both its sides. */
export const links = told.links as Link[];

const of = (name: string) => ({ namespace: "file", name: `/warehouse/${name}` });
export const activity = of("raw/activity");
export const factors = of("raw/factors");
export const emissions = of("emissions");
export const daily = of("daily_emissions");
