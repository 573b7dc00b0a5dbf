import { createHash, timingSafeEqual } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { generatePassword } from '../../auth/password'
import { type Env, env } from '../../env'
import { keptSecret } from '../../kept-secret'

type Settings = Pick<Env, 'SETUP_TOKEN' | 'dataDir' | 'VERCEL'>

/** What a first visitor from elsewhere has to know; null where none was set and none can be kept. */
export function setupToken(settings: Settings = env()): string | null {
  if (settings.SETUP_TOKEN) return settings.SETUP_TOKEN
  if (settings.VERCEL) return null
  return keptSecret(setupTokenFile(settings), generatePassword).trim()
}

function setupTokenFile({ dataDir }: Pick<Settings, 'dataDir'>): string {
  return join(dataDir, 'setup-token')
}

/** Compares without telling where they differ. */
export function isSetupToken(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given.trim()), digest(expected))
}

/** It opened the one door it was for. */
export function forgetSetupToken(settings: Pick<Settings, 'dataDir'> = env()): void {
  rmSync(setupTokenFile(settings), { force: true })
}
