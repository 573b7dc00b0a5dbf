import { outbox } from '@/db/schema/outbox'
import { type ServiceContext, withTransaction } from './context'
import { newId } from './ids'
import { processWide } from './process'

/** The events of the product. They carry ids only: no user data lies in an engine's history. */
export interface Events {
  'workflow/walk.requested': { tenantId: string; runId: string; branch: string; epoch: number; segment: number }
  'workflow/run.woken': { tenantId: string; runId: string }
  'workflow/run.terminated': { tenantId: string; runId: string }
}

/**
 * Writes an event into the transaction of the change it tells of. It leaves when, and only when, that commits.
 * @returns the event's id
 */
export async function emit<N extends keyof Events>(ctx: ServiceContext, name: N, data: Events[N]): Promise<string> {
  return withTransaction(ctx, async (tx) => {
    const id = newId('evt')
    await tx.db.insert(outbox).values({ id, tenantId: ctx.tenantId, name, data: data, createdAt: ctx.now() })
    tx.afterCommit(kickRelay)
    return id
  })
}

const bound = () => processWide<{ relay?: { kick(): void } | undefined }>('outbox', () => ({}))

/** Names the process's relay, so that a commit is forwarded at once; without one, the poll of another process finds the row. */
export function bindRelay(relay: { kick(): void } | undefined): void {
  bound().relay = relay
}

function kickRelay(): void {
  bound().relay?.kick()
}
