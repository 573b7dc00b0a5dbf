import type { ServiceContext } from '../../context'
import type { ChildEnd } from '../../definition/run'
import type { Held } from '../../run-store/held'
import type { WalkRef } from '../../run-store/names'
import { noteChild } from '../write/marks'
import { continueWalk } from '../write/request'
import { storeAnswer } from '../write/store-answer'

/** A step's wait for the end of another run. */
type Wait = Pick<WalkRef, 'tenantId' | 'runId' | 'branch'> & { id: string }

/** Notes that the run that a step waits for was started, in the same transaction. */
export async function childStarted(tx: Held, wait: Wait): Promise<void> {
  await noteChild(tx, wait, 'started')
}

/** Notes that the wait needs no further work. */
export async function childSettled(ctx: ServiceContext, wait: Wait): Promise<void> {
  await noteChild(ctx, wait, 'done')
}

/** Answers the wait with the end of the other run, unless the wait is over. */
export async function answerChild(tx: Held, wait: Wait, end: ChildEnd): Promise<void> {
  const status = await storeAnswer(tx, wait, wait.id, { child: end })
  if (status === null) return
  await childSettled(tx, wait)
  await continueWalk(tx, wait)
}
