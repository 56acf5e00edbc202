/** elk in a worker from a file: the content policy forbids workers from blobs. */

import ELK, { type ElkNode } from "elkjs/lib/elk-api.js";
import workerUrl from "elkjs/lib/elk-worker.min.js?url";

// Begun when this room is loaded, while the first answer is still under way.
const elk = new ELK({ workerUrl, workerFactory: (url) => new Worker(url ?? workerUrl) });

export function layOut(graph: ElkNode): Promise<ElkNode> {
  return elk.layout(graph);
}
