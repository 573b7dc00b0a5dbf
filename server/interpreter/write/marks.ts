import { and, eq, isNull, sql } from 'drizzle-orm'
import { pauses, stepRecords, walks } from '@/db/schema/runs'
import type { ServiceContext, Sweep } from '../../context'
import type { Attempt } from '../../definition/run'
import { pauseIs, recordIs } from '../../run-store/conditions'
import type { Held } from '../../run-store/held'
import type { WalkRef } from '../../run-store/names'

// What is only noted: neither the run nor a walk changes what it does.

type OfPause = Pick<WalkRef, 'tenantId' | 'runId'> & { id: string }

/** Counts an attempt of a visit that begins, or takes back one that has not. */
export async function countAttempts(tx: Held, of: Parameters<typeof recordIs>[0], attempt: number): Promise<void> {
  await tx.db.update(stepRecords).set({ attempt }).where(recordIs(of))
}

/** Keeps the attempts of a visit that have ended, the last of which is made again. */
export async function keepAttempts(tx: Held, of: Parameters<typeof recordIs>[0], attempts: Attempt[]): Promise<void> {
  await tx.db.update(stepRecords).set({ attempts }).where(recordIs(of))
}

/** A wait has looked at the events that came before it. */
export async function noteLooked({ db }: ServiceContext, pause: OfPause): Promise<void> {
  await db
    .update(pauses)
    .set({ looked: true })
    .where(and(pauseIs(pause, pause.id), isNull(pauses.answeredAt)))
}

/** The run that a step waits for has been started; or nothing is left to be done for the wait. */
export async function noteChild({ db }: ServiceContext, pause: OfPause, childState: 'started' | 'done'): Promise<void> {
  await db.update(pauses).set({ childState }).where(pauseIs(pause, pause.id))
}

/** A walk that has recorded a step since it was requested again may be lost once more. */
export async function forgetRestarts({ db }: Sweep): Promise<void> {
  await db
    .update(walks)
    .set({ restarts: 0 })
    .where(
      and(
        eq(walks.status, 'walking'),
        sql`${walks.restarts} > 0`,
        sql`exists (
          select from ${stepRecords} s
          where s.tenant_id = ${walks.tenantId} and s.run_id = ${walks.runId} and s.branch = ${walks.branch}
            and s.start_time > ${walks.updatedAt})`,
      ),
    )
}
