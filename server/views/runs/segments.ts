/** What a step spends time on. */
export const SEGMENT_KINDS = ['queued', 'running', 'waiting'] as const
export type SegmentKind = (typeof SEGMENT_KINDS)[number]

/** A part of a visit's time, in milliseconds from any fixed time; `to` is null while it lasts. */
export interface Segment {
  kind: SegmentKind
  from: number
  to: number | null
}

interface Finished {
  start: number
  end: number
  part?: 'time' | 'asks'
}

interface VisitTimes {
  start: number
  end: number | null
  /** Finished attempts, and parts of them, after which the work continues or people are asked; one whose process died left no row. */
  attempts: readonly Finished[]
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
export function segmentsOf({ start, end, attempts: finished, atWork, dueAt, wait }: VisitTimes): Segment[] {
  const attempts = withoutBreaks(finished)
  const goesOn = atWork && end === null && finished.at(-1)?.part === 'time'
  const spans: Segment[] = attempts.map((at, index) => ({
    kind: 'running',
    from: at.start,
    to: goesOn && index === attempts.length - 1 ? null : at.end,
  }))
  if (wait) spans.push({ kind: 'waiting', from: wait.start, to: wait.end })
  for (const [at, { end: from, part }] of attempts.entries())
    if (part === 'asks')
      spans.push({ kind: 'waiting', from, to: attempts[at + 1]?.start ?? (atWork ? (dueAt ?? from) : end) })
  const last = attempts.at(-1)?.end ?? start
  // The time of a claim is not stored: count a first attempt from the visit's start, a later one from its due time.
  if (atWork && end === null && !goesOn) spans.push({ kind: 'running', from: Math.max(last, dueAt ?? last), to: null })
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

/** A part that ended because of its time, and the one after it, are one piece of work. */
function withoutBreaks(finished: readonly Finished[]): Finished[] {
  const whole: Finished[] = []
  for (const one of finished) {
    const before = whole.at(-1)
    if (before?.part === 'time') whole[whole.length - 1] = { ...one, start: before.start }
    else whole.push(one)
  }
  return whole
}
