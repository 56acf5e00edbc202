/** Moves the last drawing of a slow map while the camera moves, and redraws it when the camera rests. */

import type Sigma from "sigma";

const REST = 250; // milliseconds without a move
const MOUSE = "mouse"; // the layer for mouse events, which shows nothing

/** Whether WebGL is only emulated here, as where there is no graphics card: then a frame takes a tenth of a second. */
export function isEmulated(): boolean {
  const gl = document.createElement("canvas").getContext("webgl");
  if (!gl) return false;
  const info = gl.getExtension("WEBGL_debug_renderer_info");
  const name = String(gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  gl.getExtension("WEBGL_lose_context")?.loseContext(); // browsers limit their number
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}

export function deferRedraw(sigma: Sigma): void {
  const camera = sigma.getCamera();
  const draw = sigma.scheduleRender.bind(sigma);
  let drawn = camera.getState();
  let rest: ReturnType<typeof setTimeout> | undefined;
  const layers = Object.entries(sigma.getCanvases()).flatMap(([name, canvas]) => (name === MOUSE ? [] : [canvas]));
  const put = (transform: string) => {
    for (const layer of layers) layer.style.transform = transform;
  };
  for (const layer of layers) layer.style.transformOrigin = "0 0";
  sigma.on("afterRender", () => {
    clearTimeout(rest);
    drawn = camera.getState();
    put("");
  });
  sigma.on("kill", () => clearTimeout(rest));
  sigma.scheduleRender = () => {
    const now = camera.getState();
    if (now.x === drawn.x && now.y === drawn.y && now.ratio === drawn.ratio && now.angle === drawn.angle) return draw();
    const [from, to] = [drawn, now].map((cameraState) => ({
      zero: sigma.framedGraphToViewport({ x: 0, y: 0 }, { cameraState }),
      one: sigma.framedGraphToViewport({ x: 1, y: 0 }, { cameraState }),
    })) as [Corners, Corners];
    put(transformBetween(from, to));
    clearTimeout(rest);
    rest = setTimeout(draw, REST);
    return sigma;
  };
}

interface Corners {
  zero: { x: number; y: number };
  one: { x: number; y: number };
}

/** What takes two places from where they were drawn to where they are now; the map is not turned. */
export function transformBetween(from: Corners, to: Corners): string {
  const scale = (to.one.x - to.zero.x) / (from.one.x - from.zero.x);
  return `translate(${to.zero.x - from.zero.x * scale}px, ${to.zero.y - from.zero.y * scale}px) scale(${scale})`;
}
