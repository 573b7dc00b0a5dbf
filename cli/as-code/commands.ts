import { writeFileSync } from 'node:fs'
import { PLURALS } from '@/server/as-code/schema'
import type { JsonObject } from '@/server/definition/json'
import type { Env } from '@/server/env'
import { AppError } from '@/server/errors'
import { Report } from '../report'
import { type Flags, UsageError } from '../usage'
import { folderAt, readFolder, writeFolder } from './folder'
import { pastRunLines, pastRunMarkdown, refusalsOf, refusedBy, runsToTry, type Tried } from './past-runs'
import { refusalLine, reportApplied, reportDiff, reportRefused } from './report'
import { everythingIn, type Remote, type Workspace } from './workspace'

/** Works on files and a workspace, on this machine or elsewhere. */
export type AsCodeCommand = (workspace: Workspace, flags: Flags) => Promise<Report>

export const AS_CODE_COMMANDS: Record<string, AsCodeCommand> = {
  async pull(workspace, flags) {
    const folder = folderOf(flags)
    const prune = flags.prune === true
    const definitions = await everythingIn(workspace)
    const { written, unchanged, left } = writeFolder(folder, definitions, { prune })
    const unseen = PLURALS.filter((plural) => !definitions[plural]).map(
      (plural) => `${plural}/  left as it is: the caller may not see them`,
    )
    const others = left.map((file) => `${file}  ${prune ? 'deleted' : 'not in the workspace (--prune deletes it)'}`)
    const end = `${written.length} written, ${unchanged} unchanged, in ${folder}.`
    return new Report([...written, ...others, ...unseen, end].join('\n'), { written, unchanged, left })
  },
  async diff(workspace, flags) {
    const body = bodyOf(flags)
    const runs = runsToTry(flags)
    const diff = await named(() => workspace.diff(body))
    // An apply with problems makes nothing that runs could be tried on.
    if (runs === null || diff.problems.length > 0) return reportDiff(diff)
    return reportDiff(diff, await tryRuns(workspace, flags, { ...body, runs }))
  },
  async apply(workspace, flags) {
    const body = bodyOf(flags)
    const runs = runsToTry(flags)
    if (runs === null) return reportApplied(await named(() => workspace.apply(body)))
    const refuse = refusedBy(flags)
    const tried = await tryRuns(workspace, flags, { ...body, runs })
    const refusals = refusalsOf(tried.found, refuse)
    if (refusals.length > 0) return reportRefused(tried, refusals)
    return reportApplied(await named(() => workspace.apply(body)), tried)
  },
}

async function tryRuns(workspace: Workspace, { markdown }: Flags, body: JsonObject): Promise<Tried> {
  const found = await named(() => workspace.backtest(body))
  const runUrl = (runId: string) => workspace.runUrl(runId)
  if (typeof markdown === 'string') writeFileSync(folderAt(markdown), pastRunMarkdown(found, runUrl))
  return { found, lines: pastRunLines(found, runUrl) }
}

function folderOf({ folder }: Flags): string {
  if (typeof folder !== 'string' || folder.trim() === '')
    throw new UsageError('-f is missing: the folder of the files.')
  return folderAt(folder)
}

function bodyOf(flags: Flags) {
  const { publish, prune, force } = flags
  const { schedules, inboundWebhooks, ...definitions } = readFolder(folderOf(flags))
  return {
    ...definitions,
    // An earlier version has neither, and refuses unknown names.
    ...(schedules.length > 0 ? { schedules } : {}),
    ...(inboundWebhooks.length > 0 ? { inboundWebhooks } : {}),
    publish: publish === true,
    prune: prune === true,
    force: force === true,
  }
}

/** Errors name files. */
async function named<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (err) {
    if (!(err instanceof AppError)) throw err
    const hint =
      err.code === 'DEFINITIONS_DRIFTED'
        ? ['Pull them into the files and apply that first, or overwrite them with --force.']
        : []
    throw new Error([err.message, ...err.details.map((detail) => `  ${refusalLine(detail)}`), ...hint].join('\n'))
  }
}

/** The service a command is for, if not the one on this machine. @throws UsageError */
export function remoteOf({ url, key, tenant }: Flags, settings: Env): Remote | null {
  const address = typeof url === 'string' ? url : settings.DEFINITIONS_URL
  if (address === undefined) return null
  if (!/^https?:\/\/[^/]/.test(address)) throw new UsageError('--url must be like https://millrace.example.com.')
  const apiKey = typeof key === 'string' ? key : settings.DEFINITIONS_KEY
  if (apiKey === undefined) throw new UsageError('DEFINITIONS_KEY is missing: an API key of the service at --url.')
  const tenantId = typeof tenant === 'string' ? tenant : undefined
  return { url: address, apiKey, tenantId, bypass: settings.VERCEL_AUTOMATION_BYPASS_SECRET }
}
