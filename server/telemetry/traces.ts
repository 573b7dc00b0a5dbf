import { processWide } from '@/db/process-wide'

/** Ids, names of types and counts. Never texts from callers, steps or models. */
export type Attributes = Readonly<Record<string, string | number>>

export interface SpanStart {
  name: string
  kind?: 'server' | 'client' | 'producer'
  attributes: Attributes
  /** The `traceparent` to continue; null for a trace of its own. By default, the span of the work around it. */
  parent?: string | null
  /** The `traceparent` of the cause, in another trace. */
  link?: string | null
}

/** Creates spans; see `open-tracer.ts`. */
export interface Tracer {
  span<T>(start: SpanStart, work: (note: (attributes: Attributes) => void) => Promise<T>): Promise<T>
  /** The `traceparent` of the span around the caller; null without one. */
  current(): string | null
  /** Runs work whose spans all have these attributes. */
  marked<T>(attributes: Attributes, work: () => T): T
  /** Runs work outside any span, including the one that began it. */
  apart<T>(work: () => T): T
  /** Sends the spans that have ended. */
  flush(): Promise<void>
  /** Sends the remaining spans. */
  stop(): Promise<void>
}

const bound = () => processWide<{ tracer: Tracer | null }>('traces', () => ({ tracer: null }))

export function bindTracer(tracer: Tracer | null): void {
  bound().tracer = tracer
}

/** Runs work as a span, if tracing is on. Otherwise it costs one look at a variable. */
export function traced<T>(
  start: () => SpanStart,
  work: (note: (attributes: Attributes) => void) => Promise<T>,
): Promise<T> {
  const { tracer } = bound()
  return tracer ? tracer.span(start(), work) : work(ignore)
}

/** The `traceparent` to store with something that continues later; null without traces. */
export function traceparent(): string | null {
  return bound().tracer?.current() ?? null
}

/** Runs work whose spans all have these attributes. */
export function marked<T>(attributes: Attributes, work: () => T): T {
  const { tracer } = bound()
  return tracer ? tracer.marked(attributes, work) : work()
}

/** Runs work outside any request, although one may have begun it. */
export function apart<T>(work: () => T): T {
  const { tracer } = bound()
  return tracer ? tracer.apart(work) : work()
}

/** Sends ended spans, before a process sleeps that may never wake. */
export async function flushTraces(): Promise<void> {
  await bound().tracer?.flush()
}

function ignore(): void {}
