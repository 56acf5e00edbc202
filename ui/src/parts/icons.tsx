/** Few and plain; each is drawn in the colour of the text beside it and has no meaning without a word. */

const PATHS = {
  table: "M2 3h12v10H2zM2 6.5h12M6.5 6.5V13",
  file: "M4 1.5h5.5L13 5v9.5H4zM9.5 1.5V5H13",
  topic: "M2 4h12M2 8h12M2 12h12",
  view: "M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8zM8 6.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6z",
  job: "M3 3l5 5-5 5M9 13h4",
  memory: "M4 4h8v8H4zM6 1.5V4M10 1.5V4M6 12v2.5M10 12v2.5M1.5 6H4M1.5 10H4M12 6h2.5M12 10h2.5",
  unknown: "M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM6.2 6.2a1.8 1.8 0 1 1 2.6 1.6c-.6.3-.8.7-.8 1.4M8 11.6v.1",
  check: "M3 8.5l3.2 3.2L13 4.5",
  cross: "M4 4l8 8M12 4l-8 8",
  alert: "M8 2L1.5 13.5h13zM8 6.5v3.2M8 11.7v.1",
  going: "M8 2a6 6 0 1 0 6 6M8 4.5V8l2.5 1.5",
  stop: "M4 4h8v8H4z",
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.4 10.4L14 14",
  sun: "M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1M12 12l1 1M13 3l-1 1M4 12l-1 1",
  moon: "M13 9.5A5.5 5.5 0 0 1 6.5 3 5.5 5.5 0 1 0 13 9.5z",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  down: "M8 2v9M4.5 7.5L8 11l3.5-3.5M2.5 14h11",
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
  changed: "M2 6.5c2-3 4-3 6-1s4 2 6-1M2 11.5c2-3 4-3 6-1s4 2 6-1",
  left: "M10 3L5 8l5 5",
  right: "M6 3l5 5-5 5",
  key: "M10.5 2a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM8 8l-6 6M4 12l2 2",
  lock: "M3.5 7h9v7h-9zM5.5 7V5a2.5 2.5 0 0 1 5 0v2",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 14 }: { name: IconName; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
