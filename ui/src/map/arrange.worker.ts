import { arrange, type MapData } from "./arrange";

self.onmessage = (event: MessageEvent<MapData>) => self.postMessage(arrange(event.data));
