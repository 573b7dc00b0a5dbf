/** What a step spends time on. */
export const SEGMENT_KINDS = ['queued', 'running', 'waiting'] as const
export type SegmentKind = (typeof SEGMENT_KINDS)[number]

/** A part of a visit's time, in milliseconds from any fixed time; `to` is null while it lasts. */
export interface Segment {
  kind: SegmentKind
  from: number
  to: number | null
}

interface VisitTimes {
  start: number
  end: number | null
  /** Finished attempts; an attempt whose process died left no row. */
  attempts: readonly { start: number; end: number; asks?: boolean }[]
  /** Whether an attempt is running. */
  atWork: boolean
  /** When the next attempt is due after a failed one. */
  dueAt: number | null
  /** The time spent waiting for a person or until a set time. */
  wait: { start: number; end: number | null } | null
}

/**
 * Splits a visit's time: queued before and between attempts, running during them, waiting for a person or until a set
 * time.
 */
export function segmentsOf({ start, end, attempts, atWork, dueAt, wait }: VisitTimes): Segment[] {
  const spans: Segment[] = attempts.map((at) => ({ kind: 'running', from: at.start, to: at.end }))
  if (wait) spans.push({ kind: 'waiting', from: wait.start, to: wait.end })
  for (const [at, { end: from, asks }] of attempts.entries())
    if (asks) spans.push({ kind: 'waiting', from, to: attempts[at + 1]?.start ?? (atWork ? (dueAt ?? from) : end) })
  const last = attempts.at(-1)?.end ?? start
  // The time of a claim is not stored: count a first attempt from the visit's start, a later one from its due time.
  if (atWork && end === null) spans.push({ kind: 'running', from: Math.max(last, dueAt ?? last), to: null })
  if (spans.length === 0 && end !== null && wait === null) return [{ kind: 'running', from: start, to: end }]
  const segments: Segment[] = []
  let now: number | null = start
  for (const span of spans.sort((a, b) => a.from - b.from)) {
    if (now !== null && span.from > now) segments.push({ kind: 'queued', from: now, to: span.from })
    segments.push(span)
    now = span.to
  }
  if (now !== null && (end === null || end > now)) segments.push({ kind: 'queued', from: now, to: end })
  return segments
}
