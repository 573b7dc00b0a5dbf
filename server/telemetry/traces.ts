import { processWide } from '@/db/process-wide'

/** Ids, names of types and counts. Never what callers, steps or models say. */
export type Attributes = Readonly<Record<string, string | number>>

export interface SpanStart {
  name: string
  kind?: 'server' | 'client' | 'producer'
  attributes: Attributes
  /** The `traceparent` to continue; null for a trace of its own. By default, the span of the work around it. */
  parent?: string | null
  /** The `traceparent` of what led to this, in another trace. */
  link?: string | null
}

/** What makes spans; see `open-tracer.ts`. */
export interface Tracer {
  span<T>(start: SpanStart, work: (note: (attributes: Attributes) => void) => Promise<T>): Promise<T>
  /** The `traceparent` of the span around the caller; null if there is none. */
  current(): string | null
  /** Does work that belongs to no span, whoever began it. */
  apart<T>(work: () => T): T
  /** Sends what has ended by now. */
  flush(): Promise<void>
  /** Sends what is left. */
  stop(): Promise<void>
}

const bound = () => processWide<{ tracer: Tracer | null }>('traces', () => ({ tracer: null }))

export function bindTracer(tracer: Tracer | null): void {
  bound().tracer = tracer
}

/** Does work as a span, if the service has traces. Without them it costs one look at a variable. */
export function traced<T>(
  start: () => SpanStart,
  work: (note: (attributes: Attributes) => void) => Promise<T>,
): Promise<T> {
  const { tracer } = bound()
  return tracer ? tracer.span(start(), work) : work(ignore)
}

/** The `traceparent` to keep with something that continues later; null without traces. */
export function traceparent(): string | null {
  return bound().tracer?.current() ?? null
}

/** Does work that belongs to no request, although one may have begun it. */
export function apart<T>(work: () => T): T {
  const { tracer } = bound()
  return tracer ? tracer.apart(work) : work()
}

/** Sends what has ended, before a process sleeps that may never wake. */
export async function flushTraces(): Promise<void> {
  await bound().tracer?.flush()
}

function ignore(): void {}
