import { hkdfSync } from 'node:crypto'
import { jwtVerify, SignJWT } from 'jose'
import { type Keyring, keyring } from '../crypto'

const TYPE = 'task-link+jwt'
const ALGORITHM = 'HS256'

/** A link's claims: itself, and the one task it may answer. */
export interface LinkClaims {
  tenantId: string
  id: string
  runId: string
  pauseId: string
}

/** The secret part of a link, signed with a key that only this installation has. */
export function signLink({ tenantId, id, runId, pauseId }: LinkClaims, keys: Keyring = keyring()): Promise<string> {
  return new SignJWT({ run: runId, pause: pauseId })
    .setProtectedHeader({ alg: ALGORITHM, typ: TYPE })
    .setAudience(tenantId)
    .setJti(id)
    .sign(derive(keys[0]))
}

/** Null for a text that this installation has not signed. Only the row has the expiry. */
export async function readLinkToken(token: string, keys: Keyring = keyring()): Promise<LinkClaims | null> {
  for (const key of keys) {
    try {
      const { payload } = await jwtVerify(token, derive(key), { algorithms: [ALGORITHM], typ: TYPE })
      const { aud, jti, run, pause } = payload
      const named = [aud, jti, run, pause].every((one) => typeof one === 'string')
      return named ? ({ tenantId: aud, id: jti, runId: run, pauseId: pause } as LinkClaims) : null
    } catch {
      // Another key may have signed it.
    }
  }
  return null
}

function derive(key: Buffer): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', key, '', 'millrace task links', 32))
}
