import type { ServiceContext } from '../../context'
import { listApiKeys } from '../../credentials/api-keys/list'
import { nameActors } from '../actors'

/** `ending`: replaced but still working for a while. `replaced`: no longer working. */
type KeyState = 'enabled' | 'disabled' | 'ending' | 'replaced'

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

function stateOf(
  { disabledAt, graceUntil }: { disabledAt: Date | null; graceUntil: Date | null },
  now: Date,
): KeyState {
  if (disabledAt) return 'disabled'
  if (!graceUntil) return 'enabled'
  return graceUntil > now ? 'ending' : 'replaced'
}
