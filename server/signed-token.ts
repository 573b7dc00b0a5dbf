import { hkdfSync } from 'node:crypto'
import { jwtVerify, SignJWT } from 'jose'
import { type Keyring, keyring } from './crypto'

const ALGORITHM = 'HS256'

/** A kind of token. Each has keys of its own, so that no token passes for one of another kind. */
export interface TokenKind<Name extends string> {
  type: string
  /** What its keys are derived for. */
  keysFor: string
  /** The claims that name what the token opens. */
  names: readonly Name[]
}

/** A token's claims: its id in a tenant, and what it opens. */
export type TokenClaims<Name extends string> = { tenantId: string; id: string } & Record<Name, string>

/** Signs a token with a key that only this installation has. It has no expiry of its own. */
export function signToken<N extends string>(
  { type, keysFor, names }: TokenKind<N>,
  claims: TokenClaims<N>,
  keys: Keyring = keyring(),
): Promise<string> {
  return new SignJWT(Object.fromEntries(names.map((name) => [name, claims[name]])))
    .setProtectedHeader({ alg: ALGORITHM, typ: type })
    .setAudience(claims.tenantId)
    .setJti(claims.id)
    .sign(derive(keys[0], keysFor))
}

/** Null for a text that this installation has not signed as this kind. */
export async function readToken<N extends string>(
  { type, keysFor, names }: TokenKind<N>,
  token: string,
  keys: Keyring = keyring(),
): Promise<TokenClaims<N> | null> {
  for (const key of keys) {
    try {
      const { payload } = await jwtVerify(token, derive(key, keysFor), { algorithms: [ALGORITHM], typ: type })
      const { aud, jti } = payload
      const opens = names.map((name) => [name, payload[name]] as const)
      const named = [aud, jti, ...opens.map(([, value]) => value)].every((one) => typeof one === 'string')
      return named ? ({ tenantId: aud, id: jti, ...Object.fromEntries(opens) } as TokenClaims<N>) : null
    } catch {
      // Another key may have signed it.
    }
  }
  return null
}

function derive(key: Buffer, keysFor: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', key, '', keysFor, 32))
}
