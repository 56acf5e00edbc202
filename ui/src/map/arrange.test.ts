import { describe, expect, it } from "vitest";
import { arrange, initialPositions, type MapData } from "./arrange";

function makeMap(namespaces: number, datasetsEach: number, edges: number): MapData {
  const datasets = Array.from({ length: namespaces * datasetsEach }, (_, index) => ({
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
  it("gives every dataset its own position", () => {
    const positions = initialPositions(makeMap(12, 40, 0));
    expect(positions).toHaveLength(480);
    expect(new Set(positions.map((spot) => `${spot.x} ${spot.y}`)).size).toBe(480);
  });

  it("keeps a namespace together: its members are nearer to their centre than to any other", () => {
    const mapData = makeMap(5, 60, 0);
    const positions = initialPositions(mapData);
    const centres = mapData.namespaces.map((_, namespace) => {
      const own = positions.filter((_, index) => mapData.datasets[index]?.namespace === namespace);
      return {
        x: own.reduce((sum, spot) => sum + spot.x, 0) / own.length,
        y: own.reduce((sum, spot) => sum + spot.y, 0) / own.length,
      };
    });
    const near = positions.filter((spot, index) => {
      const far = centres.map((centre) => Math.hypot(centre.x - spot.x, centre.y - spot.y));
      return far.indexOf(Math.min(...far)) === mapData.datasets[index]?.namespace;
    });
    expect(near.length / positions.length).toBeGreaterThan(0.95);
  });

  it("is the same every time, and finite, with loops and repeated edges too", () => {
    const mapData = makeMap(4, 50, 400);
    mapData.edges.push([3, 3], [1, 2], [1, 2], [2, 1]);
    const positions = arrange(mapData, 10);
    expect(positions).toEqual(arrange(mapData, 10));
    expect(positions.every((spot) => Number.isFinite(spot.x) && Number.isFinite(spot.y))).toBe(true);
  });

  it("is empty without datasets", () => {
    expect(arrange({ namespaces: [], datasets: [], edges: [] })).toEqual([]);
  });
});
