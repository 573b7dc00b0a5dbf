import { CannotStart } from './print'

const OLDEST = [20, 9] as const

/**
 * Checks the version of Node that runs this.
 * @returns a line to show if Millrace works with it but nobody maintains it
 * @throws CannotStart if it is too old
 */
export function checkNode(version: string): string | null {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]))
    throw new CannotStart(`Millrace needs Node ${OLDEST.join('.')} or newer. This is ${version}.`)
  if (major >= 24 || major === 22) return null
  return `Node ${major} no longer gets security fixes. Millrace still runs on it. Please move to Node 24 or 22.`
}
