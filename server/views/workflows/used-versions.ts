import type { ServiceContext } from '../../context'
import type { Pin, Pins } from '../../definition/pins'
import { namesOf } from '../names-of'
import { numbersOf } from './numbers'

/**
 * A tool, agent or workflow that is used without a version, and the version that publishing would pin. A workflow's is
 * the number shown to people.
 */
export interface UsedVersion {
  kind: Pin['kind']
  id: string
  name: string
  /** The version that the published version's runs use; null if it pins none, or does not use it. */
  from: number | null
  to: number
}

/** The changes in used versions, each once. */
export async function usedVersions(ctx: ServiceContext, before: Pins | null, after: Pins): Promise<UsedVersion[]> {
  const changed = new Map<string, Omit<UsedVersion, 'name'>>()
  for (const [stepId, { kind, id, version: to }] of Object.entries(after)) {
    const old = before && Object.hasOwn(before, stepId) ? before[stepId] : undefined
    const from = old?.kind === kind && old.id === id ? old.version : null
    if (from !== to) changed.set(`${kind}:${id}:${from}`, { kind, id, from, to })
  }
  const uses = [...changed.values()]
  const versions = uses.flatMap(({ kind, id, from, to }) =>
    kind === 'workflow' ? [from, to].flatMap((version) => (version === null ? [] : [{ workflowId: id, version }])) : [],
  )
  const [names, numberOf] = await Promise.all([namesOf(ctx, uses), numbersOf(ctx, versions)])
  const seen = ({ kind, id }: Pick<Pin, 'kind' | 'id'>, version: number) =>
    kind === 'workflow' ? (numberOf(id, version) ?? version) : version
  return uses.map((use) => ({
    ...use,
    name: names.get(`${use.kind}:${use.id}`) ?? use.id,
    from: use.from === null ? null : seen(use, use.from),
    to: seen(use, use.to),
  }))
}
