import type { ServiceContext } from '../../context'
import { listSigningSecrets } from '../../credentials/signing-secrets/list'
import { env } from '../../env'
import { nameActors } from '../actors'
import { stateOf } from './state'

/** The signing secrets as the settings show them, and the audience every token must have. */
export async function browseSigningSecrets(ctx: ServiceContext) {
  const secrets = await listSigningSecrets(ctx)
  const nameOf = await nameActors(
    ctx,
    secrets.map(({ createdBy }) => createdBy),
  )
  return {
    audience: env().jwtAudience,
    secrets: secrets.map(({ createdBy, createdAt, disabledAt, lastUsedAt, longLivedAt, graceUntil, ...secret }) => ({
      ...secret,
      state: stateOf({ disabledAt, graceUntil }, ctx.now()),
      createdBy: nameOf(createdBy),
      createdAt: createdAt.toISOString(),
      lastUsedAt: lastUsedAt?.toISOString() ?? null,
      /** When a token valid for longer than recommended was last seen. */
      longLivedAt: longLivedAt?.toISOString() ?? null,
      graceUntil: graceUntil?.toISOString() ?? null,
      replacedBy: secrets.find(({ rotatedFrom }) => rotatedFrom === secret.id)?.id ?? null,
    })),
  }
}

export type SecretItem = Awaited<ReturnType<typeof browseSigningSecrets>>['secrets'][number]
