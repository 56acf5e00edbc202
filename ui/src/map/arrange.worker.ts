import { arranged, type Estate } from "./arrange";

self.onmessage = (event: MessageEvent<Estate>) => self.postMessage(arranged(event.data));
