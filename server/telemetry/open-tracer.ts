import { AsyncLocalStorage } from 'node:async_hooks'
import {
  DiagLogLevel,
  diag,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
import type { Log } from '../log'
import type { Attributes, SpanStart, Tracer } from './traces'

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, producer: SpanKind.PRODUCER } as const
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/

/** How often the log notes a receiver that rejects traces. */
const NOTE_EVERY_MS = 60_000

/**
 * Sends spans to the OTLP receiver of `OTEL_EXPORTER_OTLP_ENDPOINT`, which the exporter reads itself, like the other
 * `OTEL_` settings. Loaded only if that is set. It registers no provider globally, so no library adds spans of its own.
 */
export function openTracer(serviceName: string, log: Log): Tracer {
  noteFailures(log)
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.name': serviceName }),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  })
  const tracer = provider.getTracer('millrace')
  const around = new AsyncLocalStorage<{ span: Span | null; marks: Attributes }>()
  const here = () => around.getStore() ?? { span: null, marks: {} }

  function begin({ name, kind, attributes, parent, link }: SpanStart): Span {
    const before = parent === undefined ? (here().span?.spanContext() ?? null) : contextOf(parent)
    const linked = contextOf(link ?? null)
    return tracer.startSpan(
      name,
      {
        ...(kind ? { kind: KINDS[kind] } : {}),
        attributes: { ...here().marks, ...attributes },
        ...(linked ? { links: [{ context: linked }] } : {}),
      },
      before ? trace.setSpanContext(ROOT_CONTEXT, before) : ROOT_CONTEXT,
    )
  }

  return {
    async span(start, work) {
      const span = begin(start)
      try {
        return await around.run({ ...here(), span }, () =>
          work((attributes) => {
            span.setAttributes(attributes)
            if ('error.type' in attributes) span.setStatus({ code: SpanStatusCode.ERROR })
          }),
        )
      } catch (err) {
        span.setAttribute('error.type', errorType(err))
        span.setStatus({ code: SpanStatusCode.ERROR })
        throw err
      } finally {
        span.end()
      }
    },
    current() {
      const { span } = here()
      return span ? traceparentOf(span.spanContext()) : null
    },
    marked: (marks, work) => around.run({ ...here(), marks }, work),
    apart: (work) => around.run({ span: null, marks: {} }, work),
    flush: () => provider.forceFlush(),
    stop: () => provider.shutdown(),
  }
}

/** The SDK reports lost spans nowhere else. */
function noteFailures(log: Log): void {
  let notedAt = Number.NEGATIVE_INFINITY
  const note = (message: string) => {
    if (performance.now() - notedAt < NOTE_EVERY_MS) return
    notedAt = performance.now()
    log.warn({ reason: message.slice(0, 300) }, 'traces could not be sent')
  }
  const ignore = () => {}
  diag.setLogger({ error: note, warn: note, info: ignore, debug: ignore, verbose: ignore }, DiagLogLevel.WARN)
}

function contextOf(traceparent: string | null): SpanContext | null {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent ?? '') ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return null
  const context = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true }
  return isSpanContextValid(context) ? context : null
}

function traceparentOf({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-0${traceFlags & 1}`
}

/** A code, never a message, which may repeat sent data. */
function errorType(err: unknown): string {
  const code = err instanceof Error && 'code' in err ? err.code : null
  if (typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,63}$/.test(code)) return code
  return err instanceof Error ? err.name : 'Error'
}
