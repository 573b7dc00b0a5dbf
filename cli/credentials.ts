import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateApiKey } from '@/server/auth/api-key'
import { newId } from '@/server/ids'

export interface Credentials {
  baseUrl: string
  tenantId: string
  apiKey: string
}

export function credentialsFile(dataDir: string): string {
  return join(dataDir, 'credentials.json')
}

/** The credentials a first start would use. */
export interface Draft {
  tenantId: string
  apiKey: string
  /** True if an earlier start died and left it behind, possibly after the database had stored it. */
  inherited: boolean
}

/**
 * Writes the draft before the database stores it: the database cannot return a key, so a process that dies in between
 * must not lose it.
 */
export function draftCredentials(
  dataDir: string,
  wanted: { tenantId: string | undefined; apiKey: string | undefined },
): Draft {
  const left = read(draftFile(dataDir))
  const tenantId = wanted.tenantId ?? left?.tenantId ?? newId('ten')
  const apiKey = wanted.apiKey ?? left?.apiKey ?? generateApiKey()
  write(draftFile(dataDir), { baseUrl: '', tenantId, apiKey })
  return { tenantId, apiKey, inherited: left?.tenantId === tenantId && left.apiKey === apiKey }
}

/**
 * Adopts the draft if the database stored it, in this start or an earlier one that crashed, and records the service's
 * address.
 */
export function settleCredentials(
  dataDir: string,
  draft: Draft,
  booted: { baseUrl: string; tenantId: string; created: boolean },
): Credentials | undefined {
  const taken = draft.tenantId === booted.tenantId && (booted.created || draft.inherited)
  const kept = taken ? draft : read(credentialsFile(dataDir))
  if (kept) {
    write(draftFile(dataDir), { baseUrl: booted.baseUrl, tenantId: kept.tenantId, apiKey: kept.apiKey })
    renameSync(draftFile(dataDir), credentialsFile(dataDir))
  }
  rmSync(draftFile(dataDir), { force: true })
  return read(credentialsFile(dataDir))
}

function draftFile(dataDir: string): string {
  return `${credentialsFile(dataDir)}.new`
}

function read(path: string): Credentials | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Credentials
  } catch {
    return undefined
  }
}

function write(path: string, credentials: Credentials): void {
  rmSync(path, { force: true })
  writeFileSync(path, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
}
