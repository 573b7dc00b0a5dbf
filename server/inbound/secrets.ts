import { randomBytes } from 'node:crypto'
import type { ServiceContext } from '../context'
import { CannotOpen, open, seal } from '../crypto'
import type { InboundSecret, Scheme } from '../definition/inbound'
import { AppError } from '../errors'
import { isStandardSecret } from './schemes/standard'

/** The newest, and the one it replaced. */
const MAX_SECRETS = 2

/** The context a secret is sealed for: a copy in another row cannot be opened. */
const placeOf = (tenantId: string, id: string) => `${tenantId}:${id}`

/** Seals a secret. @throws AppError INVALID_INPUT if the scheme has no use for it */
export function sealSecret(ctx: ServiceContext, id: string, scheme: Scheme, secret: string): InboundSecret {
  const refuse = (message: string) => new AppError('INVALID_INPUT', { details: [{ path: 'secret', message }] })
  if (scheme === 'none') throw refuse('is only for senders that sign')
  if (scheme === 'standard' && !isStandardSecret(secret)) throw refuse('must be whsec_ and base64')
  return { sealed: seal(secret, placeOf(ctx.tenantId, id)), createdAt: ctx.now().toISOString(), endsAt: null }
}

/** Generates a secret. Null if the sender makes its own or does not sign. */
export function madeSecret(scheme: Scheme): string | null {
  if (scheme === 'standard') return `whsec_${randomBytes(32).toString('base64')}`
  return scheme === 'github' || scheme === 'hmac' ? randomBytes(32).toString('hex') : null
}

/** The secrets after a rotation: the new one, and the previous one until it expires. */
export function rotated(secrets: readonly InboundSecret[], stored: InboundSecret, endsAt: Date): InboundSecret[] {
  const [last] = secrets
  const kept = last && endsAt > new Date(stored.createdAt) ? [{ ...last, endsAt: endsAt.toISOString() }] : []
  return [stored, ...kept].slice(0, MAX_SECRETS)
}

export function isAccepted({ endsAt }: InboundSecret, now: Date): boolean {
  return endsAt === null || new Date(endsAt) > now
}

/** The valid secrets. Empty, with a log line, if none can be decrypted. */
export function openSecrets(ctx: ServiceContext, webhook: { id: string; secrets: InboundSecret[] }): string[] {
  return webhook.secrets
    .filter((secret) => isAccepted(secret, ctx.now()))
    .flatMap(({ sealed }) => {
      try {
        return [open(sealed, placeOf(ctx.tenantId, webhook.id)).trim()]
      } catch (err) {
        if (!(err instanceof CannotOpen)) throw err
        ctx.log.error({ err, webhookId: webhook.id }, 'cannot decrypt a webhook secret: was ENCRYPTION_KEY changed?')
        return []
      }
    })
}
