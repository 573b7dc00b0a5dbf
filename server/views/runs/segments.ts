/** What a step did with its time. */
export const SEGMENT_KINDS = ['queued', 'running', 'waiting'] as const
export type SegmentKind = (typeof SEGMENT_KINDS)[number]

/** A stretch of a visit's time, in milliseconds since any fixed moment; open while it lasts. */
export interface Segment {
  kind: SegmentKind
  from: number
  to: number | null
}

interface VisitTimes {
  start: number
  end: number | null
  /** Attempts that came to an end; one whose process died left no row. */
  attempts: readonly { start: number; end: number }[]
  /** An attempt is under way. */
  atWork: boolean
  /** When the next attempt is due, after one that failed. */
  dueAt: number | null
  /** Since when, and until when, somebody or a moment was waited for. */
  wait: { start: number; end: number | null } | null
}

/**
 * The visit's time cut into what it was spent on: queued until an attempt began and between attempts, running in
 * them, waiting for a person or a moment.
 */
export function segmentsOf({ start, end, attempts, atWork, dueAt, wait }: VisitTimes): Segment[] {
  const spans: Segment[] = attempts.map((at) => ({ kind: 'running', from: at.start, to: at.end }))
  if (wait) spans.push({ kind: 'waiting', from: wait.start, to: wait.end })
  const last = attempts.at(-1)?.end ?? start
  // The moment of a claim is not kept: a first attempt counts from the visit's start, a later one from when it was due.
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
