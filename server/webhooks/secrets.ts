import { randomBytes } from 'node:crypto'
import type { ServiceContext } from '../context'
import { CannotOpen, open, seal } from '../crypto'
import type { WebhookSecret } from '../definition/webhook'

const PREFIX = 'whsec_'
/** The newest, and the one it replaced. */
const MAX_SECRETS = 2

/** The context a secret is sealed for: a copy in another row cannot be opened. */
const placeOf = (tenantId: string, endpointId: string) => `${tenantId}:${endpointId}`

/** A new secret, in clear text for its creator and sealed for the row. */
export function newSecret(ctx: ServiceContext, endpointId: string): { secret: string; stored: WebhookSecret } {
  const secret = PREFIX + randomBytes(32).toString('base64')
  const sealed = seal(secret, placeOf(ctx.tenantId, endpointId))
  return { secret, stored: { sealed, createdAt: ctx.now().toISOString(), endsAt: null } }
}

/** The secrets after a rotation: the new one, and the previous one until it expires. */
export function rotated(secrets: readonly WebhookSecret[], stored: WebhookSecret, endsAt: Date): WebhookSecret[] {
  const [last] = secrets
  const kept = last && endsAt > new Date(stored.createdAt) ? [{ ...last, endsAt: endsAt.toISOString() }] : []
  return [stored, ...kept].slice(0, MAX_SECRETS)
}

export function stillSigns({ endsAt }: WebhookSecret, now: Date): boolean {
  return endsAt === null || new Date(endsAt) > now
}

/** The current signing keys. Empty, with a log line, if none can be decrypted. */
export function signingKeys(ctx: ServiceContext, endpoint: { id: string; secrets: WebhookSecret[] }): Buffer[] {
  return endpoint.secrets
    .filter((secret) => stillSigns(secret, ctx.now()))
    .flatMap(({ sealed }) => {
      try {
        return [signingKeyOf(open(sealed, placeOf(ctx.tenantId, endpoint.id)))]
      } catch (err) {
        if (!(err instanceof CannotOpen)) throw err
        ctx.log.error({ err, endpointId: endpoint.id }, 'cannot decrypt a webhook secret: was ENCRYPTION_KEY changed?')
        return []
      }
    })
}

/** The bytes of a secret in its displayed form. */
export function signingKeyOf(secret: string): Buffer {
  return Buffer.from(secret.slice(PREFIX.length), 'base64')
}
