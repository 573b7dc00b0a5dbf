import { readsDatabase } from '@/server/database'
import { env } from '@/server/env'
import { getTenant } from '@/server/tenants/find'
import { actFor, flagText, type Operator } from '../commands'
import type { Report } from '../report'
import type { Flags } from '../usage'
import { AS_CODE_COMMANDS, remoteOf } from './commands'
import { localWorkspace, remoteWorkspace } from './workspace'

type OnDatabase = (operator: Operator, flags: Flags) => Promise<Report>

/**
 * Runs a command on the definitions of a workspace, here or on another service. On the database, the command has
 * transactions of its own.
 */
export async function onWorkspace(
  name: string,
  flags: Flags,
  withDatabase: (work: OnDatabase, flags: Flags) => Promise<Report>,
): Promise<Report> {
  const command = AS_CODE_COMMANDS[name]
  if (!command) throw new Error(`There is no command ${name}.`)
  const remote = remoteOf(flags, env())
  if (remote) return command(remoteWorkspace(remote), flags)
  return withDatabase(async (operator) => {
    const ctx = actFor(operator, flagText(flags, 'tenant'))
    await getTenant(ctx)
    try {
      return await command(localWorkspace(ctx), flags)
    } finally {
      await readsDatabase().close()
    }
  }, flags)
}
