import { parseArgs } from 'node:util'
import { connect } from '@/db/index'
import { migrate } from '@/db/migrate'
import { ROLES, type Role, type ServiceContext, systemContext, withTransaction } from '@/server/context'
import { EnvError, env } from '@/server/env'
import { AppError } from '@/server/errors'
import { newId } from '@/server/ids'
import { createApiKey } from '@/server/keys/create'
import { disableApiKey, enableApiKey } from '@/server/keys/disable'
import { ANY_TENANT } from '@/server/keys/find'
import { rotateApiKey } from '@/server/keys/rotate'
import { log } from '@/server/log'
import { createTenant } from '@/server/tenants/create'
import { getTenant } from '@/server/tenants/find'
import { diagnose } from './doctor'
import { findDatabase } from './find-database'
import { print, printError } from './print'

const USAGE = `millrace admin: works beside a running service (same environment).

  tenant create --name NAME
  key create --tenant ID --name NAME --role ${ROLES.join('|')}
  key disable|enable --id KEY_ID
  key rotate --id KEY_ID [--grace-hours N]
  doctor

Add --json for one JSON object on one line.`

class UsageError extends Error {
  override name = 'UsageError'
}

type Flags = Record<string, string | boolean | undefined>
type Command = (ctx: ServiceContext, flags: Flags) => Promise<object>

const COMMANDS: Record<string, Command> = {
  'tenant create': (ctx, flags) => createTenant({ ...ctx, tenantId: newId('ten') }, { name: text(flags, 'name') }),
  'key create': async (ctx, flags) => {
    const tenantId = text(flags, 'tenant')
    return withTransaction({ ...ctx, tenantId }, async (tx) => {
      await getTenant(tx)
      return createApiKey(tx, { name: text(flags, 'name'), role: role(text(flags, 'role')) })
    })
  },
  'key disable': (ctx, flags) => disableApiKey(ctx, text(flags, 'id')),
  'key enable': (ctx, flags) => enableApiKey(ctx, text(flags, 'id')),
  'key rotate': (ctx, flags) => rotateApiKey(ctx, text(flags, 'id'), graceMs(flags)),
  doctor: (ctx) => diagnose(ctx),
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    args: process.argv.slice(2),
    allowPositionals: true,
    options: {
      json: { type: 'boolean', default: false },
      name: { type: 'string' },
      tenant: { type: 'string' },
      role: { type: 'string' },
      id: { type: 'string' },
      'grace-hours': { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  const command = COMMANDS[positionals.join(' ')]
  if (values.help || !command) {
    if (values.help) print(USAGE)
    else printError(USAGE)
    return values.help ? 0 : 2
  }
  const url = findDatabase(env())
  await migrate(url)
  const database = connect(url)
  try {
    const ctx = systemContext({ tenantId: ANY_TENANT, db: database.db, log: log() }, 'admin-command')
    const result = await command(ctx, values)
    print(values.json ? JSON.stringify(result) : JSON.stringify(result, null, 2))
    return 'healthy' in result && result.healthy === false ? 1 : 0
  } finally {
    await database.close()
  }
}

function text(flags: Flags, name: string): string {
  const value = flags[name]
  if (typeof value !== 'string' || value.trim() === '') throw new UsageError(`--${name} is missing.`)
  return value.trim()
}

function role(value: string): Role {
  const found = ROLES.find((name) => name === value)
  if (!found) throw new UsageError(`--role must be one of ${ROLES.join(', ')}.`)
  return found
}

function graceMs(flags: Flags): number | undefined {
  const value = flags['grace-hours']
  if (typeof value !== 'string') return undefined
  const hours = Number(value)
  if (!Number.isFinite(hours) || hours < 0 || hours > 8760)
    throw new UsageError('--grace-hours must be a number from 0 to 8760.')
  return hours * 3_600_000
}

main().then(
  (code) => {
    process.exitCode = code
  },
  (err: unknown) => {
    const known = err instanceof UsageError || err instanceof EnvError || err instanceof AppError
    printError(known || err instanceof Error ? err.message : String(err))
    process.exitCode = err instanceof UsageError ? 2 : 1
  },
)
