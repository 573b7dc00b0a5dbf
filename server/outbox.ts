import { outbox } from '@/db/schema/outbox'
import { type ServiceContext, withTransaction } from './context'
import { newId } from './ids'
import { processWide } from './process'

/** The product's events. They carry only ids, so no user data ends up in an engine's history. */
export interface Events {
  'workflow/walk.requested': { tenantId: string; runId: string; branch: string; epoch: number; segment: number }
  'workflow/run.woken': { tenantId: string; runId: string }
  'workflow/run.terminated': { tenantId: string; runId: string }
}

/**
 * Writes an event in the same transaction as the change it reports. It is sent if and only if that commits.
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

/**
 * Sets the process's relay, which forwards events right after a commit. Without one, another process finds the row when
 * it polls.
 */
export function bindRelay(relay: { kick(): void } | undefined): void {
  bound().relay = relay
}

function kickRelay(): void {
  bound().relay?.kick()
}
