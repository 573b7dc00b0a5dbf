import type { ServiceContext } from '../context'
import { CannotOpen, open } from '../crypto'
import { vaultPlace } from './schema'

/** Decrypts the value of a row; null, with a log line, if no key opens it. */
export function openValue(ctx: ServiceContext, { name, sealed }: { name: string; sealed: string }): string | null {
  try {
    return open(sealed, vaultPlace(ctx.tenantId, name))
  } catch (err) {
    if (!(err instanceof CannotOpen)) throw err
    ctx.log.error({ err, secret: name }, 'cannot decrypt a vault secret: was ENCRYPTION_KEY changed?')
    return null
  }
}
