import { TriangleAlert } from 'lucide-react'
import { Notice } from '@/app/_ui/notice'
import type { VaultItem } from '@/server/views/vault'
import styles from '../settings.module.css'

/** Warnings about secrets from before the vault required hosts and longer values. */
export function VaultWarnings({ secrets }: { secrets: VaultItem[] }) {
  const unbound = secrets.filter(({ hosts }) => hosts === null).length
  const short = secrets.filter((secret) => secret.short).length
  if (unbound + short === 0) return null
  return (
    <div className={styles.warning}>
      <Notice tone="warning" icon={TriangleAlert} title={titleOf(unbound, short)}>
        {unbound > 0 && (
          <div>
            Anyone who can edit tools or agents can send an unbound secret to a server of their own. Bind each one to
            the hosts it is for.
          </div>
        )}
        {short > 0 && (
          <div>A value of fewer than 12 characters can be guessed. Get a longer one from the service it is for.</div>
        )}
      </Notice>
    </div>
  )
}

function titleOf(unbound: number, short: number): string {
  const parts = [
    ...(unbound > 0 ? [`${count(unbound)} not bound to hosts`] : []),
    ...(short > 0 ? [`${count(short)} too short`] : []),
  ]
  return parts.join(', ')
}

function count(secrets: number): string {
  return secrets === 1 ? '1 secret is' : `${secrets} secrets are`
}
