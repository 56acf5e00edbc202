import { describe, expect, it } from "vitest";
import { arranged, type Estate, seats } from "./arrange";

function estate(namespaces: number, each: number, edges: number): Estate {
  const datasets = Array.from({ length: namespaces * each }, (_, index) => ({
    namespace: index % namespaces,
    name: `d${index}`,
    kind: "table",
    state: null,
  }));
  return {
    namespaces: Array.from({ length: namespaces }, (_, index) => `n${index}`),
    datasets,
    edges: Array.from({ length: edges }, (_, index) => [
      (index * 7919) % datasets.length,
      (index * 104729 + 13) % datasets.length,
    ]),
  };
}

describe("the map", () => {
  it("gives every dataset a seat of its own", () => {
    const spots = seats(estate(12, 40, 0));
    expect(spots).toHaveLength(480);
    expect(new Set(spots.map((spot) => `${spot.x} ${spot.y}`)).size).toBe(480);
  });

  it("keeps a namespace together: its members are nearer to their centre than to any other", () => {
    const told = estate(5, 60, 0);
    const spots = seats(told);
    const centres = told.namespaces.map((_, namespace) => {
      const own = spots.filter((_, index) => told.datasets[index]?.namespace === namespace);
      return {
        x: own.reduce((sum, spot) => sum + spot.x, 0) / own.length,
        y: own.reduce((sum, spot) => sum + spot.y, 0) / own.length,
      };
    });
    const near = spots.filter((spot, index) => {
      const far = centres.map((centre) => Math.hypot(centre.x - spot.x, centre.y - spot.y));
      return far.indexOf(Math.min(...far)) === told.datasets[index]?.namespace;
    });
    expect(near.length / spots.length).toBeGreaterThan(0.95);
  });

  it("is the same every time, and finite, with loops and repeated edges too", () => {
    const told = estate(4, 50, 400);
    told.edges.push([3, 3], [1, 2], [1, 2], [2, 1]);
    const spots = arranged(told, 10);
    expect(spots).toEqual(arranged(told, 10));
    expect(spots.every((spot) => Number.isFinite(spot.x) && Number.isFinite(spot.y))).toBe(true);
  });

  it("has nothing to arrange in an empty estate", () => {
    expect(arranged({ namespaces: [], datasets: [], edges: [] })).toEqual([]);
  });
});
