import { hkdfSync } from 'node:crypto'
import { jwtVerify, SignJWT } from 'jose'
import { type Keyring, keyring } from '../crypto'

const ALGORITHM = 'HS256'

/** A kind of link. Each has keys of its own, so that no link passes for one of another kind. */
interface Kind<Name extends string> {
  type: string
  /** What its keys are derived for. */
  keysFor: string
  /** The claims that name what the link opens. */
  names: readonly Name[]
}

/** A link's claims: itself, and what it opens. */
type Claims<Name extends string> = { tenantId: string; id: string } & Record<Name, string>

const TASK: Kind<'run' | 'pause'> = {
  type: 'task-link+jwt',
  keysFor: 'millrace task links',
  names: ['run', 'pause'],
}
const START: Kind<'workflow'> = { type: 'start-link+jwt', keysFor: 'millrace start links', names: ['workflow'] }

/** A task link's claims: itself, and the one task it may answer. */
export interface LinkClaims {
  tenantId: string
  id: string
  runId: string
  pauseId: string
}

/** The secret part of a task link, signed with a key that only this installation has. */
export function signLink({ runId, pauseId, ...link }: LinkClaims, keys: Keyring = keyring()): Promise<string> {
  return sign(TASK, { ...link, run: runId, pause: pauseId }, keys)
}

/** Null for a text that this installation has not signed. Only the row has the expiry. */
export async function readLinkToken(token: string, keys: Keyring = keyring()): Promise<LinkClaims | null> {
  const claims = await read(TASK, token, keys)
  return claims && { tenantId: claims.tenantId, id: claims.id, runId: claims.run, pauseId: claims.pause }
}

/** A start link's claims: itself, and the one workflow it may start. */
export interface StartLinkClaims {
  tenantId: string
  id: string
  workflowId: string
}

/** The same for a start link. */
export function signStartLink({ workflowId, ...link }: StartLinkClaims, keys: Keyring = keyring()): Promise<string> {
  return sign(START, { ...link, workflow: workflowId }, keys)
}

export async function readStartToken(token: string, keys: Keyring = keyring()): Promise<StartLinkClaims | null> {
  const claims = await read(START, token, keys)
  return claims && { tenantId: claims.tenantId, id: claims.id, workflowId: claims.workflow }
}

function sign<N extends string>({ type, keysFor, names }: Kind<N>, claims: Claims<N>, keys: Keyring): Promise<string> {
  return new SignJWT(Object.fromEntries(names.map((name) => [name, claims[name]])))
    .setProtectedHeader({ alg: ALGORITHM, typ: type })
    .setAudience(claims.tenantId)
    .setJti(claims.id)
    .sign(derive(keys[0], keysFor))
}

async function read<N extends string>(kind: Kind<N>, token: string, keys: Keyring): Promise<Claims<N> | null> {
  const { type, keysFor, names } = kind
  for (const key of keys) {
    try {
      const { payload } = await jwtVerify(token, derive(key, keysFor), { algorithms: [ALGORITHM], typ: type })
      const { aud, jti } = payload
      const opens = names.map((name) => [name, payload[name]] as const)
      const named = [aud, jti, ...opens.map(([, value]) => value)].every((one) => typeof one === 'string')
      return named ? ({ tenantId: aud, id: jti, ...Object.fromEntries(opens) } as Claims<N>) : null
    } catch {
      // Another key may have signed it.
    }
  }
  return null
}

function derive(key: Buffer, keysFor: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', key, '', keysFor, 32))
}
