import { createHash, timingSafeEqual } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { secretFile } from '@/lib/secret-file'
import { generatePassword } from '../../auth/password'
import { type Env, env } from '../../env'

type Settings = Pick<Env, 'SETUP_TOKEN' | 'dataDir' | 'VERCEL'>

/** The token that a first visitor from another machine must enter; null if none was set and none can be stored. */
export function setupToken(settings: Settings = env()): string | null {
  if (settings.SETUP_TOKEN) return settings.SETUP_TOKEN
  if (settings.VERCEL) return null
  return secretFile(setupTokenFile(settings), generatePassword).trim()
}

function setupTokenFile({ dataDir }: Pick<Settings, 'dataDir'>): string {
  return join(dataDir, 'setup-token')
}

/** Compares in constant time. */
export function isSetupToken(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given.trim()), digest(expected))
}

/** Deletes the generated token, which is useless after setup. */
export function forgetSetupToken(settings: Pick<Settings, 'dataDir'> = env()): void {
  rmSync(setupTokenFile(settings), { force: true })
}
