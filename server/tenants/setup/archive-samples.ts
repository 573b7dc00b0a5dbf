import { and, eq, inArray, ne } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import { agents } from '@/db/schema/agents'
import { tools } from '@/db/schema/tools'
import { workflows } from '@/db/schema/workflows'
import { archiveAgent } from '../../agents/lifecycle'
import type { TransactionContext } from '../../context'
import { archiveTool } from '../../tools/lifecycle'
import { archiveWorkflow } from '../../workflows/lifecycle'
import { SAMPLE_WORKFLOWS } from '../../workflows/samples'
import { SAMPLE_AGENTS } from '../boot/sample-agents'
import { SAMPLE_TOOLS } from '../boot/samples'

/** Archives the unchanged samples; each can be unarchived. */
export async function archiveSamples(tx: TransactionContext): Promise<void> {
  for (const id of await untouched(tx, workflows, SAMPLE_WORKFLOWS)) await archiveWorkflow(tx, { id })
  for (const id of await untouched(tx, agents, SAMPLE_AGENTS)) await archiveAgent(tx, { id })
  for (const id of await untouched(tx, tools, SAMPLE_TOOLS)) await archiveTool(tx, { id })
}

type Versioned = PgTable & { tenantId: PgColumn; id: PgColumn; version: PgColumn; status: PgColumn }

async function untouched(tx: TransactionContext, table: Versioned, samples: readonly { id: string }[]) {
  const ids = samples.map(({ id }) => id)
  const rows = await tx.db
    .select({ id: table.id })
    .from(table)
    .where(
      and(eq(table.tenantId, tx.tenantId), inArray(table.id, ids), eq(table.version, 1), ne(table.status, 'archived')),
    )
  return rows.map((row) => String(row.id))
}
