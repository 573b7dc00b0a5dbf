import type { Sql } from '@/db/index'
import { now } from '../clock'
import type { Registration } from '../definition/installation'

/** The state of the Inngest server that continues the runs of this service. */
export interface InngestState {
  registration: Registration | null
  /** Seconds since it last called a function. */
  calledS: number | null
  /** Seconds that the oldest event has waited for delivery. */
  waitingS: number | null
  /** Seconds since the first of the runs that wait to be continued was handed over. */
  askedS: number | null
}

/** How often a process notes that it was called. */
const NOTE_MS = 10_000
/** A sweep is due every minute in production, so if no call arrives for this long, the server does not reach us. */
const SILENT_S = 180
const REFUSING_S = 60
/** A server that has a run, and reaches us, calls within seconds. */
const ASKED_S = 120

export async function readInngestState(sql: Sql): Promise<InngestState> {
  const [row] = await sql<InngestState[]>`
    select registration,
      extract(epoch from clock_timestamp() - called_at)::float8 as "calledS",
      (select extract(epoch from clock_timestamp() - min(created_at))::float8 from outbox) as "waitingS",
      (select extract(epoch from clock_timestamp() - min(updated_at))::float8 from walks
        where status = 'requested') as "askedS"
    from installation`
  return row ?? { registration: null, calledS: null, waitingS: null, askedS: null }
}

/** Seconds since the server last called, or since it received our address. */
export function silentS({ registration, calledS }: InngestState): number {
  const registeredS = registration ? (now().getTime() - Date.parse(registration.at)) / 1_000 : Number.POSITIVE_INFINITY
  return Math.min(calledS ?? Number.POSITIVE_INFINITY, registeredS)
}

/**
 * Why runs do not continue, in one sentence; null if they do.
 * @param sweptOften false for a preview, where an hour may pass between calls: there, only a run that nobody continues
 * is a sign
 */
export function inngestProblem(state: InngestState, sweptOften: boolean): string | null {
  const { registration, calledS, waitingS, askedS } = state
  if (!registration) return 'The functions have never been registered with the Inngest server.'
  if (registration.error !== null) return `The functions could not be registered: ${registration.error}.`
  if (waitingS !== null && waitingS > REFUSING_S) {
    return `The Inngest server has accepted no event for ${Math.round(waitingS)} s; check INNGEST_EVENT_KEY and the log.`
  }
  const unheard = askedS !== null && askedS > ASKED_S && (calledS ?? Number.POSITIVE_INFINITY) >= askedS
  if (unheard || (sweptOften && silentS(state) > SILENT_S)) {
    const since =
      calledS === null ? 'has never called the functions' : `last called the functions ${Math.round(calledS)} s ago`
    return `The Inngest server ${since}; check that it reaches ${registration.url} and INNGEST_SIGNING_KEY.`
  }
  return null
}

/** Notes that the Inngest server has called, at most every few seconds. */
export function callNoter(sql: Sql): () => Promise<void> {
  let notedAt = 0
  return async () => {
    if (Date.now() - notedAt < NOTE_MS) return
    notedAt = Date.now()
    await sql`update installation set called_at = now()`
  }
}
