import { Icon, type IconName } from "./icons";

export type Tone = "good" | "warn" | "bad" | "dim";

const STATES: Record<string, [Tone, IconName, string]> = {
  COMPLETE: ["good", "check", "complete"],
  FAIL: ["bad", "cross", "failed"],
  ABORT: ["warn", "stop", "aborted"],
  START: ["dim", "going", "started"],
  RUNNING: ["dim", "going", "running"],
  UNKNOWN: ["dim", "unknown", "unknown"],
};

/** A run's state: colour, icon and word. */
export function RunState({ of }: { of: string }) {
  const [tone, icon, word] = STATES[of] ?? ["dim", "unknown", of.toLowerCase()];
  return <Badge tone={tone} icon={icon} word={word} />;
}

export function Badge({ tone, icon, word }: { tone: Tone; icon: IconName; word: string }) {
  return (
    <span className={`state ${tone}`}>
      <Icon name={icon} />
      {word}
    </span>
  );
}
