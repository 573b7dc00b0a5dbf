import { AllowedHosts } from '@/lib/ip'
import { env } from '../env'

let parsed: { text: string; hosts: AllowedHosts } | undefined

/** The private hosts that this installation allows (ALLOW_PRIVATE_HOSTS). */
export function allowedHosts(): AllowedHosts {
  const text = env().ALLOW_PRIVATE_HOSTS ?? ''
  const known = parsed?.text === text ? parsed : { text, hosts: AllowedHosts.parse(text) ?? AllowedHosts.none }
  parsed = known
  return known.hosts
}
