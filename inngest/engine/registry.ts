import { type Cron, CronError, parseCron } from '@/lib/cron'
import { LONGEST_MS, parseDuration } from './durations'
import { type Comparison, ExpressionError, matches, type Operand, parseExpression, parseKey } from './match'
import { type EngineEvent, FunctionConfig, Sync } from './protocol'

/** The engine's record of a function. */
export interface FunctionSpec {
  id: string
  maxAttempts: number
  triggers: { event: string; condition: Comparison[] }[]
  crons: { source: string; cron: Cron }[]
  cancels: { event: string; condition: Comparison[]; forMs: number }[]
  concurrency?: { limit: number; key?: Operand }
  idempotency?: Operand
  startWithinMs?: number
  finishWithinMs?: number
}

/** Retries of a function that does not set `retries`, as on the real server. */
const DEFAULT_RETRIES = 4

/** Parses the answer to an in-band sync. Throws one error that lists every function and field it cannot honour. */
export function parseRegistration(body: unknown): Map<string, FunctionSpec> {
  const specs = new Map<string, FunctionSpec>()
  const problems: string[] = []
  for (const config of Sync.parse(body).functions) {
    try {
      if (specs.has(config.id)) throw new Error('registered twice')
      specs.set(config.id, parseFunction(config))
    } catch (error) {
      problems.push(`${config.id}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  if (problems.length > 0) throw new Error(`Functions this engine cannot run: ${problems.join('; ')}`)
  return specs
}

function parseFunction(config: unknown): FunctionSpec {
  const parsed = FunctionConfig.safeParse(config)
  if (!parsed.success) {
    const issues = parsed.error.issues.map((issue) =>
      issue.code === 'unrecognized_keys'
        ? `not supported: ${[...issue.path, issue.keys.join(', ')].join('.')}`
        : `${issue.path.join('.')}: ${issue.message}`,
    )
    throw new Error(issues.join(', '))
  }
  const { id, triggers, steps, concurrency, idempotency, timeouts, cancel } = parsed.data
  const spec: FunctionSpec = {
    id,
    maxAttempts: (steps.step.retries?.attempts ?? DEFAULT_RETRIES) + 1,
    triggers: [],
    crons: [],
    cancels: (cancel ?? []).map(({ event, if: source, timeout }) => ({
      event: plainName(event),
      condition: source === undefined ? [] : parseExpression(source, ['event', 'async']),
      forMs: timeout === undefined ? LONGEST_MS : duration(timeout),
    })),
  }
  for (const trigger of triggers) {
    if ('cron' in trigger) spec.crons.push({ source: trigger.cron, cron: cronOf(trigger.cron) })
    else {
      const condition = trigger.expression === undefined ? [] : parseExpression(trigger.expression, ['event'])
      spec.triggers.push({ event: plainName(trigger.event), condition })
    }
  }
  if (concurrency) {
    const key = concurrency.key === undefined ? undefined : parseKey(concurrency.key)
    spec.concurrency = { limit: concurrency.limit, ...(key && { key }) }
  }
  if (idempotency !== undefined) spec.idempotency = parseKey(idempotency)
  if (timeouts?.start !== undefined) spec.startWithinMs = duration(timeouts.start)
  if (timeouts?.finish !== undefined) spec.finishWithinMs = duration(timeouts.finish)
  return spec
}

function cronOf(source: string): Cron {
  try {
    return parseCron(source)
  } catch (err) {
    throw err instanceof CronError ? new Error(`the cron ${source} ${err.message}`, { cause: err }) : err
  }
}

function plainName(event: string): string {
  if (event.includes('*')) throw new ExpressionError(`not supported: a pattern as event name (${event})`)
  return event
}

function duration(text: string): number {
  const ms = parseDuration(text)
  if (ms === undefined || ms > LONGEST_MS) throw new Error(`not a duration of at most 366 days: ${text}`)
  return ms
}

/** Whether a function has time limits, which are counted from rows of its runs. */
export function isTimed({ startWithinMs, finishWithinMs }: FunctionSpec): boolean {
  return startWithinMs !== undefined || finishWithinMs !== undefined
}

/** The functions that an event starts. */
export function triggeredBy(specs: ReadonlyMap<string, FunctionSpec>, event: EngineEvent): FunctionSpec[] {
  return [...specs.values()].filter((spec) =>
    spec.triggers.some(({ event: name, condition }) => name === event.name && matches(condition, { event })),
  )
}
