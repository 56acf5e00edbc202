/** Hand the reader a file. */
export function save(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** One line of CSV. What a spreadsheet would take for a formula is given to it as text. */
export function csvLine(cells: (string | number | null)[]): string {
  const safe = cells.map((cell) => {
    const text = String(cell ?? "");
    const told = typeof cell === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\n\r]/.test(told) ? `"${told.replaceAll('"', '""')}"` : told;
  });
  return `${safe.join(",")}\r\n`;
}
