import { createHmac } from 'node:crypto'
import { authenticate, type Identity } from '@/server/auth/authenticate'
import type { ServiceContext } from '@/server/context'
import { createSigningSecret } from '@/server/credentials/signing-secrets/create'
import { AppError } from '@/server/errors'
import type { FreshDatabase } from '../support/db'
import { newTenant } from '../support/tenant'

export const AUDIENCE = 'app.example.com'
/** The current time in every test. */
export const NOW = new Date('2026-11-20T12:00:00.500Z')
export const SECONDS = Math.floor(NOW.getTime() / 1000)

export interface Signer {
  ctx: ServiceContext
  id: string
  secret: string
}

export async function newSigner(database: FreshDatabase, role?: string): Promise<Signer> {
  const ctx = await newTenant(database)
  return { ctx, ...(await createSigningSecret(ctx, { name: 'Frontend', role })) }
}

export function claims(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return { sub: 'user_123', aud: AUDIENCE, iat: SECONDS, exp: SECONDS + 3600, ...changes }
}

export function encode(value: unknown): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
}

/** A hand-made token, so that any part can be invalid. Objects become JSON; strings stay as they are. */
export function mint(header: unknown, payload: unknown, secret: string, hash = 'sha256'): string {
  const body = `${encode(header)}.${encode(payload)}`
  return `${body}.${createHmac(hash, secret).update(body).digest('base64url')}`
}

export function bearer(token: string, more: Record<string, string> = {}): Headers {
  return new Headers({ authorization: `Bearer ${token}`, ...more })
}

/** The identity behind the headers, or null if they are refused. Checks that all refusals look the same. */
export async function identify(database: FreshDatabase, headers: Headers, now = NOW): Promise<Identity | null> {
  try {
    return await authenticate(headers, database.db, now, 'Unauthorized', 'req-00000000')
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const { code, message, details, headers: answered } = error
    const uniform = JSON.stringify({ code, message, details, answered })
    if (uniform !== '{"code":"UNAUTHORIZED","message":"Unauthorized","details":[],"answered":{}}')
      throw new Error(`A refusal tells more than it should: ${uniform}`)
    return null
  }
}
