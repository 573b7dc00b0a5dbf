import { type Keyring, keyring } from '../crypto'
import { readToken, signToken, type TokenKind } from '../signed-token'

const TASK: TokenKind<'run' | 'pause'> = {
  type: 'task-link+jwt',
  keysFor: 'millrace task links',
  names: ['run', 'pause'],
}
const START: TokenKind<'workflow'> = { type: 'start-link+jwt', keysFor: 'millrace start links', names: ['workflow'] }

/** A task link's claims: itself, and the one task it may answer. */
export interface LinkClaims {
  tenantId: string
  id: string
  runId: string
  pauseId: string
}

/** The secret part of a task link, signed with a key that only this installation has. */
export function signLink({ runId, pauseId, ...link }: LinkClaims, keys: Keyring = keyring()): Promise<string> {
  return signToken(TASK, { ...link, run: runId, pause: pauseId }, keys)
}

/** Null for a text that this installation has not signed. Only the row has the expiry. */
export async function readLinkToken(token: string, keys: Keyring = keyring()): Promise<LinkClaims | null> {
  const claims = await readToken(TASK, token, keys)
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
  return signToken(START, { ...link, workflow: workflowId }, keys)
}

export async function readStartToken(token: string, keys: Keyring = keyring()): Promise<StartLinkClaims | null> {
  const claims = await readToken(START, token, keys)
  return claims && { tenantId: claims.tenantId, id: claims.id, workflowId: claims.workflow }
}
