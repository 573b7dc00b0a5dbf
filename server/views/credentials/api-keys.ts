import type { ServiceContext } from '../../context'
import { listApiKeys } from '../../credentials/api-keys/list'
import { nameActors } from '../actors'
import { stateOf } from './state'

/** The keys as the settings show them, with their state, who created them and which key replaced them. */
export async function browseApiKeys(ctx: ServiceContext) {
  const keys = await listApiKeys(ctx)
  const nameOf = await nameActors(
    ctx,
    keys.map(({ createdBy }) => createdBy),
  )
  const replacements = new Map(keys.flatMap(({ id, rotatedFrom }) => (rotatedFrom === null ? [] : [[rotatedFrom, id]])))
  return keys.map((key) => ({
    id: key.id,
    name: key.name,
    role: key.role,
    only: key.only,
    hint: key.hint,
    state: stateOf(key, ctx.now()),
    createdBy: nameOf(key.createdBy),
    createdAt: key.createdAt.toISOString(),
    lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
    disabledAt: key.disabledAt?.toISOString() ?? null,
    graceUntil: key.graceUntil?.toISOString() ?? null,
    rotatedFrom: key.rotatedFrom,
    replacedBy: replacements.get(key.id) ?? null,
  }))
}

export type KeyItem = Awaited<ReturnType<typeof browseApiKeys>>[number]
