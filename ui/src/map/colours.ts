/** A colour for each namespace, all of one lightness. The list of namespaces is the legend. */
const GOLDEN_DEGREES = 137.508;

export function namespaceColour(index: number): string {
  return hex((index * GOLDEN_DEGREES + 184) % 360, 0.42, 0.5);
}

/** WebGL wants hexadecimal digits. */
export function hex(hue: number, saturation: number, lightness: number): string {
  const chroma = saturation * Math.min(lightness, 1 - lightness);
  const part = (shift: number) => {
    const turn = (shift + hue / 30) % 12;
    const value = lightness - chroma * Math.max(-1, Math.min(turn - 3, 9 - turn, 1));
    return Math.round(value * 255)
      .toString(16)
      .padStart(2, "0");
  };
  return `#${part(0)}${part(8)}${part(4)}`;
}
