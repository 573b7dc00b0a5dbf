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
  if (!sending) return null
  const { name, loaded, total } = sending
  return (
    <div className={styles.sending}>
      <Text size="sm" className={styles.sendingName ?? ''}>
        Sending {name}: {sizeText(loaded)} of {sizeText(total)}
      </Text>
      <Button size="compact-sm" variant="default" onClick={onCancel}>
        Cancel upload
      </Button>
      <progress className={styles.sendingBar} value={loaded} max={total} aria-label={`Sent of ${name}`} />
    </div>
  )
}
