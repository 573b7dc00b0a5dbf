import { StatusPill } from '@/app/_ui/status-pill'
import { Time } from '@/app/_ui/time'
import type { CredentialState } from '@/server/views/credentials/state'
import styles from './settings.module.css'

/** Whether a key or a signing secret works, and its successor. */
export function CredentialStatus({
  item: { state, graceUntil },
  successor,
}: {
  item: { state: CredentialState; graceUntil: string | null }
  /** The successor's display name. */
  successor: string | undefined
}) {
  if (state === 'enabled') return <StatusPill status="enabled" />
  return (
    <>
      {state === 'ending' ? (
        <StatusPill status="paused" label="Ending" />
      ) : (
        <StatusPill status="disabled" label={state === 'replaced' ? 'Replaced' : 'Disabled'} />
      )}
      {state === 'ending' && graceUntil && (
        <span className={styles.quiet}>
          Ends <Time at={graceUntil} />
        </span>
      )}
      {successor && <span className={`${styles.quiet} ${styles.brief}`}>Replaced by {successor}</span>}
    </>
  )
}
