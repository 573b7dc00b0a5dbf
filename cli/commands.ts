import { readFileSync } from 'node:fs'
import type { Db, Sql } from '@/db/index'
import { type ServiceContext, systemContext, withTransaction } from '@/server/context'
import { createApiKey } from '@/server/credentials/api-keys/create'
import { disableApiKey, enableApiKey } from '@/server/credentials/api-keys/disable'
import { listApiKeys } from '@/server/credentials/api-keys/list'
import { rotateApiKey } from '@/server/credentials/api-keys/rotate'
import { createSigningSecret } from '@/server/credentials/signing-secrets/create'
import { disableSigningSecret, enableSigningSecret } from '@/server/credentials/signing-secrets/disable'
import { limitSigningSecret } from '@/server/credentials/signing-secrets/limit'
import { listSigningSecrets } from '@/server/credentials/signing-secrets/list'
import { tenantOfApiKey, tenantOfSigningSecret } from '@/server/credentials/tenant-of'
import { type Env, EnvError, env } from '@/server/env'
import { moveFiles } from '@/server/files/move'
import { FILE_STORES, type FileStoreKind, resetInstallation } from '@/server/host/installation'
import { newId } from '@/server/ids'
import type { Log } from '@/server/log'
import { createMember } from '@/server/members/create'
import { listMembers } from '@/server/members/list'
import { ROLES, type Role } from '@/server/roles'
import { rewakeRun } from '@/server/runs/rewake'
import { setCorsOrigins } from '@/server/tenants/cors'
import { createTenant } from '@/server/tenants/create'
import { getTenant } from '@/server/tenants/find'
import { keepRuns } from '@/server/tenants/keep-runs'
import { bindVaultSecret } from '@/server/vault/bind'
import { deleteVaultSecret } from '@/server/vault/delete'
import { listVaultSecrets } from '@/server/vault/list'
import { setVaultSecret } from '@/server/vault/set'
import { backUp } from './backup/back-up'
import { restore } from './backup/restore'
import { serviceUrl } from './data-dir'
import { diagnose } from './doctor'
import { type Flags, UsageError } from './usage'

export const USAGE = `millrace admin: run it beside the service, with the same environment.

  tenant create --name NAME
  key create --tenant ID --name NAME --role ${ROLES.join('|')}
  key create --tenant ID --name NAME --only definitions:check   (may only diff and backtest definitions, for pull requests)
  key list --tenant ID
  key disable|enable --id KEY_ID
  key rotate --id KEY_ID [--grace-hours N]
  secret create --tenant ID --name NAME [--role ROLE] [LIMITS]   (default: operator, no limits)
  secret list --tenant ID
  secret disable|enable --id SECRET_ID
  secret limit --id SECRET_ID [LIMITS]                    (replaces all limits; with none given, removes them)
  member create --tenant ID --email ADDRESS --role ROLE [--name NAME] [--password PASSWORD]
  member list --tenant ID
  vault set --tenant ID --name NAME [--value VALUE] [--hosts HOSTS]   (default: read from standard input)
  vault bind --tenant ID --name NAME --hosts api.example.com,*.example.org   (where the secret may be sent)
  vault list --tenant ID
  vault delete --tenant ID --name NAME
  runs keep --tenant ID --days N|forever                  (deletes runs that ended more than N days ago)
  cors set --tenant ID --origins https://a.example.com,https://b.example.com   ('' for none)
  inngest sync [--url https://millrace.example.com]       (registers the functions with the Inngest server)
  runs rewake --tenant ID --id RUN_ID                     (makes the engine resume a run from its last record)
  files move --from ${FILE_STORES.join('|')} --to ${FILE_STORES.join('|')}   (copies all uploads, then switches to the new place; deletes nothing)
  installation reset [--copied]                           (after a key was lost or files moved; --copied: the database is a copy)
  backup --to FILE                                        (of the running service and its embedded database; holds secrets)
  restore --from FILE [--force]                           (into DATA_DIR, while the service is stopped)
  pull -f DIR --tenant ID [--prune]                       (writes the definitions into files)
  diff -f DIR --tenant ID [OPTIONS]                       (what apply would change; exit code 0 nothing, 2 something, 1 error,
                                                           3 a past run would fail)
  apply -f DIR --tenant ID [OPTIONS]                      (makes the workspace match the files; all or nothing)
  doctor                                                  (checks the service and says how to fix it)

LIMITS of a secret's tokens: [--workflows wf_a,wf_b] [--agents agt_a] [--own-runs]
OPTIONS of diff and apply: [--publish] [--prune] (archives objects without a file) [--force] (overwrites changes made by others)
   [--backtest [200]] (tries so many past runs of each workflow that changes) [--markdown FILE] (writes what they say into a file)
   [--refuse fails,untold] (apply with --backtest: changes nothing if a run would end so: fails, untold, way, result, passes;
   default fails)
pull, diff and apply can also use another service: pass --url https://millrace.example.com instead of --tenant, and an API key
as DEFINITIONS_KEY or --key.

Add --json to get one JSON object on one line.`

/** The person who runs the command: acts for the whole service and belongs to no tenant. */
export interface Operator {
  db: Db
  sql: Sql
  log: Log
}

/** Runs with the service's own rights. The return value is printed. */
export type Command = (operator: Operator, flags: Flags) => Promise<object>
/** Works on the data folder and opens no database. */
type FolderCommand = (settings: Env, flags: Flags) => Promise<object>
type TenantCommand = (ctx: ServiceContext, flags: Flags) => Promise<object>

export const OPTIONS = {
  json: { type: 'boolean', default: false },
  name: { type: 'string' },
  tenant: { type: 'string' },
  role: { type: 'string' },
  only: { type: 'string' },
  id: { type: 'string' },
  email: { type: 'string' },
  password: { type: 'string' },
  origins: { type: 'string' },
  days: { type: 'string' },
  hosts: { type: 'string' },
  value: { type: 'string' },
  'grace-hours': { type: 'string' },
  workflows: { type: 'string' },
  agents: { type: 'string' },
  'own-runs': { type: 'boolean' },
  to: { type: 'string' },
  from: { type: 'string' },
  force: { type: 'boolean' },
  url: { type: 'string' },
  key: { type: 'string' },
  folder: { type: 'string', short: 'f' },
  publish: { type: 'boolean' },
  prune: { type: 'boolean' },
  copied: { type: 'boolean' },
  backtest: { type: 'string' },
  refuse: { type: 'string' },
  markdown: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const

export const COMMANDS: Record<string, Command> = {
  'tenant create': (operator, flags) => createTenant(actFor(operator, newId('ten')), { name: flagText(flags, 'name') }),
  'key create': inTenant((ctx, flags) =>
    createApiKey(ctx, {
      name: flagText(flags, 'name'),
      ...(flags.only === undefined ? { role: role(flags) } : { only: flagText(flags, 'only') }),
    }),
  ),
  'key list': inTenant(listApiKeys),
  'key disable': onKey((ctx, flags) => disableApiKey(ctx, flagText(flags, 'id'))),
  'key enable': onKey((ctx, flags) => enableApiKey(ctx, flagText(flags, 'id'))),
  'key rotate': onKey((ctx, flags) => rotateApiKey(ctx, flagText(flags, 'id'), graceMs(flags))),
  'secret create': inTenant((ctx, flags) =>
    createSigningSecret(ctx, {
      name: flagText(flags, 'name'),
      role: flags.role === undefined ? undefined : role(flags),
      ...limits(flags),
    }),
  ),
  'secret list': inTenant(listSigningSecrets),
  'secret disable': onSecret((ctx, flags) => disableSigningSecret(ctx, flagText(flags, 'id'))),
  'secret enable': onSecret((ctx, flags) => enableSigningSecret(ctx, flagText(flags, 'id'))),
  'secret limit': onSecret((ctx, flags) =>
    limitSigningSecret(ctx, { id: flagText(flags, 'id'), limits: limits(flags) }),
  ),
  'member create': inTenant(async (ctx, { name, password, ...flags }) => ({
    ...(await createMember(ctx, { email: flagText(flags, 'email'), name, role: role(flags), password })),
    signInUrl: `${serviceUrl(env())}/sign-in`,
  })),
  'member list': inTenant(listMembers),
  'vault set': inTenant((ctx, flags) =>
    setVaultSecret(ctx, {
      name: flagText(flags, 'name'),
      ...(flags.hosts === undefined ? {} : { hosts: requiredList(flags, 'hosts') }),
      value: secretValue(flags),
    }),
  ),
  'vault bind': inTenant((ctx, flags) =>
    bindVaultSecret(ctx, { name: flagText(flags, 'name'), hosts: requiredList(flags, 'hosts') }),
  ),
  'vault list': inTenant(listVaultSecrets),
  'vault delete': inTenant((ctx, flags) => deleteVaultSecret(ctx, flagText(flags, 'name'))),
  'files move': ({ db }, flags) => moveFiles(db, env(), { from: store(flags, 'from'), to: store(flags, 'to') }),
  'installation reset': ({ db }, { copied }) => resetInstallation(db, { copied: copied === true }),
  'inngest sync': ({ sql }, flags) => syncInngest(sql, flags),
  'runs rewake': inTenant((ctx, flags) => rewakeRun(ctx, { runId: flagText(flags, 'id') })),
  'runs keep': inTenant((ctx, flags) => keepRuns(ctx, { days: days(flags) })),
  'cors set': inTenant((ctx, flags) => setCorsOrigins(ctx, { origins: requiredList(flags, 'origins') })),
  doctor: ({ db, sql }) => diagnose(db, sql),
}

/** The commands on definitions as files (`as-code`). */
export const AS_CODE: ReadonlySet<string> = new Set(['pull', 'diff', 'apply'])

export const FOLDER_COMMANDS: Record<string, FolderCommand> = {
  backup: (settings, flags) => backUp(settings, { to: flagText(flags, 'to') }),
  restore: (settings, flags) => restore(settings, { from: flagText(flags, 'from'), force: flags.force === true }),
}

/** A command on one tenant, which must exist. */
function inTenant(command: TenantCommand): Command {
  return (operator, flags) =>
    withTransaction(actFor(operator, flagText(flags, 'tenant')), async (tx) => {
      await getTenant(tx)
      return command(tx, flags)
    })
}

/** A command in the tenant of an API key. */
function onKey(command: TenantCommand): Command {
  return async (operator, flags) =>
    command(actFor(operator, await tenantOfApiKey(operator.db, flagText(flags, 'id'))), flags)
}

/** A command in the tenant of a signing secret. */
function onSecret(command: TenantCommand): Command {
  return async (operator, flags) =>
    command(actFor(operator, await tenantOfSigningSecret(operator.db, flagText(flags, 'id'))), flags)
}

/** @throws EnvError */
async function syncInngest(sql: Sql, { url }: Flags): Promise<object> {
  const settings = env()
  if (settings.engine !== 'inngest')
    throw new EnvError('This service runs its functions itself. Set INNGEST_EVENT_KEY and INNGEST_SIGNING_KEY first.')
  // Loaded only here, because it loads all functions with their dependencies.
  const { registerFunctions } = await import('@/inngest/register')
  const origin = typeof url === 'string' ? url : (settings.INNGEST_SERVE_ORIGIN ?? settings.PUBLIC_URL)
  const { error, ...registration } = await registerFunctions(sql, settings, { always: true, origin })
  if (error !== null) throw new EnvError(`The Inngest server did not accept the functions: ${error}.`)
  return { registered: true, url: registration.url, at: registration.at }
}

export function actFor(operator: Operator, tenantId: string): ServiceContext {
  return systemContext({ ...operator, tenantId }, 'admin-command')
}

export function flagText(flags: Flags, name: string): string {
  const value = flags[name]
  if (typeof value !== 'string' || value.trim() === '') throw new UsageError(`--${name} is missing.`)
  return value.trim()
}

/** As `list`, for a required flag; '' is an empty list. */
function requiredList(flags: Flags, name: string): string[] {
  const items = list(flags[name])
  if (items === null) throw new UsageError(`--${name} is missing.`)
  return items
}

/** From the flag, or from standard input (which keeps it out of shell history) without the trailing line break. */
function secretValue({ value }: Flags): string {
  if (typeof value === 'string') return value
  return readFileSync(0, 'utf8').replace(/\r?\n$/, '')
}

/** A missing list sets no limit. */
function limits({ workflows, agents, 'own-runs': ownRuns }: Flags) {
  return { workflowIds: list(workflows), agentIds: list(agents), ownRuns: ownRuns === true }
}

function list(flag: Flags[string]): string[] | null {
  if (typeof flag !== 'string') return null
  const items = flag.split(',').map((item) => item.trim())
  return items.filter((item) => item !== '')
}

function role(flags: Flags): Role {
  const value = flagText(flags, 'role')
  const found = ROLES.find((name) => name === value)
  if (!found) throw new UsageError(`--role must be one of ${ROLES.join(', ')}.`)
  return found
}

function store(flags: Flags, name: 'from' | 'to'): FileStoreKind {
  const value = flagText(flags, name)
  const found = FILE_STORES.find((kind) => kind === value)
  if (!found) throw new UsageError(`--${name} must be one of ${FILE_STORES.join(', ')}.`)
  return found
}

/** `null` means forever. The verb rejects non-numbers. */
function days(flags: Flags): number | null {
  const value = flagText(flags, 'days')
  return value === 'forever' ? null : Number(value)
}

function graceMs(flags: Flags): number | undefined {
  const value = flags['grace-hours']
  if (typeof value !== 'string') return undefined
  const hours = value.trim() === '' ? Number.NaN : Number(value)
  if (!Number.isFinite(hours) || hours < 0 || hours > 8760)
    throw new UsageError('--grace-hours must be a number from 0 to 8760.')
  return hours * 3_600_000
}

/** Node’s parser knows no option whose value may be left out. */
export function withNumberOfRuns(args: readonly string[]): string[] {
  return args.map((arg, at) => (arg === '--backtest' && !/^\d/.test(args[at + 1] ?? '') ? '--backtest=200' : arg))
}
