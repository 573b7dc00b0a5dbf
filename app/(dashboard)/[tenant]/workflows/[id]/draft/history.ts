/** An earlier state, and the label of the change that followed it. */
interface Entry<T> {
  state: T
  label: string
}

/** Undo and redo as an immutable value. */
export interface History<T> {
  past: readonly Entry<T>[]
  present: T
  future: readonly Entry<T>[]
  /** The target of the newest entry and when it last changed: a quick change of the same target joins that entry. */
  burst: { target: string; at: number } | null
}

export const MAX_ENTRIES = 200
/** Changes of one target this close together become one entry. */
export const BURST_MS = 500

export function createHistory<T>(state: T): History<T> {
  return { past: [], present: state, future: [], burst: null }
}

/**
 * Adds an undo entry.
 * @param change.label the change, such as "delete call_mail"
 * @param change.target the field being typed into, so that a burst of keystrokes becomes one entry
 * @param change.at the time in milliseconds
 */
export function record<T>(
  history: History<T>,
  state: T,
  change: { label: string; target?: string | undefined; at: number },
): History<T> {
  if (state === history.present) return history
  const { past, present, burst } = history
  const merges =
    change.target !== undefined &&
    past.length > 0 &&
    history.future.length === 0 &&
    burst?.target === change.target &&
    change.at - burst.at <= BURST_MS
  return {
    past: merges ? past : [...past, { state: present, label: change.label }].slice(-MAX_ENTRIES),
    present: state,
    future: [],
    burst: change.target === undefined ? null : { target: change.target, at: change.at },
  }
}

/** Replaces the present state without an undo entry. */
export function replacePresent<T>(history: History<T>, state: T): History<T> {
  return { ...history, present: state, burst: null }
}

export function undo<T>(history: History<T>): History<T> {
  const last = history.past.at(-1)
  if (!last) return history
  return {
    past: history.past.slice(0, -1),
    present: last.state,
    future: [{ state: history.present, label: last.label }, ...history.future],
    burst: null,
  }
}

export function redo<T>(history: History<T>): History<T> {
  const [next, ...rest] = history.future
  if (!next) return history
  return {
    past: [...history.past, { state: history.present, label: next.label }],
    present: next.state,
    future: rest,
    burst: null,
  }
}

/** The change that undo would revert, or null. */
export function undoLabel(history: History<unknown>): string | null {
  return history.past.at(-1)?.label ?? null
}

export function redoLabel(history: History<unknown>): string | null {
  return history.future[0]?.label ?? null
}
