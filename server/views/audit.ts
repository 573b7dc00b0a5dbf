import { type AuditEntry, listAudit } from '../audit-log/list'
import type { ServiceContext } from '../context'
import type { AuditDetails } from '../definition/audit'
import { tenantMasker } from '../vault/masker'
import { versionNumber } from '../versioned/versions'
import { nameActors } from './actors'
import { namesOf } from './names-of'
import { runNames } from './runs/run-names'
import { withStepNames } from './step-names'
import { numbersOf } from './workflows/numbers'

/** The name behind an id in an entry's details. */
export interface AuditName {
  id: string
  /** `actor`: a person or an API key, which have no page of their own. */
  kind: 'workflow' | 'agent' | 'tool' | 'actor'
  name: string
}

/** Details that identify an actor. */
const ACTORS = ['madeBy', 'answersFor']
/** The id prefixes of things with a page. */
const KINDS = [
  ['workflow', 'wf_'],
  ['agent', 'agt_'],
  ['tool', 'tool_'],
] as const

/**
 * The entries of `listAudit`, with names for the ids in their details (of things that still exist), version numbers as
 * people see them, and business keys of runs. Entries do not store these: personal data in a key must go with its run.
 */
export async function browseAudit(ctx: ServiceContext, input: unknown) {
  const listed = await listAudit(ctx, input)
  const masker = await tenantMasker(ctx)
  const page = { ...listed, entries: await withStepNames(ctx, listed.entries, masker) }
  const ids = new Set(page.entries.flatMap(({ details }) => Object.values(details).flatMap(textsOf)))
  const actorIds = page.entries.flatMap(({ details }) => ACTORS.flatMap((name) => textsOf(details[name] ?? null)))
  const things = KINDS.flatMap(([kind, prefix]) =>
    [...ids].filter((id) => id.startsWith(prefix)).map((id) => ({ kind, id })),
  )
  const runIds = page.entries.flatMap(({ thing }) => (thing.kind === 'run' ? [thing.id] : []))
  const [numbered, nameOf, found, nameOfRun] = await Promise.all([
    withNumbers(ctx, page.entries),
    nameActors(ctx, actorIds),
    namesOf(ctx, things),
    runNames(ctx, runIds, masker),
  ])
  const names: AuditName[] = [
    ...things.flatMap(({ kind, id }) => {
      const name = found.get(`${kind}:${id}`)
      return name === undefined ? [] : [{ id, kind, name: masker.text(name) }]
    }),
    ...[...new Set(actorIds)].map((id) => ({ id, kind: 'actor' as const, name: nameOf(id)?.name ?? id })),
  ]
  const entries = numbered.map((entry) => {
    const name = nameOfRun.get(entry.thing.id)?.name ?? entry.thing.name
    return { ...entry, thing: { ...entry.thing, name } }
  })
  return { ...page, entries, names }
}

/** The details of a workflow's entries that hold versions. */
const VERSIONS = ['version', 'replaces', 'from']

/** Drafts have no numbers, so entries omit a version that was only saved. */
async function withNumbers(ctx: ServiceContext, entries: readonly AuditEntry[]): Promise<AuditEntry[]> {
  const versionsOf = ({ thing, details }: AuditEntry) =>
    (thing.kind === 'workflow' ? VERSIONS : []).flatMap((name) => {
      const value = details[name]
      const version = typeof value === 'number' || typeof value === 'string' ? versionNumber(value) : null
      return version === null ? [] : [{ name, workflowId: thing.id, version }]
    })
  const numberOf = await numbersOf(ctx, entries.flatMap(versionsOf))
  return entries.map((entry) => {
    const details = { ...entry.details }
    for (const { name, workflowId, version } of versionsOf(entry)) {
      const saved = name === 'version' && entry.action !== 'workflow.published'
      const number = saved ? null : numberOf(workflowId, version)
      if (number === null) delete details[name]
      else details[name] = number
    }
    return { ...entry, details }
  })
}

function textsOf(value: AuditDetails[string]): string[] {
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value
  return value !== null && typeof value === 'object' ? [...textsOf(value.from), ...textsOf(value.to)] : []
}
