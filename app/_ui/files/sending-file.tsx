import { Button, Text } from '@mantine/core'
import { sizeText } from '../size-text'
import styles from './files.module.css'

/** A file that is on its way. */
export interface Sending {
  name: string
  loaded: number
  total: number
}

/** How much of a large file has been sent, and the button that stops it. */
export function SendingFile({ sending, onCancel }: { sending: Sending | null; onCancel: () => void }) {
  return (
    <>
      {/* There before it has words, because screen readers overlook those that come with their region. */}
      <div aria-live="polite" className="visually-hidden">
        {sending && spoken(sending)}
      </div>
      {sending && <Progress {...sending} onCancel={onCancel} />}
    </>
  )
}

/** Changes with each quarter only, so that it does not interrupt all the time. */
function spoken({ name, loaded, total }: Sending): string {
  const quarters = Math.floor((4 * loaded) / total)
  if (quarters === 0) return `Sending ${name}`
  return quarters === 4 ? `${name} was sent` : `${name}: ${25 * quarters}% sent`
}

function Progress({ name, loaded, total, onCancel }: Sending & { onCancel: () => void }) {
  return (
    <div className={styles.sending}>
      <Text size="sm" className={styles.sendingName ?? ''}>
        Sending {name}:{' '}
        <span className={styles.sendingAmount}>
          {sizeText(loaded)} of {sizeText(total)}
        </span>
      </Text>
      <Button size="compact-sm" variant="default" onClick={onCancel}>
        Cancel upload
      </Button>
      <progress className={styles.sendingBar} value={loaded} max={total} aria-label={`Upload progress of ${name}`} />
    </div>
  )
}
