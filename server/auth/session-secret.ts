import { hkdfSync } from 'node:crypto'
import { keyring } from '../crypto'
import { env } from '../env'

/** The secrets that encrypt session cookies, derived from the keyring: the first encrypts, any of them may decrypt. */
export function sessionSecrets(): [string, ...string[]] {
  const { NEXTAUTH_SECRET } = env()
  if (NEXTAUTH_SECRET) return [NEXTAUTH_SECRET]
  const [first, ...others] = keyring()
  return [derive(first), ...others.map(derive)]
}

function derive(key: Buffer): string {
  return Buffer.from(hkdfSync('sha256', key, '', 'millrace session cookies', 32)).toString('base64')
}
