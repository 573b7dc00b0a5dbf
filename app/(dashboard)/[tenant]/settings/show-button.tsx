import { Button } from '@mantine/core'
import styles from './settings.module.css'

/** Shows and hides the content below it in a row. */
export function ShowButton(props: { open: boolean; onChange: (open: boolean) => void; what?: string }) {
  const { open, onChange, what } = props
  return (
    <Button
      size="compact-xs"
      variant="subtle"
      className={styles.flush ?? ''}
      aria-expanded={open}
      onClick={() => onChange(!open)}
    >
      {open ? 'Hide' : 'Show'}
      {what && ` ${what}`}
    </Button>
  )
}
