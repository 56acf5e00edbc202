/** Hand the reader a file. */
export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** One line of CSV. Text that a spreadsheet would take for a formula gets a leading apostrophe. */
export function csvLine(cells: (string | number | null)[]): string {
  const safe = cells.map((cell) => {
    const text = String(cell ?? "");
    const escaped = typeof cell === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\n\r]/.test(escaped) ? `"${escaped.replaceAll('"', '""')}"` : escaped;
  });
  return `${safe.join(",")}\r\n`;
}
